"""Excel in and out at the command line: looked at, clustered, predicted, streamed."""

import csv
import io
import json
import statistics
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import python_calamine
import xlsxwriter
from open_tables import write_table

from pckid import read_table

FILES = Path(__file__).parents[1] / "tables" / "files"
CHEAP = ["-k", "3", "--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


@pytest.fixture
def workbook(tmp_path, penguins):
    """Write the penguins as a workbook, below a title; the path of it."""
    rows = list(csv.reader(penguins.read_text().splitlines()))
    path = tmp_path / "penguins.xlsx"
    with xlsxwriter.Workbook(str(path), {"strings_to_numbers": True}) as book:
        sheet = book.add_worksheet("Birds")
        sheet.merge_range(0, 0, 0, 6, "Penguins near Palmer Station")
        for i, row in enumerate(rows):
            sheet.write_row(i + 2, 0, row)
        book.add_worksheet("Notes").write(0, 0, "Nothing to see")
    return path


def sheets(path):
    """Read the sheets of a workbook as lists of rows."""
    book = python_calamine.load_workbook(str(path))
    return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


def labels(out):
    return [row["cluster"] for row in csv.DictReader(io.StringIO(out.decode()))]


def test_a_workbook_gives_the_clusters_of_the_same_text(pckid, workbook, penguins):
    from_text = pckid("cluster", penguins, *CHEAP, "--label", "label")
    from_workbook = pckid("cluster", workbook, *CHEAP, "--label", "label")
    assert from_workbook.code == 0, from_workbook.err
    assert labels(from_workbook.out) == labels(from_text.out)
    assert from_workbook.only_told("other_sheets").data == {"sheet": "Birds", "others": ["Notes"]}
    assert from_workbook.only_told("rows_above").data == {"row": 3, "sheet": "Birds"}


def test_the_result_is_a_workbook_with_profiles(pckid, workbook):
    result = pckid("cluster", workbook, *CHEAP, "--label", "label", "--out", "c.xlsx")
    assert result.code == 0, result.err
    assert "batches" not in result.err
    found = sheets("c.xlsx")
    assert list(found) == ["table", "profiles"]
    header, *rows = found["table"]
    assert header[-3:] == ["label", "cluster", "confidence"]
    assert len(rows) == 344
    column = [row[-2] for row in rows]
    profile = {tuple(row[:2]): row[2:] for row in found["profiles"]}
    titles = profile["column", "answer"]
    assert titles[3:5] == ["all rows", "missing"]
    order = [int(title.removeprefix("Cluster ")) for title in titles[:3]]
    assert profile["", "rows"][:3] == [column.count(k) for k in order]
    name = header[3]
    first = [row[3] for row in rows if row[-2] == order[0] and row[3] != ""]
    assert profile[name, ""][0] == pytest.approx(statistics.median(first))
    missing = sum(row[3] == "" for row in rows if row[-2] >= 0) / sum(k >= 0 for k in column)
    assert profile[name, ""][4] == pytest.approx(missing)
    assert " to " in profile[name, ""][5]
    assert not list(Path().glob(".*"))


def test_profiles_count_categories(pckid, workbook):
    result = pckid("cluster", workbook, *CHEAP, "--out", "c.xlsx")
    assert result.code == 0, result.err
    found = sheets("c.xlsx")
    place = found["profiles"][0].index("Cluster 1")
    rows = [row for row in found["table"][1:] if row[-2] == 1]
    for line in found["profiles"]:
        if line[0] == "label":
            share = sum(row[6] == line[1] for row in rows) / len(rows)
            assert line[place] == pytest.approx(share)
    assert sum(line[0] == "label" for line in found["profiles"]) == 3


def test_the_same_table_gives_the_same_bytes(pckid, workbook):
    for name in ("a.xlsx", "b.xlsx"):
        assert pckid("cluster", workbook, *CHEAP, "--out", name).code == 0
    assert Path("a.xlsx").read_bytes() == Path("b.xlsx").read_bytes()


def test_a_model_predicts_workbooks(pckid, workbook, penguins):
    assert pckid("cluster", penguins, *CHEAP, "--drop", "label", "--save", "m.pckid").code == 0
    from_text = pckid("predict", "m.pckid", penguins)
    from_workbook = pckid("predict", "m.pckid", workbook)
    assert from_workbook.code == 0, from_workbook.err
    assert labels(from_workbook.out) == labels(from_text.out)
    assert pckid("predict", "m.pckid", workbook, "--out", "p.xlsx").code == 0
    assert [str(int(row[-2])) for row in sheets("p.xlsx")["table"][1:]] == labels(from_text.out)


def test_sheets_are_named_where_one_is_not_found(pckid):
    path = FILES / "several-sheets.xlsx"
    result = pckid("inspect", path, "--sheet", "Dta")
    assert result.code == 3
    assert "no sheet 'Dta'" in result.err
    assert "1 'Cover', 2 'Empty', 3 'Data'" in result.err
    assert b"region" in pckid("inspect", path, "--sheet", "3").out


def test_files_of_statistics_programs_are_looked_at(pckid):
    result = pckid("inspect", FILES / "survey.sav")
    assert result.code == 0, result.err
    assert b"categories" in result.out


def test_a_missing_extra_is_named_once(pckid, monkeypatch, golden):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    result = pckid("inspect", FILES / "plain.xlsx")
    assert result.code == 1
    golden(result.err)


def test_a_missing_extra_shows_before_the_work(pckid, penguins, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    result = pckid("cluster", penguins, *CHEAP, "--out", "c.xlsx")
    assert result.code == 1
    assert result.err.endswith(" needs xlsxwriter: python -m pip install 'pckid[excel]'\n")
    assert result.err.count("\n") == 1


def test_only_so_many_rows_fit_a_sheet(tmp_path, monkeypatch):
    from pckid.exceptions import TableError
    from pckid.frontends.formats import workbook_writing
    from pckid.frontends.formats.table import FileTable

    monkeypatch.setattr(workbook_writing, "MAX_ROWS", 4)
    table = FileTable(pa.table({"a": [1, 2, 3]}))
    write_table(io.BytesIO(), table, {}, ending=".xlsx")
    table = FileTable(pa.table({"a": [1, 2, 3, 4]}))
    with pytest.raises(TableError, match="takes 3 rows"):
        write_table(io.BytesIO(), table, {}, ending=".xlsx")


def test_too_many_rows_for_a_sheet_show_before_the_work(pckid, penguins, monkeypatch):
    from pckid.frontends.formats import workbook_writing

    monkeypatch.setattr(workbook_writing, "MAX_ROWS", 344)
    monkeypatch.setattr("pckid.frontends.cli.cluster.fit_clusters", None)
    result = pckid("cluster", penguins, *CHEAP, "--label", "label", "--out", "c.xlsx")
    assert result.code == 3
    assert ".xlsx takes 343 rows" in result.err


def test_numbers_beside_a_text_for_missing_stay_numbers(pckid, tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["revenue", "size"])
        for i in range(30):
            sheet.write_row(i + 1, 0, ["k.A." if i == 4 else 12.5 + 90 * (i % 2), i % 7 + 0.5])
    pckid("cluster", "t.xlsx", *CHEAP, "--out", "out.xlsx")
    cells = [row[0] for row in sheets(tmp_path / "out.xlsx")["table"]]
    assert cells[:4] == ["revenue", 12.5, 102.5, 12.5]
    assert cells[5] == "k.A."


def test_dates_that_are_used_stay_dates_in_the_result(pckid, tmp_path):
    days = [f"{1 + i % 28:02d}.0{1 + i % 9}.2021" for i in range(40)]
    rows = [f"{day};{i % 7},5;{i % 5},25" for i, day in enumerate(days)]
    (tmp_path / "t.csv").write_text("\n".join(["day;x;y", *rows]))
    options = [*CHEAP, "--dates", "use"]
    pckid("cluster", "t.csv", *options, "--out", "out.xlsx")
    table = sheets(tmp_path / "out.xlsx")["table"]
    assert [row[0] for row in table] == ["day", *days]


def test_shell_python_and_result_count_the_same_rows(pckid, tmp_path):
    """With a title, a row of units, two blank rows, a total and a note below."""
    rows = [[i % 9 + 0.5, i * 7 % 11, i % 5] for i in range(60)]
    total = [sum(column) for column in zip(*rows, strict=True)]
    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        sheet = book.add_worksheet()
        cells = [
            ["Report"],
            [],
            ["a", "b", "c"],
            ["kg", "cm", "m/s"],
            *rows,
            [],
            total,
            [],
            ["note"],
        ]
        for i, row in enumerate(cells):
            sheet.write_row(i, 0, row)
    inspected = json.loads(pckid("inspect", "t.xlsx", "--json").out)
    assert inspected["n_rows"] + inspected["n_rows_left_out"] == 63
    done = pckid("cluster", "t.xlsx", *CHEAP, "--yes", "--json", "-o", "o.csv")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["n_rows"], found["n_rows_left_out"]) == (60, 3)
    assert "60 rows (3 below the names or at the end left out), 3 columns" in done.err
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 61
    assert len(read_table(tmp_path / "t.xlsx", take_advice=True).frame) == 60
