"""Null tables: tables without groups, otherwise as similar to a given one as possible.

Rows are draws from a Gaussian copula: from a Gaussian with the table's correlations, each column of
which is then given the distribution of the table's column. Discrete columns keep theirs, all others
get the closest unimodal one. Columns of two values that hold one category together stay one.

What is missing may depend on the values, as where a person who is ill leaves a study. The Gaussian
is that of all values, by maximum likelihood where values are missing at random. And a null row
lacks the cells of the row of the table that it resembles: null rows and rows are paired so that
they are as similar as possible in all columns together (an optimal assignment), the missing values
of the table being drawn from the same Gaussian given the observed ones. Where cells are missing at
random this is a random pairing; rows paired by observed cells alone would not be, since rows of few
observed cells are more extreme in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr

from pckid.input.arrangement import Arrangement
from pckid.significance.dependence import Dependence, fit_dependence
from pckid.significance.factors import gaussian_by_factors
from pckid.significance.margins import N_HERMITE, Margin, fit_margin
from pckid.significance.units import Units, find_units

_GRID = np.linspace(-0.999, 0.999, 81)
_MIN_EIGENVALUE = 1e-3
# How many rows without correlation are added to those in which both columns are observed.
_PRIOR_ROWS = 2.0
_MAX_ROUNDS = 20
# Rows are paired by so many columns; the Gaussian of all values of more is estimated by factors.
_MAX_PAIRED = 40
_N_ITERATIONS = 20
# Covariances that change by less, a hundredth of what those of 10,000 rows vary by, are found.
_SETTLED = 1e-4
# From so many rows on, prices are found before rows are paired: by so many steps, of a blur that is
# this share of the mean cost. Fewer rows take less time than the prices.
_MIN_PRICED, _N_PRICED, _BLUR, _LEAST_LOG = 200, 12, 0.03, -60.0


class Completion(NamedTuple):
    """How rows of a Gaussian with covariances C are completed, where cells are missing."""

    precision: np.ndarray  # (d, d), C⁻¹
    patterns: np.ndarray  # (n_samples,), rows of the same number lack the same cells
    missing: np.ndarray  # (n_patterns, most), which; d where a pattern lacks fewer
    inverses: np.ndarray  # (n_patterns, most, most), of the blocks of C⁻¹ that are missing; else 0

    def expect(self, apart: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Expect deviations from the mean (n, d), 0 where missing, of `rows` of the table.

        With Λ = C⁻¹, m what a row lacks, and δ its deviations: −Λ_mm⁻¹ (Λ δ)_m, and δ elsewhere.
        """
        kinds, n_columns = self.patterns[rows], len(self.precision)
        missing = self.missing[kinds]
        pull = np.column_stack([apart @ self.precision, np.zeros(len(apart))])
        pull = np.take_along_axis(pull, missing, axis=1)
        found = np.column_stack([apart, np.zeros(len(apart))])
        expected = -np.matmul(self.inverses[kinds], pull[:, :, None])[:, :, 0]
        np.put_along_axis(found, missing, expected, axis=1)
        return found[:, :n_columns]


class NullModel(NamedTuple):
    """What null tables are drawn from; they lack columns that do not take two values."""

    margins: list[Margin]  # of the units
    units: Units
    root: np.ndarray  # (n_units, n_units), times its transpose the correlations of the Gaussian
    observed: np.ndarray  # (n_samples, n_features), bool
    scores: np.ndarray  # (n_samples, n_units), what the table shows of the Gaussian; NaN if missing
    # (n_units,) each, of the Gaussian of all values; the scores of the observed ones have 0 and 1
    means: np.ndarray
    spreads: np.ndarray
    paired: np.ndarray  # (n_paired,), the units by which rows are paired
    completion: Completion  # of these


