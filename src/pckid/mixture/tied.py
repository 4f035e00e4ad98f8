"""The tied family: the full family with the same covariance matrix in all components."""

from __future__ import annotations

from pckid._utils.arrays import namespace
from pckid.mixture import full
from pckid.mixture.component_weights import pool
from pckid.mixture.full import (
    MATRICES,
    MIXED,
    STACKABLE,
    Parameters,
    Statistics,
    Sums,
    conditional_means,
    expect,
    filled,
    log_joint,
    pick,
    start,
    statistics,
    update,
)

__all__ = [
    "MATRICES", "MIXED", "STACKABLE", "TIED", "Parameters", "Statistics", "Sums",
    "conditional_means", "constrain", "expect", "filled", "log_joint", "n_parameters", "pick",
    "start", "statistics", "update",
]  # fmt: skip
TIED = True


def constrain(params: Parameters, floor: float) -> Parameters:
    """Give all components of a mixture their mean covariance, its eigenvalues at least `floor`."""
    xp = namespace(params.means)
    shape = params.covariances.shape
    flat = xp.reshape(params.covariances, (*shape[:2], -1))
    pooled = xp.reshape(pool(flat, params.log_weights), shape)
    return params._replace(covariances=full.clip(pooled[0, ...], floor)[None, ...])


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    shared = n_features * (n_features + 1) // 2
    return n_components * n_features + shared + n_components - 1
