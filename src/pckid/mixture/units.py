"""Between standardised units, in which EM runs, and the user's units."""

from __future__ import annotations

from typing import Any

import numpy as np

from pckid._utils.arrays import Array, asarray_like, namespace, to_numpy
from pckid.input.table import Scaling
from pckid.mixture.em import CovarianceType

# The square of a spread of 1e300 is inf, which is as near as a float comes.
_may_overflow = np.errstate(over="ignore")


@_may_overflow
def means_out(means: Array, scaling: Scaling, fill: np.ndarray) -> np.ndarray:
    """Undo the scaling of means (g, d); columns left out get what `fill` (n_features_in,) has."""
    result = np.tile(fill, (means.shape[0], 1))
    inside = to_numpy(means) * to_numpy(scaling.scale) + to_numpy(scaling.center)
    result[:, scaling.kept] = inside
    return result


@_may_overflow
def covariances_out(covariances: Array, scaling: Scaling, n_features: int) -> np.ndarray:
    """Undo the scaling of variances (g, d) or covariances (g, d, d); columns left out have 0."""
    scaled = _times_twice(to_numpy(covariances), to_numpy(scaling.scale))
    return _widened(scaled, scaling.kept, n_features, 0.0)


def means_in(means: Any, scaling: Scaling, like_array: Array) -> Array:
    """Standardise means (g, n_features_in) given by the user."""
    means = np.asarray(means, dtype=np.float64)[:, scaling.kept]
    return asarray_like((means - to_numpy(scaling.center)) / to_numpy(scaling.scale), like_array)


def spread_in(values: np.ndarray, scaling: Scaling, *, precisions: bool) -> np.ndarray:
    """Standardise variances (g, d), covariances (g, d, d), or `precisions` given by the user."""
    scale = to_numpy(scaling.scale)
    return _times_twice(_of_kept(values, scaling.kept), scale if precisions else 1 / scale)


@_may_overflow
def factors_out(covariances: Array, scaling: Scaling, n_features: int) -> np.ndarray:
    """Factor the precisions of standardised covariances as P Pᵀ, P upper triangular.

    Variances (g, d) give the roots of the precisions. Columns left out have infinite precision.
    """
    scale, inside = to_numpy(scaling.scale), to_numpy(covariances)
    if inside.ndim == 2:
        return _widened(1 / np.sqrt(inside) / scale, scaling.kept, n_features, np.inf)
    lower = np.linalg.cholesky(inside)
    inverse = np.linalg.solve(lower, np.broadcast_to(np.eye(lower.shape[-1]), lower.shape))
    upper = np.triu(np.swapaxes(inverse, 1, 2)) / scale[:, None]
    return _widened(upper, scaling.kept, n_features, np.inf)


@_may_overflow
def precisions_of(factors: np.ndarray, scaling: Scaling) -> np.ndarray:
    """Multiply P Pᵀ out, for factors as from `factors_out`."""
    if factors.ndim == 2:
        return factors**2
    inside = _of_kept(factors, scaling.kept)
    return _widened(inside @ np.swapaxes(inside, 1, 2), scaling.kept, factors.shape[1], np.inf)


def _times_twice(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Multiply variances (g, d), or rows and columns of matrices (g, d, d), by scales (d,)."""
    return values * scale * scale if values.ndim == 2 else values * scale[:, None] * scale


def _of_kept(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Take from (g, d), or from matrices (g, d, d), what belongs to the columns used."""
    return values[:, kept] if values.ndim == 2 else values[:, kept[:, None], kept]


def _widened(inside: np.ndarray, kept: np.ndarray, n_features: int, own: float) -> np.ndarray:
    """Write (g, d) or (g, d, d) of the columns used out for all, `own` in the others' own."""
    outside = np.full(n_features, own)
    if inside.ndim == 2:
        result = np.tile(outside, (len(inside), 1))
        result[:, kept] = inside
        return result
    outside[kept] = 0.0
    result = np.zeros((len(inside), n_features, n_features))
    result[:, np.arange(n_features), np.arange(n_features)] = outside
    result[:, kept[:, None], kept] = inside
    return result


def public_shape(family: CovarianceType, n_components: int, n_features: int) -> tuple[int, ...]:
    """Return the shape of `covariances_`, as scikit-learn's mixtures have it where they can."""
    one = () if family.SPHERICAL else (n_features,) * (2 if family.MATRICES else 1)
    return one if family.TIED else (n_components, *one)


def for_each(
    covariances: np.ndarray, family: CovarianceType, n_components: int, d: int
) -> np.ndarray:
    """Write covariances of a public shape out for each component: (g, d) or (g, d, d)."""
    if family.SPHERICAL:
        covariances = np.repeat(covariances[..., None], d, axis=-1)
    return np.stack([covariances] * n_components) if family.TIED else covariances


def as_public(covariances: np.ndarray, family: CovarianceType, scaling: Scaling) -> np.ndarray:
    """Undo `for_each`: what all components or features share is given once."""
    if family.SPHERICAL:
        covariances = covariances[:, scaling.kept[0]]
    return covariances[0] if family.TIED else covariances


def log_volume(observed: Array, scaling: Scaling) -> Array:
    """Sum the log-scales of each row's observed features: by this, log-densities differ (n,)."""
    xp = namespace(observed)
    return xp.astype(observed, scaling.scale.dtype) @ xp.log(scaling.scale)


def only_values(X: np.ndarray) -> np.ndarray:
    """Return each column's smallest observed value, NaN if it has none, of shape (d,)."""
    low = np.min(np.where(np.isnan(X), np.inf, X), axis=0)
    return np.where(np.isinf(low), np.nan, low).astype(np.float64)
