"""Whether an ensemble is large enough: two halves of it find the same clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import adjusted_rand_score

from pckid._utils.arrays import asarray_like, take_along, to_numpy
from pckid._utils.parallel import blas_threads
from pckid._utils.seeds import Stream, generator
from pckid.ensemble.feature_map import feature_matrix, project_features
from pckid.ensemble.training import Training
from pckid.input.table import take
from pckid.spectral.embedding import fit_embedding
from pckid.spectral.kmeans import kmeans, nearest

MAX_TIMES = 4  # an ensemble grows to so many times its starts
STEADY = 0.9  # it is large enough if its halves agree so well; chosen on the choosing halves
_MAX_ROWS = 300  # by which halves are compared
_N_STARTS = 5  # of k-means


def grow_until_steady(
    training: Training,
    grow: Callable[[Training, int], Training],
    n_inits: int,
    n_clusters: int,
    embedding: str,
    jobs: int,
) -> Training:
    """Double the starts of an ensemble, up to four times, while two halves of it disagree.

    Parameters
    ----------
    training : Training
        Of `n_inits` starts at least; those that are not needed are dropped.
    grow : callable
        Takes a training and a number of starts, and trains those that are lacking.
    n_inits, n_clusters : int
    embedding : str
        A name in `EMBEDDINGS`.
    jobs : int
    """
    size, largest = n_inits, MAX_TIMES * n_inits
    if n_clusters > 1 and n_inits > 1:
        while (
            size < largest
            and measure_agreement(training.first(size), n_clusters, embedding, jobs) < STEADY
        ):
            size *= 2
            if training.kernel.ensemble.n_inits < size:
                training = grow(training, size)
    return training.first(size)


def measure_agreement(training: Training, n_clusters: int, embedding: str, jobs: int) -> float:
    """Cluster at most 300 rows by either half of an ensemble; the adjusted Rand index of both."""
    sample, ensemble = training.sample, training.kernel.ensemble
    rng = generator(sample.entropy, Stream.STEADINESS, ensemble.n_inits)
    rows, weights = sample.draw(max(_MAX_ROWS, n_clusters), rng)
    table = take(sample.table, asarray_like(rows, sample.table.values))
    features = feature_matrix(training.kernel, table, jobs)
    found = []
    with blas_threads(1):
        for half in np.array_split(np.arange(ensemble.n_inits), 2):
            mine = take_along(features, ensemble.columns_of(half))
            points = project_features(
                mine, fit_embedding(embedding, mine, n_clusters, rng, weights)
            )
            centers = kmeans(points, n_clusters, n_init=_N_STARTS, rng=rng, weights=weights).centers
            found.append(to_numpy(nearest(points, centers[None, ...])[0, :]))
    return float(adjusted_rand_score(*found))
