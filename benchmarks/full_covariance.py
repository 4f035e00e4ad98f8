"""1000 rows of 20 features, every row a pattern of its own, full covariances, Q = G = 30.

How much faster is the fit than EM written row by row, with one inverse for each row, component and
iteration? That version is timed on a few components and scaled to the whole ensemble. Both are
compared by the processor time they use, which other programs disturb least.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import write_json
from benchmarks.workers import peak_memory
from experiments import missing
from pckid import PCKID
from pckid._utils.parallel import n_threads


def table(n_samples: int = 1000, n_features: int = 20, share: float = 0.4) -> np.ndarray:
    """Draw rows from five correlated Gaussian clusters; no two rows miss the same features."""
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=n_samples)
    turns = np.eye(n_features) + rng.normal(0, 0.25, (5, n_features, n_features))
    noise = rng.standard_normal((n_samples, n_features))
    X = rng.normal(0, 1.5, (5, n_features))[labels]
    X = X + np.einsum("nij,nj->ni", turns[labels], noise)
    X = missing.apply(X, missing.mcar(X, share, random_state=0))
    _, first = np.unique(np.isnan(X), axis=0, return_index=True)
    return X[np.sort(first)]


def one_component(X: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> list[np.ndarray]:
    """Do for one component what an EM iteration needs of every row, one inverse for each.

    Returns
    -------
    density, completed, spread
        The log-density of the observed part (n,), the completed rows (n, d), and the sum of their
        conditional covariances (d, d).
    """
    n, d = X.shape
    density, completed, spread = np.empty(n), np.empty((n, d)), np.zeros((d, d))
    for i in range(n):
        seen = np.flatnonzero(~np.isnan(X[i]))
        block = covariance[np.ix_(seen, seen)]
        inverse = np.linalg.inv(block)
        deviation = X[i, seen] - mean[seen]
        distance = deviation @ inverse @ deviation
        log_det = np.linalg.slogdet(block)[1]
        density[i] = -0.5 * (distance + log_det + len(seen) * np.log(2 * np.pi))
        gain = covariance[:, seen] @ inverse
        completed[i] = mean + gain @ deviation
        spread += covariance - gain @ covariance[seen]
    return [density, completed, spread]


def row_by_row(X: np.ndarray, n_components: int) -> float:
    """Time one EM iteration of some components over half of the rows, in processor seconds."""
    rng = np.random.default_rng(0)
    half = X[rng.choice(len(X), len(X) // 2, replace=False)].astype(np.float32)
    means = np.nan_to_num(half[rng.choice(len(half), n_components, replace=False)])
    covariances = [np.eye(X.shape[1], dtype=np.float32)] * n_components
    begin = time.process_time()
    for mean, covariance in zip(means, covariances, strict=True):
        _, completed, _ = one_component(half, mean, covariance)
        completed.T @ completed
    return time.process_time() - begin


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--inits", type=int, default=30)
    parser.add_argument("--max-components", type=int, default=30)
    parser.add_argument("--sample", type=int, default=20, help="components timed row by row")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, a tiny ensemble")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    if options.quick:
        options.inits, options.max_components, options.sample = 2, 3, 2
    threads = n_threads(options.threads)
    X = table(100 if options.quick else 1000)
    model = PCKID(
        5,
        covariance_type="full",
        n_inits=options.inits,
        max_components=options.max_components,
        random_state=0,
        n_jobs=threads,
    )
    components = model.n_inits * sum(range(2, model.max_components + 1))
    with threadpool_limits(1):
        before = row_by_row(X, options.sample)
    with peak_memory() as memory:
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    with threadpool_limits(1):
        naive = min(before, row_by_row(X, options.sample)) / options.sample
    naive *= components * model.max_iter
    print(
        f"{len(X)} rows, all patterns distinct, {threads} threads: fit {wall:.1f} s, {cpu:.1f} s "
        f"of processor time, {memory[0] / 2**20:.0f} MB above the input"
    )
    print(
        f"EM row by row would take {naive:.0f} s of processor time, from {options.sample} "
        f"components: {naive / cpu:.0f} times as much"
    )
    figures = {"threads": threads, "seconds": wall, "processor": cpu, "row_by_row": naive}
    write_json(options.json, figures | {"megabytes": memory[0] / 2**20})


if __name__ == "__main__":
    main()
