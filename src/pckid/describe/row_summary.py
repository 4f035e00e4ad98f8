"""What a model keeps of the rows it was fitted on, so that others can be compared with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, clip_min, contiguous, namespace, to_numpy
from pckid._utils.seeds import some_rows
from pckid.input.table import Table, take

N_BINS = 10
MOST_ROWS = 5_000  # of longer tables so many random rows tell enough
_MOST_CELLS = 1 << 22
_OUTLIER = 3.0
_ROUNDING = 1e-4
_LEVELS = [j / N_BINS for j in range(1, N_BINS)]


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
    labels: np.ndarray,
    n_clusters: int,
    scored: np.ndarray,
    weights: np.ndarray | None = None,
    deciles: np.ndarray | None = None,
) -> RowSummary:
    """Summarise rows with labels (n_samples,) that are not negative, at most 5,000 random ones.

    Values are counted between `deciles` (n_features, 9), those of these rows by default. `scored`
    is as in `RowSummary`; `weights` (n_samples,) say how much each row counts.
    """
    most = min(MOST_ROWS, max(500, _MOST_CELLS // table.observed.shape[1]))
    rows = some_rows(np.flatnonzero(labels >= 0), most)
    some = take(table, rows)
    xp = namespace(some.values)
    counts = _as_equal_rows(np.ones(len(rows)) if weights is None else weights[rows])
    each = asarray_like(counts, some.values, dtype=xp.float64)
    values = xp.astype(some.values, xp.float64)
    observed = xp.astype(some.observed, xp.float64)
    seen = each[:, None] * observed[:, : table.n_features]
    total = xp.sum(seen, axis=0)
    n_seen = clip_min(total, float(xp.finfo(xp.float64).smallest_normal))
    means = xp.sum(seen * values, axis=0) / n_seen
    own = _find_deciles(values, seen / n_seen)
    if deciles is None:
        # A little above values that occur: rounding, which differs between devices, puts equal ones
        # on the same side, and a model's file holds none of them.
        own = edges = own + _ROUNDING * (1 + xp.abs(own))
    else:
        edges = asarray_like(deciles, values)
    up_to = [
        xp.sum(seen * xp.astype(values <= edges[:, j], xp.float64), axis=0)
        for j in range(len(_LEVELS))
    ]
    spreads = xp.sqrt(xp.sum(seen * (values - means) ** 2, axis=0) / n_seen)
    # All at once: the host waits for a GPU each time that it reads.
    read = to_numpy(
        xp.concat([xp.stack([means, spreads, total, *up_to]), xp.matrix_transpose(own)], axis=0)
    )
    between = np.diff([np.zeros(table.n_features), *read[3:12], read[2]], axis=0)
    codes = to_numpy(some.codes)
    held = codes >= 0
    of_cells = np.broadcast_to(counts[:, None], codes.shape)[held]
    return RowSummary(
        float(counts.sum()),
        to_numpy(each @ observed),
        read[0],
        read[1],
        read[12:].T,
        between.T,
        np.bincount(codes[held], of_cells, minlength=table.margins.column.shape[0]),
        np.bincount(labels[rows], counts, minlength=n_clusters),
        scored,
    )


def count_outliers(scores: Array, weights: np.ndarray | None = None) -> np.ndarray:
    """Count rows with an outlier score (n,), and those of them that are outliers (2,)."""
    found = to_numpy(scores)
    each = np.ones(len(found)) if weights is None else weights
    each = _as_equal_rows(np.where(np.isnan(found), 0.0, each))
    return np.rint([each.sum(), each[found > _OUTLIER].sum()])


def _as_equal_rows(weights: np.ndarray) -> np.ndarray:
    """Scale weights (n,) to add up to as many equal rows as tell as much (Kish 1965)."""
    if not weights.any():
        return weights
    shares = weights / weights.max()
    return shares * (shares.sum() / (shares**2).sum())


def _find_deciles(values: Array, shares: Array) -> Array:
    """Find the nine deciles of columns (n, d) by the shares of their cells, of shape (d, 9)."""
    xp = namespace(values)
    if values.shape[0] == 0:
        return xp.zeros((values.shape[1], len(_LEVELS)), dtype=values.dtype)
    # Columns as rows: adjacent numbers are sorted faster.
    values, shares = (contiguous(xp.matrix_transpose(X)) for X in (values, shares))
    order = xp.argsort(xp.where(shares > 0, values, xp.inf), axis=1, stable=False)
    summed = xp.cumulative_sum(xp.take_along_axis(shares, order, axis=1), axis=1)
    below = [xp.count_nonzero(summed < level - _ROUNDING, axis=1) for level in _LEVELS]
    last = clip_min(xp.count_nonzero(shares > 0, axis=1) - 1, 0)
    chosen = xp.take_along_axis(order, xp.minimum(xp.stack(below, axis=1), last[:, None]), axis=1)
    return xp.take_along_axis(values, chosen, axis=1)
