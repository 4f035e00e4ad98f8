"""Spreadsheets come in as tables, with their cells typed; hostile ones are refused or harmless."""

import contextlib
import datetime
import gzip
import io
import re
import struct
import sys
import zipfile
from pathlib import Path

import pytest
import xlsxwriter
from open_tables import scan_table, write_table
from tiers import one_in

from pckid.exceptions import OptionError, TableError
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats import isolation, sources, workbooks
from pckid.frontends.formats.headers import find_header
from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import name_row
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.questions import list_answers
from pckid.frontends.wording import write_note

FILES = Path(__file__).parents[1] / "tables" / "files"
REGIONS = {
    "region": ["North", "South", "West", "East"],
    "income": [12.5, 7.25, None, 9.0],
    "age": [30, None, 41, 18],
}
DAY = datetime.date(2024, 1, 31)
EXPECTED = {
    "plain.xlsx": REGIONS,
    "title-rows.xlsx": REGIONS,
    "title-rows.ods": REGIONS,
    "title-rows.xls": REGIONS | {"day": [datetime.date(2024, 1, i) for i in (1, 2, 3, 4)]},
    "several-sheets.xlsx": REGIONS,
    "offset.xlsx": REGIONS,
    "notes-below.xlsx": REGIONS,
    "hidden.xlsx": REGIONS,
    "group-headings.xlsx": {
        "region": ["North", "South"],
        "2023 spring": [1.5, 5.5],
        "2023 autumn": [2.5, None],
        "2024 spring": [3.5, 6.5],
        "2024 autumn": [4.5, 7.5],
    },
    "dates.xlsx": {
        "day": [DAY, datetime.date(2023, 12, 1)],
        "seen at": [datetime.datetime(2024, 1, 31, 12, 30), None],
        "value": [1.5, 2.5],
    },
    "formats.xlsx": {"rate": [0.087, 0.5], "price": [5345.73, -20.0]},
    "merged-rows.xlsx": {
        "region": ["North", "North", "South"],
        "year": [2023, 2024, 2023],
        "value": [1.5, 2.5, 3.0],
    },
    "numbers-as-text.xlsx": {
        "revenue": ["5.345,73", "12,50", "1.000,00"],
        "share": ["8,7 %", "n/a", "4,0 %"],
    },
    "mixed.xlsx": {"code": ["101", "A7", "103"], "value": ["1", "n/a", "2.5"]},
}
FACTS = {
    "title-rows.xlsx": [("rows_above", {"sheet": "Report", "row": 4})],
    "title-rows.xls": [("rows_above", {"sheet": "Tabelle1", "row": 3})],
    "title-rows.ods": [("rows_above", {"sheet": "Feuille1", "row": 3})],
    "several-sheets.xlsx": [("other_sheets", {"sheet": "Data", "others": ["Empty", "Codes"]})],
    "notes-below.xlsx": [("notes_below", {"n_rows": 2})],
}


def read(path, **options):
    return scan_table(str(path), **options).data


def parsed(path):
    """Read a workbook in this process."""
    _, table = workbooks.parse_workbook(Source(str(path)))
    return table


def written(path, rows, **options):
    """Write rows to the sheet of a workbook."""
    with xlsxwriter.Workbook(str(path), options) as book:
        sheet = book.add_worksheet("Data")
        for i, row in enumerate(rows):
            sheet.write_row(i, 0, row)
    return path


