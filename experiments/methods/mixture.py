"""One Gaussian mixture for incomplete data, with as many components as clusters."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from experiments.methods import method


@method("incomplete gmm-diag", covariance_type="diag", em_n_init=10)
@method("incomplete gmm-full", covariance_type="full", em_n_init=10)
def _incomplete_mixture(
    X: NDArray,
    n_clusters: int,
    *,
    seed: int,
    device: str | None,
    em_n_init: int,
    **parameters: Any,
) -> NDArray:
    """Fit by EM on what is observed and take each row's likeliest component; on the CPU."""
    from pckid import IncompleteGaussianMixture

    mixture = IncompleteGaussianMixture(
        n_clusters, n_init=em_n_init, random_state=seed, **parameters
    )
    return mixture.fit(X).predict(X)