def fit_null_model(X: np.ndarray, categorical: np.ndarray) -> NullModel:
    """Fit a Gaussian copula to a table (n_samples, n_features), NaN where a value is missing.

    Its columns are discrete, as in the table, or unimodal. `categorical` (n_features,) are columns
    of categories, as numbers without an order. They get one: by where their rows lie along the
    direction in which the table varies most.
    """
    units = find_units(X, categorical)
    table = units.values
    orders = order_categories(table, units.categorical)
    margins = [fit_margin(column, order) for column, order in zip(table.T, orders, strict=True)]
    scores = np.column_stack([margin.scores for margin in margins])
    observed = ~np.isnan(scores)
    raw, counts = pairwise_correlations(np.nan_to_num(scores), observed)
    means, spreads = np.zeros(len(raw)), np.ones(len(raw))
    paired = np.unique(np.linspace(0, len(raw) - 1, _MAX_PAIRED).round().astype(int))
    if not observed.all():
        few = len(paired) == len(raw)
        found = gaussian_of_all(scores) if few else gaussian_by_factors(scores, raw)
        means, spreads, raw = found
    values, vectors = np.linalg.eigh(copula_correlations(margins, raw, counts))
    # Of the closest correlations that are positive definite.
    root = vectors * np.sqrt(np.maximum(values, _MIN_EIGENVALUE))
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    completion = invert_missing(root[paired] @ root[paired].T, *find_missing(~observed[:, paired]))
    gaussian = root, ~np.isnan(X), scores, means, spreads
    return NullModel(margins, units, *gaussian, paired, completion)


class NullModels:
    """Null models of tables, each fitted once for all runs that look at the same table."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._fits: dict[bytes, Callable[[], NullModel]] = {}

    def fit(self, X: np.ndarray, categorical: np.ndarray) -> NullModel:
        """Fit a model, or take that of the same table; see `fit_null_model`."""
        table = hashlib.blake2b(X.tobytes(), digest_size=32)
        table.update(repr((X.shape, categorical.tolist())).encode())
        with self._lock:
            fit = self._fits.setdefault(table.digest(), _once(fit_null_model, X, categorical))
        return fit()


def _once(function: Callable[..., NullModel], *args: Any) -> Callable[[], NullModel]:
    """Call a function once; who asks meanwhile waits for it."""
    lock = Lock()
    found: list[NullModel] = []

    def call() -> NullModel:
        with lock:
            if not found:
                found.append(function(*args))
            return found[0]

    return call


def draw_null_table(
    model: NullModel, rows: np.ndarray, rng: np.random.Generator, moved: np.ndarray | None = None
) -> np.ndarray:
    """Draw a table without groups, of shape (n_rows, n_features), NaN where missing.

    It lacks the cells that `rows` (n_rows,) of the table lack. Rows that are `moved`
    (n_rows, n_units) from the mean, in standard deviations, may form groups.
    """
    latent = rng.standard_normal((len(rows), len(model.margins))) @ model.root.T
    if moved is not None:
        # Columns keep their distribution: they vary no more than without.
        latent = (latent + moved) / np.sqrt(1 + moved.var(axis=0))
    latent = model.means + model.spreads * latent
    observed = model.observed[rows]
    X = _show(model, latent)
    if (observed != observed[0]).any():
        drawn = [model.margins[j].score(latent[:, j]) for j in model.paired]
        observed = observed[pair_rows(np.column_stack(drawn), complete_scores(model, rows, rng))]
    X[~observed] = np.nan
    return X


def find_dependence(
    model: NullModel, arrangement: Arrangement, rng: np.random.Generator
) -> Dependence | None:
    """Estimate how the rows of a table depend on each other; None: they do not."""
    # The score of a discrete column is the Gaussian's with an error: c_1 is their correlation.
    reliability = np.abs([margin.hermite[0] for margin in model.margins])
    scores = (model.scores - model.means) / model.spreads / reliability
    noise = 1 / reliability**2 - 1
    correlations = model.root @ model.root.T
    return fit_dependence(scores, correlations, noise, model.paired, arrangement, rng)


def draw_dependent_table(
    model: NullModel, dependence: Dependence, some: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw a table without groups whose rows depend on each other as those of the table do.

    Its rows lie where some (n_some,) of the dependence's rows lie, and lack the same cells: what is
    missing depends on the place, too. It has the shape (n_some, n_features).
    """
    X = _show(model, model.means + model.spreads * dependence.draw(some, rng))
    X[~model.observed[dependence.rows[some]]] = np.nan
    return X


