"""The EM loop of the paper's Algorithm 1, the same for every family of components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from pckid._utils.arrays import Array, exponential, fused_softmax, namespace
from pckid.input.table import StandardisedRows

# Takes the log-joint (m, g, n) of some rows, and which rows of the table these are (None: all of
# them, in order), to their responsibilities (m, g, n).
Responsibilities = Callable[[Array, Array | None], Array]


class CovarianceType(Protocol):
    """What a family of components is to EM: a file of this folder has all of these.

    A stack of mixtures shares one call: arrays have a leading axis of mixtures (m), each trained on
    rows of its own, then components (g), then n_samples (n) or n_features (d).

    - `statistics`: what EM needs of the rows, computed once, as a tuple of the family's own.
    - `filled`: the rows (m, n, d) with zero, the observed mean, where missing.
    - `start`: parameters from hard assignments.
    - `log_joint`: log π_k + log p_k(x°) (m, g, n).
    - `coefficients`: what the log-joint of any rows needs of the parameters, computed once.
    - `log_joint_of`: `log_joint` from the coefficients.
    - `expect`: sums over rows weighted by what `share` makes of the log-joint; blocks add up.
    - `update`: the M-step, parameters from these sums.
    - `constrain`: the parameters with the family's constraint, such as the smallest variance.
    - `conditional_means`: completed rows (g, n, d).
    - `n_parameters`: a count for BIC and AIC.
    """

    STACKABLE: bool  # whether several mixtures share a call
    MIXED: bool  # whether it knows categories and informative missingness
    MATRICES: bool  # whether a component's covariance is a matrix
    SPHERICAL: bool  # whether the features of a component have one variance
    TIED: bool  # whether the components of a mixture have parameters in common
    Parameters: Any  # the tuple of a stack's parameters

    def statistics(self, table: StandardisedRows, rows: Array | None = None) -> Any: ...

    def filled(self, stats: Any) -> Array: ...

    def start(self, stats: Any, resp: Array, centers: Array) -> Any: ...

    def log_joint(self, stats: Any, params: Any) -> Array: ...

    def coefficients(self, stats: Any, params: Any) -> Any: ...

    def log_joint_of(self, stats: Any, coefficients: Any) -> Array: ...

    def expect(self, stats: Any, params: Any, resp_of: Responsibilities) -> Any: ...

    def update(self, stats: Any, params: Any, sums: Any) -> Any: ...

    def constrain(self, params: Any, floor: float) -> Any: ...

    def conditional_means(self, stats: Any, params: Any) -> Array: ...

    def n_parameters(self, n_components: int, n_features: int) -> int: ...


def log_weights(total: Array, n_samples: int) -> Array:
    """Turn sums of responsibilities (..., g) into log-weights that are never −inf."""
    xp = namespace(total)
    return xp.log(total / n_samples + float(xp.finfo(total.dtype).smallest_normal))


def holds_rows(total: Array) -> Array:
    """Return whether rows can be averaged by sums of responsibilities (..., g)."""
    return total > 10 * namespace(total).finfo(total.dtype).smallest_normal


def posterior(log_joint: Array, weights: Array | None = None, rounded: bool = True) -> Array:
    """Normalise over the components of one mixture: the posteriors γ (m, g, n).

    Those of a row are multiplied by its weight, where there are `weights` (m, 1, n), and are zero
    where they are tiny, if `rounded`. `log_joint` is overwritten: every copy of it would have to
    pass through the cache.
    """
    resp = fused_softmax(log_joint)
    if resp is not None:
        return resp if weights is None else resp * weights
    xp = namespace(log_joint)
    log_joint -= xp.max(log_joint, axis=1, keepdims=True)
    resp = exponential(log_joint, rounded)
    total = xp.sum(resp, axis=1, keepdims=True)
    if weights is None:
        resp /= total
    else:
        resp *= weights / total
    return resp


def responsibilities(log_joint: Array) -> tuple[Array, Array]:
    """Normalise (m, g, n) over the components of each mixture: the posteriors γ (m, g, n).

    And the log of the mixture's density at what is observed of each row (m, n).
    """
    xp = namespace(log_joint)
    top = xp.max(log_joint, axis=1, keepdims=True)
    resp = xp.exp(log_joint - top)
    total = xp.sum(resp, axis=1, keepdims=True)
    resp /= total
    return resp, (top + xp.log(total))[:, 0, :]


def iterate(
    family: CovarianceType,
    stats: Any,
    params: Any,
    *,
    n_iter: int,
    floor: float,
    resp_of: Responsibilities,
) -> Any:
    """Take a fixed number of steps, as for the members of the ensemble."""
    for _ in range(n_iter):
        sums = family.expect(stats, params, resp_of)
        params = family.constrain(family.update(stats, params, sums), floor)
    return params


def weighted_posterior(log_joint: Array, rows: Array | None, weights: Array | None = None) -> Array:
    """Weigh rows by their posteriors, times `weights` (m, 1, n_samples) of mean 1 if given."""
    return posterior(log_joint, None if weights is None else weights_of(rows, weights))


def weights_of(rows: Array | None, weights: Array) -> Array:
    """Pick the weights (..., n_samples) of some rows of a table; None is all of them."""
    return weights if rows is None else namespace(weights).take(weights, rows, axis=-1)


def best_start(scores: list[float], dtype: Any) -> int:
    """Find the highest score; the first of those that differ by rounding alone."""
    digits = 1e3 * float(np.finfo(str(dtype).rpartition(".")[2]).eps)
    best = 0
    for index, score in enumerate(scores):
        if score - scores[best] > digits * max(1.0, abs(scores[best])):
            best = index
    return best
