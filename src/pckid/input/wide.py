"""When rows of a wide table are scored by factors, and by which."""

from __future__ import annotations

import numpy as np

from pckid._utils.arrays import asarray_like, namespace, to_numpy
from pckid._utils.parallel import blas_threads
from pckid._utils.seeds import Stream, generator
from pckid.factors.fit import MAX_FIT_ROWS, Asked, fit_factors, score_by_others
from pckid.factors.model import Cells
from pckid.factors.scores import WideFactors
from pckid.input.table import StandardisedRows, cells_of_factors, join_scores, take, with_scores

MIN_NUMBERS = 50
"""Tables of fewer columns of numbers are not scored unless a number of factors is asked for."""


def find_factors(
    table: StandardisedRows, weights: np.ndarray | None, asked: Asked | None, entropy: int
) -> WideFactors | None:
    """Fit the factors of a standardised table, where it is wide or they are asked for.

    Parameters
    ----------
    table : StandardisedRows
        Of numbers, not of scores.
    weights : ndarray of shape (n_samples,)
        Of mean 1; None: all alike.
    asked : Asked or None
        None where rows are not to be scored.
    entropy : int

    Returns
    -------
    factors : WideFactors or None
    """
    n, d = table.n_samples, table.n_features
    if asked is None or d == 0 or n < 3 or (asked.n_factors is None and d < MIN_NUMBERS):
        return None
    rng = generator(entropy, Stream.FACTORS)
    with blas_threads(1):  # Matrices are small: threads would wait for each other.
        found = fit_factors(_as_cells(table, weights), asked, rng)
    if found is None:
        return None
    return _at_home(found, table)


def score_own_rows(
    table: StandardisedRows, factors: WideFactors, weights: np.ndarray | None
) -> StandardisedRows:
    """Score the rows that factors were fitted to, also by factors of other rows each.

    The latter are as far from what the mixtures expect as scores of new rows are.
    """
    scored = with_scores(table, factors)
    if table.n_samples > MAX_FIT_ROWS:
        return scored
    on_host, found = WideFactors(*map(to_numpy, factors)), []
    with blas_threads(1):
        for rows, without in score_by_others(_as_cells(table, weights), on_host):
            mine = take(table, asarray_like(rows, table.values))
            found.append((rows, with_scores(mine, _at_home(without, table)).modelled))
    order = asarray_like(np.argsort(np.concatenate([rows for rows, _ in found])), table.values)
    return scored._replace(held_out=take(join_scores([each for _, each in found]), order))


def _as_cells(table: StandardisedRows, weights: np.ndarray | None) -> Cells:
    """Take the cells of a table to the host."""
    values, seen = map(to_numpy, cells_of_factors(table))
    d, model, columns = table.n_features, table.column_model, np.ones(values.shape[1])
    for part in (model.weights, model.values_held):
        if part is not None:
            columns[:d] *= to_numpy(part)[:d]
    rows = np.ones(len(values)) if weights is None else weights
    each = (values, seen, rows, columns)
    return Cells(*(part.astype(values.dtype, copy=False) for part in each))


def _at_home(factors: WideFactors, table: StandardisedRows) -> WideFactors:
    """Put factors where the table lies."""
    home = table.values
    dtype = namespace(home).float64
    return WideFactors(*(asarray_like(part, home, dtype=dtype) for part in factors))
