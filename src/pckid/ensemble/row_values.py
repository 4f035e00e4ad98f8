"""Which columns of a table hold one value together, as those of a one-hot coded category do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, to_numpy
from pckid.input.table import Scaling

# Columns that are looked at together, unless it is said how many.
_AT_ONCE = 512


class Piece(NamedTuple):
    """Some columns of numbers, and the values that they hold."""

    columns: slice
    values: slice  # their numbers among the values of a row
    cells: np.ndarray | None  # (n_columns,), which of them each column belongs to; None: its own

    @property
    def first_columns(self) -> np.ndarray:
        """The first column of each value (n_values,)."""
        columns = np.arange(self.columns.start, self.columns.stop)
        return columns if self.cells is None else columns[np.diff(self.cells, prepend=-1) > 0]


def count_values(scaling: Scaling) -> int:
    """Count the values of a whole row: columns that hold one category together are one."""
    pieces = cut_columns(scaling)
    return max((piece.values.stop for piece in pieces), default=0) + len(scaling.categorical)


def cut_columns(scaling: Scaling, width: int = _AT_ONCE) -> Iterator[Piece]:
    """Cut columns of numbers into pieces of about `width`.

    Columns that hold one category together are one value, which is not cut. Of a wide table the
    values are the scores of its rows.
    """
    n_features = scaling.n_numbers
    if scaling.column_model.one_hot_weight is None or scaling.factors is not None:
        for first in range(0, n_features, width):
            columns = slice(first, min(first + width, n_features))
            yield Piece(columns, columns, None)
        return
    weights = to_numpy(scaling.column_model.one_hot_weight)
    # The squared weights of a category add up to 1, and its columns are neighbours.
    category = np.floor(np.cumsum(weights**2) - weights**2 + 1e-6)
    starts = (weights == 0) | (np.diff(category, prepend=-1) != 0) | (np.roll(weights, 1) == 0)
    cells, first = np.cumsum(starts) - 1, 0
    while first < n_features:
        last = cells[min(first + width, n_features) - 1]
        stop = int(np.searchsorted(cells, last, side="right"))
        yield Piece(slice(first, stop), slice(int(cells[first]), int(last) + 1), cells[first:stop])
        first = stop


def merge_columns(deviations: Array, cells: np.ndarray | None) -> Array:
    """Add up the deviations of columns (d, n) that hold one value together (n_values, n)."""
    if cells is None:
        return deviations
    own = (cells == np.unique(cells)[:, None]).astype(np.float64)
    return asarray_like(own, deviations, dtype=deviations.dtype) @ deviations
