"""The comparison of a table's clusters with those of tables without groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from pckid._utils.parallel import run_in_threads
from pckid._utils.progress import Advance
from pckid._utils.seeds import Stream, generator
from pckid.significance.null_tables import draw_null_table, fit_null_model
from pckid.significance.structure import Structure, measure_structure

ALPHA = 0.02
"""Clusters count as groups up to this p-value."""

MAX_COLUMNS = 1000
"""Of wider tables so many random columns are compared."""

MIN_ROWS = 20
"""Fewer rows are too few to tell."""

_BATCHES = (9, 8)
"""Null tables are drawn in batches of these sizes until the answer is clear."""

_UNCLEAR = (ALPHA / 10, 0.2)
"""Between these p-values further null tables are drawn."""

KernelOf = Callable[[np.ndarray, int], np.ndarray]
"""Trains a kernel on a table (n, d) by a seed and returns it between its rows (n, n)."""

# The table's own structure is the mean over so many ensembles: the chance of one does not decide.
_N_OWN = 3
# Smaller spreads of null statistics are rounding.
_LEAST_SPREAD = 1e-9


class Comparison(NamedTuple):
    """How clear the clusters of a table are, compared with those of null tables.

    Attributes
    ----------
    statistic : float
        The mean of the highest association and the highest dip, all of them less their means over
        the null tables and divided by their standard deviations there; see `Structure`.
    null_statistics : ndarray of shape (n_null,)
        The same for each null table.
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
        difference = self.statistic - self.null_statistics.mean()
        return float(stats.t.sf(difference / spread / np.sqrt(1 + 1 / n), n - 1))


class NullComparison:
    """Compares how clearly a table and null tables fall into clusters.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        With NaN where a value is missing.
    categorical : ndarray of shape (n_features,), bool
    kernel_of : callable
    entropy : int
        The seed of everything.
    jobs : int, default=1
        Threads.
    """

    def __init__(
        self,
        X: np.ndarray,
        categorical: np.ndarray,
        kernel_of: KernelOf,
        entropy: int,
        jobs: int = 1,
    ) -> None:
        X = _without_many_columns(X, entropy)
        self._model = fit_null_model(X, categorical)
        self._kernel_of, self._entropy, self._jobs = kernel_of, entropy, jobs
        own = run_in_threads(self._measure_own, [(X, number) for number in range(_N_OWN)], jobs)
        self._own = Structure(*(np.mean(each, axis=0) for each in zip(*own, strict=True)))
        self._null: list[Structure] = []

    def extend(self, n_null: int, advance: Advance = lambda count: None) -> Comparison:
        """Measure further null tables; `advance` is called with 1 whenever one is done."""
        first = len(self._null)
        numbers = [(number,) for number in range(first, first + n_null)]
        self._null += run_in_threads(self._measure_null, numbers, self._jobs, lambda _: advance(1))
        return compare_structures(self._own, self._null)

    def _measure_own(self, X: np.ndarray, number: int) -> Structure:
        """Measure the table itself by one ensemble."""
        rng = generator(self._entropy, Stream.NULL_TABLES, 0, number)
        return measure_structure(self._kernel_of(X, int(rng.integers(2**31))))

    def _measure_null(self, number: int) -> Structure:
        """Draw a null table and measure it."""
        rng = generator(self._entropy, Stream.NULL_TABLES, 1, number)
        table = draw_null_table(self._model, rng)
        return measure_structure(self._kernel_of(table, int(rng.integers(2**31))))


def _without_many_columns(X: np.ndarray, entropy: int) -> np.ndarray:
    """Empty columns at random where there are too many, so that they do not count."""
    if X.shape[1] <= MAX_COLUMNS:
        return X
    rng = generator(entropy, Stream.NULL_TABLES, 2)
    empty = rng.permutation(X.shape[1])[MAX_COLUMNS:]
    X = X.copy()
    X[:, empty] = np.nan
    return X


def compare_structures(own: Structure, null: Sequence[Structure]) -> Comparison:
    """Compare the structure of a table with those of null tables."""
    statistic, null_statistics = 0.0, np.zeros(len(null))
    for measures, others in zip(own, zip(*null, strict=True), strict=True):
        found = np.stack(others)
        center = found.mean(axis=0)
        spread = np.maximum(found.std(axis=0, ddof=1), _LEAST_SPREAD)
        statistic += float(np.max((measures - center) / spread)) / len(own)
        null_statistics += np.max((found - center) / spread, axis=1) / len(own)
    return Comparison(statistic, null_statistics)


def compare_until_clear(comparison: NullComparison) -> Comparison:
    """Draw as many null tables as a clear answer takes, at most 17."""
    for size in _BATCHES:
        found = comparison.extend(size)
        if not _UNCLEAR[0] <= found.p_value <= _UNCLEAR[1]:
            break
    return found
