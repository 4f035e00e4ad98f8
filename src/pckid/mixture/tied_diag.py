"""The tied diagonal family: the product family with the same variances in all components."""

from __future__ import annotations

from pckid._utils.arrays import clip_min
from pckid.mixture.component_weights import pool
from pckid.mixture.product import (
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
    """Give all components of a mixture their mean variances, at least `floor`."""
    variances = pool(params.covariances, params.log_weights)
    return params._replace(covariances=clip_min(variances, floor))


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    return (n_components + 1) * n_features + n_components - 1
