"""The one way into a table: it is read whole, by the library that knows its format.

A file's kind is told by its first bytes, not by its name, so that a pipe works as a file does.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
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
    binary_tables,
    find_files,
    named_bytes,
    parse_arrow,
    scan_parquet,
)
from pckid.frontends.tables.findings import Fact
from pckid.frontends.tables.headers import unique_names
from pckid.frontends.tables.isolation import allowed_memory, read_apart
from pckid.frontends.tables.sources import Source, find_source, refuse_large
from pckid.frontends.tables.statfiles import STATISTICS, read_statistics
from pckid.frontends.tables.table import FileTable, Part
from pckid.frontends.tables.text import TextFormat, open_text
from pckid.frontends.tables.workbooks import OLE, ZIP, read_sheet


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
        *before, part = self.parts
        more = max(n_rows - part.n_below, 0)
        data = self.data.slice(0, max(self.data.num_rows - more, 0))
        part = part._replace(n_below=part.n_below + more, n_rows=data.num_rows - part.start)
        return replace(self, parts=(*before, part), data=data)

    def without_first(self, n_rows: int) -> OpenTable:
        """Leave out the rows below the names of a text file, or of each sheet.

        Those left out already count.
        """
        more = n_rows - self.n_skipped
        if more <= 0:
            return self
        parts: list[Part] = []
        left_out: set[int] = set()
        for part in self.parts:
            n_out = min(more, part.n_rows)
            sheet = part.sheet and part.sheet._replace(first=part.sheet.first + n_out)
            start, n_left = part.start - len(left_out), part.n_rows - n_out
            parts.append(part._replace(start=start, n_rows=n_left, sheet=sheet))
            left_out.update(range(part.start, part.start + n_out))
        kept = pa.array([i not in left_out for i in range(self.data.num_rows)])
        return replace(self, n_skipped=n_rows, parts=tuple(parts), data=self.data.filter(kept))

    def without_rows(self, given: Sequence[str]) -> OpenTable:
        """Leave out rows of a text file or sheet by their numbers, as notes give them."""
        numbers = [part.strip() for each in given for part in each.split(",")]
        if not all(number.isdecimal() for number in numbers):
            raise OptionError(f"{', '.join(given)!r} are no numbers of rows.", "drop_rows")
        if len(self.parts) > 1:
            raise OptionError("rows of several sheets have no numbers of their own.", "drop_rows")
        [part], wanted = self.parts, sorted(set(map(int, numbers)))
        is_out = np.isin(part.numbers, wanted)
        if is_out.sum() < len(wanted):
            absent = next(number for number in wanted if number not in part.numbers)
            raise OptionError(f"the table has no row {absent:,}.", "drop_rows")
        return replace(
            self, parts=(part.without(wanted),), data=self.data.filter(pa.array(~is_out))
        )

    def with_empty(self, names: Sequence[str]) -> OpenTable:
        """Add columns without a value."""
        data = self.data
        for name in names:
            data = data.append_column(name, pa.nulls(data.num_rows, pa.string()))
        return replace(self, data=data, added=frozenset(names))


def open_table(source: str | Source, options: ReadOptions | None = None) -> OpenTable:
    """Read a table.

    `source` is the path of a file or of a folder of Parquet files, or "-" for standard input; or
    the bytes of a file. A TableError says why it cannot be read, and what to do.
    """
    given = options or ReadOptions()
    if isinstance(source, str) and os.path.isdir(source):
        table = _open_parquet(source, [Source(path) for path in find_files(source)])
    else:
        table = _open_file(find_source(source) if isinstance(source, str) else source, given)
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


def _open_parquet(name: str, sources: Sequence[Source]) -> OpenTable:
    """Read Parquet files that make up one table."""
    names, parts, n_bytes = scan_parquet(sources)
    allowed = min(sources[0].max_bytes, sum(map(allowed_memory, sources)))
    refuse_large(n_bytes, name, allowed)
    if not names or not parts:
        return OpenTable(name, pa.table({}), tuple(parts))
    return OpenTable(name, _join(binary_tables(parts, names), name, allowed), tuple(parts))


def _join(batches: Iterable[Any], name: str, most: int) -> Any:
    """Put batches together, unless they take too much memory."""
    kept, n_bytes = [], 0
    for batch in batches:
        kept.append(batch)
        n_bytes += batch.nbytes + named_bytes(batch)
        refuse_large(n_bytes, name, most)
    return pa.concat_tables(kept)


def _open_file(source: Source, given: ReadOptions) -> OpenTable:
    """Open a file by its kind; read it, if its kind is only read whole."""
    start = next(source.pieces(64), b"")
    facts: tuple[Fact, ...] = ()
    if start.startswith(PARQUET):
        return _open_parquet(source.name, [source])
    if start.startswith(ARROW):
        data = _join(read_apart(parse_arrow, source), source.name, allowed_memory(source))
        return OpenTable(source.name, data, (Part(source, None, 0, data.num_rows),))
    if start.startswith((ZIP, OLE)):
        data, parts, facts = read_sheet(source, given)
    elif start.startswith(STATISTICS):
        data = read_statistics(source)
        parts = (Part(source, None, 0, data.num_rows),)
    else:
        data, kind, facts = open_text(source, start, given)
        parts = (Part(source, None, 0, data.num_rows, given.skip_last),)
        return OpenTable(source.name, data, parts, kind, notes=facts)
    names, renamed = unique_names(data.column_names)
    notes = (*facts, *renamed)
    return OpenTable(source.name, data.rename_columns(names), parts, notes=notes)
