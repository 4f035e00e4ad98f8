"""JSON lines: an object in each line, whose members are the columns of a row."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, BinaryIO

import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.formats.batches import FileRows, Plan, RowSource
from pckid.frontends.formats.cells import column_of, join_tables
from pckid.frontends.formats.isolation import read_apart
from pckid.frontends.formats.sources import Source, refuse_large, refuse_wide
from pckid.frontends.formats.table import FileTable, Part
from pckid.frontends.formats.written import NewRows, Writer, Writing, list_values
from pckid.frontends.options import ReadOptions

_ROWS_AT_ONCE, _BYTES_AT_ONCE = 1 << 14, 1 << 24
_MAX_LINE_LENGTH = 1 << 28
_BOM = b"\xef\xbb\xbf"
_ONE_EACH = 'JSON lines have an object, such as {"age": 30}, in each line.'


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a file whole; its rows have the numbers of their lines."""
    tables, numbers, n_bytes = [], list[int](), 0
    for found in read_apart(parse_lines, source, numbered=True):
        if isinstance(found, pa.Table):
            tables.append(found)
            n_bytes += found.nbytes
            refuse_large(n_bytes, source.name, source.max_bytes)
        else:
            numbers += found
    part = Part(source, 0, numbers, unit="line")
    return FileTable(join_tables(tables), None, (part,), source.name)


def open_rows(path: str, given: ReadOptions, plan: Plan) -> RowSource:
    """Open a file in batches."""
    return FileRows(parse_lines, Source(path), is_typed=False)


def open_writer(file: BinaryIO, how: Writing) -> Writer:
    """Write an object for each row."""
    return _LineWriter(file)


def parse_lines(
    source: Source, columns: Sequence[str] | None = None, numbered: bool = False
) -> Iterator[Any]:
    """Yield rows in parts; if they are to be numbered, after the lines that they are in."""
    yield pa.table({})
    rows: list[dict[str, Any]] = []
    numbers, n_bytes = list[int](), 0
    for number, line in enumerate(_lines(source), 1):
        if not line or line.isspace():
            continue
        rows.append(_members(line, number, source.name))
        numbers.append(number)
        n_bytes += len(line)
        if len(rows) == _ROWS_AT_ONCE or n_bytes >= _BYTES_AT_ONCE:
            yield from _make_part(rows, columns, [numbers] if numbered else [], source.name)
            rows, numbers, n_bytes = [], [], 0
    yield from _make_part(rows, columns, [numbers] if numbered else [], source.name)


def _make_part(
    rows: Sequence[dict[str, Any]], columns: Sequence[str] | None, before: list[Any], name: str
) -> Iterator[Any]:
    """Yield a table of rows, after what is to come before."""
    names = columns or dict.fromkeys(key for row in rows for key in row)
    refuse_wide(len(names), name)
    if rows:
        yield from before
        yield pa.table({key: column_of([row.get(key) for row in rows]) for key in names})


def _lines(source: Source) -> Iterator[bytes]:
    """Yield the lines of a text, without the byte-order mark at its beginning."""
    rest, is_first = b"", True
    for piece in source.pieces():
        lines = (rest + (piece.removeprefix(_BOM) if is_first else piece)).split(b"\n")
        rest, is_first = lines.pop(), False
        yield from lines
        if len(rest) > _MAX_LINE_LENGTH:
            raise TableError(
                f"{source.name} has a line of more than {_MAX_LINE_LENGTH >> 20} MB. {_ONE_EACH}"
            )
    yield rest


def _members(line: bytes, number: int, name: str) -> dict[str, Any]:
    """Read the object in a line; members of its objects have names such as "address.city"."""
    where = f"Line {number:,} of {name}"
    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=_unique_members)
    except UnicodeDecodeError:
        raise TableError(f"{where} is not UTF-8 text. Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        told = brief(str(error).partition(": line 1")[0], 100)
        raise TableError(f"{where} cannot be read ({told}). {_ONE_EACH}") from None
    if not isinstance(found, dict):
        raise TableError(f"{where} holds no object. {_ONE_EACH}")
    flat: dict[str, Any] = {}
    for key, value in _flatten(found, ""):
        if key in flat:
            raise TableError(f"{where} has two members that make a column '{brief(key)}'.")
        flat[key] = value
    return flat


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members, whose names all differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two members are named '{twice}'")
    return found


def _flatten(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """Go through the members of an object and of those in it; a list is a text, as JSON has it."""
    for key, cell in value.items():
        if isinstance(cell, dict):
            yield from _flatten(cell, f"{before}{key}.")
        elif isinstance(cell, list):
            yield before + key, json.dumps(cell, ensure_ascii=False)
        else:
            yield before + key, cell


class _LineWriter(Writer):
    """Writes an object for each row."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file

    def write(self, rows: NewRows) -> None:
        """Write some rows; a cell that is missing is null."""
        columns = [[_as_json(cell) for cell in list_values(each)] for each in rows.data.columns]
        names = rows.data.column_names
        for cells in zip(*columns, strict=True):
            row = dict(zip(names, cells, strict=True))
            self._file.write(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n")


def _as_json(cell: Any) -> Any:
    """Give a cell as JSON has it; of numbers it lacks NaN and infinity."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else str(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, list):
        return [_as_json(each) for each in cell]
    if isinstance(cell, dict):
        return {key: _as_json(each) for key, each in cell.items()}
    return cell if isinstance(cell, str | int | float | None) else str(cell)
