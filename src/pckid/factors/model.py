"""Factor analysis of columns of which some cells are missing: scores of rows, by EM.

A standardised column is x = w z + e, with factors z in common, which are standard normal, and an
error e of its own of variance ψ (Tipping and Bishop 1999; Rubin and Thayer 1982). The loadings w
have a normal prior of mean 0, whose variance α is learnt, as columns are many and rows few. All
sums are over observed cells, so that nothing is imputed: a row of few cells has scores near 0, and
wide ones.

Arrays are NumPy's: a fit has few rows. Rows are scored where they lie, see `scores`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.stats import f

# An error's variance counts as much as so many cells of mean variance, and is no smaller than this.
_PRIOR_CELLS, _MIN_NOISE = 5.0, 1e-3
_FIRST_VARIANCE = 0.1  # of loadings
_MIN_VARIANCE = 1e-6
_BLOCK_NUMBERS = 1 << 18


class Cells(NamedTuple):
    """Standardised cells of numbers, and how much their rows and columns count."""

    values: np.ndarray  # (n, d), 0 where nothing was observed
    seen: np.ndarray  # (n, d), 1 where observed, else 0
    rows: np.ndarray  # (n,), of mean 1
    columns: np.ndarray  # (d,), how many times the log-density of each counts

    def take_rows(self, rows: np.ndarray) -> Cells:
        """Take some of the rows."""
        return Cells(self.values[rows], self.seen[rows], self.rows[rows], self.columns)

    def take(self, columns: np.ndarray) -> Cells:
        """Take some of the columns."""
        values, seen = self.values[:, columns], self.seen[:, columns]
        return Cells(values, seen, self.rows, self.columns[columns])


class Scores(NamedTuple):
    """What the observed cells of each row say of its factors."""

    means: np.ndarray  # (n, r)
    covariances: np.ndarray  # (n, r, r)


class Loadings(NamedTuple):
    """What each column has of the factors."""

    weights: np.ndarray  # (d, r), w
    noise: np.ndarray  # (d,), ψ


def first_scores(cells: Cells, n_factors: int) -> Scores:
    """Start from the leading principal components, missing cells at the mean."""
    each = np.sqrt(cells.rows)[:, None]
    filled = each * cells.values
    filled *= np.sqrt(cells.columns)
    n, d = filled.shape
    last = [max(0, min(n, d) - n_factors), min(n, d) - 1]
    if d < n:
        vectors = filled @ eigh(filled.T @ filled, subset_by_index=last)[1][:, ::-1]
        vectors /= np.maximum(np.sqrt((vectors**2).sum(axis=0)), np.finfo(filled.dtype).tiny)
    else:
        vectors = eigh(filled @ filled.T, subset_by_index=last)[1][:, ::-1]
    means = np.sqrt(n) * vectors / each
    return Scores(means, np.zeros((*means.shape, means.shape[1])))


def fit_by_em(
    cells: Cells, scores: Scores, n_iter: int, variance: float = _FIRST_VARIANCE
) -> tuple[Scores, Loadings]:
    """Take EM steps from the scores of rows; each is an M-step, then an E-step."""
    noise = np.ones(cells.values.shape[1], dtype=cells.values.dtype)
    for _ in range(n_iter):
        loadings = fit_loadings(cells, scores, noise, variance)
        variance = variance_of_loadings(cells, loadings, noise, variance)
        scores, loadings = standard_scores(cells, expect_scores(cells, loadings), loadings)
        noise = loadings.noise
    return scores, loadings


def variance_of_loadings(
    cells: Cells, loadings: Loadings, noise: np.ndarray, variance: float
) -> float:
    """Update the variance of the prior of loadings, by EM: what they are, and how unsure.

    Standard scores of n rows leave a loading a variance of ψ / (n + ψ / α).
    """
    unsure = noise / (cells.rows @ cells.seen + noise / variance)
    squares = (loadings.weights**2).mean(axis=1) + unsure
    found = float(cells.columns @ squares / cells.columns.sum())
    return max(found, _MIN_VARIANCE)


def fit_loadings(cells: Cells, scores: Scores, noise: np.ndarray, variance: float) -> Loadings:
    """Regress each column on the factors over the rows in which it is observed: the M-step.

    `noise` (d,) are the errors' variances so far, and `variance` is that of the prior of loadings.
    """
    r = scores.means.shape[1]
    outer = scores.means[:, :, None] * scores.means[:, None, :] + scores.covariances
    weighted = cells.rows[:, None]
    gram = _sum_outer(cells.seen.T, weighted[..., None] * outer)
    cross = cells.values.T @ (weighted * scores.means)
    ridge = (noise / variance)[:, None, None] * np.eye(r, dtype=gram.dtype)
    weights = np.linalg.solve(gram + ridge, cross[..., None])[..., 0]
    left = _sum_squares(cells) - 2 * (weights * cross).sum(axis=1)
    left += (np.matmul(gram, weights[..., None])[..., 0] * weights).sum(axis=1)
    count = cells.rows @ cells.seen
    common = (cells.columns @ left) / (cells.columns @ count)
    found = (left + _PRIOR_CELLS * common) / (count + _PRIOR_CELLS)
    return Loadings(weights, np.maximum(found, _MIN_NOISE))


def expect_scores(cells: Cells, loadings: Loadings) -> Scores:
    """Compute the posterior means and covariances of rows' factors: the E-step."""
    scaled = loadings.weights * (cells.columns / loadings.noise)[:, None]
    products = scaled[:, :, None] * loadings.weights[:, None, :]
    precisions = _sum_outer(cells.seen, products) + np.eye(scaled.shape[1], dtype=scaled.dtype)
    covariances = np.linalg.inv(precisions)
    sums = cells.values @ scaled
    return Scores(np.matmul(covariances, sums[..., None])[..., 0], covariances)


