"""The comparison of a table's clusters with those of tables without groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from pckid._utils.parallel import run_in_threads
from pckid._utils.progress import Advance
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.significance.margins import dip
from pckid.significance.null_tables import draw_null_table, fit_null_model
from pckid.spectral.embedding import walk_coordinates

ALPHA = 0.03
"""Clusters count as groups up to this p-value.

In small tables p-values are too low: of those of 60 to 130 rows without groups, 8 % have one up to
0.05.
"""

MAX_COLUMNS = 1000  # of wider tables so many random columns are compared
MIN_ROWS = 20  # fewer rows than this are too few to test
MIN_REPEATED = 60  # where there are few distinct rows, fewer rows than this are too few to test
MAX_COMPARED = 500  # of longer tables so many random rows are compared
_LOOKS = (7, 9, 17, 33)  # after so many null tables the answer may be clear
N_NULL = 49  # no more null tables are drawn
_UNCLEAR = (ALPHA / 10, 0.3)  # between these p-values further null tables are drawn
# Trains a kernel on a table (n, d) by a seed and returns it between its rows (n, n).
KernelOf = Callable[[np.ndarray, int], np.ndarray]
# What the eigenvalues, shares and dips of a structure count in the statistic.
_WEIGHTS = (0.5, 0.25, 0.25)
# The table's own statistic is the mean over so many ensembles: the chance of one does not decide.
_N_OWN = 3
# Smaller spreads of null tables are rounding.
_LEAST_SPREAD = 1e-6
_N_LEADING = 7
_N_SHARED = 13
_N_DIPS = 3
# Eigenvalues below this are rounding.
_LEAST_EIGENVALUE = 1e-9


class Structure(NamedTuple):
    """How clearly rows fall into clusters, by the random walk on their kernel.

    With λ_1 = 1 ≥ λ_2 ≥ … its eigenvalues, k separated groups make λ_2, …, λ_k large.
    """

    # (2,), λ_2, which two groups make large, and the mean of λ_2, …, λ_8, which many make large
    eigenvalues: np.ndarray
    # (7,), (λ_2 + … + λ_i) / (λ_2 + … + λ_14) for i = 2, …, 8: how far the first ones stand out
    # from those after them. They show groups where all eigenvalues are low or high.
    shares: np.ndarray
    # (3,), how far the rows are from unimodal along the eigenvectors of λ_2, λ_3 and λ_4. They
    # separate groups from rows along one broad direction, where eigenvalues are high too.
    dips: np.ndarray


class Comparison(NamedTuple):
    """How clear the clusters of a table are, compared with those of null tables."""

    statistic: float  # how far the table is above null tables, in their standard deviations
    null_statistics: np.ndarray  # (n_null,), how far each null table is above the others

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


def compare_with_null_tables(
    X: np.ndarray,
    categorical: np.ndarray,
    kernel_of: KernelOf,
    entropy: int,
    jobs: int = 1,
    n_null: int = N_NULL,
    advance: Advance = lambda count: None,
) -> Comparison:
    """Compare how clearly a table and null tables fall into clusters.

    Of a table (n_samples, n_features) with NaN where a value is missing, whose `categorical`
    columns (n_features,) hold categories as numbers; `entropy` is the seed of everything. As many
    null tables are drawn as a clear answer takes: 7, 9, 17 or 33, or at last `n_null`; `advance` is
    called with 1 for every one.
    """
    if X.shape[1] > MAX_COLUMNS:
        # Empty columns do not count.
        empty = generator(entropy, Stream.NULL_TABLES, 2).permutation(X.shape[1])[MAX_COLUMNS:]
        X = X.copy()
        X[:, empty] = np.nan
    model = fit_null_model(X, categorical)

    def measure(of_null: int, number: int) -> Structure:
        rng = generator(entropy, Stream.NULL_TABLES, of_null, number)
        table = draw_null_table(model, rng) if of_null else X
        return measure_structure(kernel_of(table, int(rng.integers(2**31))))

    own: list[Structure] = run_in_threads(measure, [(0, i) for i in range(_N_OWN)], jobs)
    null: list[Structure] = []
    for look in (*(look for look in _LOOKS if look < n_null), n_null):
        numbers = [(1, i) for i in range(len(null), look)]
        null += run_in_threads(measure, numbers, jobs, lambda _: advance(1))
        found = compare_structures(own, null)
        if not _UNCLEAR[0] <= found.p_value <= _UNCLEAR[1]:
            break
    return found


def rows_to_compare(n_rows: int, entropy: int) -> np.ndarray:
    """Draw the rows of a table that are compared, ascending; all of them if there are up to 500."""
    return some_rows(np.arange(n_rows), MAX_COMPARED, generator(entropy, Stream.NULL_TABLES))


def measure_structure(kernel: np.ndarray) -> Structure:
    """Measure how clearly rows fall into clusters by their kernel (n, n), of 20 rows at least."""
    n_rows = len(kernel)
    guess = np.eye(n_rows, dtype=kernel.dtype)
    if n_rows > 4 * _N_SHARED:
        guess = np.random.default_rng(0).standard_normal((n_rows, _N_SHARED)).astype(kernel.dtype)
    values, coordinates = walk_coordinates(kernel, guess, _N_SHARED)
    values = np.maximum(values.astype(np.float64), _LEAST_EIGENVALUE)
    leading = np.array([values[0], values[:_N_LEADING].mean()])
    shares = np.cumsum(values) / values.sum()
    dips = np.array([dip(x) for x in coordinates.T[:_N_DIPS]])
    return Structure(leading, shares[:_N_LEADING], dips)


def compare_structures(own: Sequence[Structure], null: Sequence[Structure]) -> Comparison:
    """Compare a table, as several ensembles show it, with null tables.

    The statistic of one ensemble is the mean of the higher one of its eigenvalues, which counts
    twice, its highest share and its highest dip, in standard deviations from the mean of the null
    tables; that of the table is the mean over its ensembles. A null table is measured by the mean
    and standard deviation of the *other* null tables, as the table itself is: else few null tables
    would seem closer to each other than a further one is. There are three of them at least.
    """
    statistic, null_statistics = 0.0, np.zeros(len(null))
    for kind, weight in enumerate(_WEIGHTS):
        mine, others = (np.stack([each[kind] for each in found]) for found in (own, null))
        spread = np.maximum(others.std(axis=0, ddof=1), _LEAST_SPREAD)
        heights = (mine - others.mean(axis=0)) / spread
        statistic += weight * float(heights.max(axis=1).mean())
        null_statistics += weight * leave_one_out(others).max(axis=1)
    return Comparison(statistic, null_statistics)


def leave_one_out(values: np.ndarray) -> np.ndarray:
    """Standardise each row (n, n_measures) by the mean and standard deviation of the other rows.

    With m and s² the mean and the variance of all n rows, three at least, the others have the mean
    m − (x − m) / (n − 1) and the variance ((n − 1) s² − (x − m)² n / (n − 1)) / (n − 2).
    """
    n = len(values)
    apart = values - values.mean(axis=0)
    variances = ((apart**2).sum(axis=0) - apart**2 * n / (n - 1)) / (n - 2)
    spread = np.maximum(np.sqrt(np.maximum(variances, 0.0)), _LEAST_SPREAD)
    return apart * n / (n - 1) / spread
