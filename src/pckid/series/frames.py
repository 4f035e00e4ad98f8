"""Columns of frames of pandas, polars or Arrow, and frames made of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from pckid._utils.text import brief, list_first
from pckid.input.cells import is_missing
from pckid.input.validation import block_values


def column_names_of(frame: Any, needed: Sequence[str] = ()) -> list[str]:
    """List the names of a frame's columns; raises if one that is needed is absent."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    if names is None:
        raise TypeError(
            f"Expected a dataframe of pandas, polars or Arrow, got {type(frame).__name__}."
        )
    if len(set(names)) < len(names):
        twin = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"The table has two columns named {twin!r}. Rename one of them.")
    absent = [repr(name) for name in needed if name not in set(names)]
    if absent:
        raise ValueError(
            f"The table has no column {', '.join(absent)}. Its columns are: "
            f"{list_first([brief(str(name)) for name in names], 12)}."
        )
    return list(names)


def read_cells(frame: Any, name: str) -> list[Any]:
    """Read a column as a list."""
    column = frame[name]
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def read_floats(frame: Any, name: str) -> np.ndarray:
    """Read a column as floats (n_rows,), NaN where missing; raises where it holds text."""
    one = frame.select([name]) if hasattr(frame, "select") else frame[[name]]
    return block_values(one)[:, 0]


def number_cells(frame: Any, name: str) -> tuple[np.ndarray, list[Any]]:
    """Number the different cells of a column (n_rows,) as they come, and list them; missing: -1."""
    values = np.asarray(frame[name])
    if values.dtype.kind in "iu":
        distinct, first, codes = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return np.argsort(order)[codes], distinct[order].tolist()
    cells = read_cells(frame, name)
    kept = [cell for cell in dict.fromkeys(cells) if not is_missing(cell)]
    number = {cell: code for code, cell in enumerate(kept)}
    return np.fromiter((number.get(cell, -1) for cell in cells), np.int64, len(cells)), kept


def read_static(frame: Any, name: str, rows: np.ndarray, *, given: bool) -> Any:
    """Read a column that is the same in all lines of a case: its value for each case (n_cases,).

    `rows` is the case of each line (n_lines,). What changes within a case raises if the column was
    `given` as static; otherwise None is returned for it, and for what no case has twice.
    """
    texts: list[Any] = []
    try:
        values = read_floats(frame, name)
    except ValueError:
        codes, texts = number_cells(frame, name)
        values = np.where(codes < 0, np.nan, codes)
    seen = np.flatnonzero(~np.isnan(values))
    first = np.full(rows.max(initial=-1) + 1, np.nan)
    first[rows[seen[::-1]]] = values[seen[::-1]]
    changed = seen[values[seen] != first[rows[seen]]]
    if len(changed) and given:
        raise ValueError(
            f"Column {name!r} is to be static, but changes within a case, first in row "
            f"{changed[0]}. Take it out of the static columns, or give the case one value."
        )
    if not given and (len(changed) or len(seen) == np.count_nonzero(~np.isnan(first))):
        return None
    return [None if np.isnan(c) else str(texts[int(c)]) for c in first] if texts else first


def make_frame(
    columns: Mapping[str, Any], source: Any, index: Sequence[Any], name: str | None
) -> Any:
    """Make a frame of the library of the source; where that is no frame, of pandas or of Arrow."""
    library = type(source).__module__.partition(".")[0]
    if library == "polars":
        return type(source)(dict(columns))
    if library == "pandas" or (library != "pyarrow" and find_spec("pandas")):
        import pandas as pd

        return pd.DataFrame(dict(columns), index=pd.Index(index, name=name))
    import pyarrow as pa

    return pa.table(dict(columns))
