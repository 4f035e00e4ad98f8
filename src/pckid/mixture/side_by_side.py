"""Mixtures of several sizes side by side, as if their components were those of one mixture.

A GPU waits for the host, which launches operation after operation: so one product serves them all,
and only what is done to each mixture by itself knows where one ends and the next begins. `shapes`
say that: how many mixtures there are of how many components, run by run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from pckid._utils.arrays import (
    Array,
    argmax_of_middle,
    asarray_like,
    exponential,
    fused_softmax,
    namespace,
    take_along,
)

Shape = tuple[int, int]


def owners(shapes: Sequence[Shape]) -> np.ndarray:
    """Tell which mixture each component is of (n_components,)."""
    sizes = np.repeat([g for _, g in shapes], [m for m, _ in shapes])
    return np.repeat(np.arange(len(sizes)), sizes)


def places(shapes: Sequence[Shape]) -> np.ndarray:
    """Tell which of its mixture's components each component is (n_components,)."""
    return np.concatenate([np.tile(np.arange(g), m) for m, g in shapes])


def lay(stacks: Sequence[Any]) -> Any:
    """Lay the components of stacks side by side, as parameters of one mixture (1, …)."""
    xp = namespace(stacks[0].means)

    def flat(array: Array) -> Array:
        return xp.reshape(array, (1, array.shape[0] * array.shape[1], *array.shape[2:]))

    return type(stacks[0])(
        *(
            xp.concat([flat(array) for array in arrays], axis=1)
            for arrays in zip(*stacks, strict=True)
        )
    )


def cut(params: Any, shapes: Sequence[Shape]) -> Iterator[Any]:
    """Cut what lies side by side (1, …) into stacks again, each with memory of its own."""
    xp = namespace(params.means)

    def own(array: Array, start: int, stop: int, shape: Shape) -> Array:
        part = xp.reshape(array[0, start:stop, ...], (*shape, *array.shape[2:]))
        return part if array.shape[-1] == 0 else xp.concat([part])

    for shape, (start, stop) in zip(shapes, _bounds(shapes), strict=True):
        yield type(params)(*(own(array, start, stop, shape) for array in params))


def posteriors(log_joint: Array, shapes: Sequence[Shape]) -> Array:
    """Normalise a log-joint (n_components, n) mixture by mixture; it is overwritten."""
    found = fused_softmax(log_joint, shapes)
    if found is not None:
        return found
    xp = namespace(log_joint)
    owner = asarray_like(owners(shapes), log_joint, dtype=xp.int64)
    log_joint -= take_along(_of_each(lambda X: xp.max(X, axis=1), log_joint, shapes), owner)
    resp = exponential(log_joint)
    resp /= take_along(_of_each(lambda X: xp.sum(X, axis=1), resp, shapes), owner)
    return resp


def winners(scores: Array, shapes: Sequence[Shape]) -> Array:
    """Give each row wholly to the highest score of each mixture, the first of equal ones.

    Parameters
    ----------
    scores : array of shape (n_components, n)

    Returns
    -------
    resp : array of shape (n_components, n), of 0 and 1
    """
    xp = namespace(scores)
    best = _of_each(argmax_of_middle, scores, shapes)
    owner = asarray_like(owners(shapes), scores, dtype=xp.int64)
    place = asarray_like(places(shapes), scores, dtype=best.dtype)
    return xp.astype(take_along(best, owner) == place[:, None], scores.dtype)


def _of_each(reduce: Callable[[Array], Array], X: Array, shapes: Sequence[Shape]) -> Array:
    """Reduce (m, g, n) to (m, n) for each run of mixtures of one size, one below another."""
    xp = namespace(X)
    return xp.concat(
        [
            reduce(xp.reshape(X[start:stop, :], (*shape, X.shape[1])))
            for shape, (start, stop) in zip(shapes, _bounds(shapes), strict=True)
        ]
    )


def _bounds(shapes: Sequence[Shape]) -> Iterator[tuple[int, int]]:
    """Say where the components of each run begin and end."""
    return pairwise(accumulate((m * g for m, g in shapes), initial=0))