def changed(source, target, name, change, method=zipfile.ZIP_DEFLATED, **more):
    """Copy a zip archive with one member changed, and further members added."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", method) as new:
        for member in old.namelist():
            content = old.read(member)
            new.writestr(member, change(content) if member == name else content)
        for member, content in more.items():
            new.writestr(member.replace("__", "/").replace("_dot_", "."), content)
    return target


SHEET = "xl/worksheets/sheet1.xml"


def with_cells(tmp_path, cells: bytes):
    """Add XML to the cells of a small sheet."""
    path = written(tmp_path / "small.xlsx", [["a", "b"], [1, 2], [3, 4]])
    add = b"</sheetData>"
    return changed(path, tmp_path / "t.xlsx", SHEET, lambda xml: xml.replace(add, cells + add))


@pytest.mark.parametrize("name", EXPECTED)
def test_sheets_are_read_as_offices_write_them(name):
    scan = scan_table(str(FILES / name))
    assert scan.data.to_pydict() == EXPECTED[name]
    assert list(scan.notes) == FACTS.get(name, [])


def test_a_sheet_is_chosen_by_its_name_or_number(tmp_path):
    path = FILES / "several-sheets.xlsx"
    codes = {"code": [1, 2], "meaning": ["yes", "no"]}
    for sheet in ("Codes", " codes ", "4"):
        scan = scan_table(str(path), sheet=sheet)
        assert scan.data.to_pydict() == codes
        assert scan.notes == ()
    first = scan_table(str(written(tmp_path / "t.xlsx", [["a", "b"], [1, 2], [3, 4]])), sheet="1")
    assert first.data.to_pydict() == {"a": [1, 3], "b": [2, 4]}
    with pytest.raises(TableError, match=r"no sheet 'Data2'.*: 1 'Cover', 2 'Empty', 3 'Data'"):
        read(path, sheet="Data2")
    with pytest.raises(TableError, match=r"'Empty' of .* empty"):
        read(path, sheet="Empty")


def test_only_spreadsheets_have_sheets(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(TableError, match="no sheets"):
        read(path, sheet="Data")


def test_names_may_be_absent(tmp_path):
    path = written(tmp_path / "t.xlsx", [[1.5, 2], [3, 4]])
    assert scan_table(str(path)).notes[-1].code == "header_in_doubt"
    assert read(path, header=False).to_pydict() == {"column 1": [1.5, 3.0], "column 2": [2, 4]}


def test_a_workbook_in_gzip_or_from_a_pipe_is_read(tmp_path, monkeypatch):
    content = (FILES / "plain.xlsx").read_bytes()
    (tmp_path / "t.xlsx.gz").write_bytes(gzip.compress(content))
    assert read(tmp_path / "t.xlsx.gz").to_pydict() == REGIONS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read("-").to_pydict() == REGIONS


INDEXED = [[float(i), 1.5, 2.5] for i in range(9)]
PATIENT = ["P1", 24.0, "F", 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0]
BLANKS = ["id", "", "sex", "", "bp", "", "x1", "x2", "x3", "x4", "x5", "x6", "x7"]
REMARK = [*[[1.5, 2.5, ""]] * 6, [1.5, 2.5, "check!"], *[[1.5, 2.5, ""]] * 6]


@pytest.mark.parametrize(
    ("rows", "first", "names", "is_data"),
    [
        ([["a", "b"], [1.0, 2.0]], 0, ["a", "b"], False),
        ([["", ""], ["a", "b"], [1.0, 2.0]], 1, ["a", "b"], False),
        ([["country", 2023.0, 2024.0], ["x", "n/a", "n/a"]], 0, ["country", "2023", "2024"], False),
        ([["date:", DAY], ["", ""], ["a", "b"], [1.0, 2.0]], 2, ["a", "b"], False),
        ([["title", "", ""], ["a", "", "c"], ["x", 1.0, 2.0]], 1, ["a", "", "c"], False),
        ([["title", "", "", "", ""], ["a", "b", "c", "", "e"]], 1, ["a", "b", "c", "", "e"], False),
        ([["two\nlines", " x "], [1.0, 2.0]], 0, ["two lines", "x"], False),
        # The index of a data frame has no name.
        ([["", "a", "b"], *INDEXED], 0, ["", "a", "b"], False),
        ([["", "a"], *(row[:2] for row in INDEXED)], 0, ["", "a"], False),
        ([["", "a", "b"], [0.0, "", 2.5], *INDEXED], 0, ["", "a", "b"], False),
        ([["a", "b", ""], *REMARK], 0, ["a", "b", ""], False),
        ([BLANKS, *[PATIENT] * 5], 0, BLANKS, False),
        ([["made on", 5.0], ["a", "b"], *[[1.0, 2.0]] * 5], 1, ["a", "b"], False),
        ([[5.1, 3.5, "setosa"]] * 5, 0, ["5.1", "3.5", "setosa"], True),
    ],
)
def test_the_header_is_the_first_row_unless_it_cannot_be(rows, first, names, is_data):
    found = find_header(rows)
    assert (found.first, found.names, found.is_data) == (first, names, is_data)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_a_frame_that_pandas_wrote_keeps_its_rows(tmp_path, n_columns):
    rows = [["", *"abc"[:n_columns]], *([i, *[i / 4] * n_columns] for i in range(90))]
    data = read(written(tmp_path / "t.xlsx", rows))
    assert data.num_rows == 90
    assert data.column_names == ["column 1", *"abc"[:n_columns]]


def test_a_remark_beside_a_row_takes_no_rows(tmp_path):
    rows = [["a", "b", "c"], *([i, i / 4, i / 2] for i in range(90))]
    rows[51].append("measured twice")
    data = read(written(tmp_path / "t.xlsx", rows))
    assert data.num_rows == 90
    assert data.column_names == ["a", "b", "c", "column 4"]


@pytest.mark.parametrize(("skip_first", "name"), [(None, "a"), (0, "Report"), (1, "a"), (4, "2")])
def test_names_are_in_the_row_below_those_that_are_skipped(tmp_path, skip_first, name):
    rows = [["Report"], [], ["a", "b", "c"], *([1 + i % 9, i / 4, i / 3] for i in range(20))]
    table = scan_table(str(written(tmp_path / "t.xlsx", rows)), skip_first=skip_first)
    assert table.names[0] == name
    assert [note.code for note in table.notes] == ["rows_above"] * (skip_first is None)


def test_a_heading_over_data_does_not_take_a_row_of_data():
    rows = [["name", "", "age"], ["Ann", "Smith", 34.0], ["Bo", "Lee", 50.0]]
    assert find_header(rows, [((0, 0), (0, 1))]).end == 1


def test_a_formula_gives_the_value_stored_with_it_and_an_error_is_missing(tmp_path):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["sum", "link", "error"])
        sheet.write_formula(1, 0, "=1+1", None, 42)
        sheet.write_formula(1, 1, "='[other.xlsx]Sheet1'!A1", None, 7.5)
        sheet.write_formula(1, 2, "=NA()", None, "#N/A")
        sheet.write_row(2, 0, [1, 2, 3.5])
    found = {"sum": [42, 1], "link": [7.5, 2.0], "error": [None, 3.5]}
    assert read(path).to_pydict() == found
    links = {
        "xl__externalLinks__externalLink1_dot_xml": b'<externalLink r:id="rId1"/>',
        "xl__vbaProject_dot_bin": b"\xd0\xcf\x11\xe0 macro",
    }
    assert read(changed(path, tmp_path / "m.xlsm", "", bytes, **links)).to_pydict() == found


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path):
    path = FILES / "plain.xlsx"
    bomb = changed(path, tmp_path / "t.xlsx", "", bytes, xl__media=bytes(50_000_000))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(TableError, match=r"0.0466 GB unpacked"):
        read(bomb, max_bytes=50_000_000)
    assert read(bomb, max_bytes=60_000_000).num_rows == 4


def test_a_directory_that_lies_about_sizes_is_not_believed(tmp_path):
    """A sheet says that it has 50 bytes, and unpacks to 64 MB of one text."""
    small = written(tmp_path / "small.xlsx", [["a", "b"], [1, 2], [3, 4]])
    size = 1 << 26

    def swell(xml):
        cell = b'<row r="9"><c r="A9" t="inlineStr"><is><t>'
        return xml.replace(b"</sheetData>", cell + b"x" * size + b"</t></is></c></row></sheetData>")

    bomb = changed(small, tmp_path / "t.xlsx", SHEET, swell)
    content = bomb.read_bytes()
    with zipfile.ZipFile(bomb) as archive:
        told = struct.pack("<I", archive.getinfo(SHEET).file_size)
    assert content.count(told) == 2
    bomb.write_bytes(content.replace(told, struct.pack("<I", 50)))
    with pytest.raises(TableError, match=r"more than|damaged"):
        read(bomb, max_bytes=40_000_000)


def read_or_refused(path):
    """Read a hostile file; whether it is refused or not, no process takes a gigabyte."""
    resource = pytest.importorskip("resource", reason="not measured on Windows")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with contextlib.suppress(TableError):
        assert read(path).num_rows < 10
    isolation.close_idle()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    # A child counts the memory of the process that started it, which has run other tests.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert usage.ru_maxrss <= max(900 << 10, own, before.ru_maxrss)
    assert usage.ru_utime - before.ru_utime < 10


@pytest.mark.parametrize(
    "cells",
    one_in(
        2,
        [
            b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
            b"<row r = '1048576'><c s='1' r = 'XFD1048576'><v>1</v></c></row>",
            b'<row><c r="XFD0000000001048576"><v>1</v></c></row>',
            b'<row r="1048576"><c r="AAA1"/></row><row><c/></row>',
            b'<x:row r="1048576"><x:c r="XFD3"/></x:row>',
            b'<row r="9"><c r="A9"r="XFD1048576"><v>1</v></c></row>',
            b'<row r="9"><c r="A9" s=">" r="XFD1048576"><v>1</v></c></row>',
            b'<row r="1048575">' + b'<c r="A3"/>' * 60 + b"<c/>" * 60 + b"</row>",
        ],
    ),
)
def test_a_cell_far_out_does_not_take_gigabytes(tmp_path, cells):
    read_or_refused(with_cells(tmp_path, cells))


@pytest.mark.parametrize(
    "cells",
    [
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        pytest.param(b"<row><c><v>1</v></c></row>" * 24_000_000, marks=pytest.mark.slow),
    ],
    ids=["far", "many"],
)
def test_a_sheet_too_large_is_said_to_be_so_rather_than_damaged(tmp_path, cells):
    path = with_cells(tmp_path, cells)
    with pytest.raises(TableError, match=r"\.xlsx takes more than 0\.\d+ GB of memory to read"):
        read(path)


def ods(tmp_path, body: str):
    """Write a sheet of OpenDocument."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content{names}><office:body><office:spreadsheet>{body}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    path = tmp_path / "t.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return path


