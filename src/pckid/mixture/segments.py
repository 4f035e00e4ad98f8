"""Mixtures that lie side by side on the component axis, and what is done within each of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pckid._arrays import Array, device_of, like, namespace

# Takes the log-joint (m, g, n) of some rows, and which rows of the table these are (None: all of
# them, in order), to their responsibilities (m, g, n).
Share = Callable[[Array, Array | None], Array]


class Segments(NamedTuple):
    """Which mixture each component belongs to.

    Either all subsamples of a stack hold mixtures of the same `sizes`, or `owner` says for each
    subsample and component which of `n_owners` mixtures it belongs to.
    """

    sizes: tuple[int, ...]
    owner: Array | None = None  # (m, sum(sizes))
    n_owners: int = 0


def segments(sizes: list[tuple[int, ...]], home: Array) -> Segments:
    """Describe a stack whose subsamples hold mixtures of `sizes`, all of one sum.

    Many small slices suit a CPU and its cache; a GPU prefers few large calls, so that stacks of
    unlike sizes work by masks.
    """
    if len(set(sizes)) == 1:
        return Segments(sizes[0])
    owner = np.stack([np.repeat(np.arange(len(row)), row) for row in sizes])
    return Segments(sizes[0], like(owner, home, dtype=namespace(home).int64), len(sizes[0]))


def slices(sizes: tuple[int, ...]) -> list[slice]:
    """Say where the components of mixtures of `sizes` lie."""
    stops = np.cumsum(sizes).tolist()
    return [slice(start, stop) for start, stop in pairwise([0, *stops])]


def within(function: Callable[[Array], Array], scores: Array, parts: Segments) -> Array:
    """Apply a function over the components of each mixture apart.

    Parameters
    ----------
    function : function
        Takes scores (m, g, n) to weights (m, g, n) that sum to one over g; −inf gets weight 0. It
        may overwrite the scores.
    scores : array of shape (m, n_components, n_samples)
        May be overwritten, by the weights.
    parts : Segments

    Returns
    -------
    weights : array of shape (m, n_components, n_samples)
    """
    xp = namespace(scores)
    if parts.owner is not None:
        mine = [(parts.owner == k)[..., None] for k in range(parts.n_owners)]
        weights = function(xp.where(mine[0], scores, -xp.inf))
        for other in mine[1:]:
            weights = weights + function(xp.where(other, scores, -xp.inf))
        return weights
    if len(parts.sizes) == 1:
        return function(scores)
    for where in slices(parts.sizes):
        part = scores[:, where, :]
        weights = function(part)
        if weights is not part:
            scores[:, where, :] = weights
    return scores


def highest(scores: Array, parts: Segments) -> Array:
    """Find the highest score of each row in each mixture, (m, n_mixtures, n) from (m, g, n)."""
    xp = namespace(scores)
    if parts.owner is None:
        mine = [scores[:, each, :] for each in slices(parts.sizes)]
    else:
        owned = ((parts.owner == k)[..., None] for k in range(parts.n_owners))
        mine = [xp.where(each, scores, -xp.inf) for each in owned]
    return xp.concat([xp.max(each, axis=1, keepdims=True) for each in mine], axis=1)


def ownership(parts: Segments, home: Array) -> Array:
    """Mark which components each mixture owns, 1 or 0, of shape (m or 1, n_mixtures, g)."""
    xp = namespace(home)
    owner = _owner(parts, home)
    index = xp.arange(len(parts.sizes), dtype=owner.dtype, device=device_of(home))
    return xp.astype(owner[:, None, :] == index[:, None], home.dtype)


def pool(values: Array, log_weights: Array, parts: Segments) -> Array:
    """Average over the components of each mixture, by their weights.

    Parameters
    ----------
    values : array of shape (m, n_components, d)
    log_weights : array of shape (m, n_components)
    parts : Segments

    Returns
    -------
    pooled : array of shape (m, n_components, d)
        The same for all components of a mixture.
    """
    xp, owner = namespace(values), _owner(parts, values)
    same = xp.astype(owner[:, :, None] == owner[:, None, :], values.dtype)
    weights = xp.exp(log_weights)[..., None]
    return (same @ (weights * values)) / (same @ weights)


def _owner(parts: Segments, home: Array) -> Array:
    """Number the mixtures that the components belong to, (m or 1, g)."""
    if parts.owner is not None:
        return parts.owner
    index = np.repeat(np.arange(len(parts.sizes)), parts.sizes)
    return like(index[None, :], home, dtype=namespace(home).int64)
