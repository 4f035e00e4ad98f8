"""Covariance types: the family of components that each stands for.

Besides the product and the full family these are the same two under a further constraint: that
components or features share variances.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from pckid._utils.arrays import Array, clip, namespace
from pckid.mixture import full, product
from pckid.mixture.em import CovarianceType


def _with_constraint(family: CovarianceType, **changes: Any) -> CovarianceType:
    """Copy a family, with other functions in the place of some of its own."""
    return cast(CovarianceType, SimpleNamespace(**(vars(family) | changes)))


def pool(values: Array, log_weights: Array) -> Array:
    """Average values (m, g, d) over the components of each mixture, by their weights (m, g).

    What is returned has the shape of the values, and is the same for all components of a mixture.
    """
    xp = namespace(values)
    weights = xp.exp(log_weights)[..., None]
    mean = xp.sum(weights * values, axis=1, keepdims=True) / xp.sum(weights, axis=1, keepdims=True)
    return mean + 0 * values


def _one_variance(params: product.Parameters, floor: float) -> product.Parameters:
    """Give all features of a component their mean variance, at least `floor`."""
    if params.covariances.shape[-1] == 0:
        return params
    xp = namespace(params.means)
    mean = clip(xp.mean(params.covariances, axis=-1, keepdims=True), floor)
    return params._replace(covariances=mean + 0 * params.covariances)


def _same_variances(params: product.Parameters, floor: float) -> product.Parameters:
    """Give all components of a mixture their mean variances, at least `floor`."""
    variances = pool(params.covariances, params.log_weights)
    return params._replace(covariances=clip(variances, floor))


def _same_matrix(params: full.Parameters, floor: float) -> full.Parameters:
    """Give all components of a mixture their mean covariance, its eigenvalues at least `floor`."""
    xp = namespace(params.means)
    shape = params.covariances.shape
    flat = xp.reshape(params.covariances, (*shape[:2], -1))
    pooled = xp.reshape(pool(flat, params.log_weights), shape)
    return full.constrain(params._replace(covariances=pooled), floor)


# g components have g means of d features and g − 1 free weights.
COVARIANCE_TYPES: dict[str, CovarianceType] = {
    "diag": product,
    "full": full,
    "tied": _with_constraint(
        full,
        TIED=True,
        constrain=_same_matrix,
        n_parameters=lambda g, d: g * d + g - 1 + d * (d + 1) // 2,
    ),
    "tied_diag": _with_constraint(
        product, TIED=True, constrain=_same_variances, n_parameters=lambda g, d: g * d + g - 1 + d
    ),
    "spherical": _with_constraint(
        product,
        SPHERICAL=True,
        constrain=_one_variance,
        n_parameters=lambda g, d: g * d + g - 1 + g,
    ),
}