def _show(model: NullModel, latent: np.ndarray) -> np.ndarray:
    """Turn Gaussian rows (n, n_units) into rows of the table (n, n_features), nothing missing."""
    X = np.full((len(latent), model.observed.shape[1]), np.nan)
    for some, margin, column in zip(model.units.columns, model.margins, latent.T, strict=True):
        values = margin.quantile(ndtr(column))[:, None]
        if len(some) > 1:
            low, high = model.units.ends[:, some]
            values = np.where(values == np.arange(len(some)), high, low)
        X[:, some] = values
    return X


def pair_rows(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Pair rows (n, d) one to one with others (n, d), so that squared distances are least in sum.

    Returns the other row of each (n,). Costs less anything for each row and for each column have
    the same solution: the lowest of both take half of the time, the more so with far rows first,
    and `prices` take half of that again.
    """
    order = np.argsort(-(rows**2).sum(axis=1), kind="stable")
    costs = -rows[order] @ others.T
    _lower(costs)
    if len(rows) >= _MIN_PRICED:
        of_rows, of_others = prices(costs)
        costs -= of_rows[:, None]
        costs -= of_others
        _lower(costs)
    found = np.empty(len(rows), dtype=np.int64)
    found[order] = linear_sum_assignment(costs)[1]
    return found


def prices(costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the dual variables of an assignment, of its rows (n,) and columns (n,).

    Those of the assignment that may share rows out, blurred by an entropy (Sinkhorn's iteration).
    The costs (n, n) are 0 or more, and 0 somewhere in each row and column. The closer the prices,
    the sooner is the assignment found; they do not change it.
    """
    width = _BLUR * float(costs.mean()) or 1.0
    # Never subnormal, with which a CPU computes many times slower.
    weights = np.maximum(costs * (-1 / width), _LEAST_LOG).astype(np.float32)
    np.exp(weights, out=weights)
    right: Any = np.ones(len(costs), dtype=np.float32)
    for _ in range(_N_PRICED):
        left = 1 / (weights @ right)
        right = 1 / (left @ weights)
    return width * np.log(left.astype(np.float64)), width * np.log(right.astype(np.float64))


def _lower(costs: np.ndarray) -> None:
    """Subtract the lowest of each row, then of each column, from costs (n, n), in place."""
    costs -= costs.min(axis=1, keepdims=True)
    costs -= costs.min(axis=0)


def complete_scores(model: NullModel, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw what is missing in rows (n_rows,) of the table, given what is observed.

    Returns scores (n_rows, n_paired). With z a draw from the Gaussian, and E(δ) the deviations δ as
    `Completion.expect` completes them, z + E(x − z) has the observed values of x, and its missing
    ones are a draw given them (Matheron's rule).
    """
    root, means = model.root[model.paired], model.means[model.paired]
    spreads = model.spreads[model.paired]
    x = (model.scores[np.ix_(rows, model.paired)] - means) / spreads
    drawn = rng.standard_normal((len(rows), root.shape[1])) @ root.T
    moved = drawn + model.completion.expect(np.where(np.isnan(x), 0.0, x - drawn), rows)
    return means + spreads * np.where(np.isnan(x), moved, x)


def find_missing(is_missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the patterns of missing cells (n_samples, d), as in `Completion`."""
    kinds, patterns = np.unique(is_missing, axis=0, return_inverse=True)
    counts = kinds.sum(axis=1, keepdims=True)
    most = int(counts.max(initial=0))
    places = np.argsort(~kinds, axis=1, kind="stable")[:, :most]
    return patterns.reshape(-1), np.where(np.arange(most) < counts, places, kinds.shape[1])


def invert_missing(covariance: np.ndarray, patterns: np.ndarray, missing: np.ndarray) -> Completion:
    """Invert what is missing of the precision of a covariance (d, d), see `Completion`."""
    n_columns, precision = len(covariance), np.linalg.inv(covariance)
    counts = (missing < n_columns).sum(axis=1)
    inverses = np.zeros((*missing.shape, missing.shape[1]))
    # Those of one size at a time: most patterns lack far fewer cells than the one that lacks most.
    for size in np.unique(counts[counts > 0]):
        some = np.flatnonzero(counts == size)
        mine = missing[some, :size]
        blocks = precision[mine[:, :, None], mine[:, None, :]]
        inverses[some, :size, :size] = np.linalg.inv(blocks)
    return Completion(precision, patterns, missing, inverses)


def gaussian_of_all(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate means, standard deviations (d,) and correlations (d, d) of all values of a table.

    Those of observed scores (n, d), NaN where missing, are others where it depends on observed
    values what is missing. The estimate is that of maximum likelihood, by EM: the values missing
    from a row are expected as `Completion.expect` says, with the covariances Λ_mm⁻¹.
    """
    n_samples, n_columns = scores.shape
    patterns, missing = find_missing(np.isnan(scores))
    counts = np.bincount(patterns, minlength=len(missing))
    pairs = missing[:, :, None] * (n_columns + 1) + missing[:, None, :]
    means, covariance = np.zeros(n_columns), np.eye(n_columns)
    for _ in range(_N_ITERATIONS):
        completion = invert_missing(covariance, patterns, missing)
        expected = means + completion.expect(np.nan_to_num(scores - means))
        weighted = counts[:, None, None] * completion.inverses
        unknown = np.bincount(pairs.ravel(), weighted.ravel(), (n_columns + 1) ** 2)
        unknown = unknown.reshape(n_columns + 1, n_columns + 1)[:n_columns, :n_columns]
        means = expected.mean(axis=0)
        squares = (expected - means).T @ (expected - means) + unknown
        before = covariance
        covariance = (squares + _PRIOR_ROWS * np.eye(n_columns)) / (n_samples + _PRIOR_ROWS)
        if np.abs(covariance - before).max() < _SETTLED:
            break
    spreads = np.sqrt(np.diag(covariance))
    return means, spreads, covariance / spreads / spreads[:, None]


def copula_correlations(margins: list[Margin], raw: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Estimate the correlations of the Gaussian that the columns come from.

    With c_i the Hermite coefficients of column i's scores, the scores of two columns cut from
    Gaussians of correlation ρ have the correlation Σ_m ρ^m c_im c_jm, which grows with ρ. It is
    taken less what chance adds, and solved for ρ:
    tetrachoric and polychoric correlations for discrete columns, those of normal scores for others.
    For a discrete column solving magnifies chance, which is removed by eigenvalues, see
    `denoise_correlations`; between other columns one by one, see `without_chance`.

    The correlations of the scores, `raw`, the numbers of rows in which both are observed, `counts`,
    and the result have the shape (n_columns, n_columns); it is not necessarily positive
    semidefinite.
    """
    hermite = np.stack([margin.hermite for margin in margins])
    found = without_chance(raw, counts)
    discrete = np.array([margin.discrete for margin in margins])
    if discrete.any():
        either = discrete[:, None] | discrete
        found = np.where(either, denoise_correlations(raw, counts), found)
    degrees, step = np.arange(1, N_HERMITE + 1), _GRID[1] - _GRID[0]
    solved, before = np.full(found.shape, _GRID[0]), None
    # One point of the grid at a time: all of them together would not fit for many columns.
    for rho in _GRID:
        curve = (hermite * rho**degrees) @ hermite.T
        if before is not None:
            rise = np.where(curve > before, curve - before, 1.0)
            share = np.clip((found - before) / rise, 0.0, 1.0)
            solved = np.where(found > before, rho - step + step * share, solved)
        before = curve
    np.fill_diagonal(solved, 1.0)
    return (solved + solved.T) / 2


def pairwise_correlations(
    scores: np.ndarray, observed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Correlate columns (n, d), zero where not observed, over the rows that both are observed in.

    Returns the correlations (d, d), 0 where a column does not vary in these rows, and the numbers
    of these rows (d, d).
    """
    seen = observed.astype(np.float64)
    counts = seen.T @ seen
    n = np.maximum(counts, 1.0)
    sums, squares = scores.T @ seen, (scores**2).T @ seen
    covariances = scores.T @ scores - sums * sums.T / n
    variances = np.maximum(squares - sums**2 / n, 0.0)
    spread = np.sqrt(variances * variances.T)
    varies = spread > 1e-9 * n
    return np.where(varies, covariances / np.where(varies, spread, 1.0), 0.0), counts


def without_chance(correlations: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Shrink correlations by what chance adds to their squares.

    The correlation r of n rows has the variance v = (1 − r²)² / (n − 1), and r² exceeds the squared
    correlation of all rows by v on average. Null tables drawn with r would add chance of their own
    to it, and be more correlated than the table. They are drawn with √(r² − v), or 0 if r² < v.
    All arrays are (d, d), as `pairwise_correlations` returns them.
    """
    shrunk = correlations * counts / (counts + _PRIOR_ROWS)
    variances = (1 - shrunk**2) ** 2 / np.maximum(counts - 1, 1.0)
    return np.sign(shrunk) * np.sqrt(np.maximum(shrunk**2 - variances, 0.0))


def denoise_correlations(correlations: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Remove from correlations what chance adds to their eigenvalues.

    Of d columns without correlation, n rows show eigenvalues within s (1 ± √g)², with g = d / n and
    s their mean: chance alone (Marchenko and Pastur 1967). These become s. An eigenvalue λ outside
    comes from one of all rows, ℓ, that chance moved away from s, λ = ℓ (1 + g s / (ℓ − s)), which
    is solved for ℓ (Baik and Silverstein 2006). 1 / n is the mean variance of the correlations
    by chance, since columns share different numbers of rows. All arrays are (d, d).
    """
    n_columns = len(counts)
    trust = counts / (counts + _PRIOR_ROWS)
    shrunk = correlations * trust
    np.fill_diagonal(shrunk, 1.0)
    variances = trust**2 / np.maximum(counts - 1, 1.0)
    apart = ~np.eye(n_columns, dtype=bool)
    ratio = n_columns * float(variances[apart].mean()) if n_columns > 1 else 0.0
    values, vectors = np.linalg.eigh(shrunk)
    denoised = (vectors * denoise_eigenvalues(values, ratio)) @ vectors.T
    spread = np.sqrt(np.diag(denoised))
    return denoised / spread / spread[:, None]


def denoise_eigenvalues(values: np.ndarray, ratio: float) -> np.ndarray:
    """Estimate the eigenvalues of all rows from those of a sample, see `denoise_correlations`.

    Those of correlations (d,), of mean 1, in the same order; `ratio` is g, columns by rows.
    """
    low, high = max(0.0, 1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    level, chance = 1.0, np.ones(len(values), dtype=bool)
    # The more eigenvalues stand out, the lower the others are, of which more then stand out.
    for _ in range(_MAX_ROUNDS):
        found = (values >= low * level) & (values <= high * level)
        if not found.any() or (found == chance).all():
            break
        level, chance = max(float(values[found].mean()), _MIN_EIGENVALUE), found
    x = values / level
    half, apart = (x + 1 - ratio) / 2, np.sqrt(np.maximum((x + 1 - ratio) ** 2 / 4 - x, 0.0))
    solved = level * np.where(x > 1, half + apart, half - apart)
    return np.maximum(np.where(found, level, solved), _MIN_EIGENVALUE)


def order_categories(X: np.ndarray, categorical: np.ndarray) -> list[np.ndarray | None]:
    """Order the categories of each column by the table's direction of largest variance.

    The direction is the first left singular vector of the standardised numbers and the centred
    indicators of the categories, zeros where missing. Categories come first to last; None for a
    column of numbers.
    """
    orders: list[np.ndarray | None] = [None] * len(categorical)
    if not categorical.any():
        return orders
    blocks = []
    for column, is_category in zip(X.T, categorical, strict=True):
        seen = ~np.isnan(column)
        block = column[:, None]
        if is_category:
            block = block == np.unique(column[seen])
        block = (block - block[seen].mean(axis=0)) / np.sqrt(block[seen].var(axis=0).sum())
        blocks.append(np.where(seen[:, None], block, 0.0))
    direction = np.linalg.svd(np.hstack(blocks), full_matrices=False)[0][:, 0]
    for j in np.flatnonzero(categorical):
        levels = np.unique(X[~np.isnan(X[:, j]), j])
        means = [direction[X[:, j] == level].mean() for level in levels]
        orders[j] = levels[np.argsort(means, kind="stable")]
    return orders
