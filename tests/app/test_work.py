"""Runs of the app give files as the commands write them."""

import csv
import io

import pytest
from helpers import groups

from pckid import PCKID, load
from pckid.exceptions import TableError, UndecidedError
from pckid.frontends import run as runs
from pckid.frontends.app.settings import Settings, Upload, as_command, as_python
from pckid.frontends.app.work import (
    find_groups,
    name_groups,
    place_new_rows,
    write_workbook,
)
from pckid.frontends.formats import workbook_writing
from pckid.frontends.options import CaseOptions, ColumnOptions, Fix, ReadOptions
from pckid.frontends.wording import LEFT_OUT


@pytest.fixture(scope="module", autouse=True)
def few_null_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "N_NULL", 5)
        patch.setattr(runs, "N_RESAMPLES", 2)
        patch.setitem(PCKID.__init__.__kwdefaults__, "n_runs", 1)
        yield


@pytest.fixture(scope="module")
def sixty_rows():
    X, _ = groups(n_samples=60)
    rows = "\n".join(",".join(f"{x:.3f}" for x in row) for row in X).replace("nan", "")
    return Upload("t.csv", f"a,b,c,d\n{rows}\n".encode())


def run(upload, k=3, advance=lambda *stage: None, **options):
    """Cluster a table."""
    return find_groups(Settings(upload, k, ColumnOptions(**options)), advance)


@pytest.fixture(scope="module")
def result(sixty_rows):
    """Three clusters of the sixty rows."""
    return run(sixty_rows)


@pytest.mark.parametrize("k", [3, "auto"])
def test_progress_rises_to_the_end(sixty_rows, k):
    stages = []
    result = run(sixty_rows, k, lambda *stage: stages.append(stage))
    shares = [share for share, _ in stages]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    chosen = {share for share, what in stages if what.startswith("Choosing")}
    assert (len(chosen) > 3) == (k == "auto")
    assert result.found["cluster_sizes"] == [20, 20, 20]


def test_groups_of_several_clusters_have_their_column():
    X, truth = groups(n_samples=90, n_groups=2, share=0)
    lines = [",".join(map(str, row)) for row in X.round(3)]
    upload = Upload("t.csv", "\n".join(["a,b,c,d", *lines]).encode())
    found = run(upload, 3)
    assert len(found.found["verdict"]["groups"]) == 2
    rows = list(csv.DictReader(io.StringIO(found.files["clusters.csv"].decode())))
    assert len({*zip(truth, (row["group"] for row in rows), strict=True)}) == 2
    renamed = name_groups(Settings(upload, 3, ColumnOptions()), found, ["x", "y", "z"], print)
    named = list(csv.DictReader(io.StringIO(renamed.files["clusters.csv"].decode())))
    assert [row["group"] for row in named] == [row["group"] for row in rows]


def test_excel_written_can_be_read_and_placed_again(result):
    sheet = Upload("t.xlsx", result.files["clusters.xlsx"], ReadOptions(sheet="1"))
    names = ["a", "b", "c", "d", "cluster", "confidence"]
    assert [name for name in sheet.open().names if name != "group"] == names
    model = Upload("m.pckid", result.files["model.pckid"])
    placed = place_new_rows(model, sheet, False, lambda *stage: None)
    assert placed.found["cluster_sizes"] == [20, 20, 20]
    assert placed.compared.moved == []


def test_dates_of_either_order_are_asked_about():
    rows = [f"{1 + i % 12}/{1 + i % 11}/2024,{i % 2 * 9 + i % 3}" for i in range(60)]
    upload = Upload("t.csv", "\n".join(["day,x", *rows]).encode())
    with pytest.raises(UndecidedError) as raised:
        run(upload, dates=("day=use",))
    assert [doubt.code for doubt in raised.value.problems] == ["ambiguous dates"]


def test_columns_that_a_table_lacks_are_missing_if_that_is_said(result):
    lines = result.files["clusters.csv"].decode().splitlines()
    table = Upload("new.csv", "\n".join(line.partition(",")[2] for line in lines).encode())
    model = Upload("m.pckid", result.files["model.pckid"])
    with pytest.raises(TableError) as raised:
        place_new_rows(model, table, False, lambda *stage: None)
    assert raised.value.fixes == (Fix("missing_columns", True),)
    placed = place_new_rows(model, table, True, lambda *stage: None)
    empty = "\n".join([lines[0], *(f",{line.partition(',')[2]}" for line in lines[1:])])
    expected = place_new_rows(model, Upload("e.csv", empty.encode()), False, lambda *stage: None)
    assert placed.results[0].tolist() == expected.results[0].tolist()


