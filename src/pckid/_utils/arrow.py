"""Columns of Arrow tables, in files and in data sets: what their types hold, and their numbers."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def is_text(kind: Any) -> bool:
    """Return whether cells of an Arrow type are texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def holds_texts(kind: Any) -> bool:
    """Return whether a column of an Arrow type holds categories, if its type is all that counts."""
    return is_text(kind) or pa.types.is_dictionary(kind) or str(kind) == "string_view"


def holds_numbers(kind: Any) -> bool:
    """Return whether a column of an Arrow type holds numbers, truth values, or nothing."""
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
    return is_number or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)


def to_floats(column: Any) -> np.ndarray:
    """Cast a column to floats (n_rows,), NaN where it is null, in memory of their own."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    return np.array(pc.fill_null(column.cast(pa.float64(), safe=False), np.nan).to_numpy())
