"""What most people do: impute by mean, neighbours or regression, then cluster as if complete."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.mixture import GaussianMixture

from experiments.baselines import cluster_spectral
from experiments.methods import method


def _kmeans(X: NDArray, n_clusters: int, seed: int, *, kmeans_n_init: int) -> NDArray:
    """Run k-means."""
    return KMeans(n_clusters, n_init=kmeans_n_init, random_state=seed).fit_predict(X)


def _mixture(
    X: NDArray, n_clusters: int, seed: int, *, covariance_type: str, em_n_init: int
) -> NDArray:
    """Fit a Gaussian mixture."""
    return GaussianMixture(
        n_clusters, covariance_type=covariance_type, n_init=em_n_init, random_state=seed
    ).fit_predict(X)


def _nearest_neighbours(X: NDArray, n_clusters: int, seed: int, *, kmeans_n_init: int) -> NDArray:
    """Cut a graph of nearest neighbours (von Luxburg 2007)."""
    return SpectralClustering(
        n_clusters, affinity="nearest_neighbors", n_init=kmeans_n_init, random_state=seed
    ).fit_predict(X)


def _rbf(X: NDArray, n_clusters: int, seed: int, *, width: float, kmeans_n_init: int) -> NDArray:
    """Cluster by kernel PCA of an RBF kernel, its width a share of the median distance."""
    return cluster_spectral(X, n_clusters, width=width, n_init=kmeans_n_init, random_state=seed)


_IMPUTERS: dict[str, Callable[[int], Any]] = {
    "mean": lambda seed: SimpleImputer(keep_empty_features=True),
    # The mean of the five nearest rows that have the value (Troyanskaya et al. 2001).
    "knn": lambda seed: KNNImputer(keep_empty_features=True),
    # Each column by regression on the others (van Buuren and Groothuis-Oudshoorn 2011).
    "iterative": lambda seed: IterativeImputer(random_state=seed, keep_empty_features=True),
}
_CLUSTERERS: dict[str, tuple[Callable[..., NDArray], dict[str, Any]]] = {
    "kmeans": (_kmeans, {"kmeans_n_init": 100}),
    "gmm-diag": (_mixture, {"covariance_type": "diag", "em_n_init": 10}),
    "gmm-full": (_mixture, {"covariance_type": "full", "em_n_init": 10}),
    "spectral-nn": (_nearest_neighbours, {"kmeans_n_init": 100}),
    "spectral-rbf20": (_rbf, {"width": 0.2, "kmeans_n_init": 100}),
    "spectral-rbf100": (_rbf, {"width": 1.0, "kmeans_n_init": 100}),
}


def _impute_and_cluster(
    imputer: str,
    clusterer: str,
    X: NDArray,
    n_clusters: int,
    *,
    seed: int,
    device: str | None,
    **parameters: Any,
) -> NDArray:
    """Run one imputer and one clusterer; on the CPU whatever the device."""
    cluster, _ = _CLUSTERERS[clusterer]
    complete = _IMPUTERS[imputer](seed).fit_transform(X)
    return cluster(complete, n_clusters, seed, **parameters)


for _imputer in _IMPUTERS:
    for _clusterer, (_, _parameters) in _CLUSTERERS.items():
        method(f"{_imputer}+{_clusterer}", **_parameters)(
            partial(_impute_and_cluster, _imputer, _clusterer)
        )
