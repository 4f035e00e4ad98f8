"""What counts as one column: a column of the table, or those that hold one category together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid.columns.one_hot import find_one_hot_columns

_MAX_EXPONENT = 100  # of two, of numbers whose squares are within floats


class Units(NamedTuple):
    """The columns of a table that vary, those that hold one category together as one."""

    values: np.ndarray  # (n_samples, n_units), categories as numbers; NaN where missing
    categorical: np.ndarray  # (n_units,), bool
    columns: list[np.ndarray]  # of the table, those that each unit stands for
    ends: np.ndarray  # (2, n_features), the lowest and the highest value of each column

    def columns_of(self, units: np.ndarray) -> list[int]:
        """List the columns of the table that some units stand for."""
        return [int(column) for unit in units for column in self.columns[unit]]


def near_one(X: np.ndarray) -> np.ndarray:
    """Multiply columns (n_samples, n_features) by powers of two: squares stay within floats.

    Those of numbers that are neither huge nor tiny stay as they are: counts have no other unit.
    """
    exponents = np.frexp(np.nan_to_num(np.fmax.reduce(np.abs(X), axis=0)))[1]
    return np.ldexp(X, -np.where(np.abs(exponents) > _MAX_EXPONENT, exponents, 0))


def find_units(X: np.ndarray, categorical: np.ndarray) -> Units:
    """Find what counts as one column in a table (n_samples, n_features), NaN where missing.

    `categorical` (n_features,) are columns of categories, as numbers.
    """
    low, high = ends = np.stack([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)])
    used = np.flatnonzero(low < high)
    two = used[~categorical[used] & ((low == X) | (high == X) | np.isnan(X)).all(axis=0)[used]]
    groups = find_one_hot_columns(X[:, two], np.flatnonzero(np.isin(used, two)))
    together = [two[group] for group in groups]
    alone = np.setdiff1d(used, np.concatenate([two[:0], *together]))
    columns = sorted([*alone[:, None], *together], key=lambda some: some[0])
    values = np.empty((len(X), len(columns)))
    for j, some in enumerate(columns):
        held = high[some] == X[:, some]
        category = np.where(held.sum(axis=1) == 1, held.argmax(axis=1), np.nan)
        values[:, j] = category if len(some) > 1 else X[:, some[0]]
    are_codes = np.array([len(some) > 1 or categorical[some[0]] for some in columns], dtype=bool)
    return Units(values, are_codes, columns, ends)
