"""Null tables: tables without groups, otherwise as similar to a given one as possible.

Rows are draws from a Gaussian copula: from a Gaussian with the table's correlations, each column of
which is then given the distribution of the table's column. Discrete columns keep theirs, all others
get the closest unimodal one. Columns of two values that hold one category together stay one. The
same cells are missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from pckid.significance.margins import N_HERMITE, Margin, fit_margin
from pckid.significance.units import Units, find_units

_GRID = np.linspace(-0.999, 0.999, 81)
_LEAST_EIGENVALUE = 1e-3
# How many rows without correlation are added to those in which both columns are observed.
_PRIOR_ROWS = 2.0
_MAX_ROUNDS = 20


class NullModel(NamedTuple):
    """What null tables are drawn from; they lack columns that do not take two values."""

    margins: list[Margin]  # of the units
    units: Units
    root: np.ndarray  # (n_units, n_units), times its transpose the correlations of the Gaussian
    observed: np.ndarray  # (n_samples, n_features), bool


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
    correlations = copula_correlations(margins, ~np.isnan(table))
    return NullModel(margins, units, _root(correlations), ~np.isnan(X))


def draw_null_table(model: NullModel, rng: np.random.Generator) -> np.ndarray:
    """Draw a table without groups, of shape (n_samples, n_features), NaN where missing."""
    n_samples = len(model.observed)
    latent = rng.standard_normal((n_samples, len(model.margins))) @ model.root.T
    X = np.full(model.observed.shape, np.nan)
    for some, margin, column in zip(model.units.columns, model.margins, latent.T, strict=True):
        values = margin.quantile(ndtr(column))[:, None]
        if len(some) > 1:
            low, high = model.units.ends[:, some]
            values = np.where(values == np.arange(len(some)), high, low)
        X[:, some] = values
    X[~model.observed] = np.nan
    return X


def copula_correlations(margins: list[Margin], observed: np.ndarray) -> np.ndarray:
    """Estimate the correlations of the Gaussian that the columns come from.

    With c_i the Hermite coefficients of column i's scores, the scores of two columns cut from
    Gaussians of correlation ρ have the correlation Σ_m ρ^m c_im c_jm, which grows with ρ. It is
    estimated from rows in which both are observed, less what chance adds, and solved for ρ:
    tetrachoric and polychoric correlations for discrete columns, those of normal scores for others.
    For a discrete column solving magnifies chance, which is removed by eigenvalues, see
    `denoise_correlations`; between other columns one by one, see `without_chance`.

    The cells observed have the shape (n_samples, n_columns); the correlations (n_columns,
    n_columns) are not necessarily positive semidefinite.
    """
    scores = np.column_stack([np.nan_to_num(margin.scores) for margin in margins])
    hermite = np.stack([margin.hermite for margin in margins])
    raw, counts = pairwise_correlations(scores, observed)
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
        level, chance = max(float(values[found].mean()), _LEAST_EIGENVALUE), found
    x = values / level
    half, apart = (x + 1 - ratio) / 2, np.sqrt(np.maximum((x + 1 - ratio) ** 2 / 4 - x, 0.0))
    solved = level * np.where(x > 1, half + apart, half - apart)
    return np.maximum(np.where(found, level, solved), _LEAST_EIGENVALUE)


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


def _root(correlations: np.ndarray) -> np.ndarray:
    """Factorise the closest correlations that are positive definite."""
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, _LEAST_EIGENVALUE))
    return root / np.linalg.norm(root, axis=1, keepdims=True)
