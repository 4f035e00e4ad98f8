"""Whether rows that follow each other are alike: in time, in place, or as visits of one person."""

from __future__ import annotations

import numpy as np
from scipy import stats

from pckid.significance.null_tables import pairwise_correlations

# Rows that follow each other count as alike from such a correlation on, if chance is ruled out.
MIN_ALIKE = 0.25
_MIN_Z = 5.0
_N_COMPONENTS = 3
_MAX_COLUMNS = 200
_MIN_ROWS = 30
# A table is sorted by a column if so many of the steps from row to row go one way, or none.
_SORTED = 0.98


def find_alike_neighbours(X: np.ndarray, labels: np.ndarray | None = None) -> float:
    """Correlate rows of a table (n_samples, n_features) with the rows before, NaN where missing.

    Returns the highest correlation of a leading component of the columns' ranks with itself one row
    before, beyond what clusters, `labels` (n_samples,) from 0, have in common: a table may be
    sorted by kinds, which is no order in time or place. 0 where it is low, where chance may do it,
    or where the table is sorted by a column, which makes rows alike that follow each other.
    """
    varies = np.fmin.reduce(X, axis=0) < np.fmax.reduce(X, axis=0)
    values = X[:, np.flatnonzero(varies)[:_MAX_COLUMNS]]
    if len(values) < _MIN_ROWS or values.shape[1] == 0:
        return 0.0
    if any(is_sorted(column) for column in values.T):
        return 0.0
    ranks = stats.rankdata(values, axis=0, nan_policy="omit")
    scores = (ranks - np.nanmean(ranks, axis=0)) / np.maximum(np.nanstd(ranks, axis=0), 1e-12)
    scores = np.nan_to_num(scores)
    correlations, _ = pairwise_correlations(scores, ~np.isnan(values))
    np.fill_diagonal(correlations, 1.0)
    vectors = np.linalg.eigh(correlations)[1][:, : -_N_COMPONENTS - 1 : -1]
    components = scores @ vectors
    found = 0.0
    for component in components.T:
        if labels is not None:
            sums, counts = np.bincount(labels, component), np.bincount(labels)
            component = component - (sums / np.maximum(counts, 1))[labels]
        before, after = component[:-1], component[1:]
        if before.std() == 0 or after.std() == 0:
            continue
        r = float(np.corrcoef(before, after)[0, 1])
        if r >= MIN_ALIKE and np.arctanh(min(r, 0.9999)) * np.sqrt(len(before) - 3) >= _MIN_Z:
            found = max(found, r)
    return found


def is_sorted(column: np.ndarray) -> bool:
    """Whether a column (n,), NaN where missing, only rises or only falls from row to row."""
    seen = column[~np.isnan(column)]
    steps = np.diff(seen)
    if len(np.unique(seen)) < 2:
        return False
    return bool(max((steps >= 0).mean(), (steps <= 0).mean()) >= _SORTED)
