"""Delimited text: decoded and parsed, with every cell kept as text."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pckid._utils.text import counted
from pckid.exceptions import OptionError, TableError
from pckid.frontends.options import set_option
from pckid.frontends.tables.sniffing import TextFormat
from pckid.frontends.tables.sources import PIECE, Source

_LINE_END = re.compile(rb"\r\n?|\n")
_MAX_RECORD_LENGTH = 1 << 28
# Lines above and below a table are looked for among as many.
_MAX_EXTRA = 10
# Blocks of wide tables are longer, so that a column's part of each is not a few cells.
_BYTES_PER_COLUMN = 1 << 10
_BLOCK = 1 << 22


def find_encoding(start: bytes, encoding: str | None) -> str:
    """Detect the encoding of a text by its first bytes, unless it is given."""
    if encoding is None:
        return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)
    except LookupError:
        raise OptionError(
            f"There is no encoding {encoding!r}; try utf-8 or cp1252.", "encoding"
        ) from None
    return encoding


def utf8_pieces(source: Source, encoding: str, size: int = PIECE) -> Iterator[bytes]:
    """Yield a text in UTF-8, without a byte-order mark."""
    decoder = codecs.getincrementaldecoder(encoding)()
    pieces, n_bytes, started = source.pieces(size), 0, False
    piece: bytes | None = b""
    while piece is not None:
        piece = next(pieces, None)
        try:
            text = decoder.decode(piece or b"", final=piece is None)
        except UnicodeError as error:
            raise _not_decoded(error, source, encoding, n_bytes) from None
        n_bytes += len(piece or b"")
        found = text.encode("utf-8", "replace")
        if b"\0" in found:
            raise TableError(
                f"{source.name} is not a table: it holds zero bytes. Give CSV, TSV, Parquet or "
                "Arrow."
            )
        if not started:
            found = found.removeprefix(codecs.BOM_UTF8)
            started = bool(found)
        if found:
            yield found


def is_utf8(source: Source) -> bool:
    """Return whether all of a text is UTF-8."""
    try:
        return all(utf8_pieces(source, "utf-8"))
    except TableError:
        return False


def _not_decoded(error: UnicodeError, source: Source, encoding: str, n_bytes: int) -> TableError:
    wrong = getattr(error, "object", b"")
    line = wrong.count(b"\n", 0, getattr(error, "start", 0)) + 1
    for piece in source.pieces():
        if n_bytes <= 0:
            break
        line += piece.count(b"\n", 0, n_bytes)
        n_bytes -= len(piece)
    likely = "cp1252"
    try:
        wrong.decode(likely)
    except UnicodeError:
        likely = "latin-1"
    return TableError(
        f"{source.name} is not {encoding} text (line {line}). Save it as UTF-8, or say how it is "
        f"encoded, perhaps {likely}.",
        set_option("encoding", likely),
    )


def read_text(source: Source, kind: TextFormat, header: bool, n_below: int = 0) -> Any:
    """Read a text as an Arrow table of texts (n_rows, n_columns), whose columns have no names yet.

    The last `n_below` records are left out, whatever their length. A record of another length, and
    a quote that is not closed, are errors.
    """
    block = max(_BLOCK, _BYTES_PER_COLUMN * kind.n_columns)
    while True:
        try:
            found, bad = _parse(source, kind, block)
            break
        except pa.ArrowInvalid as error:
            block *= 8
            if "straddl" not in str(error) or block > _MAX_RECORD_LENGTH:
                reason = str(error).splitlines()[0]
                raise TableError(f"{source.name} cannot be read as a table: {reason}") from None
    n_records = found.num_rows + len(bad)
    wrong = [row for row in bad if row.number <= n_records - n_below]
    if wrong:
        raise _wrong_length(wrong[0], n_records, kind, source)
    rest = found.slice(header, max(found.num_rows - header - n_below + len(bad), 0))
    _refuse_open_quote(found, source, kind)
    pa.default_memory_pool().release_unused()
    return rest


def _parse(source: Source, kind: TextFormat, block: int) -> tuple[Any, list[Any]]:
    """Parse all records; give those as long as they should be, and the others."""
    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "skip"

    keys = [f"f{index}" for index in range(kind.n_columns)]
    reading = pyarrow.csv.ReadOptions(column_names=keys, use_threads=False, block_size=block)
    parsing = pyarrow.csv.ParseOptions(
        delimiter=kind.delimiter, newlines_in_values=True, invalid_row_handler=remember,
        ignore_empty_lines=kind.n_columns > 1,
    )  # fmt: skip
    types = dict.fromkeys(keys, pa.string())
    converting = pyarrow.csv.ConvertOptions(column_types=types, check_utf8=False)
    # Buffered, it gives as many bytes as a block takes, whatever the size of the pieces.
    stream = pa.PythonFile(io.BufferedReader(_Pieces(_text_of(source, kind))), "r")
    reader, batches = pyarrow.csv.open_csv(stream, reading, parsing, converting), []
    for batch in reader:
        batches.append(batch)
        pa.default_memory_pool().release_unused()  # what parsing took stays between the batches
    return pa.Table.from_batches(batches, reader.schema), bad


def _text_of(source: Source, kind: TextFormat) -> Iterator[bytes]:
    """Yield the text of a table in UTF-8, from its header on; it ends with a line end."""
    pieces = _below_lines(utf8_pieces(source, kind.encoding), kind.n_above)
    if kind.row_names:
        pieces = chain([kind.delimiter.encode()], pieces)  # the cell that the header lacks
    last = b""
    for last in pieces:
        yield last
    if not last.endswith((b"\n", b"\r")):
        yield b"\n"


class _Pieces(io.RawIOBase):
    """Bytes that come in pieces, as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        """Bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Give up to as many bytes as `buffer` takes; 0 at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        found = self._rest[: len(buffer)]
        buffer[: len(found)] = found
        self._rest = self._rest[len(found) :]
        return len(found)


def _below_lines(pieces: Iterator[bytes], n_lines: int) -> Iterator[bytes]:
    start = b""
    while n_lines:
        piece = next(pieces, None)
        start += piece or b""
        ends = [found.end() for found in islice(_LINE_END.finditer(start), n_lines)]
        # A carriage return at the very end may be the first half of a line end.
        if piece is None or (len(ends) == n_lines and ends[-1] < len(start)):
            start, n_lines = start[ends[-1] if len(ends) == n_lines else len(start) :], 0
    if start:
        yield start
    yield from pieces


def _refuse_open_quote(found: Any, source: Source, kind: TextFormat) -> None:
    """Raise if a quote runs to the end of the text: its cell, the last one, ends with a line."""
    last = found.column(kind.n_columns - 1)
    cell = last[-1].as_py() if len(last) else None
    if not cell or not cell.endswith(("\n", "\r")):
        return
    n_lines, end = 0, b""
    for piece in utf8_pieces(source, kind.encoding):
        n_lines += len(_LINE_END.findall(piece))
        end = (end + piece)[-1000:]
    if not end.rstrip().endswith(b'"'):
        n_lines += not end.endswith((b"\n", b"\r"))
        raise _open_quote(source.name, n_lines - len(re.findall(r"\r\n?|\n", cell)) + 1)


def find_quoted_rows(data: Any, delimiter: str) -> tuple[str, int, int] | None:
    """Find a cell with the line breaks and delimiters of whole rows: its quote is closed too late.

    Gives its column, its row, counted from 1, and how many rows it would hold.
    """
    n_between = data.num_columns - 1
    for name, column in zip(data.column_names, data.columns, strict=True):
        n_breaks = pc.count_substring_regex(column, "\r\n?|\n")
        if n_between and pc.max(n_breaks).as_py():
            n_signs = pc.count_substring(column, delimiter)
            whole = pc.and_(
                pc.greater(n_breaks, 0), pc.equal(n_signs, pc.multiply(n_breaks, n_between))
            )
            row = pc.index(whole, True).as_py()
            if row >= 0:
                return name, row + 1, n_breaks[row].as_py()
    return None


def _open_quote(name: str, line: int) -> TableError:
    return TableError(
        f"{name} opens a quote in line {line} that is not closed as it should be. Close it, or "
        'double a quote that belongs to the text ("").'
    )


def _wrong_length(row: Any, n_records: int, kind: TextFormat, source: Source) -> TableError:
    """Make the error for a line with a wrong number of cells; where it stands decides the fixes."""
    line, n_cells = _line_of(row.number, kind, source), row.actual_columns
    if row.text.count('"') % 2:
        return _open_quote(source.name, line)
    n_left = n_records - row.number + 1
    sign = {"\t": "tab"}.get(kind.delimiter, kind.delimiter)
    told = (
        f"Line {line} of {source.name} has {counted(n_cells, 'cell')}, the first has "
        f"{kind.n_columns} (delimiter {sign!r}). Fix the line, or say which character "
        "separates the cells."
    )
    fixes = [set_option("delimiter")]
    if n_cells < kind.n_columns and n_left <= _MAX_EXTRA:
        told += " If it stands below the table, leave it out."
        fixes.append(set_option("skip_last", n_left))
    elif n_cells > kind.n_columns and line <= kind.n_above + _MAX_EXTRA and not kind.row_names:
        told += " If a title stands above the table, leave it out."
        fixes.append(set_option("skip_first", line - 1))
    return TableError(told, *fixes)


def _line_of(number: int, kind: TextFormat, source: Source) -> int:
    """Find the line of the text in which a record, counted from 1, begins."""
    lines = io.TextIOWrapper(
        io.BufferedReader(_Pieces(_text_of(source, kind))), "utf-8", newline=""
    )
    reader = csv.reader(lines, delimiter=kind.delimiter)
    limit = csv.field_size_limit(_MAX_RECORD_LENGTH)
    try:
        n_before = n_seen = 0
        for record in reader:
            n_seen += bool(record) or kind.n_columns == 1
            if n_seen == number:
                break
            n_before = reader.line_num
        return kind.n_above + n_before + 1
    finally:
        csv.field_size_limit(limit)
