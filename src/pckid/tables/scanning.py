"""The one way into a table: it is opened, and its rows come in batches; whole is all of them.

A file's kind is told by its first bytes, not by its name, so that a pipe works as a file does. What
can be wrong with the columns is found out before any row is read.
"""

from __future__ import annotations

import codecs
import hashlib
import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import OptionError, TableError
from pckid.tables.binary import (
    ARROW,
    PARQUET,
    binary_tables,
    describe_arrow,
    find_files,
    named_bytes,
    scan_parquet,
)
from pckid.tables.findings import Fact
from pckid.tables.isolation import allowed_memory, read_apart
from pckid.tables.options import ReadOptions
from pckid.tables.sniffing import TextFormat, after_lines, sniff
from pckid.tables.sources import MAX_UNPACKED, Source, find_source, refuse_large, refuse_wide
from pckid.tables.statfiles import STATISTICS, read_statistics
from pckid.tables.table import FileTable, Part
from pckid.tables.text import find_encoding, is_utf8, text_tables, utf8_pieces
from pckid.tables.workbooks import OLE, ZIP, read_sheet

_SAMPLE = 1 << 20
# How files begin that are named like tables and are none; in lower case, without spaces.
_NO_TABLES = {
    b"%pdf-": "a PDF document", b"\x89png": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)", b"{\\rtf": "a text document (RTF)",
    b"<!doctypehtml": "a web page (HTML)", b"<html": "a web page (HTML)",
    b"<meta": "a web page (HTML)", b"<head": "a web page (HTML)",
    b"<table": "a web page (HTML)", b"<?xml": "an XML document", b'{"': "a JSON document",
    b"[{": "a JSON document",
}  # fmt: skip
_MOST_NOTES = 12
_ROWS_AT_ONCE = 1 << 14
# Bytes of texts that the cells of a batch may name, unless more was asked for.
_MOST_NAMED = 1 << 29
# From this size on a compressed text is measured before more of it is kept.
_MEASURED_FROM = 1 << 28


@dataclass(frozen=True)
class OpenTable:
    """A table that was opened; its rows are in its file, and in memory if they were read."""

    source: str  # the file's name, "standard input" for a stream
    names: list[str]  # all columns, in order
    parts: tuple[Part, ...]
    n_bytes: int  # of its numbers in memory, or of a text or Arrow file on the disk
    text: TextFormat | None = None  # None for all but text files
    data: Any = None  # all rows (pyarrow.Table), where they were read or had to be
    is_read: bool = False  # whether they were to be read
    notes: tuple[Fact, ...] = ()  # what was decided and might have been decided otherwise
    n_skipped: int = 0  # rows below the names that are left out
    reading: ReadOptions = field(default_factory=ReadOptions)  # how it was to be opened
    added: frozenset[str] = frozenset()  # columns without a value that its file does not have

    @property
    def whole(self) -> FileTable | None:
        """All rows, where they were to be read into memory."""
        return FileTable(self.data, self.text, self.parts) if self.is_read else None

    @property
    def own_names(self) -> tuple[str, ...]:
        """The columns that its file has."""
        return tuple(name for name in self.names if name not in self.added)

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        if self.data is not None:
            return self.data.num_rows
        last = self.parts[-1]
        return None if last.n_rows is None else last.start + last.n_rows

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes as they are stored; those of a folder's files one after the other."""
        digest = hashlib.sha256()
        for source in dict.fromkeys(part.source for part in self.parts):
            with source.open() as file:
                hashlib.file_digest(file, lambda: digest)  # type: ignore[arg-type]
        return digest.hexdigest()

    def read(self, at_most: float = math.inf) -> OpenTable:
        """Read all rows into memory if their cells take no more than `at_most` bytes."""
        if self.n_bytes > at_most:
            return self
        source, is_text = self.parts[0].source, self.text is not None
        packed = is_text and source.unpacker is not None
        files = {part.source for part in self.parts} if self.data is None else set()
        # A few kilobytes do not hold gigabytes, unless they name one text again and again.
        allowed = min(source.max_bytes, sum(map(allowed_memory, files)) or source.max_bytes)
        if not is_text and at_most == math.inf:
            refuse_large(self.n_bytes, self.source, allowed)
        kept, n_bytes = [], 0
        for batch in self.batches(self.names):
            kept.append(batch.data)
            n_bytes += batch.data.nbytes + named_bytes(batch.data)
            if n_bytes > at_most:
                return self
            if not is_text:
                refuse_large(n_bytes, self.source, allowed)
            elif packed and n_bytes > _MEASURED_FROM:
                # Unpacked once without being kept, it is refused before it fills the memory.
                for _ in source.pieces():
                    pass
                packed = False
        return replace(self, data=pa.concat_tables(kept), is_read=True)

    def without_last(self, n_rows: int) -> OpenTable:
        """Leave out the last rows of a text file or sheet; those left out already count."""
        *before, part = self.parts
        more, data = max(n_rows - part.n_below, 0), self.data
        part = part._replace(n_below=part.n_below + more)
        if data is not None:
            data = data.slice(0, max(data.num_rows - more, 0))
            part = part._replace(n_rows=data.num_rows - part.start)
        return replace(self, parts=(*before, part), data=data)

    def without_first(self, n_rows: int) -> OpenTable:
        """Leave out the rows below the names of a text file, or of each sheet.

        Those left out already count.
        """
        more, data = n_rows - self.n_skipped, self.data
        if more <= 0:
            return self
        parts: list[Part] = []
        left_out: set[int] = set()
        for part in self.parts:
            n_out = more if part.n_rows is None else min(more, part.n_rows)
            rest = None if part.n_rows is None else part.n_rows - n_out
            sheet = part.sheet and part.sheet._replace(first=part.sheet.first + n_out)
            parts.append(part._replace(start=part.start - len(left_out), n_rows=rest, sheet=sheet))
            left_out.update(range(part.start, part.start + n_out))
        if data is not None:
            data = data.filter(pa.array([i not in left_out for i in range(data.num_rows)]))
        return replace(self, n_skipped=n_rows, parts=tuple(parts), data=data)

    def with_empty(self, names: Sequence[str]) -> OpenTable:
        """Add columns without a value to a table in memory."""
        data = self.data
        for name in names:
            data = data.append_column(name, pa.nulls(data.num_rows, pa.string()))
        return replace(self, names=[*self.names, *names], data=data, added=frozenset(names))

    def batches(self, columns: Sequence[str], n_rows: int = _ROWS_AT_ONCE) -> Iterator[FileTable]:
        """Read columns, from memory or from the file, at most `n_rows` rows at a time."""
        row = first = self.parts[0].start
        most = self.parts[0].source.max_bytes
        most = _MOST_NAMED if most <= MAX_UNPACKED else most
        for data in _tables(self, list(columns), n_rows):
            for start in range(0, data.num_rows, n_rows):
                rows = data.slice(start, n_rows)
                refuse_large(named_bytes(rows), self.source, most)
                yield FileTable(rows, self.text, self.parts, row + start)
            row += data.num_rows
        if row == first:
            raise TableError(_no_rows(self))


