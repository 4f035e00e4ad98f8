"""The product family: features independent within a component (diagonal covariance).

With x zero where missing and m = 1 where observed, the log-density of a row's observed part is
linear in F = [−½ x∘x, x, m, 1], so the E-step of any number of components is one matrix product,
and so is the M-step. Rows that share few patterns of missingness carry one indicator column per
pattern in place of [m, 1]; `link` says what each of these columns stands for.

All arrays have a leading axis over the subsamples of a stack: each has rows of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from pckid._arrays import Array, at_least, device_of, namespace
from pckid.mixture.table import Table, gather, take

STACKABLE = True
_LOG_2PI = math.log(2 * math.pi)


class Statistics(NamedTuple):
    """What EM needs of the rows of each mixture in a stack."""

    rows: Array  # (n_mixtures, n_samples, n_columns), F
    link: Array | None  # (n_patterns, n_features + 1); None: the columns are [m, 1] themselves
    n_features: int


class Parameters(NamedTuple):
    """Weights, means and variances of the components of each mixture in a stack."""

    log_weights: Array  # (n_mixtures, n_components)
    means: Array  # (n_mixtures, n_components, n_features)
    covariances: Array  # (n_mixtures, n_components, n_features), the variances


class Sums(NamedTuple):
    """Additive summaries: those of two blocks of rows add up to those of both."""

    moments: Array  # (n_mixtures, n_components, n_columns), R F


def statistics(table: Table, rows: Array | None = None) -> Statistics:
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
    F = xp.concat([-0.5 * x * x, x, *indicators], axis=1)
    return Statistics(xp.reshape(F, (*shape, F.shape[1])), link, table.n_features)


def filled(stats: Statistics) -> Array:
    """Return the rows with zero, the observed mean, where nothing was observed (m, n, d)."""
    d = stats.n_features
    return stats.rows[..., d : 2 * d]


def pick(stats: Statistics, chosen: Array) -> Array:
    """Pick the rows `chosen` (m, g) of each subsample, mean-imputed (m, g, d)."""
    d = stats.n_features
    return gather(stats.rows, chosen)[..., d : 2 * d]


def start(stats: Statistics, resp: Array, centers: Array, floor: float) -> Parameters:
    """Compute empirical moments of mean-imputed rows, given `resp` (m, g, n)."""
    xp = namespace(resp)
    d = stats.n_features
    moments = resp @ stats.rows
    total, _ = _totals(moments, stats)
    share = 1 / xp.where(total > 0, total, 1.0)[..., None]
    means = moments[..., d : 2 * d] * share
    variances = at_least(moments[..., :d] * (-2 * share) - means * means, floor)
    empty = (total <= 0)[..., None]
    return Parameters(
        _log_weights(total, stats),
        xp.where(empty, centers, means),
        xp.where(empty, 1.0, variances),
    )


def log_joint(stats: Statistics, params: Parameters) -> Array:
    """Compute log π_k + log N(x° | μ_k°, σ_k°²), of shape (m, g, n).

    Rows shared by all mixtures (a leading axis of one) meet all components in one product.
    """
    xp = namespace(params.means)
    B = _coefficients(stats, params)
    if stats.rows.shape[0] == 1 and B.shape[0] > 1:
        flat = xp.reshape(B, (-1, B.shape[2])) @ xp.matrix_transpose(stats.rows[0, ...])
        return xp.reshape(flat, (B.shape[0], B.shape[1], -1))
    return B @ xp.matrix_transpose(stats.rows)


def expect(stats: Statistics, params: Parameters, share: Callable[[Array], Array]) -> Sums:
    """Sum the statistics of the rows, weighted by what `share` makes of their log-joint."""
    return Sums(share(log_joint(stats, params)) @ stats.rows)


def update(stats: Statistics, params: Parameters, sums: Sums, floor: float) -> Parameters:
    """Compute the paper's M-step: a missing entry counts as the old mean, with the old variance.

    The floor clips the variances, which is the constrained maximum, so EM still never descends.
    A component that lost all rows has seen nothing: it keeps its parameters, and its weight
    vanishes.
    """
    xp = namespace(params.means)
    d = stats.n_features
    total, seen = _totals(sums.moments, stats)
    alive = total > 10 * xp.finfo(total.dtype).smallest_normal
    share = xp.where(alive, 1 / xp.where(alive, total, 1.0), 0.0)[..., None]
    unseen = 1 - seen * share
    means = sums.moments[..., d : 2 * d] * share + unseen * params.means
    squares = params.means * params.means + params.covariances
    squares = sums.moments[..., :d] * (-2 * share) + unseen * squares
    variances = at_least(squares - means * means, floor)
    return Parameters(_log_weights(total, stats), means, variances)


def conditional_means(stats: Statistics, params: Parameters) -> Array:
    """Complete every row under every component, of shape (g, n, d), for one mixture."""
    xp = namespace(params.means)
    d = stats.n_features
    seen = stats.rows[0, :, 2 * d :]
    seen = seen[:, :d] if stats.link is None else seen @ stats.link[:, :d]
    return xp.where(seen > 0.5, filled(stats), params.means[0, :, None, :])


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    return n_components * 2 * n_features + n_components - 1


def _coefficients(stats: Statistics, params: Parameters) -> Array:
    """Stack B so that B Fᵀ is the log-joint (m, g, n_columns)."""
    xp = namespace(params.means)
    precision = 1 / params.covariances
    scaled = params.means * precision
    seen = -0.5 * (params.means * scaled - xp.log(precision) + _LOG_2PI)
    tail = xp.concat([seen, params.log_weights[..., None]], axis=-1)
    if stats.link is not None:
        tail = tail @ xp.matrix_transpose(stats.link)
    return xp.concat([precision, scaled, tail], axis=-1)


def _totals(moments: Array, stats: Statistics) -> tuple[Array, Array]:
    """Read Σ r (m, g) and Σ r m (m, g, d) off the last columns of the moments."""
    tail = moments[..., 2 * stats.n_features :]
    if stats.link is not None:
        tail = tail @ stats.link
    return tail[..., -1], tail[..., :-1]


def _log_weights(total: Array, stats: Statistics) -> Array:
    """Turn sums of responsibilities (m, g) into log-weights that are never −inf."""
    xp = namespace(total)
    tiny = float(xp.finfo(total.dtype).smallest_normal)
    return xp.log(total / stats.rows.shape[1] + tiny)
