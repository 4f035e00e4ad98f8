"""The product family: columns independent within a component (diagonal covariance).

With x zero where missing, e the indicators of the categories and m = 1 where observed, the
log-density of a row's observed part is linear in F = [x∘x, x, e, m, 1], so the E-step of any
number of components is one matrix product, and so is the M-step. Rows that share few patterns of
missingness carry one indicator column per pattern in place of [m, 1]; `link` has what each of
these columns stands for.

What a column emits is its kind's affair, see `columns`: the coefficients of x², x, e and m, and how
sums over rows become parameters. Where columns of two values have a probability in place of a mean
and a variance, `Parameters.means` holds it in standardised units.

Where missingness is informative, m has a Bernoulli distribution in each component, which changes
the coefficients of m and the constant, and nothing else.

Columns may have weights, as groups of columns have: the log-density of a column, its categories and
its missingness included, then counts so many times, which multiplies its coefficients. Moments are
those of the rows that a component has, whatever the weights.

The columns of a group have one variance in each component, the mean of their own.

Probabilities have a prior: each component sees, besides its rows, a tenth of one that is made up of
the whole table's shares, and five for what is observed. So none is ever zero, and EM never lowers
the likelihood times the prior.

All arrays have a leading axis over the subsamples of a stack: each has rows of its own, or all
share the rows of one table, of which only those of its subsample have a weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pckid._utils.arrays import (
    Array,
    add_product,
    clip,
    contiguous,
    device_of,
    namespace,
    take_along,
    times_shared,
    times_transposed,
)
from pckid.columns import kinds
from pckid.columns.base import Numbers
from pckid.columns.model import MEASURED, ColumnModel
from pckid.input.table import StandardisedRows, take
from pckid.mixture.em import Responsibilities, holds_rows, log_weights

STACKABLE = True
MIXED = True
MATRICES = False
SPHERICAL = False
TIED = False
# A few rows say little about missingness: with one row of prior, values missing at random cost
# accuracy.
_PRIOR_ROWS_OBSERVED = 5.0
# With rows no longer than this, OpenBLAS takes half the time for B Fᵀ if Fᵀ is laid out as such.
_NARROW = 512


class Statistics(NamedTuple):
    """What EM needs of the rows of each mixture in a stack."""

    rows: Array  # (n_mixtures or 1, n_samples, n_columns), F
    # (n_patterns, n_columns + 1), or one for each mixture; None: the columns are [m, 1] themselves
    link: Array | None
    n_features: int
    n_columns: int  # of the table: numbers and categories
    tail: int  # which column of F is the first of [m, 1], or of the patterns
    model: ColumnModel  # of joined stacks (n_mixtures, 1, ...) what differs between tables
    n_counted: int  # how many rows count in a mixture, all together
    column_blocks: Array | None = None  # (n_features, n_blocks), as in `StandardisedRows`
    columns: Array | None = None  # (n_mixtures, n_columns, n_samples), Fᵀ where it is laid out


class Parameters(NamedTuple):
    """Weights, means, variances and probabilities of the components of each mixture in a stack."""

    log_weights: Array  # (n_mixtures, n_components)
    means: Array  # (n_mixtures, n_components, n_features)
    covariances: Array  # (n_mixtures, n_components, n_features), the variances
    categories: Array  # (n_mixtures, n_components, n_categories), their probabilities
    observed: Array  # (n_mixtures, n_components, n_columns), of being observed; 0 wide if ignored


class Sums(NamedTuple):
    """Additive summaries: those of two blocks of rows add up to those of both."""

    moments: Array  # (n_mixtures, n_components, n_columns), R F


def statistics(table: StandardisedRows, rows: Array | None = None) -> Statistics:
    """Build F for all rows, or for `rows` (n_mixtures, n_rows) of each mixture."""
    xp = namespace(table.values)
    shape: tuple[int, ...] = (1, table.n_samples)
    if rows is not None:
        shape = rows.shape
        table = take(table, xp.reshape(rows, (-1,)))
    x = table.values
    one = xp.ones((x.shape[0], 1), dtype=x.dtype, device=device_of(x))
    if table.pattern is None or table.patterns is None:
        link = None
        indicators = [xp.astype(table.observed, x.dtype), one]
    else:
        n_patterns = table.patterns.shape[0]
        link = xp.concat([table.patterns, one[:1, :] + 0 * table.patterns[:, :1]], axis=1)
        known = xp.arange(n_patterns, dtype=table.pattern.dtype, device=device_of(x))
        indicators = [xp.astype(table.pattern[:, None] == known, x.dtype)]
    column, kind = table.column_model.column, table.codes.dtype
    index = xp.arange(column.shape[0], dtype=kind, device=device_of(x))
    categories = xp.astype(xp.take(table.codes, column, axis=1) == index, x.dtype)
    F = xp.concat([x * x, x, categories, *indicators], axis=1)
    F = xp.reshape(F, (*shape, F.shape[1]))
    # Rows of mixtures meet few components, many times.
    narrow = rows is not None and F.shape[-1] <= _NARROW
    columns = contiguous(xp.matrix_transpose(F)) if narrow else None
    return Statistics(
        F,
        link,
        table.n_features,
        table.observed.shape[1],
        2 * table.n_features + column.shape[0],
        table.column_model,
        shape[1],
        table.column_blocks,
        columns,
    )


def join(parts: Sequence[Statistics], mixtures: slice) -> Statistics:
    """Join some mixtures of stacks into one stack: of each the same, on rows of a table of its own.

    Each mixture has as many rows. The tables have the same columns, of the same kinds, and none of
    categories if there are several.
    """
    first = parts[0]
    if len(parts) == 1:
        columns = None if first.columns is None else first.columns[mixtures, ...]
        return first._replace(rows=first.rows[mixtures, ...], columns=columns)
    xp = namespace(first.rows)

    def concatenated(name: str) -> Any:
        found = [getattr(part, name) for part in parts]
        return None if found[0] is None else xp.concat([each[mixtures, ...] for each in found])

    def for_each(found: Sequence[Any]) -> Any:
        stacked = xp.stack(found) if found[0].ndim > 1 else xp.stack(found)[:, None, :]
        return xp.repeat(stacked, rows.shape[0] // len(parts), axis=0)

    rows = concatenated("rows")
    models = {
        name: for_each([getattr(part.model, name) for part in parts])
        for name in MEASURED
        if getattr(first.model, name) is not None
    }
    return first._replace(
        rows=rows,
        columns=concatenated("columns"),
        link=None if first.link is None else for_each([part.link for part in parts]),
        model=first.model._replace(**models),
    )


def filled(stats: Statistics) -> Array:
    """Return the rows, means where nothing was observed (m, n, n_features + n_categories).

    Squared distances count as many times as the log-densities of their columns, which else count
    alike.
    """
    xp, rows = namespace(stats.rows), stats.rows
    d, model = stats.n_features, stats.model
    roots = None if model.weights is None else xp.sqrt(model.weights)
    numbers = kinds.number_distances(model, rows[..., d : 2 * d])
    if roots is not None:
        numbers = numbers * roots[:d]
    if stats.tail == 2 * d:
        return numbers
    e = rows[..., 2 * d : stats.tail]
    e, scale = kinds.category_distances(model, stats.n_columns - d, e)
    if roots is not None:
        scale = scale * take_along(roots[d:], model.column)
    return xp.concat([numbers, e * scale], axis=-1)


def start(stats: Statistics, resp: Array, centers: Array) -> Parameters:
    """Compute empirical moments of mean-imputed rows, given `resp` (m, g, n)."""
    xp = namespace(resp)
    d = stats.n_features
    moments = times_shared(resp, stats.rows)
    total, seen = _totals(moments, stats)
    share = 1 / xp.where(total > 0, total, 1.0)[..., None]
    means = moments[..., d : 2 * d] * share
    variances = moments[..., :d] * share - means * means
    empty, weights = (total <= 0)[..., None], stats.model.weights
    centers = centers[..., :d] if weights is None else centers[..., :d] / xp.sqrt(weights[:d])
    means, variances = xp.where(empty, centers, means), xp.where(empty, 1.0, variances)
    shares = stats.model.frequencies
    return _to_parameters(stats, moments, (total, seen), means, variances, shares)


def log_joint(stats: Statistics, params: Parameters) -> Array:
    """Compute log π_k + log N(x° | μ_k°, σ_k°²), of shape (m, g, n).

    Rows shared by all mixtures (a leading axis of one) meet all components in one product.
    """
    return log_joint_of(stats, coefficients(stats, params))


def log_joint_of(stats: Statistics, B: Array) -> Array:
    """Compute `log_joint` (m, g, n) from `coefficients` (m, g, n_columns of F)."""
    return times_transposed(B, stats.rows) if stats.columns is None else B @ stats.columns


def expect(stats: Statistics, params: Parameters, resp_of: Responsibilities) -> Sums:
    """Sum the statistics of the rows, weighted by their responsibilities."""
    return Sums(times_shared(resp_of(log_joint(stats, params), None), stats.rows))


def update(stats: Statistics, params: Parameters, sums: Sums) -> Parameters:
    """Compute the paper's M-step: a missing entry counts as the old mean, with the old variance.

    A missing category counts as the old probabilities.

    A component that lost all rows has seen nothing: it keeps its parameters, and its weight
    vanishes.
    """
    xp = namespace(params.means)
    d = stats.n_features
    total, seen = _totals(sums.moments, stats)
    alive = holds_rows(total)
    least = float(xp.finfo(total.dtype).smallest_normal)
    share = (xp.astype(alive, total.dtype) / clip(total, least))[..., None]
    unseen = 1 - seen[..., :d] * share
    moments = sums.moments[..., : 2 * d] * share
    means = add_product(moments[..., d:], unseen, params.means)
    squares = add_product(params.covariances, params.means, params.means)
    squares = add_product(moments[..., :d], unseen, squares)
    variances = add_product(squares, means, means, -1)
    old = params.categories
    return _to_parameters(stats, sums.moments, (total, seen), means, variances, old)


def constrain(params: Parameters, floor: float) -> Parameters:
    """Lift the variances to `floor`: the constrained maximum, so EM still never descends."""
    return params._replace(covariances=clip(params.covariances, floor))


def conditional_means(stats: Statistics, params: Parameters) -> Array:
    """Complete every row under every component, of shape (g, n, d), for one mixture."""
    xp = namespace(params.means)
    d = stats.n_features
    seen = stats.rows[0, :, stats.tail :]
    seen = seen[:, :d] if stats.link is None else seen @ stats.link[:, :d]
    return xp.where(seen > 0.5, stats.rows[..., d : 2 * d], params.means[0, :, None, :])


def component_variances(params: Parameters, model: ColumnModel) -> Array:
    """Compute the variance of each column of numbers within each component (m, g, d)."""
    return kinds.number_variances(model, Numbers(params.means, params.covariances))


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    return n_components * 2 * n_features + n_components - 1


def coefficients(stats: Statistics, params: Parameters) -> Array:
    """Stack B so that B Fᵀ is the log-joint (m, g, n_columns of F), for any rows of a table."""
    xp, model = namespace(params.means), stats.model
    constant = params.log_weights[..., None]
    *blocks, seen = kinds.number_coefficients(model, Numbers(params.means, params.covariances))
    if params.categories.shape[-1]:
        blocks.append(kinds.category_coefficients(model, params.categories))
        # Of a category only which one it is counts, not that it is observed.
        shape = (*seen.shape[:2], stats.n_columns - stats.n_features)
        seen = xp.concat([seen, xp.zeros(shape, dtype=seen.dtype, device=device_of(seen))], axis=-1)
    if model.observed is not None:
        log_odds, hidden = _log_odds(params.observed, model.observed, model)
        seen, constant = seen + log_odds, constant + hidden
    weights, d = model.weights, stats.n_features
    if weights is not None:
        of_categories = take_along(weights[d:], model.column)
        each = [weights[:d], weights[:d], of_categories]
        blocks = [block * weight for block, weight in zip(blocks, each, strict=False)]
        seen = seen * weights
    tail = xp.concat([seen, constant], axis=-1)
    if stats.link is not None:
        tail = tail @ xp.matrix_transpose(stats.link)
    return xp.concat([*blocks, tail], axis=-1)


def _to_parameters(
    stats: Statistics,
    moments: Array,
    totals: tuple[Array, Array],
    means: Array,
    variances: Array,
    categories: Array,
) -> Parameters:
    """Put parameters together from means and variances (m, g, d), with the prior.

    The moments are R F, the totals those that `_totals` reads off them. A missing category counts
    as the probabilities `categories`.
    """
    xp, blocks, (total, seen) = namespace(means), stats.column_blocks, totals
    shares_observed = stats.model.observed
    n_rows, observed = total[..., None], seen[..., :0]
    means, variances = kinds.update_numbers(stats.model, n_rows, Numbers(means, variances))
    if blocks is not None:
        shared = (variances @ blocks / xp.sum(blocks, axis=0)) @ xp.matrix_transpose(blocks)
        variances = xp.where(xp.any(blocks > 0, axis=1), shared, variances)
    if shares_observed is not None:
        prior = _PRIOR_ROWS_OBSERVED
        observed = (seen + prior * shares_observed) / (n_rows + prior)
    probabilities = _category_probabilities(moments, total, seen, categories, stats)
    logs = log_weights(total, stats.n_counted)
    return Parameters(logs, means, variances, probabilities, observed)


def _totals(moments: Array, stats: Statistics) -> tuple[Array, Array]:
    """Read Σ r (m, g) and Σ r m (m, g, n_columns) off the last columns of the moments."""
    tail = moments[..., stats.tail :]
    if stats.link is not None:
        tail = tail @ stats.link
    return tail[..., -1], tail[..., :-1]


def _category_probabilities(
    moments: Array, total: Array, seen: Array, old: Array, stats: Statistics
) -> Array:
    """Share out each component's rows among the categories (m, g, n_categories).

    A missing category counts as the probabilities `old`, and the prior as a tenth of a row.
    """
    column, n_rows = stats.model.column, total[..., None]
    if column.shape[0] == 0:
        return moments[..., :0]
    counts = moments[..., 2 * stats.n_features : stats.tail]
    hidden = namespace(moments).take(n_rows - seen[..., stats.n_features :], column, axis=-1)
    return kinds.update_categories(stats.model, n_rows, counts + clip(hidden, 0.0) * old)


def _log_odds(observed: Array, shares: Array, model: ColumnModel) -> tuple[Array, Array]:
    """Turn probabilities of being observed (m, g, D) into coefficients of m and of the constant.

    A column of which a share (D,) of 1 was observed in training carries no information, also where
    a new row lacks it.
    Columns that hold one category together are missing together, and count as one: their squared
    weights add up to 1. The weights of columns are in the constant alone.
    """
    xp, held = namespace(observed), model.values_held
    eps = float(xp.finfo(observed.dtype).eps)
    chance = xp.clip(observed, eps, 1 - eps)
    hidden = xp.where(shares < 1, xp.log(1 - chance), 0.0)
    log_odds = xp.where(shares < 1, xp.log(chance), 0.0) - hidden
    if held is not None:
        held = xp.concat([held, xp.ones_like(shares[..., held.shape[-1] :])], axis=-1)
        log_odds, hidden = log_odds * held, hidden * held
    if model.weights is not None:
        hidden = hidden * model.weights
    return log_odds, xp.sum(hidden, axis=-1)[..., None]
