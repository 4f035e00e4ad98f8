"""Tables too large to read whole: Parquet files, folders of them, and text, batch by batch.

What can be wrong with the columns is found out before any row is read; an error names the file,
the column and the row group.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from pckid._text import brief
from pckid.exceptions import TableError
from pckid.tables.numbers import MissingTokens, NotNumbers, try_numbers
from pckid.tables.reading import Table
from pckid.tables.sniffing import TextFormat, sniff

_SNIFF_BYTES = 1 << 20
_TEXT_BLOCK = 1 << 23
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_PACKING = 5  # about how many times smaller compression makes text
_UNKNOWN = (b"PK\x03\x04", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff", b"\x28\xb5\x2f\xfd",
            b"\x04\x22\x4d\x18", b"\xff\xfe", b"\xfe\xff")  # fmt: skip


class Part(NamedTuple):
    """Rows that can be read without those before them."""

    path: str
    row_group: int | None  # None is a text file
    start: int  # number of the first row in the whole table
    n_rows: int | None

    @property
    def place(self) -> str:
        """Where the rows are, for errors."""
        return self.path if self.row_group is None else f"{self.path}, row group {self.row_group}"


class Scan(NamedTuple):
    """A table that was opened, not read.

    Attributes
    ----------
    source : str
    names : list of str
        All columns.
    parts : tuple of Part
    n_bytes : int
        Size of its numbers in memory, or of a text file on the disk, unpacked.
    text : TextFormat or None
        None for Parquet.
    header : bool
        Whether the first row of a text file holds the names.
    encoding : str
    """

    source: str
    names: list[str]
    parts: tuple[Part, ...]
    n_bytes: int
    text: TextFormat | None = None
    header: bool = True
    encoding: str = "utf8"

    @property
    def n_rows(self) -> int | None:
        """The number of rows; a text file does not tell."""
        last = self.parts[-1]
        return None if last.n_rows is None else last.start + last.n_rows

    def template(self, names: Sequence[str]) -> Any:
        """Make a table of some columns and no rows."""
        return pa.table({name: pa.array([], pa.float64()) for name in names})


class Batch(NamedTuple):
    """Some rows of a part."""

    table: Table
    start: int  # number of the first row in the whole table
    place: str
    row: int  # number of the first row in the part


def scan_table(
    source: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
) -> Scan | None:
    """Open a table to read it in batches.

    Parameters
    ----------
    source : str
        Path of a Parquet file, of a folder of them, or of a CSV or TSV file, also compressed by
        gzip, bzip2 or xz.
    delimiter, decimal, encoding, header
        As for `read_table`.

    Returns
    -------
    scan : Scan or None
        None where the file is of a kind that is only read whole.
    """
    if source == "-":
        return None
    if os.path.isdir(source):
        return _scan_parquet(source, _files_of(source))
    try:
        with open(source, "rb") as file:
            magic = file.read(8)
    except FileNotFoundError:
        raise TableError(f"There is no file {source!r}. Check the path.") from None
    except OSError as error:
        raise TableError(f"{source!r} cannot be read: {error.strerror}.") from None
    if magic.startswith(b"PAR1"):
        return _scan_parquet(source, [source])
    if not magic or magic.startswith(_UNKNOWN):
        return None
    return _scan_text(source, delimiter, decimal, encoding, header)


def _files_of(folder: str) -> list[str]:
    """List the Parquet files of a folder by name."""
    found = sorted(p for p in Path(folder).rglob("*") if p.suffix.lower() in (".parquet", ".pq"))
    found = [path for path in found if not path.name.startswith((".", "_"))]
    if not found:
        raise TableError(f"The folder {folder!r} holds no Parquet file (*.parquet).")
    nested = [path for path in found if path.parent != Path(folder)]
    if nested:
        raise TableError(
            f"The folder {folder!r} holds Parquet files in folders of its own, first "
            f"{str(nested[0])!r}. Give one folder with all the files in it."
        )
    return [str(path) for path in found]


def _scan_parquet(source: str, paths: list[str]) -> Scan:
    """Open Parquet files that make up one table."""
    parts: list[Part] = []
    start = n_bytes = 0
    with _open(paths[0]) as file:
        first = file.schema_arrow
    for path in paths:
        with _open(path) as file:
            _same_columns(first, file, path, paths[0])
            for group in range(file.num_row_groups):
                info = file.metadata.row_group(group)
                parts.append(Part(path, group, start, info.num_rows))
                start += info.num_rows
            n_bytes += 8 * file.metadata.num_rows * len(first)
    if len(set(first.names)) < len(first.names):
        twice = next(name for name in first.names if first.names.count(name) > 1)
        raise TableError(f"{paths[0]} has two columns named '{brief(twice)}'. Rename one of them.")
    return Scan(source, list(first.names), tuple(parts), n_bytes)


def _open(path: str) -> Any:
    """Open a Parquet file; only its footer is read."""
    if os.path.getsize(path) == 0:
        raise TableError(f"{path} is empty: it has 0 bytes. Remove it, or write it again.")
    try:
        return pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{path} is damaged or no Parquet file: {reason}") from None


def _same_columns(first: Any, file: Any, path: str, first_path: str) -> None:
    """Refuse a file without rows, or with other columns than the first."""
    n_groups = file.num_row_groups
    if file.metadata.num_rows == 0:
        raise TableError(f"{path} has no rows ({n_groups} row groups). Remove it from the folder.")
    groups = "row group 0" if n_groups == 1 else f"row groups 0 to {n_groups - 1}"
    mine = file.schema_arrow
    for name in first.names:
        if name not in mine.names:
            raise TableError(
                f"Column '{brief(name)}' is missing in {path} ({groups}); {first_path} has it. "
                "Add it, with empty cells if need be."
            )
        kinds = mine.field(name).type, first.field(name).type
        if kinds[0] != kinds[1]:
            raise TableError(
                f"Column '{brief(name)}' has the type {kinds[0]} in {path} ({groups}), but "
                f"{kinds[1]} in {first_path}. Write it with one type in all files."
            )
    more = [name for name in mine.names if name not in first.names]
    if more:
        raise TableError(
            f"Column '{brief(more[0])}' is missing in {first_path}; {path} ({groups}) has it. Add "
            "it, with empty cells if need be."
        )


def _scan_text(
    source: str, delimiter: str | None, decimal: str | None, encoding: str | None, header: bool
) -> Scan:
    """Open a text file and find out how it is written."""
    encoding = encoding or "utf8"
    try:
        with _text_stream(source) as file:
            sample = file.read(_SNIFF_BYTES)
        text = sample.decode(encoding, "ignore").removeprefix("\ufeff")
    except LookupError:
        raise TableError(f"There is no encoding {encoding!r}; try utf-8 or latin-1.") from None
    except (OSError, EOFError, lzma.LZMAError):
        raise TableError(f"{source} is compressed but damaged or cut short.") from None
    if "\0" in text:
        raise TableError(f"{source} is not a table: it holds zero bytes. Give CSV or Parquet.")
    if not text.strip():
        raise TableError(f"{source} is empty. Give a table with a header and at least one row.")
    kind = sniff(text, delimiter, decimal)
    with open(source, "rb") as file:
        packed = file.read(6).startswith(tuple(_OPENERS))
    n_bytes = os.path.getsize(source) * (_PACKING if packed else 1)
    scan = Scan(source, [], (Part(source, None, 0, None),), n_bytes, kind, header, encoding)
    return scan._replace(names=_text_names(scan))


def _text_names(scan: Scan) -> list[str]:
    """Read the header of a text file."""
    first = next(_text_batches(scan), None)
    if first is None or (scan.header and first.num_rows < 1):
        raise TableError(f"{scan.source} has no rows below its header.")
    cells = [column[0].as_py().strip() if scan.header else "" for column in first.columns]
    names = [cell or f"column {index + 1}" for index, cell in enumerate(cells)]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{scan.source} has two columns named '{brief(name)}'. Rename one.")
    return names


def _text_stream(path: str) -> Any:
    """Open a text file, uncompressed as it is read."""
    with open(path, "rb") as file:
        magic = file.read(6)
    for start, opener in _OPENERS.items():
        if magic.startswith(start):
            return opener(path, "rb")
    return open(path, "rb")


def _text_batches(scan: Scan) -> Iterator[Any]:
    """Yield record batches of a text file with every cell as text, the header's row among them."""
    kind = scan.text
    assert kind is not None
    keys = [f"f{index}" for index in range(kind.n_columns)]
    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "error"

    try:
        with _text_stream(scan.source) as file:
            yield from pyarrow.csv.open_csv(
                file,
                read_options=pyarrow.csv.ReadOptions(
                    column_names=keys,
                    use_threads=False,
                    block_size=_TEXT_BLOCK,
                    encoding=scan.encoding,
                ),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=kind.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=kind.n_columns > 1,
                    invalid_row_handler=remember,
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(keys, pa.string())
                ),
            )
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
        reason = str(error).splitlines()[0]
        if bad:
            reason = f"a record has {bad[0].actual_columns} cells, not {bad[0].expected_columns}"
        raise TableError(f"{scan.source} cannot be read as a table: {reason}.") from None


