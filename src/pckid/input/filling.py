"""Imputed values in the form of the table that came in: a dataframe for a dataframe."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from pckid._utils.arrays import restorer
from pckid.input.cells import is_missing
from pckid.input.validation import frame_kind, table_columns


def keep_categories(X: Any, values: np.ndarray, spread: np.ndarray, columns: Iterable[int]) -> None:
    """Put the categories of a table (n_samples, n_features) back where it has one.

    A category that the fit did not see, or a column that it left out, counts as missing there.
    """
    table = table_columns(X, frame_kind(X))
    for j in columns:
        for row, cell in enumerate(table.cells(j)):
            if not is_missing(cell):
                values[row, j], spread[row, j] = cell, 0.0


def find_unseen(X: Any, column: int, codes: np.ndarray) -> np.ndarray:
    """Find the cells of a column that hold a category without a code (n_samples,), bool."""
    cells = table_columns(X, frame_kind(X)).cells(column)
    return np.isnan(codes) & [not is_missing(cell) for cell in cells]


def fill_table(X: Any, values: np.ndarray, replaced: Iterable[int], texts: Collection[int]) -> Any:
    """Make a table like `X` with the columns `replaced` taken from values (n_samples, n_features).

    Names and index are those of `X`, and so are the types of floats and of categories, whose
    columns are `texts`; other numbers become floats. What is no dataframe gives an array.
    """
    kind = frame_kind(X)
    if kind is None:
        return values if texts else restorer(X)(values)
    for j in replaced:
        cells = values[:, j] if j in texts and values.dtype == object else None
        numbers = values[:, j].astype(np.float64) if cells is None else None
        if kind == "pandas":
            old = X.iloc[:, j]
            same = cells is not None or getattr(old.dtype, "kind", "O") == "f"
            X = X.copy(deep=False)
            new = numbers if cells is None else cells
            X.isetitem(j, type(old)(new, index=X.index, dtype=old.dtype if same else None))
        elif kind == "polars":
            old = X.to_series(j)
            if cells is not None:
                new = type(old)(old.name, cells.tolist(), dtype=old.dtype)
            else:
                new = type(old)(old.name, numbers, nan_to_null=True)
            X = X.with_columns(new)
        else:
            import pyarrow as pa

            kept = None if cells is None else X.column(j).type
            new = pa.array(numbers if cells is None else cells, kept, from_pandas=True)
            # What pandas noted of the old types would refuse the new ones.
            X = X.set_column(j, X.field(j).name, new).replace_schema_metadata(None)
    return X
