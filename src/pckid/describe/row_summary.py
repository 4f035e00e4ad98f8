"""What a model keeps of the rows it was fitted on, so that others can be compared with them."""

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    clip,
    contiguous,
    device_of,
    gather,
    namespace,
    take_along,
    to_numpy,
)
from pckid._utils.seeds import some_rows
from pckid.input.table import StandardisedRows, column_slices

N_BINS = 10
MAX_ROWS = 5_000  # of longer tables so many random rows tell enough
_MAX_CELLS = 1 << 22
_OUTLIER = 3.0
_ROUNDING = 1e-4


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
    table: StandardisedRows,
    labels: Array,
    n_clusters: int,
    scored: np.ndarray,
    weights: np.ndarray | None = None,
    deciles: np.ndarray | None = None,
) -> RowSummary:
    """Summarise those of at most 5,000 random rows whose labels (n_samples,) are not negative.

    Values are counted between `deciles` (n_features, 9), those of these rows by default. `scored`
    is as in `RowSummary`; `weights` (n_samples,) say how much each row counts.
    """
    most = min(MAX_ROWS, max(500, _MAX_CELLS // table.observed.shape[1]))
    rows = some_rows(np.arange(table.n_samples), most)
    numbers = to_numpy(take_along(labels, rows))
    rows, numbers = rows[numbers >= 0], numbers[numbers >= 0]
    counts = _as_equal_rows(np.ones(len(rows)) if weights is None else weights[rows])
    d, codes = table.n_features, to_numpy(take_along(table.codes, rows))
    parts = []
    for columns in column_slices(table.values[: len(rows), :]):
        values, observed = (
            take_along(part[:, :d][:, columns], rows) for part in (table.values, table.observed)
        )
        edges = None if deciles is None else deciles[columns, :]
        parts.append(_summarise_columns(values, observed, counts, edges))
    read = np.concatenate(parts)
    held = codes >= 0
    between = np.diff(read[:, 3:12], axis=1, prepend=0, append=read[:, 2:3])
    of_cells = np.broadcast_to(counts[:, None], codes.shape)[held]
    return RowSummary(
        float(counts.sum()),
        np.concatenate([read[:, 2], counts @ held]),
        read[:, 0],
        read[:, 1],
        read[:, 12:],
        # Sums in another order leave a little less than nothing above the largest value.
        np.maximum(between, 0.0),
        np.bincount(codes[held], of_cells, minlength=table.column_model.column.shape[0]),
        np.bincount(numbers, counts, minlength=n_clusters),
        scored,
    )


def _summarise_columns(
    values: Array, observed: Array, counts: np.ndarray, deciles: np.ndarray | None
) -> np.ndarray:
    """Summarise columns of numbers (n, d), of rows that count (n,) times.

    Returns (d, 21) on the host: means, spreads and how many are observed; how many are up to each
    decile, of those given or of their own; and their own deciles.
    """
    xp = namespace(values)
    each = asarray_like(counts, values, dtype=xp.float64)
    # Columns as rows: adjacent numbers are sorted faster.
    values, observed = (
        contiguous(xp.matrix_transpose(xp.astype(part, xp.float64))) for part in (values, observed)
    )
    seen = each * observed
    total = xp.sum(seen, axis=1)
    n_seen = clip(total, float(xp.finfo(xp.float64).smallest_normal))
    means = xp.sum(seen * values, axis=1) / n_seen
    spreads = xp.sqrt(xp.sum(seen * (values - means[:, None]) ** 2, axis=1) / n_seen)
    values = xp.where(seen > 0, values, xp.inf)
    order = xp.argsort(values, axis=1, stable=False)
    values, seen = (gather(part, order) for part in (values, seen))
    summed = xp.cumulative_sum(seen, axis=1, include_initial=True)
    own = _find_deciles(values, summed)
    if deciles is None:
        # A little above values that occur: rounding, which differs between devices, puts equal ones
        # on the same side, and a model's file holds none of them.
        own = edges = own + _ROUNDING * (1 + xp.abs(own))
    else:
        edges = asarray_like(deciles, values)
    n_up_to = xp.count_nonzero(values[:, None, :] <= edges[:, :, None], axis=2)
    up_to = gather(summed, n_up_to)
    # All at once: the host waits for a GPU each time that it reads.
    moments = xp.stack([means, spreads, total], axis=1)
    return to_numpy(xp.concat([moments, up_to, own], axis=1))


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


def _find_deciles(values: Array, summed: Array) -> Array:
    """Find the nine deciles of columns (d, 9), whose values ascend (d, n); 0 where there are none.

    `summed` (d, n + 1) is how much the values before each count. Those of no weight are infinite.
    """
    xp = namespace(values)
    if values.shape[1] == 0:
        return xp.zeros((values.shape[0], N_BINS - 1), dtype=values.dtype)
    levels = xp.arange(1, N_BINS, dtype=values.dtype, device=device_of(values)) / N_BINS - _ROUNDING
    reached = levels[:, None] * summed[:, None, -1:]
    below = xp.count_nonzero(summed[:, None, 1:] < reached, axis=2)
    found = gather(values, below)
    return xp.where(xp.isfinite(found), found, 0.0)