@pytest.mark.parametrize(
    "table",
    [
        '<table:table-row table:number-rows-repeated="90000"><table:table-cell '
        'office:value-type="float" office:value="1" table:number-columns-repeated="900"/>'
        "</table:table-row>",
        '<table:table-row table:number-rows-repeated="90000"><table:table-cell/></table:table-row>'
        '<table:table-row><table:table-cell table:number-columns-repeated="900"/>'
        "<table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>",
    ],
)
def test_repeated_cells_do_not_take_gigabytes(tmp_path, table):
    path = ods(tmp_path, f'<table:table table:name="A">{table}</table:table>')
    read_or_refused(path)


def test_entities_are_not_expanded(tmp_path):
    """Neither a file that one names is read, nor one that doubles itself thirty times."""
    (tmp_path / "secret").write_text("secret words")
    doubled = "".join(f'<!ENTITY e{i} "&e{i - 1};&e{i - 1};">' for i in range(1, 30))
    bad = f'<!DOCTYPE x [<!ENTITY f SYSTEM "file://{tmp_path}/secret"><!ENTITY e0 "zz">{doubled}]>'
    cells = ["<text:p>{}</text:p>", '<text:p office:string-value="{}">x</text:p>', "{}"]
    for entity in ("&f;", "&e29;"):
        for cell in cells:
            row = f"<table:table-cell>{cell.format(entity)}</table:table-cell>"
            rows = f"<table:table-row>{row}{row}</table:table-row>" * 3
            path = ods(tmp_path, f'<table:table table:name="A">{rows}</table:table>')
            hostile = changed(
                path, tmp_path / "u.ods", "content.xml", lambda xml: bad.encode() + xml
            )
            try:
                found = str(read(hostile, header=False).to_pydict())
            except TableError as error:
                found = str(error)
            assert "secret words" not in found
            assert "zzzz" not in found


