"""Write a scene as raw files, one GeoTIFF for each date and one of the terrain.

    python docs/raw_scene.py FOLDER --table DATA/lc_slovenia_ndvi_genuine.csv.gz

The table holds the pixels of a patch in Slovenia, with the columns row, col, NDVI_DATE, elevation
and slope (eo-learn, MIT). Without it, a scene of the same layout is made: fields, woods and bare
ground whose seasons differ, under clouds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

SHAPE = (101, 100)
DATES = (
    "20160206", "20160317", "20160516", "20160605", "20160615", "20160625", "20160824", "20160913",
    "20170220", "20170312", "20170411", "20170501", "20170715", "20170725", "20170730", "20170923",
    "20170928", "20171222",
)  # fmt: skip
TERRAIN = ("elevation", "slope")
# The patch lies about here, in EPSG:32633; its pixels are 10 m wide.
_CORNER, _PIXEL = (465_180, 5_080_250), 10
# The mean of the NDVI over the year, how much more it is in summer, and its spread.
_KINDS = {"wood": (0.6, 0.2, 0.03), "meadow": (0.5, 0.1, 0.04), "field": (0.4, 0.3, 0.06),
          "bare ground": (0.15, 0.05, 0.04)}  # fmt: skip


def write_scene(folder: str | Path, table: str | Path | None = None) -> None:
    """Write the scene of a table, or one that is made; NaN where nothing was observed."""
    import rasterio
    from rasterio.transform import from_origin

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ndvi, terrain = make_scene() if table is None else read_scene(table)
    files = {f"NDVI_{date}": (values[None], ["NDVI"]) for date, values in ndvi.items()}
    files["terrain"] = (terrain, list(TERRAIN))
    grid = {"crs": "EPSG:32633", "transform": from_origin(*_CORNER, _PIXEL, _PIXEL)}
    for name, (layers, bands) in files.items():
        count, height, width = layers.shape
        size = {"count": count, "height": height, "width": width, "dtype": "float32"}
        path = folder / f"{name}.tif"
        with rasterio.open(path, "w", driver="GTiff", nodata=np.nan, **size, **grid) as file:
            file.write(layers.astype(np.float32))
            file.descriptions = bands


def read_scene(table: str | Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Lay the pixels of a table out: NDVI (height, width) by dates, and the terrain (2, …)."""
    import pandas as pd

    pixels = pd.read_csv(table)
    place = pixels["row"].to_numpy(), pixels["col"].to_numpy()
    shape = tuple(each.max() + 1 for each in place)

    def lay_out(column: str) -> np.ndarray:
        values = np.full(shape, np.nan)
        values[place] = pixels[column]
        return values

    dates = [name.removeprefix("NDVI_") for name in pixels if name.startswith("NDVI_")]
    ndvi = {date: lay_out(f"NDVI_{date}") for date in dates}
    return ndvi, np.array([lay_out(column) for column in TERRAIN])


def make_scene(seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Make a scene: kinds of land in patches, each with its season, and clouds over every date."""
    rng = np.random.default_rng(seed)
    height = 400 + 120 * _draw_field(rng, 30)
    steep = np.hypot(*np.gradient(height)) / _PIXEL
    patches = np.stack([_draw_field(rng, 8) for _ in _KINDS]).argmax(axis=0)
    mean, summer, spread = np.array(list(_KINDS.values())).T[:, patches]
    lasting = spread * _draw_field(rng, 1.5)
    ndvi = {}
    for date in DATES:
        month = int(date[4:6]) + int(date[6:]) / 31
        season = np.cos(2 * np.pi * (month - 7.5) / 12)
        seen = mean + summer * season + lasting + 0.02 * rng.normal(size=SHAPE)
        clouds = _draw_field(rng, 12)
        seen[clouds > np.quantile(clouds, rng.uniform(0.35, 0.95))] = np.nan
        ndvi[date] = seen
    return ndvi, np.array([height, np.degrees(np.arctan(steep))])


def _draw_field(rng: np.random.Generator, smooth: float) -> np.ndarray:
    """Draw a smooth random field of mean 0 and variance 1."""
    from scipy.ndimage import gaussian_filter

    field = gaussian_filter(rng.normal(size=SHAPE), smooth, mode="wrap")
    return (field - field.mean()) / field.std()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args(argv)
    write_scene(options.folder, options.table)


if __name__ == "__main__":
    main()
