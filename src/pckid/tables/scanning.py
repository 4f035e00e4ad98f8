"""The one way into a table: it is opened, and its rows come in batches; whole is all of them.

A file's kind is told by its first bytes, not by its name, so that a pipe works as a file does. What
can be wrong with the columns is found out before any row is read.
"""

from __future__ import annotations

import codecs
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.tables.binary import (
    ARROW,
    PARQUET,
    arrow_names,
    arrow_tables,
    find_files,
    parquet_tables,
    scan_parquet,
)
from pckid.tables.facts import Fact
from pckid.tables.isolation import allowed_memory
from pckid.tables.sniffing import TextFormat, after_lines, first_record, sniff
from pckid.tables.sources import (
    MAX_UNPACKED,
    Source,
    find_source,
    hash_sources,
    refuse_large,
    refuse_wide,
)
from pckid.tables.statfiles import is_statistics, read_statistics
from pckid.tables.table import FileTable, Part
from pckid.tables.text import find_encoding, text_tables, utf8_pieces
from pckid.tables.workbooks import OLE, ZIP, read_sheet

_SAMPLE = 1 << 20
# How files begin that are named like tables and are none; in lower case.
_NO_TABLES = {
    b"%pdf-": "a PDF document", b"\x89png\r\n": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)", b"{\\rtf": "a text document (RTF)",
    b"<!doctype html": "a web page (HTML)", b"<html": "a web page (HTML)",
}  # fmt: skip
_MOST_NOTES = 12
# Rows read at a time where all of them are kept.
_MANY_ROWS = 1 << 14
# From this size on a compressed text is measured before more of it is kept.
_MEASURED_FROM = 1 << 28


class Scan(NamedTuple):
    """A table that was opened, not read.

    Attributes
    ----------
    source : str
    names : list of str
        All columns.
    parts : tuple of Part
    n_bytes : int
        Size of its numbers in memory, or of a text or Arrow file on the disk.
    text : TextFormat or None
        None for Parquet and Arrow.
    header : bool
        Whether the first row of a text file holds the names.
    encoding : str
    max_bytes : int
        The most that it may take when it is read whole.
    loaded : pyarrow.Table or None
        All rows of a format that is always read whole, such as a spreadsheet.
    is_sheet : bool
        Whether it is a spreadsheet.
    facts : tuple of Fact
        What was decided about the table and might have been decided otherwise.
    """

    source: str
    names: list[str]
    parts: tuple[Part, ...]
    n_bytes: int
    text: TextFormat | None = None
    header: bool = True
    encoding: str = "utf-8"
    max_bytes: int = MAX_UNPACKED
    loaded: Any = None
    is_sheet: bool = False
    facts: tuple[Fact, ...] = ()

    @property
    def n_rows(self) -> int | None:
        """The number of rows; only Parquet tells."""
        last = self.parts[-1]
        return None if last.n_rows is None else last.start + last.n_rows

    @property
    def header_is_numbers(self) -> bool:
        """Whether a header may be none: every name in a text or spreadsheet is a number."""
        number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
        named_by_row = bool(self.text) or self.is_sheet
        return named_by_row and self.header and all(map(number.fullmatch, self.names))

    def template(self, names: Sequence[str]) -> Any:
        """Make a table of some columns and no rows."""
        return pa.table({name: pa.array([], pa.float64()) for name in names})

    def sha256(self) -> str:
        """Hash the bytes as they are stored; those of a folder's files one after the other."""
        return hash_sources(dict.fromkeys(part.source for part in self.parts))


class Batch(NamedTuple):
    """Some rows of a part."""

    table: FileTable
    start: int  # number of the first row in the whole table
    part: Part

    @property
    def row(self) -> int:
        """Number of the first row in the part."""
        return self.start - self.part.start


