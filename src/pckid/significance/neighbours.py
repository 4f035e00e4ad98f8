"""Which clusters are neighbours, so that a gap between them decides, and what follows for others.

Of many clusters most pairs lie far apart, with others between them. What joins two such clusters is
a chain of neighbours; where each chain crosses a gap, they are of different groups, and need not be
compared.
"""

from __future__ import annotations

import numpy as np

from pckid.significance.units import Units


def find_neighbours(units: Units, labels: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Find the pairs of which one is the closest other cluster to some row of the other.

    Labels (n_samples,) count from 0, and `clusters` (n_some,) are those that are looked at. Returns
    a symmetric matrix (n_some, n_some).
    """
    n_clusters = len(clusters)
    if n_clusters <= 2:
        return ~np.eye(n_clusters, dtype=bool)
    rows = np.flatnonzero(np.isin(labels, clusters))
    own = np.searchsorted(clusters, labels[rows])
    distances = _distances_to_means(units.values[rows], units.categorical, own, n_clusters)
    distances[np.arange(len(rows)), own] = np.inf
    found = np.zeros((n_clusters, n_clusters), dtype=bool)
    found[own, distances.argmin(axis=1)] = True
    return found | found.T


def find_ways(p_values: np.ndarray, is_open: np.ndarray) -> np.ndarray:
    """Find how clear a gap must be crossed between each two clusters, at least.

    Pairs that are `is_open` (n_clusters, n_clusters) have not been tested, and no way goes by them.
    Of the p-values (n_clusters, n_clusters) of all others, NaN where rows are too few to show a
    gap, a way between two clusters has the smallest of its steps; the result is the largest over
    all ways.
    """
    ways = np.where(is_open, 0.0, np.nan_to_num(p_values, nan=1.0))
    for by in range(len(ways)):
        ways = np.maximum(ways, np.minimum(ways[:, by, None], ways[by]))
    return ways


def _distances_to_means(
    X: np.ndarray, categorical: np.ndarray, own: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Measure rows (n_rows, n_units) from the means of all clusters (n_rows, n_clusters).

    `own` (n_rows,) are their clusters. Squared, each unit by its variance within clusters, in the
    units that a row has observed. A category counts as columns of 0 and 1.
    """
    members, found = np.eye(n_clusters)[own], np.zeros((len(X), n_clusters))
    for column, is_category in zip(X.T, categorical, strict=True):
        seen = ~np.isnan(column)
        values = column[seen, None]
        if is_category:
            values = (values == np.unique(values)).astype(np.float64)
        counts = np.maximum(members[seen].sum(axis=0), 1.0)[:, None]
        means = members[seen].T @ values / counts
        within = float(((values - means[own[seen]]) ** 2).sum(axis=1).mean())
        squares = (values**2).sum(axis=1)[:, None] - 2 * values @ means.T + (means**2).sum(axis=1)
        found[seen] += squares / max(within, np.finfo(np.float64).tiny)
    return found
