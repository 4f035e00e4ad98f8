"""What an ensemble expects of the values that a row lacks, and how far they may lie from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from pckid._utils.arrays import Array, asarray_like, clip, device_of, namespace, to_numpy
from pckid.columns import kinds
from pckid.columns.base import Draws
from pckid.columns.category import pick
from pckid.columns.log_number import slopes, undo_logs
from pckid.ensemble.feature_map import Kernel, for_row_blocks, mixture_scales
from pckid.factors.scores import Scored, WideFactors, expect_columns, score_rows
from pckid.input.table import (
    Scaling,
    StandardisedRows,
    block,
    cells_of_factors,
    standardise_on_model_device,
)
from pckid.mixture import em, full, product
from pckid.mixture.covariance_types import COVARIANCE_TYPES

# Rows draw from so many series of random numbers.
_N_KEYS = 256


class Imputation(NamedTuple):
    """Rows with every missing value filled in.

    Attributes
    ----------
    values : array or dataframe of shape (n_samples, n_features)
        Observed values as they were. Columns of categories hold categories; an array is one of
        objects then. Missing values of columns that the fit dropped stay missing.
    spread : array or dataframe of shape (n_samples, n_features)
        Of an imputed number, its predictive standard deviation, in the units of the column: how far
        the value itself may lie from the imputed one. About two thirds of the values lie within
        one spread where columns are roughly Gaussian and missing completely at random; fewer where
        what is missing depends on other columns. Of an imputed category, the chance of another
        one. 0 where a value was observed, NaN where one is missing still.
    """

    values: Array
    spread: Array


class Expected(NamedTuple):
    """What the mixtures expect of each value of a row, and how far a number may lie from it.

    Numbers are standardised; for columns of categories there are the probabilities of each.
    """

    means: Array  # (n_samples, n_features + n_categories)
    spreads: Array  # (n_samples, n_features), predictive standard deviations


def expected_values(kernel: Kernel, table: StandardisedRows, jobs: int) -> Expected:
    """Compute what the mixtures expect of every value, given what is observed of the row.

    A mixture expects Σ_g γ_g E[x | observed, g], γ the row's posteriors. The mixtures count as in
    the kernel: with w_q what a mixture counts, all of them expect μ = Σ_q w_q Σ_g γ_qg μ_qg, and by
    the law of total variance the predictive variance is

        Σ_q w_q Σ_g γ_qg (σ²_qg + μ²_qg) − μ²

    which is the variance within components, between those of a mixture, and between mixtures. Both
    also for values that are observed. In a wide table numbers follow from the row's factors.
    """
    found = _expected_of_modelled(kernel, table.modelled, jobs)
    if table.scores is None:
        return found
    r = table.scores.n_features
    scored = _factors_of_rows(kernel, table, found.means[:, :r], found.spreads)
    means, variances = expect_columns(scored, _factors(kernel), table.n_features)
    xp = namespace(means)
    return Expected(xp.concat([means, found.means[:, r:]], axis=1), xp.sqrt(variances))


def _factors(kernel: Kernel) -> WideFactors:
    """Return the factors of a wide table's kernel."""
    assert kernel.scaling.factors is not None
    return kernel.scaling.factors


def _factors_of_rows(
    kernel: Kernel, table: StandardisedRows, means: Array, spreads: Array
) -> Scored:
    """Find what is known of the factors of rows: of one without scores, what mixtures expect.

    That are `means` and `spreads` (n_samples, n_factors) of its scores.
    """
    factors, scores = _factors(kernel), table.modelled
    found = score_rows(*cells_of_factors(table), factors)
    xp, known = namespace(means), scores.observed[:, : factors.n_factors]
    scale = xp.astype(factors.scale, means.dtype)
    eye = xp.eye(factors.n_factors, dtype=means.dtype, device=device_of(means))
    alone = ((spreads / scale) ** 2)[:, :, None] * eye
    return Scored(
        xp.where(known, found.means, means / scale),
        xp.where(known[:, :1, None], found.covariances, alone),
    )


def _expected_of_modelled(kernel: Kernel, table: StandardisedRows, jobs: int) -> Expected:
    """Compute `expected_values` of what the mixtures see."""
    xp = namespace(table.values)

    def expect(start: int, stop: int) -> tuple[Array, Array]:
        total: Any = 0.0
        squares: Any = 0.0
        for weight, means, seconds in _by_stack(kernel, block(table, start, stop)):
            total = total + weight * xp.sum(means, axis=0)
            squares = squares + weight * xp.sum(seconds, axis=0)
        numbers = total[:, : table.n_features]
        return total, xp.sqrt(clip(squares - numbers * numbers, 0.0))

    parts = for_row_blocks(expect, kernel, table, jobs)
    return Expected(*(xp.concat(part, axis=0) for part in zip(*parts, strict=True)))


