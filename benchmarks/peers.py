"""Time against rows, 100 to a million: PCKID beside two clusterings of imputed rows.

    python -m benchmarks.peers --json docs/performance/peers.json

All methods of a size are fitted with defaults, in turns, several times over; figures are medians.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.timing import write_json
from benchmarks.workers import Worker, in_turns, measure

METHODS = {
    "default": "PCKID",
    "auto": 'PCKID("auto")',
    "knn_spectral": "KNN imputation + SpectralClustering",
    "mean_kmeans": "mean imputation + k-means, 100 starts",
}
SIZES = (100, 300, 1000, 3000, 10_000, 100_000, 1_000_000)
# Distances between all rows would not fit into memory beyond.
_MAX_OF_SPECTRAL = 10_000


def repeats_for(n: int) -> int:
    """Repeat short fits more often."""
    return 15 if n <= 1000 else 5 if n <= 10_000 else 3


def measure_size(n: int, worker: Worker) -> list[dict[str, Any]]:
    """Fit every method that can be fitted to so many rows."""
    methods = [m for m in METHODS if m != "knn_spectral" or n <= _MAX_OF_SPECTRAL]
    contenders = {method: (worker, {"n": n, "method": method}) for method in methods}
    found = in_turns(contenders, repeats_for(n))
    own = found["default"]["seconds"]
    return [
        {"n": n, "method": METHODS[method], "ratio": figures["seconds"] / own, **figures}
        for method, figures in found.items()
    ]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--threads", type=int, help="for all methods; as many as cores by default")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    if options.quick:
        for n in (60, 100):
            rows += [
                {"n": n, "method": title, "ratio": 1.0, **measure(n=n, method=method)}
                for method, title in METHODS.items()
            ]
        write_json(options.json, rows)
        return
    for n in options.sizes:
        with Worker(threads=options.threads) as worker:
            found = measure_size(n, worker)
        rows += found
        for each in found:
            told = f"{each['seconds']:.3f} s, {each['ratio']:.2f} of PCKID's"
            print(f"{n:,} rows, {each['method']}: {told}, {each['megabytes']:.0f} MB", flush=True)
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
