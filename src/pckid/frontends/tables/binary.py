"""Parquet files, folders of them, Arrow files, and those of Stata, SPSS and SAS."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief, counted
from pckid.exceptions import TableError
from pckid.frontends.tables.isolation import allowed_memory, read_apart
from pckid.frontends.tables.sources import Source, refuse_large, refuse_wide, require_library
from pckid.frontends.tables.table import Part, as_whole

_ROWS_AT_ONCE = 1 << 14
_STAT_ROWS = 1 << 16
_IN_PARTS = "Give some of its rows or columns; `pckid cluster --stream` reads all in batches."
PARQUET = b"PAR1"
ARROW = (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")
SPSS = (b"$FL2", b"$FL3")
STATA = (
    b"<stata_dta>",
    *(bytes([version, order]) for version in range(104, 116) for order in (1, 2)),
)
SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
XPORT = (b"HEADER RECORD*******LIBRARY", b"HEADER RECORD*******LIBV8")
STATISTICS = (*SPSS, *STATA, SAS, *XPORT)
"""How files of statistics programs begin."""


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


def read_parquet(name: str, sources: Sequence[Source]) -> tuple[Any, tuple[Part, ...]]:
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
    return pa.concat_tables(tables), tuple(parts)


def _open_binary(source: Source) -> Any:
    """Open a file that is read at any place: the stored one, or the content of a compressed one."""
    if source.unpacker is not None:
        return pa.BufferReader(b"".join(source.pieces()))
    return pa.OSFile(source.name) if source.stored is None else pa.BufferReader(source.stored)


def parse_parquet(source: Source, name: str, before: int, most: int) -> Iterator[Any]:
    """Yield the names and types of columns and the rows of row groups, then their tables."""
    import pyarrow.parquet

    if source.n_bytes == 0:
        raise TableError(f"{source.name} is empty: it has 0 bytes. Remove it, or write it again.")
    opened = _open_binary(source)
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
    for batch in file.iter_batches(_ROWS_AT_ONCE):
        table = as_known_types(pa.Table.from_batches([batch]))
        before += table.nbytes + _named_bytes(table)
        refuse_large(before, name, most, _IN_PARTS)
        yield table


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
            n_bytes += part.nbytes + _named_bytes(part)
            refuse_large(n_bytes, source.name, allowed_memory(source))
            yield part


def as_known_types(table: Any) -> Any:
    """Make texts that are stored as views, as polars has them, plain texts.

    Parquet stores categories that are numbers as such; pandas notes what they were.
    """
    noted = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}")).get("columns", [])
    declared = {c.get("field_name") for c in noted if c.get("pandas_type") == "categorical"}
    for j, field in enumerate(table.schema):
        kind = field.type
        if field.name in declared and pa.types.is_primitive(kind):
            table = table.set_column(j, field.name, table.column(j).dictionary_encode())
        if pa.types.is_dictionary(kind) and str(kind.value_type) == "string_view":
            kind = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
        elif str(kind) == "string_view":
            kind = pa.large_string()
        if kind != field.type:
            table = table.set_column(j, field.with_type(kind), table.column(j).cast(kind))
    return table


def _named_bytes(table: Any) -> int:
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


def read_statistics(source: Source) -> Any:
    """Read a file of Stata, SPSS or SAS as an Arrow table.

    A column all of whose values have labels is read as these labels, one in which some have none,
    such as a scale with its ends named, as numbers. What the file declares missing is missing.
    """
    require_library("pyreadstat", "Reading Stata, SPSS and SAS", "stats")
    return pa.concat_tables(read_apart(parse_statfile, source))


def parse_statfile(source: Source) -> Iterator[Any]:
    """Yield the table."""
    import pyreadstat

    content = b"".join(source.pieces())
    reader: Any = pyreadstat.read_dta
    if content.startswith(SPSS):
        reader = pyreadstat.read_sav
    elif content.startswith((SAS, *XPORT)):
        reader = pyreadstat.read_xport if content.startswith(XPORT) else pyreadstat.read_sas7bdat
    parts: list[dict[str, list[Any]]] = []
    n_rows, found = 0, _STAT_ROWS
    while found == _STAT_ROWS:
        limits = {"row_limit": _STAT_ROWS, "row_offset": n_rows}
        columns, told = reader(io.BytesIO(content), output_format="dict", **limits)
        refuse_wide(len(columns), source.name)
        found = len(next(iter(columns.values()), ()))
        n_rows += found
        refuse_large(8 * n_rows * len(columns), source.name, source.max_bytes)
        parts.append(columns)
    labels = told.variable_value_labels
    yield pa.table(
        {
            key: _labelled_column([part[key] for part in parts], labels.get(key, {}))
            for key in parts[0]
        }
    )


def _labelled_column(parts: Sequence[Sequence[Any]], labels: Mapping[Any, str]) -> Any:
    """Make a column; its values are replaced by labels if every one of them has one."""
    cells = [cell for part in parts for cell in part]
    observed = {cell for cell in cells if cell is not None and cell == cell}
    if labels and observed and all(cell in labels for cell in observed):
        return pa.array([labels.get(cell) for cell in cells], pa.string())
    if all(isinstance(cell, str) for cell in observed):
        return pa.array([cell or None for cell in cells], pa.string())
    return as_whole(pa.array(cells, from_pandas=True))