def test_an_old_workbook_with_a_cell_far_out_does_not_take_gigabytes(tmp_path):
    content = (FILES / "title-rows.xls").read_bytes()
    # The last row's numbers: records with the row, the column and the value.
    far = struct.pack("<HH", 65_535, 255)
    moved = re.sub(rb"(?s)(?<=\xbd\x00..)\x06\x00..", lambda found: far, content)
    assert moved != content
    (tmp_path / "t.xls").write_bytes(moved)
    read_or_refused(tmp_path / "t.xls")


def test_an_old_workbook_that_crashes_its_reader_gets_a_sentence(tmp_path):
    content = bytearray((FILES / "title-rows.xls").read_bytes())
    # Among these, found by chance, is a count that no memory would hold.
    for place, byte in {1024: 234, 1075: 176, 1699: 55, 2277: 65, 5285: 177}.items():
        content[place] = byte
    (tmp_path / "t.xls").write_bytes(content)
    with pytest.raises(TableError, match=r"t.xls .*is damaged .*\("):
        read(tmp_path / "t.xls")


def test_a_password_is_told_of(tmp_path):
    content = (FILES / "title-rows.xls").read_bytes()
    old, new = "Workbook".encode("utf-16-le"), "EncryptedPackage".encode("utf-16-le")
    entry = old.ljust(64, b"\0") + struct.pack("<H", 18)
    assert entry in content
    content = content.replace(entry, new.ljust(64, b"\0") + struct.pack("<H", 34))
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(TableError, match="by a password"):
        read(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.xlsx", b"PK\x03\x04rest", "damaged .* another format"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "damaged"),
        ("t.xlsx", (FILES / "plain.xlsx").read_bytes()[:3000], "damaged"),
        ("t.xls", (FILES / "title-rows.xls").read_bytes()[:2000], "damaged|no spread"),
    ],
)
def test_damaged_workbooks_get_a_sentence(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=says):
        read(tmp_path / name)


