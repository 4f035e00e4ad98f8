"""What people do with wide tables: impute, then few components, or a choice of columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.feature_selection import f_classif
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.mixture import GaussianMixture

from experiments.methods import method
from pckid import PCKID

N_COMPONENTS = 5
_N_STEPS = 8
_SHARE_CHOSEN, _MIN_CHOSEN = 0.05, 20


def _kmeans(X: NDArray, n_clusters: int, seed: int) -> NDArray:
    return KMeans(n_clusters, n_init=50, random_state=seed).fit_predict(X)


def _mixture(X: NDArray, n_clusters: int, seed: int) -> NDArray:
    model = GaussianMixture(
        n_clusters, covariance_type="diag", n_init=10, reg_covar=1e-3, random_state=seed
    )
    return model.fit_predict(X / X.std())


def _graph(X: NDArray, n_clusters: int, seed: int) -> NDArray:
    model = SpectralClustering(
        n_clusters, affinity="nearest_neighbors", n_init=50, random_state=seed
    )
    return model.fit_predict(X)


def _choose_columns(X: NDArray, n_clusters: int, seed: int) -> NDArray:
    """Alternate k-means and the twentieth of the columns that differ most between clusters."""
    labels = _kmeans(X, n_clusters, seed)
    n_chosen = min(max(_MIN_CHOSEN, round(_SHARE_CHOSEN * X.shape[1])), X.shape[1])
    for _ in range(_N_STEPS):
        chosen = np.argsort(-np.nan_to_num(f_classif(X, labels)[0]), kind="stable")[:n_chosen]
        labels = _kmeans(X[:, chosen], n_clusters, seed)
    return labels


def impute_low_rank(X: NDArray, rank: int = N_COMPONENTS, n_iter: int = 100) -> NDArray:
    """Fill in by the leading singular vectors, again and again (Troyanskaya et al. 2001)."""
    missing, filled = np.isnan(X), np.nan_to_num(X)
    for _ in range(n_iter):
        U, s, V = np.linalg.svd(filled, full_matrices=False)
        filled = np.where(missing, (U[:, :rank] * s[:rank]) @ V[:rank], filled)
    return filled


_IMPUTERS: dict[str, Callable[[NDArray], NDArray]] = {
    "mean": SimpleImputer().fit_transform,
    "knn": KNNImputer().fit_transform,
    "low rank": impute_low_rank,
}
_CLUSTERERS: dict[str, Callable[[NDArray, int, int], NDArray]] = {
    "kmeans": _kmeans,
    "mixture": _mixture,
    "graph": _graph,
    "choice of columns": _choose_columns,
}
WIDE_METHODS = (
    ("knn", False, "kmeans"),
    ("knn", True, "kmeans"),
    ("knn", True, "mixture"),
    ("knn", False, "choice of columns"),
    ("knn", False, "graph"),
    ("mean", True, "kmeans"),
    ("mean", True, "mixture"),
    ("low rank", False, "kmeans"),
)
"""How cells are filled in, whether components are taken, and how rows are clustered."""


def _run(
    way: tuple[str, bool, str], X: NDArray, n_clusters: int, *, seed: int, device: str | None
) -> NDArray:
    """Impute, take components if asked to, and cluster; on the CPU whatever the device."""
    imputer, components, clusterer = way
    complete = _IMPUTERS[imputer](X)
    if components:
        rank = min(N_COMPONENTS, *complete.shape)
        complete = PCA(rank, random_state=seed).fit_transform(complete)
    return _CLUSTERERS[clusterer](complete, n_clusters, seed)


def name_of(way: tuple[str, bool, str]) -> str:
    """Name a way to impute and cluster, as the results do."""
    imputer, components, clusterer = way
    return (
        f"{imputer}+{N_COMPONENTS} components+{clusterer}"
        if components
        else (f"{imputer}, wide+{clusterer}")
    )


for _way in WIDE_METHODS:
    method(name_of(_way))(partial(_run, _way))


@method("PCKID, missing tells")
def _missing_tells(X: NDArray, n_clusters: int, *, seed: int, device: str | None) -> Any:
    """Count where cells are missing, too."""
    model = PCKID(n_clusters, missingness="informative", device=device, random_state=seed)
    return model.fit_predict(X)


@method("PCKID, k chosen")
def _choose_k(X: NDArray, n_clusters: int, *, seed: int, device: str | None) -> Any:
    """Cluster without being told how many groups there are."""
    return PCKID(device=device, random_state=seed).fit_predict(X)
