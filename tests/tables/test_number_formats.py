"""Cells that a workbook shows in percent or in a currency are read as texts with these signs."""

import re
import zipfile

import numpy as np
import pytest
import xlsxwriter
from open_tables import write_table

from pckid import read_table
from pckid.tables.choosing import Known
from pckid.tables.kinds import numbers_in_text
from pckid.tables.options import ColumnOptions, ReadOptions
from pckid.tables.preparing import prepare
from pckid.tables.scanning import open_table
from pckid.tables.stored_sheets import find_sign

BOTH = pytest.mark.parametrize("at_most", [float("inf"), 0], ids=["memory", "file"])
SHARES = [round(0.9 + i * 7 % 30 / 1000, 3) for i in range(30)]
OTHERS = [i * 7 % 11 + 0.5 for i in range(30)]


@pytest.mark.parametrize(
    ("code", "sign"),
    [
        ("0%", "%"),
        ("0.00%;[Red]-0.00%", "%"),
        ('0.0" %"', ""),
        (r"0\%", ""),
        ("General", ""),
        ("0.00E+00", ""),
        ("yyyy-mm-dd", ""),
        ('#,##0.00\\ "€"', "€"),
        ("#,##0.00 €", "€"),
        ("[$€-407] #,##0.00", "€"),
        ("[$-409]mmmm", ""),
        ('_("$"* #,##0.00_);_("$"* (#,##0.00)', "$"),
        ("$#,##0", "$"),
        ("[$USD] #,##0", "$"),
        ('#,##0 "kr"', "kr"),
        ('0.0" kg"', ""),
    ],
)
def test_a_number_format_tells_its_sign(code, sign):
    assert find_sign(code) == sign


@pytest.fixture
def book(tmp_path):
    """Return a function that writes sheets of columns, whose cells may be (number, format)."""

    def write(columns, name="book.xlsx", hidden=(), **more):
        path = str(tmp_path / name)
        with xlsxwriter.Workbook(path) as made:
            formats = {}
            for title, cells in {"Data": columns, **more}.items():
                sheet = made.add_worksheet(title)
                for j, (column, values) in enumerate(cells.items(), 1):
                    sheet.write(2, j, column)
                    for i, cell in enumerate(values, 3):
                        value, code = cell if isinstance(cell, tuple) else (cell, "")
                        if code and code not in formats:
                            formats[code] = made.add_format({"num_format": code})
                        sheet.write(i, j, value, formats.get(code))
                for row in hidden:
                    sheet.set_row(row, options={"hidden": True})
        return path

    return write


def prepared(path, at_most=float("inf"), known=None, reading=None, **options):
    return prepare(open_table(path, reading, at_most=at_most), ColumnOptions(**options), known)


def codes_of(found):
    return [problem.code for problem in found.problems]


@BOTH
def test_percent_cells_are_read_as_texts_in_percent(book, at_most):
    texts = [f"{100 * share:.1f}%" for share in SHARES]
    written = book({"sat": texts, "x": OTHERS}, "texts.xlsx")
    shown = book({"sat": [(share, "0.0%") for share in SHARES], "x": OTHERS})
    frame, _ = read_table(written)
    found = prepared(shown, at_most)
    assert found.units == {"sat": "%"}
    assert codes_of(found) == codes_of(prepared(written, at_most)) == []
    for path in (written, shown):
        assert read_table(path).frame.equals(frame)
        assert read_table(path).frame.attrs["pckid"]["units"] == {"sat": "%"}
    known = Known(("sat", "x"), {}, {"sat": "%"})
    assert codes_of(prepared(shown, at_most, known)) == []
    plain = book({"sat": SHARES, "x": OTHERS}, "plain.xlsx")
    assert codes_of(prepared(plain, at_most, known)) == ["other unit"]


@BOTH
def test_currencies_are_units_and_change_no_number(book, at_most):
    # A number without a sign is in the currency of the others.
    prices = [(x, '#,##0.00 "€"') if i > 4 else x for i, x in enumerate(OTHERS)]
    found = prepared(book({"price": prices, "x": OTHERS}), at_most)
    assert found.units == {"price": "€"}
    assert codes_of(found) == []
    mixed = [(x, "#,##0 €" if i % 2 else "$#,##0") for i, x in enumerate(OTHERS)]
    found = prepared(book({"price": mixed, "x": OTHERS}), at_most)
    assert codes_of(found) == ["mixed units"]
    assert found.problems[0].data["units"] == {"$": 15, "€": 15}