def test_other_archives_get_a_sentence(tmp_path):
    path = tmp_path / "t.zip"
    for member, says in [
        ("a.csv", "zip archive"),
        ("xl/workbook.bin", r"binary workbook \(.xlsb\)"),
        ("xl/nothing.xml", "damaged"),
    ]:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, "<a/>")
        with pytest.raises(TableError, match=says):
            read(path)


def test_dates_with_and_without_a_time_are_one_column(tmp_path, monkeypatch):
    at = datetime.datetime(2024, 1, 31, 12, 30)
    rows = [["at"], [DAY], [at], [DAY], [DAY], [at]]
    path = written(tmp_path / "t.xlsx", rows, default_date_format="yyyy-mm-dd hh:mm")
    midnight = datetime.datetime(2024, 1, 31)
    for at_once in (100, 3, 1):
        monkeypatch.setattr(workbooks, "_ROWS_AT_ONCE", at_once)
        assert parsed(path).to_pydict() == {"at": [midnight, at, midnight, midnight, at]}


def test_parts_of_different_kinds_are_text_together(tmp_path, monkeypatch):
    path = written(tmp_path / "t.xlsx", [["a"], [1], [2.5], ["x"], [True]])
    for at_once in (100, 2, 1):
        monkeypatch.setattr(workbooks, "_ROWS_AT_ONCE", at_once)
        assert parsed(path).to_pydict() == {"a": ["1", "2.5", "x", "TRUE"]}


@pytest.mark.parametrize("seed", one_in(5, range(40)))
def test_mutated_workbooks_are_read_or_refused(tmp_path, seed):
    name = ("title-rows.xlsx", "title-rows.ods")[seed % 2]
    content = bytearray((FILES / name).read_bytes())
    for k in range(1 + seed % 7):
        content[(seed * 7919 + k * 104_729) % len(content)] ^= 1 + (seed * 31 + k) % 255
    (tmp_path / name).write_bytes(content)
    try:
        said = f"{name} {read(tmp_path / name).num_columns}"
    except TableError as error:
        said = str(error)
    assert name in said


@pytest.mark.slow
def test_the_longest_sheet_is_read(tmp_path):
    path = written(tmp_path / "small.xlsx", [["a", "b"]])
    rows = [b'<row r="%d"><c r="A%d"><v>%d</v></c></row>' % (i, i, i) for i in range(2, 2**20 + 1)]
    add = b"</sheetData>"
    added = b"".join(rows) + add
    changed(path, tmp_path / "t.xlsx", SHEET, lambda xml: xml.replace(add, added), method=0)
    data = read(tmp_path / "t.xlsx")
    assert data.num_rows == 2**20 - 1
    assert data["a"][-1].as_py() == 2**20


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"python_calamine: .* 'pckid\[excel\]'"):
        read(FILES / "plain.xlsx")


def months(tmp_path):
    """Write a workbook of two months with the same columns, notes, and another table."""
    sheets = {
        "May": [["id", "x"], *([f"a{i}", i / 4] for i in range(20))],
        "June": [["id", "x"], *([f"b{i}", i / 4] for i in range(10)), ["b10", "n/a"]],
        "Codes": [["code", "means"], [1, "x"], [2, "y"], [3, "z"]],
    }
    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                sheet.write_row(i, 0, row)
    return str(tmp_path / "t.xlsx")


