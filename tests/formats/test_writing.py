"""Tables go out as they came in, and something more."""

import csv
import datetime
import io

import numpy as np
import pyarrow as pa
import pytest
import python_calamine
from hypothesis import given
from hypothesis import strategies as st
from open_tables import read_source, write_table

from pckid.exceptions import TableError
from pckid.frontends.formats.registry import PARQUET, TEXT, find_output
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import FileTable, TextFormat
from pckid.frontends.formats.writing import TableWriter

cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_any_text_survives(rows, delimiter):
    data = pa.table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    table = FileTable(data, TextFormat(delimiter, ".", 2))
    file = io.BytesIO()
    write_table(file, table, {"n": np.arange(len(rows))})
    text = io.StringIO(file.getvalue().decode(), newline="")
    read = list(csv.reader(text, delimiter=delimiter))
    assert read[1:] == [[*row, str(index)] for index, row in enumerate(rows)]


@given(cell)
def test_no_text_looks_like_a_formula_when_escaped(text):
    table = FileTable(pa.table({"a": [text]}), TextFormat(",", ".", 1))
    file = io.BytesIO()
    write_table(file, table, {"n": np.zeros(1)}, escape_formulas=True)
    written = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))[1][0]
    assert written in (text, "'" + text)
    if written[:1] in ("=", "@", "+", "-"):
        assert set(written) <= set("+-0123456789.,'’eE%‰$€£¥ \t\n\r\v\f")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        *[
            (text, False)
            for text in ("-4.9%", "-1,235.7", "-", "--", "-$5.10", "-1.5e-3", "+1 234")
        ],
        *[
            (text, True)
            for text in ("-1+2", "=1", "-A1", "+cmd|' /C calc'!A0", "@x", "-2*3", "-(1)")
        ],
    ],
)
def test_a_number_or_a_missing_value_is_no_formula(text, escaped):
    table = FileTable(pa.table({"a": [text]}), TextFormat(";", ".", 1))
    file = io.BytesIO()
    write_table(file, table, {}, escape_formulas=True)
    assert file.getvalue().decode().splitlines()[1].strip('"') == "'" * escaped + text


def written_data(kind, parts):
    """Write texts with their numbers, part by part, and read them back."""
    file = io.BytesIO()
    with TableWriter(file, ending=f".{kind}") as writer:
        for texts, values in parts:
            table = FileTable(pa.table({"a": texts, "b": ["x"] * len(texts)}))
            writer.write(table, {}, {"a": np.array(values, dtype=float)})
    return read_source(Source("t", stored=file.getvalue())).data["a"].to_pylist()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "xlsx"])
@pytest.mark.parametrize(
    ("texts", "values", "stored"),
    [
        (["1.50", "n/a", "-3"], [1.5, np.nan, -3], None),
        (["9007199254740993", "9007199254740995"], [2.0**53] * 2, "text"),
        (["20095", "01017"], [20095, 1017], "text"),
        (["1.5M", "2.5M"], [1.5, 2.5], "text"),
        (["5 kg", "6 kg"], [5, 6], "text"),
        (["1.234,56", "0,5"], [1234.56, 0.5], "number"),
        (["1e300", "(5)"], [1e300, -5], "number"),
    ],
)
def test_texts_stay_where_numbers_do_not_hold_them(kind, texts, values, stored):
    found = written_data(kind, [(texts, values)])
    if stored is None:
        assert found == ([1.5, None, -3.0] if kind != "xlsx" else ["1.5", "n/a", "-3"])
    else:
        assert found == (texts if stored == "text" else values)


def test_what_is_seen_late_is_kept_or_refused():
    parts = [(["20095", "20096"], [20095, 20096]), (["01017"], [1017])]
    assert written_data("xlsx", parts) == ["20095", "20096", "01017"]
    for kind in ("parquet", "arrow"):
        with pytest.raises(TableError, match="Column 'a' holds '01017'"):
            written_data(kind, parts)
        assert written_data(kind, parts[::-1]) == ["01017", "20095", "20096"]