def open_table(
    source: str | Source, options: ReadOptions | None = None, *, at_most: float = math.inf
) -> OpenTable:
    """Open a table, and read it if its cells take no more than `at_most` bytes; 0 never does.

    `source` is the path of a file or of a folder of Parquet files, or "-" for standard input; or
    the bytes of a file. A TableError says why it cannot be read, and what to do.
    """
    given = options or ReadOptions()
    limit = None if given.max_unpacked is None else int(given.max_unpacked * 2**30)
    most = limit or MAX_UNPACKED
    if isinstance(source, str) and os.path.isdir(source):
        table = OpenTable(source, *scan_parquet([Source(p, most) for p in find_files(source)]))
    else:
        found = find_source(source, most) if isinstance(source, str) else source
        table = _open_file(found._replace(max_bytes=most), given)
    is_sheet = any(part.sheet for part in table.parts)
    if given.sheet is not None and not is_sheet:
        raise TableError(f"{table.source} has no sheets: it is not a spreadsheet. Give no sheet.")
    named_by_row = table.text is not None or is_sheet
    if not named_by_row and (given.skip_first or given.skip_below or given.skip_last):
        raise TableError(
            f"{table.source} is neither a text file nor a spreadsheet: no rows can be skipped."
        )
    if table.text is not None:
        table = table.without_last(given.skip_last)
    elif limit is not None:
        refuse_large(table.n_bytes, table.source, limit)
    table = table.without_first(given.skip_below)
    if not table.names or not table.parts:
        raise TableError(_no_rows(table))
    twice = next((name for name, n in Counter(table.names).items() if n > 1), None)
    if twice is not None:
        raise TableError(
            f"{table.source} has two columns named '{brief(twice)}'. Rename one of them."
        )
    table = replace(table, reading=given)
    return table.read(at_most) if at_most else table


