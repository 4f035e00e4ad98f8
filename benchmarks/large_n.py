"""From 10,000 to a million rows of 20 features, 30 % missing, defaults.

Does the memory stay bounded, and does the time grow no faster than the rows? With `--rows` also a
table from a file, such as the million satellite pixels.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.point import run
from benchmarks.timing import PeakMemory, best_of, exponent, write_json
from pckid import PCKID


def from_file(path: Path) -> dict[str, Any]:
    """Cluster the rows of an npz file, −9999 where a value is missing, into five clusters."""
    with np.load(path) as file:
        X = file[file.files[0]].astype(np.float32)
    X[X == -9999] = np.nan
    model = PCKID(5, random_state=0)
    with PeakMemory() as memory:
        seconds = best_of(lambda: model.fit(X), 1)
    print(f"{path.name}: {X.shape[0]} × {X.shape[1]}, fit {seconds:.0f} s", flush=True)
    figures = {"seconds": seconds, "megabytes": memory.above_start / 2**20}
    return {"file": path.stem, "rows": X.shape[0], "columns": X.shape[1], **figures}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rows", type=Path, help="npz file with rows, −9999 for missing")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    sizes, ensemble = options.sizes, {"inits": 10, "components": "auto"}
    if options.quick:
        sizes, ensemble = [100, 200], {"inits": 2, "components": 2}
    found: dict[str, Any] = {"sizes": []}
    for n in sizes:
        spec = run(n=n, apart=not options.quick, **ensemble)
        point = {"x": n, "seconds": spec["seconds"], "megabytes": spec["megabytes"]}
        found["sizes"].append(point)
        print(
            f"{n} rows: fit {point['seconds']:.1f} s, {point['megabytes']:.0f} MB above the input"
        )
        write_json(options.json, found)
    if len(sizes) > 1:
        found["exponent"] = exponent(found["sizes"][0], found["sizes"][-1])
        print(f"time grows as rows^{found['exponent']:.2f}")
    if options.rows:
        found["file"] = from_file(options.rows)
    write_json(options.json, found)


if __name__ == "__main__":
    main()
