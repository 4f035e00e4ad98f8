"""What most people do: impute by mean, neighbours or regression, then cluster as if complete."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray

from experiments.methods import method


def _mean(seed: int) -> Any:
    """Fill in each column's observed mean."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer(keep_empty_features=True)


def _knn(seed: int) -> Any:
    """Fill in the mean of the five nearest rows that have the value (Troyanskaya et al. 2001)."""
    from sklearn.impute import KNNImputer

    return KNNImputer(keep_empty_features=True)


def _iterative(seed: int) -> Any:
    """Regress each column on the others in turns (van Buuren and Groothuis-Oudshoorn 2011)."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=seed, keep_empty_features=True)


def _kmeans(n_clusters: int, seed: int, *, kmeans_n_init: int) -> Any:
    """Run k-means."""
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=kmeans_n_init, random_state=seed)


def _mixture(n_clusters: int, seed: int, *, covariance_type: str, em_n_init: int) -> Any:
    """Fit a Gaussian mixture."""
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(
        n_clusters, covariance_type=covariance_type, n_init=em_n_init, random_state=seed
    )


def _nearest_neighbours(n_clusters: int, seed: int, *, kmeans_n_init: int) -> Any:
    """Cut a graph of nearest neighbours (von Luxburg 2007)."""
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(
        n_clusters, affinity="nearest_neighbors", n_init=kmeans_n_init, random_state=seed
    )


def _rbf(n_clusters: int, seed: int, *, width: float, kmeans_n_init: int) -> Any:
    """Cluster by kernel PCA of an RBF kernel, its width a share of the median distance."""
    from experiments.baselines import RBFSpectralClustering

    return RBFSpectralClustering(n_clusters, width=width, n_init=kmeans_n_init, random_state=seed)


_IMPUTERS: dict[str, Callable[[int], Any]] = {"mean": _mean, "knn": _knn, "iterative": _iterative}
_CLUSTERERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
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
    make, _ = _CLUSTERERS[clusterer]
    complete = _IMPUTERS[imputer](seed).fit_transform(X)
    return make(n_clusters, seed, **parameters).fit_predict(complete)


for _imputer in _IMPUTERS:
    for _clusterer, (_, _parameters) in _CLUSTERERS.items():
        method(f"{_imputer}+{_clusterer}", **_parameters)(
            partial(_impute_and_cluster, _imputer, _clusterer)
        )
