"""The Gaussian of all values of a wide table, some of which are missing: EM with a few factors.

A column is x = μ + W f + e, with factors f in common and an error e of its own (Rubin and Thayer
1982). Given the factors, a column is a regression over the rows in which it is observed, so that no
step needs more than the factors' own small matrices for each row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_N_FACTORS = 10
_N_ITERATIONS = 60
# The least share of a column's variance that its own error is taken to have at the start.
_MIN_OWN = 0.1
# A regression has so many rows more, in which all is 0; an error's variance one row of variance 1.
_RIDGE = 0.05


class Factors(NamedTuple):
    """The parameters: d columns, q factors."""

    means: np.ndarray  # (d,)
    loadings: np.ndarray  # (d, q)
    variances: np.ndarray  # (d,), of the errors


def gaussian_by_factors(
    scores: np.ndarray, correlations: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate means, standard deviations (d,) and correlations (d, d) of all values of a table.

    Factors stand for what columns have in common while EM runs. What they leave is found in a last
    step, the M-step of a Gaussian with any covariances: those of the rows, missing values as they
    are expected, and what is not known of these.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, d)
        NaN where missing, of mean 0 and variance 1 in each column.
    correlations : ndarray of shape (d, d)
        Of the observed scores, to start from.
    """
    seen = ~np.isnan(scores)
    x = np.nan_to_num(scores)
    values, vectors = np.linalg.eigh(correlations)
    loadings = vectors[:, -_N_FACTORS:] * np.sqrt(np.maximum(values[-_N_FACTORS:], 0.0))
    own = np.maximum(1 - (loadings**2).sum(axis=1), _MIN_OWN)
    model = Factors(np.zeros(len(loadings)), loadings, own)
    for _ in range(_N_ITERATIONS):
        model = regress_on_factors(x, seen, *expect_factors(x, seen, model))
    factors, roots = expect_factors(x, seen, model)
    rows = np.where(seen, x - model.means, factors @ model.loadings.T)
    middle = rows.mean(axis=0)
    total = (rows - middle).T @ (rows - middle) + np.diag((~seen).sum(axis=0) * model.variances)
    for j in range(roots.shape[2]):
        unknown = np.where(seen, 0.0, roots[:, :, j] @ model.loadings.T)
        total += unknown.T @ unknown
    covariance = (total + np.eye(len(total))) / (len(x) + 1)
    spreads = np.sqrt(np.diag(covariance))
    return model.means + middle, spreads, covariance / spreads / spreads[:, None]


def expect_factors(
    x: np.ndarray, seen: np.ndarray, model: Factors
) -> tuple[np.ndarray, np.ndarray]:
    """Expect the factors of rows x (n, d), 0 where not `seen` (n, d): the E-step.

    With the columns that are observed in a row, the factors have the covariances
    (I + Wᵀ V⁻¹ W)⁻¹, V the variances of the errors, and these times Wᵀ V⁻¹ (x − μ) as means.

    Returns
    -------
    factors : ndarray of shape (n, q)
    roots : ndarray of shape (n, q, q)
        Times their transposes, the covariances.
    """
    loadings, n_factors = model.loadings, model.loadings.shape[1]
    scaled = loadings / model.variances[:, None]
    products = (scaled[:, :, None] * loadings[:, None, :]).reshape(len(loadings), -1)
    precisions = (seen.astype(np.float64) @ products).reshape(-1, n_factors, n_factors)
    covariances = np.linalg.inv(precisions + np.eye(n_factors))
    sums = np.where(seen, x - model.means, 0.0) @ scaled
    return (covariances @ sums[..., None])[..., 0], np.linalg.cholesky(covariances)


def regress_on_factors(
    x: np.ndarray, seen: np.ndarray, factors: np.ndarray, roots: np.ndarray
) -> Factors:
    """Regress each column on the factors, over the rows in which it is seen: the M-step.

    All are as for `expect_factors`, and as it returns them.
    """
    design = np.column_stack([np.ones(len(x)), factors])
    squares = design[:, :, None] * design[:, None, :]
    squares[:, 1:, 1:] += roots @ roots.swapaxes(1, 2)
    size = design.shape[1]
    gram = (seen.T.astype(np.float64) @ squares.reshape(len(x), -1)).reshape(-1, size, size)
    cross = x.T @ design
    found = np.linalg.solve(gram + _RIDGE * np.eye(size), cross[..., None])[..., 0]
    left = (x**2).sum(axis=0) - (found * cross).sum(axis=1)
    return Factors(found[:, 0], found[:, 1:], (left + 1) / (seen.sum(axis=0) + 1))
