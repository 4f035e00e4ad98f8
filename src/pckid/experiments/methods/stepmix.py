"""StepMix (Morin et al. 2025), a package of mixtures that take missing values; an optional peer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pckid.experiments.methods import method


@method("stepmix", needs=("stepmix",), measurement="continuous_nan", em_n_init=10)
def _stepmix(
    X: NDArray,
    n_clusters: int,
    *,
    seed: int,
    device: str | None,
    measurement: str,
    em_n_init: int,
) -> NDArray:
    """Fit its diagonal Gaussian mixture for missing values; on the CPU."""
    from stepmix.stepmix import StepMix

    model = StepMix(
        n_clusters,
        measurement=measurement,
        n_init=em_n_init,
        random_state=seed,
        progress_bar=0,
        verbose=0,
    )
    return np.asarray(model.fit(X).predict(X))