@BOTH
@pytest.mark.parametrize(
    ("plain", "code", "n_bare"),
    [(0.95, ["mixed units"], 10), (95.0, ["unit left out"], 10), (0, [], 0)],
)
def test_plain_numbers_among_percent_cells_are_asked_about(book, at_most, plain, code, n_bare):
    shares = [plain if i % 3 == 0 else (share, "0%") for i, share in enumerate(SHARES)]
    found = prepared(book({"sat": shares, "x": OTHERS}), at_most)
    assert codes_of(found) == code
    assert [problem.data["n_bare"] for problem in found.problems] == [n_bare] * len(code)


def test_sheets_that_differ_in_percent_are_asked_about(book):
    shown = {"sat": [(share, "0.0%") for share in SHARES], "x": OTHERS}
    both = book(shown, June={"sat": SHARES, "x": OTHERS})
    assert codes_of(prepared(both, reading=ReadOptions(sheet="all"))) == ["mixed units"]
    same = book(shown, June=shown)
    found = prepared(same, reading=ReadOptions(sheet="all"))
    assert (codes_of(found), found.units) == ([], {"sat": "%"})


def test_cells_are_matched_with_their_rows(book):
    """Below a title of blank rows, with blank, hidden and last rows left out, and among texts."""
    cells = [(share, "0.0%") for share in SHARES]
    cells[3:3] = ["", "n/a", 7.0]
    others = [*OTHERS[:3], "", 1.5, 2.5, *OTHERS[3:]]
    path = book({"sat": [*cells, 12.0], "x": [*others, 0.5]}, hidden=[8])
    reading = ReadOptions(visible_only=True, skip_last=1)
    found = prepared(path, reading=reading)
    assert codes_of(found) == []
    expected = [*SHARES[:3], np.nan, *SHARES[3:]]
    np.testing.assert_array_equal(found.X[:, 0], [float(f"{100 * s:.1f}") for s in expected])


def test_cells_in_percent_beside_decimal_commas_are_read(book):
    texts = [f"{x:.2f}".replace(".", ",") for x in OTHERS]
    cells = ["n/a", *((share, "0.0%") for share in SHARES[1:])]
    found = prepared(book({"sat": cells, "x": texts}))
    assert found.X[:3, 0].tolist()[1:] == [float(f"{100 * share:.1f}") for share in SHARES[1:3]]
    assert found.X[:, 1].tolist() == OTHERS


@pytest.mark.parametrize(
    ("old", "new", "units"),
    [
        (rb'<c r="(B\d+)" s="(\d+)"', rb'<c s="\2" r="\1"', {"sat": "%"}),
        (rb'<c r="B\d+" s=', rb"<c s=", {}),
    ],
)
def test_cells_may_be_stored_otherwise(book, tmp_path, old, new, units):
    path, other = book({"sat": [(share, "0.0%") for share in SHARES]}), tmp_path / "other.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            target.writestr(name, re.sub(old, new, source.read(name)))
    assert prepared(str(other)).units == units


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_a_table_is_written_as_it_came(book, tmp_path, kind):
    cells = [(share, "0.0%") for share in SHARES]
    columns = {"sat": cells, "with text": ["n/a", *cells[1:]], "mixed": [0.5, *cells[1:]]}
    found = prepared(book(columns | {"x": OTHERS}), drop=("mixed",))
    assert codes_of(found) == []
    np.testing.assert_array_equal(found.X[1:, 0], found.X[1:, 1])
    assert found.readings["with text"].choice.example in [f"{100 * s:.1f}%" for s in SHARES]
    numbers = numbers_in_text(found.rows_in_memory, found.readings, found.names, found.X)
    out = str(tmp_path / f"out.{kind}")
    with open(out, "wb") as file:
        new = {"cluster": np.arange(30) % 2}
        write_table(file, found.rows_in_memory, new, kind=kind, numbers=numbers)
    table = open_table(out)
    for name in ("sat", "with text", "mixed"):
        assert list(map(float, table.whole.data[name].to_pylist()[1:])) == SHARES[1:]
    # Formats that can say so keep that these are percentages.
    assert prepare(table).units == ({} if kind == "csv" else {"sat": "%"})
