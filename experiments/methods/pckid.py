"""PCKID as the library has it, and as in the paper, with a random walk too."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from experiments.methods import method
from pckid._utils.arrays import to_numpy
from pckid.estimator import PAPER_SETTING, PCKID

DEFAULT: dict[str, Any] = {"n_inits": 10, "max_components": "auto", "kmeans_n_init": 100}
_PAPER: dict[str, Any] = {**PAPER_SETTING, "kmeans_n_init": 100}


@method("PCKID", **DEFAULT)
@method("PCKID random walk", **{**_PAPER, "embedding": "random_walk"})
@method("PCKID kernel PCA", **_PAPER)
def run_pckid(
    X: NDArray, n_clusters: int, *, seed: int, device: str | None, **parameters: Any
) -> NDArray:
    """Cluster; nothing needs any tuning."""
    model = PCKID(n_clusters, device=device, random_state=seed, **parameters)
    return to_numpy(model.fit_predict(X))