def complete_rows(
    kernel: Kernel, X: Array, n_draws: int, columns: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Draw the missing values of rows several times, given what is observed of each.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n_samples, n_features_in)
        Rows as from `validate_table`: numbers in the units of the table, categories as numbers from
        0, NaN where missing. Each row has an observed value in a column that is used.
    n_draws : int
    columns : ndarray of int, default=None
        The columns of X whose missing values are drawn, those of others stay missing; None: all.

    Yields
    ------
    completed : ndarray of shape (n_samples, n_features_in)
        The rows, drawn values filled in; one array for each draw. Columns that the kernel does not
        use stay as they are. What is drawn for a row depends on this row alone, not on the others.
    """
    given = to_numpy(X).astype(np.float64)
    table = standardise_on_model_device(given, kernel.scaling, kernel.dtype)
    # Rows have random numbers by what they hold.
    held = given[:, kernel.scaling.used]
    held = np.where(np.isnan(held), np.inf, held + 0.0)
    keys = np.array([crc32(row.tobytes()) % _N_KEYS for row in held])
    rng = np.random.default_rng(0)
    stays = np.zeros(given.shape[1], dtype=bool)
    if columns is not None:
        stays = ~np.isin(np.arange(given.shape[1]), columns)
    no_spread = np.zeros((len(given), 1))
    for _ in range(n_draws):
        drawn = Expected(draw_values(kernel, table, keys, rng), no_spread)
        completed, _spread = fill_in(given, drawn, kernel.scaling, {})
        completed[:, stays] = given[:, stays]
        yield completed


def draw_values(
    kernel: Kernel, table: StandardisedRows, keys: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw every value from one mixture of the ensemble, given what is observed of the row.

    The mixture is drawn as it counts in the kernel, each row's component by its posteriors. With a
    covariance matrix, a whole row z is drawn from the component and moved to the observed values:
    E[x | observed] + z − E[z | observed] has the conditional distribution. Rows have the random
    numbers of their `keys` (n_samples,), so that it makes no difference which others come along.

    Returns
    -------
    values : ndarray of shape (n_samples, n_features + n_categories)
        Standardised numbers, and 1 for the category that was drawn. Also where one is observed.
        Of a wide table numbers are drawn from the row's factors, and these from what is known.
    """
    drawn = _draw_modelled(kernel, table.modelled, keys, rng)
    if table.scores is None:
        return drawn
    factors, d, r = _factors(kernel), table.n_features, table.scores.n_features
    mine = asarray_like(drawn[:, :r], table.values, dtype=table.values.dtype)
    scored = _factors_of_rows(kernel, table, mine, namespace(mine).zeros_like(mine))
    means, covariances = (to_numpy(part).astype(np.float64) for part in scored)
    noise = rng.standard_normal((_N_KEYS, r + d))[keys]
    values, axes = np.linalg.eigh(covariances)
    roots = axes * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    found = means + np.einsum("nij,nj->ni", roots, noise[:, :r])
    weights, errors = (to_numpy(part)[:d].astype(np.float64) for part in factors[:2])
    numbers = found @ weights.T + np.sqrt(errors) * noise[:, r:]
    return np.concatenate([_as_two_values(numbers, kernel.scaling), drawn[:, r:]], axis=1)


def _as_two_values(numbers: np.ndarray, scaling: Scaling) -> np.ndarray:
    """Bring numbers (n, d), standardised, to the nearer value in columns that have two."""
    share = scaling.column_model.two_value_share
    if share is None:
        return numbers
    p = to_numpy(share)
    spread = np.sqrt(np.where(p > 0, p * (1 - p), 1.0))
    high, low = (1 - p) / spread, -p / spread
    return np.where(p > 0, np.where(numbers > (high + low) / 2, high, low), numbers)


