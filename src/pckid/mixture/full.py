"""The full family: one covariance matrix per component.

Everything is written in the precision Λ = Σ⁻¹. For the missing set m and the observed set o of a
pattern, cov(x_m | x_o) = Λ_mm⁻¹, log|Σ_oo| = log|Σ| + log|Λ_mm|, and the completed row
x̂ = μ + δ − Λ_mm⁻¹ Λ_mo δ_o has the Mahalanobis distance of its observed part. So one Cholesky
factor of Λ_mm per pattern and component does it all, with ones on the diagonal where a feature is
observed. Rows that share a pattern share its factor; patterns with about as many rows share a call.

The stack axis of the other arrays is kept, but a stack holds one mixture (STACKABLE is False).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pckid._arrays import Array, at_least, device_of, like, namespace, to_numpy
from pckid.mixture.table import Table, find_patterns, gather, take

STACKABLE = False
_LOG_2PI = math.log(2 * math.pi)
# Factors of patterns × components are made in batches of about this many numbers.
_BATCH = 1 << 21


class Batch(NamedTuple):
    """Patterns with nearly the same number of rows, padded to the same."""

    values: Array  # (n_patterns, n_rows, n_features), zero where missing
    observed: Array  # (n_patterns, n_features), 1.0 where observed
    rows: Array  # (n_patterns · n_rows,), positions in the table; padding repeats a row
    real: Array  # (n_patterns, n_rows), 1.0 for a row, 0.0 for padding


class Statistics(NamedTuple):
    """The rows, in order and sorted into batches by pattern."""

    values: Array  # (1, n_samples, n_features)
    batches: tuple[Batch, ...]
    position: Array  # (n_samples,), where each row lies in the batches laid end to end


class Parameters(NamedTuple):
    """Weights, means and covariances of one mixture."""

    log_weights: Array  # (1, n_components)
    means: Array  # (1, n_components, n_features)
    covariances: Array  # (1, n_components, n_features, n_features)


class Sums(NamedTuple):
    """Additive summaries of completed rows, as deviations from the old mean."""

    total: Array  # (n_components,)
    first: Array  # (n_components, n_features)
    second: Array  # (n_components, n_features, n_features), conditional covariance included


def statistics(table: Table, rows: Array | None = None) -> Statistics:
    """Sort all rows, or `rows` of shape (1, n_rows), into batches by pattern."""
    if rows is not None:
        table = take(table, rows[0, :])
    xp = namespace(table.values)
    patterns, index = find_patterns(to_numpy(table.observed))
    batches = tuple(
        _batch(table, patterns[group], members)
        for group, members in _groups(index, len(patterns), table.n_features)
    )
    order = np.concatenate([to_numpy(b.rows) for b in batches])
    real = np.concatenate([to_numpy(b.real).reshape(-1) for b in batches]) > 0
    position = np.empty(table.n_samples, dtype=np.int64)
    position[order[real]] = np.flatnonzero(real)
    position = like(position, table.values, dtype=xp.int64)
    return Statistics(table.values[None, ...], batches, position)


def filled(stats: Statistics) -> Array:
    """Return the rows with zero, the observed mean, where nothing was observed (1, n, d)."""
    return stats.values


def pick(stats: Statistics, chosen: Array) -> Array:
    """Pick the rows `chosen` (1, g), mean-imputed (1, g, d)."""
    return gather(stats.values, chosen)


def start(stats: Statistics, resp: Array, centers: Array, floor: float) -> Parameters:
    """Compute empirical moments of mean-imputed rows, given `resp` (1, g, n)."""
    xp = namespace(resp)
    X, d = stats.values[0, ...], stats.values.shape[-1]
    total = xp.sum(resp[0, ...], axis=-1)
    safe = xp.where(total > 0, total, 1.0)[:, None]
    means = xp.where(total[:, None] > 0, resp[0, ...] @ X / safe, centers[0, ...])
    deviations = X[None, ...] - means[:, None, :]
    weighted = xp.matrix_transpose(deviations) * resp[0, :, None, :]
    scatter = weighted @ deviations / safe[..., None]
    identity = xp.eye(d, dtype=X.dtype, device=device_of(X))
    covariances = xp.where((total > 0)[:, None, None], scatter, identity)
    log_weights = _log_weights(total, X.shape[0])
    return Parameters(log_weights, means[None, ...], _clip(covariances, floor)[None, ...])


def log_joint(stats: Statistics, params: Parameters) -> Array:
    """Compute log π_k + log N(x° | μ_k°, Σ_k°), of shape (n_mixtures, g, n)."""
    xp = namespace(params.means)
    if params.means.shape[0] > 1:
        return xp.concat([log_joint(stats, one) for one in _mixtures(params)], axis=0)
    precision, log_det = _precision(params.covariances[0, ...])
    parts = []
    for batch in stats.batches:
        density, _, _ = _complete(batch, params.means[0, ...], precision, log_det)
        parts.append(xp.reshape(density, (density.shape[0], -1)))
    flat = xp.concat(parts, axis=1)
    return (xp.take(flat, stats.position, axis=1) + params.log_weights[0, :, None])[None, ...]


def summarise(stats: Statistics, params: Parameters, resp: Array) -> Sums:
    """Sum completed rows and their spread, weighted by `resp` (1, g, n)."""
    precision, log_det = _precision(params.covariances[0, ...])
    return _add(
        _summarise_batch(batch, params.means[0, ...], precision, log_det, resp[0, ...])
        for batch in stats.batches
    )


def update(stats: Statistics, params: Parameters, sums: Sums, floor: float) -> Parameters:
    """Compute the paper's M-step from the sums.

    The floor lifts the eigenvalues, which is the constrained maximum, so EM still never descends.
    A component that lost all rows keeps its parameters and gets a vanishing weight.
    """
    xp = namespace(params.means)
    alive = sums.total > 10 * xp.finfo(sums.total.dtype).smallest_normal
    total = xp.where(alive, sums.total, 1.0)
    shift = sums.first / total[:, None]
    scatter = sums.second / total[:, None, None] - shift[:, :, None] * shift[:, None, :]
    keep = alive[:, None]
    means = xp.where(keep, params.means[0, ...] + shift, params.means[0, ...])
    scatter = xp.where(keep[..., None], scatter, params.covariances[0, ...])
    log_weights = _log_weights(sums.total, stats.values.shape[1])
    return Parameters(log_weights, means[None, ...], _clip(scatter, floor)[None, ...])


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    each = n_features + n_features * (n_features + 1) // 2
    return n_components * each + n_components - 1


def conditional_means(stats: Statistics, params: Parameters) -> Array:
    """Complete every row under every component, of shape (g, n, d)."""
    xp = namespace(params.means)
    precision, log_det = _precision(params.covariances[0, ...])
    means = params.means[0, ...]
    parts = []
    for batch in stats.batches:
        _, deviations, _ = _complete(batch, means, precision, log_det)
        completed = deviations + means[:, None, None, :]
        parts.append(xp.reshape(completed, (means.shape[0], -1, means.shape[1])))
    return xp.take(xp.concat(parts, axis=1), stats.position, axis=1)


def _complete(
    batch: Batch, means: Array, precision: Array, log_det: Array
) -> tuple[Array, Array, Array]:
    """Compute density, completed deviation and conditional covariance for a batch.

    Returns
    -------
    log_density : array of shape (g, n_patterns, n_rows)
    deviations : array of shape (g, n_patterns, n_rows, d), completed row minus mean
    conditional : array of shape (g, n_patterns, d, d), zero where observed
    """
    xp = namespace(means)
    seen = batch.observed
    hidden = 1 - seen
    conditional, log_det_hidden = _conditional(precision, hidden)
    delta = (batch.values - means[:, None, None, :]) * seen[:, None, :]
    pull = (delta @ precision[:, None, ...]) * hidden[:, None, :]
    deviations = delta - pull @ conditional
    distance = xp.sum(delta * (deviations @ precision[:, None, ...]), axis=-1)
    constant = (log_det[:, None] + log_det_hidden) + xp.sum(seen, axis=-1) * _LOG_2PI
    return -0.5 * (constant[..., None] + distance), deviations, conditional


def _conditional(precision: Array, hidden: Array) -> tuple[Array, Array]:
    """Invert Λ_mm inside a d × d frame: (g, p, d, d), and its log-determinant (g, p)."""
    xp = namespace(precision)
    d = precision.shape[-1]
    frame = hidden[:, :, None] * hidden[:, None, :]
    identity = xp.eye(d, dtype=precision.dtype, device=device_of(precision))
    inside = precision[:, None, ...] * frame + identity * (1 - hidden)[:, None, :]
    factor = xp.linalg.cholesky(inside)
    diagonal = xp.linalg.diagonal(factor)
    half = xp.linalg.solve(factor, xp.broadcast_to(identity, factor.shape))
    return (xp.matrix_transpose(half) @ half) * frame, 2 * xp.sum(xp.log(diagonal), axis=-1)


def _summarise_batch(
    batch: Batch, means: Array, precision: Array, log_det: Array, resp: Array
) -> Sums:
    """Sum one batch under responsibilities `resp` (g, n) of all rows."""
    xp = namespace(means)
    g, d = means.shape
    _, deviations, conditional = _complete(batch, means, precision, log_det)
    mine = xp.reshape(xp.take(resp, batch.rows, axis=1), (g, *batch.real.shape)) * batch.real
    per_pattern = xp.sum(mine, axis=-1)
    flat = xp.reshape(deviations, (g, -1, d))
    weighted = flat * xp.reshape(mine, (g, -1, 1))
    spread = xp.sum(conditional * per_pattern[..., None, None], axis=1)
    return Sums(
        xp.sum(per_pattern, axis=-1),
        xp.sum(weighted, axis=1),
        xp.matrix_transpose(weighted) @ flat + spread,
    )


def _add(parts: Iterator[Sums]) -> Sums:
    """Add up the sums of the batches."""
    total = next(parts)
    for part in parts:
        total = Sums(*(a + b for a, b in zip(total, part, strict=True)))
    return total


def _precision(covariances: Array) -> tuple[Array, Array]:
    """Invert covariances (g, d, d) through their Cholesky factor; log-determinants (g,)."""
    xp = namespace(covariances)
    factor = xp.linalg.cholesky(covariances)
    identity = xp.eye(covariances.shape[-1], dtype=covariances.dtype, device=device_of(covariances))
    half = xp.linalg.solve(factor, xp.broadcast_to(identity, factor.shape))
    log_det = 2 * xp.sum(xp.log(xp.linalg.diagonal(factor)), axis=-1)
    return xp.matrix_transpose(half) @ half, log_det


def _clip(covariances: Array, floor: float) -> Array:
    """Lift the eigenvalues of symmetric matrices (g, d, d) to at least `floor`."""
    xp = namespace(covariances)
    symmetric = (covariances + xp.matrix_transpose(covariances)) / 2
    values, vectors = xp.linalg.eigh(symmetric)
    lifted = at_least(values, floor)
    rebuilt = (vectors * lifted[:, None, :]) @ xp.matrix_transpose(vectors)
    low = xp.min(values, axis=-1)[:, None, None] < floor
    return xp.where(low, (rebuilt + xp.matrix_transpose(rebuilt)) / 2, symmetric)


def _log_weights(total: Array, n_samples: int) -> Array:
    """Turn sums of responsibilities (g,) into log-weights (1, g) that are never −inf."""
    xp = namespace(total)
    tiny = float(xp.finfo(total.dtype).smallest_normal)
    return xp.log(total / n_samples + tiny)[None, :]


def _mixtures(params: Parameters) -> Iterator[Parameters]:
    """Split a stack into its mixtures."""
    for i in range(params.means.shape[0]):
        yield Parameters(*(part[i : i + 1, ...] for part in params))


def _groups(
    index: np.ndarray, n_patterns: int, n_features: int
) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Group patterns by the number of their rows, up to a factor of two."""
    order = np.argsort(index, kind="stable")
    counts = np.bincount(index, minlength=n_patterns)
    members = np.split(order, np.cumsum(counts)[:-1])
    scale = np.ceil(np.log2(counts)).astype(int)
    for level in np.unique(scale):
        group = np.flatnonzero(scale == level)
        size = max(1, _BATCH // (n_features * max(n_features, 2**level)))
        for first in range(0, len(group), size):
            part = group[first : first + size]
            yield part, [members[i] for i in part]


def _batch(table: Table, patterns: np.ndarray, members: list[np.ndarray]) -> Batch:
    """Pad the rows of some patterns to one length and gather them."""
    xp = namespace(table.values)
    longest = max(len(m) for m in members)
    rows = np.stack([np.resize(m, longest) for m in members])
    real = np.stack([np.arange(longest) < len(m) for m in members])
    flat = like(rows.reshape(-1), table.values, dtype=xp.int64)
    values = xp.reshape(xp.take(table.values, flat, axis=0), (*rows.shape, table.n_features))
    return Batch(
        values,
        like(patterns.astype(np.float64), values),
        flat,
        like(real.astype(np.float64), values),
    )
