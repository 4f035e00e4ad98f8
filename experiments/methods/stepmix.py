"""StepMix (Morin et al. 2025), a package of mixtures that take missing values; an optional peer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.methods import method


@method(
    "stepmix",
    needs=("stepmix",),
    measurement="continuous_nan",
    em_n_init=10,
    abs_tol=1e-3,
    max_iter=100,
)
def _stepmix(
    X: NDArray,
    n_clusters: int,
    *,
    seed: int,
    device: str | None,
    em_n_init: int,
    **parameters: Any,
) -> NDArray:
    """Fit its diagonal Gaussian mixture for missing values; on the CPU.

    It stops when scikit-learn's mixtures do. Its own defaults, a gain of 1e-10 or 1000 iterations,
    took minutes on 2000 rows of 40 columns.
    """
    from stepmix.stepmix import StepMix

    model = StepMix(
        n_clusters,
        n_init=em_n_init,
        random_state=seed,
        progress_bar=0,
        **parameters,
    )
    return np.asarray(model.fit(X).predict(X))