def test_nulls_of_arrow_are_empty_cells():
    table = FileTable(pa.table({"a": [1.5, None]}))
    file = io.BytesIO()
    write_table(file, table, {"cluster": np.array([0, -1]), "confidence": np.array([0.5, 0])})
    assert file.getvalue() == b"a,cluster,confidence\n1.5,0,0.5000\n,-1,0.0000\n"


@pytest.mark.parametrize("codec", ["gzip", "bz2", "xz"])
def test_compressed_text_is_the_same_every_time(tmp_path, codec):
    table = FileTable(pa.table({"a": ["1"]}), TextFormat(",", ".", 1))
    contents = []
    for _ in range(2):
        file = io.BytesIO()
        write_table(file, table, {"n": np.zeros(1, dtype=int)}, codec=codec)
        contents.append(file.getvalue())
    assert contents[0] == contents[1]
    path = tmp_path / "t"
    path.write_bytes(contents[0])
    assert read_source(str(path)).data.to_pydict() == {"a": ["1"], "n": ["0"]}


def test_format_follows_the_name():
    assert find_output("x.csv") == (TEXT, ".csv", None)
    assert find_output("x.y.TSV.gz") == (TEXT, ".tsv", "gzip")
    assert find_output("x.parquet") == (PARQUET, ".parquet", None)
    for name in ("x", "x.docx", "x.parquet.gz", "csv"):
        with pytest.raises(TableError, match="no known ending"):
            find_output(name)


def test_a_workbook_keeps_what_cells_are(tmp_path):
    day, hour = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12, 30)
    columns = {
        "text": ["=1+1", None, "http://a.b"],
        "number": [1.5, None, float("nan")],
        "code": [2**53 + 1, 7, None],
        "flag": [True, None, False],
        "day": [day, None, datetime.date(1850, 1, 1)],
        "at": [hour, None, hour],
        "span": [datetime.timedelta(hours=30), None, None],
    }
    path = tmp_path / "t.xlsx"
    with open(path, "wb") as file:
        table = FileTable(pa.table(columns))
        write_table(file, table, {"cluster": np.array([0, -1, 1])}, ending=".xlsx", origin="{}")
    assert read_source(str(path)).data.to_pydict() == {
        "text": ["=1+1", None, "http://a.b"],
        "number": [1.5, None, None],
        "code": ["9007199254740993", "7", None],
        "flag": [True, None, False],
        "day": ["2024-01-31", None, "1850-01-01"],
        "at": columns["at"],
        "span": [datetime.timedelta(hours=30), None, None],
        "cluster": [0, -1, 1],
    }
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_too_long_for_a_cell_is_cut_with_a_warning(tmp_path):
    table = FileTable(pa.table({"a": ["x" * 40_000]}))
    with (
        open(tmp_path / "t.xlsx", "wb") as file,
        pytest.warns(UserWarning, match=r"1 text\(s\) .* 32,767 "),
    ):
        write_table(file, table, {}, ending=".xlsx")


def test_texts_for_missing_are_kept_in_a_workbook(tmp_path):
    cells = ["1,5", "k.A.", "", "-999", None, "nan"]
    table = FileTable(pa.table({"a": cells}))
    numbers = {"a": np.array([1.5, *[np.nan] * 5])}
    path = tmp_path / "t.xlsx"
    with path.open("wb") as file:
        write_table(file, table, {"cluster": np.arange(6)}, ending=".xlsx", numbers=numbers)
    found = python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    assert [row[0] for row in found] == ["a", 1.5, "k.A.", "", -999, "", "nan"]


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_nanoseconds_are_written(kind):
    column = pa.array([1_706_702_400_000_000_001, None], pa.timestamp("ns"))
    table = FileTable(pa.table({"a": column, "b": [1, 2]}))
    file = io.BytesIO()
    write_table(file, table, {}, ending=f".{kind}")
    found = read_source(Source("t", stored=file.getvalue())).data["a"]
    assert str(found[0]).startswith("2024-01-31 12:00:00")
