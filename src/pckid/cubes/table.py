"""The pixels of an image stack as the rows of a table, and results in the shape of the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pckid.cubes.cube import Cube, read_cube
from pckid.cubes.neighbours import neighbour_means

# A block of a Dask array holds about so many numbers.
_BLOCK_NUMBERS = 1 << 23


@dataclass(frozen=True, eq=False)
class CubeTable:
    """The pixels of a stack, row by row, with a column for each layer."""

    frame: Any  # pandas.DataFrame, or an array of Dask where it computes the layers
    column_groups: dict[str, list[str]]
    cube: Cube

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.cube.names

    def restore(self, values: Any, dim: str = "cluster") -> Any:
        """Give values of the pixels (n_pixels,) or (n_pixels, n) the shape of the image.

        The result is a DataArray (y, x), or (`dim`, y, x).
        """
        space, shape = self.cube.space, self.cube.shape
        if values.ndim == 1:
            return self._make_map(space.dims, values.reshape(shape))
        return self._make_map((dim, *space.dims), values.T.reshape((-1, *shape)))

    def restore_layers(self, values: np.ndarray) -> Any:
        """Give numbers of all pixels and layers (n_pixels, n_columns) the form of the stack.

        The result is a DataArray or a Dataset, as the stack was; without means of neighbours.
        """
        import xarray as xr

        found, start = {}, 0
        for part in self.cube.stacks:
            stop = start + len(part.layers)
            layers = values[:, start:stop].T.reshape(part.data.shape)
            found[part.data.name] = part.data.copy(data=layers)
            start = stop
        if not self.cube.is_dataset:
            return next(iter(found.values()))
        return xr.Dataset(found, attrs=self.cube.attrs)

    def _make_map(self, dims: tuple[Any, ...], values: Any) -> Any:
        import xarray as xr

        space = self.cube.space
        found = xr.DataArray(values, dict(space.coords), dims, attrs=self.cube.attrs)
        if "grid_mapping" in space.encoding:
            found.encoding["grid_mapping"] = space.encoding["grid_mapping"]
        return found

    def positions(self) -> np.ndarray:
        """Return where the pixels are (n_pixels, 2), in pixels: row and column."""
        return np.argwhere(np.ones(self.cube.shape, bool)).astype(np.float64)


def make_table(X: Any, names: Sequence[str] | None = None) -> CubeTable:
    """Make the table of a DataArray or Dataset, with the columns `names` of a model if given."""
    cube = read_cube(X).like(None if names is None else list(map(str, names)))
    frame = _make_array(cube) if cube.is_lazy else _make_frame(cube)
    return CubeTable(frame, cube.groups, cube)


def _make_frame(cube: Cube) -> Any:
    """Read all pixels into a frame of pandas, which xarray brings along."""
    import pandas as pd

    values = cube.read()
    return pd.DataFrame(values.reshape(len(values), -1).T, columns=cube.names)


def _make_array(cube: Cube) -> Any:
    """Lay a cube out as an array of Dask (n_pixels, n_layers); nothing is computed yet."""
    import dask.array as da

    reach, width = cube.context // 2, cube.shape[1]
    stacks = []
    for part in cube.stacks:
        layers = da.asarray(part.data.data)
        layers = layers.reshape((-1, *layers.shape[-2:]))
        stacks.append(layers.map_blocks(part.decoding.decode, dtype=part.decoding.dtype))
    stack = da.concatenate(stacks).rechunk({0: -1})
    if reach:
        depth = {0: 0, 1: reach, 2: reach}
        around = partial(neighbour_means, size=cube.context)
        means = da.map_overlap(around, stack, depth=depth, boundary=np.nan, dtype=stack.dtype)
        stack = da.concatenate([stack, means])
    n_rows = max(1, _BLOCK_NUMBERS // (width * stack.shape[0]))
    pixels = stack.transpose(1, 2, 0).rechunk({0: n_rows, 1: -1, 2: -1})
    return pixels.reshape((-1, stack.shape[0]))
