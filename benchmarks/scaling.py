"""Time and memory of a fit against n, d, Q·G, the share missing, the patterns and the threads."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.timing import exponent, write_json
from benchmarks.workers import run

# What each axis changes; everything else stays as in `workers.USUAL`.
AXES: dict[str, list[dict[str, Any]]] = {
    "n": [{"n": n} for n in (1000, 2000, 4000, 8000, 16_000, 32_000)],
    "d": [{"d": d} for d in (5, 10, 20, 40, 80, 160)],
    "Q·G": [{"inits": q, "components": q} for q in (5, 10, 15, 20, 30)],
    "share missing": [{"share": s} for s in (0.0, 0.2, 0.4, 0.6, 0.8)],
    "patterns": [{"patterns": p} for p in (1, 4, 16, 64, 256, 1024)],
    "threads": [{"threads": t} for t in (1, 2)],
}
QUICK: dict[str, list[dict[str, Any]]] = {
    "n": [{"n": n, "inits": 2, "components": 3, "apart": False} for n in (100, 200)],
    "patterns": [{"n": 100, "inits": 2, "components": 3, "patterns": 4, "apart": False}] * 2,
}


def position(axis: str, spec: dict[str, Any]) -> float:
    """Say where on its axis a fit lies."""
    if axis == "Q·G":
        return spec["inits"] * spec["components"]
    return spec["share" if axis == "share missing" else axis]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    found: dict[str, list[dict[str, Any]]] = {}
    for axis, points in (QUICK if options.quick else AXES).items():
        found[axis] = []
        for change in points:
            spec = run(method="ensemble", **change, repeats=1 if options.quick else options.repeats)
            x = position(axis, spec)
            found[axis].append({"x": x, "seconds": spec["seconds"], "megabytes": spec["megabytes"]})
            print(f"{axis} = {x}: {spec['seconds']:.2f} s, {spec['megabytes']:.0f} MB", flush=True)
        first, last = found[axis][0], found[axis][-1]
        if 0 < first["x"] < last["x"]:
            print(f"  time grows as {axis}^{exponent(first, last):.2f}")
        write_json(options.json, found)


if __name__ == "__main__":
    main()
