"""Delimited text: decoded, cut where records end, and parsed with every cell kept as text."""

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from pckid._utils.text import counted
from pckid.exceptions import TableError
from pckid.tables.findings import SetOption
from pckid.tables.sniffing import TextFormat
from pckid.tables.sources import PIECE, Source

_QUOTE = ord('"')
_LINE_END, _LINE_END_TEXT = re.compile(rb"\r\n?|\n"), re.compile(r"\r\n?|\n")
_TAIL = 1 << 17
_LONGEST_RECORD = 1 << 28
# Lines above and below a table are looked for among as many.
_MOST_EXTRA = 10
# Blocks of wide tables are longer, so that a column's part of each is not a few cells.
_BYTES_PER_COLUMN = 1 << 10


def find_encoding(start: bytes, encoding: str | None) -> str:
    """Detect the encoding of a text by its first bytes, unless it is given."""
    if encoding is None:
        return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)
    except LookupError:
        raise TableError(f"There is no encoding {encoding!r}; try utf-8 or cp1252.") from None
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
        SetOption("encoding", likely),
    )


def text_tables(
    source: Source, kind: TextFormat, columns: Sequence[int], n_below: int = 0
) -> Iterator[Any]:
    """Yield Arrow tables of texts (n_records, len(columns)), in order, the header's row first.

    `columns` are numbers; the last `n_below` records are left out.
    """
    size = max(PIECE, _BYTES_PER_COLUMN * kind.n_columns)
    pieces = _below_lines(utf8_pieces(source, kind.encoding, size), kind.n_above)
    if kind.row_names:
        pieces = chain([kind.delimiter.encode()], pieces)  # the cell that the header lacks
    blocks = _whole_records(pieces, kind.delimiter, source.name, kind.n_above, n_below)
    for block, n_before in blocks:
        found = _parse_block(block, kind, columns, source.name)
        if not isinstance(found, pa.Table):
            raise _wrong_length(found, block, n_before, blocks, kind, source.name)
        yield found


def last_text(source: Source, kind: TextFormat) -> tuple[str, bool]:
    """Read the end of a text, from the start of a line on; tell whether it is all of the table."""
    size = max(_TAIL, _BYTES_PER_COLUMN * kind.n_columns)
    encoding = codecs.lookup(kind.encoding).name
    one_byte = encoding in ("utf-8", "cp1252", "iso8859-1", "iso8859-15")
    if source.unpacker is None and one_byte and source.n_bytes > size:
        with source.open() as file:
            file.seek(-size, io.SEEK_END)
            found = file.read().decode(encoding, "replace")
        return _LINE_END_TEXT.split(found, maxsplit=1)[-1], False
    tail, is_all = b"", True
    for piece in _below_lines(utf8_pieces(source, encoding), kind.n_above):
        is_all = is_all and len(tail) + len(piece) <= size
        tail = (tail + piece)[-size:]
    found = tail.decode("utf-8", "replace")
    return (found if is_all else _LINE_END_TEXT.split(found, maxsplit=1)[-1]), is_all


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


def _whole_records(
    pieces: Iterator[bytes], delimiter: str, name: str, n_lines: int, n_below: int
) -> Iterator[tuple[memoryview, int]]:
    """Cut a text, which follows `n_lines` other lines, into blocks of whole records.

    Each comes with the number of lines before it. The last `n_below` records are left out; blank
    lines count for none.
    """

    def above_last(text: bytes, end: int) -> int:
        if n_below == 0:
            return end
        starts = record_starts(text[:end], delimiter)
        return int(starts[-n_below]) if len(starts) > n_below else 0

    waiting: list[bytes] = []
    size = wanted = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size < wanted:
            continue
        text = b"".join(waiting)
        end = above_last(text, _last_end(text, delimiter, name, n_lines))
        if end:
            block = memoryview(text)[:end]
            yield block, n_lines
            n_lines += _count_lines(block)
        elif size > _LONGEST_RECORD:
            raise TableError(
                f"{name} holds a record of more than {_LONGEST_RECORD >> 20} MB, which begins in "
                f"line {n_lines + 1}: a quote that is not closed, or a text without line ends."
            )
        waiting, size = [text[end:]], size - end
        # Where no record ends yet, twice as much is looked at next.
        wanted = 0 if end else 2 * size
    text = b"".join(waiting)
    _last_end(text, delimiter, name, n_lines, final=True)
    if end := above_last(text, len(text)):
        yield memoryview(text)[:end], n_lines


def record_starts(text: bytes, delimiter: str, *, blank: bool = False) -> np.ndarray:
    """Find where the records of a text that begins with one start, of shape (n_records,).

    With `blank`, blank lines are records too.
    """
    ends = _line_ends(text, *_quoted(text, delimiter)[:2])
    starts = np.append(0, ends + 1)
    starts = starts[starts < len(text)]
    if not blank:
        return np.setdiff1d(starts, ends, assume_unique=True)
    # The second half of a line end begins nothing.
    return np.array([i for i in starts.tolist() if text[max(i - 1, 0) : i + 1] != b"\r\n"], int)


def _line_ends(text: bytes, opened: np.ndarray, closed: np.ndarray) -> np.ndarray:
    """Find the signs that end lines outside of cells in quotes, which are (n_cells,)."""
    signs = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero((signs == ord("\n")) | (signs == ord("\r")))
    # The end of the last cell that opens before each of them; none does before the first.
    return ends[np.append(-1, closed)[np.searchsorted(opened, ends)] < ends]