def standard_scores(cells: Cells, scores: Scores, loadings: Loadings) -> tuple[Scores, Loadings]:
    """Rotate and scale factors so that they are standard, the one that tells most first.

    That leaves what the model says of each cell as it is (parameter expansion, Liu et al. 1998).
    """
    n = len(scores.means)
    second = (scores.means.T * cells.rows) @ scores.means
    second += np.tensordot(cells.rows, scores.covariances, axes=1)
    values, vectors = np.linalg.eigh(second / n)
    to, back = vectors / np.sqrt(values), vectors * np.sqrt(values)
    weights = loadings.weights @ back
    precision = weights.T @ (weights * (cells.columns / loadings.noise)[:, None])
    turn = np.linalg.eigh(precision)[1][:, ::-1]
    to, weights = to @ turn, weights @ turn
    covariances = np.matmul(to.T, np.matmul(scores.covariances, to))
    return Scores(scores.means @ to, covariances), loadings._replace(weights=weights)


def log_p_of_columns(cells: Cells, scores: Scores) -> np.ndarray:
    """Compute log p-values (d,) of the F tests of columns regressed on the scores of rows.

    The lower, the more a column has of the factors.
    """
    n, r = scores.means.shape
    design = np.column_stack([np.ones(n, dtype=scores.means.dtype), scores.means])
    weighted = cells.rows[:, None]
    outer = weighted[..., None] * design[:, :, None] * design[:, None, :]
    gram = _sum_outer(cells.seen.T, outer)
    cross = cells.values.T @ (weighted * design)
    gram = gram + 1e-6 * np.eye(r + 1, dtype=gram.dtype)
    found = np.linalg.solve(gram, cross[..., None])[..., 0]
    count = np.maximum(cells.rows @ cells.seen, 1e-9)
    squares = _sum_squares(cells)
    total = squares - cross[:, 0] ** 2 / count
    left = np.maximum(squares - (found * cross).sum(axis=1), 1e-9)
    free = np.maximum(count - r - 1, 1.0)
    return f.logsf(np.maximum(total - left, 0) / r / (left / free), r, free)


def _sum_squares(cells: Cells) -> np.ndarray:
    """Sum the squares of columns (d,), of some columns at a time, so that memory stays small."""
    n, d = cells.values.shape
    size = max(1, _BLOCK_NUMBERS // n)
    parts = (cells.values[:, start : start + size] for start in range(0, d, size))
    return np.concatenate([cells.rows @ part**2 for part in parts])


def _sum_outer(weights: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Sum symmetric matrices (n, r, r) by weights (m, n): (m, r, r), half of each computed."""
    r = matrices.shape[1]
    upper = np.triu_indices(r)
    place = np.empty((r, r), dtype=np.int64)
    place[upper] = place.T[upper] = np.arange(len(upper[0]))
    return (weights @ matrices[:, upper[0], upper[1]])[:, place]
