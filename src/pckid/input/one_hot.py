"""Columns of two values that together hold one category: what "one-hot" encoders make of it."""

import numpy as np

from pckid._utils.arrays import Array, asarray_like, take_along, to_numpy
from pckid.input.table import Scaling

# Fewer rows may have exactly one of some columns by chance.
_MIN_ROWS = 10
# One row in a hundred may be wrong, with up to ten ones too many.
_ROWS_PER_SLIP, _MAX_ONES = 100, 10
# Enough rows to recognise most columns that have nothing to do with each other.
_LOOKED_AT = 1000


def with_one_hot(scaling: Scaling, X: Array) -> Scaling:
    """Find the categories that columns of two values hold together, and weigh these columns.

    Of the columns of a category with shares p, each gets the weight √(p (1 − p) / Σ p (1 − p)).
    Squared, these add up to 1 in each category, and two random rows are as far apart in
    standardised columns so weighted as they are in one column of numbers. `X` (n_samples,
    n_features_in) are the rows to learn from, NaN where a value is missing.
    """
    margins = scaling.margins
    if margins.higher is None:
        return scaling
    higher = to_numpy(margins.higher)
    two = np.flatnonzero(higher > 0)
    weights = np.zeros(len(higher))
    for group in find_one_hot_columns(to_numpy(take_along(X, scaling.kept[two], axis=1)), two):
        variances = higher[two[group]] * (1 - higher[two[group]])
        weights[two[group]] = np.sqrt(variances / variances.sum())
    one_hot = asarray_like(weights, margins.higher) if weights.any() else None
    return scaling._replace(margins=margins._replace(one_hot=one_hot))


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
