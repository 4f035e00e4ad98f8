"""Starting values: the paper's section "Initialization"."""

from __future__ import annotations

from typing import Any

from pckid._arrays import Array, device_of, namespace
from pckid.mixture.em import Family


def from_rows(family: Family, stats: Any, chosen: Array, floor: float) -> Any:
    """Start from random rows, one k-means iteration and the empirical moments.

    Missing values count as the feature's observed mean, here and only here.

    Parameters
    ----------
    family, stats
        A family of components and its statistics of n_mixtures stacks of rows.
    chosen : array of shape (n_mixtures, n_components)
        For each mixture, the rows of its own that become the first centres.
    floor : float
        The smallest variance, in units of the feature's observed variance.
    """
    X = family.filled(stats)
    centers = gather(X, chosen)
    return family.start(stats, nearest(X, centers), centers, floor)


def nearest(X: Array, centers: Array) -> Array:
    """Give each row wholly to its nearest centre.

    Parameters
    ----------
    X : array of shape (n_mixtures, n_samples, n_features)
    centers : array of shape (n_mixtures, n_components, n_features)

    Returns
    -------
    resp : array of shape (n_mixtures, n_components, n_samples)
    """
    xp = namespace(X)
    scores = centers @ xp.matrix_transpose(X) - 0.5 * xp.sum(centers**2, axis=-1)[..., None]
    winner = xp.argmax(scores, axis=1, keepdims=True)
    index = xp.arange(centers.shape[1], dtype=winner.dtype, device=device_of(X))
    return xp.astype(winner == index[None, :, None], X.dtype)


def gather(X: Array, chosen: Array) -> Array:
    """Pick rows `chosen` (m, g) of X (m, n, d), each mixture from its own."""
    xp = namespace(X)
    n_mixtures, n_samples, n_features = X.shape
    offset = xp.arange(n_mixtures, dtype=chosen.dtype, device=device_of(X)) * n_samples
    flat = xp.reshape(chosen + offset[:, None], (-1,))
    picked = xp.take(xp.reshape(X, (-1, n_features)), flat, axis=0)
    return xp.reshape(picked, (n_mixtures, -1, n_features))
