"""How far groups would have to lie apart to be found in a table like this one, by simulation.

Tables are drawn as null tables are, with the table's rows, columns, distributions, correlations and
missing cells, but of two equal groups: Gaussian clouds a given distance apart, in a direction of
their own for each table. Each is judged as the table itself is, by a null model fitted to it; to be
cheap, by few null tables, whose spread is that of all tables at one distance. The same random
numbers serve every distance, so that groups farther apart are hardly ever harder to find.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from pckid._utils.parallel import run_in_threads, threads_for_tables
from pckid._utils.progress import part, steps
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.significance.comparison import (
    MAX_COMPARED,
    MIN_SPREAD,
    WEIGHTS,
    KernelsOf,
    Structure,
    measure_structure,
)
from pckid.significance.null_tables import NullModel, draw_null_table, fit_null_model

N_TABLES = 10
N_FOUND = 9
"""Groups are far enough apart if they are found in so many of ten tables."""
_DISTANCES = np.round(np.arange(1.0, 10.3, 0.4), 1)
_N_OWN, _N_NULL = 2, 3  # kernels of each table, and null tables of each


def search_distances(
    X: np.ndarray,
    categorical: np.ndarray,
    kernels_of: KernelsOf,
    entropy: int,
    jobs: int,
    level: float,
) -> dict[float, int]:
    """Search the smallest distance at which groups are found in nine tables of ten.

    Of tables like X (n_samples, n_features). Returned are the distances that were tried, with the
    number of tables in which groups were found.
    """
    model = fit_null_model(X, categorical)
    tried: dict[float, int] = {}
    low, high = -1, len(_DISTANCES)
    while high - low > 1:
        middle = (low + high) // 2
        distance = float(_DISTANCES[middle])
        with part(0.3):
            how = distance, kernels_of, entropy, jobs, level
            tried[distance] = int(detect_groups(model, categorical, *how).sum())
        low, high = (low, middle) if tried[distance] >= N_FOUND else (middle, high)
    return tried


def detect_groups(
    model: NullModel,
    categorical: np.ndarray,
    distance: float,
    kernels_of: KernelsOf,
    entropy: int,
    jobs: int,
    level: float,
) -> np.ndarray:
    """Tell in which of ten tables two groups are found that lie a distance apart (10,), bool."""

    def measure(number: int) -> tuple[list[Structure], list[Structure]]:
        rng = generator(entropy, Stream.POWER, number)
        rows = some_rows(np.arange(len(model.observed)), MAX_COMPARED, rng)
        X = draw_groups(model, rows, distance, rng)
        null = fit_null_model(X, categorical)
        every = np.arange(len(rows))
        tables = [X] * _N_OWN + [draw_null_table(null, every, rng) for _ in range(_N_NULL)]
        seeds = [int(rng.integers(2**31)) for _ in tables]
        found = list(map(measure_structure, kernels_of(tables, seeds)))
        return found[:_N_OWN], found[_N_OWN:]

    tasks = [(number,) for number in range(N_TABLES)]
    n_rows = min(len(model.observed), MAX_COMPARED)
    n_each = _N_OWN + _N_NULL
    n = threads_for_tables(N_TABLES * n_each, n_rows, len(categorical), jobs)
    found = run_in_threads(measure, tasks, n, steps(N_TABLES))
    return find_clear(found) <= level


def find_clear(found: Sequence[tuple[Sequence[Structure], Sequence[Structure]]]) -> np.ndarray:
    """Compare tables, each with null tables of its own: their p-values (n_tables,).

    As `compare_structures` does, but few null tables of each table serve for its mean, and those of
    all tables for the standard deviation around it, and for the distribution of the statistic.
    """
    statistics, null_statistics = np.zeros(len(found)), []
    for kind, weight in enumerate(WEIGHTS):
        own = [np.stack([each[kind] for each in mine]) for mine, _ in found]
        null = [np.stack([each[kind] for each in others]) for _, others in found]
        n_free = sum(len(each) - 1 for each in null)
        squares = sum(((each - each.mean(axis=0)) ** 2).sum(axis=0) for each in null)
        spread = np.maximum(np.sqrt(squares / n_free), MIN_SPREAD)
        heights = [(mine - x.mean(axis=0)) / spread for mine, x in zip(own, null, strict=True)]
        statistics += weight * np.array([each.max(axis=1).mean() for each in heights])
        # Each beside the others of its table, whose mean is (n m - x) / (n - 1).
        apart = [(x - x.mean(axis=0)) * len(x) / (len(x) - 1) / spread for x in null]
        null_statistics.append(weight * np.concatenate([each.max(axis=1) for each in apart]))
    pooled = np.sum(null_statistics, axis=0)
    n, around = len(pooled), max(float(pooled.std(ddof=1)), MIN_SPREAD)
    heights = (statistics - pooled.mean()) / around
    return stats.t.sf(heights / np.sqrt(1 + 1 / n), n - 1)


def draw_groups(
    model: NullModel, rows: np.ndarray, distance: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw a table of two equal groups, (n_rows, n_features), that lie a distance apart.

    It is the Mahalanobis distance of their means μ, the root of (μ₁ − μ₂)ᵀ R⁻¹ (μ₁ − μ₂) with R the
    correlations within the groups, before columns get the table's distributions.
    """
    direction = rng.standard_normal(len(model.root))
    direction = model.root @ (direction / np.linalg.norm(direction))
    side = np.where(rng.permutation(len(rows)) % 2, 0.5, -0.5)
    return draw_null_table(model, rows, rng, distance * side[:, None] * direction)