def _open_file(source: Source, given: ReadOptions) -> OpenTable:
    """Open a file by its kind; read it, if its kind is only read whole."""
    start = next(source.pieces(64), b"")
    parts: tuple[Part, ...] = (Part(source, None, 0, None),)
    facts: tuple[Fact, ...] = ()
    if start.startswith(PARQUET):
        return OpenTable(source.name, *scan_parquet([source]))
    if start.startswith(ARROW):
        [names] = read_apart(describe_arrow, source)
        return OpenTable(source.name, names, parts, source.n_bytes)
    if start.startswith((ZIP, OLE)):
        data, parts, facts = read_sheet(source, given)
    elif start.startswith(STATISTICS):
        data = read_statistics(source)
        parts = (Part(source, None, 0, data.num_rows),)
    else:
        return _open_text(source, start, given)
    names, renamed = unique_names(data.column_names)
    return OpenTable(
        source.name, names, parts, data.nbytes, data=data.rename_columns(names),
        notes=(*facts, *renamed),
    )  # fmt: skip


def _open_text(source: Source, start: bytes, given: ReadOptions) -> OpenTable:
    """Open a text file: find out how it is written, and the names of its columns."""
    begins = b"".join(start.removeprefix(codecs.BOM_UTF8).lower().split())
    what = next((what for sign, what in _NO_TABLES.items() if begins.startswith(sign)), None)
    if what is not None:
        raise TableError(
            f"{source.name} is {what}, not a table. Open it in the program that it comes from, or "
            "in a spreadsheet program, and save the table as .xlsx or .csv."
        )
    delimiter, skip_first = _check_delimiter(given.delimiter), given.skip_first
    encoding = find_encoding(start, given.encoding)
    if given.fallback_encoding and encoding == "utf-8" and not is_utf8(source):
        encoding = given.fallback_encoding
    text = ""
    for piece in islice(utf8_pieces(source, encoding, _SAMPLE), 16):
        text += piece.decode("utf-8", "ignore")
        # The header counts whole, however long its names are.
        if "\n" in text.lstrip("\r\n") and text.count('"') % 2 == 0:
            break
    if not after_lines(text, skip_first or 0).strip():
        raise TableError(
            f"{source.name} is empty. Give a table with a header and at least one row."
        )
    if given.decimal not in (None, ".", ","):
        raise OptionError(f"{given.decimal!r} is neither '.' nor ','.", "decimal")
    kind, cells = sniff(text, delimiter, given.decimal, header=given.header, skip_first=skip_first)
    refuse_wide(kind.n_columns, source.name)
    named = [(given.header and cell.strip()) or f"column {j}" for j, cell in enumerate(cells, 1)]
    names, notes = unique_names(named)
    above_table = text[: len(text) - len(after_lines(text, kind.n_above))]
    if skip_first is None and above_table.strip():
        notes = Fact("rows_above", {"row": kind.n_above + 1}), *notes
    if kind.row_names:
        notes = *notes, Fact("row_names_unnamed", {"column": names[0]})
    if given.header and kind.is_data:
        notes = *notes, Fact("header_in_doubt", {"row": kind.n_above + 1, "unit": "line"})
    parts = (Part(source, None, 0, None),)
    kind = kind._replace(encoding=encoding)
    return OpenTable(source.name, names, parts, source.n_bytes, kind, notes=notes)


def _check_delimiter(delimiter: str | None) -> str | None:
    """Read the delimiter of cells; None: to be detected."""
    if delimiter in (None, "tab", "\\t"):
        return delimiter and "\t"
    if len(delimiter) != 1:
        raise OptionError(f"{delimiter!r} is not one character.", "delimiter")
    if not delimiter.isascii() or delimiter in '"\r\n\0':
        raise OptionError(
            f"{delimiter!r} cannot separate cells. Give an ASCII character, no quote or line end.",
            "delimiter",
        )
    return delimiter


def unique_names(names: Sequence[str]) -> tuple[list[str], tuple[Fact, ...]]:
    """Give columns of one name numbers, a second "a" becomes "a (2)"; and say so in facts."""
    taken = set(names)
    found: list[str] = []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new = name
        while seen[name] > 1 and new in taken:
            new = f"{name} ({seen[name]})"
            seen[name] += new in taken
        taken.add(new)
        found.append(new)
    pairs = zip(names, found, strict=True)
    facts = [Fact("renamed", {"old": old, "new": new}) for old, new in pairs if old != new]
    return found, tuple(facts[:_MOST_NOTES])


def _no_rows(table: OpenTable) -> str:
    return f"{table.source} has no rows below its header. There is nothing to cluster."


def _tables(table: OpenTable, names: list[str], n_rows: int) -> Iterator[Any]:
    part = table.parts[0]
    if table.data is not None:
        yield table.data.select(names)
    elif table.text is None:
        yield from binary_tables(table.parts, names, n_rows)
    else:
        index = {name: j for j, name in enumerate(table.names)}
        wanted = [index[name] for name in names]
        skipped = table.reading.header + table.n_skipped
        for data in text_tables(part.source, table.text, wanted, part.n_below):
            yield data.slice(skipped).rename_columns(names)
            skipped = max(skipped - data.num_rows, 0)
