"""Tables whose columns are the rows: a column for each sample, a row for each thing measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid.exceptions import TableError
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.headers import looks_like_number, unique_names
from pckid.frontends.formats.sources import refuse_wide
from pckid.frontends.formats.table import FileTable, Part
from pckid.input.cells import as_text

SAMPLE = "sample"
"""The column with the names of the rows, which were those of columns."""
COLUMN = "column"
"""What rows are numbered as: the columns of the file."""
_MAX_LOOKED_AT = 1000


def transpose(table: FileTable) -> FileTable:
    """Make a row of each column of numbers, and a column of each row.

    The first column whose cells all differ, and are no numbers, names the columns; other columns of
    texts are about what was measured, and are left out.
    """
    texts = [name for name in table.names if not _holds_numbers(table.data.column(name))]
    rows = [name for name in table.names if name not in texts]
    if not rows:
        raise TableError(
            f"{table.source} has no column of numbers that a row could be made of. Read it as it "
            "is."
        )
    named = next((name for name in texts if _are_different(table.data.column(name))), None)
    n_columns = table.n_rows
    refuse_wide(n_columns, table.source)
    numbers = [str(number) for part in table.parts for number in part.numbers]
    given = numbers if named is None else table.data.column(named).to_pylist()
    unit = table.parts[0].unit
    wanted = [
        f"{unit} {n}" if named is None else as_text(each)
        for each, n in zip(given, numbers, strict=True)
    ]
    unique, facts = unique_names([SAMPLE, *wanted])
    data = pa.Table.from_arrays([pa.array(rows), *_turn(table.data.select(rows))], names=unique)
    others = [name for name in texts if name != named]
    notes = [Fact("columns_not_samples", {"columns": others})] if others else []
    at = [table.names.index(name) + 1 for name in rows]
    return replace(
        table,
        data=data,
        parts=(Part(table.parts[0].source, 0, at, unit=COLUMN),),
        notes=(*table.notes, *facts, *notes),
        about_rows=frozenset([unique[0]]),
        row_names=unique[0],
        n_skipped=0,
        hidden_columns=(),
    )


def _holds_numbers(column: Any) -> bool:
    """Whether most cells that hold something hold a number."""
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return True
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return False
    cells = [cell for cell in column.slice(0, _MAX_LOOKED_AT).to_pylist() if cell and cell.strip()]
    n_numbers = sum(map(looks_like_number, cells))
    return 2 * n_numbers > len(cells) or not cells


def _are_different(column: Any) -> bool:
    return column.null_count == 0 and pc.count_distinct(column).as_py() == len(column)


def _turn(data: Any) -> list[Any]:
    """Turn n_columns arrays of n_rows cells into n_rows arrays, all of one type."""
    kinds = set(data.schema.types)
    is_text = any(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in kinds)
    kind = pa.large_string() if is_text else pa.float64()
    columns = [column.combine_chunks() for column in data.columns]
    cells = pa.concat_arrays([_cast(column, kind) for column in columns])
    n_rows, n_columns = data.num_rows, data.num_columns
    order = np.arange(n_rows * n_columns).reshape(n_columns, n_rows).T.ravel()
    turned = cells.take(pa.array(order))
    return [turned.slice(row * n_columns, n_columns) for row in range(n_rows)]


def _cast(column: Any, kind: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_large_string(kind) and not pa.types.is_string(column.type):
        column = pa.array([None if v is None else as_text(v) for v in column.to_pylist()])
    return column.cast(kind)
