"""Columns of two values that together hold one category: what "one-hot" encoders make of it.

Of the columns of a category with shares p, each has the weight √(p (1−p) / Σ p (1−p)). Squared,
these add up to 1 in each category, and two random rows are as far apart in standardised columns so
weighted as they are in one column of numbers. The one column of the higher value tells all: the
lower values count nothing, and what is left is the logarithm of the category's probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid._utils.arrays import Array, asarray_like, namespace, to_numpy
from pckid.columns.base import Coefficients, Measured, Numbers, Stored
from pckid.columns.model import ColumnModel
from pckid.columns.two_values import TwoValues

# Fewer rows may have exactly one of some columns by chance.
_MIN_ROWS = 10
# One row in a hundred may be wrong, with up to ten ones too many.
_ROWS_PER_SLIP, _MAX_ONES = 100, 10
# Enough rows to recognise most columns that have nothing to do with each other.
_LOOKED_AT = 1000


class OneHot(TwoValues):
    """Columns of two values that hold one category together."""

    name = "one-hot"
    stored: Mapping[str, Stored] = {"one_hot": Stored("kept", 0.0, 1.0, optional=True)}

    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure nothing: they are found among columns of two values, see `join_one_hot`."""
        return {}

    def mine(self, model: ColumnModel) -> Array | None:
        """Find the columns that have a weight."""
        weight = model.one_hot_weight
        return None if weight is None else weight > 0

    def distances(self, model: ColumnModel, found: Array) -> Array:
        """Multiply by the weights."""
        weight: Any = model.one_hot_weight
        return found * namespace(found).where(weight > 0, weight, 1.0)

    def coefficients(
        self, model: ColumnModel, numbers: Numbers, found: Coefficients
    ) -> Coefficients:
        """Leave what was found for columns of two values, which do not count the lower one."""
        return found

    def update(self, model: ColumnModel, n_rows: Array, found: Numbers) -> Numbers:
        """Leave what was found for columns of two values."""
        return found

    def variance(self, model: ColumnModel, numbers: Numbers, found: Array) -> Array:
        """Leave what was found for columns of two values."""
        return found

    def deviation(self, model: ColumnModel, numbers: Numbers, found: Coefficients) -> Coefficients:
        """Leave what was found for columns of two values, which do not count the lower one.

        The columns of a category hold one value together: their squared weights are how many.
        """
        return found


def join_one_hot(model: ColumnModel, two: np.ndarray, X: np.ndarray) -> ColumnModel:
    """Find the categories that columns of two values hold together.

    They are the columns `two` (n_two,) among those of numbers. `X` (n_samples, n_two) are the rows
    to learn from, NaN where a value is missing.
    """
    given: Any = model.two_value_share
    shares = to_numpy(given)
    weights = np.zeros(len(shares))
    for group in find_one_hot_columns(X, two):
        variances = shares[two[group]] * (1 - shares[two[group]])
        weights[two[group]] = np.sqrt(variances / variances.sum())
    if not weights.any():
        return model
    return model._replace(one_hot_weight=asarray_like(weights, given))


def find_one_hot_columns(X: np.ndarray, places: np.ndarray | None = None) -> list[slice]:
    """Find runs of two or more columns of which each row has the higher value in exactly one.

    The columns X (n_samples, n_columns) take two values, NaN where one is missing; those with
    another one between their `places` (n_columns,) in a table are no neighbours. The cells of a run
    are missing together, and at least ten rows have them. One row in a hundred may have two, or
    none, or some cells missing, lest a slip in one row change what all others mean.
    """
    n_samples, n_columns = X.shape
    if n_samples < _MIN_ROWS:
        return []
    places = np.arange(n_columns) if places is None else places
    seen = ~np.isnan(X)
    high = np.fmax.reduce(X, axis=0) == X
    n_seen, stops = seen.sum(axis=0), np.concatenate([[0], np.cumsum(high.sum(axis=0))])
    groups, first = [], 0
    while first < n_columns:
        slips, wanted = n_seen[first] // _ROWS_PER_SLIP, stops[first] + n_seen[first]
        # About as many higher values as rows: few runs of columns from here on have so many.
        ends = range(
            max(first + 2, int(np.searchsorted(stops, wanted - slips))),
            int(np.searchsorted(stops, wanted + _MAX_ONES * slips, side="right")),
        )
        beside = [end for end in ends if places[end - 1] - places[first] == end - 1 - first]
        if beside and np.sum(high[:_LOOKED_AT, first : beside[0]].sum(axis=1) > 1) > slips:
            beside = []
        wrong = [_count_wrong(high, seen, slice(first, end)) for end in beside]
        end = beside[int(np.argmin(wrong))] if wrong and min(wrong) <= slips else first
        alone = high[high[:, first:end].sum(axis=1) == 1, first:end]
        # Of columns that are hardly ever higher, and one that hardly ever is not, each row but a
        # few has one: at least two must be the only higher one in some row.
        if n_seen[first] >= _MIN_ROWS and np.sum(alone.any(axis=0)) > 1:
            groups.append(slice(first, end))
            first = end
        else:
            first += 1
    return groups


def _count_wrong(high: np.ndarray, seen: np.ndarray, run: slice) -> int:
    """Count rows without exactly one higher value in a run of columns, or with a cell missing."""
    whole, empty = seen[:, run].all(axis=1), ~seen[:, run].any(axis=1)
    return int((~(whole & (high[:, run].sum(axis=1) == 1) | empty)).sum())
