"""The paper's eight baselines: four imputations, each with k-means and with an RBF kernel."""

from __future__ import annotations

from functools import partial

from numpy.typing import NDArray

from experiments.baselines import CLUSTERINGS, IMPUTATIONS, baseline
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
    pipeline = baseline(imputation, clustering, n_clusters, n_init=kmeans_n_init, random_state=seed)
    return pipeline.fit_predict(X)


for _clustering in CLUSTERINGS:
    for _short, _imputation in IMPUTATIONS.items():
        method(f"{_short}+{_clustering}", kmeans_n_init=100)(
            partial(_baseline, _imputation, _clustering)
        )
