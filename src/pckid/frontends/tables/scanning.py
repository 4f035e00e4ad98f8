"""The one way into a table: it is read whole, by the library that knows its format.

A file's kind is told by its first bytes, not by its name, so that a pipe works as a file does.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.options import ReadOptions
from pckid.frontends.tables.binary import (
    ARROW,
    PARQUET,
    STATISTICS,
    find_files,
    parse_arrow,
    read_parquet,
    read_statistics,
)
from pckid.frontends.tables.findings import Fact
from pckid.frontends.tables.headers import unique_names
from pckid.frontends.tables.isolation import read_apart
from pckid.frontends.tables.sources import Source, find_source
from pckid.frontends.tables.table import FileTable, Part
from pckid.frontends.tables.text import open_text
from pckid.frontends.tables.workbooks import OLE, ZIP, read_sheet

# What is advised with its value where a table cannot be read otherwise. A title above the table may
# be a header with cells too few.
_CLEAR = ("encoding", "skip_last")


def open_table(
    source: str | Source, options: ReadOptions | None = None, *, take_advice: bool = False
) -> FileTable:
    """Read a table.

    `source` is the path of a file or of a folder of Parquet files, or "-" for standard input; or
    the bytes of a file. A TableError says why it cannot be read, and what to do. With advice, that
    is done where it is clear, and noted.
    """
    given = options or ReadOptions()
    if isinstance(source, str) and not os.path.isdir(source):
        source = find_source(source)
    try:
        table = _read(source, given)
    except TableError as error:
        advised = [f for f in error.fixes if f.option in _CLEAR and not getattr(given, f.option)]
        if not (take_advice and advised):
            raise
        table = open_table(source, given.with_fixes(advised), take_advice=True)
        taken = Fact("advice_taken", {"fixes": advised, "told": str(error)})
        return replace(table, notes=(taken, *table.notes))
    is_sheet = any(part.sheet for part in table.parts)
    if given.sheet is not None and not is_sheet:
        raise TableError(f"{table.source} has no sheets: it is not a spreadsheet. Give no sheet.")
    named_by_row = table.text is not None or is_sheet
    if not named_by_row and (
        given.skip_first or given.skip_below or given.skip_last or given.drop_rows
    ):
        raise TableError(
            f"{table.source} is neither a text file nor a spreadsheet: no rows can be skipped."
        )
    table = table.without_first(given.skip_below) if given.skip_below else table
    table = table.without_rows(given.drop_rows) if given.drop_rows else table
    if not table.names or not table.n_rows:
        raise TableError(
            f"{table.source} has no rows below its header. There is nothing to cluster."
        )
    twice = next((name for name, n in Counter(table.names).items() if n > 1), None)
    if twice is not None:
        raise TableError(
            f"{table.source} has two columns named '{brief(twice)}'. Rename one of them."
        )
    return replace(table, reading=given)


def _read(source: str | Source, given: ReadOptions) -> FileTable:
    """Read a folder of Parquet files, or a file by its kind, which its first bytes name."""
    if isinstance(source, str):
        files = [Source(path) for path in find_files(source)]
        data, parts = read_parquet(source, files)
        return FileTable(data, None, parts, source)
    start = next(source.pieces(64), b"")
    kind, parts, facts = None, tuple[Part, ...](), tuple[Fact, ...]()
    if start.startswith(PARQUET):
        data, parts = read_parquet(source.name, [source])
    elif start.startswith(ARROW):
        data = pa.concat_tables(read_apart(parse_arrow, source))
    elif start.startswith((ZIP, OLE)):
        data, parts, facts = read_sheet(source, given)
    elif start.startswith(STATISTICS):
        data = read_statistics(source)
    else:
        data, kind, facts, lines = open_text(source, start, given)
        parts = (Part(source, 0, lines, given.skip_last, unit="line"),)
    if start.startswith((ZIP, OLE, *STATISTICS)):
        names, renamed = unique_names(data.column_names)
        data, facts = data.rename_columns(names), (*facts, *renamed)
    if not parts:
        parts = (Part(source, 0, range(1, data.num_rows + 1), given.skip_last),)
    return FileTable(data, kind, parts, source.name, facts)
