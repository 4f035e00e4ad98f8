"""What a model keeps of the rows it was fitted on, so that others can be compared with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, to_numpy
from pckid.input.table import Table, take

N_BINS = 10
MOST_ROWS = 5_000  # of longer tables so many random rows tell enough
_MOST_CELLS = 1 << 22
_OUTLIER = 3.0
_ROUNDING = 1e-4
_LEVELS = np.arange(1, N_BINS) / N_BINS


class RowSummary(NamedTuple):
    """Counts and moments of rows that belong to a cluster, column by column.

    Numbers are standardised. Rows of unequal weights count as so many equal ones as tell as much.
    """

    n_rows: float
    observed: np.ndarray  # (n_columns,), rows with a value
    means: np.ndarray  # (n_features,), of numbers
    spreads: np.ndarray  # (n_features,), standard deviations
    deciles: np.ndarray  # (n_features, 9)
    counts: np.ndarray  # (n_features, 10), rows between deciles: their own, or those of a fit
    categories: np.ndarray  # (n_categories,), rows with each category
    clusters: np.ndarray  # (n_clusters,), rows in each
    scored: np.ndarray  # (2,), rows with an outlier score, and those of them that are outliers


def summarise_rows(
    table: Table,
    labels: Array,
    n_clusters: int,
    scored: np.ndarray,
    weights: np.ndarray | None = None,
    deciles: np.ndarray | None = None,
) -> RowSummary:
    """Summarise rows with labels (n_samples,) that are not negative, at most 5,000 random ones.

    Values are counted between `deciles` (n_features, 9), those of these rows by default. `scored`
    is as in `RowSummary`; `weights` (n_samples,) say how much each row counts.
    """
    found, width = to_numpy(labels), table.observed.shape[1]
    rows = some_rows(np.flatnonzero(found >= 0), min(MOST_ROWS, max(500, _MOST_CELLS // width)))
    some = take(table, rows)
    values, observed, codes = map(to_numpy, (some.values, some.observed, some.codes))
    each = _as_equal_rows(np.ones(len(rows)) if weights is None else weights[rows])
    values, seen = values.astype(np.float64), each[:, None] * observed[:, : table.n_features]
    n_seen = np.maximum(seen.sum(axis=0), np.finfo(float).tiny)
    means = (seen * values).sum(axis=0) / n_seen
    own = _find_deciles(values, seen / n_seen)
    if deciles is None:
        # A little above values that occur: rounding, which differs between devices, puts equal ones
        # on the same side, and a model's file holds none of them.
        own = deciles = own + _ROUNDING * (1 + np.abs(own))
    up_to = [(seen * (values <= edge)).sum(axis=0) for edge in deciles.T]
    held = codes >= 0
    of_cells = np.broadcast_to(each[:, None], codes.shape)[held]
    return RowSummary(
        float(each.sum()),
        each @ observed,
        means,
        np.sqrt((seen * (values - means) ** 2).sum(axis=0) / n_seen),
        own,
        np.diff([np.zeros(len(means)), *up_to, seen.sum(axis=0)], axis=0).T,
        np.bincount(codes[held], of_cells, minlength=table.margins.column.shape[0]),
        np.bincount(found[rows], each, minlength=n_clusters),
        scored,
    )


def count_outliers(scores: Array, weights: np.ndarray | None = None) -> np.ndarray:
    """Count rows with an outlier score (n,), and those of them that are outliers (2,)."""
    found = to_numpy(scores)
    each = np.ones(len(found)) if weights is None else weights
    each = _as_equal_rows(np.where(np.isnan(found), 0.0, each))
    return np.rint([each.sum(), each[found > _OUTLIER].sum()])


def some_rows(rows: np.ndarray, size: int, seed: int | np.random.Generator = 0) -> np.ndarray:
    """Draw at most `size` of some rows, always the same ones for a seed; ascending."""
    if len(rows) <= size:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))


def _as_equal_rows(weights: np.ndarray) -> np.ndarray:
    """Scale weights (n,) to add up to as many equal rows as tell as much (Kish 1965)."""
    if not weights.any():
        return weights
    shares = weights / weights.max()
    return shares * (shares.sum() / (shares**2).sum())


def _find_deciles(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Find the nine deciles of columns (n, d) by the shares of their cells, of shape (d, 9)."""
    if len(values) == 0:
        return np.zeros((values.shape[1], len(_LEVELS)))
    # Columns as rows: adjacent numbers are sorted faster.
    values, shares = np.ascontiguousarray(values.T), np.ascontiguousarray(shares.T)
    order = np.argsort(np.where(shares > 0, values, np.inf), axis=1)
    summed = np.cumsum(np.take_along_axis(shares, order, axis=1), axis=1)
    places = np.stack([(summed < level - _ROUNDING).sum(axis=1) for level in _LEVELS], axis=1)
    last = np.maximum((shares > 0).sum(axis=1) - 1, 0)
    chosen = np.take_along_axis(order, np.minimum(places, last[:, None]), axis=1)
    return np.take_along_axis(values, chosen, axis=1)
