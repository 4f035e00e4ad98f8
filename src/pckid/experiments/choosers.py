"""Ways to choose the number of clusters: each takes what was computed once and returns k."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel
from pckid.choice import MAX_CLUSTERS, Choice, rehearsal, score
from pckid.embedding import random_walk
from pckid.featuremap import project_features

CANDIDATES = range(2, MAX_CLUSTERS + 1)


class Computed:
    """A table, and what several choosers have in common, computed when first asked for.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardised, NaN where missing.
    seed : int
    parameters : dict
        Of the ensemble.
    """

    def __init__(self, X: NDArray, seed: int, **parameters: Any) -> None:
        self.X, self.seed, self.parameters = X, seed, parameters

    @cached_property
    def kernel(self) -> ProbabilisticClusterKernel:
        """The ensemble."""
        return rehearsal(PCKID(random_state=self.seed, **self.parameters)).fit(self.X)

    @cached_property
    def choice(self) -> Choice:
        """The spectrum, and the agreement between halves."""
        table, rng = self.kernel._read(self.X), np.random.default_rng(self.seed)
        return score(self.kernel._kernel, table, MAX_CLUSTERS, 1, rng)

    @cached_property
    def embedding(self) -> NDArray:
        """Random-walk coordinates, of shape (n_samples, 15)."""
        features = self.kernel.transform(self.X).T
        rng = np.random.default_rng(self.seed)
        return project_features(features, random_walk(features, MAX_CLUSTERS, rng))

    @cached_property
    def filled(self) -> NDArray:
        """The table with column means, which are zero, in place of what is missing."""
        return np.nan_to_num(self.X, nan=0.0)

    def partition(self, points: NDArray, k: int) -> NDArray:
        """Group points by k-means."""
        return KMeans(k, n_init=10, random_state=self.seed).fit_predict(points)


def _best(candidates: Sequence[int] | NDArray, scores: Any) -> int:
    """Take the candidate of highest score, the first of equals."""
    return int(candidates[int(np.argmax(scores))])


def _pckid(found: Computed) -> int:
    return found.choice.n_clusters


def _relative_gap(found: Computed) -> int:
    return _best(found.choice.candidates, found.choice.gaps)


def _gap(found: Computed) -> int:
    return _best(found.choice.candidates, -np.diff(found.choice.eigenvalues)[1:])


def _agreement(found: Computed) -> int:
    return _best(found.choice.candidates, found.choice.agreement)


def _silhouette_embedding(found: Computed) -> int:
    points = found.embedding
    scores = [
        silhouette_score(points[:, :k], found.partition(points[:, :k], k)) for k in CANDIDATES
    ]
    return _best(CANDIDATES, scores)


def _silhouette(found: Computed) -> int:
    X = found.filled
    return _best(CANDIDATES, [silhouette_score(X, found.partition(X, k)) for k in CANDIDATES])


def _calinski_harabasz(found: Computed) -> int:
    X = found.filled
    scores = [calinski_harabasz_score(X, found.partition(X, k)) for k in CANDIDATES]
    return _best(CANDIDATES, scores)


def _bic_incomplete(found: Computed) -> int:
    scores = [
        -IncompleteGaussianMixture(
            k, covariance_type="diag", n_init=2, random_state=found.seed, max_iter=50
        )
        .fit(found.X)
        .bic(found.X)
        for k in CANDIDATES
    ]
    return _best(CANDIDATES, scores)


def _bic_filled(found: Computed) -> int:
    X = found.filled
    mixtures = [
        GaussianMixture(k, n_init=2, reg_covar=1e-3, random_state=found.seed) for k in CANDIDATES
    ]
    return _best(CANDIDATES, [-mixture.fit(X).bic(X) for mixture in mixtures])


def _two(found: Computed) -> int:
    return 2


CHOOSERS: dict[str, Callable[[Computed], int]] = {
    "PCKID: gap × agreement": _pckid,
    "relative eigengap": _relative_gap,
    "eigengap": _gap,
    "agreement of halves": _agreement,
    "silhouette, embedding": _silhouette_embedding,
    "silhouette, mean-imputed": _silhouette,
    "Calinski-Harabasz, mean-imputed": _calinski_harabasz,
    "BIC, incomplete mixture": _bic_incomplete,
    "BIC, mean-imputed": _bic_filled,
    "always 2": _two,
}
"""By name; to add one, write a function of what was computed and name it here."""
