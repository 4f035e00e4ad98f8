"""PCKID with all defaults beside two clusterings of imputed rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.point import run
from benchmarks.timing import write_json

METHODS = {
    "default": "PCKID",
    "auto": 'PCKID("auto")',
    "knn_spectral": "KNN imputation + SpectralClustering",
    "mean_kmeans": "mean imputation + k-means, 100 starts",
}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    sizes = [100] if options.quick else [300, 1000, 3000, 10_000]
    how: dict[str, Any] = {"apart": False} if options.quick else {"repeats": 3}
    rows: list[dict[str, Any]] = []
    for n in sizes:
        found = {method: run(n=n, method=method, **how) for method in METHODS}
        for method, title in METHODS.items():
            seconds = found[method]["seconds"]
            ratio = seconds / found["default"]["seconds"]
            memory = found[method]["megabytes"]
            rows.append(
                {"n": n, "method": title, "seconds": seconds, "ratio": ratio, "megabytes": memory}
            )
            print(f"{n} rows, {title}: {seconds:.2f} s, {ratio:.2f} of PCKID's", flush=True)
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
