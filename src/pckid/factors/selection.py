"""How many factors, of which columns: a path of fits, and cells held out.

Few columns tell in a wide table, and the others drown them. So factors are fitted to all columns,
the half that has most of them is kept, factors are fitted to these, and so on (iterated
thresholding, as in sparse principal components). What is hidden of the table says where to stop:
columns that are left out have their mean and variance for a prediction, so that the gain in the
log-density of hidden cells compares any number of columns and factors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pckid.factors.model import (
    Cells,
    Loadings,
    Scores,
    expect_scores,
    first_scores,
    fit_by_em,
    log_p_of_columns,
)

RANKS = (1, 2, 3, 5, 8, 12)
MIN_COLUMNS = 10
_HIDDEN = 0.1  # the share of cells that are held out
_N_FIRST, _N_STEPS, _N_LAST = 4, 4, 20  # EM steps: at all columns, at each further number, at last
_LEAST_SPREAD = 0.05


class Level(NamedTuple):
    """A fit to some of the columns."""

    columns: np.ndarray  # (m,)
    scores: Scores
    loadings: Loadings


class Gain(NamedTuple):
    """How much better hidden cells are predicted than by means and variances of columns."""

    n_factors: int
    n_columns: int
    gain: float
    error: float  # its standard error


def sizes_of_path(n_columns: int) -> list[int]:
    """List the numbers of columns on the path, halving from all to the fewest.

    Examples
    --------
    >>> from pckid.factors.selection import sizes_of_path
    >>> sizes_of_path(100)
    [100, 50, 25, 12, 10]
    """
    sizes = [n_columns]
    while sizes[-1] > MIN_COLUMNS:
        sizes.append(max(MIN_COLUMNS, sizes[-1] // 2))
    return sizes


def fewest_columns(n_factors: int) -> int:
    """Count the columns that so many factors need, lest their loadings could be anything.

    The covariances of d columns must be as many as their loadings and errors, up to rotation:
    (d − r)² ≥ d + r (Ledermann 1937).

    Examples
    --------
    >>> from pckid.factors.selection import fewest_columns
    >>> fewest_columns(1), fewest_columns(9)
    (3, 14)
    """
    return math.ceil(n_factors + (1 + math.sqrt(8 * n_factors + 1)) / 2)


def follow_path(
    cells: Cells, n_factors: int, start: Scores, stop: int = MIN_COLUMNS
) -> list[Level]:
    """Fit factors to all columns, then to those that have most of them, down to `stop`.

    It ends before the columns are too few for the factors. `start` holds leading components of all
    columns, at least `n_factors`.
    """
    stop = max(stop, fewest_columns(n_factors))
    mine, columns = cells, np.arange(cells.values.shape[1])
    n_kept = min(n_factors, len(columns), start.means.shape[1])
    scores = Scores(start.means[:, :n_kept], start.covariances[:, :n_kept, :n_kept])
    levels: list[Level] = []
    for size in sizes_of_path(len(columns)):
        if levels and size < stop:
            break
        if levels:
            best = np.argsort(log_p_of_columns(mine, scores), kind="stable")[:size]
            columns = np.sort(columns[best])
        mine = cells.take(columns)
        scores, loadings = fit_by_em(mine, scores, _N_STEPS)
        levels.append(Level(columns, scores, loadings))
    return levels


def gains_of_paths(
    cells: Cells, least: int, rng: np.random.Generator, only: int | None = None
) -> list[Gain]:
    """Hide cells at random, and measure what the fits of each path say of them.

    More factors are tried until they lose, those of `least` in any case; or `only` so many.
    """
    hidden = cells.seen * (rng.random(cells.seen.shape) < _HIDDEN)
    shown = cells.seen - hidden
    count = np.maximum(cells.rows @ shown, 1e-9)
    mean = (cells.rows @ (cells.values * shown)) / count
    deviations = (cells.values - mean) * shown
    spread = np.maximum(cells.rows @ deviations**2 / count, _LEAST_SPREAD)
    left = Cells(deviations, shown, cells.rows, cells.columns)
    target = (cells.values - mean) * hidden
    ranks = [only] if only else ranks_to_try(len(cells.values), least)
    start = first_scores(left, ranks[-1])
    found: list[Gain] = []
    for rank in ranks:
        mine = []
        for level in follow_path(left, rank, start):
            gains = _gain_of_columns(level, left.take(level.columns), target, hidden, spread)
            error = gains.std() * np.sqrt(len(gains))
            mine.append(Gain(rank, len(level.columns), float(gains.sum()), float(error)))
        best = max(mine, key=lambda each: each.gain)
        so_far = max(found, key=lambda each: each.gain, default=best)
        found += mine
        if rank > least and best.gain < so_far.gain - so_far.error:
            break
    return found


def ranks_to_try(n_rows: int, least: int) -> list[int]:
    """List numbers of factors, ascending: a quarter of the rows at most, `least` among them.

    Examples
    --------
    >>> from pckid.factors.selection import ranks_to_try
    >>> ranks_to_try(30, 4)
    [1, 2, 3, 4, 5]
    """
    most = max(n_rows // 4, 1)
    return sorted({rank for rank in (*RANKS, least) if rank <= most} or {1})


def _gain_of_columns(
    level: Level, cells: Cells, target: np.ndarray, hidden: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Compute the gain in each column (m,): log N(x; w z, ψ + w C wᵀ) − log N(x; 0, spread)."""
    (weights, noise), (means, covariances) = level.loadings, level.scores
    n, m = len(means), len(weights)
    outer = (weights[:, :, None] * weights[:, None, :]).reshape(m, -1)
    variance = noise + covariances.reshape(n, -1) @ outer.T
    plain, x = spread[level.columns], target[:, level.columns]
    own = (x - means @ weights.T) ** 2 / variance + np.log(variance)
    gains = 0.5 * hidden[:, level.columns] * (x**2 / plain + np.log(plain) - own)
    return cells.columns * (cells.rows @ gains)


def choose_fit(gains: list[Gain], least: int = 1) -> Gain:
    """Choose the fit of most gain among those of at least so many factors, or of most of them."""
    least = min(least, max(each.n_factors for each in gains))
    return max((each for each in gains if each.n_factors >= least), key=lambda each: each.gain)


def fit_chosen(cells: Cells, n_factors: int, n_columns: int) -> Level:
    """Follow the path to a number of columns, and fit the factors of these to the end."""
    start = first_scores(cells, n_factors)
    level = follow_path(cells, n_factors, start, n_columns)[-1]
    mine = cells.take(level.columns)
    loadings = fit_by_em(mine, level.scores, _N_LAST)[1]
    return Level(level.columns, expect_scores(mine, loadings), loadings)
