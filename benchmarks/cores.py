"""Many cores: how much sooner is a fit done with all of them than with one thread?

python -m benchmarks.cores --json docs/performance/cores.json
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.images import images, papers
from benchmarks.timing import machine, write_json
from pckid import PCKID
from pckid._utils.parallel import n_threads

N_COLUMNS = 20
ROWS = (100, 300, 1000, 3000, 10_000, 100_000, 1_000_000)


def five_groups(n_rows: int, n_columns: int = N_COLUMNS) -> np.ndarray:
    """Draw five groups in columns of numbers, a fifth of the cells missing."""
    rng = np.random.default_rng(0)
    centers = 2.5 * rng.normal(size=(5, n_columns))
    X = rng.normal(size=(n_rows, n_columns)) + centers[rng.integers(5, size=n_rows)]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def pictures(quadrants: bool) -> np.ndarray:
    """Draw 1,000 images: a quadrant missing from nine in ten, or a fifth of all pixels."""
    rng, X = np.random.default_rng(0), images()
    if not quadrants:
        X[rng.random(X.shape) < 0.2] = np.nan
        return X
    for image in X[:900].reshape(900, 28, 28):
        down, right = 14 * rng.integers(2, size=2)
        image[down : down + 14, right : right + 14] = np.nan
    return X


def cases(quick: bool) -> Iterator[tuple[str, np.ndarray, dict[str, Any]]]:
    """Yield tables with what is to be found in them."""
    for n_rows in ROWS[:1] if quick else ROWS:
        yield f"{n_rows:,} × {N_COLUMNS}", five_groups(n_rows), {"n_clusters": 5}
    if not quick:
        yield "1,000 × 784", pictures(quadrants=False), {"n_clusters": 2}
        yield "1,000 × 784, the paper's setting", pictures(quadrants=True), papers(30)


def fit(X: np.ndarray, setting: dict[str, Any], n_jobs: int | None) -> tuple[float, np.ndarray]:
    """Time a fit; return the seconds and the labels."""
    model = PCKID(**{"n_clusters": 2, "random_state": 0, **setting, "n_jobs": n_jobs})
    begin = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - begin, model.labels_


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {"machine": machine(), "threads": n_threads(None), "cases": []}
    for name, X, setting in cases(options.quick):
        jobs = {"one": 1, "two": 2, "all": None, "sixteen": 16}
        times: dict[str, list[float]] = {each: [] for each in jobs}
        labels = []
        # In turns, for the machine may be busier at one time than at another.
        for _ in range(1 if options.quick else options.repeats if len(X) < 10**6 else 3):
            for each, n_jobs in jobs.items():
                seconds, found_labels = fit(X, setting, n_jobs)
                times[each].append(seconds)
                labels.append(found_labels)
        seconds = {each: statistics.median(taken) for each, taken in times.items()}
        same = all(np.array_equal(labels[0], each) for each in labels)
        found["cases"].append({"name": name, "same_labels": same, **seconds})
        print(
            f"{name}: one thread {seconds['one']:.3f} s, two {seconds['two']:.3f} s, "
            f"all {seconds['all']:.3f} s, {seconds['one'] / seconds['all']:.2f} times as fast; "
            f"n_jobs=16 takes {seconds['sixteen'] / seconds['two']:.2f} of n_jobs=2; "
            f"{'the same labels' if same else 'OTHER LABELS'}",
            flush=True,
        )
        write_json(options.json, found)


if __name__ == "__main__":
    main()
