"""What a row's missing values could change about its cluster."""

from __future__ import annotations

import numpy as np

from pckid._utils.arrays import Array, to_numpy
from pckid.ensemble.imputation import complete_rows
from pckid.spectral.assignment import FittedClusters, place_changed_rows

# Coordinates of so many rows are held for all draws.
_ROWS_AT_ONCE = 4096
# Draws weigh at most exp(3) times more for each standard deviation that they lie farther on.
_STEEPEST = 3.0
_N_HALVINGS = 40


def instability_of_missing(
    fitted: FittedClusters, X: Array, n_draws: int, jobs: int = 1
) -> np.ndarray:
    """Estimate how likely each row gets another cluster once its missing values are known.

    They are drawn, the completed rows are placed, and the draws weighed: under a mixture, the
    posteriors of a row are the mean of those that it has with its missing values drawn from this
    mixture, and so are its coordinates without division by degrees. A draw comes from one mixture
    and is placed by all, which breaks this; `weigh_draws` restores it along the line from the
    row's centre to that of the cluster to which most of its draws change.

    X (n_samples, n_features) is as from `validate_table`. The chances (n_samples,) are 0 for a
    complete row, NaN for one with nothing observed. Each depends on its own row alone.
    """
    given = to_numpy(X).astype(np.float64)
    missing = np.isnan(given[:, fitted.kernel.scaling.used])
    chances = np.where(missing.all(axis=1), np.nan, 0.0)
    some = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    for start in range(0, len(some), _ROWS_AT_ONCE):
        rows = some[start : start + _ROWS_AT_ONCE]
        chances[rows] = _share_of_changes(fitted, given[rows], n_draws, jobs)
    return chances


def _share_of_changes(fitted: FittedClusters, X: np.ndarray, n_draws: int, jobs: int) -> np.ndarray:
    """Compute the weighed share of draws (n_samples,) that change the cluster of each row."""
    own = place_changed_rows(fitted, X, jobs)
    drawn = [
        place_changed_rows(fitted, rows, jobs) for rows in complete_rows(fitted.kernel, X, n_draws)
    ]
    labels, centers = np.stack([each.labels for each in drawn]), to_numpy(fitted.centers)
    changed = labels != own.labels
    counts = np.stack([(labels == j).sum(axis=0) for j in range(len(centers))])
    counts[own.labels, np.arange(len(X))] = -1
    line = centers[own.labels] - centers[counts.argmax(axis=0)]
    steps = np.stack([((each.embedding - own.embedding) * line).sum(axis=1) for each in drawn])
    return (weigh_draws(steps) * changed).sum(axis=0)


def weigh_draws(steps: np.ndarray) -> np.ndarray:
    """Weigh draws so that on average they lie where the row itself does.

    Parameters
    ----------
    steps : ndarray of shape (n_draws, n_samples)
        How far each draw moves a row along some line.

    Returns
    -------
    weights : ndarray of shape (n_draws, n_samples)
        In proportion to exp(λ v), v the steps in standard deviations; those of a row add up to 1.
        λ makes the weighted mean of its steps 0, or as small as can be between −3 and 3.
    """
    spread = steps.std(axis=0)
    v = steps / np.where(spread > 0, spread, 1.0)
    low = np.full(steps.shape[1], -_STEEPEST)
    high, weights = -low, np.full(steps.shape, 1 / len(steps))
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2
        weights = np.exp(middle * v - (middle * v).max(axis=0))
        weights /= weights.sum(axis=0)
        below = (weights * v).sum(axis=0) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return weights
