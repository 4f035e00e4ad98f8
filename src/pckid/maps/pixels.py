"""Pixels that a fit learns from: drawn at random from all over a scene, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from pckid.cubes.cube import Cube
from pckid.cubes.layers import Layer
from pckid.cubes.windows import bounds, window_side, windows
from pckid.exceptions import TableError
from pckid.input.sample import keys, pool_size, smallest

if TYPE_CHECKING:
    from pckid.maps.overview import Overview


@dataclass(frozen=True, eq=False)
class PixelSample:
    """Pixels of a scene as a table; `PCKID.fit` and `report` take it."""

    frame: Any  # pandas.DataFrame, a column for each layer
    column_groups: dict[str, list[str]]
    layers: list[Layer]  # without means of neighbours
    positions: np.ndarray  # (n_pixels, 2), row and column of each, in pixels
    n_seen: int  # pixels of the scene with something observed
    n_observed: np.ndarray  # (n_layers,), in how many pixels of the scene each layer is
    empty: frozenset[tuple[int, int, int, int]] = frozenset()  # windows with nothing observed
    scene: Overview | None = None  # the map that a report shows

    @property
    def cases(self) -> list[str]:
        """How readers call the pixels: by row and column, counted from 0."""
        return [f"row {y}, column {x}" for y, x in self.positions.astype(np.int64).tolist()]

    @property
    def is_whole(self) -> bool:
        """Whether these are all pixels with something observed."""
        return len(self.positions) == self.n_seen


def draw_pixels(cube: Cube, random_state: Any = None, side: int | None = None) -> PixelSample:
    """Draw the pixels to learn from: those of a table in memory with the same seed.

    Each has a random key that depends on its place alone, and those of the smallest keys are drawn
    among the ones with something observed: so they do not depend on the windows.
    """
    import pandas as pd

    n_layers, width = len(cube.layers), cube.shape[1]
    size = pool_size(n_layers, 0)
    seed = random_state if isinstance(random_state, Integral) else None
    entropy = int(check_random_state(seed).randint(2**31))
    rows, mine = np.empty((0, n_layers), np.float32), np.empty(0)
    places = np.empty(0, dtype=np.int64)
    n_seen, n_observed = 0, np.zeros(n_layers, dtype=np.int64)
    empty: set[tuple[int, int, int, int]] = set()
    for window in windows(cube.shape, side or window_side(len(cube.layers))):
        values = cube.read(*window).reshape(n_layers, -1)
        seen = ~np.isnan(values)
        filled = np.flatnonzero(seen.any(axis=0))
        if not len(filled):
            empty.add(bounds(window))
            continue
        n_observed += np.count_nonzero(seen, axis=1)
        n_seen += len(filled)
        y, x = np.mgrid[window]
        at = (y * width + x).ravel()
        drawn = np.concatenate(
            [keys(entropy, start, start + x.shape[1]) for start in (y * width + x)[:, 0].tolist()]
        )[filled]
        if len(mine) == size:  # what cannot be among the smallest need not be kept
            near = drawn < mine.max()
            filled, drawn = filled[near], drawn[near]
        rows = np.concatenate([rows, values[:, filled].T])
        mine, places = np.concatenate([mine, drawn]), np.concatenate([places, at[filled]])
        kept = smallest(mine, size)
        rows, mine, places = rows[kept], mine[kept], places[kept]
    if not n_seen:
        raise TableError("No pixel has an observed value: all of the scene is missing.")
    order = np.argsort(places)
    positions = np.stack(np.divmod(places[order], width), axis=1).astype(np.float64)
    frame = pd.DataFrame(rows[order], columns=cube.names, copy=False)
    return PixelSample(
        frame, cube.groups, cube.own_layers, positions, n_seen, n_observed, frozenset(empty)
    )
