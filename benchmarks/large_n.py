"""Up to 100,000 rows of 20 features, 30 % missing, mixtures trained on 2,000 rows each.

Does the memory stay bounded, and does the time grow no faster than the rows?
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from benchmarks.timing import PeakMemory, best_of
from pckid import PCKID, missing


def table(n_samples: int, seed: int = 0) -> np.ndarray:
    """Draw rows of 20 features from five overlapping Gaussian clusters, 30 % missing."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 1.5, (5, 20))
    X = centers[rng.integers(5, size=n_samples)] + rng.normal(0, 1, (n_samples, 20))
    return missing.apply(X, missing.mcar(X, 0.3, random_state=seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[25_000, 50_000, 100_000])
    parser.add_argument("--inits", type=int, default=30)
    parser.add_argument("--max-components", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    model = PCKID(
        5,
        n_inits=options.inits,
        max_components=options.max_components,
        max_samples=2000,
        random_state=0,
    )
    measured = []
    for n_samples in options.rows:
        X = table(n_samples)
        with PeakMemory() as memory:
            seconds = best_of(lambda X=X: model.fit(X), options.repeats)
        mapping = best_of(lambda X=X: model.transform(X), options.repeats)
        measured.append((n_samples, mapping))
        print(
            f"{n_samples} rows: fit {seconds:.1f} s, of it mapping all rows {mapping:.1f} s; "
            f"{memory.above_start / 2**20:.0f} MB above the input"
        )
    (n0, t0), (n1, t1) = measured[0], measured[-1]
    if n1 > n0:
        print(f"mapping grows as rows^{math.log(t1 / t0) / math.log(n1 / n0):.2f}")


if __name__ == "__main__":
    main()
