"""Starting values: the paper's section "Initialization"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pckid._utils.arrays import Array, device_of, namespace, times_transposed
from pckid.mixture.em import Family


def from_rows(
    family: Family,
    stats: Any,
    chosen: Array,
    floor: float,
    weights: Array | None = None,
    assign: Callable[[Array], Array] | None = None,
) -> Any:
    """Start from random rows, one k-means iteration and the empirical moments.

    Missing values count as the feature's observed mean, here and only here.

    Parameters
    ----------
    family, stats
        A family of components and its statistics of a stack of m mixtures.
    chosen : array of shape (m, n_components)
        For each mixture, the rows of its own that become the first centres.
    floor : float
        The smallest variance, in units of the feature's observed variance.
    weights : array of shape (n_samples,) or (m, 1, n_samples), default=None
        Weights of the rows, of mean 1.
    assign : function of (m, n_components, n_samples), default=`winner`
        Takes the closeness of rows to centres to their responsibilities.
    """
    X = family.filled(stats)
    centers = family.pick(stats, chosen)
    resp = (assign or winner)(closeness(X, centers))
    resp = resp if weights is None else resp * weights
    return family.constrain(family.start(stats, resp, centers), floor)


def closeness(X: Array, centers: Array) -> Array:
    """Score rows (m, n, d) by how near they are to centres (m, g, d): highest is nearest.

    Returns
    -------
    scores : array of shape (m, g, n)
        Half the negative squared distance, up to a constant of the row.
    """
    xp = namespace(X)
    return times_transposed(centers, X) - 0.5 * xp.sum(centers**2, axis=-1)[..., None]


def winner(scores: Array) -> Array:
    """Give each row wholly to its highest score (m, g, n), the first of equal ones."""
    xp = namespace(scores)
    if isinstance(scores, np.ndarray):
        highest = scores == np.max(scores, axis=1, keepdims=True)
        # Equal ones are rare, and looking for the first takes several times as long.
        if np.count_nonzero(highest) == scores.shape[0] * scores.shape[2]:
            return highest.astype(scores.dtype)
    best = xp.argmax(scores, axis=1, keepdims=True)
    index = xp.arange(scores.shape[1], dtype=best.dtype, device=device_of(scores))
    return xp.astype(best == index[None, :, None], scores.dtype)
