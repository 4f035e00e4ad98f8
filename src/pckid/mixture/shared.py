"""Families that share variances: the product and the full family under a further constraint."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from pckid._utils.arrays import clip_min, namespace
from pckid.mixture import full, product
from pckid.mixture.component_weights import pool
from pckid.mixture.em import Family


def _with_constraint(family: Family, **changes: Any) -> Family:
    """Copy a family, with other functions in the place of some of its own."""
    return cast(Family, SimpleNamespace(**(vars(family) | changes)))


def _one_variance(params: product.Parameters, floor: float) -> product.Parameters:
    """Give all features of a component their mean variance, at least `floor`."""
    if params.covariances.shape[-1] == 0:
        return params
    xp = namespace(params.means)
    mean = clip_min(xp.mean(params.covariances, axis=-1, keepdims=True), floor)
    return params._replace(covariances=mean + 0 * params.covariances)


def _same_variances(params: product.Parameters, floor: float) -> product.Parameters:
    """Give all components of a mixture their mean variances, at least `floor`."""
    variances = pool(params.covariances, params.log_weights)
    return params._replace(covariances=clip_min(variances, floor))


def _same_matrix(params: full.Parameters, floor: float) -> full.Parameters:
    """Give all components of a mixture their mean covariance, its eigenvalues at least `floor`."""
    xp = namespace(params.means)
    shape = params.covariances.shape
    flat = xp.reshape(params.covariances, (*shape[:2], -1))
    pooled = xp.reshape(pool(flat, params.log_weights), shape)
    return full.constrain(params._replace(covariances=pooled), floor)


# g components have g means of d features and g − 1 free weights.
spherical = _with_constraint(
    product, constrain=_one_variance, n_parameters=lambda g, d: g * d + g - 1 + g
)
tied_diag = _with_constraint(
    product, TIED=True, constrain=_same_variances, n_parameters=lambda g, d: g * d + g - 1 + d
)
tied = _with_constraint(
    full,
    TIED=True,
    constrain=_same_matrix,
    n_parameters=lambda g, d: g * d + g - 1 + d * (d + 1) // 2,
)
