"""One fit in a process of its own, so that its memory is its own: time and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from benchmarks.timing import PeakMemory, best_of
from pckid import PCKID, missing
from pckid._utils.parallel import n_threads

USUAL = {
    "n": 4000,
    "d": 20,
    "share": 0.3,
    "patterns": None,
    "inits": 15,
    "components": 15,
    "threads": None,
    "method": "pckid",
    "repeats": 1,
    "apart": True,
}


def table(n: int, d: int, share: float, patterns: int | None, seed: int = 0) -> np.ndarray:
    """Draw rows from five overlapping Gaussian clusters; holes of `patterns` shapes, or any."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1.5, (5, d))[rng.integers(5, size=n)] + rng.normal(0, 1, (n, d))
    if patterns is None:
        return missing.apply(X, missing.mcar(X, share, random_state=seed))
    shapes = rng.random((patterns, d)) < share
    shapes[:, 0] = False
    return np.where(shapes[rng.integers(patterns, size=n)], np.nan, X)


def fit(X: np.ndarray, spec: dict[str, Any]) -> None:
    """Cluster `X` by the method of the specification."""
    if spec["method"] == "knn_spectral":
        spectral = SpectralClustering(5, assign_labels="kmeans", random_state=0)
        make_pipeline(KNNImputer(), spectral).fit(X)
    elif spec["method"] == "mean_kmeans":
        make_pipeline(SimpleImputer(), KMeans(5, n_init=100, random_state=0)).fit(X)
    elif spec["method"] in ("default", "auto"):
        n_clusters = 5 if spec["method"] == "default" else "auto"
        PCKID(n_clusters, n_jobs=spec["threads"], random_state=0).fit(X)
    else:
        PCKID(
            5,
            n_inits=spec["inits"],
            max_components=spec["components"],
            n_jobs=spec["threads"],
            random_state=0,
        ).fit(X)


def measure(spec: dict[str, Any]) -> dict[str, float]:
    """Time a fit in this process, after a tiny one that loads what is to be loaded."""
    X = table(spec["n"], spec["d"], spec["share"], spec["patterns"])
    with warnings.catch_warnings(), threadpool_limits(n_threads(spec["threads"])):
        warnings.simplefilter("ignore")
        fit(X[:50], spec | {"inits": 1, "components": 2})
        with PeakMemory() as memory:
            seconds = best_of(lambda: fit(X, spec), spec["repeats"])
    return {"seconds": seconds, "megabytes": memory.above_start / 2**20}


def run(**changes: Any) -> dict[str, Any]:
    """Measure a fit, in a new process if it is to be `apart`; return specification and figures."""
    spec = USUAL | changes
    if not spec["apart"]:
        return spec | measure(spec)
    command = [sys.executable, "-m", "benchmarks.point", json.dumps(spec)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return spec | json.loads(out.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
