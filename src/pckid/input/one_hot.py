"""Columns of two values that together hold one category: what "one-hot" encoders make of it."""

from __future__ import annotations

import numpy as np

from pckid._utils.arrays import Array, asarray_like, namespace, take_along, to_numpy
from pckid.input.table import Scaling

# Fewer rows may have exactly one of some columns by chance.
_LEAST_ROWS = 10
# So many rows would have two of some columns if these were independent: that hardly any has is then
# no chance.
_EXPECTED_TWICE = 15.0
# The share of the rows expected to have both of two columns that may have both: mistakes.
_FEW_TWICE = 0.1


def with_one_hot(scaling: Scaling, X: Array) -> Scaling:
    """Find the categories that columns of two values hold together, and weigh these columns.

    Of the columns of a category with shares p, each gets the weight √(p (1 − p) / (1 − Σ p²)).
    Squared, these add up to 1 in each category, and two random rows are as far apart in
    standardised columns so weighted as they are in one column of numbers.

    Parameters
    ----------
    scaling : Scaling
    X : array of shape (n_samples, n_features_in)
        The rows to learn from, NaN where a value is missing.

    Returns
    -------
    scaling : Scaling
    """
    margins = scaling.margins
    if margins is None or margins.higher.shape[0] == 0:
        return scaling
    higher = to_numpy(margins.higher)
    two = np.flatnonzero(higher > 0)
    columns = asarray_like(scaling.kept[two], X, dtype=namespace(X).int64)
    weights = np.zeros(len(higher))
    for group in one_hot_groups(to_numpy(take_along(X, columns, axis=1)), two):
        shares = higher[two[group]]
        weights[two[group]] = np.sqrt(shares * (1 - shares) / (1 - np.sum(shares**2)))
    one_hot = asarray_like(weights if weights.any() else weights[:0], margins.higher)
    return scaling._replace(margins=margins._replace(one_hot=one_hot))


def one_hot_groups(X: np.ndarray, places: np.ndarray | None = None) -> list[slice]:
    """Find neighbouring columns of which each row has the higher value in exactly one.

    Their cells are missing together, and at least ten rows have them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Columns that take two values, NaN where one is missing.
    places : ndarray of shape (n_columns,), default=None
        Where they stand in a table, ascending: columns with another one between them are no
        neighbours. None: side by side.

    Returns
    -------
    groups : list of slice
        Each of two columns at least.
    """
    n_columns = X.shape[1]
    places = np.arange(n_columns) if places is None else places
    seen = ~np.isnan(X)
    high = np.fmax.reduce(X, axis=0) == X
    n_seen, stops = seen.sum(axis=0), np.concatenate([[0], np.cumsum(high.sum(axis=0))])
    groups, first = [], 0
    while first < n_columns:
        # As many higher values as rows: at most one run of columns from here on has them.
        end = int(np.searchsorted(stops, stops[first] + n_seen[first]))
        run = slice(first, end)
        if (
            first + 2 <= end <= n_columns
            and n_seen[first] >= _LEAST_ROWS
            and places[end - 1] - places[first] == end - 1 - first
            and np.array_equal(high[:, run].sum(axis=1), seen[:, first])
            and np.array_equal(seen[:, run].all(axis=1), seen[:, run].any(axis=1))
        ):
            groups.append(run)
            first = end
        else:
            first += 1
    return groups


def incomplete_groups(X: np.ndarray) -> list[slice]:
    """Find neighbouring columns of 0 and 1 of which rows have at most one, but not all have one.

    So columns look that were made of a category with missing values, or without one column for its
    first value, or with mistakes in a few rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        With NaN where a value is missing.

    Returns
    -------
    groups : list of slice
        Each of two columns at least.
    """
    n_samples, n_columns = X.shape
    ones, missing = X == 1, np.isnan(X)
    sums = ones.sum(axis=0)
    flags = (missing | ones | (X == 0)).all(axis=0) & (sums > 0)
    groups, first, end, taken = [], 0, 0, np.zeros(n_samples, dtype=bool)

    def goes_on(start: int, rows: np.ndarray) -> bool:
        if end == n_columns or not flags[end]:
            return False
        twice = ones[rows & ones[:, end], start:end].sum(axis=0)
        return bool((twice <= _FEW_TWICE * sums[start:end] * sums[end] / n_samples).all())

    while first < n_columns:
        while goes_on(first, taken):
            taken, end = taken | ones[:, end], end + 1
        others = taken & ~ones[:, first]
        if first < end and goes_on(first + 1, others):
            # The first column alone ends the run.
            taken, first = others, first + 1
            continue
        run = slice(first, end)
        expected = (sums[run].sum() ** 2 - (sums[run] ** 2).sum()) / (2 * max(n_samples, 1))
        is_complete = ((ones[:, run].sum(axis=1) == 1) | missing[:, run].any(axis=1)).all()
        if expected >= _EXPECTED_TWICE and not is_complete:
            groups.append(run)
        first = end = max(end, first + 1)
        taken = np.zeros(n_samples, dtype=bool)
    return groups
