"""Image stacks in files: GeoTIFF and what else GDAL reads, folders of dates, NetCDF and Zarr.

Files are opened by rioxarray and xarray, which read a window when it is asked for. Nothing here
reads a whole layer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.parallel import foreign_warnings_ignored
from pckid._utils.text import counted, list_first
from pckid.cubes.cells import find_decoding
from pckid.cubes.cube import Cube, LayerStack, join_stacks, read_cube
from pckid.cubes.dates import find_date, split_date
from pckid.cubes.layers import Layer, name_layers
from pckid.exceptions import TableError

# First bytes of files; a VRT is a text.
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_JPEG_2000 = (b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51")
_HDF5, _NETCDF3 = b"\x89HDF\r\n\x1a\n", (b"CDF\x01", b"CDF\x02", b"CDF\x05")
_GDAL_ENDINGS = (".tif", ".tiff", ".vrt", ".jp2")
_ZARR_FILES = ("zarr.json", ".zgroup", ".zmetadata", ".zattrs")
# Formats of images that are not read here, and what they are called.
_OTHERS = {
    ".hdf": "HDF4", ".he5": "HDF-EOS", ".grib": "GRIB", ".grb": "GRIB", ".grib2": "GRIB",
    ".safe": "a SAFE archive", ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG",
    ".asc": "an ASCII grid", ".img": "an ERDAS or ENVI image", ".bil": "an ENVI image",
    ".ecw": "ECW", ".sid": "MrSID",
}  # fmt: skip
# A date in the tags of a file, in names such as DATE_ACQUIRED or TIFFTAG_DATETIME.
_DATE_TAG = re.compile(r"date|sensing|acquisition|start_?time", re.IGNORECASE)
_CACHE = 64  # megabytes of blocks that GDAL keeps; by itself it takes a twentieth of the memory
_EXTRA = "python -m pip install 'pckid[maps]'"


def find_kind(path: str | os.PathLike[str]) -> str | None:
    """Find what kind of image stack is at a path, None if it is none.

    "gdal", "netcdf" or "zarr", a "folder" of files of GDAL, or "other", which is no table and is
    not read here.
    """
    path = Path(path)
    if path.is_dir():
        if any((path / name).exists() for name in _ZARR_FILES):
            return "zarr"
        return "folder" if _list_images(path) else None
    ending = path.suffix.lower()
    try:
        with open(path, "rb") as file:
            start = file.read(512)
    except OSError:
        is_named = ending in (*_GDAL_ENDINGS, ".nc", ".zarr", *_OTHERS)
        return "other" if is_named and not path.exists() else None
    return find_kind_of(start, ending)


def find_kind_of(start: bytes, ending: str) -> str | None:
    """Find what kind of image stack begins with some bytes, in a file whose name ends so.

    NetCDF and AnnData begin alike, and the name tells them apart.
    """
    if ending.lower() == ".h5ad":
        return None
    if start.startswith((*_TIFF, *_JPEG_2000)) or b"<VRTDataset" in start:
        return "gdal"
    if start.startswith((_HDF5, *_NETCDF3)):
        return "netcdf"
    return "other" if ending.lower() in _OTHERS else None


def open_cube(path: str | os.PathLike[str], missing: Sequence[float] = ()) -> Cube:
    """Open an image stack; its layers are read window by window, when they are asked for.

    `missing` are numbers that stand for nothing observed, beside those that the file names.
    """
    path = Path(path)
    kind = find_kind(path)
    if kind in (None, "other"):
        raise TableError(_explain_kind(path))
    require_libraries()
    openers: dict[str, Callable[..., Cube]] = {
        "gdal": _open_file, "folder": _open_folder, "netcdf": _open_variables,
        "zarr": _open_variables,
    }  # fmt: skip
    try:
        return openers[str(kind)](path, missing)
    except TableError:
        raise
    except ImportError as error:
        raise ImportError(f"Reading {path.name} needs {error.name or 'more'}: {_EXTRA}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise TableError(f"{path} cannot be read: {_first_line(error)}") from None


def require_libraries() -> None:
    """Raise if a library for maps is missing, with how to install it."""
    for name in ("xarray", "rasterio", "rioxarray"):
        if find_spec(name) is None:
            raise ImportError(f"Maps need {name}: {_EXTRA}", name=name)


def bound_cache(cube: Cube, side: int) -> None:
    """Bound the memory in which GDAL keeps blocks of files, unless GDAL_CACHEMAX says how much.

    GDAL reads that once in a process, when it first reads a block. Where blocks are whole rows of a
    scene, those of a row of windows of `side` × `side` pixels must be kept, or each is decoded once
    for each window.
    """
    height, width = cube.shape
    rows = min(side + 2 * cube.context, height)
    needed = 0
    for stack in cube.stacks:
        block = stack.data.encoding.get("preferred_chunks", {}).get(stack.data.dims[-1], 0)
        stored = np.dtype(stack.data.encoding.get("rasterio_dtype", stack.data.dtype))
        needed += (block >= width) * rows * width * len(stack.layers) * stored.itemsize
    os.environ.setdefault("GDAL_CACHEMAX", str(max(_CACHE, -(-needed // 1_000_000))))


class _Image(NamedTuple):
    """A file of a folder: its bands, and what its name says."""

    path: Path
    data: Any  # DataArray (band, y, x)
    words: str  # the name without a date
    date: str | None


def _open_file(path: Path, missing: Sequence[float]) -> Cube:
    """Open a file of GDAL: one stack, whose bands are layers."""
    return read_cube(_open_image(path), missing)


def _open_image(path: Path) -> Any:
    """Open a file of GDAL as a DataArray (band, y, x), with scales and masks applied."""
    import rasterio
    import rioxarray

    with foreign_warnings_ignored():  # that there is no georeference is said elsewhere
        with rasterio.open(path) as file:
            if not file.count:
                subsets = [name.rpartition(":")[2] for name in file.subdatasets]
                raise TableError(
                    f"{path} holds {counted(len(subsets), 'data set')} and no image of its own: "
                    f"{list_first(subsets)}. Convert the ones that you need to GeoTIFF."
                )
            # Coordinates of each pixel of a rotated grid would take more than its values.
            aligned = file.transform.b == file.transform.d == 0
        found = rioxarray.open_rasterio(
            path, mask_and_scale=True, cache=False, parse_coordinates=aligned
        )
    if isinstance(found, list) or hasattr(found, "data_vars"):
        raise TableError(f"{path} holds several images. Convert the ones that you need to GeoTIFF.")
    return found


def _open_folder(path: Path, missing: Sequence[float]) -> Cube:
    """Open a folder of files of GDAL over one grid, one for each date or band."""
    images = []
    for file in _list_images(path):
        data = _open_image(file)
        words, date = split_date(file.stem)
        images.append(_Image(file, data, words, date or _find_tagged_date(data)))
    for image in images[1:]:
        _refuse_other_grid(images[0], image)
    images.sort(key=lambda image: (image.date or "", image.path.name))
    # Names of files beside their dates are needed where dates do not tell all files apart, and
    # serve as names of single bands without one.
    dates = {image.date for image in images} - {None}
    needed, common = len(dates) < len(images), len({image.words for image in images}) == 1
    stacks = [_name_image(image, missing, needed, common) for image in images]
    return join_stacks(stacks, {}, is_dataset=True)


def _name_image(image: _Image, missing: Sequence[float], needed: bool, common: bool) -> LayerStack:
    """Name the layers of a file of a folder by its name, its bands and its date."""
    bands = [layer.name for layer in name_layers(image.data, ("band",), None)]
    named = "long_name" in image.data.attrs
    layers = []
    for band in bands:
        stem, own = split_date(band) if named else (band, None)
        has_name = named or len(bands) > 1
        words = [image.words] * ((needed and not common) or (common and not has_name))
        words += [stem] * (has_name and stem not in words)
        date, series = own or image.date, " ".join(filter(None, words))
        layers.append(Layer(" ".join(filter(None, (series, date))), series or "value", date))
    return LayerStack(
        image.data, tuple(layers), find_decoding(image.data, image.path.name, missing)
    )


def _open_variables(path: Path, missing: Sequence[float]) -> Cube:
    """Open NetCDF or Zarr: the variables over space that have numbers."""
    import xarray as xr

    with foreign_warnings_ignored():  # of metadata that is not consolidated
        engine = "zarr" if path.is_dir() else None
        data = xr.open_dataset(
            path,
            engine=engine,
            chunks=None,
            cache=False,
            decode_coords="all",
            decode_timedelta=False,
        )
    kept = [
        name for name, each in data.data_vars.items() if each.ndim and each.dtype.kind in "biufc"
    ]
    return read_cube(data[kept], missing)


def _find_tagged_date(data: Any) -> str | None:
    """Find the date of an image in its tags; None unless they agree on one."""
    texts = [value for key, value in data.attrs.items() if _DATE_TAG.search(str(key))]
    dates = {find_date(str(text).replace(":", "-")) for text in texts} - {None}
    return dates.pop() if len(dates) == 1 else None


def _refuse_other_grid(first: _Image, image: _Image) -> None:
    """Raise if two files of a folder do not have the same pixels, and name both."""
    a, b = (_describe_grid(each.data) for each in (first, image))
    for what in a:
        same = a[what] == b[what]
        if what == "the transform":
            size = max(abs(number) for number in a[what][:6])
            pairs = zip(a[what], b[what], strict=True)
            same = all(abs(x - y) <= 1e-9 * max(size, 1.0) for x, y in pairs)
        if not same:
            raise TableError(
                f"{first.path.name} and {image.path.name} lie on two grids: {what} is "
                f"{_write_grid(a[what])} in the one and {_write_grid(b[what])} in the other. Warp "
                "one onto the other, as with gdalwarp."
            )


def _describe_grid(data: Any) -> dict[str, Any]:
    crs = data.rio.crs
    return {
        "the size in pixels": data.shape[-2:],
        "the CRS": None if crs is None else crs.to_string(),
        "the transform": tuple(data.rio.transform(recalc=False)),
    }


def _write_grid(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    if len(value) == 2:
        return f"{value[0]} × {value[1]}"
    return f"({', '.join(f'{number:.10g}' for number in value[:6])})"


def _list_images(folder: Path) -> list[Path]:
    """List the files of GDAL in a folder, by their names."""
    return sorted(
        path for path in folder.iterdir()
        if path.suffix.lower() in _GDAL_ENDINGS and not path.name.startswith(".")
    )  # fmt: skip


def _explain_kind(path: Path) -> str:
    """Explain why a path is no image stack."""
    if not path.exists():
        return f"There is no file {str(path)!r}. Check the path."
    read = "GeoTIFF, VRT, JPEG 2000, NetCDF, Zarr and folders of such images are read"
    if path.is_dir():
        return f"The folder {path} holds no image: {read}."
    what = _OTHERS.get(path.suffix.lower(), "no image stack that is known here")
    return (
        f"{path} is {what}: {read}. Convert it, as by: gdal_translate {path.name} {path.stem}.tif"
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".") + "."
