"""Where EM is heading: an extrapolation from two of its steps.

The squared extrapolation of Varadhan and Roland (Simple and globally convergent methods for
accelerating the convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 2008). With
a first step r and v, the second less the first, a component moves to θ + 2 s r + s² v, with a span
s = |r| / |v|: a step that shrinks by the same factor each time would need about s steps to do the
same. Covariances move as Cholesky factors with logarithms in the diagonal, variances as logarithms,
so that what is reached is a covariance.
"""

from __future__ import annotations

from typing import Any

from pckid._utils.arrays import Array, clip, device_of, namespace

# Spans beyond this are no different from one that never ends.
_MAX_SPAN = 1e4
# A component whose logarithms would move further than this is not worth trying.
_FURTHEST = 5.0


def extrapolate(start: Any, first: Any, second: Any, limit: float) -> tuple[Any | None, float]:
    """Extrapolate from the parameters of a start and of two steps of EM, over a span up to `limit`.

    Returns the parameters, None where they would be absurd, and the longest span there would be
    without a limit. Weights are those of the second step.
    """
    xp = namespace(start.means)
    free = [_free(each) for each in (start, first, second)]
    r = free[1] - free[0]
    v = free[2] - free[1] - r
    long, short = (xp.sqrt(xp.sum(each * each, axis=-1, keepdims=True)) for each in (r, v))
    least = long / _MAX_SPAN + float(xp.finfo(r.dtype).smallest_normal)
    span = clip(long / xp.where(short > least, short, least), 1.0)
    longest = float(xp.max(span))
    span = clip(span, high=limit)
    move = 2 * span * r + span * span * v
    if not float(xp.max(xp.abs(move))) < _FURTHEST:
        return None, longest
    return _restored(free[0] + move, second), longest


def _free(params: Any) -> Array:
    """Write means and covariances without constraints: (m, g, n_free)."""
    xp, covariances = namespace(params.means), params.covariances
    if covariances.ndim == params.means.ndim:
        return xp.concat([params.means, xp.log(covariances)], axis=-1)
    factor = xp.linalg.cholesky(covariances)
    logs = xp.log(xp.linalg.diagonal(factor))
    free = xp.tril(factor, k=-1) + _identity_like(factor) * logs[..., None, :]
    flat = xp.reshape(free, (*free.shape[:-2], -1))
    return xp.concat([params.means, flat], axis=-1)


def _restored(free: Array, like: Any) -> Any:
    """Undo `_free`, with the weights of other parameters."""
    xp, d = namespace(free), like.means.shape[-1]
    means, rest = free[..., :d], free[..., d:]
    if like.covariances.ndim == like.means.ndim:
        return like._replace(means=means, covariances=xp.exp(rest))
    rest = xp.reshape(rest, like.covariances.shape)
    scales = xp.exp(xp.linalg.diagonal(rest))
    factor = xp.tril(rest, k=-1) + _identity_like(rest) * scales[..., None, :]
    return like._replace(means=means, covariances=factor @ xp.matrix_transpose(factor))


def _identity_like(matrices: Array) -> Array:
    """Return the identity (d, d) for matrices (..., d, d)."""
    xp = namespace(matrices)
    return xp.eye(matrices.shape[-1], dtype=matrices.dtype, device=device_of(matrices))
