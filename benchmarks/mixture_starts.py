"""One start of the mixture beside one of scikit-learn's: adjusted Rand index over twelve seeds.

On complete rows, and with 30 % of the values removed at random, where scikit-learn gets the rows
with means filled in. `python -m benchmarks.mixture_starts` prints a table.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments import missing
from pckid import IncompleteGaussianMixture

SEEDS = range(12)
CASES: dict[str, tuple[Callable[[], Any], int]] = {
    "iris": (lambda: load_iris(return_X_y=True), 3),
    "wine": (lambda: load_wine(return_X_y=True), 3),
    "eight blobs": (
        lambda: make_blobs(800, 5, centers=8, cluster_std=2.5, random_state=0),
        8,
    ),
}
# scikit-learn's start depends on the units of the columns, so that both are shown.
METHODS: dict[str, Callable[[int, int], Any]] = {
    "ours": lambda k, seed: IncompleteGaussianMixture(k, random_state=seed),
    "scikit-learn": lambda k, seed: make_pipeline(
        SimpleImputer(), GaussianMixture(k, random_state=seed)
    ),
    "scikit-learn, standardised": lambda k, seed: make_pipeline(
        SimpleImputer(), StandardScaler(), GaussianMixture(k, random_state=seed)
    ),
}


def measure(case: str, method: str, share: float) -> float:
    """Compute the mean index of one start each, with a share of the values removed."""
    load, k = CASES[case]
    X, truth = load()
    scores = []
    for seed in SEEDS:
        mask = missing.mcar(X, share, random_state=seed)
        rows = missing.apply(X, missing.keep_one_per_row(X, mask, random_state=seed))
        scores.append(adjusted_rand_score(truth, METHODS[method](k, seed).fit_predict(rows)))
    return float(np.mean(scores))


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'':40}{'complete':>10}{'30 % missing':>14}")
    for case in CASES:
        for method in METHODS:
            whole, holes = (measure(case, method, share) for share in (0.0, 0.3))
            print(f"{case + ', ' + method:40}{whole:>10.2f}{holes:>14.2f}")


if __name__ == "__main__":
    main()
