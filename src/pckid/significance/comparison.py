"""The comparison of a table's clusters with those of tables without groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from pckid._utils.parallel import run_in_batches, threads_for_tables
from pckid._utils.progress import part
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.input.arrangement import Arrangement
from pckid.significance.dependence import INDEPENDENT, MIN_EFFECTIVE, Correlation, Correlogram
from pckid.significance.levels import LEVELS
from pckid.significance.margins import dip
from pckid.significance.null_tables import (
    NullModels,
    draw_dependent_table,
    draw_null_table,
    find_dependence,
)
from pckid.spectral.embedding import walk_coordinates

MAX_COLUMNS = 1000  # of wider tables so many random columns are compared
MIN_ROWS = 20  # fewer rows than this are too few to test
MIN_REPEATED = 60  # where there are few distinct rows, fewer rows than this are too few to test
MAX_COMPARED = 500  # of longer tables so many random rows are compared at a time
MAX_MODELLED = 2000  # and null tables are drawn from so many of them
_LOOKS = (6, 9, 18, 36, 72)  # after so many null tables the answer may be clear
MAX_NULL = 144  # no more null tables are drawn, unless they are asked for
_CLEAR = 2.5  # the answer is clear if p is so many standard errors away from the level,
_MIN_EXCEEDING = 4  # and "none" only if so many null tables are at least as clear as the table
_NULL_PER_OWN = 3  # the table itself is measured once for so many null tables
# So many tables are trained in one call.
TABLES_AT_ONCE = 12
# Trains a kernel on each table (n, d) by its seed, and gives those between their rows (n, n).
KernelsOf = Callable[[Sequence[np.ndarray], Sequence[int]], Iterable[np.ndarray]]
# What the eigenvalues, shares and dips of a structure count in the statistic.
WEIGHTS = (0.5, 0.25, 0.25)
# Smaller spreads of null tables are rounding.
MIN_SPREAD = 1e-6
_N_LEADING = 7
_N_SHARED = 13
_N_DIPS = 3
# Eigenvalues below this are rounding.
_MIN_EIGENVALUE = 1e-9


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
    error: float = 0.0  # of the statistic: it is a mean over ensembles, and over draws of rows
    correlation: Correlation = INDEPENDENT  # of the leading component between rows
    n_effective: float = np.inf  # how many independent rows tell as much about that component
    correlogram: Correlogram | None = None  # of that component, where rows have positions

    @property
    def is_endless(self) -> bool:
        """Whether rows change so slowly that hardly any two of them are independent."""
        return self.n_effective < MIN_EFFECTIVE

    @property
    def p_value(self) -> float:
        """How likely a further null table reaches the statistic, by Student's t.

        Null statistics are close to Gaussian, so that a few of them suffice for small
        probabilities, which their ranks do not.
        """
        n, (height, _) = len(self.null_statistics), self._in_spreads
        return float(stats.t.sf(height / np.sqrt(1 + 1 / n), n - 1))

    def is_settled(self, level: float) -> bool:
        """Whether more null tables would hardly move the p-value across a level.

        It is 2.5 standard errors away from it. Where it is above, four null tables also reach the
        statistic: of few, the mean and the standard deviation alone say so by chance too often.
        """
        if self.n_errors(level) <= _CLEAR:
            return False
        exceeding = (self.null_statistics >= self.statistic).sum()
        return self.p_value <= level or bool(exceeding >= _MIN_EXCEEDING)

    def n_errors(self, level: float) -> float:
        """By how many standard errors the p-value is away from a level.

        With t the statistic in standard deviations of n null ones, and e its own error in the same
        unit, t has the variance e² + 1 / n + t² / (2 n − 2), as the mean and the standard deviation
        of the null statistics vary, too. Below the t of the level, it is taken for t there: few
        null tables that happen to vary much lower t, and would seem the surer for it.
        """
        n, (height, own) = len(self.null_statistics), self._in_spreads
        threshold = stats.t.isf(level, n - 1) * np.sqrt(1 + 1 / n)
        highest = max(height, threshold)
        return abs(height - threshold) / np.sqrt(own**2 + 1 / n + highest**2 / (2 * n - 2))

    @property
    def _in_spreads(self) -> tuple[float, float]:
        """How far the statistic is above null ones, and its error, in their standard deviations."""
        spread = max(float(self.null_statistics.std(ddof=1)), MIN_SPREAD)
        return (self.statistic - float(self.null_statistics.mean())) / spread, self.error / spread


def compare_with_null_tables(
    X: np.ndarray,
    categorical: np.ndarray,
    kernels_of: KernelsOf,
    entropy: int,
    jobs: int = 1,
    n_null: int | None = None,
    level: float = LEVELS.structure,
    arrangement: Arrangement | None = None,
    max_null: int = MAX_NULL,
    null_models: NullModels | None = None,
) -> Comparison:
    """Compare how clearly a table and null tables fall into clusters.

    Of a table (n_samples, n_features) with NaN where a value is missing, whose `categorical`
    columns (n_features,) hold categories as numbers; `entropy` is the seed of everything. Of more
    than 500 rows, every ensemble and every null table has others. As many null tables are drawn as
    a clear answer takes at a level, up to `max_null`, or all of `n_null`. Rows that depend on each
    other by their arrangement do so in null tables, too. Comparisons of one table may share
    `null_models`.
    """
    if X.shape[1] > MAX_COLUMNS:
        # Empty columns do not count.
        empty = generator(entropy, Stream.NULL_TABLES, 2).permutation(X.shape[1])[MAX_COLUMNS:]
        X = X.copy()
        X[:, empty] = np.nan
    model, dependence = (null_models or NullModels()).fit(X, categorical), None
    if arrangement is not None:
        dependence = find_dependence(model, arrangement, generator(entropy, Stream.DEPENDENCE))
    if dependence is not None:
        X = X[dependence.rows]
    every = np.arange(len(X))

    def draw(of_null: int, number: int) -> tuple[np.ndarray, int]:
        rng = generator(entropy, Stream.NULL_TABLES, of_null, number)
        rows = some_rows(every, MAX_COMPARED, rng)
        if not of_null:
            table = X[rows]
        elif dependence is None:
            table = draw_null_table(model, rows, rng)
        else:
            table = draw_dependent_table(model, dependence, rows, rng)
        return table, int(rng.integers(2**31))

    def measure(tasks: Sequence[tuple[int, int]]) -> Iterable[Structure]:
        tables, seeds = zip(*(draw(*task) for task in tasks), strict=True)
        return map(measure_structure, kernels_of(tables, seeds))

    own: list[Structure] = []
    null: list[Structure] = []
    looks = [look for look in (*_LOOKS, MAX_NULL) if look <= max_null]
    for look in looks if n_null is None else (n_null,):
        n_own = max(_NULL_PER_OWN, look // _NULL_PER_OWN)
        numbers = [(1, i) for i in range(len(null), look)]
        tasks = [*((0, i) for i in range(len(own), n_own)), *numbers]
        # About half of the tables that are left are settled by the next look.
        with part(1.0 if look == looks[-1] else 0.5):
            n = threads_for_tables(len(tasks), min(len(X), MAX_COMPARED), X.shape[1], jobs)
            both = run_in_batches(measure, tasks, n, TABLES_AT_ONCE)
        own += both[: -len(numbers)]
        null += both[-len(numbers) :]
        found = compare_structures(own, null)
        if found.is_settled(level):
            break
    if dependence is not None:
        leading = next(each for each in dependence.correlations if each.rho > 0)
        found = found._replace(
            correlation=leading,
            n_effective=dependence.n_effective,
            correlogram=dependence.correlogram,
        )
    if arrangement is not None and arrangement.n_groups < MIN_EFFECTIVE:
        found = found._replace(n_effective=float(arrangement.n_groups))
    return found


def rows_to_compare(n_rows: int, entropy: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Draw the rows of a table that are compared, ascending; at most 2,000.

    With weights w (n_rows,) they are drawn in proportion to these, each row once, and no more than
    (Σ w)² / Σ w², the effective number of rows: a heavy row tells no more than one row does.
    """
    rng = generator(entropy, Stream.NULL_TABLES)
    if weights is None:
        return some_rows(np.arange(n_rows), MAX_MODELLED, rng)
    shares = weights / weights.sum()
    size = min(MAX_MODELLED, round(1 / float(shares @ shares)), int(np.count_nonzero(shares)))
    return np.sort(rng.choice(n_rows, size, replace=False, p=shares))


