"""Memory and processor time of a map, by the command line, for scenes of several sizes.

    python -m benchmarks.maps --pixels 1000000 10000000 --set n_inits=2 --set max_components=6

Each scene is a GeoTIFF of int16: 18 layers (3 dates × 6 bands), fields of five kinds, clouds over a
third of each date. The command has a process of its own, which makes a map of 16 clusters with
means of 3 × 3 pixels, smoothed; no verdict. `--set` gives it parameters of PCKID: memory does not
grow with the starts, time does. Fails, with exit code 1, if the first scene takes more than 800 MB,
or a larger one over a tenth more than the first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import write_json

_DATES, _BANDS, _KINDS = 3, 6, 5
_MISSING = -9999
_ROWS = 256  # of pixels that are drawn at once
_FIELD = 40  # pixels along the side of a field
_CLOUD = 300
_MAX_MEGABYTES, _MAX_GROWTH = 800, 1.1


def write_scene(path: Path, n_pixels: int, *, tiled: bool = True) -> None:
    """Write a scene of about so many pixels."""
    import rasterio
    from rasterio.transform import from_origin

    rng = np.random.default_rng(0)
    side = round(n_pixels**0.5)
    fields = rng.integers(_KINDS, size=(-(-side // _FIELD),) * 2)
    clouds = rng.random((_DATES, *(-(-side // _CLOUD),) * 2)) < 1 / 3
    levels = rng.normal(2000, 600, (_KINDS, _DATES * _BANDS))
    how = {"tiled": True, "blockxsize": 256, "blockysize": 256} if tiled else {}
    columns = np.arange(side)
    with rasterio.open(
        path, "w", driver="GTiff", width=side, height=side, count=_DATES * _BANDS, dtype="int16",
        nodata=_MISSING, crs="EPSG:32633", transform=from_origin(4e5, 5e6, 10, 10), **how,
    ) as file:  # fmt: skip
        for top in range(0, side, _ROWS):
            rows = np.arange(top, min(top + _ROWS, side))
            kinds = fields[rows // _FIELD][:, columns // _FIELD]
            hidden = clouds[:, rows // _CLOUD][:, :, columns // _CLOUD]
            for layer in range(_DATES * _BANDS):
                values = levels[kinds, layer] + rng.normal(0, 300, kinds.shape)
                values[hidden[layer // _BANDS]] = _MISSING
                file.write(
                    values.astype(np.int16), layer + 1, window=((top, rows[-1] + 1), (0, side))
                )
        for layer in range(_DATES * _BANDS):
            date, band = divmod(layer, _BANDS)
            file.set_band_description(layer + 1, f"B{band + 2:02} 2020-0{4 + date}-01")


def measure(path: Path, parameters: list[str]) -> dict[str, float]:
    """Make a map of a scene; return the megabytes and the processor time of the whole process."""
    settings = [word for text in parameters for word in ("--set", text)]
    out = path.with_name("map.tif")
    command = ["cluster", str(path), "-k", "16", "--no-assess", "--quiet", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "pckid", *command, *settings])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"pckid cluster failed with exit code {process.returncode}.")
    return {"megabytes": used.ru_maxrss / 1024, "seconds": used.ru_utime + used.ru_stime}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pixels", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--striped", action="store_true", help="rows of pixels instead of tiles")
    parser.add_argument("--folder", type=Path, help="where the scenes are written for the time")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    found: list[dict[str, Any]] = []
    for n_pixels in options.pixels:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder) / "scene.tif"
            write_scene(path, n_pixels, tiled=not options.striped)
            figures = measure(path, options.set)
        found.append({"pixels": n_pixels, "layers": _DATES * _BANDS, **figures})
        print(
            f"{n_pixels:,} pixels: {figures['megabytes']:.0f} MB, "
            f"{figures['seconds']:.0f} s of processor time",
            flush=True,
        )
    write_json(options.json, found)
    first, *others = [each["megabytes"] for each in found]
    if first > _MAX_MEGABYTES or max(others, default=0) > _MAX_GROWTH * first:
        sys.exit(f"Over {_MAX_MEGABYTES} MB, or over a tenth more than the first scene.")


if __name__ == "__main__":
    main()