def test_sheets_with_the_same_columns_are_told_of_and_read_together(tmp_path):
    path = months(tmp_path)
    scan = scan_table(path)
    assert scan.notes == (
        ("other_sheets", {"sheet": "May", "others": ["Codes"]}),
        ("same_columns", {"sheet": "May", "others": ["June"]}),
    )
    assert "(--sheet all " in write_note(scan.notes[1], SHELL)
    assert scan.data.num_rows == 20
    every = scan_table(path, sheet="all")
    table = every
    assert table.data["id"].to_pylist() == [f"a{i}" for i in range(20)] + [
        f"b{i}" for i in range(11)
    ]
    assert table.data["x"].to_pylist()[-2:] == ["2.25", "n/a"]
    assert [fact.code for fact in every.notes] == ["other_sheets"]
    assert every.n_rows == 31
    assert name_row(table.parts, 20) == "row 21 of sheet 'May'"
    assert name_row(table.parts, 21) == "row 2 of sheet 'June'"
    left = every.without_last(1)
    assert (left.n_rows, left.data.num_rows) == (30, 30)


def test_whole_numbers_that_lose_digits_are_told_of(tmp_path):
    # As other programs write them: spreadsheets themselves keep 15 digits.
    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["id", *range(2**53, 2**53 + 20)])
        sheet.write_column(0, 1, ["x", *range(20)])
    table = scan_table(str(tmp_path / "t.xlsx"))
    assert ("digits_lost", {"column": "id"}) in table.notes
    assert prepare(table, ColumnOptions(drop=("id",))).X.shape == (20, 1)


@pytest.mark.parametrize("option", ["row_names", "labels", "known"])
def test_whole_numbers_that_lose_digits_do_not_tell_rows_apart(tmp_path, option):
    ids = [2**53 + 1 + i for i in range(90)]
    assert len(set(map(float, ids))) < 50
    rows = [["id", "x", "y"], *([each, i % 7, i % 5] for i, each in enumerate(ids))]
    for cells in (rows, [[str(cell) for cell in row] for row in rows]):
        table = scan_table(str(written(tmp_path / "t.xlsx", cells)))
        if cells is rows:
            with pytest.raises(OptionError, match="Store them as text"):
                prepare(table, ColumnOptions(**{option: "id"}))
        else:
            found = prepare(table, ColumnOptions(**{option: "id"}))
            cells = found.ids if option == "row_names" else getattr(found, option)
            assert cells == list(map(str, ids))


@pytest.mark.parametrize("n_rows", [1, 2])
def test_rows_below_the_names_are_left_out_of_each_sheet(tmp_path, n_rows):
    path = str(tmp_path / "t.xlsx")
    with xlsxwriter.Workbook(path) as book:
        for name, first in (("May", 0), ("June", 100)):
            sheet = book.add_worksheet(name)
            rows = [[first + i, i / 4, i % 3] for i in range(9)]
            for i, row in enumerate([["a", "b", "c"], *[["kg", "cm", ""]] * n_rows, *rows]):
                sheet.write_row(i, 0, row)
    table = scan_table(path, sheet="all", skip_below=n_rows)
    assert table.data["a"].to_pylist() == [str(i) for i in (*range(9), *range(100, 109))]
    assert name_row(table.parts, 1) == f"row {2 + n_rows} of sheet 'May'"
    assert name_row(table.parts, 10) == f"row {2 + n_rows} of sheet 'June'"


