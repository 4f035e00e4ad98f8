"""The profile of clusters, as data, as text and as a figure: all from one place."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL

from pckid import PCKID, assess, profile
from pckid.profiles.layout import MAX_STRIPS

HARM = "<b>a & $b$_|</b>"


@pytest.fixture(scope="module")
def table():
    """Three groups in numbers and answers, and a column of noise."""
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=120),
            "size (mm)": 5 * truth + rng.normal(size=120),
            HARM: np.array(["x", "<y>", "z"])[np.where(rng.random(120) < 0.9, truth, 0)],
            "mood": np.array(["never", "sometimes", "always"])[truth],
            "member": np.array(["no", "yes"])[truth // 2],
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1)


@pytest.fixture(scope="module")
def model(table):
    return PCKID(3, **SMALL).fit(table)


@pytest.fixture(scope="module")
def assessed(model, table):
    return assess(model, table, n_null=5, n_resamples=4, random_state=0)


@pytest.fixture(scope="module")
def found(model, table, assessed):
    return profile(model, table, assessment=assessed)


def test_the_column_that_tells_most_comes_first(found):
    telling = [column.telling for column in found.columns]
    assert telling == sorted(telling, reverse=True)
    assert found.columns[-1].name == "noise"
    assert [column.name for column in found.head(2).columns] == [
        column.name for column in found.columns[:2]
    ]


def test_heads_count_rows_and_how_often_clusters_are_found_again(found, model, assessed):
    assert [head.n_rows for head in found.clusters] == np.bincount(model.labels_).tolist()
    assert sum(head.share for head in found.clusters) == pytest.approx(1)
    assert [head.found_again for head in found.clusters] == assessed.cluster_recovery.tolist()
    assert found.n_resamples == 4


def test_clusters_of_a_group_stand_together(model, table, assessed):
    gaps = assessed.gaps._replace(groups=np.array([0, 1, 0]))
    found = profile(model, table, assessment=replace(assessed, p_value=0.001, gaps=gaps, runs=()))
    assert [head.number for head in found.clusters] == [0, 2, 1]
    assert found.groups == [[0, 2], [1]]
    for text in (found.to_html(), found.to_svg()):
        assert text.index("Group A · no gap inside") < text.index("Group B")
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in found.to_latex()


def test_without_groups_nothing_is_graded(model, table, assessed):
    found = profile(model, table, assessment=replace(assessed, p_value=0.5))
    assert {record["level"] for record in found.records()} == {0}
    assert "No cluster differs" in found.to_html()


def test_the_frame_has_medians_and_shares(found, table, model):
    frame = found.to_frame()
    assert list(frame.columns) == ["Cluster 0", "Cluster 1", "Cluster 2", "all rows", "missing"]
    for cluster in range(3):
        inside = table[model.labels_ == cluster]
        median = frame.loc[("size (mm)", ""), f"Cluster {cluster}"]
        assert median == pytest.approx(inside["size (mm)"].median())
        share = frame.loc[("mood", "always"), f"Cluster {cluster}"]
        assert share == pytest.approx((inside["mood"].dropna() == "always").mean())
    assert frame.loc[("member", "yes"), "missing"] == pytest.approx(table["member"].isna().mean())
    assert ("member", "no") not in frame.index
    assert list(frame.loc["mood"].index) == ["never", "sometimes", "always"]


def test_records_have_quartiles_and_missing_cells_of_each_cluster(found, table, model):
    records = {(r["column"], r["category"], r["cluster"]): r for r in found.records()}
    inside = table["noise"][model.labels_ == 1]
    record = records["noise", None, 1]
    assert [record["low"], record["high"]] == pytest.approx(inside.quantile([0.25, 0.75]).tolist())
    assert record["share_missing"] == pytest.approx(inside.isna().mean())
    assert len(records) == 3 * (2 + 3 + 3 + 1)


def test_markdown_has_every_column_and_answer(found):
    lines = found.to_markdown().splitlines()
    assert {line.count("|") - line.count(r"\|") for line in lines} == {7}
    assert sum(line.startswith("| &emsp;") for line in lines) == 6
    assert len(lines) == 2 + 5 + 6


def test_latex_escapes_what_means_something_there(found):
    latex = found.to_latex()
    assert r"<b>a \& \$b\$\_|</b>".replace("<", "$<$").replace(">", "$>$") in latex
    rows = re.findall(r"^(.*) \\\\$", latex, re.MULTILINE)
    assert {row.count(" & ") for row in rows} == {5}
    assert not re.search(r"(?<!\\)%", latex)
    assert latex.isascii()


def test_html_escapes_names_and_shows_the_first_columns(found):
    html = found.to_html(2)
    assert html == found.head(5).to_html(2)
    assert "<b>a &" not in html
    assert "<y>" not in html
    assert html.count("<tbody>") == 2
    assert html.count('<tbody class="more">') == 3
    assert "3 more columns" in html
    assert found._repr_html_() == found.to_html()
    assert 'size <span class="u">(mm)</span>' in html


def test_html_is_made_of_elements_that_close(found):
    body = re.sub(r"<style>.*?</style>", "", found.to_html(), flags=re.DOTALL)
    body = re.sub(r'<input type="checkbox" autocomplete="off">', "", body)
    ElementTree.fromstring(body.replace(" hidden", ' hidden=""'))


def test_the_figure_says_what_the_table_says(found):
    root = ElementTree.fromstring(found.to_svg(None))
    drawn = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    for column in found.columns:
        for head in found.clusters:
            cell = column.cell(head.number)
            assert cell.text in drawn
            assert not cell.detail or cell.detail in drawn


def test_figures_are_saved_and_drawn(found, tmp_path):
    import matplotlib as mpl

    mpl.use("agg")
    found.savefig(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text("utf-8") == found.to_svg()
    found.savefig(tmp_path / "p.pdf", 2, grey=True)
    assert (tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")
    drawn = found.plot()
    assert len(drawn.axes) == 1 + len(found.columns)
    mpl.pyplot.close("all")


@pytest.mark.parametrize("n_clusters", [1, 2, 12])
def test_any_number_of_clusters_is_written(n_clusters):
    rng = np.random.default_rng(0)
    X = (
        rng.normal(size=(12 * n_clusters, 3))
        + 20 * rng.normal(size=(n_clusters, 3))[np.arange(12 * n_clusters) % n_clusters]
    )
    model = PCKID(n_clusters, n_inits=2, max_components=4, random_state=0).fit(X)
    found = profile(model, X)
    html = found.to_html()
    assert len(re.findall(r'<td class="c\d', html)) == 3 * n_clusters
    assert ('class="profile crowd many"' in html) == (n_clusters == 12)
    ElementTree.fromstring(found.to_svg())
    assert found.to_markdown().count("\n") == 5
    if n_clusters == 1:
        assert [column.name for column in found.columns] == ["feature 0", "feature 1", "feature 2"]


def test_a_wide_table_stays_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 200)) + 4 * (np.arange(80) % 2)[:, None]
    model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X)
    html = profile(model, X).to_html()
    assert html.count("<tbody") == 200
    assert html.count('<svg class="chart"') == MAX_STRIPS
    assert len(html) < 400_000
