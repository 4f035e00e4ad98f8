"""Fits in processes of their own, by this checkout or another: time, processor time, peak memory.

A worker keeps its process, so that fits of several methods, or of several checkouts, can be taken
in turns: whatever else the machine does then meets all of them alike. It is started as a script,
with the sources of a checkout first on the path, and uses nothing but the public interface.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
USUAL = {
    "n": 4000,
    "d": 20,
    "share": 0.3,  # of the cells, missing
    "patterns": None,  # of missingness; None: every row has its own
    "method": "default",
    "inits": 15,  # of the method "ensemble"
    "components": 15,
    "threads": None,
}


class Worker:
    """A process that fits on demand. To be used with `with`, or to be closed."""

    def __init__(self, checkout: Path = ROOT, threads: int | None = None) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
        if threads is not None:
            environment |= dict.fromkeys(
                ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)
            )
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def fit(self, **changes: Any) -> dict[str, float]:
        """Fit once; return seconds, processor seconds and megabytes above the input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(USUAL | changes), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The fit of {changes} failed, see above.")
        return json.loads(answer)


def in_turns(
    contenders: Mapping[str, tuple[Worker, dict[str, Any]]], repeats: int
) -> dict[str, dict[str, float]]:
    """Fit by each contender in turns; return the medians by their names."""
    for worker, changes in contenders.values():
        worker.fit(**changes)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, (worker, changes) in contenders.items():
            found[name].append(worker.fit(**changes))
    return {name: median(fits) for name, fits in found.items()}


def median(fits: list[dict[str, float]]) -> dict[str, float]:
    """Take the median of each figure."""
    return {key: statistics.median(fit[key] for fit in fits) for key in fits[0]}


@cache
def table(n: int, d: int, share: float, patterns: int | None) -> np.ndarray:
    """Draw rows from five overlapping Gaussian clusters; holes of `patterns` shapes, or any."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 1.5, (5, d))[rng.integers(5, size=n)]
    for start in range(0, n, 1 << 16):
        X[start : start + (1 << 16)] += rng.normal(0, 1, X[start : start + (1 << 16)].shape)
    if patterns is None:
        for start in range(0, n, 1 << 16):
            part = X[start : start + (1 << 16)]
            part[rng.random(part.shape) < share] = np.nan
        return X
    shapes = rng.random((patterns, d)) < share
    shapes[:, 0] = False
    return np.where(shapes[rng.integers(patterns, size=n)], np.nan, X)


def fit(X: np.ndarray, spec: Mapping[str, Any]) -> None:
    """Cluster `X` by the method of the specification."""
    method = spec["method"]
    if method in ("knn_spectral", "mean_kmeans"):
        _fit_rival(X, method)
        return
    from pckid import PCKID

    given = {"n_jobs": spec["threads"], "random_state": 0}
    if method == "ensemble":
        given |= {"n_inits": spec["inits"], "max_components": spec["components"]}
    PCKID("auto" if method == "auto" else 5, **given).fit(X)


def _fit_rival(X: np.ndarray, method: str) -> None:
    """Impute, then cluster by scikit-learn."""
    from sklearn.cluster import KMeans, SpectralClustering
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.pipeline import make_pipeline

    if method == "knn_spectral":
        spectral = SpectralClustering(5, assign_labels="kmeans", random_state=0)
        make_pipeline(KNNImputer(), spectral).fit(X)
    else:
        make_pipeline(SimpleImputer(), KMeans(5, n_init=100, random_state=0)).fit(X)


def measure(**changes: Any) -> dict[str, float]:
    """Time a fit in this process, after a tiny one that loads what is to be loaded."""
    spec = USUAL | changes
    X = table(spec["n"], spec["d"], spec["share"], spec["patterns"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _load(spec["method"])
        with peak_memory() as memory:
            begin, processor = time.perf_counter(), time.process_time()
            fit(X, spec)
            seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    return {"seconds": seconds, "processor": processor, "megabytes": memory[0] / 2**20}


@cache
def _load(method: str) -> None:
    """Fit to a few rows, so that no import is timed."""
    fit(table(50, 5, 0.1, None), USUAL | {"method": method, "inits": 1, "components": 2})


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """Watch the resident memory of this process from a thread; yield the bytes above the start."""
    base = _resident()
    found, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            found[0] = max(found[0], _resident() - base)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


def _resident() -> int:
    """Read the resident memory from the kernel (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def serve() -> None:
    """Answer specifications, one a line, with figures."""
    for line in sys.stdin:
        print(json.dumps(measure(**json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
