"""The paper's eight baselines: four imputations, each with k-means and with an RBF kernel."""

from __future__ import annotations

from functools import partial

from numpy.typing import NDArray
from sklearn.cluster import KMeans

from experiments.baselines import CLUSTERINGS, IMPUTATIONS, cluster_spectral, impute
from experiments.methods import method


def _baseline(
    imputation: str,
    clustering: str,
    X: NDArray,
    n_clusters: int,
    *,
    seed: int,
    device: str | None,
    kmeans_n_init: int,
) -> NDArray:
    """Fill in what is missing, then cluster; on the CPU whatever the device."""
    complete = impute(X, imputation)
    if clustering == "spectral":
        return cluster_spectral(complete, n_clusters, n_init=kmeans_n_init, random_state=seed)
    return KMeans(n_clusters, n_init=kmeans_n_init, random_state=seed).fit_predict(complete)


for _clustering in CLUSTERINGS:
    for _imputation in IMPUTATIONS:
        method(f"{_imputation}+{_clustering}", kmeans_n_init=100)(
            partial(_baseline, _imputation, _clustering)
        )
