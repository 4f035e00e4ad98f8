"""A map of clusters from an image stack: pixels are drawn, learnt from, and all of them placed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from pckid.cubes.cube import Cube, read_cube
from pckid.cubes.table import CubeTable
from pckid.cubes.windows import windows
from pckid.describe.merging import MergedClusters
from pckid.estimator import PCKID
from pckid.maps.classes import legend_of
from pckid.maps.overview import OverviewMaker, choose_colouring
from pckid.maps.pixels import PixelSample, draw_pixels
from pckid.maps.placing import place_windows
from pckid.maps.sources import open_cube, require_libraries
from pckid.maps.writing import open_map

_WRITTEN = 1024  # pixels along a side of what is written at once
CONTEXT = 3
"""How many pixels wide the neighbourhoods are whose means are further columns."""
SMOOTH = 5
"""How many pixels wide those are over which memberships are averaged.

Chosen on two scenes: 3 leaves three quarters of the changes of label between neighbours, 7 costs
accuracy.
"""


@dataclass(frozen=True, eq=False)
class ClusterMap:
    """A map of clusters, and the model that made it.

    Parameters
    ----------
    cluster : DataArray of shape (height, width), int16
        The cluster of each pixel, −1 where nothing is observed.
    confidence : DataArray of shape (height, width), float32
        How surely it belongs there, as `PCKID.confidence_`; 0 where nothing is observed.
    model : PCKID or MergedClusters
        Fitted to pixels drawn from all over the scene.
    pixels : PixelSample or None
        The table of these pixels, for `pckid.report(found.model, found.pixels, "report.html")`,
        which shows the map, too. None for a map of another scene.
    """

    cluster: Any
    confidence: Any
    model: PCKID | MergedClusters
    pixels: PixelSample | None = None

    @property
    def dataset(self) -> Any:
        """Both as a Dataset."""
        import xarray as xr

        return xr.Dataset({"cluster": self.cluster, "confidence": self.confidence})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the clusters as GeoTIFF: numbers, colours and names; 255 where nothing is observed.

        Parameters
        ----------
        path : str or path-like
            It ends in .tif. The names stand in a file beside it, which ends in .tif.aux.xml; GDAL
            and QGIS read both.
        """
        cube, legend = read_cube(self.cluster), legend_of(self.model)
        with open_map(path, cube, legend) as file:
            for window in windows(cube.shape, _WRITTEN):
                file.write(window, self.cluster.values[window])


def cluster(
    scene: Any,
    n_clusters: int | str = "auto",
    *,
    context: int = CONTEXT,
    smooth: int = SMOOTH,
    missing: Sequence[float] = (),
    random_state: Any = None,
    **parameters: Any,
) -> ClusterMap:
    """Cluster the pixels of an image stack into a map.

    Parameters
    ----------
    scene : DataArray, Dataset, str or path-like
        An xarray object over space, or the path of a GeoTIFF, VRT, NetCDF or Zarr file, or of a
        folder with a GeoTIFF for each date. It is read window by window.
    n_clusters : int or "auto", default="auto"
        The number of clusters. For a map of land cover ask for more than there are classes, and
        join them by `PCKID.merge`.
    context : int, default=3
        Means of the observed values of so many × so many pixels are further columns, with groups of
        their own; 1 for none.
    smooth : int, default=5
        Memberships are averaged over so many × so many pixels; 1 for none.
    missing : sequence of float, default=()
        Numbers that stand for nothing observed, beside those that the scene names.
    random_state : int, RandomState instance or None, default=None
        An int gives the same map at every call.
    **parameters
        Further parameters of `PCKID`.

    Returns
    -------
    map : ClusterMap
        With `cluster`, `confidence` and `model`.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> values = np.random.default_rng(0).normal(size=(3, 20, 30)) + 5 * (np.arange(30) > 12)
    >>> values[0, :9] = np.nan
    >>> scene = xr.DataArray(values, dims=("band", "y", "x"))
    >>> from pckid import maps
    >>> found = maps.cluster(scene, 2, n_inits=4, max_components=4, random_state=0)
    >>> found.cluster.values[0, [3, 25]].tolist(), found.cluster.dims
    ([1, 0], ('y', 'x'))
    """
    check_sizes(context=context, smooth=smooth)
    model = PCKID(n_clusters, random_state=random_state, **parameters)
    cube = as_cube(scene, missing).with_context(context)
    sample = fit_pixels(model, cube)
    return make_map(model, cube, smooth, sample=sample)


