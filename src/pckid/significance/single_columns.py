"""Columns that show no groups: a group is what at least two columns agree on.

A column may split the rows by itself, such as a coin flip or a number with two modes: the clusters
on both sides are alike in all other columns. And a column may be independent of every other one.
Neither says anything about groups, though each adds eigenvalues to the kernel and blurs others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from pckid.significance.null_tables import pairwise_correlations
from pckid.significance.units import Units

MIN_COLUMNS = 3  # with fewer columns, one column is too large a part of the table to be set aside
MAX_COLUMNS = 1000  # with more columns, a single one hardly changes the clusters
# Two clusters differ by a column if its means are two standard deviations apart, and are alike in
# the other columns if these together separate them by no more than half of one.
_DIFFERENT, _ALIKE = 4.0, 0.25
# A column that goes with another one so closely shows groups, though it may split some of them.
_RELATED = 0.3
# A column whose p-value of being related to none of the others is larger goes with none.
_ALPHA = 0.05
# Fewer rows cannot show that columns are unrelated.
_MIN_ROWS = 200
# Shares of the total variance, and of agreement, below which all is rounding.
_MIN_VARIANCE = 0.02


def find_single_columns(
    units: Units, labels: np.ndarray, related: Units | None = None
) -> np.ndarray:
    """Find the units that show no groups, by labels (n_samples,) from 0.

    Those that split clusters by themselves, and those that go with no other unit. At least two
    units are left, else the latter stay, and then all. None of fewer than three, or of more than
    1,000. Units are `related` by these rows, which may be more than those that have labels.
    """
    none = np.arange(0)
    n_units = len(units.columns)
    if not MIN_COLUMNS <= n_units <= MAX_COLUMNS or labels.max() == 0:
        return none
    relation = measure_relation(units if related is None else related)
    splitting = split_alone(cluster_distances(units, labels)) & (relation.strongest < _RELATED)
    unrelated = (relation.p_values > _ALPHA) & (len(labels) >= _MIN_ROWS)
    for found in (splitting | unrelated, splitting):
        if n_units - found.sum() >= 2:
            return np.flatnonzero(found)
    return none


def split_alone(distances: np.ndarray) -> np.ndarray:
    """Find the units (n_units,) that alone separate some pair of clusters, by their distances
    (n_clusters, n_clusters, n_units), see `cluster_distances`.
    """
    largest = distances.max(axis=2)
    others = distances.sum(axis=2) - largest
    pairs = (largest >= _DIFFERENT) & (others <= _ALIKE)
    alone = np.zeros(distances.shape[2], dtype=bool)
    alone[distances.argmax(axis=2)[pairs]] = True
    return alone


def cluster_distances(units: Units, labels: np.ndarray, n_clusters: int = 0) -> np.ndarray:
    """Measure how far apart clusters are, column by column.

    For numbers the squared difference of the means, by the variance within. For categories with
    shares p and q, and v = ½ Σ (p − q)² / (p + q) the part of the variance that lies between the
    clusters, 4 v / (1 − v), which is the same for numbers. Less what chance adds on average, in
    rows in which the column is observed.

    Labels (n_samples,) count from 0; of `n_clusters` the last may have no rows. The distances
    (n_clusters, n_clusters, n_units) are 0 where a cluster has fewer than two observed values.
    """
    members, found = np.eye(max(n_clusters, labels.max() + 1))[labels], []
    for column, is_category in zip(units.values.T, units.categorical, strict=True):
        seen = ~np.isnan(column)
        values, inside = column[seen], members[seen]
        counts = inside.sum(axis=0)
        sizes = np.maximum(counts, 1.0)
        if is_category:
            levels, codes = np.unique(values, return_inverse=True)
            shares = inside.T @ np.eye(len(levels))[codes] / sizes[:, None]
            sums = shares + shares[:, None]
            terms = (shares - shares[:, None]) ** 2 / np.where(sums > 0, sums, 1.0)
            between, freedom = terms.sum(axis=2) / 2, len(levels) - 1
            distances = 4 * between / np.maximum(1 - between, _MIN_VARIANCE)
        else:
            means, freedom = inside.T @ values / sizes, 1
            squares = inside.T @ (values - inside @ means) ** 2
            within = (squares + squares[:, None]) / np.maximum(sizes + sizes[:, None] - 2, 1.0)
            floor = max(_MIN_VARIANCE * values.var(), np.finfo(np.float64).tiny)
            distances = (means - means[:, None]) ** 2 / np.maximum(within, floor)
        chance = freedom * (1 / sizes + 1 / sizes[:, None])
        enough = (counts > 1) & (counts > 1)[:, None]
        found.append(np.where(enough, distances - chance, 0.0))
    return np.stack(found, axis=2)


class Relation(NamedTuple):
    """How closely each unit goes with another one, both of shape (n_units,)."""

    strongest: np.ndarray  # the largest correlation of its scores, in magnitude
    p_values: np.ndarray  # of being unrelated to all others


def measure_relation(units: Units) -> Relation:
    """Test whether each unit is independent of every other one, over rows that have both.

    Each unit has orthonormal scores: a line and a parabola of its ranks, so that a relation that
    first rises and then falls is seen, or its categories. Of n rows, n Σ r² over the correlations
    r of a scores with b scores is χ² of a b degrees of freedom if the two are independent, as in
    the smooth tests of Kallenberg and Ledwina (1999). The p-value of a unit is its smallest one,
    times the number of others.
    """
    ranks = stats.rankdata(units.values, axis=0, nan_policy="omit")
    blocks = [
        _orthonormal_scores(column, is_category)
        for column, is_category in zip(ranks.T, units.categorical, strict=True)
    ]
    scores = np.hstack(blocks)
    observed = ~np.isnan(scores)
    correlations, counts = pairwise_correlations(np.where(observed, scores, 0.0), observed)
    sizes = np.array([block.shape[1] for block in blocks])
    squares = correlations**2 * np.maximum(counts - 1, 0.0)
    statistics = _reduce_blocks(np.add, squares, sizes)
    largest = _reduce_blocks(np.maximum, np.abs(correlations), sizes)
    p_values = stats.chi2.sf(statistics, np.outer(sizes, sizes)) * (len(blocks) - 1)
    np.fill_diagonal(largest, 0.0)
    np.fill_diagonal(p_values, 1.0)
    return Relation(largest.max(axis=1), np.minimum(p_values.min(axis=1), 1.0))


def _orthonormal_scores(column: np.ndarray, is_category: bool) -> np.ndarray:
    """Return uncorrelated scores (n, n_scores) of a column's ranks (n,); NaN where missing."""
    seen = ~np.isnan(column)
    values = column[seen] / seen.sum()
    if is_category:
        functions = (values[:, None] == np.unique(values)).astype(np.float64)
    else:
        functions = np.stack([values, values**2], axis=1)
    centred = functions - functions.mean(axis=0)
    basis, triangle = np.linalg.qr(centred)
    # The last category follows from the others, and so does the parabola of two values.
    varies = np.abs(np.diag(triangle)) > 1e-6 * np.sqrt(len(values))
    scores = np.full((len(column), varies.sum()), np.nan)
    scores[seen] = basis[:, varies] * np.sqrt(len(values))
    return scores


def _reduce_blocks(ufunc: np.ufunc, matrix: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Reduce a matrix to one value for each pair of blocks of rows and columns."""
    starts = np.cumsum(sizes) - sizes
    return ufunc.reduceat(ufunc.reduceat(matrix, starts, axis=0), starts, axis=1)