def test_names_of_groups_are_in_every_file(result):
    settings = Settings(result_upload(result), 3, ColumnOptions(drop=("cluster", "confidence")))
    named = name_groups(settings, result, ["a", None, "c"], lambda *stage: None)
    assert named.found["cluster_names"] == ["a", None, "c"]
    assert load(io.BytesIO(named.files["model.pckid"])).cluster_names_ == ["a", None, "c"]
    assert named.summary.titles == ["a", "Cluster 1", "c"]
    assert named.summary.assessment.cluster_names == ["a", None, "c"]
    sheet = Upload("t.xlsx", named.files["clusters.xlsx"], ReadOptions(sheet="profiles")).open()
    assert sheet.names[:2] == ["column", "answer"]
    assert sorted(sheet.names[2:5]) == ["Cluster 1", "a", "c"]
    assert sheet.names[5:7] == ["all rows", "missing"]
    model = Upload("m.pckid", named.files["model.pckid"])
    placed = place_new_rows(model, settings.upload, False, lambda *stage: None)
    for content in (named.files["clusters.csv"], placed.files["clusters.csv"]):
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        titles = {(row["cluster"], row["cluster_name"]) for row in rows}
        assert titles == {("0", "a"), ("1", "Cluster 1"), ("2", "c")}
    assert "--names a,,c" in as_command(settings, named.found["cluster_names"])
    assert "cluster_names_ = ['a', None, 'c']" in as_python(settings, named.found["cluster_names"])
    named.found["cluster_names"] = ["a, b", None, '5", c']
    assert """ --names '"a, b",,"5"", c"' """ in as_command(settings, named.found["cluster_names"])


def result_upload(result):
    """The rows of a result, as a table."""
    return Upload("t.csv", result.files["clusters.csv"])


def test_a_large_workbook_is_written_when_it_is_asked_for(sixty_rows, monkeypatch):
    monkeypatch.setattr("pckid.frontends.app.work.MAX_CELLS", 100)
    result = run(sixty_rows)
    assert "clusters.xlsx" not in result.files
    settings = Settings(result_upload(result), 3, ColumnOptions(drop=("cluster", "confidence")))
    written = write_workbook(settings, result, lambda *stage: None)
    assert {"clusters.xlsx", "clusters.csv"} <= written.files.keys()


def test_more_rows_than_a_sheet_takes_are_no_reason_to_fail(sixty_rows, monkeypatch):
    monkeypatch.setattr(workbook_writing, "MAX_ROWS", 60)
    result = run(sixty_rows)
    assert "clusters.csv" in result.files
    assert "clusters.xlsx" not in result.files
    assert any(".xlsx takes 59 rows" in note for note in result.notes)
    settings = Settings(result_upload(result), 3, ColumnOptions(drop=("cluster", "confidence")))
    asked = write_workbook(settings, result, lambda *stage: None)
    assert (asked.files.keys(), asked.notes) == (result.files.keys(), result.notes)


def test_the_report_says_how_the_table_was_read(result):
    sheet = Upload("t.xlsx", result.files["clusters.xlsx"], ReadOptions(sheet="table"))
    again = run(sheet, drop=("cluster", "confidence"), na_values=("-99", "?"))
    page = again.files["report.html"].decode()
    assert "<dt>Sheet</dt><dd><bdi>table</bdi></dd>" in page
    assert "<dd><bdi>-99, ?</bdi></dd>" in page
    assert f"<dt><bdi>cluster</bdi></dt><dd>{LEFT_OUT['choice']}</dd>" in page


def test_rows_at_the_end_are_left_out():
    upload = Upload("t.csv", b"name,a\nx,1.5\ny,2.5\nTotal,4\n", ReadOptions(skip_last=1))
    assert upload.open().data.column("name").to_pylist() == ["x", "y"]
    settings = Settings(upload, 2, ColumnOptions())
    assert " --skip-last 1 " in as_command(settings)
    assert "pckid.read_table('t.csv', skip_last=1)" in as_python(settings)