def predict(
    model: PCKID | MergedClusters,
    scene: Any,
    *,
    smooth: int = SMOOTH,
    missing: Sequence[float] = (),
) -> ClusterMap:
    """Put the pixels of another scene into the clusters of a model.

    Parameters
    ----------
    model : PCKID or MergedClusters
        Fitted to the same layers, by `cluster` or otherwise; or classes of its clusters, from
        `PCKID.merge`.
    scene : DataArray, Dataset, str or path-like
        As for `cluster`.
    smooth : int, default=5
        Memberships are averaged over so many × so many pixels; 1 for none.
    missing : sequence of float, default=()
        Numbers that stand for nothing observed, beside those that the scene names.

    Returns
    -------
    map : ClusterMap
        With `cluster`, `confidence` and `model`.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> values = np.random.default_rng(0).normal(size=(3, 20, 30)) + 5 * (np.arange(30) > 12)
    >>> scene = xr.DataArray(values, dims=("band", "y", "x"))
    >>> from pckid import maps
    >>> first = maps.cluster(scene, 2, n_inits=4, max_components=4, random_state=0)
    >>> maps.predict(first.model, scene[:, :5]).cluster.shape
    (5, 30)
    """
    check_sizes(smooth=smooth)
    return make_map(model, cube_for(model, scene, missing), smooth)


def as_cube(scene: Any, missing: Sequence[float] = ()) -> Cube:
    """Open a scene from a path, or take an xarray object."""
    if isinstance(scene, str | os.PathLike):
        return open_cube(scene, missing)
    require_libraries()
    return read_cube(scene, missing)


def cube_for(model: PCKID | MergedClusters, scene: Any, missing: Sequence[float] = ()) -> Cube:
    """Open a scene for a model, whose layers it must have."""
    model = model.model if isinstance(model, MergedClusters) else model
    names = getattr(model, "feature_names_in_", None)
    return as_cube(scene, missing).like(None if names is None else list(map(str, names)))


def fit_pixels(model: PCKID, cube: Cube, side: int | None = None) -> PixelSample:
    """Fit a model to pixels drawn from a cube, and return these."""
    sample = draw_pixels(cube, model.random_state, side)
    model.fit(sample, positions=sample.positions)
    return sample


def make_map(
    model: PCKID | MergedClusters,
    cube: Cube,
    smooth: int,
    side: int | None = None,
    sample: PixelSample | None = None,
) -> ClusterMap:
    """Find the clusters of all pixels; those of the fit get an overview of the map."""
    labels = np.full(cube.shape, -1, dtype=np.int16)
    confidence = np.zeros(cube.shape, dtype=np.float32)
    overview = None
    if sample is not None:
        colouring = choose_colouring(cube.own_layers, sample.frame.to_numpy())
        overview = OverviewMaker(cube, legend_of(model), colouring)
    empty = sample.empty if sample is not None else ()
    for placed in place_windows(model, cube, smooth, side, empty):
        labels[placed.window], confidence[placed.window] = placed.labels, placed.confidence
        if overview is not None:
            overview.add(placed)
    if sample is not None and overview is not None:
        sample = replace(sample, scene=overview.finish())
    table = CubeTable(None, {}, cube)
    maps = table.restore(labels.ravel()), table.restore(confidence.ravel())
    return ClusterMap(*maps, model, sample)


def check_sizes(**sizes: Any) -> None:
    """Raise if the size of a neighbourhood is no odd number of pixels."""
    for name, size in sizes.items():
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1 or size % 2 == 0:
            raise ValueError(f"{name} is {size!r}. Give an odd number of pixels, or 1 for none.")
