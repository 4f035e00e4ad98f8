"""How often the rows of a cluster are labelled as another one: the errors of a classification.

Memberships from `predict_proba` say how reproducible labels are, and clusters that overlap are
found again with the same overlap. How often labels are wrong is a question about the densities of
the clusters: a mixture with one component for each cluster starts at the labels. Within a component
each column has a density of its own: a smoothed histogram, or a Gaussian where that describes it as
well. Columns are independent, or have a factor in common, the same in all components, if the
Bayesian information criterion prefers it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array
from scipy.sparse.linalg import svds
from scipy.special import ndtr, ndtri

from pckid._utils.arrays import to_numpy
from pckid.columns import kinds
from pckid.input.table import StandardisedRows

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
# The factor that columns may have in common is summed over so many values of it, and no column is
# correlated with it by more than this. Fewer columns of numbers tell no factor.
_N_NODES, _MAX_LOADING, _MIN_LOADED = 5, 0.95, 3
# Draws are taken together as long as their densities hold no more than about so many numbers.
_BLOCK_NUMBERS = 1 << 20


class RowDraws:
    """Rows drawn anew: each counts with an exponential weight (the Bayesian bootstrap, Rubin 1981).

    So no cluster is without rows. Rows that belong together have one weight.

    Parameters
    ----------
    n_draws : int
    together : ndarray of shape (n_samples,) or None
        Which rows belong together, from 0. None: each is by itself.
    rng : numpy Generator
    """

    def __init__(self, n_draws: int, together: np.ndarray | None, rng: np.random.Generator) -> None:
        self._n_draws, self._together, self._rng = n_draws, together, rng
        if together is not None:
            counts = np.bincount(together)
            self._weights = rng.exponential(size=(n_draws, len(counts)))
            self._weights /= (self._weights @ counts / counts.sum())[:, None]

    def draw(self, rows: np.ndarray) -> np.ndarray:
        """Give the weights of some rows in all draws (n_draws, n_rows), 1 on average."""
        if self._together is not None:
            return self._weights[:, self._together[rows]]
        drawn = self._rng.exponential(size=(self._n_draws, len(rows)))
        return drawn / drawn.mean(axis=1, keepdims=True)

    def draw_others(self, number: int, rows: np.ndarray) -> np.ndarray:
        """Give the weights (n_rows,) of rows that were not yet drawn, in one draw."""
        if self._together is not None:
            return self._weights[number, self._together[rows]]
        return self._rng.exponential(size=len(rows))


class ClassPosteriors(NamedTuple):
    """Posteriors of rows over clusters, by all rows alike and by rows drawn anew."""

    # (1 + n_draws, n_clusters, n_samples); the first is of the rows as they are
    memberships: np.ndarray
    weights: np.ndarray  # (1 + n_draws, n_samples), how often each row counts; the first are 1
    are_correlated: bool  # whether columns have a factor in common


def fit_posteriors(
    table: StandardisedRows, labels: np.ndarray, n_clusters: int, drawn: np.ndarray
) -> ClassPosteriors:
    """Fit a mixture with a component for each cluster, on the rows and on draws of them.

    EM takes as many steps from the posteriors of all rows alike as it took to find these.

    Parameters
    ----------
    table : StandardisedRows
        Standardised rows, each with something observed.
    labels : ndarray of shape (n_samples,)
        From 0 to `n_clusters` − 1.
    n_clusters : int
    drawn : ndarray of shape (n_draws, n_samples)
        How often each row counts in each draw, 1 on average, as `RowDraws` gives it.

    Returns
    -------
    posteriors : ClassPosteriors
    """
    smallest = int(np.bincount(labels)[np.unique(labels)].min())
    cells, alike = _cut_table(table, min(_MIN_ROWS, smallest)), np.ones((1, len(labels)))
    member = (labels[:, None, None, None] == np.arange(n_clusters)[:, None]).astype(np.float32)
    start = _Fit(_maximise(cells, member), member)
    fit = _run(cells, start, alike)
    cells = _choose_densities(cells, fit.resp)
    start = _Fit(_maximise(cells, member), member)
    if not cells.is_free.all():
        fit = _run(cells, start, alike)
    loadings = _start_loadings(cells, labels, start.mixture)
    if are_correlated := bool(loadings.any()):
        aim = fit.log_likelihood + np.count_nonzero(loadings) * np.log(len(labels)) / 2
        start = _expect(cells, start.mixture._replace(loadings=loadings))
        other = _run(cells, start, alike, aim=aim)
        if are_correlated := bool(other.log_likelihood > aim):
            fit = other
    n_parts = 1 + len(drawn) * fit.resp[0].size * len(cells.shares) // _BLOCK_NUMBERS
    parts = [part for part in np.array_split(drawn, n_parts) if len(part)]
    fits = [fit, *(_run(cells, fit, part, fit.n_steps) for part in parts)]
    found = np.concatenate([each.resp.sum(axis=-1) for each in fits], axis=1)
    memberships = found.transpose(1, 2, 0).astype(np.float64)
    return ClassPosteriors(memberships, np.concatenate([alike, drawn]), are_correlated)


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
    members: csr_array  # (n_cells, n_samples), the same by cells: products with it are faster
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

    def differences(self, values: np.ndarray) -> np.ndarray:
        """Subtract from values (..., n_cells) those of the cells before, which begin with 0."""
        before = np.roll(values, 1, axis=-1)
        before[..., self.starts] = 0.0
        return values - before


def _cut_table(table: StandardisedRows, min_rows: int) -> _Cells:
    """Cut all columns into cells; missingness that is informative is a further column.

    On both sides of a gap there are `min_rows` at least.
    """
    values, observed, codes = map(to_numpy, (table.values, table.observed, table.codes))
    d, model = table.n_features, table.column_model
    only_higher = kinds.only_higher_tells(model, d)
    tells = np.ones(1) if model.observed is None else to_numpy(model.observed)
    columns = [
        _cut_numbers(values[:, j].astype(np.float64), observed[:, j], only_higher[j], min_rows)
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
    return _Cells(rows, rows.T.tocsr(), starts, column, shares, is_free, nearby, *rest)


def _cut_numbers(x: np.ndarray, observed: np.ndarray, only_higher: bool, min_rows: int) -> _Column:
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
    evidence = np.isposinf(edges[1]) if only_higher else np.ones(n_cells)
    nearby = np.linalg.matrix_power(step, _N_SMOOTHED)
    return _Column(codes, nearby, edges, np.stack(moments), evidence.astype(np.float64))


def _take_codes(codes: np.ndarray) -> _Column:
    """Take each category of codes (n_samples,), −1 where missing, as a cell."""
    known = np.unique(codes[codes >= 0])
    found = np.where(codes >= 0, np.searchsorted(known, codes), -1)
    nothing = np.zeros((2, len(known)))
    return _Column(found, np.eye(len(known)), nothing, nothing, np.ones(len(known)))


class _Mixture(NamedTuple):
    """A component for each cluster, by m ways to weight the rows."""

    sizes: np.ndarray  # (m, n_clusters), sums of responsibilities
    chances: np.ndarray  # (m, n_clusters, n_cells), which add up to 1 in each column
    # (m, n_columns), correlations of the columns' normal scores with a factor that they have in
    # common within each cluster; 0 where columns are independent
    loadings: np.ndarray

    @property
    def nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """The values of the factor that stand for all of them (n_nodes,), and their weights."""
        values, weights = hermegauss(_N_NODES if self.loadings.any() else 1)
        return values, weights / weights.sum()


class _Fit(NamedTuple):
    mixture: _Mixture
    resp: np.ndarray  # (n_samples, m, n_clusters, n_nodes), responsibilities
    # (m, n_clusters, n_nodes, n_cells), see `_given_factor`; None where columns are independent
    scores: np.ndarray | None = None
    log_likelihood: float = -np.inf
    n_steps: int = 0


def _run(
    cells: _Cells, fit: _Fit, weights: np.ndarray, n_steps: int | None = None, aim: float = -np.inf
) -> _Fit:
    """Take EM steps with rows weighted (m, n_samples): so many, or until nothing moves.

    Or until the log-likelihood would miss the `aim` even if each further step gained as much.
    """
    counted = weights.T[:, :, None, None].astype(np.float32)
    for step in range(n_steps or _MAX_STEPS):
        after = _maximise(cells, fit.resp * counted, fit)
        if n_steps is None and step and np.abs(after.chances - fit.mixture.chances).max() < _STILL:
            break
        before, fit = fit, _expect(cells, after)._replace(n_steps=step + 1)
        gain = fit.log_likelihood - before.log_likelihood
        if fit.log_likelihood + (_MAX_STEPS - step) * max(gain, 0.0) < aim:
            break
    return fit


def _expect(cells: _Cells, mixture: _Mixture) -> _Fit:
    """Find how likely each row is of each component, and of each value of the factor."""
    weights, (m, k, _) = mixture.nodes[1], mixture.chances.shape
    chances, scores = mixture.chances[:, :, None], None
    if len(weights) > 1:
        chances, scores = _given_factor(cells, mixture)
    evidence = (np.log(chances) * cells.evidence).astype(np.float32)
    log_joint = cells.rows @ evidence.reshape(-1, evidence.shape[-1]).T
    log_joint = log_joint.reshape(-1, m, k, len(weights))
    shares = mixture.sizes / mixture.sizes.sum(axis=-1, keepdims=True)
    log_joint += np.log(shares[:, :, None] * weights + np.finfo(np.float32).tiny)
    top = log_joint.max(axis=(-2, -1), keepdims=True)
    resp = np.exp(log_joint - top)
    total = resp.sum(axis=(-2, -1), keepdims=True)
    return _Fit(mixture, resp / total, scores, float((np.log(total) + top).sum()))


def _maximise(cells: _Cells, resp: np.ndarray, before: _Fit | None = None) -> _Mixture:
    """Fit the components to weighted responsibilities (n_samples, m, n_clusters, n_nodes)."""
    found = _sum_rows(cells, resp)
    sizes, chances = resp.sum(axis=(0, -1)), _densities(cells, found.sum(axis=-2))
    loadings = np.zeros((resp.shape[1], len(cells.starts)))
    if before is not None and before.scores is not None:
        # The regression of the scores on the factor.
        factor, is_loaded = before.mixture.nodes[0][:, None], before.mixture.loadings != 0
        both = cells.sum_columns((found * before.scores * factor).sum(axis=(1, 2)))
        square = cells.sum_columns((found * factor**2).sum(axis=(1, 2)))
        loadings = is_loaded * both / np.maximum(square, 1e-9)
    return _Mixture(sizes, chances, np.clip(loadings, -_MAX_LOADING, _MAX_LOADING))


def _given_factor(cells: _Cells, mixture: _Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Find how likely each cell is given the factor, and the mean normal score within it.

    Both are of shape (m, n_clusters, n_nodes, n_cells). The ranks of values within a cluster, taken
    as quantiles of a standard normal distribution, are their scores; given the factor these are
    normal again (a Gaussian copula).
    """
    ends = np.cumsum(mixture.chances, axis=-1) - cells.column
    high = ndtri(np.clip(ends, 0, 1))[:, :, None]
    loadings = mixture.loadings[:, None, None, :]
    means, spread = loadings * mixture.nodes[0][:, None], np.sqrt(1 - loadings**2)
    high = (high - means[..., cells.column]) / spread[..., cells.column]
    # Where a cell ends the next one begins: below the first of a column is nothing.
    chances = cells.differences(ndtr(high))
    chances = np.maximum(chances, np.finfo(np.float32).tiny)
    heights = -cells.differences(np.exp(-(high**2) / 2)) / np.sqrt(2 * np.pi)
    return chances, means[..., cells.column] + spread[..., cells.column] * heights / chances


