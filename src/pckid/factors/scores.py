"""The scores of rows under the factors of a fit, wherever the rows lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, clip, device_of, namespace, take_along, to_numpy

# Squared deviations are at most this, lest their squares overflow in float32.
_FARTHEST = 1e15


class WideFactors(NamedTuple):
    """What rows of a wide table are scored by, in standardised units of its d columns of numbers.

    Columns beyond these, if there are any, say where the others are missing.
    """

    weights: Array  # (d, r), how much each column has of each factor
    noise: Array  # (d,), variances of the columns' own errors
    precision: Array  # (d,), how much an error counts in a score; 0 for columns that tell nothing
    scale: Array  # (r,), what scores are multiplied by: factors that tell more vary more

    @property
    def n_factors(self) -> int:
        return self.weights.shape[1]

    @property
    def columns(self) -> np.ndarray:
        """The columns that tell (m,)."""
        return np.flatnonzero(to_numpy(self.precision) > 0)


class Scored(NamedTuple):
    """What the observed cells of rows say of their factors."""

    means: Array  # (n, r)
    covariances: Array  # (n, r, r)


def score_rows(values: Array, seen: Array, factors: WideFactors) -> Scored:
    """Compute the posterior of the factors of rows (n, d), 0 where not `seen` (n, d).

    With W the weights, P the precisions of what is observed of a row, and x the row: covariances
    C = (I + Wᵀ P W)⁻¹ and means C Wᵀ P x.
    """
    columns = factors.columns
    values, seen = take_along(values, columns, axis=1), take_along(seen, columns, axis=1)
    xp, (n, r) = namespace(values), (values.shape[0], factors.n_factors)
    weights = xp.astype(take_along(factors.weights, columns), values.dtype)
    scaled = weights * xp.astype(take_along(factors.precision, columns), values.dtype)[:, None]
    products = xp.reshape(scaled[:, :, None] * weights[:, None, :], (len(columns), r * r))
    eye = xp.eye(r, dtype=values.dtype, device=device_of(values))
    precisions = xp.reshape(xp.astype(seen, values.dtype) @ products, (n, r, r)) + eye
    covariances = xp.linalg.inv(precisions)
    means = covariances @ (values @ scaled)[..., None]
    return Scored(means[..., 0], covariances)


def expect_columns(scored: Scored, factors: WideFactors, n_columns: int) -> tuple[Array, Array]:
    """Compute what scores say of each of the first columns of rows, and its variance (n, d).

    With w the weights of a column and ψ its noise: wᵀ m, and ψ + wᵀ C w.
    """
    xp, (n, r) = namespace(scored.means), scored.means.shape
    weights, noise = (xp.astype(p[:n_columns, ...], scored.means.dtype) for p in factors[:2])
    outer = xp.reshape(weights[:, :, None] * weights[:, None, :], (n_columns, r * r))
    variances = xp.reshape(scored.covariances, (n, r * r)) @ xp.matrix_transpose(outer)
    return scored.means @ xp.matrix_transpose(weights), variances + noise


def unexplained(values: Array, seen: Array, scored: Scored, factors: WideFactors) -> Array:
    """Sum the squares of squared deviations from what the scores expect of rows (n, d).

    Each is in units of its column's own variance; also how many there are, so of shape (n, 2).
    """
    xp, d = namespace(values), values.shape[1]
    weights, noise = (xp.astype(part[:d, ...], values.dtype) for part in factors[:2])
    left = values - scored.means @ xp.matrix_transpose(weights)
    counted = xp.astype(seen, values.dtype)
    squares = clip(counted * left * left / noise, 0.0, _FARTHEST)
    return xp.stack([xp.sum(squares * squares, axis=1), xp.sum(counted, axis=1)], axis=1)


def informative_columns(shares: np.ndarray) -> np.ndarray:
    """Find the columns whose missingness varies (m,), by the shares observed (d,)."""
    return np.flatnonzero((shares > 0) & (shares < 1))


def standardised_indicators(seen: Array, shares: Array) -> Array:
    """Indicate what is seen (n, d) in columns that are missing for a reason (n, m), standardised.

    Those are observed in a share (d,) of the rows below 1.
    """
    xp = namespace(shares)
    columns = informative_columns(to_numpy(shares))
    share = take_along(shares, columns)
    mine = xp.astype(take_along(seen, columns, axis=1), shares.dtype)
    return (mine - share) / xp.sqrt(share * (1 - share))