def scan_table(
    source: str | Source,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    sheet: str | None = None,
    visible_only: bool = False,
    skip_first: int | None = None,
    skip_last: int = 0,
    max_bytes: int | None = None,
) -> Scan:
    """Open a table to read it in batches, or whole.

    Parameters
    ----------
    source : str or Source
        Path of a CSV, TSV, Parquet or Arrow file, also compressed by gzip, bzip2, xz, zstd or lz4,
        of a spreadsheet (.xlsx, .xls, .ods), of a file of Stata, SPSS or SAS, or of a folder of
        Parquet files; "-" is standard input. Or the bytes of a file, as a Source.
    delimiter, decimal, encoding : str, optional
        How a text file is written; found out where not given.
    header : bool, default=True
        Whether the first row of a text file or spreadsheet holds the column names.
    sheet : str, optional
        The name of a spreadsheet's sheet, or its number from 1; "all" are the sheets that have the
        columns of the first. By default the first that holds a table.
    visible_only : bool, default=False
        Leave out the rows of a sheet (.xlsx) that are hidden, such as by a filter.
    skip_first : int, optional
        Lines of a text file, or rows of a sheet, that stand above the table; found out by default.
    skip_last : int, default=0
        Rows at the end of a text file or sheet that are left out, such as totals and notes. Blank
        ones are not counted.
    max_bytes : int, optional
        A table that takes more than this unpacked is refused. By default 4 GiB, and no limit for
        Parquet that is read in batches.

    Returns
    -------
    scan : Scan

    Raises
    ------
    TableError
        With a sentence that says what is wrong and what to do.
    """
    most = max_bytes or MAX_UNPACKED
    if isinstance(source, str) and os.path.isdir(source):
        files = [Source(path, most) for path in find_files(source)]
        scan = Scan(source, *scan_parquet(files))
    else:
        found = find_source(source, most) if isinstance(source, str) else source
        found = found._replace(max_bytes=most)
        how = {"header": header, "skip_first": skip_first, "skip_last": skip_last}
        scan = _scan_whole(found, sheet=sheet, visible_only=visible_only, **how) or _scan_file(
            found, delimiter, decimal, encoding, header, skip_first
        )
    if (sheet is not None or visible_only) and not scan.is_sheet:
        raise TableError(f"{scan.source} has no sheets: it is not a spreadsheet. Name none.")
    if scan.text is None and not scan.is_sheet and (skip_first or skip_last):
        raise TableError(
            f"{scan.source} is neither a text file nor a spreadsheet: no rows can be skipped."
        )
    if scan.text is not None:
        scan = leave_out_last(scan, skip_last)
    if scan.text is None and max_bytes is not None:
        refuse_large(scan.n_bytes, scan.source, max_bytes)
    _check_names(scan)
    if scan.header_is_numbers:  # which leaves no doubt, and is asked about by itself
        facts = tuple(fact for fact in scan.facts if fact.code != "header_in_doubt")
        scan = scan._replace(facts=facts)
    return scan._replace(max_bytes=most)


def _scan_whole(source: Source, **how: Any) -> Scan | None:
    """Read a file of a kind that is only read whole; None if it is of another kind."""
    start = next(source.pieces(64), b"")
    parts: tuple[Part, ...] = ()
    facts: tuple[Fact, ...] = ()
    if start.startswith((ZIP, OLE)):
        data, parts, facts = read_sheet(source, **how)
    elif is_statistics(start):
        data = read_statistics(source)
    else:
        _refuse_documents(start, source.name)
        return None
    names, renamed = unique_names(data.column_names)
    return Scan(
        source.name, names, parts or (Part(source, None, 0, data.num_rows),), data.nbytes,
        header=how["header"], loaded=data.rename_columns(names), is_sheet=bool(parts),
        facts=(*facts, *renamed),
    )  # fmt: skip


def _refuse_documents(start: bytes, name: str) -> None:
    """Raise if the first bytes of a file are those of a document or picture."""
    begins = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    what = next((what for sign, what in _NO_TABLES.items() if begins.startswith(sign)), None)
    if what is not None:
        raise TableError(
            f"{name} is {what}, whatever its name says. Open it in the program that it comes from "
            "and save the table as .xlsx or .csv."
        )


def _scan_file(
    source: Source,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    header: bool,
    skip_first: int | None,
) -> Scan:
    """Open a file of a kind that is read in batches."""
    start = next(source.pieces(64), b"")
    if start.startswith(PARQUET):
        return Scan(source.name, *scan_parquet([source]))
    part = Part(source, None, 0, None)
    if start.startswith(ARROW):
        return Scan(source.name, arrow_names(source), (part,), source.n_bytes)
    found = find_encoding(start, encoding)
    text = ""
    for piece in islice(utf8_pieces(source, found, _SAMPLE), 16):
        text += piece.decode("utf-8", "ignore")
        # The header counts whole, however long its names are.
        if "\n" in text.lstrip("\r\n") and text.count('"') % 2 == 0:
            break
    if not after_lines(text, skip_first or 0).strip():
        raise TableError(
            f"{source.name} is empty. Give a table with a header and at least one row."
        )
    kind = sniff(text, delimiter, decimal, header=header, skip_first=skip_first)
    refuse_wide(kind.n_columns, source.name)
    cells = first_record(text, kind) if header else [""] * kind.n_columns
    given = [cell.strip() or f"column {index + 1}" for index, cell in enumerate(cells)]
    names, facts = unique_names(given)
    above_table = text[: len(text) - len(after_lines(text, kind.n_above))]
    if skip_first is None and above_table.strip():
        facts = (Fact("rows_above", {"row": kind.n_above + 1}), *facts)
    if header and kind.rival is not None:
        doubt = {"row": kind.n_above + 1, "rival": kind.rival + 1, "unit": "line"}
        facts = (*facts, Fact("header_in_doubt", doubt))
    return Scan(source.name, names, (part,), source.n_bytes, kind, header, found, facts=facts)


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
    facts = [
        Fact("renamed", {"old": old, "new": new})
        for old, new in zip(names, found, strict=True)
        if old != new
    ]
    return found, tuple(facts[:_MOST_NOTES])