def _start_loadings(cells: _Cells, labels: np.ndarray, start: _Mixture) -> np.ndarray:
    """Take the first principal component of the scores (1, n_columns) within labels (n_samples,).

    All are 0 where fewer columns than three hold numbers: two do not tell a factor.
    """
    has_numbers = cells.edges[0][cells.starts] < 0
    if has_numbers.sum() < _MIN_LOADED:
        return np.zeros((1, len(cells.starts)))
    means = _given_factor(cells, start)[1][0, :, 0]
    scores, column = np.zeros((len(labels), len(cells.starts))), np.arange(len(cells.column))
    for label, mean in enumerate(means):
        mine = labels == label
        each = csr_array((mean, (column, cells.column)))
        scores[mine] = (cells.rows[mine] @ each).toarray()
    scores *= has_numbers
    _, size, axes = svds(scores, 1, v0=np.ones(min(scores.shape)))
    loadings = size * axes / np.sqrt(len(labels))
    return np.where(has_numbers, np.clip(loadings, -0.8, 0.8), 0.0)


def _sum_rows(cells: _Cells, resp: np.ndarray) -> np.ndarray:
    """Sum responsibilities (n_samples, ...) by cells (..., n_cells)."""
    found = cells.members @ resp.reshape(len(resp), -1)
    return np.ascontiguousarray(found.T, dtype=np.float64).reshape(*resp.shape[1:], -1)


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
    of what smooths it, less 1. The posteriors are of shape (n_samples, 1, n_clusters, 1).
    """
    found, (n, _, k, _) = _sum_rows(cells, posteriors).sum(axis=-2), posteriors.shape
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
