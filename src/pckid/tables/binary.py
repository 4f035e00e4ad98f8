"""Parquet files, folders of them, and Arrow files: opened, compared and read in batches."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from pckid._utils.text import brief, counted
from pckid.exceptions import TableError
from pckid.tables.sources import Source, refuse_large
from pckid.tables.table import Part

PARQUET = b"PAR1"
ARROW = (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")
_DAMAGED = (pa.ArrowException, OSError, OverflowError, MemoryError)


def find_files(folder: str) -> list[str]:
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


def scan_parquet(sources: Sequence[Source]) -> tuple[list[str], tuple[Part, ...], int]:
    """Open Parquet files that make up one table; give its names, parts and bytes unpacked."""
    parts: list[Part] = []
    start = n_bytes = 0
    first: Any = None
    for source in sources:
        with _open_parquet(source) as file:
            told = file.metadata
            first = file.schema_arrow if first is None else first
            if len(sources) > 1:
                _same_columns(first, file, source.name, sources[0].name)
            for group in range(file.num_row_groups):
                info = told.row_group(group)
                parts.append(Part(source, group, start, info.num_rows))
                start += info.num_rows
                # What is written once and repeated counts as often as it is read.
                n_bytes += max(info.total_byte_size, 8 * info.num_rows * len(first))
    return first.names, tuple(part for part in parts if part.n_rows), n_bytes


def parquet_tables(
    parts: Sequence[Part], columns: Sequence[str], n_rows: int
) -> Iterator[tuple[Part, Any]]:
    """Yield tables of at most `n_rows` rows from row groups, with the part they come from."""
    wanted = list(columns)
    for source, mine in groupby(parts, key=lambda part: part.source):
        with _open_parquet(source) as file:
            whole = wanted == file.schema_arrow.names
            for part in mine:
                groups: dict[str, Any] = {"row_groups": [part.row_group]}
                try:
                    for batch in file.iter_batches(
                        n_rows, columns=None if whole else wanted, **groups
                    ):
                        yield part, pa.Table.from_batches([batch]).select(wanted)
                except _DAMAGED as error:
                    column = _damaged_column(file, groups, wanted)
                    raise TableError(
                        f"{column}{part.place} cannot be read: {_reason(error)}"
                    ) from None


def arrow_tables(source: Source) -> Iterator[Any]:
    """Yield the parts of an Arrow file or stream, the first of them without rows."""
    try:
        with _open_binary(source) as file:
            start = file.read(6)
            file.seek(0)
            if start.startswith(b"FEA1"):
                table = pyarrow.feather.read_table(file)
                schema, batches = table.schema, iter(table.to_batches())
            elif start.startswith(b"ARROW1"):
                reader = pyarrow.ipc.open_file(file)
                schema = reader.schema
                batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                reader = pyarrow.ipc.open_stream(file)
                schema, batches = reader.schema, iter(reader)
            yield schema.empty_table()
            n_bytes = 0
            for batch in batches:
                n_bytes += batch.nbytes
                refuse_large(n_bytes, source.name, source.max_bytes)
                yield pa.Table.from_batches([batch], schema)
    except _DAMAGED as error:
        raise TableError(_damaged(source.name, error)) from None


def _open_binary(source: Source) -> Any:
    """Open a file that is read at any place: the stored one, or the content of a compressed one."""
    if source.unpacker is not None:
        return pa.BufferReader(b"".join(source.pieces()))
    return pa.OSFile(source.name) if source.stored is None else pa.BufferReader(source.stored)


@contextmanager
def _open_parquet(source: Source) -> Iterator[Any]:
    """Open a Parquet file; only its footer is read."""
    if source.n_bytes == 0:
        raise TableError(f"{source.name} is empty: it has 0 bytes. Remove it, or write it again.")
    with _open_binary(source) as content:
        try:
            file = pyarrow.parquet.ParquetFile(content, pre_buffer=False, buffer_size=1 << 20)
        except _DAMAGED as error:
            raise TableError(_damaged(source.name, error)) from None
        yield file


def _damaged(name: str, error: BaseException) -> str:
    """Say that a file cannot be read."""
    return f"{name} is damaged or cut short: {_reason(error)}"


def _reason(error: BaseException) -> str:
    """Give the first line of an error."""
    return brief((str(error) or type(error).__name__).splitlines()[0], 200)


def _damaged_column(file: Any, groups: dict[str, Any], columns: list[str]) -> str:
    """Find the first column of a row group that cannot be read."""
    for name in columns:
        try:
            for _ in file.iter_batches(columns=[name], **groups):
                pass
        except _DAMAGED:
            return f"Column '{brief(name)}' of "
    return ""


def _same_columns(first: Any, file: Any, path: str, first_path: str) -> None:
    """Refuse a file without rows, or with other columns than the first."""
    n_groups = file.num_row_groups
    if file.metadata.num_rows == 0:
        many = counted(n_groups, "row group")
        raise TableError(f"{path} has no rows ({many}). Remove it from the folder.")
    groups = "row group 0" if n_groups == 1 else f"row groups 0 to {n_groups - 1}"
    kinds, mine = (
        {field.name: field.type for field in schema} for schema in (first, file.schema_arrow)
    )
    for name, kind in kinds.items():
        if name not in mine:
            raise TableError(
                f"Column '{brief(name)}' is missing in {path} ({groups}); {first_path} has it. "
                "Add it, with empty cells if need be."
            )
        if mine[name] != kind:
            raise TableError(
                f"Column '{brief(name)}' has the type {mine[name]} in {path} ({groups}), but "
                f"{kind} in {first_path}. Write it with one type in all files."
            )
    more = [name for name in mine if name not in kinds]
    if more:
        raise TableError(
            f"Column '{brief(more[0])}' is missing in {first_path}; {path} ({groups}) has it. Add "
            "it, with empty cells if need be."
        )
