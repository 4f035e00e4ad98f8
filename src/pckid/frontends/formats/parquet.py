"""Parquet: files, and folders of them."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from pckid._utils.text import brief, counted
from pckid.exceptions import TableError
from pckid.frontends.formats.arrow import ROWS_AT_ONCE, as_known_types, named_bytes, open_binary
from pckid.frontends.formats.batches import Plan, RowSource
from pckid.frontends.formats.isolation import allowed_memory, read_apart
from pckid.frontends.formats.sources import Source, refuse_large, refuse_wide
from pckid.frontends.formats.table import FileTable, Part
from pckid.frontends.formats.written import ColumnWriter, Writing
from pckid.frontends.options import ReadOptions

_IN_PARTS = "Give some of its rows or columns; `pckid cluster --stream` reads all in batches."


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a file whole; its row groups are its parts."""
    return _read_files(source.name, [source])


def read_folder(folder: str) -> FileTable:
    """Read the files of a folder as one table."""
    return _read_files(folder, [Source(path) for path in find_files(folder)])


def open_rows(path: str, given: ReadOptions, plan: Plan) -> RowSource:
    """Open a file, or the files of a folder, in batches."""
    import pyarrow.dataset as ds

    return ds.dataset(find_files(path) if os.path.isdir(path) else path, format="parquet")


def open_writer(file: BinaryIO, how: Writing) -> ColumnWriter:
    """Write a file."""
    import pyarrow.parquet

    return ColumnWriter(file, how, pyarrow.parquet.ParquetWriter)


def takes_more(path: str, n_bytes: float) -> bool:
    """Return whether the cells take more memory than so many bytes."""
    files = find_files(path) if os.path.isdir(path) else [path]
    # Else the footers need not be read.
    is_near = sum(map(os.path.getsize, files)) * 20 > n_bytes
    return is_near and sum(map(_unpacked, files)) > n_bytes


def _unpacked(path: str) -> int:
    import pyarrow.parquet

    try:
        told = pyarrow.parquet.read_metadata(path)
    except (pa.ArrowException, OSError):
        return 0  # Whoever reads it says what is wrong.
    groups = [told.row_group(group) for group in range(told.num_row_groups)]
    return sum(max(g.total_byte_size, 8 * g.num_rows * told.num_columns) for g in groups)


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


def _read_files(name: str, sources: Sequence[Source]) -> FileTable:
    """Read Parquet files that make up one table; give its parts, one for each row group."""
    allowed = min(sources[0].max_bytes, sum(map(allowed_memory, sources)))
    parts: list[Part] = []
    tables: list[Any] = []
    start = n_bytes = 0
    first: Any = None
    for source in sources:
        how = {"name": name, "before": n_bytes, "most": allowed}
        told, *more = read_apart(parse_parquet, source, **how)
        if len(sources) > 1:
            _same_columns(first or told, told, source.name, sources[0].name)
        first, n_bytes = first or told, n_bytes + told["n_bytes"]
        # The order of columns is that of the first file.
        tables += (table.select(first["names"]) for table in more)
        for group, n_rows in enumerate(told["groups"]):
            if n_rows:
                numbers = range(start + 1, start + n_rows + 1)
                parts.append(Part(source, start, numbers, row_group=group))
            start += n_rows
    return FileTable(pa.concat_tables(tables), None, tuple(parts), name)


def parse_parquet(source: Source, name: str, before: int, most: int) -> Iterator[Any]:
    """Yield the names and types of columns and the rows of row groups, then their tables."""
    import pyarrow.parquet

    if source.n_bytes == 0:
        raise TableError(f"{source.name} is empty: it has 0 bytes. Remove it, or write it again.")
    opened = open_binary(source)
    file = pyarrow.parquet.ParquetFile(opened, pre_buffer=False, buffer_size=1 << 20)
    schema = file.schema_arrow
    refuse_wide(len(schema), source.name)
    groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
    # What is written once and repeated counts as often as it is read.
    n_bytes = sum(max(g.total_byte_size, 8 * g.num_rows * len(schema)) for g in groups)
    refuse_large(before + n_bytes, name, most, _IN_PARTS)
    yield {
        "names": schema.names,
        "types": [str(kind) for kind in schema.types],
        "groups": [group.num_rows for group in groups],
        "n_bytes": n_bytes,
    }
    yield as_known_types(schema.empty_table())
    for batch in file.iter_batches(ROWS_AT_ONCE):
        table = as_known_types(pa.Table.from_batches([batch]))
        before += table.nbytes + named_bytes(table)
        refuse_large(before, name, most, _IN_PARTS)
        yield table


def _same_columns(first: Any, told: Any, path: str, first_path: str) -> None:
    """Refuse a file without rows, or with other columns than the first."""
    n_groups = len(told["groups"])
    if not sum(told["groups"]):
        many = counted(n_groups, "row group")
        raise TableError(f"{path} has no rows ({many}). Remove it from the folder.")
    kinds, mine = (dict(zip(each["names"], each["types"], strict=True)) for each in (first, told))
    for name in dict.fromkeys([*kinds, *mine]):
        here, there = mine.get(name), kinds.get(name)
        if here != there:
            groups = "row group 0" if n_groups == 1 else f"row groups 0 to {n_groups - 1}"
            what = "Write it with one type in all files."
            if here is None or there is None:
                what = "Add it where it is missing, with empty cells if need be."
            here, there = (f"of type {kind}" if kind else "missing" for kind in (here, there))
            raise TableError(
                f"Column '{brief(name)}' is {here} in {path} ({groups}), but {there} in "
                f"{first_path}. {what}"
            )
