"""How often the rows of a cluster are labelled as another one: the errors of a classification.

Memberships from `predict_proba` say how reproducible labels are, and clusters that overlap are
found again with the same overlap. How often labels are wrong is a question about the densities of
the clusters: a mixture with one component for each cluster starts at the labels. Within a component
columns are independent, each with a density of its own: a smoothed histogram, or a Gaussian where
that describes it as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array
from scipy.special import ndtr

from pckid._utils.arrays import to_numpy
from pckid.input.table import Table

# A column of more distinct numbers is cut into so many bins, with as many rows each, that are
# smoothed over their neighbours so many times. Of 20, 30 and 40 bins, chosen on simulated tables.
_N_BINS, _N_SMOOTHED = 30, 4
# No bin reaches over a gap of so many standard deviations of its column, nor does what smooths. On
# both sides there are at least so many rows, or as many as the smallest cluster has: outliers are
# no cells of their own.
_GAP, _MIN_ROWS = 0.3, 5
# The smallest variance of a Gaussian, in units of the column's variance.
_FLOOR = 0.01
# Each cell of a component holds, besides its rows, this much of one that is like all rows.
_PRIOR_ROWS = 0.001
# EM takes at most so many steps, and stops when no probability of a cell moves by more than this.
# Stopped sooner, draws differ too little, and intervals are too short.
_MAX_STEPS, _STILL = 200, 1e-4
# It stops as well before the posteriors of the labels are, on average, lower by this than those of
# the likeliest clusters: the components would no longer be the clusters that the labels name.
# Columns that are correlated within clusters drive them there. Labels of which a third are wrong
# may, too, and are then corrected in part.
_FARTHEST = 0.04
# Draws are taken together as long as their densities hold no more than about so many numbers.
_BLOCK_NUMBERS = 1 << 20


class ClassPosteriors(NamedTuple):
    """Posteriors of rows over clusters, by all rows alike and by rows drawn anew."""

    # (1 + n_draws, n_clusters, n_samples); the first is of the rows as they are
    memberships: np.ndarray
    weights: np.ndarray  # (1 + n_draws, n_samples), how often each row counts; the first are 1


def fit_posteriors(
    table: Table, labels: np.ndarray, n_clusters: int, n_draws: int, rng: np.random.Generator
) -> ClassPosteriors:
    """Fit a mixture with a component for each cluster, on the rows and on draws of them.

    A draw gives each row an exponential weight (the Bayesian bootstrap, Rubin 1981), so that no
    cluster is without rows. EM takes as many steps from the posteriors of all rows alike as it took
    to find these.

    Parameters
    ----------
    table : Table
        Standardised rows, each with something observed.
    labels : ndarray of shape (n_samples,)
        From 0 to `n_clusters` − 1.
    n_clusters : int
    n_draws : int
    rng : numpy Generator

    Returns
    -------
    posteriors : ClassPosteriors
    """
    smallest = int(np.bincount(labels)[np.unique(labels)].min())
    cells, alike = _cut_table(table, min(_MIN_ROWS, smallest)), np.ones((1, len(labels)))
    n_steps, first = _run_from(cells, labels, n_clusters)
    cells = _choose_densities(cells, first)
    if not cells.is_free.all():
        n_steps, first = _run_from(cells, labels, n_clusters)
    drawn = rng.exponential(size=(n_draws, len(labels)))
    drawn /= drawn.mean(axis=1, keepdims=True)
    n_parts = 1 + n_draws * n_clusters * len(cells.shares) // _BLOCK_NUMBERS
    parts = [part for part in np.array_split(drawn, n_parts) if len(part)]
    found = [first, *(_run(cells, first, part, n_steps) for part in parts)]
    memberships = np.concatenate(found, axis=1).transpose(1, 2, 0).astype(np.float64)
    return ClassPosteriors(memberships, np.concatenate([alike, drawn]))


class _Column(NamedTuple):
    """A column cut into cells: bins of numbers, categories, or whether there is a value."""

    codes: np.ndarray  # (n_samples,), the cell of each row; −1 where it has none
    nearby: np.ndarray  # (n_cells, n_cells), how much cells count for each other
    edges: np.ndarray  # (2, n_cells), where bins begin and end; 0 where there are no numbers
    moments: np.ndarray  # (2, n_cells), the means of x and x² in bins; 0 where there are no numbers
    evidence: np.ndarray  # (n_cells,), whether it says anything that a row is in a cell


class _Cells(NamedTuple):
    """The cells of all columns, end to end."""

    rows: csr_array  # (n_samples, n_cells), 1 where a row is in a cell
    starts: NDArray[np.intp]  # (n_columns,), the first cell of each column
    column: np.ndarray  # (n_cells,), the column of each cell
    shares: np.ndarray  # (n_cells,), of the rows that have a cell in the column
    is_free: np.ndarray  # (n_columns,), whether densities are histograms rather than Gaussian
    nearby: csr_array  # (n_cells, n_cells)
    edges: np.ndarray  # (2, n_cells)
    moments: np.ndarray  # (2, n_cells)
    evidence: np.ndarray  # (n_cells,)

    def sum_columns(self, values: np.ndarray) -> np.ndarray:
        """Add up values (..., n_cells) over the cells of each column (..., n_columns)."""
        return np.add.reduceat(values, self.starts, axis=-1)


def _cut_table(table: Table, min_rows: int) -> _Cells:
    """Cut all columns into cells; missingness that is informative is a further column.

    On both sides of a gap there are `min_rows` at least.
    """
    values, observed, codes = map(to_numpy, (table.values, table.observed, table.codes))
    d, margins = table.n_features, table.margins
    one_hot = np.zeros(d) if margins.one_hot is None else to_numpy(margins.one_hot)
    tells = np.ones(1) if margins.observed is None else to_numpy(margins.observed)
    columns = [
        _cut_numbers(values[:, j].astype(np.float64), observed[:, j], one_hot[j] > 0, min_rows)
        for j in range(d)
    ]
    columns += [_take_codes(codes[:, j]) for j in range(codes.shape[1])]
    columns += [_take_codes(observed[:, j].astype(np.int64)) for j in np.flatnonzero(tells < 1)]
    columns = [each for each in columns if len(each.evidence)]
    widths = np.array([len(each.evidence) for each in columns], dtype=np.intp)
    starts: NDArray[np.intp] = np.cumsum(widths) - widths
    column = np.repeat(np.arange(len(columns)), widths)
    placed = np.stack([each.codes for each in columns], axis=1)
    row, j = np.nonzero(placed >= 0)
    where = row, placed[row, j] + starts[j]
    rows = csr_array((np.ones(len(row), np.float32), where), shape=(len(values), len(column)))
    counts = np.bincount(where[1], minlength=len(column)).astype(np.float64)
    shares = counts / np.add.reduceat(counts, starts)[column]
    nearby = csr_array(block_diag([each.nearby for each in columns]))
    is_free = np.ones(len(columns), dtype=bool)
    rest = (np.concatenate(part, axis=-1) for part in list(zip(*columns, strict=True))[2:])
    return _Cells(rows, starts, column, shares, is_free, nearby, *rest)


def _cut_numbers(x: np.ndarray, observed: np.ndarray, is_one_hot: bool, min_rows: int) -> _Column:
    """Cut the numbers x (n_samples,) of a column at quantiles and gaps; few ones at each number.

    Of columns that hold one category together, the one of the higher value tells all.
    """
    ordered = np.sort(x[observed])
    steps = np.diff(ordered)
    if are_many := np.count_nonzero(steps) >= _N_BINS:
        quantiles = ordered[np.arange(1, _N_BINS) * len(ordered) // _N_BINS]
        starts = np.searchsorted(ordered, quantiles)
        gaps = np.flatnonzero(steps[min_rows - 1 : len(steps) + 1 - min_rows] > _GAP) + min_rows
        starts = np.union1d(starts[starts > 0], gaps)
    else:
        starts = np.flatnonzero(steps) + 1
    inner = (ordered[starts] + ordered[starts - 1]) / 2
    is_near = are_many & (steps[starts - 1] <= _GAP)
    n_cells = len(starts) + (len(ordered) > 0)
    codes = np.where(observed, np.searchsorted(inner, x, side="right"), -1)
    counts = np.bincount(codes[observed], minlength=n_cells)
    moments = [np.bincount(codes[observed], x[observed] ** p, n_cells) / counts for p in (1, 2)]
    edges = np.stack([np.append(-np.inf, inner), np.append(inner, np.inf)])[:, :n_cells]
    step = (np.diag(is_near, 1) + np.diag(is_near, -1))[:n_cells, :n_cells] / 4
    step += np.diag(1 - step.sum(axis=0))
    evidence = np.isposinf(edges[1]) if is_one_hot else np.ones(n_cells)
    nearby = np.linalg.matrix_power(step, _N_SMOOTHED)
    return _Column(codes, nearby, edges, np.stack(moments), evidence.astype(np.float64))


def _take_codes(codes: np.ndarray) -> _Column:
    """Take each category of codes (n_samples,), −1 where missing, as a cell."""
    known = np.unique(codes[codes >= 0])
    found = np.where(codes >= 0, np.searchsorted(known, codes), -1)
    nothing = np.zeros((2, len(known)))
    return _Column(found, np.eye(len(known)), nothing, nothing, np.ones(len(known)))


def _run_from(cells: _Cells, labels: np.ndarray, n_clusters: int) -> tuple[int, np.ndarray]:
    """Take EM steps from the labels until nothing moves: how many, and the posteriors.

    Or until the components leave the labels. The posteriors are of shape (n_samples, 1,
    n_clusters).
    """
    member = (labels[:, None, None] == np.arange(n_clusters)).astype(np.float32)
    alike, posteriors, before = np.ones((1, len(labels))), member, np.zeros(())
    for n_steps in range(_MAX_STEPS):
        after = _run(cells, posteriors, alike, 1)
        if (after.max(axis=-1) - (after * member).sum(axis=-1)).mean() > _FARTHEST:
            return n_steps, posteriors
        posteriors, chances = after, _densities(cells, _sum_rows(cells, after))
        if np.abs(chances - before).max() < _STILL:
            return n_steps + 1, posteriors
        before = chances
    return _MAX_STEPS, posteriors


def _run(cells: _Cells, resp: np.ndarray, weights: np.ndarray, n_steps: int) -> np.ndarray:
    """Take EM steps with rows weighted (m, n_samples), from posteriors (n_samples, 1, n_clusters).

    The posteriors that they end with are of shape (n_samples, m, n_clusters).
    """
    weights = weights.T[:, :, None].astype(np.float32)
    posteriors = np.broadcast_to(resp, (len(resp), weights.shape[1], resp.shape[2]))
    for _ in range(n_steps):
        resp = posteriors * weights
        n, m, k = resp.shape
        chances = _densities(cells, _sum_rows(cells, resp))
        evidence = (np.log(chances) * cells.evidence).astype(np.float32).reshape(m * k, -1)
        log_joint = (cells.rows @ evidence.T).reshape(n, m, k)
        log_joint += np.log(resp.sum(axis=0) + np.finfo(np.float32).smallest_normal)
        posteriors = np.exp(log_joint - log_joint.max(axis=-1, keepdims=True))
        posteriors /= posteriors.sum(axis=-1, keepdims=True)
    return posteriors


def _sum_rows(cells: _Cells, resp: np.ndarray) -> np.ndarray:
    """Sum responsibilities (n_samples, m, n_clusters) by cells (m, n_clusters, n_cells)."""
    n, m, k = resp.shape
    found = cells.rows.T @ resp.reshape(n, m * k)
    return np.ascontiguousarray(found.T, dtype=np.float64).reshape(m, k, -1)


def _densities(cells: _Cells, found: np.ndarray) -> np.ndarray:
    """Turn the sums in the cells (m, n_clusters, n_cells) into probabilities.

    In each column they add up to 1. What a histogram smooths over the cells nearby is the part that
    a component has of the rows there, so that a cell of many rows does not spill into its
    neighbours.
    """
    smoothed = (found.reshape(-1, found.shape[-1]) @ cells.nearby).reshape(found.shape)
    chances = smoothed * (cells.shares / (cells.shares @ cells.nearby))
    if not cells.is_free.all():
        chances = np.where(cells.is_free[cells.column], chances, _fit_gaussians(cells, found))
    chances = chances + _PRIOR_ROWS * cells.shares
    return chances / cells.sum_columns(chances)[..., cells.column]


def _fit_gaussians(cells: _Cells, found: np.ndarray) -> np.ndarray:
    """Spread the sums (m, n_clusters, n_cells) as a Gaussian with the moments of each column."""
    total = cells.sum_columns(found)
    mean, square = (
        cells.sum_columns(found * moment) / np.maximum(total, 1e-9) for moment in cells.moments
    )
    scale = np.sqrt(np.maximum(square - mean**2, _FLOOR))[..., cells.column]
    low, high = (ndtr((edge - mean[..., cells.column]) / scale) for edge in cells.edges)
    return total[..., cells.column] * (high - low)


def _choose_densities(cells: _Cells, posteriors: np.ndarray) -> _Cells:
    """Choose Gaussians for the columns that smoothed histograms do not describe better.

    By the Bayesian information criterion; a smoothed histogram has as many parameters as the trace
    of what smooths it, less 1. The posteriors are of shape (n_samples, 1, n_clusters).
    """
    found, (n, _, k) = _sum_rows(cells, posteriors), posteriors.shape
    gaussian = cells._replace(is_free=np.zeros_like(cells.is_free))
    ratios = np.log(_densities(cells, found)) - np.log(_densities(gaussian, found))
    gain = cells.sum_columns((found * ratios).sum(axis=(0, 1)))
    smoothing = cells.nearby.diagonal() * cells.shares / (cells.shares @ cells.nearby)
    more = cells.sum_columns(smoothing) - 1 - 2
    has_numbers = cells.edges[0][cells.starts] < 0
    return cells._replace(is_free=~has_numbers | (gain > k * more * np.log(n) / 2))


def error_rates(
    memberships: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Estimate how likely a row of each cluster gets each label.

        D_st = Σ_i p_is [w_i = t] / Σ_i p_is

    for posteriors p and labels w (Bolck, Croon and Hagenaars 2004, equation 6).

    Parameters
    ----------
    memberships : ndarray of shape (..., n_clusters, n_samples)
    labels : ndarray of shape (n_samples,)
    weights : ndarray of shape (..., n_samples), default=None
        How much each row counts.

    Returns
    -------
    rates : ndarray of shape (..., n_clusters, n_clusters)
        Rows add up to 1. A cluster without any posterior is taken to get its own label.
    """
    n_clusters = memberships.shape[-2]
    counted = memberships if weights is None else memberships * weights[..., None, :]
    joint = counted @ (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    total = joint.sum(axis=-1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), np.eye(n_clusters))


def correct_sums(rates: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Turn sums over the rows of each label into sums over the rows of each cluster.

    Row i counts in cluster s with the weight (D⁻¹)_ws for its label w: some weights are negative,
    and on average over the errors each row counts in its own cluster alone.

    Parameters
    ----------
    rates : ndarray of shape (..., n_clusters, n_clusters)
        As from `error_rates`.
    sums : ndarray of shape (..., n_clusters, n_values)
        Of the rows of each label.

    Returns
    -------
    corrected : ndarray of shape (..., n_clusters, n_values)
        D⁻ᵀ times the sums.
    """
    # A draw may leave two clusters that nothing tells apart.
    return np.linalg.pinv(np.swapaxes(rates, -1, -2), rcond=1e-6) @ sums