def _draw_modelled(
    kernel: Kernel, table: StandardisedRows, keys: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw what the mixtures see of rows, as `draw_values` does."""
    family, stacks = COVARIANCE_TYPES[kernel.ensemble.covariance_type], kernel.ensemble.stacks
    counts = np.array([stack.log_weights.shape[0] for stack in stacks])
    place = rng.choice(len(stacks), p=counts * np.square(mixture_scales(kernel)))
    q, stack = rng.integers(counts[place]), stacks[place]
    one = type(stack)(*(part[q : q + 1, ...] for part in stack))
    resp = to_numpy(em.posterior(family.log_joint(family.statistics(table), one)))[0]

    def uniform() -> np.ndarray:
        return rng.random(_N_KEYS)[keys]

    component, rows = pick(resp.T, uniform()), np.arange(table.n_samples)
    numbers = to_numpy(one.means)[0][component].astype(np.float64)
    noise = rng.standard_normal((_N_KEYS, numbers.shape[1]))[keys]
    if family.MATRICES:
        roots = np.linalg.cholesky(to_numpy(one.covariances)[0].astype(np.float64))
        drawn = numbers + np.einsum("nij,nj->ni", roots[component], noise)
        seen = to_numpy(table.observed)
        whole = asarray_like(np.where(seen, drawn, 0.0), table.values, dtype=table.values.dtype)
        at_rows, at_drawn = (
            to_numpy(family.conditional_means(family.statistics(each), one))[component, rows]
            for each in (table, table._replace(values=whole))
        )
        return at_rows + drawn - at_drawn
    model, variances = table.column_model.on_host(), to_numpy(one.covariances)[0][component]
    drawn = kinds.draw_numbers(model, Draws(numbers, variances, noise, uniform))
    chances = to_numpy(one.categories)[0][component]
    return np.concatenate([drawn, kinds.draw_categories(model, chances, uniform)], axis=1)


def fill_in(
    given: np.ndarray,
    expected: Expected,
    scaling: Scaling,
    categories: Mapping[int, Sequence[Any]],
) -> tuple[np.ndarray, np.ndarray]:
    """Put what is expected where values are missing.

    Parameters
    ----------
    given : ndarray of shape (n_samples, n_features_in)
        Rows in the units of the table, categories as numbers from 0, NaN where missing.
    expected : Expected
    scaling : Scaling
    categories : mapping of int to sequence
        The categories of each column of categories.

    Returns
    -------
    values, spread : ndarray of shape (n_samples, n_features_in)
        As in `Imputation`.
    """
    means, spreads = (to_numpy(part).astype(np.float64) for part in expected)
    missing = np.isnan(given)
    values, spread = given.copy(), np.where(missing, np.nan, 0.0)
    center, scale = (to_numpy(part) for part in (scaling.center, scaling.scale))
    n_numbers = len(scaling.kept)
    shifts = None if scaling.shifts is None else to_numpy(scaling.shifts)
    numbers = undo_logs(_in_floats(means[:, :n_numbers], scale, center), shifts)
    _put(values, missing, scaling.kept, numbers)
    spreads = _in_floats(spreads, scale, np.zeros_like(scale))
    _put(spread, missing, scaling.kept, spreads * slopes(numbers, shifts))
    column = to_numpy(scaling.column_model.column)
    chances = means[:, n_numbers:]
    for place, source in enumerate(scaling.categorical):
        mine = chances[:, column == place]
        _put(values, missing, [source], mine.argmax(axis=1)[:, None])
        _put(spread, missing, [source], 1 - mine.max(axis=1)[:, None])
    return (_named(values, categories) if categories else values), spread


def _in_floats(values: np.ndarray, scale: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Compute values · scale + center, or the largest float; by halves, as those of both may be."""
    with np.errstate(over="ignore"):
        half = values * (scale / 2) + center / 2
    most = np.finfo(np.float64).max / 2
    return 2 * np.clip(half, -most, most)


def _put(target: np.ndarray, missing: np.ndarray, columns: Any, found: np.ndarray) -> None:
    """Write what was found for some columns where a value is missing."""
    target[:, columns] = np.where(missing[:, columns], found, target[:, columns])


def _named(values: np.ndarray, categories: Mapping[int, Sequence[Any]]) -> np.ndarray:
    """Turn numbers of categories back into categories, None where missing; an array of objects."""
    named = values.astype(object)
    for source, known in categories.items():
        for row, code in enumerate(values[:, source]):
            named[row, source] = None if np.isnan(code) else known[int(code)]
    return named


def _by_stack(kernel: Kernel, rows: StandardisedRows) -> Iterator[tuple[float, Array, Array]]:
    """Yield what each mixture of a stack counts, and what the m mixtures expect of the n rows.

    That is of every value (m, n, n_features + n_categories), and of numbers squared (m, n,
    n_features).
    """
    family = COVARIANCE_TYPES[kernel.ensemble.covariance_type]
    stats, xp = family.statistics(rows), namespace(rows.values)
    for stack, scale in zip(kernel.ensemble.stacks, mixture_scales(kernel), strict=True):
        resp = em.posterior(family.log_joint(stats, stack))
        if not family.MATRICES:
            share = xp.matrix_transpose(resp)
            centers = xp.concat([stack.means, stack.categories], axis=-1)
            variances = product.component_variances(stack, rows.column_model)
            yield scale**2, share @ centers, share @ (variances + stack.means**2)
            continue
        for q in range(resp.shape[0]):
            one = type(stack)(*(part[q : q + 1, ...] for part in stack))
            share = resp[q, :, :, None]
            completed = family.conditional_means(stats, one)
            squares = completed**2 + full.conditional_variances(stats, one)
            means, squares = (xp.sum(share * part, axis=0) for part in (completed, squares))
            yield scale**2, means[None, ...], squares[None, ...]