def test_hidden_rows_and_columns_are_asked_about_and_left_out_if_so_wished(tmp_path):
    path = str(tmp_path / "s.xlsx")
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Data")
        sheet.write_row(2, 1, ["a", "b", "c", "d"])
        for i in range(30):
            sheet.write_row(3 + i, 1, [i % 7 + 0.5, i / 4, i % 5 + 0.25, i % 3 + 0.1])
        for row in (1, 5, 20, 90):  # two of the table, one above it and one below
            sheet.set_row(row, None, None, {"hidden": True})
        sheet.set_column(3, 4, None, None, {"hidden": True})
        sheet.set_column(7, 16_383, None, None, {"hidden": True})
    table = open_table(path)
    assert [table.parts[0].numbers[i] for i in table.is_hidden.nonzero()[0]] == [6, 21]
    assert table.hidden_columns == ("c", "d")
    (doubt,) = (d for d in prepare(table).doubts if d.code == "hidden cells")
    assert doubt.data == {"n_rows": 2, "columns": ["c", "d"]}
    (_, stay), (_, fixes) = list_answers(doubt)
    assert stay == ()
    left = prepare(table.with_fixes(fixes), ColumnOptions().with_fixes(fixes))
    assert list(left.names) == ["a", "b"]
    kept = 4 * left.frame["b"].to_numpy()
    assert kept.tolist() == [i for i in range(30) if i not in (2, 17)]
    assert [d for d in left.doubts if d.code == "hidden cells"] == []
    visible = open_table(path, ReadOptions(visible_rows=True))
    assert list(visible.parts[0].numbers) == list(left.table.parts[0].numbers)


def test_what_an_ods_hides_is_seen(tmp_path):
    path, there = tmp_path / "s.ods", FILES / "title-rows.ods"
    filtered = b'<table:table-row table:visibility="filter" table:number-rows-repeated="1">'
    shut = b'<table:table-column/><table:table-column table:visibility="collapse"/>'

    def hide(xml):
        *before, south, west, east = xml.split(b"<table:table-row>")
        xml = b"<table:table-row>".join(before) + filtered + south
        xml = b"<table:table-row>".join([xml, west, east])
        return xml.replace(b'table:name="Feuille1">', b'table:name="Feuille1">' + shut)

    table = open_table(str(changed(there, path, "content.xml", hide)))
    assert table.is_hidden.tolist() == [False, True, False, False]
    assert table.hidden_columns == ("income",)
    with pytest.raises(TableError, match=r"it is not a spreadsheet. No row is hidden."):
        open_table(str(FILES / "japan.csv"), ReadOptions(visible_rows=True))


def test_formulas_without_results_are_told_of(tmp_path):
    plain = written(tmp_path / "s.xlsx", [["a", "b"], *([i, i / 4] for i in range(9))])
    cells = re.compile(rb"<c r=\"(B\d+)\"><v>[^<]*</v></c>")
    forms = [b"<f>A2*2</f>", b"<f>A2*2</f><v></v>", b"<f>A2*2</f><v/>", b"<f>A2*2</f><v>1</v>"]
    for form, n_cells in zip(forms, [9, 9, 9, 0], strict=True):
        new = b'<c r="\\1">' + form + b"</c>"
        path = changed(plain, tmp_path / "t.xlsx", SHEET, lambda xml, new=new: cells.sub(new, xml))
        scan = scan_table(str(path))
        told = [fact.data["n_cells"] for fact in scan.notes]
        assert told == [n_cells] * bool(n_cells)
    solved = b'<c r="B2" t="str"><f>""</f><v></v></c>'
    path = changed(plain, tmp_path / "t.xlsx", SHEET, lambda xml: cells.sub(solved, xml))
    assert scan_table(str(path)).notes == ()


@pytest.mark.parametrize(
    ("texts", "numbers", "expected"),
    [
        (["4,154", "3,9"], (), [5.813, -0.25, 7, 4.154, 3.9]),
        (["4,154", "3,912"], ("k=1234,56",), [5.813, -0.25, 7, 4.154, 3.912]),
        (["4,154", "3,912"], ("k=1,234.56",), [5.813, -0.25, 7, 4154, 3912]),
        (["4,154", "3,912"], (), "ambiguous numbers"),
    ],
)
def test_number_cells_do_not_tell_how_texts_are_written(tmp_path, texts, numbers, expected):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_column(0, 0, ["k", 5.813, -0.25, 7, *texts])
        sheet.write_column(0, 1, ["sat", 0.95, 0.5, "97%", "91%", "90%"])
    found = prepare(open_table(str(path)), ColumnOptions(columns=("k",), numbers=numbers))
    if isinstance(expected, str):
        assert [doubt.code for doubt in found.doubts] == [expected]
    else:
        assert found.X[:, 0].tolist() == expected
    with (tmp_path / "out.csv").open("wb") as file:
        write_table(file, found.table, {})
    written = (tmp_path / "out.csv").read_text("utf-8").split("\n")
    assert written[:3] == ["k,sat", "5813e-3,0.95", "-25e-2,0.5"]
