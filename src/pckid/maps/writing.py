"""Maps as GeoTIFF: written window by window, whole or absent, with colours and names."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from pckid._utils.files import atomic_file, check_target
from pckid._utils.parallel import foreign_warnings_ignored
from pckid.cubes.cube import Cube
from pckid.cubes.windows import Window
from pckid.exceptions import OptionError
from pckid.maps.classes import Legend
from pckid.maps.colours import rgb
from pckid.maps.sources import require_libraries

NODATA = 255
_NODATA_WIDE = 65535
_TILE = 256


class MapFile:
    """A GeoTIFF that takes windows of a map, as `open_map` gives it."""

    def __init__(self, file: Any, nodata: float) -> None:
        self._file, self._nodata = file, nodata

    def write(self, window: Window, values: np.ndarray) -> None:
        """Write a window (height, width); −1 is no cluster, and NaN no number."""
        filled = np.where(values < 0, self._nodata, values)
        rows, columns = ((each.start, each.stop) for each in window)
        self._file.write(filled.astype(self._file.dtypes[0]), 1, window=(rows, columns))


def check_map_path(path: str | os.PathLike[str]) -> None:
    """Raise if a path does not end as the files do that are written."""
    if not os.fspath(path).lower().endswith((".tif", ".tiff")):
        raise OptionError(
            f"A map is written as GeoTIFF, and {os.fspath(path)!r} does not end in .tif.", "out"
        )


@contextmanager
def open_map(
    path: str | os.PathLike[str],
    cube: Cube,
    legend: Legend | None = None,
) -> Iterator[MapFile]:
    """Open a GeoTIFF on the grid of a cube; it takes its name when everything is written.

    With a `legend` it holds numbers of clusters, their colours and names; without, floats.
    """
    require_libraries()
    import rasterio
    import rioxarray  # noqa: F401  for `.rio`

    check_map_path(path)
    check_target(path)
    is_wide = legend is not None and len(legend.names) >= NODATA
    nodata = np.nan if legend is None else _NODATA_WIDE if is_wide else NODATA
    dtype = "float32" if legend is None else "uint16" if is_wide else "uint8"
    height, width = cube.shape
    tiled = {"tiled": True, "blockxsize": _TILE, "blockysize": _TILE}
    profile = {
        "driver": "GTiff", "height": height, "width": width, "count": 1, "dtype": dtype,
        "nodata": nodata, "crs": cube.space.rio.crs,
        "transform": cube.space.rio.transform(recalc=False),
        "compress": "deflate", "BIGTIFF": "IF_SAFER", "num_threads": "all_cpus",
        **(tiled if min(height, width) >= _TILE else {}),
    }  # fmt: skip
    target = Path(path)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    with ExitStack() as stack:
        stack.callback(temporary.unlink, missing_ok=True)
        with foreign_warnings_ignored(rasterio.errors.NotGeoreferencedWarning):
            opened = rasterio.open(temporary, "w", **profile)
        with opened as file:
            yield MapFile(file, nodata)
            if legend is not None:
                _describe(file, legend, nodata)
        os.replace(temporary, target)
        if legend is not None:
            _write_names(target, legend.names)


def _describe(file: Any, legend: Legend, nodata: float) -> None:
    """Put colours into a file, and names into its tags."""
    table = {number: (*rgb(colour), 255) for number, colour in enumerate(legend.colours)}
    file.write_colormap(1, table | {int(nodata): (0, 0, 0, 0)})
    file.set_band_description(1, "cluster")
    file.update_tags(1, **{f"CLUSTER_{number}": name for number, name in enumerate(legend.names)})


def _write_names(path: Path, names: Sequence[str]) -> None:
    """Write the names where GDAL, and so QGIS, looks for those of a GeoTIFF: a file beside it."""
    listed = "".join(f"<Category>{escape(name)}</Category>" for name in names)
    with atomic_file(f"{path}.aux.xml") as file:
        file.write(
            '<PAMDataset><PAMRasterBand band="1">'
            f"<CategoryNames>{listed}</CategoryNames></PAMRasterBand></PAMDataset>\n".encode()
        )
