"""Clusters of several numbers from one trained kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pckid._utils.parallel import blas_threads_for
from pckid.ensemble.feature_map import Kernel, feature_matrix, project_features
from pckid.input.table import Table
from pckid.spectral.embedding import fit_embedding
from pckid.spectral.kmeans import partition

_N_STARTS = 20


def cluster_by_numbers(
    kernel: Kernel, embedding: str, table: Table, numbers: Sequence[int], jobs: int
) -> list[np.ndarray]:
    """Cluster rows into each number of clusters, by the leading coordinates of one embedding.

    Parameters
    ----------
    kernel : Kernel
    embedding : str
        A name in `EMBEDDINGS`.
    table : Table
    numbers : sequence of int
        Ascending.
    jobs : int

    Returns
    -------
    labels : list of ndarrays of shape (n_samples,)
        For each number, the largest cluster first.
    """
    rng = np.random.default_rng(0)
    with blas_threads_for(table.n_samples, jobs):
        features = feature_matrix(kernel, table, jobs)
        projection = fit_embedding(embedding, features, numbers[-1], rng)
        points = project_features(features, projection)
        found = [partition(points[:, :k], k, n_init=_N_STARTS, rng=rng) for k in numbers]
    return [_largest_first(labels, k) for labels, k in zip(found, numbers, strict=True)]


def _largest_first(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Number clusters (n_samples,) by their size."""
    order = np.argsort(-np.bincount(labels, minlength=n_clusters), kind="stable")
    return np.argsort(order)[labels]