def test_known_rows_name_the_groups_of_the_page(tmp_path, monkeypatch, golden):
    X, truth = groups(n_samples=60)
    names = {i: "ABC"[truth[i]] for i in range(6)}
    cells = [[*(f"{x:.3f}" for x in row), names.get(i, "")] for i, row in enumerate(X)]
    text = "\n".join(["a,b,c,d,kind", *map(",".join, cells)]).replace("nan", "")
    upload = Upload("t.csv", f"{text}\nTotal,,,,\n".encode(), ReadOptions(skip_last=1))
    result = run(upload, known="kind")
    assert sorted(result.found["cluster_names"]) == ["A", "B", "C"]
    golden([note for note in result.notes if "known rows" in note])
    settings = Settings(upload, 3, ColumnOptions(known="kind"))
    assert "--known kind" in as_command(settings)
    (tmp_path / "t.csv").write_bytes(upload.content)
    monkeypatch.chdir(tmp_path)
    program = as_python(settings).replace("pckid.report(", "(lambda *_: None)(")
    told = {}
    exec(program, told)
    assert sorted(told["model"].cluster_names_) == ["A", "B", "C"]


def test_lines_of_cases_give_a_group_for_each_case():
    X, truth = groups(n_samples=60)
    lines = ["patient,day,pulse,truth"]
    lines += [
        f"p{i},{day},{'' if x != x else round(x, 3)},{truth[i]}"
        for i, row in enumerate(X.tolist())
        for day, x in enumerate(row)
    ]
    upload = Upload("visits.csv", "\n".join(lines).encode())
    options = {"lines": CaseOptions("patient", "day"), "labels": "truth"}
    result = run(upload, **options)
    assert result.found["n_rows"] == 60
    assert result.found["accuracy"] > 0.9
    assert result.notes[0].startswith("60 cases, 1 variable (pulse) ")
    assert b'id="series"' in result.files["report.html"]
    command = as_command(Settings(upload, 3, ColumnOptions(**options)))
    assert "--label truth --case patient --time day" in command
    model = Upload("m.pckid", result.files["model.pckid"])
    placed = place_new_rows(model, upload, False, lambda *stage: None)
    assert placed.found["cluster_sizes"] == result.found["cluster_sizes"]


def test_outcomes_are_compared_and_not_used(sixty_rows, tmp_path, monkeypatch):
    settings = Settings(sixty_rows, 3, ColumnOptions(), tuple("abcd"), ("d",))
    assert settings.n_columns == 3
    result = find_groups(settings, lambda *stage: None)
    assert result.found["columns"] == ["a", "b", "c"]
    assert b'id="outcomes"' in result.files["report.html"]
    assert " --outcome d " in as_command(settings)
    (tmp_path / "t.csv").write_bytes(sixty_rows.content)
    monkeypatch.chdir(tmp_path)
    told = {}
    exec(as_python(settings).replace("pckid.report(", "(lambda *_, **__: None)("), told)
    assert told["compared"].outcomes[0].name == "d"
    assert told["model"].labels_.tolist() == result.results[0].tolist()


def test_groups_are_numbered_as_those_of_an_earlier_model(sixty_rows, result, tmp_path):
    named = name_groups(
        Settings(sixty_rows, 3, ColumnOptions()), result, ["x", "y", "z"], lambda *stage: None
    )
    like = Upload("old.pckid", named.files["model.pckid"])
    settings = Settings(sixty_rows, 3, ColumnOptions(), like=like)
    again = find_groups(settings, lambda *stage: None)
    assert again.found["cluster_names"] == ["x", "y", "z"]
    assert again.results[0].tolist() == result.results[0].tolist()
    assert b'id="matches"' in again.files["report.html"]
    assert " --like old.pckid " in as_command(settings)
    assert "like=pckid.load('old.pckid')" in as_python(settings)


def test_cells_to_measure_next_are_those_of_the_report(monkeypatch):
    # Five null tables are too few for a verdict.
    monkeypatch.setattr("pckid.reporting.summary.is_about_groups", lambda assessment: True)
    X, _ = groups(n_samples=60, n_features=3, share=0.4, gap=3.0)
    lines = [",".join("" if x != x else f"{x:.3f}" for x in row) for row in X]
    upload = Upload("t.csv", "\n".join(["a,b,c", *lines]).encode())
    result = run(upload)
    cells = list(csv.DictReader(io.StringIO(result.files["next-cells.csv"].decode())))
    expected = result.summary.next_cells.cells
    found = [(int(cell["row"]) - 1, cell["column"]) for cell in cells]
    assert found == [(cell.row, cell.column) for cell in expected]
