"""What a row's missing values could change about its cluster."""

from __future__ import annotations

import numpy as np

from pckid._utils.arrays import Array, to_numpy
from pckid.ensemble.imputation import complete_rows
from pckid.spectral.assignment import FittedClusters, place_changed_rows


def instability_of_missing(
    fitted: FittedClusters, X: Array, n_draws: int, jobs: int = 1
) -> np.ndarray:
    """Estimate how likely each row gets another cluster once its missing values are known.

    They are drawn, and the completed rows are placed, see `chance_of_change`. X (n_samples,
    n_features) is as from `validate_table`. The chances (n_samples,) are 0 for a complete row, NaN
    for one with nothing observed. Each depends on its own row alone.
    """
    given = to_numpy(X).astype(np.float64)
    missing = np.isnan(given[:, fitted.kernel.scaling.used])
    chances = np.where(missing.all(axis=1), np.nan, 0.0)
    some = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if not len(some):
        return chances
    own = place_changed_rows(fitted, given[some], jobs).labels
    counts, rows = np.zeros((len(some), fitted.centers.shape[0])), np.arange(len(some))
    for completed in complete_rows(fitted.kernel, given[some], n_draws):
        counts[rows, place_changed_rows(fitted, completed, jobs).labels] += 1
    chances[some] = chance_of_change(counts / n_draws, own)
    return chances


def chance_of_change(shares: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Estimate how likely rows leave their clusters, by the clusters of their draws.

    A draw comes from one mixture and is placed by all of them, which spreads draws too far. But a
    row is placed where the mixtures on average expect it, whatever its missing values are: another
    cluster is at most as likely as its own. Where more draws go to another one, the two share
    theirs alike.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_clusters)
        Of the draws, those in each cluster.
    labels : ndarray of shape (n_samples,)
        The clusters of the rows as they are.

    Returns
    -------
    chances : ndarray of shape (n_samples,)
    """
    own = np.take_along_axis(shares, labels[:, None], axis=1)[:, 0]
    return 1 - np.maximum(own, (own + shares.max(axis=1)) / 2)
