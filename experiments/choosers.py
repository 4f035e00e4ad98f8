"""Ways to choose the number of clusters, each in the form of a method that returns a number.

All choose among 2 to 15 and get a standardised table with NaN; the known number of classes, which
a method gets, they do not look at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture

from experiments.methods import Method
from pckid import PCKID, IncompleteGaussianMixture, choose_n_clusters
from pckid._utils.arrays import to_numpy
from pckid.n_clusters import MAX_CLUSTERS

CANDIDATES = range(2, MAX_CLUSTERS + 1)
_ENSEMBLE = {"n_inits": 10, "max_components": "auto"}


class ChosenK(NamedTuple):
    """A number of clusters, and the clusters that PCKID finds with it."""

    n_clusters: int
    labels: NDArray  # (n_samples,)


def _pckid(X: NDArray, _: int, *, seed: int, device: str | None, **ensemble: Any) -> int:
    """Choose as `PCKID("auto")` does where there are groups."""
    model = PCKID(device=device, random_state=seed, **ensemble)
    return int(choose_n_clusters(model, X, max_clusters=MAX_CLUSTERS).ranked[0])


def _ratio(X: NDArray, _: int, *, seed: int, device: str | None, **ensemble: Any) -> int:
    """Take the largest ratio λ_k / λ_{k+1} in the spectrum of PCKID's kernel."""
    model = PCKID(device=device, random_state=seed, **ensemble)
    found = choose_n_clusters(model, X, max_clusters=MAX_CLUSTERS)
    values = np.maximum(found.eigenvalues, found.eigenvalues[-1] / 2)
    return int(found.candidates[np.argmax(values[1:-1] / values[2:])])


def _silhouette_embedding(
    X: NDArray, _: int, *, seed: int, device: str | None, **ensemble: Any
) -> int:
    """Take the highest silhouette of k-means on the first k coordinates of PCKID's embedding."""
    model = PCKID(MAX_CLUSTERS, device=device, random_state=seed, kmeans_n_init=1, **ensemble)
    points = np.asarray(model.fit(X).embedding_)
    return _best(lambda k: silhouette_score(points[:, :k], _partition(points[:, :k], k, seed)))


def _silhouette(X: NDArray, _: int, *, seed: int, device: str | None) -> int:
    """Take the highest silhouette of k-means after mean imputation."""
    filled = np.nan_to_num(X)
    return _best(lambda k: silhouette_score(filled, _partition(filled, k, seed)))


def _calinski_harabasz(X: NDArray, _: int, *, seed: int, device: str | None) -> int:
    """Take the highest ratio of variances between and within, k-means after mean imputation."""
    filled = np.nan_to_num(X)
    return _best(lambda k: calinski_harabasz_score(filled, _partition(filled, k, seed)))


def _bic_incomplete(X: NDArray, _: int, *, seed: int, device: str | None) -> int:
    """Take the lowest BIC of a diagonal mixture for incomplete data."""
    model = IncompleteGaussianMixture(
        covariance_type="diag", n_init=2, max_iter=50, random_state=seed
    )
    return _best(lambda k: -model.set_params(n_components=k).fit(X).bic(X))


def _bic_filled(X: NDArray, _: int, *, seed: int, device: str | None) -> int:
    """Take the lowest BIC of a full mixture after mean imputation."""
    filled, model = np.nan_to_num(X), GaussianMixture(n_init=2, reg_covar=1e-3, random_state=seed)
    return _best(lambda k: -model.set_params(n_components=k).fit(filled).bic(filled))


def _two(X: NDArray, _: int, *, seed: int, device: str | None) -> int:
    """Look at nothing."""
    return 2


def _best(score: Callable[[int], float]) -> int:
    """Return the candidate of highest score, the first of equals."""
    return max(CANDIDATES, key=score)


def _partition(points: NDArray, k: int, seed: int) -> NDArray:
    """Group points by k-means."""
    return KMeans(k, n_init=10, random_state=seed).fit_predict(points)


def _then_cluster(choose: Callable[..., int]) -> Callable[..., ChosenK]:
    """Let PCKID find as many clusters as were chosen."""

    @wraps(choose)
    def cluster(X: NDArray, _: int, *, seed: int, device: str | None, **ensemble: Any) -> ChosenK:
        n_clusters = choose(X, _, seed=seed, device=device, **ensemble)
        model = PCKID(n_clusters, device=device, random_state=seed, **ensemble)
        return ChosenK(n_clusters, to_numpy(model.fit_predict(X)))

    return cluster


CHOOSERS = {
    chooser.name: chooser._replace(function=_then_cluster(chooser.function))
    for chooser in (
        Method("k by PCKID", _pckid, _ENSEMBLE),
        Method("k by ratio of eigenvalues", _ratio, _ENSEMBLE),
        Method("k by silhouette of the embedding", _silhouette_embedding, _ENSEMBLE),
        Method("k by silhouette, mean-imputed", _silhouette, {}),
        Method("k by Calinski-Harabasz, mean-imputed", _calinski_harabasz, {}),
        Method("k by BIC, incomplete mixture", _bic_incomplete, {}),
        Method("k by BIC, mean-imputed", _bic_filled, {}),
        Method("k always 2", _two, {}),
    )
}
"""By name, which no other method may have, as all share one file of results."""
