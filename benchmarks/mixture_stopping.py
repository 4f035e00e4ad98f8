"""Where the mixture stops when much is missing: estimates beside the truth, over twenty tables.

One Gaussian of two columns, 2,000 rows, correlation 0.9; two thirds of y are missing, the more
likely the higher x. Plain EM that stops when a step gains less than 1e-3, the default, and the
maximum. `python -m benchmarks.mixture_stopping` prints means over the tables and their standard
errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pckid import IncompleteGaussianMixture

N_TABLES = 20
PLAIN = {"tol": 0.0}


def draw(seed: int) -> np.ndarray:
    """Draw a table (2000, 2)."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(2000)
    y = 0.9 * x + np.sqrt(1 - 0.9**2) * rng.standard_normal(2000)
    missing = rng.random(2000) < 1 / (1 + np.exp(-1 - 1.5 * x))
    return np.column_stack([x, np.where(missing, np.nan, y)])


def fit_to_the_maximum(X: np.ndarray) -> IncompleteGaussianMixture:
    """Take a thousand plain steps."""
    return IncompleteGaussianMixture(max_iter=1000, **PLAIN).fit(X)


def fit_by_gain(X: np.ndarray) -> IncompleteGaussianMixture:
    """Stop plain EM where a step gains less than 1e-3."""
    gains = np.diff(IncompleteGaussianMixture(max_iter=100, **PLAIN).fit(X).lower_bounds_)
    n_iter = 2 + int(np.argmax(gains < 1e-3))
    return IncompleteGaussianMixture(max_iter=n_iter, **PLAIN).fit(X)


WAYS: dict[str, Callable[[np.ndarray], IncompleteGaussianMixture]] = {
    "a step gains less than 1e-3": fit_by_gain,
    "the default": lambda X: IncompleteGaussianMixture().fit(X),
    "the maximum, by plain steps": fit_to_the_maximum,
}


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'':30}{'mean of y (0)':>18}{'covariance (0.9)':>18}{'variance (1)':>18}  iterations")
    for way, fit in WAYS.items():
        fits = [fit(draw(seed)) for seed in range(N_TABLES)]
        found = np.array([[m.means_[0, 1], *m.covariances_[0, 1]] for m in fits])
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(N_TABLES)
        cells = "".join(f"{f'{a:.3f} ± {b:.3f}':>18}" for a, b in zip(means, errors, strict=True))
        print(f"{way:30}{cells}{np.mean([m.n_iter_ for m in fits]):>12.0f}")


if __name__ == "__main__":
    main()
