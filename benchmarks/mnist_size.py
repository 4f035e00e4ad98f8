"""1000 images of 784 pixels, a quadrant missing from 90 % of them, the paper's Q = G = 30.

How near is the whole `fit` to the machine's matrix-product peak, and how does it compare with
fitting as many complete-data mixtures of scikit-learn?
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_of, product_rate, write_json
from benchmarks.workers import peak_memory
from experiments import missing
from experiments.paper import setting
from pckid import PCKID
from pckid._utils.parallel import n_threads
from pckid.input.table import fit_scaling, standardise


def images(seed: int = 0, n_images: int = 1000) -> np.ndarray:
    """Draw blurred strokes of 28 × 28 pixels in two shapes; about 550 pixels vary."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:28, :28]
    pictures = np.zeros((n_images, 28, 28))
    for picture in pictures:
        angle, radius = rng.uniform(0, np.pi, 2), rng.uniform(4, 9.5)
        for t in np.linspace(0, 1, 12):
            cx = 14 + radius * np.cos(angle[0] + 4 * t) + rng.normal(0, 0.5)
            cy = 14 + radius * np.sin(angle[1] + 3 * t) + rng.normal(0, 0.5)
            picture += np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 2)
    pictures = np.where(pictures > 0.1, np.round(255 * np.minimum(pictures, 1)), 0)
    return pictures.reshape(n_images, 784)


def papers(q: int) -> dict[str, Any]:
    """Return the setting in which the paper's experiments run, with Q = G = q."""
    return setting({"n_inits": q, "max_components": q})


def needed_operations(X: np.ndarray, model: PCKID) -> float:
    """Count the operations of the products that the algorithm cannot do without.

    For each component: one product with F for the starting moments and half of one to find the
    nearest centres, two for each iteration over the subsample, and one over all rows for the
    feature map. F has 2d columns and one for each pattern of missingness.
    """
    table = standardise(X, fit_scaling(X), "float32")
    n, d = table.values.shape
    columns = 2 * d + (d + 1 if table.patterns is None else table.patterns.shape[0])
    components = model.n_inits * sum(range(2, model.max_components + 1))
    rows = round(model.max_samples * n)
    return 2.0 * components * (rows * (columns * (1 + 2 * model.max_iter) + d) + n * columns)


def sklearn_mixtures(X: np.ndarray, model: PCKID) -> float:
    """Time as many scikit-learn mixtures on complete data of the subsample's size.

    A few of them are fitted, one start for every seventh number of components, and the time scaled.
    The data are standardised and in float32, as PCKID's are inside.
    """
    complete = np.nan_to_num(X)[: len(X) // 2]
    complete = complete[:, np.std(complete, axis=0) > 0]
    complete = ((complete - complete.mean(axis=0)) / complete.std(axis=0)).astype(np.float32)
    sizes = range(2, model.max_components + 1, 7)

    def fit_some() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for g in sizes:
                GaussianMixture(
                    g,
                    covariance_type="diag",
                    max_iter=10,
                    tol=0,
                    init_params="random_from_data",
                    reg_covar=1e-3,
                    random_state=0,
                ).fit(complete)

    n_mixtures = model.n_inits * (model.max_components - 1)
    return best_of(fit_some, 1) * n_mixtures / len(sizes)


def fit_beside_products(X: np.ndarray, model: PCKID, threads: int) -> dict[str, float]:
    """Time one fit, and large products right before and after it."""
    size = 2000 if len(X) == 1000 else 200
    model = clone(model).set_params(n_jobs=threads)
    before = product_rate(threads, size=size)
    seconds = best_of(lambda: model.fit(X), 1)
    peak = (before + product_rate(threads, size=size)) / 2
    share = needed_operations(X, model) / seconds / peak
    return {"peak": peak / 1e9, "seconds": seconds, "share": share}


def memory_of_fit(X: np.ndarray, model: PCKID, threads: int) -> float:
    """Measure the memory of another fit, in MB: a thread that watches would slow the others."""
    model = clone(model).set_params(n_jobs=threads)
    with peak_memory() as watch:
        model.fit(X)
    return watch[0] / 2**20


def rounds(X: np.ndarray, model: PCKID, threads: list[int], repeats: int) -> dict[str, Any]:
    """Fit with each number of threads in turn, several times over; keep the middle of each ratio.

    A ratio of two times is taken within a round, where the machine was the same for both.
    """
    memory = [memory_of_fit(X, model, each) for each in threads]
    found = [[fit_beside_products(X, model, each) for each in threads] for _ in range(repeats)]
    figures = [
        _middle(runs, each, megabytes)
        for runs, each, megabytes in zip(zip(*found, strict=True), threads, memory, strict=True)
    ]
    speedup = statistics.median(runs[0]["seconds"] / runs[-1]["seconds"] for runs in found)
    return {"threads": figures, "speedup": speedup}


def _middle(runs: Sequence[dict[str, float]], threads: int, megabytes: float) -> dict[str, float]:
    """Summarise runs with one number of threads, and say what they were."""
    shares = sorted(run["share"] for run in runs)
    figures: dict[str, float] = {
        "threads": threads,
        "peak": statistics.median(run["peak"] for run in runs),
        "seconds": min(run["seconds"] for run in runs),
        "share": statistics.median(shares),
        "lowest_share": shares[0],
        "highest_share": shares[-1],
        "megabytes": megabytes,
    }
    print(
        f"{threads} threads: fit {figures['seconds']:.2f} s at best; {figures['share']:.0%} of the "
        f"rate of large products ({shares[0]:.0%} to {shares[-1]:.0%} in {len(runs)} runs), which "
        f"was {figures['peak']:.0f} Gop/s; {figures['megabytes']:.0f} MB above the input",
        flush=True,
    )
    return figures


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, n_threads(None)])
    parser.add_argument("--data", help="npz file with images in X; default: drawn images")
    parser.add_argument("--no-peer", action="store_true", help="leave scikit-learn's mixtures out")
    parser.add_argument("--quick", action="store_true", help="a tiny ensemble")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    X = images(n_images=100 if options.quick else 1000)
    if options.data:
        pool = np.load(options.data)["X"]
        X = pool[np.random.default_rng(0).choice(len(pool), 1000, replace=False)].astype(float)
    X = missing.apply(X, missing.drop_quadrants(X, 0.9, random_state=0))
    q, repeats = (2, 1) if options.quick else (30, options.repeats)
    model = PCKID(2, **papers(q), random_state=0)
    threads = list(dict.fromkeys(options.threads))
    found = rounds(X, model, threads, repeats)
    fastest = found["threads"][-1]["seconds"]
    print(f"{found['speedup']:.2f} times as fast with {threads[-1]} threads as with {threads[0]}")
    if not options.no_peer:
        with threadpool_limits(threads[-1]):
            found["mixtures"] = sklearn_mixtures(X, model)
        ratio = found["mixtures"] / fastest
        print(f"as many scikit-learn mixtures {found['mixtures']:.1f} s: {ratio:.1f} times as long")
    write_json(options.json, found)


if __name__ == "__main__":
    main()
