"""Starting values: the paper's section "Initialization"."""

from __future__ import annotations

from typing import Any

from pckid._arrays import Array, device_of, namespace
from pckid.mixture.em import Family


def from_rows(
    family: Family, stats: Any, chosen: Array, sizes: tuple[int, ...], floor: float
) -> Any:
    """Start from random rows, one k-means iteration and the empirical moments.

    Missing values count as the feature's observed mean, here and only here.

    Parameters
    ----------
    family, stats
        A family of components and its statistics of a stack of m subsamples.
    chosen : array of shape (m, sum(sizes))
        For each subsample, the rows of its own that become the first centres.
    sizes : tuple of int
        The numbers of components of the mixtures that lie side by side.
    floor : float
        The smallest variance, in units of the feature's observed variance.
    """
    X = family.filled(stats)
    centers = gather(X, chosen)
    parts, first = [], 0
    for size in sizes:
        parts.append(nearest(X, centers[:, first : first + size, :]))
        first += size
    resp = namespace(X).concat(parts, axis=1)
    return family.start(stats, resp, centers, floor)


def nearest(X: Array, centers: Array) -> Array:
    """Give each row wholly to its nearest centre.

    Parameters
    ----------
    X : array of shape (m, n_samples, n_features)
    centers : array of shape (m, n_components, n_features)

    Returns
    -------
    resp : array of shape (m, n_components, n_samples)
    """
    xp = namespace(X)
    scores = centers @ xp.matrix_transpose(X) - 0.5 * xp.sum(centers**2, axis=-1)[..., None]
    winner = xp.argmax(scores, axis=1, keepdims=True)
    index = xp.arange(centers.shape[1], dtype=winner.dtype, device=device_of(X))
    return xp.astype(winner == index[None, :, None], X.dtype)


def gather(X: Array, chosen: Array) -> Array:
    """Pick rows `chosen` (m, g) of X (m, n, d), each subsample from its own."""
    xp = namespace(X)
    return xp.stack([xp.take(X[i, ...], chosen[i, :], axis=0) for i in range(X.shape[0])])
