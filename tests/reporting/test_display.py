"""The report as an object: it shows itself in a notebook."""

import re
from copy import copy
from dataclasses import replace
from html import unescape

import pytest

import pckid
from pckid.reporting import Background


def test_it_shows_itself_in_a_frame_that_reaches_nothing_outside(fitted, table):
    made = pckid.report(fitted, table, assessment=False)
    frame = made._repr_html_()
    assert unescape(re.search('srcdoc="(.*?)"', frame, re.DOTALL).group(1)) == made.html
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert made.summary.verdict in repr(made)
    assert "<" not in made.summary.verdict


def test_the_verdict_is_computed_unless_told_otherwise(fitted, table, assessed, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "pckid.reporting.display.assess", lambda *about, **_: asked.append(about) or assessed
    )
    assert pckid.report(fitted, table).summary.assessment is assessed
    assert [id(each) for each in asked.pop()] == [id(fitted), id(table)]
    other = replace(assessed, p_value=0.5)
    assert pckid.report(fitted, table, assessment=other).summary.assessment is other
    assert pckid.report(fitted, table, assessment=False).summary.assessment is None
    assert not asked


def test_the_verdict_has_the_seed_of_the_model(fitted, table, monkeypatch):
    monkeypatch.setattr("pckid.reporting.display.N_NULL", 5)
    monkeypatch.setattr("pckid.reporting.display.N_RESAMPLES", 2)
    few = {"n_null": 5, "n_resamples": 2}
    model = copy(fitted).set_params(random_state=7)
    found = pckid.assess(model, table, **few, random_state=7)
    reported = pckid.report(model, table).summary
    assert reported.verdict == found.sentence
    assert reported.assessment.p_value == found.p_value
    assert pckid.assess(model, table, **few).p_value == found.p_value
    assert pckid.assess(model, table, **few, random_state=0).p_value != found.p_value


def test_displays_for_papers_share_its_data(fitted, table):
    import matplotlib

    matplotlib.use("agg")
    made = pckid.report(fitted, table, assessment=False)
    drawn = made.summary.map.plot()
    points = made.summary.rows.points[made.summary.map.rows]
    assert (points == drawn.points).all()
    assert sum(len(each.get_offsets()) for each in drawn.ax_.collections) == len(points)


def test_what_would_fail_in_the_end_fails_before_the_work(fitted, table, tmp_path, monkeypatch):
    monkeypatch.setattr("pckid.reporting.display.assess", lambda *_, **__: pytest.fail("assessed"))
    with pytest.raises(FileNotFoundError, match=r"no folder '.*nowhere'"):
        pckid.report(fitted, table, tmp_path / "nowhere" / "report.html")
    with pytest.raises(ValueError, match="known has 1 entries"):
        pckid.report(fitted, table, background=Background(known=["a"]))


def test_a_frame_of_read_table_brings_what_is_known_of_its_file(tmp_path):
    rows = [f"P{i};{i % 2 * 8 + i % 5};{i % 2 * 9 + i % 7}" for i in range(40)]
    total = f"all;{sum(i % 2 * 8 + i % 5 for i in range(40))};"
    total += f"{sum(i % 2 * 9 + i % 7 for i in range(40))}"
    (tmp_path / "t.csv").write_text("\n".join(["id;a;b", *rows, total]))
    frame, notes = pckid.read_table(str(tmp_path / "t.csv"), take_advice=True)
    model = pckid.PCKID(2, n_inits=3, max_components=4, random_state=0).fit(frame)
    summary = pckid.report(model, frame, assessment=False).summary
    assert summary.notes == [note for note in notes if "Left out" not in note]
    assert "Advice taken: skip_last=1" in summary.notes
    assert summary.left_out == [("id", "names the rows")]
    assert summary.provenance["Table"] == "t.csv"
    plain = pckid.report(model, frame.to_numpy(), assessment=False)
    assert "Table" not in plain.summary.provenance
    assert "<title>Clusters in " in plain.html
