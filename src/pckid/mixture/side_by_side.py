"""Mixtures of several sizes side by side, as if their components were those of one mixture.

A GPU waits for the host, which launches operation after operation: so one product serves them all,
and only what is done to each mixture by itself knows where one ends and the next begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, take_along

Shape = tuple[int, int]  # how many mixtures, of how many components


class SideBySide:
    """Where the components of mixtures lie that come in stacks of some shapes.

    `owner` (n_components,) says which mixture each component is of; `slot` (n_components,) where it
    lies in an array in which all mixtures have as many components as the largest.
    """

    def __init__(self, shapes: Sequence[Shape], home: Array) -> None:
        sizes = np.repeat([g for _, g in shapes], [m for m, _ in shapes])
        self._shape = (len(sizes), int(sizes.max()))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        place = np.concatenate([np.tile(np.arange(g), m) for m, g in shapes])
        slot = owner * self._shape[1] + place
        xp = namespace(home)
        self.owner = asarray_like(owner, home)
        self.slot = asarray_like(slot, home)
        # Places that no component has are filled by what comes after the last one.
        runs = asarray_like(np.stack([np.cumsum(sizes) - sizes, sizes]), home)
        index = xp.arange(self._shape[1], dtype=xp.int64, device=device_of(home))
        component = xp.where(index < runs[1, :, None], runs[0, :, None] + index, len(owner))
        self._component = xp.reshape(component, (-1,))

    def apply(self, function: Callable[[Array], Array], X: Array) -> Array:
        """Apply a function to what the components X (n_components, n) have, mixture by mixture.

        It takes the mixtures set apart (n_mixtures, most, n), smaller ones filled up with −∞.
        """
        xp = namespace(X)
        nothing = xp.full((1, X.shape[1]), -xp.inf, dtype=X.dtype, device=device_of(X))
        separate = take_along(xp.concat([X, nothing]), self._component)
        found = function(xp.reshape(separate, (*self._shape, X.shape[1])))
        return take_along(xp.reshape(found, (-1, X.shape[1])), self.slot)


def concatenate(stacks: Sequence[Any]) -> Any:
    """Concatenate the components of stacks, as parameters of one mixture (1, …)."""
    xp = namespace(stacks[0].means)

    def flat(array: Array) -> Array:
        return xp.reshape(array, (1, array.shape[0] * array.shape[1], *array.shape[2:]))

    return type(stacks[0])(
        *(
            xp.concat([flat(array) for array in arrays], axis=1)
            for arrays in zip(*stacks, strict=True)
        )
    )


def split(params: Any, shapes: Sequence[Shape]) -> Iterator[Any]:
    """Split concatenated parameters (1, …) into stacks again, each with memory of its own."""
    xp = namespace(params.means)

    def own(array: Array, start: int, stop: int, shape: Shape) -> Array:
        part = xp.reshape(array[0, start:stop, ...], (*shape, *array.shape[2:]))
        return part if array.shape[-1] == 0 else xp.concat([part])

    bounds = pairwise(accumulate((m * g for m, g in shapes), initial=0))
    for shape, (start, stop) in zip(shapes, bounds, strict=True):
        yield type(params)(*(own(array, start, stop, shape) for array in params))
