"""JSON lines: an object in each line; what is none is refused with its line."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_tables import scan_table, write_table

from pckid.exceptions import TableError
from pckid.frontends.formats import jsonlines
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import FileTable, name_row


def read(*lines, sep="\n"):
    text = sep.join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return scan_table(Source("t", stored=text.encode()))


def test_members_are_columns_and_lines_are_rows():
    table = read(
        "\ufeff " + '{"a": 1, "b": {"c": "x", "d": {"e": true}}}', "", {"f": [1, "ü"], "a": 2.5}
    )
    assert table.data.to_pydict() == {
        "a": [1.0, 2.5], "b.c": ["x", None], "b.d.e": [True, None], "f": [None, '[1, "ü"]'],
    }  # fmt: skip
    assert name_row(table.parts, 2) == "line 3"


cells = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5),
                  st.floats(allow_nan=False, allow_infinity=False))  # fmt: skip


@given(st.lists(cells, min_size=1, max_size=8), st.integers(1, 9))
def test_parts_change_nothing(column, size):
    lines = [{"a": cell, "b": 1} for cell in column]
    with pytest.MonkeyPatch.context() as patch:
        content = "\n".join(map(json.dumps, lines)).encode()
        whole = jsonlines.join_tables(list(jsonlines.parse_lines(Source("t", stored=content))))
        patch.setattr(jsonlines, "_ROWS_AT_ONCE", size)
        parts = jsonlines.join_tables(list(jsonlines.parse_lines(Source("t", stored=content))))
    assert parts.to_pydict() == whole.to_pydict()
    kinds = {type(cell) for cell in column if cell is not None}
    if len(kinds) == 1 and not (
        int in kinds and max(map(abs, filter(None, column)), default=0) >= 2**63
    ):
        assert whole.column("a").to_pylist() == column


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (['{"a": 1}', "[2]"], "Line 2 of t holds no object"),
        (["{}", '{"a": 1'], "Line 2 of t cannot be read"),
        (['{"a": 1, "a": 2}'], "two members are named 'a'"),
        (['{"a": {"b": 1}, "a.b": 2}'], "two members that make a column 'a.b'"),
        (["{", '"a": 1', "}"], "1 cell"),
        (['{"a": ' + "[" * 100_000], "cannot be read"),
    ],
)
def test_what_is_no_object_is_refused(lines, told):
    if told == "1 cell":
        lines, told = ['{ "a":', "1 }"], "Line 1 of t cannot be read"
    with pytest.raises(TableError, match=told):
        read(*lines)
    with pytest.raises(TableError, match="not UTF-8"):
        scan_table(Source("t", stored=b'{"a": "\xff"}\n'))


def test_all_that_columns_hold_is_written(tmp_path):
    day = datetime.datetime(2024, 1, 31, 12, 30)
    data = pa.table({
        "x": [1.5, float("nan")], "day": [day, None], "text": ['"ü', None], "list": [[1], [2, 3]],
        "price": [Decimal("1.50"), None], "inside": [{"a": 1}, None], "inf": [float("inf"), 0],
    })  # fmt: skip
    with open(tmp_path / "t.jsonl", "wb") as file:
        write_table(file, FileTable(data), {"cluster": np.array([0, -1])}, ending=".jsonl")
    first, second = map(json.loads, (tmp_path / "t.jsonl").read_text("utf-8").splitlines())
    assert first == {
        "x": 1.5, "day": "2024-01-31T12:30:00", "text": '"ü', "list": [1], "price": 1.5,
        "inside": {"a": 1}, "inf": "inf", "cluster": 0,
    }  # fmt: skip
    assert second["x"] is second["text"] is None
    assert second["cluster"] == -1
