"""The full family: one covariance matrix per component.

Rows are completed pattern by pattern (see `completion`), for all patterns and components of a batch
together, and what is summed of them is what the paper's M-step needs.

The stack axis of the other arrays is kept, but a stack holds one mixture (STACKABLE is False).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pckid._utils.arrays import Array, clip, contiguous, device_of, namespace
from pckid.input.table import StandardisedRows, take
from pckid.mixture.batches import WIDTH, PatternBatch, sort_rows
from pckid.mixture.completion import (
    Completed,
    Components,
    complete,
    components,
    conditional_diagonal,
    sum_inverses,
)
from pckid.mixture.em import Responsibilities, holds_rows, log_weights

STACKABLE = False
MIXED = False
MATRICES = True
SPHERICAL = False
TIED = False


class Statistics(NamedTuple):
    """The rows, in order and sorted into batches by pattern."""

    values: Array  # (1, n_samples, n_features)
    batches: tuple[PatternBatch, ...]
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


def statistics(table: StandardisedRows, rows: Array | None = None) -> Statistics:
    """Sort all rows, or `rows` of shape (1, n_rows), into batches by pattern."""
    if rows is not None:
        table = take(table, rows[0, :])
    return Statistics(table.values[None, ...], *sort_rows(table))


def filled(stats: Statistics) -> Array:
    """Return the rows with zero, the observed mean, where nothing was observed (1, n, d)."""
    return stats.values


def start(stats: Statistics, resp: Array, centers: Array) -> Parameters:
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
    logs = log_weights(total, X.shape[0])[None, :]
    return Parameters(logs, means[None, ...], covariances[None, ...])


def log_joint(stats: Statistics, params: Parameters) -> Array:
    """Compute log π_k + log N(x° | μ_k°, Σ_k°), of shape (n_mixtures, g, n)."""
    xp = namespace(params.means)
    parts = []
    for some in _laid_out(params):
        densities = [
            xp.take(complete(batch, some).log_density, batch.real, axis=0)
            for batch in stats.batches
        ]
        ordered = xp.take(xp.concat(densities, axis=0), stats.position, axis=0)
        parts.append(xp.matrix_transpose(ordered))
    flat = xp.reshape(xp.concat(parts, axis=0), (*params.log_weights.shape, -1))
    return flat + params.log_weights[..., None]


def coefficients(stats: Statistics, params: Parameters) -> Parameters:
    """Return what the log-joint of any rows needs: each row has a matrix of its own."""
    return params


log_joint_of = log_joint


def expect(stats: Statistics, params: Parameters, resp_of: Responsibilities) -> Sums:
    """Sum completed rows and their spread, weighted by their responsibilities.

    Batch by batch, so that each inverse serves the log-joint and the sums and is then forgotten.
    """
    laid_out = list(_laid_out(params))
    sums = Sums(*(namespace(part).zeros_like(part[0, ...]) for part in params))
    for side in (True, False):
        parts = [
            _expect_batch(batch, laid_out, params.log_weights, resp_of)
            for batch in stats.batches
            if batch.by_missing is side
        ]
        if parts:
            total = Sums(*(sum(arrays) for arrays in zip(*parts, strict=True)))
            total = total if side else _from_observed(total, params.covariances[0, ...])
            sums = Sums(*(a + b for a, b in zip(sums, total, strict=True)))
    return sums


def update(stats: Statistics, params: Parameters, sums: Sums) -> Parameters:
    """Compute the paper's M-step from the sums.

    A component that lost all rows keeps its parameters and gets a vanishing weight.
    """
    xp = namespace(params.means)
    alive = holds_rows(sums.total)
    total = xp.where(alive, sums.total, 1.0)
    shift = sums.first / total[:, None]
    scatter = sums.second / total[:, None, None] - shift[:, :, None] * shift[:, None, :]
    keep = alive[:, None]
    means = xp.where(keep, params.means[0, ...] + shift, params.means[0, ...])
    scatter = xp.where(keep[..., None], scatter, params.covariances[0, ...])
    logs = log_weights(sums.total, stats.values.shape[1])[None, :]
    return Parameters(logs, means[None, ...], scatter[None, ...])


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    each = n_features + n_features * (n_features + 1) // 2
    return n_components * each + n_components - 1


def constrain(params: Parameters, floor: float) -> Parameters:
    """Lift the eigenvalues to `floor`: the constrained maximum, so EM still never descends."""
    return params._replace(
        covariances=lift_eigenvalues(params.covariances[0, ...], floor)[None, ...]
    )


def conditional_means(stats: Statistics, params: Parameters) -> Array:
    """Complete every row under every component, of shape (g, n, d)."""
    xp = namespace(params.means)
    covariances = params.covariances[0, ...]
    parts = []
    for batch in stats.batches:
        vectors = [complete(batch, some).vectors for some in _laid_out(params)]
        deviations = xp.take(xp.concat(vectors, axis=0), batch.real, axis=1)
        if not batch.by_missing:
            deviations = deviations @ covariances
        parts.append(deviations)
    ordered = xp.take(xp.concat(parts, axis=1), stats.position, axis=1)
    return ordered + params.means[0, :, None, :]


def conditional_variances(stats: Statistics, params: Parameters) -> Array:
    """Compute how far what is missing of every row varies under every component, (g, n, d).

    The diagonal of the conditional covariance given what is observed; 0 where a value is observed.
    """
    xp = namespace(params.means)
    parts = []
    for batch in stats.batches:
        found = [conditional_diagonal(batch, some) for some in _laid_out(params)]
        parts.append(xp.take(xp.concat(found, axis=0), batch.real, axis=1))
    return xp.take(xp.concat(parts, axis=1), stats.position, axis=1)


def _laid_out(params: Parameters) -> Iterator[Components]:
    """Arrange the components of all mixtures for the batches, some at a time."""
    xp = namespace(params.means)
    d = params.means.shape[-1]
    means = xp.reshape(params.means, (-1, d))
    covariances = xp.reshape(params.covariances, (-1, d, d))
    for first in range(0, means.shape[0], WIDTH):
        last = min(first + WIDTH, means.shape[0])
        yield components(means[first:last, :], covariances[first:last, ...])


def _expect_batch(
    batch: PatternBatch,
    laid_out: list[Components],
    log_weights: Array,
    resp_of: Responsibilities,
) -> Sums:
    """Sum one batch; by the observed side, the sums are still those of u and Σ_oo⁻¹."""
    xp = namespace(log_weights)
    done = [complete(batch, some) for some in laid_out]
    densities = xp.concat([each.log_density for each in done], axis=1) + log_weights
    joint = xp.matrix_transpose(xp.take(densities, batch.real, axis=0))
    resp = xp.matrix_transpose(resp_of(contiguous(joint)[None, ...], batch.rows)[0, ...])
    resp = xp.take(xp.concat([resp, 0 * resp[:1, :]], axis=0), batch.copies, axis=0)
    first, parts = 0, []
    for each in done:
        width = each.log_density.shape[1]
        parts.append(_summarise(batch, each, contiguous(resp[:, first : first + width])))
        first += width
    return Sums(*(xp.concat(arrays, axis=0) for arrays in zip(*parts, strict=True)))


def _summarise(batch: PatternBatch, done: Completed, resp: Array) -> Sums:
    """Sum rows of a batch under responsibilities `resp` (r · p, g)."""
    xp = namespace(resp)
    weights = contiguous(xp.matrix_transpose(resp))
    weighted = done.vectors * weights[..., None]
    inverses = sum_inverses(batch, done.inverse, resp)
    outer = xp.matrix_transpose(weighted) @ done.vectors
    return Sums(
        xp.sum(weights, axis=1),
        xp.sum(weighted, axis=1),
        outer + inverses if batch.by_missing else outer - inverses,
    )


def _from_observed(sums: Sums, covariances: Array) -> Sums:
    """Turn sums of u and u uᵀ − Σ_oo⁻¹ into those of completed rows: δ̂ = Σu."""
    return Sums(
        sums.total,
        (covariances @ sums.first[..., None])[..., 0],
        covariances @ sums.second @ covariances + sums.total[:, None, None] * covariances,
    )


def lift_eigenvalues(covariances: Array, floor: float) -> Array:
    """Lift the eigenvalues of symmetric matrices (g, d, d) to at least `floor`."""
    xp = namespace(covariances)
    symmetric = (covariances + xp.matrix_transpose(covariances)) / 2
    values, vectors = xp.linalg.eigh(symmetric)
    lifted = clip(values, floor)
    rebuilt = (vectors * lifted[:, None, :]) @ xp.matrix_transpose(vectors)
    low = xp.min(values, axis=-1)[:, None, None] < floor
    return xp.where(low, (rebuilt + xp.matrix_transpose(rebuilt)) / 2, symmetric)
