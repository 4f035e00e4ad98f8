"""Rows completed under Gaussian components with full covariances, pattern by pattern.

A pattern of missingness is handled on its cheaper side. With δ the observed deviations from the
mean, zero elsewhere, m the missing and o the observed features:

- through the missing side, in the precision Λ = Σ⁻¹ = Wᵀ W: the completed deviation is
  δ̂ = δ − Λ_mm⁻¹ (Λδ)_m, its conditional covariance Λ_mm⁻¹, log|Σ_oo| = log|Σ| + log|Λ_mm|, and the
  distance of the observed part is that of the completed row, |W δ̂|²;
- through the observed side, with u = Σ_oo⁻¹ δ_o, zero elsewhere: δ̂ = Σu, the conditional
  covariance is Σ − Σ Σ_oo⁻¹ Σ, and the distance δᵀu. Sums of u uᵀ and of Σ_oo⁻¹ over many rows go
  between two Σ once, so that δ̂ is not needed row by row.

Either way a pattern and a component need one small inverse, which all rows of the pattern share.
Patterns and components are the last axes of the arrays that meet in the elimination, so that each
of its steps is one operation on long vectors: for matrices of ten rows that is far faster than a
call of LAPACK for each of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from pckid._utils.arrays import Array, clip, contiguous, device_of, namespace
from pckid.mixture.batches import PatternBatch

_LOG_2PI = math.log(2 * math.pi)


class Components(NamedTuple):
    """Some components, laid out for the batches."""

    means: Array  # (d, g)
    covariances: Array  # (d · d, g)
    precisions: Array  # (d · d, g)
    whitening: Array  # (g, d, d), Wᵀ
    pull: Array  # (2 d, d · g), takes a row's values and what is observed of it to Λδ
    log_det: Array  # (g,), log|Σ|


class Completed(NamedTuple):
    """Rows of a batch under some components."""

    log_density: Array  # (r · p, g)
    vectors: Array  # (g, r · p, d), δ̂ by the missing side, u by the observed side
    inverse: Array  # (s, s, p, g), Λ_mm⁻¹ or Σ_oo⁻¹


def components(means: Array, covariances: Array) -> Components:
    """Arrange means (g, d) and covariances (g, d, d), and invert these."""
    xp = namespace(means)
    g, d = means.shape
    factor = xp.linalg.cholesky(covariances)
    identity = xp.eye(d, dtype=means.dtype, device=device_of(means))
    half = xp.linalg.solve(factor, xp.broadcast_to(identity, factor.shape))
    whitening = contiguous(xp.matrix_transpose(half))
    means = contiguous(xp.matrix_transpose(means))
    precisions = contiguous(xp.permute_dims(whitening @ half, (1, 2, 0)))
    pull = xp.concat([precisions, -precisions * means[:, None, :]], axis=0)
    return Components(
        means,
        xp.reshape(contiguous(xp.permute_dims(covariances, (1, 2, 0))), (d * d, g)),
        xp.reshape(precisions, (d * d, g)),
        whitening,
        xp.reshape(pull, (2 * d, d * g)),
        2 * xp.sum(xp.log(xp.linalg.diagonal(factor)), axis=-1),
    )


def complete(batch: PatternBatch, some: Components) -> Completed:
    """Compute the density of what is observed of the rows, and what completes them."""
    xp = namespace(some.means)
    _, r, p = batch.shape
    by_side = _by_missing if batch.by_missing else _by_observed
    vectors, inverse, distance, log_det = by_side(batch, some)
    constant = log_det + batch.n_observed[:, None] * _LOG_2PI
    log_density = -0.5 * (xp.reshape(distance, (r, p, -1)) + constant)
    return Completed(xp.reshape(log_density, (r * p, -1)), vectors, inverse)


def sum_inverses(batch: PatternBatch, inverse: Array, resp: Array) -> Array:
    """Sum the inverses weighted by responsibilities (r · p, g), in their places: (g, d, d)."""
    xp = namespace(resp)
    s, r, p = batch.shape
    g = resp.shape[1]
    weighted = inverse * xp.sum(xp.reshape(resp, (r, p, g)), axis=0)
    found = _gather_padded(xp.reshape(weighted, (s * s * p, g)), batch.targets)
    d = math.isqrt(batch.targets.shape[1])
    return xp.permute_dims(xp.reshape(xp.sum(found, axis=0), (d, d, g)), (2, 0, 1))


def conditional_diagonal(batch: PatternBatch, some: Components) -> Array:
    """Compute the variances of what is missing of each row, given what is observed (g, r · p, d).

    0 where a value is observed.
    """
    xp = namespace(some.means)
    s, r, p = batch.shape
    d, g = some.means.shape
    inverse = complete(batch, some).inverse
    if batch.by_missing:
        places = xp.arange(s, dtype=batch.side.dtype, device=device_of(batch.side)) * (s + 1)
        own = xp.take(xp.reshape(inverse, (s * s, p, g)), places, axis=0)
        each = xp.broadcast_to(own[:, None, ...], (s, r, p, g))
        return _components_first(_gather_padded(xp.reshape(each, (s * r * p, g)), batch.spots))
    features = xp.arange(d, dtype=batch.side.dtype, device=device_of(batch.side))
    places = xp.reshape(batch.side, (s, 1, p)) * d + features[None, :, None]
    across = xp.reshape(xp.take(some.covariances, xp.reshape(places, (-1,)), axis=0), (s, d, p, g))
    across = xp.permute_dims(across, (2, 3, 0, 1))
    known = xp.sum(across * (xp.permute_dims(inverse, (2, 3, 0, 1)) @ across), axis=2)
    own = xp.take(some.covariances, features * (d + 1), axis=0)
    left = clip(xp.permute_dims(xp.matrix_transpose(own) - known, (1, 0, 2)), 0.0)
    each = xp.reshape(xp.broadcast_to(left[:, None, ...], (g, r, p, d)), (g, r * p, d))
    return xp.where(batch.features[:, d:] > 0.5, 0.0, each)


def _by_missing(batch: PatternBatch, some: Components) -> tuple[Array, Array, Array, Array]:
    """Complete rows through Λ_mm; returns δ̂, Λ_mm⁻¹, the distance and log|Σ_oo|."""
    xp = namespace(some.means)
    s, r, p = batch.shape
    d, g = some.means.shape
    inside = xp.reshape(xp.take(some.precisions, batch.pairs, axis=0), (s, s, p, g))
    pulls = xp.reshape(batch.features @ some.pull, (r * p * d, g))
    pulls = xp.reshape(xp.take(pulls, batch.entries, axis=0), (s, r, p, g))
    inverse, solutions, log_det = solve(inside, pulls)
    values, seen = batch.features[:, :d, None], batch.features[:, d:, None]
    delta = (values - some.means) * seen
    delta -= _gather_padded(xp.reshape(solutions, (s * r * p, g)), batch.spots)
    vectors = _components_first(delta)
    distance = xp.sum((vectors @ some.whitening) ** 2, axis=-1)
    return vectors, inverse, xp.matrix_transpose(distance), some.log_det + log_det


def _by_observed(batch: PatternBatch, some: Components) -> tuple[Array, Array, Array, Array]:
    """Complete rows through Σ_oo; returns u, Σ_oo⁻¹, the distance and log|Σ_oo|."""
    xp = namespace(some.means)
    s, r, p = batch.shape
    d, g = some.means.shape
    inside = xp.reshape(xp.take(some.covariances, batch.pairs, axis=0), (s, s, p, g))
    values = xp.take(xp.reshape(batch.features[:, :d], (-1,)), batch.entries, axis=0)
    means = xp.reshape(xp.take(some.means, batch.side, axis=0), (s, 1, p, g))
    delta = xp.reshape(values, (s, r, p, 1)) - means
    inverse, solutions, log_det = solve(inside, delta)
    vectors = _gather_padded(xp.reshape(solutions, (s * r * p, g)), batch.spots)
    return _components_first(vectors), inverse, xp.sum(delta * solutions, axis=0), log_det


def _components_first(vectors: Array) -> Array:
    """Turn vectors (n, d, g) into (g, n, d), laid out for matrix products."""
    return contiguous(namespace(vectors).permute_dims(vectors, (2, 0, 1)))


def _gather_padded(rows: Array, positions: Array) -> Array:
    """Gather rows (n, g) at `positions` (...), zeros where the position is n."""
    xp = namespace(rows)
    padded = xp.concat(
        [rows, xp.zeros((1, rows.shape[1]), dtype=rows.dtype, device=device_of(rows))], axis=0
    )
    flat = xp.take(padded, xp.reshape(positions, (-1,)), axis=0)
    return xp.reshape(flat, (*positions.shape, rows.shape[1]))


class Solved(NamedTuple):
    """What the elimination finds of a batch of matrices A (s, s, ...)."""

    inverse: Array  # (s, s, ...), A⁻¹
    solutions: Array  # (s, r, ...), A⁻¹ B
    log_det: Array  # (...), log|A|


def solve(matrices: Array, right: Array) -> Solved:
    """Invert positive definite matrices A (s, s, ...) by Gauss–Jordan elimination, and A⁻¹ B.

    No pivots are searched for: on positive definite matrices the elimination is stable without
    (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 14.4). The right-hand
    sides B are (s, r, ...).
    """
    xp = namespace(matrices)
    s = matrices.shape[0]
    work = xp.concat([matrices, right], axis=1)
    log_det = xp.zeros_like(work[0, 0, ...]) if s else xp.sum(matrices, axis=(0, 1))
    for k in range(s):
        column = xp.asarray(work[:, k, ...], copy=True)
        pivot = xp.asarray(column[k, ...], copy=True)
        log_det = log_det + xp.log(pivot)
        # With the unit vector in place of column k and one less at the pivot, a single rank-one
        # update leaves the row divided by the pivot, and the inverse where the column was.
        work[:, k, ...] = 0.0
        work[k, k, ...] = 1.0
        row = work[k, ...] / pivot
        column[k, ...] -= 1.0
        work -= column[:, None, ...] * row
    return Solved(work[:, :s, ...], work[:, s:, ...], log_det)