def measure_structure(kernel: np.ndarray) -> Structure:
    """Measure how clearly rows fall into clusters by their kernel (n, n), of 20 rows at least."""
    n_rows = len(kernel)
    guess = np.eye(n_rows, dtype=kernel.dtype)
    if n_rows > 4 * _N_SHARED:
        guess = np.random.default_rng(0).standard_normal((n_rows, _N_SHARED)).astype(kernel.dtype)
    values, coordinates = walk_coordinates(kernel, guess, _N_SHARED)
    values = np.maximum(values.astype(np.float64), _MIN_EIGENVALUE)
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
    statistics, null_statistics = np.zeros(len(own)), np.zeros(len(null))
    for kind, weight in enumerate(WEIGHTS):
        mine, others = (np.stack([each[kind] for each in found]) for found in (own, null))
        spread = np.maximum(others.std(axis=0, ddof=1), MIN_SPREAD)
        heights = (mine - others.mean(axis=0)) / spread
        statistics += weight * heights.max(axis=1)
        null_statistics += weight * leave_one_out(others).max(axis=1)
    error = float(statistics.std(ddof=1)) / np.sqrt(len(own)) if len(own) > 1 else 0.0
    return Comparison(float(statistics.mean()), null_statistics, error)


def leave_one_out(values: np.ndarray) -> np.ndarray:
    """Standardise each row (n, n_measures) by the mean and standard deviation of the other rows.

    With m and s² the mean and the variance of all n rows, three at least, the others have the mean
    m − (x − m) / (n − 1) and the variance ((n − 1) s² − (x − m)² n / (n − 1)) / (n − 2).
    """
    n = len(values)
    deviations = values - values.mean(axis=0)
    variances = ((deviations**2).sum(axis=0) - deviations**2 * n / (n - 1)) / (n - 2)
    spread = np.maximum(np.sqrt(np.maximum(variances, 0.0)), MIN_SPREAD)
    return deviations * n / (n - 1) / spread
