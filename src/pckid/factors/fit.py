"""The factors of a wide table, and the scores of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid.factors.model import (
    Cells,
    Loadings,
    Scores,
    first_scores,
    fit_by_em,
    fit_loadings,
    log_p_of_columns,
    variance_of_loadings,
)
from pckid.factors.scores import WideFactors, score_rows
from pckid.factors.selection import Gain, choose_fit, fit_chosen, gains_of_paths

# Of more columns so many go on that have most of a few first factors.
_MAX_COLUMNS, _N_FIRST_FACTORS, _N_FIRST_STEPS = 2000, 5, 2
_MAX_ROWS = 400  # by so many rows the numbers of factors and columns are chosen
_MIN_SEEN = 4  # a column with fewer cells tells nothing
_N_REGRESSIONS = 2
_N_FOLDS = 5
_MANY = 3  # more than one column in so many: most tell
MAX_FIT_ROWS = 2000  # of more rows so many are learnt from


class Asked(NamedTuple):
    """Which factors to fit."""

    n_factors: int | None = None  # None: as many as predict hidden cells best
    n_columns: int | None = None  # the same of columns
    least: int = 1  # factors, where their number is to be found


def asked_of(factors: WideFactors | None) -> Asked | None:
    """Return what leads to as many factors of as many columns; None: to none."""
    return None if factors is None else Asked(factors.n_factors, len(factors.columns))


def fit_factors(cells: Cells, asked: Asked, rng: np.random.Generator) -> WideFactors | None:
    """Fit factors to the columns that tell; how many of each, hidden cells decide.

    Where nothing was asked for, None if there are more rows than columns and most of these tell:
    mixtures of the columns themselves then find clusters of any shape.

    Parameters
    ----------
    cells : Cells
        Rows (n, d) to learn from; of many, some are drawn.
    asked : Asked
    rng : Generator
        Draws the cells that are hidden, and rows.
    """
    n_rows, n_columns = cells.values.shape
    cells = _draw_rows(cells, MAX_FIT_ROWS, rng)
    usable = np.flatnonzero(cells.seen.sum(axis=0) >= min(_MIN_SEEN, len(cells.seen)))
    if len(usable) > _MAX_COLUMNS:
        some = cells if len(usable) == n_columns else cells.take(usable)
        usable = usable[_most_telling(some)]
        del some
    mine = _in_double(cells.take(usable))
    gain = _choose(mine, asked, rng)
    if asked.n_factors is None and n_rows >= n_columns < _MANY * gain.n_columns:
        return None
    level = fit_chosen(mine, gain.n_factors, gain.n_columns)
    columns = usable[level.columns]
    weights, noise = (part.astype(np.float64) for part in loadings_of_all(cells, level.scores))
    weights[columns], noise[columns] = level.loadings
    precision = np.zeros(len(noise))
    precision[columns] = cells.columns[columns] / noise[columns]
    # Half the logarithm is what a complete row tells of a factor, in nats.
    scale = np.sqrt(np.log1p(precision @ weights**2))
    spread = scale * np.sqrt(cells.rows @ level.scores.means**2 / len(cells.rows))
    mean = max(float(np.sqrt(np.mean(spread**2))), np.finfo(np.float64).tiny)
    return WideFactors(weights, noise, precision, scale / mean)


def loadings_of_all(cells: Cells, scores: Scores) -> Loadings:
    """Regress all columns on the scores of rows, those that tell nothing, too."""
    scores = Scores(*(part.astype(cells.values.dtype) for part in scores))
    noise, variance = np.ones_like(cells.columns), 1.0
    for _ in range(_N_REGRESSIONS):
        found = fit_loadings(cells, scores, noise, variance)
        variance = variance_of_loadings(cells, found, noise, variance)
        noise = found.noise
    return found


def score_by_others(cells: Cells, factors: WideFactors) -> Iterator[tuple[np.ndarray, WideFactors]]:
    """Yield some rows (n_some,) at a time, and the factors as the other rows have them.

    The columns that tell stay as they are, and so do the scores of these other rows.
    """
    n, scored = len(cells.values), score_rows(cells.values, cells.seen, factors)
    whole = Scores(to_numpy(scored.means), to_numpy(scored.covariances))
    tells = factors.precision > 0
    for first in range(min(_N_FOLDS, n)):
        out = np.arange(n) % _N_FOLDS == first
        # Rows of no weight are not copied out, as the others would be.
        others = cells._replace(rows=cells.rows * ~out)
        weights, noise = loadings_of_all(others, whole)
        precision = np.where(tells, cells.columns / noise, 0.0)
        yield np.flatnonzero(out), WideFactors(weights, noise, precision, factors.scale)


def _in_double(cells: Cells) -> Cells:
    return Cells(*(part.astype(np.float64, copy=False) for part in cells))


def _choose(cells: Cells, asked: Asked, rng: np.random.Generator) -> Gain:
    """Choose the numbers of factors and columns that were not asked for."""
    if asked.n_factors is not None and asked.n_columns is not None:
        return Gain(asked.n_factors, min(asked.n_columns, cells.values.shape[1]), np.nan, np.nan)
    cells = _draw_rows(cells, _MAX_ROWS, rng)
    gains = gains_of_paths(cells, asked.n_factors or asked.least, rng, asked.n_factors)
    return choose_fit(gains, asked.n_factors or asked.least)


def _most_telling(cells: Cells) -> np.ndarray:
    """Find the columns that have most of a few factors of all columns."""
    scores, _ = fit_by_em(cells, first_scores(cells, _N_FIRST_FACTORS), _N_FIRST_STEPS)
    return np.sort(np.argsort(log_p_of_columns(cells, scores), kind="stable")[:_MAX_COLUMNS])


def _draw_rows(cells: Cells, most: int, rng: np.random.Generator) -> Cells:
    """Draw rows at random if there are more than so many."""
    if len(cells.rows) <= most:
        return cells
    return cells.take_rows(np.sort(rng.choice(len(cells.rows), most, replace=False)))
