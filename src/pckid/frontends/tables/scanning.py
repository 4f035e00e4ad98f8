"""The one way into a table: it is read whole, by the library that knows its format.

A file's kind is told by its first bytes, not by its name, so that a pipe works as a file does.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import OptionError, TableError
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
from pckid.frontends.tables.table import FileTable, Part, Sheet
from pckid.frontends.tables.text import TextFormat, open_text
from pckid.frontends.tables.workbooks import OLE, ZIP, read_sheet

# What is advised with its value where a table cannot be read otherwise. A title above the table may
# be a header with cells too few.
_CLEAR = ("encoding", "skip_last")


@dataclass(frozen=True)
class OpenTable:
    """A table that was read, with each cell as it is in its file."""

    source: str  # the file's name, "standard input" for a stream
    data: Any  # all rows, as pyarrow.Table
    parts: tuple[Part, ...]
    text: TextFormat | None = None  # None for all but text files
    notes: tuple[Fact, ...] = ()  # what was decided and might have been decided otherwise
    n_skipped: int = 0  # rows below the names that are left out
    reading: ReadOptions = field(default_factory=ReadOptions)  # how it was to be opened
    added: frozenset[str] = frozenset()  # columns without a value that its file does not have

    @property
    def names(self) -> list[str]:
        """All columns, in order."""
        return list(self.data.column_names)

    @property
    def rows(self) -> FileTable:
        """All rows."""
        return FileTable(self.data, self.text, self.parts)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The columns that its file has."""
        return tuple(name for name in self.names if name not in self.added)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.data.num_rows

    @property
    def n_left_out(self) -> int:
        """Rows of a text file or of sheets, below the names or at the end, that do not count."""
        return self.n_skipped * len(self.parts) + sum(part.n_below for part in self.parts)

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes as they are stored; those of a folder's files one after the other."""
        digest = hashlib.sha256()
        for source in dict.fromkeys(part.source for part in self.parts):
            with source.open() as file:
                hashlib.file_digest(file, lambda: digest)  # type: ignore[arg-type]
        return digest.hexdigest()

    def without_last(self, n_rows: int) -> OpenTable:
        """Leave out the last rows of a text file or sheet; those left out already count."""
        more = max(n_rows - self.parts[-1].n_below, 0)
        kept = self._without(np.arange(self.n_rows) >= self.n_rows - more)
        *before, last = kept.parts
        return replace(kept, parts=(*before, last._replace(n_below=last.n_below + more)))

    def without_first(self, n_rows: int) -> OpenTable:
        """Leave out the rows below the names of a text file, or of each sheet.

        Those left out already count.
        """
        more = n_rows - self.n_skipped
        if more <= 0:
            return self
        is_out = np.zeros(self.n_rows, dtype=bool)
        for part in self.parts:
            is_out[part.start : part.start + min(more, len(part.numbers))] = True
        kept = self._without(is_out)
        parts = tuple(
            part._replace(sheet=part.sheet and Sheet(part.sheet.name, part.sheet.first + more))
            for part in kept.parts
        )
        return replace(kept, n_skipped=n_rows, parts=parts)

    def without_rows(self, given: Sequence[str]) -> OpenTable:
        """Leave out rows of a text file by their lines, or of a sheet by their numbers."""
        numbers = [part.strip() for each in given for part in each.split(",")]
        if not all(number.isdecimal() for number in numbers):
            raise OptionError(f"{', '.join(given)!r} are no numbers of rows.", "drop_rows")
        if len(self.parts) > 1:
            raise OptionError("rows of several sheets have no numbers of their own.", "drop_rows")
        wanted, here = set(map(int, numbers)), self.parts[0].numbers
        absent = sorted(wanted.difference(here))
        if absent:
            raise OptionError(f"the table has no {self.parts[0].unit} {absent[0]:,}.", "drop_rows")
        return self._without(np.isin(here, list(wanted)))

    def _without(self, is_out: np.ndarray) -> OpenTable:
        parts: list[Part] = []
        start = 0
        for part in self.parts:
            kept = ~is_out[part.start : part.start + len(part.numbers)]
            parts.append(part._replace(start=start, numbers=np.asarray(part.numbers)[kept]))
            start += int(kept.sum())
        data = self.data.filter(pa.array(~is_out))
        return replace(self, parts=tuple(parts), data=data)

    def with_empty(self, names: Sequence[str]) -> OpenTable:
        """Add columns without a value."""
        data = self.data
        for name in names:
            data = data.append_column(name, pa.nulls(data.num_rows, pa.string()))
        return replace(self, data=data, added=frozenset(names))


def open_table(
    source: str | Source, options: ReadOptions | None = None, *, take_advice: bool = False
) -> OpenTable:
    """Read a table.

    `source` is the path of a file or of a folder of Parquet files, or "-" for standard input; or
    the bytes of a file. A TableError says why it cannot be read, and what to do. With advice, that
    is done where it is clear, and noted.
    """
    given = options or ReadOptions()
    if isinstance(source, str) and not os.path.isdir(source):
        source = find_source(source)
    try:
        return _open_as_given(source, given)
    except TableError as error:
        advised = [f for f in error.fixes if f.option in _CLEAR and not getattr(given, f.option)]
        if not (take_advice and advised):
            raise
        table = open_table(source, given.with_fixes(advised), take_advice=True)
        taken = Fact("advice_taken", {"fixes": advised, "told": str(error)})
        return replace(table, notes=(taken, *table.notes))


def _open_as_given(source: str | Source, given: ReadOptions) -> OpenTable:
    """Read a folder of Parquet files or the bytes of a file, and leave rows out as asked."""
    if isinstance(source, str):
        files = [Source(path) for path in find_files(source)]
        table = OpenTable(source, *read_parquet(source, files))
    else:
        table = _open_file(source, given)
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
    table = table.without_first(given.skip_below)
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


def _open_file(source: Source, given: ReadOptions) -> OpenTable:
    """Read a file by its kind, which its first bytes name."""
    start = next(source.pieces(64), b"")
    if start.startswith(PARQUET):
        return OpenTable(source.name, *read_parquet(source.name, [source]))
    kind, parts, facts = None, tuple[Part, ...](), tuple[Fact, ...]()
    if start.startswith(ARROW):
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
    return OpenTable(source.name, data, parts, kind, notes=facts)
