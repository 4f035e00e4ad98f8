"""Simulated tables with groups, in eight families of columns, with missing values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from experiments.datasets import LabelledTable

FAMILIES = (
    "independent Gaussian",
    "correlated Gaussian",
    "lognormal",
    "Student t, 3 degrees",
    "uniform",
    "ordinal 1 to 5",
    "0/1",
    "mixed",
)
"""What the columns hold."""

SEPARATED = 0.9
"""Groups are separated where k-means on the complete table reaches this adjusted Rand index."""

_N_ROWS = (60, 1000)
_MAX_MISSING = 0.5
_MIN_PER_GROUP = 15
_N_TRIES = 25


def draw_with_groups(
    family: str, n_groups: int, rng: np.random.Generator, sizes: tuple[int, int] = _N_ROWS
) -> LabelledTable:
    """Draw a table of separated groups: 60 to 1,000 rows, at least 15 per group on average.

    Rows are the centre of their group plus noise of the family; discrete columns are cut from such
    rows. The centres move apart until k-means finds the groups of the complete table, with an
    adjusted Rand index of 0.9 at least.
    """
    n_rows = _log_uniform((max(sizes[0], _MIN_PER_GROUP * n_groups), sizes[1]), rng)
    discrete = family in ("ordinal 1 to 5", "0/1")
    n_columns = int(rng.integers(12 if discrete else 4, 21))
    shares = rng.dirichlet(np.full(n_groups, 10.0))
    y = rng.choice(n_groups, size=n_rows, p=shares)
    y[: 5 * n_groups] = np.arange(5 * n_groups) % n_groups
    correlated = family == "correlated Gaussian"
    noise = _noise(n_rows, n_columns, family, correlated, rng)
    centers = _centers(n_groups, n_columns, rng)
    distance = rng.uniform(5, 9)
    for _ in range(_N_TRIES):
        X = _discretised(distance * centers[y] + noise, family, np.random.default_rng(0))
        labels = KMeans(n_groups, n_init=10, random_state=0).fit_predict(stats.zscore(X))
        if adjusted_rand_score(y, labels) >= SEPARATED:
            break
        distance *= 1.15
    else:
        return draw_with_groups(family, n_groups, rng, sizes)
    return LabelledTable(_with_missing(X, rng), y)


def _latent(n: int, d: int, correlated: bool, rng: np.random.Generator) -> NDArray:
    """Draw rows (n, d) of unit variances, independent or with one to three common factors."""
    if not correlated:
        return rng.standard_normal((n, d))
    loadings = rng.normal(size=(d, int(rng.integers(1, 4))))
    strength = rng.uniform(0.2, 0.9, size=(d, 1))
    loadings *= np.sqrt(strength / (loadings**2).sum(axis=1, keepdims=True))
    factors = rng.standard_normal((n, loadings.shape[1])) @ loadings.T
    return factors + np.sqrt(1 - strength[:, 0]) * rng.standard_normal((n, d))


def _with_margins(latent: NDArray, family: str, rng: np.random.Generator) -> NDArray:
    """Give the columns of a Gaussian table (n, d) the margins of a family."""
    if family in FAMILIES[:2]:
        return latent
    if family == "lognormal":
        return np.exp(latent)
    if family == "Student t, 3 degrees":
        return stats.t.ppf(stats.norm.cdf(latent), 3)
    if family == "uniform":
        return stats.norm.cdf(latent)
    if family == "mixed":
        kinds = rng.choice([1, 2, 3, 4, 5, 6], size=latent.shape[1])
        columns = [
            _with_margins(latent[:, [j]], FAMILIES[kind], rng) for j, kind in enumerate(kinds)
        ]
        return np.hstack(columns)
    return _cut(latent, 5 if family == "ordinal 1 to 5" else 2, rng)


def _cut(latent: NDArray, n_levels: int, rng: np.random.Generator) -> NDArray:
    """Cut columns into levels 1, 2, … (0 and 1 for two) of random shares, none below 5 %."""
    out = np.empty_like(latent)
    for j, column in enumerate(latent.T):
        shares = 0.05 + (1 - 0.05 * n_levels) * rng.dirichlet(np.full(n_levels, 2.0))
        cuts = np.quantile(column, np.cumsum(shares)[:-1])
        out[:, j] = np.searchsorted(cuts, column) + (n_levels > 2)
    return out


def _noise(n: int, d: int, family: str, correlated: bool, rng: np.random.Generator) -> NDArray:
    """Draw noise (n, d) of unit variances around the centres."""
    noise = _latent(n, d, correlated, rng)
    if family == "lognormal":
        noise = np.exp(0.8 * noise)
    elif family == "Student t, 3 degrees":
        noise = stats.t.ppf(stats.norm.cdf(noise), 3)
    elif family == "uniform":
        noise = stats.norm.cdf(noise)
    return stats.zscore(noise)


def _discretised(X: NDArray, family: str, rng: np.random.Generator) -> NDArray:
    """Cut the columns of a discrete family into levels, and some of a mixed one."""
    if family == "ordinal 1 to 5":
        return _cut(X, 5, rng)
    if family == "0/1":
        return _cut(X, 2, rng)
    if family == "mixed":
        X = X.copy()
        third = X.shape[1] // 3
        X[:, :third] = _cut(X[:, :third], 5, rng)
        X[:, third : 2 * third] = _cut(X[:, third : 2 * third], 2, rng)
    return X


def _centers(n_groups: int, d: int, rng: np.random.Generator) -> NDArray:
    """Draw centres (n_groups, d) whose smallest distance is 1, the best spread of five draws."""
    drawn = []
    for _ in range(5):
        centers = rng.normal(size=(n_groups, d))
        apart = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(n_groups, 1)]
        drawn.append((apart.min() / apart.mean(), centers / apart.min()))
    return max(drawn, key=lambda item: item[0])[1]


def _with_missing(X: NDArray, rng: np.random.Generator) -> NDArray:
    """Remove up to half of the cells at random; each row and column keeps two and five values."""
    share = rng.uniform(0, _MAX_MISSING)
    keys = rng.random(X.shape)
    missing = keys < share
    missing &= np.argsort(np.argsort(keys, axis=1), axis=1) < X.shape[1] - 2
    missing &= np.argsort(np.argsort(keys, axis=0), axis=0) < X.shape[0] - 5
    return np.where(missing, np.nan, X)


def _log_uniform(ends: tuple[int, int], rng: np.random.Generator) -> int:
    """Draw a whole number whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(*np.log(ends)))))
