"""Read CSV, TSV, Parquet and Arrow, compressed or not, from a file or a stream.

What a file is, is told by its first bytes, not by its name, so that a pipe works as a file does.
Cells of a text file stay text, exactly as they were written; `numbers` turns them into numbers.
"""

import bz2
import csv
import gzip
import hashlib
import io
import lzma
import re
import sys
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from pckid._text import brief
from pckid.exceptions import TableError
from pckid.tables.sniffing import TextFormat, sniff

_SNIFF_BYTES = 1 << 24


class Table(NamedTuple):
    """A table as it was read.

    Attributes
    ----------
    data : pyarrow.Table of shape (n_rows, n_columns)
    text : TextFormat or None
        How the text file writes cells; None for Parquet and Arrow.
    source : str
        The file's name, "standard input" for a stream.
    sha256 : str
        Hash of the bytes as they were stored.
    header_is_numbers : bool
        Whether every column name is a number: there may be no header at all.
    """

    data: Any
    text: TextFormat | None
    source: str
    sha256: str
    header_is_numbers: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.data.column_names)

    @property
    def decimal(self) -> str:
        """The sign between a number's whole part and its fraction."""
        return self.text.decimal if self.text else "."


def read_table(
    source: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    max_bytes: int = 1 << 32,
) -> Table:
    """Read a table from a file, or from standard input where `source` is "-".

    Parameters
    ----------
    source : str
        Path of a CSV, TSV, Parquet or Arrow file, also compressed by gzip, bzip2, xz, zstd or lz4.
    delimiter, decimal, encoding : str, optional
        How a text file is written; found out where not given.
    header : bool, default=True
        Whether the first row of a text file holds the column names.
    max_bytes : int, default=4 GiB
        A compressed table that takes more than this unpacked is refused, before it is unpacked.

    Returns
    -------
    table : Table

    Raises
    ------
    TableError
        With a sentence that says what is wrong and what to do.
    """
    name = "standard input" if source == "-" else source
    stored = _read_bytes(source)
    content = _decompress(stored, name, max_bytes)
    if not content.strip(b" \t\r\n\0\xef\xbb\xbf"):
        raise TableError(f"{name} is empty. Give a table with a header and at least one row.")
    text = None
    data = _read_binary(content, name, max_bytes)
    if data is None:
        content = _as_utf8(content, encoding, name)
        text = sniff(content[:_SNIFF_BYTES].decode("utf-8", "ignore"), delimiter, decimal)
        data = _read_text(content, text, header, name)
    _check_shape(data, name)
    numbers = header and bool(text) and all(map(_is_number, data.column_names))
    return Table(data, text, name, hashlib.sha256(stored).hexdigest(), numbers)


def _read_bytes(source: str) -> bytes:
    """Read everything there is."""
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        with open(source, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise TableError(f"There is no file {source!r}. Check the path.") from None
    except OSError as error:
        raise TableError(f"{source!r} cannot be read: {error.strerror}.") from None


def _decompress(stored: bytes, name: str, max_bytes: int) -> bytes:
    """Undo the compression that the first bytes tell of."""
    try:
        if stored.startswith(b"\x1f\x8b"):
            return _read_at_most(gzip.GzipFile(fileobj=io.BytesIO(stored)), name, max_bytes)
        if stored.startswith(b"BZh"):
            return _read_at_most(bz2.BZ2File(io.BytesIO(stored)), name, max_bytes)
        if stored.startswith(b"\xfd7zXZ\0"):
            return _read_at_most(lzma.LZMAFile(io.BytesIO(stored)), name, max_bytes)
        for magic, codec in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"\x04\x22\x4d\x18", "lz4")):
            if stored.startswith(magic):
                stream = pa.input_stream(io.BytesIO(stored), compression=codec)
                return _read_at_most(stream, name, max_bytes)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException):
        raise TableError(
            f"{name} is compressed but damaged or cut short. Copy or download it again."
        ) from None
    return stored


def _read_at_most(stream: Any, name: str, max_bytes: int) -> bytes:
    """Read a stream piece by piece, so that one without end costs no more than the limit."""
    content = bytearray()
    with stream:
        while piece := stream.read(1 << 20):
            content += piece
            _refuse_large(len(content), name, max_bytes)
    return bytes(content)


def _refuse_large(n_bytes: int, name: str, max_bytes: int) -> None:
    """Raise if a table takes more memory unpacked than was agreed to."""
    if n_bytes > max_bytes:
        raise TableError(
            f"{name} takes more than {max_bytes / 2**30:.3g} GB unpacked. If you trust it and have "
            "the memory, raise the limit with --max-unpacked."
        )


def _read_binary(content: bytes, name: str, max_bytes: int) -> Any:
    """Read Parquet or Arrow; None where the content is neither."""
    if content.startswith(b"PK\x03\x04"):
        raise TableError(
            f"{name} is a zip archive or a spreadsheet. Save the sheet as CSV, or unpack it first."
        )
    buffer = pa.BufferReader(content)
    try:
        if content.startswith(b"PAR1"):
            return _read_parquet(buffer, name, max_bytes)
        if content.startswith(b"ARROW1"):
            return _join(_arrow_batches(pyarrow.ipc.open_file(buffer)), name, max_bytes)
        if content.startswith(b"FEA1"):
            return pyarrow.feather.read_table(buffer)
        if content.startswith(b"\xff\xff\xff\xff"):
            return _join(_arrow_batches(pyarrow.ipc.open_stream(buffer)), name, max_bytes)
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(f"{name} is damaged or cut short: {brief(reason, 200)}") from None
    return None


