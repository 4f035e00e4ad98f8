"""The spherical family: the product family with one variance for all features of a component."""

from __future__ import annotations

from pckid._utils.arrays import clip_min, namespace
from pckid.mixture.product import (
    MATRICES,
    MIXED,
    STACKABLE,
    TIED,
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


def constrain(params: Parameters, floor: float) -> Parameters:
    """Give all features of a component their mean variance, at least `floor`."""
    xp = namespace(params.means)
    if params.covariances.shape[-1] == 0:
        return params
    mean = clip_min(xp.mean(params.covariances, axis=-1, keepdims=True), floor)
    return params._replace(covariances=mean + 0 * params.covariances)


def n_parameters(n_components: int, n_features: int) -> int:
    """Count the free parameters of one mixture."""
    return n_components * (n_features + 1) + n_components - 1
