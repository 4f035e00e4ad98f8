"""The comparison of a table's clusters with those of tables without groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from pckid._utils.parallel import run
from pckid._utils.progress import Advance
from pckid._utils.seeds import Stream, generator
from pckid.significance.null_tables import NullModel, draw_null_table, fit_null_model
from pckid.significance.structure import measure_structure

ALPHA = 0.01
"""Clusters count as groups up to this p-value."""

MIN_ROWS = 20
"""Fewer rows are too few to tell."""

_BATCHES = (7, 6, 6)
"""Null tables are drawn in batches of these sizes until the answer is clear."""

_UNCLEAR = (ALPHA / 10, 0.2)
"""Between these p-values further null tables are drawn."""

KernelOf = Callable[[np.ndarray, int], np.ndarray]
"""Trains a kernel on a table (n, d) by a seed and returns it between its rows (n, n)."""

# Smaller spreads of null statistics are rounding.
_LEAST_SPREAD = 1e-9


class Comparison(NamedTuple):
    """How clear the clusters of a table are, compared with those of null tables.

    Attributes
    ----------
    statistic : float
        Mean of association within clusters and dip, each less its mean over the null tables and
        divided by its standard deviation there.
    null_statistics : ndarray of shape (n_null,)
        The same for the null tables; their mean is 0.
    """

    statistic: float
    null_statistics: np.ndarray

    @property
    def p_value(self) -> float:
        """How likely a further null table reaches the statistic, by Student's t.

        Null statistics are close to Gaussian, so that a few of them suffice for small
        probabilities, which their ranks do not.
        """
        n = len(self.null_statistics)
        spread = max(float(self.null_statistics.std(ddof=1)), _LEAST_SPREAD)
        return float(stats.t.sf(self.statistic / spread / np.sqrt(1 + 1 / n), n - 1))


def standardise_measures(own: np.ndarray, null: np.ndarray) -> Comparison:
    """Compare the measures of a table (n_measures,) with those of null tables (n_null, n_measures).

    Each measure counts alike. One that does not vary over the null tables counts by its sign.
    """
    center, spread = null.mean(axis=0), np.maximum(null.std(axis=0, ddof=1), _LEAST_SPREAD)
    return Comparison(
        float(((own - center) / spread).mean()), ((null - center) / spread).mean(axis=1)
    )


def compare_with_null(
    X: np.ndarray,
    categorical: np.ndarray,
    kernel_of: KernelOf,
    n_clusters: int,
    n_null: int,
    entropy: int,
    jobs: int = 1,
    advance: Advance = lambda count: None,
) -> Comparison:
    """Compare how clearly a table and null tables fall into clusters.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        With NaN where a value is missing.
    categorical : ndarray of shape (n_features,), bool
    kernel_of : callable
    n_clusters : int
    n_null : int
    entropy : int
        The seed of everything.
    jobs : int, default=1
        Threads.
    advance : callable
        Called with 1 whenever a null table is done.

    Returns
    -------
    comparison : Comparison
    """
    model = fit_null_model(X, categorical)
    own = measure_structure(kernel_of(X, entropy), n_clusters)

    def measure(number: int) -> tuple[float, float]:
        return measure_null(model, kernel_of, n_clusters, entropy, number)

    found = run(measure, [(number,) for number in range(n_null)], jobs, lambda _: advance(1))
    return standardise_measures(np.array(own), np.array(found))


def compare_until_clear(
    X: np.ndarray,
    categorical: np.ndarray,
    kernel_of: KernelOf,
    n_clusters: int,
    entropy: int,
    jobs: int = 1,
) -> Comparison:
    """Compare a table with as many null tables as a clear answer takes, at most 19.

    Parameters as in `compare_with_null`.
    """
    model = fit_null_model(X, categorical)
    own = np.array(measure_structure(kernel_of(X, entropy), n_clusters))

    def measure(number: int) -> tuple[float, float]:
        return measure_null(model, kernel_of, n_clusters, entropy, number)

    found: list[tuple[float, float]] = []
    for size in _BATCHES:
        numbers = range(len(found), len(found) + size)
        found += run(measure, [(number,) for number in numbers], jobs)
        compared = standardise_measures(own, np.array(found))
        if not _UNCLEAR[0] <= compared.p_value <= _UNCLEAR[1]:
            break
    return compared


def measure_null(
    model: NullModel, kernel_of: KernelOf, n_clusters: int, entropy: int, number: int
) -> tuple[float, float]:
    """Draw a null table, and measure how clearly it falls into clusters."""
    rng = generator(entropy, Stream.NULL_TABLES, number)
    table = draw_null_table(model, rng)
    return measure_structure(kernel_of(table, int(rng.integers(2**31))), n_clusters)
