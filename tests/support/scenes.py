"""A small scene for the tests of image stacks: three fields, two bands at three dates, clouds."""

from functools import cache
from typing import NamedTuple

import numpy as np
from helpers import SMALL

DATES = ["2016-03-17", "2016-05-01", "2016-07-20"]
BANDS = ["B04", "B08"]
HEIGHT, WIDTH = 24, 30
NAMES = [f"{band} {date}" for date in DATES for band in BANDS]


class Scene(NamedTuple):
    """Numbers of a scene, and what is known of its pixels."""

    values: np.ndarray  # (time, band, y, x), float32, NaN under clouds
    truth: np.ndarray  # (y, x), the field of each pixel

    @property
    def empty(self):
        """The pixels (y, x) with nothing observed."""
        return np.isnan(self.values).all(axis=(0, 1))


def make_scene(seed=0, shape=(HEIGHT, WIDTH)):
    """Draw a scene: three fields side by side, half a date under clouds, a corner never seen."""
    rng = np.random.default_rng(seed)
    height, width = shape
    truth = np.broadcast_to(np.arange(width) * 3 // width, shape)
    level = np.array([[1, 4], [2, 8], [5, 3]])  # (field, band)
    values = level[truth].transpose(2, 0, 1) + rng.normal(0, 0.7, (len(DATES), 2, *shape))
    values = np.round(values * 100).astype(np.float32)
    for date, top in enumerate((0, height // 3, height // 2)):
        values[date, :, top : top + height // 3, width // 4 : -2] = np.nan
    values[:, :, -2:, :3] = np.nan
    return Scene(values, truth)


def make_cube(scene, **attrs):
    """Make a DataArray (time, band, y, x) of a scene."""
    import xarray as xr

    height, width = scene.truth.shape
    coords = {
        "time": np.array(DATES, "M8[ns]"),
        "band": BANDS,
        "y": 5_000_000 - 10.0 * np.arange(height) - 5,
        "x": 400_000 + 10.0 * np.arange(width) + 5,
    }
    return xr.DataArray(scene.values, coords, tuple(coords), attrs=attrs)


@cache
def cluster_scene():
    """Cluster the scene on a grid in metres, once for all tests that only read the map."""
    from pckid import maps

    return maps.cluster(make_cube(make_scene()).rio.write_crs("EPSG:32633"), 3, **SMALL)


def write_image(path, values, names=None, masked=None, **profile):
    """Write layers (n_layers, height, width) as a GeoTIFF."""
    import rasterio
    from rasterio.transform import from_origin

    count, height, width = values.shape
    grid = {"crs": "EPSG:32633", "transform": from_origin(400_000, 5_000_000, 10, 10)}
    sizes = {"count": count, "height": height, "width": width, "dtype": values.dtype}
    with rasterio.open(path, "w", driver="GTiff", **sizes, **{**grid, **profile}) as file:
        file.write(values)
        for number, name in enumerate(names or [], 1):
            file.set_band_description(number, name)
        if masked is not None:
            file.write_mask(~masked)
    return path


def as_integers(values, missing=-9999):
    """Write numbers as int16, with a number for what is missing."""
    return np.where(np.isnan(values), missing, values).astype(np.int16)
