"""Where rows lie between two clusters, along the direction in which these differ.

Columns of few values have gaps of their own, between one value and the next. They are replaced by
random normal scores: within a value rows are in random order, so that such a column alone is a
Gaussian without a gap, and several of them show one where they agree. The order is another one in
each draw: by a single one, a table would have a gap by one seed and none by another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from pckid.significance.units import Units

# In a column of numbers with ties, fewer of its values than this differ.
_DISTINCT = 0.9
# Rows count if they have half of what separates the two clusters.
_MIN_SEEN = 0.5
_MIN_VARIANCE = 0.02
_MIN_PLACE = 1e-9  # of the lowest row among all


class Ties(NamedTuple):
    """Rows in whose columns of few values equal ones are put in random order, time and again."""

    values: np.ndarray  # (n_rows, n_units), NaN where missing
    are_tied: np.ndarray  # (n_units,), of few values
    columns: np.ndarray  # (n_tied,), columns of numbers among them
    below: np.ndarray  # (n_rows, n_tied), the share of lower values; NaN where missing
    equal: np.ndarray  # (n_rows, n_tied), the share of equal values

    def take(self, rows: np.ndarray) -> Ties:
        """Take some of the rows."""
        parts = self.values[rows], self.below[rows], self.equal[rows]
        return self._replace(values=parts[0], below=parts[1], equal=parts[2])

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Replace numbers that come several times by normal scores, in random order if equal."""
        drawn = self.values.copy()
        if len(self.columns):
            places = self.below + self.equal * rng.random(self.below.shape)
            drawn[:, self.columns] = ndtri(np.clip(places, _MIN_PLACE, 1 - _MIN_PLACE))
        return drawn


def find_ties(units: Units) -> Ties:
    """Find the columns of numbers with ties; categories have an order only between two clusters."""
    are_tied, columns, places = units.categorical.copy(), [], []
    for j in np.flatnonzero(~units.categorical):
        seen = ~np.isnan(units.values[:, j])
        levels, codes, counts = np.unique(
            units.values[seen, j], return_inverse=True, return_counts=True
        )
        if len(levels) > _DISTINCT * len(codes):
            continue
        shares, both = counts / len(codes), np.full((2, len(seen)), np.nan)
        both[:, seen] = np.stack([np.cumsum(shares) - shares, shares])[:, codes]
        are_tied[j] = True
        columns.append(j)
        places.append(both)
    below, equal = np.reshape(places, (len(places), 2, len(units.values))).transpose(1, 2, 0)
    return Ties(units.values, are_tied, np.array(columns, dtype=int), below, equal)


def place_between(
    X: np.ndarray,
    categorical: np.ndarray,
    discrete: np.ndarray,
    second: np.ndarray,
    learn: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Place rows along the direction that the rows `learn` (n_rows,) give, from 0 to 1.

    With Δ the difference of the means of a column and v its variance within the clusters, the
    position of a row is Σ Δ (x − mean of the first) / v by Σ Δ² / v, over its observed columns: a
    missing value does not pull it to either side.

    Returns the positions of the other rows, NaN where less than half of Σ Δ² / v is observed, and
    which part of Σ Δ² / v comes from columns that are not discrete.
    """
    if categorical.any():
        X = X.copy()
    for j in np.flatnonzero(categorical):
        X[:, j] = _category_scores(X[:, j], second, learn, rng)
    seen = ~np.isnan(X)
    first, difference, within = measure_difference(X, second, learn)
    weight = difference / np.maximum(within, np.finfo(np.float64).tiny)
    contributions = weight * difference
    if contributions.sum() <= 0:
        return np.full(int((~learn).sum()), np.nan), 1.0
    placed = np.where(seen[~learn], weight * (X[~learn] - first), 0.0).sum(axis=1)
    observed = seen[~learn] @ contributions
    enough = observed >= _MIN_SEEN * contributions.sum()
    positions = np.where(enough, placed / np.where(enough, observed, 1.0), np.nan)
    return positions, contributions[~discrete].sum() / contributions.sum()


class Difference(NamedTuple):
    """How two clusters differ, column by column, each (n_columns,)."""

    first: np.ndarray  # the means of the first
    difference: np.ndarray  # of the means; 0 where one has fewer than two values
    within: np.ndarray  # the variances within clusters


def measure_difference(X: np.ndarray, second: np.ndarray, learn: np.ndarray) -> Difference:
    """Measure how two clusters differ in X (n_rows, n_columns), NaN where missing.

    Of the rows `learn` (n_rows,), `second` (n_rows,) are those of the second cluster.
    """
    seen = ~np.isnan(X)
    (n, first, below), (m, other, above), (_, _, total) = (
        _moments(X, seen, rows) for rows in (learn & ~second, learn & second, learn)
    )
    both = np.maximum(n + m, 1)
    within = np.maximum((below + above) / np.maximum(both - 2, 1), _MIN_VARIANCE * total / both)
    return Difference(first, np.where((n > 1) & (m > 1), other - first, 0.0), within)


def _moments(
    X: np.ndarray, seen: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the values of some rows in each column, and find their means and squares around it."""
    values, seen = X[rows], seen[rows]
    count = seen.sum(axis=0)
    mean = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    return count, mean, np.where(seen, (values - mean) ** 2, 0.0).sum(axis=0)


def _category_scores(
    column: np.ndarray, second: np.ndarray, learn: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Give categories (n,) random normal scores, in the order of their shares in the clusters."""
    seen = ~np.isnan(column)
    levels, codes = np.unique(column[seen], return_inverse=True)
    counts = np.stack(
        [
            np.bincount(codes[(learn & side)[seen]], minlength=len(levels)) + 0.5
            for side in (~second, second)
        ]
    )
    shares = counts / counts.sum(axis=1, keepdims=True)
    ranks = np.argsort(np.argsort(shares[1] / shares[0], kind="stable"))
    ordered = np.full(len(column), np.nan)
    ordered[seen] = ranks[codes]
    return _normal_scores(ordered, rng)


def _normal_scores(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace a column (n,) by normal scores, equal values in random order; NaN where missing."""
    scores, seen = np.full(len(column), np.nan), np.flatnonzero(~np.isnan(column))
    order = np.lexsort((rng.random(len(seen)), column[seen]))
    scores[seen[order]] = ndtri((np.arange(len(seen)) + 0.5) / max(len(seen), 1))
    return scores
