"""Arrow files and streams, Feather files; and what Arrow's types mean here."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from pckid.frontends.formats.batches import FileRows, Plan, RowSource
from pckid.frontends.formats.isolation import allowed_memory, read_apart
from pckid.frontends.formats.sources import Source, refuse_large, refuse_wide
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.written import ColumnWriter, Writing
from pckid.frontends.options import ReadOptions

ROWS_AT_ONCE = 1 << 14
_FILE = b"ARROW1"


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a file whole."""
    return FileTable(pa.concat_tables(read_apart(parse_arrow, source)), source=source.name)


def open_rows(path: str, given: ReadOptions, plan: Plan) -> RowSource:
    """Open a file in batches; one without an index of them is read from its beginning each time."""
    import pyarrow.dataset as ds

    with open(path, "rb") as file:
        has_index = file.read(len(_FILE)) == _FILE
    if has_index:
        return ds.dataset(path, format="ipc")
    return FileRows(parse_arrow, Source(path), is_typed=True)


def open_writer(file: BinaryIO, how: Writing) -> ColumnWriter:
    """Write an Arrow file."""
    import pyarrow.ipc

    return ColumnWriter(file, how, pyarrow.ipc.new_file)


def _open_arrow(source: Source) -> tuple[Any, Iterator[Any]]:
    """Open an Arrow file or stream; give its schema, and its batches one by one."""
    import pyarrow.ipc

    file = open_binary(source)
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"FEA1"):
        import pyarrow.feather

        table = pyarrow.feather.read_table(file)
        return table.schema, iter(table.to_batches())
    if start.startswith(_FILE):
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
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            part = as_known_types(pa.Table.from_batches([batch.slice(start, ROWS_AT_ONCE)]))
            n_bytes += part.nbytes + named_bytes(part)
            refuse_large(n_bytes, source.name, allowed_memory(source))
            yield part


def open_binary(source: Source) -> Any:
    """Open a file that is read at any place: the stored one, or the content of a compressed one."""
    if source.unpacker is not None:
        return pa.BufferReader(b"".join(source.pieces()))
    return pa.OSFile(source.name) if source.stored is None else pa.BufferReader(source.stored)


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
