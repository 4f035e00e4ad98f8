"""How often the rows of a cluster are labelled as another one: the errors of a classification.

Memberships from `predict_proba` say how reproducible labels are, and clusters that overlap are
found again with the same overlap. How often labels are wrong is a question about the clusters as
clouds: one mixture, with one component for each cluster, starts at the labels and stays near them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, to_numpy
from pckid.input.table import Table
from pckid.mixture import product
from pckid.mixture.em import iterate, posterior, weighted_posterior

# The smallest variance of a component, in units of the column's variance.
_FLOOR = 0.01
# EM is looked at after so many steps, and takes no more than the second number; it stops when
# these move no mean, weight or probability by more than the third.
_STEPS, _MAX_STEPS, _STILL = 2, 200, 0.001
# It stops as well before the posteriors of the labels are, on average, lower by this than those of
# the likeliest clusters: the components would no longer be the clusters that the labels name.
# Clusters that are no clouds, or whose columns are correlated, drive them there.
_FARTHEST = 0.04


class ClassPosteriors(NamedTuple):
    """ClassPosteriors of rows over clusters, by all rows alike and by rows drawn anew."""

    # (1 + n_draws, n_clusters, n_samples); the first is of the rows as they are
    memberships: np.ndarray
    weights: np.ndarray  # (1 + n_draws, n_samples), how often each row counts; the first are 1


def fit_posteriors(
    table: Table, labels: np.ndarray, n_clusters: int, n_draws: int, rng: np.random.Generator
) -> ClassPosteriors:
    """Fit a mixture with a component for each cluster, on the rows and on draws of them.

    A draw gives each row an exponential weight (the Bayesian bootstrap, Rubin 1981), so that no
    cluster is without rows. EM takes as many steps from the labels as it took with all rows alike.

    Parameters
    ----------
    table : Table
        Standardised rows, each with something observed.
    labels : ndarray of shape (n_samples,)
        From 0 to `n_clusters` − 1.
    n_clusters : int
    n_draws : int
    rng : numpy Generator

    Returns
    -------
    posteriors : ClassPosteriors
    """
    # Weights of columns say how much these should count, not how likely their values are.
    margins = table.margins._replace(weights=None)
    stats = product.statistics(table._replace(margins=margins))
    values = table.values
    member = (labels == np.arange(n_clusters)[:, None]).astype(np.float64)
    resp = asarray_like(member[None, ...], values, dtype=values.dtype)
    drawn = rng.exponential(size=(n_draws, len(labels)))
    drawn /= drawn.mean(axis=1, keepdims=True)
    n_steps, first = _run(stats, _start(stats, resp), member)
    found = [_posteriors_of(stats, first)]
    if n_draws:
        weights = asarray_like(drawn[:, None, :], values, dtype=values.dtype)
        resp_of = weighted_posterior(weights)
        many = _start(stats, resp * weights)
        many = iterate(product, stats, many, n_iter=n_steps, floor=_FLOOR, resp_of=resp_of)
        found.append(_posteriors_of(stats, many))
    return ClassPosteriors(
        np.concatenate(found), np.concatenate([np.ones((1, len(labels))), drawn])
    )


def _start(stats: product.Statistics, resp: Array) -> product.Parameters:
    """Start from responsibilities (m, n_clusters, n_samples)."""
    xp, shape = namespace(resp), (*resp.shape[:2], stats.n_features)
    centers = xp.zeros(shape, dtype=resp.dtype, device=device_of(resp))
    return product.constrain(product.start(stats, resp, centers), _FLOOR)


def _run(
    stats: product.Statistics, params: product.Parameters, member: np.ndarray
) -> tuple[int, product.Parameters]:
    """Take EM steps until nothing moves, or the components leave the labels; how many they were.

    `member` (n_clusters, n_samples) is 1 for the label of each row.
    """
    xp, resp_of = namespace(params.means), weighted_posterior()
    for n_steps in range(0, _MAX_STEPS, _STEPS):
        after = iterate(product, stats, params, n_iter=_STEPS, floor=_FLOOR, resp_of=resp_of)
        likely = _posteriors_of(stats, after)[0]
        if (likely.max(axis=0) - (likely * member).sum(axis=0)).mean() > _FARTHEST:
            return n_steps, params
        moved, params = float(xp.max(xp.abs(_flatten(after) - _flatten(params)))), after
        if moved < _STILL:
            return n_steps + _STEPS, params
    return _MAX_STEPS, params


def _flatten(params: product.Parameters) -> Array:
    """Lay the weights, means and probabilities of all components end to end."""
    xp, weights = namespace(params.means), namespace(params.means).exp(params.log_weights)
    parts = (weights, params.means, params.categories)
    return xp.concat([xp.reshape(part, (-1,)) for part in parts])


def _posteriors_of(stats: product.Statistics, params: product.Parameters) -> np.ndarray:
    """Compute the posteriors of all rows on the host (m, n_clusters, n_samples)."""
    return to_numpy(posterior(product.log_joint(stats, params))).astype(np.float64)


def error_rates(
    memberships: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Estimate how likely a row of each cluster gets each label.

        D_st = Σ_i p_is [w_i = t] / Σ_i p_is

    for posteriors p and labels w (Bolck, Croon and Hagenaars 2004, equation 6).

    Parameters
    ----------
    memberships : ndarray of shape (..., n_clusters, n_samples)
    labels : ndarray of shape (n_samples,)
    weights : ndarray of shape (..., n_samples), default=None
        How much each row counts.

    Returns
    -------
    rates : ndarray of shape (..., n_clusters, n_clusters)
        Rows add up to 1. A cluster without any posterior is taken to get its own label.
    """
    n_clusters = memberships.shape[-2]
    counted = memberships if weights is None else memberships * weights[..., None, :]
    joint = counted @ (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    total = joint.sum(axis=-1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), np.eye(n_clusters))


def correct_sums(rates: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Turn sums over the rows of each label into sums over the rows of each cluster.

    Row i counts in cluster s with the weight (D⁻¹)_ws for its label w: some weights are negative,
    and on average over the errors each row counts in its own cluster alone.

    Parameters
    ----------
    rates : ndarray of shape (..., n_clusters, n_clusters)
        As from `error_rates`.
    sums : ndarray of shape (..., n_clusters, n_values)
        Of the rows of each label.

    Returns
    -------
    corrected : ndarray of shape (..., n_clusters, n_values)
        D⁻ᵀ times the sums.
    """
    # A draw may leave two clusters that nothing tells apart.
    return np.linalg.pinv(np.swapaxes(rates, -1, -2), rcond=1e-6) @ sums
