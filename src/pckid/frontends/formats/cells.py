"""Columns of cells that have types of their own, as JSON and SQLite have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa

from pckid.input.cells import as_text


def column_of(cells: Sequence[Any]) -> Any:
    """Make a column of truth values, whole numbers, numbers, texts or bytes; a mixture is texts."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {int, float}:
        return pa.array(cells, pa.float64())
    if len(kinds) > 1:
        return _as_texts(cells)
    try:
        return pa.array(cells)
    except OverflowError:  # more digits than a number holds
        return _as_texts(cells)


def _as_texts(cells: Iterable[Any]) -> Any:
    return pa.array([cell if cell is None else as_text(cell) for cell in cells], pa.string())


def join_types(schemas: Iterable[Any]) -> Any:
    """Join the schemas of parts of a table; a column that a part lacks is missing there."""
    types: dict[str, Any] = {}
    for schema in schemas:
        for field in schema:
            known = types.get(field.name, pa.null())
            types[field.name] = reduce(_join, (known, field.type))
    return pa.schema(list(types.items()))


def _join(one: Any, other: Any) -> Any:
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    return pa.float64() if {one, other} == {pa.int64(), pa.float64()} else pa.string()


def as_types(table: Any, schema: Any) -> Any:
    """Give a part of a table the columns of a schema that `join_types` found."""
    columns = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        if name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, kind))
            continue
        column = table.column(name)
        if column.type != kind:
            texts = pa.types.is_string(kind) and not pa.types.is_null(column.type)
            column = _as_texts(column.to_pylist()) if texts else column.cast(kind, safe=False)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def join_tables(tables: Sequence[Any]) -> Any:
    """Put parts of a table together whose columns may differ."""
    schema = join_types(table.schema for table in tables)
    return pa.concat_tables([as_types(table, schema) for table in tables])