def batches(
    scan: Scan, parts: Sequence[Part], columns: Sequence[str], n_rows: int
) -> Iterator[Batch]:
    """Read columns of some parts, at most `n_rows` rows at a time."""
    if scan.text is not None:
        yield from _numbered(scan, parts[0], _text_tables(scan, columns, n_rows))
        return
    for path, mine in groupby(parts, key=lambda part: part.path):
        with _open(path) as file:
            for part in mine:
                yield from _numbered(scan, part, _group_tables(file, part, columns, n_rows))


def _numbered(scan: Scan, part: Part, tables: Iterator[Any]) -> Iterator[Batch]:
    """Say of each table of a part where its rows are."""
    row = 0
    for data in tables:
        table = Table(data, scan.text, scan.source, "", False)
        yield Batch(table, part.start + row, part.place, row)
        row += data.num_rows


def _group_tables(file: Any, part: Part, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    """Yield tables of a row group."""
    wanted = list(columns)
    try:
        for batch in file.iter_batches(n_rows, row_groups=[part.row_group], columns=wanted):
            yield pa.Table.from_batches([batch]).select(wanted)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        column = _damaged_column(file, part, wanted)
        raise TableError(f"{column}{part.place} cannot be read: {reason}") from None


def _damaged_column(file: Any, part: Part, columns: list[str]) -> str:
    """Find the first column of a row group that cannot be read."""
    for name in columns:
        try:
            for _ in file.iter_batches(row_groups=[part.row_group], columns=[name]):
                pass
        except (pa.ArrowException, OSError):
            return f"Column '{brief(name)}' of "
    return ""


def _text_tables(scan: Scan, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    """Yield tables of a text file, without the row of its header."""
    header = scan.header
    for batch in _text_batches(scan):
        table = pa.Table.from_batches([batch]).rename_columns(scan.names).select(list(columns))
        table = table.slice(1) if header else table
        header = False
        for start in range(0, table.num_rows, n_rows):
            yield table.slice(start, n_rows)


def batch_numbers(batch: Batch, names: Sequence[str], missing: MissingTokens) -> np.ndarray:
    """Read columns of a batch as numbers (n_rows, len(names)), NaN where a cell is missing."""
    X = np.empty((batch.table.data.num_rows, len(names)))
    for j, name in enumerate(names):
        values = try_numbers(batch.table, name, missing)
        if isinstance(values, NotNumbers):
            raise TableError(
                f"Column '{brief(name)}' holds text in {batch.place}, first "
                f"'{brief(values.example)}' in its row {batch.row + values.row:,}. Leave the "
                "column out with --drop, add a code for missing values with --na-values, or read "
                "the table whole with --no-stream to take its texts as categories."
            )
        X[:, j] = values
    return X


def row_numbers(start: int, n_rows: int) -> Table:
    """Make a table of one column, `row`, that counts rows from 1."""
    data = pa.table({"row": np.arange(start + 1, start + n_rows + 1)})
    return Table(data, None, "", "", False)