def _check_names(scan: Scan) -> None:
    """Refuse a table without rows or columns, or with two columns of one name."""
    if not scan.names or not scan.parts:
        raise TableError(_no_rows(scan))
    seen: set[str] = set()
    for name in scan.names:
        if name in seen:
            raise TableError(
                f"{scan.source} has two columns named '{brief(name)}'. Rename one of them."
            )
        seen.add(name)


def _no_rows(scan: Scan) -> str:
    """Say that there is nothing to cluster."""
    return f"{scan.source} has no rows below its header. There is nothing to cluster."


def batches(
    scan: Scan, parts: Sequence[Part], columns: Sequence[str], n_rows: int
) -> Iterator[Batch]:
    """Read columns of some parts, at most `n_rows` rows at a time."""
    here, row = None, 0
    for part, data in _tables(scan, parts, columns, n_rows):
        here, row = part, row if part is here else part.start
        for start in range(0, data.num_rows, n_rows):
            table = FileTable(
                data.slice(start, n_rows), scan.text, scan.source, "", False, scan.parts
            )
            yield Batch(table, row + start, part)
        row += data.num_rows
    if row == 0:
        raise TableError(_no_rows(scan))


def _tables(
    scan: Scan, parts: Sequence[Part], columns: Sequence[str], n_rows: int
) -> Iterator[tuple[Part, Any]]:
    """Yield tables in order, with the part each belongs to."""
    part, names = parts[0], list(columns)
    if part.row_group is not None:
        yield from parquet_tables(parts, names, n_rows)
    elif scan.loaded is not None:
        yield part, scan.loaded.select(names)
    elif scan.text is None:
        for table in arrow_tables(part.source, names, n_rows):
            yield part, table
    else:
        index = {name: j for j, name in enumerate(scan.names)}
        wanted = [index[name] for name in names]
        skipped = int(scan.header)
        for table in text_tables(part.source, scan.encoding, scan.text, wanted, part.n_below):
            yield part, table.slice(skipped).rename_columns(names)
            skipped = 0


@overload
def leave_out_last(source: Scan, n_rows: int) -> Scan: ...
@overload
def leave_out_last(source: FileTable, n_rows: int) -> FileTable: ...
def leave_out_last(source: Scan | FileTable, n_rows: int) -> Scan | FileTable:
    """Leave out the last rows of a text file or sheet; those that are left out already count."""
    *before, part = source.parts
    more = max(n_rows - part.n_below, 0)
    parts = (*before, part._replace(n_below=part.n_below + more))
    if isinstance(source, FileTable):
        n_left = max(source.data.num_rows - more, 0)
        return source._replace(data=source.data.slice(0, n_left), parts=parts)
    if source.loaded is None:
        return source._replace(parts=parts)
    n_left = max(source.loaded.num_rows - more, 0)
    parts = (*before, parts[-1]._replace(n_rows=n_left - part.start))
    return source._replace(loaded=source.loaded.slice(0, n_left), parts=parts)


def read_source(source: str | Source, **options: Any) -> FileTable:
    """Read a table whole; parameters as for `scan_table`."""
    return read_whole(scan_table(source, **options))


def read_whole(scan: Scan) -> FileTable:
    """Read all rows and put them together."""
    table = read_up_to(scan, math.inf)
    assert table is not None
    return table


def read_up_to(scan: Scan, limit: float) -> FileTable | None:
    """Read all rows and put them together; None if their cells take more than `limit` bytes."""
    source = scan.parts[0].source
    packed = scan.text is not None and source.unpacker is not None
    kept, n_bytes = [], 0
    files = {part.source for part in scan.parts} if scan.loaded is None else set()
    # A few kilobytes do not hold gigabytes, unless they name one text again and again.
    allowed = min(scan.max_bytes, sum(map(allowed_memory, files)) or scan.max_bytes)
    if scan.text is None and limit == math.inf:
        refuse_large(scan.n_bytes, scan.source, allowed)
    for batch in batches(scan, scan.parts, scan.names, _MANY_ROWS):
        kept.append(batch.table.data)
        n_bytes += batch.table.data.nbytes
        if n_bytes > limit:
            return None
        if scan.text is None:
            refuse_large(n_bytes, scan.source, allowed)
        elif packed and n_bytes > _MEASURED_FROM:
            # Unpacked once without being kept, it is refused before it fills the memory.
            for _ in source.pieces():
                pass
            packed = False
    data = pa.concat_tables(kept)
    return FileTable(
        data, scan.text, scan.source, scan.sha256(), scan.header_is_numbers, scan.parts
    )


def row_numbers(start: int, n_rows: int) -> FileTable:
    """Make a table of one column, `row`, that counts rows from 1."""
    data = pa.table({"row": np.arange(start + 1, start + n_rows + 1)})
    return FileTable(data, None, "", "", False)
