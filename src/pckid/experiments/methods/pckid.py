"""PCKID as the library has it, with the paper's ensemble, and with the paper's embedding too."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pckid.experiments.methods import method

_PAPER: dict[str, Any] = {
    "n_inits": 30,
    "max_components": 30,
    "max_iter": 10,
    "max_samples": 0.5,
    "covariance_type": "diag",
    "kmeans_n_init": 100,
    "reg_covar": 0.01,
    "weighting": "equal",
    "scaling": "common",
}


@method("PCKID", n_inits="auto", max_components="auto", kmeans_n_init=100)
@method("PCKID random walk", **_PAPER, embedding="random_walk")
@method("PCKID kernel PCA", **_PAPER, embedding="kernel_pca")
def _pckid(
    X: NDArray, n_clusters: int, *, seed: int, device: str | None, **parameters: Any
) -> NDArray:
    """Cluster; nothing needs any tuning."""
    from pckid import PCKID

    return PCKID(n_clusters, device=device, random_state=seed, **parameters).fit_predict(X)
