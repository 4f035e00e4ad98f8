"""What counts as one column: a column of the table, or those that hold one category together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid.input.one_hot import one_hot_groups


class Units(NamedTuple):
    """The columns of a table that vary, those that hold one category together as one."""

    values: np.ndarray  # (n_samples, n_units), categories as numbers; NaN where missing
    categorical: np.ndarray  # (n_units,), bool
    columns: list[np.ndarray]  # of the table, those that each unit stands for
    ends: np.ndarray  # (2, n_features), the lowest and the highest value of each column

    def columns_of(self, units: np.ndarray) -> list[int]:
        """List the columns of the table that some units stand for."""
        return [int(column) for unit in units for column in self.columns[unit]]


def find_units(X: np.ndarray, categorical: np.ndarray) -> Units:
    """Find what counts as one column in a table (n_samples, n_features), NaN where missing.

    `categorical` (n_features,) are columns of categories, as numbers.
    """
    ends = np.stack([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)])
    columns = _split_columns(X, ends, categorical)
    values = [_merge_columns(X[:, some], ends[:, some]) for some in columns]
    are_codes = np.array([len(some) > 1 or categorical[some[0]] for some in columns], dtype=bool)
    return Units(np.column_stack([np.empty((len(X), 0)), *values]), are_codes, columns, ends)


def _split_columns(X: np.ndarray, ends: np.ndarray, categorical: np.ndarray) -> list[np.ndarray]:
    """List the columns that vary, one by one or, where they hold one category, together."""
    low, high = ends
    used = np.flatnonzero(low < high)
    two = used[~categorical[used] & ((low == X) | (high == X) | np.isnan(X)).all(axis=0)[used]]
    places = np.flatnonzero(np.isin(used, two))
    groups = [two[group] for group in one_hot_groups(X[:, two], places)]
    grouped = np.concatenate([np.zeros(0, dtype=np.int64), *groups])
    apart = [np.array([j]) for j in np.setdiff1d(used, grouped)]
    return sorted([*apart, *groups], key=lambda some: some[0])


def _merge_columns(X: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return a single column (n, 1) as it is, and the categories that several hold as numbers."""
    if X.shape[1] == 1:
        return X[:, 0]
    high = ends[1] == X
    return np.where(high.sum(axis=1) == 1, high.argmax(axis=1), np.nan)