def _read_parquet(buffer: Any, name: str, max_bytes: int) -> Any:
    """Read Parquet in batches; what it says of its own size is asked first."""
    file = pyarrow.parquet.ParquetFile(buffer)
    told = file.metadata
    _refuse_large(told.num_rows * told.num_columns, name, max_bytes)
    groups = (told.row_group(index).total_byte_size for index in range(told.num_row_groups))
    _refuse_large(sum(groups), name, max_bytes)
    return _join((file.schema_arrow, file.iter_batches()), name, max_bytes)


def _arrow_batches(reader: Any) -> tuple[Any, Iterator[Any]]:
    """Give the schema and the batches of an Arrow file or stream."""
    if hasattr(reader, "num_record_batches"):
        return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
    return reader.schema, iter(reader)


def _join(source: tuple[Any, Iterator[Any]], name: str, max_bytes: int) -> Any:
    """Put batches together until they take too much."""
    schema, batches = source
    kept, n_bytes = [], 0
    for batch in batches:
        n_bytes += batch.nbytes
        _refuse_large(n_bytes, name, max_bytes)
        kept.append(batch)
    return pa.Table.from_batches(kept, schema=schema)


def _as_utf8(content: bytes, encoding: str | None, name: str) -> bytes:
    """Recode text to UTF-8, without a byte-order mark."""
    if encoding is None:
        utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        encoding = "utf-16" if utf16 else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except LookupError:
        raise TableError(f"There is no encoding {encoding!r}; try utf-8 or latin-1.") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{name} is not {encoding.removesuffix('-sig')} text (line {line}). Save it as UTF-8, "
            "or say how it is encoded, for example --encoding latin-1."
        ) from None
    if "\0" in text:
        raise TableError(
            f"{name} is not a table: it holds zero bytes. Give CSV, TSV, Parquet or Arrow."
        )
    return text.encode("utf-8")


def _read_text(content: bytes, text: TextFormat, header: bool, name: str) -> Any:
    """Read delimited text with every cell kept as text."""
    bad_rows: list[Any] = []

    def remember(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    n_columns = text.n_columns
    keys = [f"f{index}" for index in range(n_columns)]
    try:
        data = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(
                column_names=keys,
                use_threads=False,
                block_size=min(len(content) + 1, 1 << 30),
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=text.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=n_columns > 1,
                invalid_row_handler=remember,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string())
            ),
        )
    except pa.ArrowInvalid as error:
        raise TableError(_ragged_row(bad_rows, text, name, error)) from None
    _refuse_open_quote(content, text, data.num_rows, name)
    if not header:
        return data.rename_columns([f"column {index + 1}" for index in range(n_columns)])
    first = [data.column(key)[0].as_py().strip() for key in keys]
    names = [cell or f"column {index + 1}" for index, cell in enumerate(first)]
    return data.slice(1).rename_columns(names)


def _refuse_open_quote(content: bytes, text: TextFormat, n_records: int, name: str) -> None:
    """Raise if a quote that is never closed, or closed too late, has swallowed records."""
    n_lines = max(content.count(b"\n"), content.count(b"\r"))
    if b'"' not in content or n_lines <= n_records:
        return
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    lines = io.StringIO(content.decode("utf-8"), newline="")
    reader = csv.reader(lines, delimiter=text.delimiter, strict=True)
    start = 1
    try:
        for _ in reader:
            start = reader.line_num + 1
    except csv.Error:
        raise TableError(
            f"{name} opens a quote in line {start} that is not closed as it should be. Close it, "
            'or double a quote that belongs to the text ("").'
        ) from None


def _ragged_row(rows: list[Any], text: TextFormat, name: str, error: Exception) -> str:
    """Say which line of a text file does not fit the others."""
    if not rows:
        return f"{name} cannot be read as a table: {str(error).splitlines()[0]}"
    row = rows[0]
    where = f"Record {row.number}" if row.number else "A record"
    sign = {"\t": "tab"}.get(text.delimiter, text.delimiter)
    return (
        f"{where} of {name} has {row.actual_columns} cells, the first has {row.expected_columns} "
        f"(delimiter {sign!r}). Mend the record, or give the right --delimiter."
    )


def _check_shape(data: Any, name: str) -> None:
    """Refuse a table without rows, without columns, or with two columns of one name."""
    if data.num_rows == 0 or data.num_columns == 0:
        raise TableError(f"{name} has no rows below its header. There is nothing to cluster.")
    seen: set[str] = set()
    for column in data.column_names:
        if column in seen:
            raise TableError(f"{name} has two columns named '{brief(column)}'. Rename one of them.")
        seen.add(column)


def _is_number(text: str) -> bool:
    """Whether a column name reads as a number."""
    return bool(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text))
