"""Parquet files, folders of them, and Arrow files."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief, counted
from pckid.exceptions import TableError
from pckid.frontends.tables.isolation import read_apart
from pckid.frontends.tables.sources import Source, refuse_large, refuse_wide
from pckid.frontends.tables.table import Part

_ROWS_AT_ONCE = 1 << 14
PARQUET = b"PAR1"
ARROW = (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")
# How many months, days, hours, minutes or seconds a period of pandas has, as NumPy names them.
_PERIODS = {"Y": (12, "M"), "Q": (3, "M"), "M": (1, "M"), "W": (7, "D"), "D": (1, "D")}
_PERIODS |= {"h": (1, "h"), "min": (1, "m"), "s": (1, "s")}
_PERIODS |= {"A": (12, "M"), "H": (1, "h"), "T": (1, "m"), "S": (1, "s")}  # before pandas 2.2


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
        [told] = read_apart(describe_parquet, source)
        first = first or told
        if len(sources) > 1:
            _same_columns(first, told, source.name, sources[0].name)
        for group, (n_rows, size) in enumerate(told["groups"]):
            parts.append(Part(source, group, start, n_rows))
            start += n_rows
            # What is written once and repeated counts as often as it is read.
            n_bytes += max(size, 8 * n_rows * len(first["names"]))
    return first["names"], tuple(part for part in parts if part.n_rows), n_bytes


def binary_tables(parts: Sequence[Part], columns: Sequence[str]) -> Iterator[Any]:
    """Yield the tables of row groups of Parquet files."""
    for source, mine in groupby(parts, key=lambda part: part.source):
        groups = [part.row_group for part in mine]
        yield from read_apart(parse_parquet, source, groups=groups, columns=list(columns))


def _open_binary(source: Source) -> Any:
    """Open a file that is read at any place: the stored one, or the content of a compressed one."""
    if source.unpacker is not None:
        return pa.BufferReader(b"".join(source.pieces()))
    return pa.OSFile(source.name) if source.stored is None else pa.BufferReader(source.stored)


def _open_parquet(source: Source) -> Any:
    """Open a Parquet file; only its footer is read."""
    import pyarrow.parquet

    if source.n_bytes == 0:
        raise TableError(f"{source.name} is empty: it has 0 bytes. Remove it, or write it again.")
    return pyarrow.parquet.ParquetFile(_open_binary(source), pre_buffer=False, buffer_size=1 << 20)


def describe_parquet(source: Source) -> Iterator[Any]:
    """Yield the names and types of columns, and the rows and bytes of row groups."""
    file = _open_parquet(source)
    told, schema = file.metadata, file.schema_arrow
    refuse_wide(len(schema), source.name)
    groups = [told.row_group(group) for group in range(file.num_row_groups)]
    yield {
        "names": schema.names,
        "types": [str(kind) for kind in schema.types],
        "groups": [[info.num_rows, info.total_byte_size] for info in groups],
    }


def parse_parquet(source: Source, groups: list[int], columns: list[str]) -> Iterator[Any]:
    """Yield the rows of row groups."""
    file = _open_parquet(source)
    wanted = None if columns == file.schema_arrow.names else columns
    for group in groups:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=wanted, row_groups=[group]):
            yield as_known_types(pa.Table.from_batches([batch]).select(columns))


def _open_arrow(source: Source) -> tuple[Any, Iterator[Any]]:
    """Open an Arrow file or stream; give its schema, and its batches one by one."""
    import pyarrow.ipc

    file = _open_binary(source)
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"FEA1"):
        import pyarrow.feather

        table = pyarrow.feather.read_table(file)
        return table.schema, iter(table.to_batches())
    if start.startswith(b"ARROW1"):
        reader = pyarrow.ipc.open_file(file)
        return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
    reader = pyarrow.ipc.open_stream(file)
    return reader.schema, iter(reader)


def parse_arrow(source: Source) -> Iterator[Any]:
    """Yield the rows, after a table without any."""
    schema, batches = _open_arrow(source)
    refuse_wide(len(schema), source.name)
    yield as_known_types(pa.Table.from_batches([], schema))
    n_bytes = 0
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            part = as_known_types(pa.Table.from_batches([batch.slice(start, _ROWS_AT_ONCE)]))
            n_bytes += part.nbytes
            refuse_large(n_bytes, source.name, source.max_bytes)
            yield part


def as_known_types(table: Any) -> Any:
    """Make texts that are stored as views, as polars has them, plain texts, and periods dates.

    Parquet stores categories that are numbers as such; pandas notes what they were.
    """
    noted = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}")).get("columns", [])
    declared = {c.get("field_name") for c in noted if c.get("pandas_type") == "categorical"}
    for j, field in enumerate(table.schema):
        kind, told = field.type, field.metadata or {}
        if told.get(b"ARROW:extension:name") == b"pandas.period":
            length = json.loads(told[b"ARROW:extension:metadata"])["freq"]
            table = table.set_column(j, field.name, _as_starts(table.column(j), length))
        elif field.name in declared and pa.types.is_primitive(kind):
            table = table.set_column(j, field.name, table.column(j).dictionary_encode())
        if pa.types.is_dictionary(kind) and str(kind.value_type) == "string_view":
            kind = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
        elif str(kind) == "string_view":
            kind = pa.large_string()
        if kind != field.type:
            table = table.set_column(j, field.with_type(kind), table.column(j).cast(kind))
    return table


def _as_starts(numbers: Any, length: str) -> Any:
    """Make dates of pandas' periods, which are numbered from 1970: when each of them starts."""
    # "2Q-MAR" are quarters of years that end in March, whatever the step between them.
    unit, _, end = length.lstrip("0123456789").partition("-")
    if unit not in _PERIODS:
        return numbers
    size, kind = _PERIODS[unit]
    ends = "SUNMONTUEWEDTHUFRISAT" if unit == "W" else "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
    shift = ends.index(end) // 3 - (10 if unit == "W" else 11) if end else 0
    starts = (np.asarray(numbers.fill_null(0)) * size + shift).astype(f"M8[{kind}]")
    return pa.array(starts.astype("M8[s]"), mask=np.asarray(numbers.is_null()))


def named_bytes(table: Any) -> int:
    """Count the bytes of texts that cells only name by a number, if each were written out."""
    total = 0
    for column in table.columns:
        kind = column.type
        if pa.types.is_dictionary(kind) and not pa.types.is_primitive(kind.value_type):
            for chunk in column.chunks:
                lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
                total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def _same_columns(first: Any, told: Any, path: str, first_path: str) -> None:
    """Refuse a file without rows, or with other columns than the first."""
    n_groups = len(told["groups"])
    if not sum(n_rows for n_rows, _ in told["groups"]):
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