def _last_end(text: bytes, delimiter: str, name: str, n_lines: int, *, final: bool = False) -> int:
    """Find where the last whole record ends; 0 if none does.

    Raises if a quote has swallowed lines: one that is never closed, which only the end of the text
    can tell, or that is closed elsewhere than at the end of a cell.
    """
    # A carriage return at the very end may be the first half of a line end.
    end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
    if b'"' not in text:
        return end
    opened, closed, wrong = _quoted(text, delimiter)
    if final and len(opened) and closed[-1] == len(text):
        wrong.append(int(opened[-1]))
    if wrong:
        line = n_lines + _count_lines(text[: wrong[0]]) + 1
        raise TableError(
            f"{name} opens a quote in line {line} that is not closed as it should be. Close it, or "
            'double a quote that belongs to the text ("").'
        )
    if len(opened) == 0 or end <= opened[0] or closed[np.searchsorted(opened, end) - 1] < end:
        return end
    outside = _line_ends(text[:end], opened, closed)
    return int(outside[-1]) + 1 if len(outside) else 0


def _count_lines(text: bytes | memoryview) -> int:
    signs = np.frombuffer(text, dtype=np.uint8)
    return int(np.count_nonzero(signs == ord("\n")) or np.count_nonzero(signs == ord("\r")))


def _quoted(text: bytes, delimiter: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Find the cells in quotes of a text that begins with a record.

    Returns where they open and where they close (n_cells,), the end of the text for one that does
    not; and where those open that run over lines and go on after the quote that closes them.
    """
    signs = np.frombuffer(text, dtype=np.uint8)
    edge = np.zeros(256, dtype=bool)
    edge[list(b"\r\n" + delimiter.encode())] = True
    marks = np.flatnonzero(signs == _QUOTE)
    opened, closed = marks[::2], marks[1::2]
    # The text's own ends are edges too. A quote next to one that closes is a doubled one.
    begun = edge[signs[opened - 1]] | (opened == 0)
    ended = edge[signs[(closed + 1) % len(text)]] | (closed == len(text) - 1)
    if not (begun.all() and ended.all()):
        alone = opened[1:] != closed[: len(opened) - 1] + 1
        begins, ends = np.append(True, alone), np.append(alone, True)[: len(closed)]
        opened, begun, closed, ended = opened[begins], begun[begins], closed[ends], ended[ends]
    if begun.all() and ended.all():
        return opened, np.append(closed, [len(text)] * (len(opened) - len(closed))), []
    # Some quotes are part of a cell that has none around it: only one that begins a cell opens it.
    cell = re.compile(rb'(?<![^\r\n%b])"[^"]*+(?:""[^"]*+)*+("?)' % re.escape(delimiter.encode()))
    spans, wrong = [], []
    for found in cell.finditer(text):
        start, stop = found.start(), found.end() if found[1] else len(text) + 1
        spans.append((start, stop - 1))
        if stop < len(text) and not edge[text[stop]] and re.search(rb"[\r\n]", found[0]):
            wrong.append(start)
    opens, closes = np.array(spans, dtype=np.intp).reshape(-1, 2).T
    return opens, closes, wrong


def _parse_block(block: memoryview, kind: TextFormat, columns: Sequence[int], name: str) -> Any:
    """Parse whole records; give the first that is not as long as it should be, if one is not."""
    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "error"

    keys = [f"f{index}" for index in range(kind.n_columns)]
    wanted = [keys[index] for index in columns]
    reading = pyarrow.csv.ReadOptions(
        column_names=keys, use_threads=False, block_size=len(block) + 1
    )
    parsing = pyarrow.csv.ParseOptions(
        delimiter=kind.delimiter, newlines_in_values=True, invalid_row_handler=remember,
        ignore_empty_lines=kind.n_columns > 1,
    )  # fmt: skip
    types = dict.fromkeys(wanted, pa.string())
    converting = pyarrow.csv.ConvertOptions(
        column_types=types, include_columns=wanted, check_utf8=False
    )
    try:
        return pyarrow.csv.read_csv(pa.BufferReader(block), reading, parsing, converting)
    except pa.ArrowInvalid as error:
        if bad:
            return bad[0]
        reason = str(error).splitlines()[0]
        raise TableError(f"{name} cannot be read as a table: {reason}") from None


def _wrong_length(
    found: Any, block: memoryview, n_before: int, rest: Any, kind: TextFormat, name: str
) -> TableError:
    """Make the error for a line with a wrong number of cells; where it stands decides the fixes."""
    starts = record_starts(bytes(block), kind.delimiter, blank=kind.n_columns == 1)
    place, n_cells = min(found.number, len(starts)) - 1, found.actual_columns
    line = n_before + _count_lines(block[: starts[place]]) + 1
    n_left = len(starts) - place
    for others, _ in rest:
        if n_left > _MOST_EXTRA:
            break
        n_left += len(record_starts(bytes(others), kind.delimiter))
    sign = {"\t": "tab"}.get(kind.delimiter, kind.delimiter)
    told = (
        f"Line {line} of {name} has {counted(n_cells, 'cell')}, the first has "
        f"{kind.n_columns} (delimiter {sign!r}). Fix the line, or say which character "
        "separates the cells."
    )
    fixes = [SetOption("delimiter")]
    if n_cells < kind.n_columns and n_left <= _MOST_EXTRA:
        told += " If it stands below the table, leave it out."
        fixes.append(SetOption("skip_last", n_left))
    elif n_cells > kind.n_columns and line <= kind.n_above + _MOST_EXTRA and not kind.row_names:
        told += " If a title stands above the table, leave it out."
        fixes.append(SetOption("skip_first", line - 1))
    return TableError(told, *fixes)
