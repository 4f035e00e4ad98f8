"""Two halves of an ensemble, each of which can find clusters by itself."""

from __future__ import annotations

import numpy as np

from pckid._utils.parallel import blas_threads
from pckid.ensemble.feature_map import Kernel, feature_matrix, project_features
from pckid.input.table import Table
from pckid.spectral.embedding import EMBEDDINGS
from pckid.spectral.kmeans import partition

N_STARTS = 20


def split(kernel: Kernel) -> tuple[Kernel, Kernel] | None:
    """Share the mixtures of every size out between two kernels; None where there is but one."""
    half = kernel.ensemble.stacks[0].log_weights.shape[0] // 2
    if half == 0:
        return None
    return _part(kernel, slice(0, half)), _part(kernel, slice(half, 2 * half))


def cluster_by_halves(
    kernel: Kernel, embedding: str, table: Table, n_clusters: int, jobs: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Cluster rows by each half of the ensemble alone.

    Parameters
    ----------
    kernel : Kernel
    embedding : str
        A name in `EMBEDDINGS`.
    table : Table
    n_clusters : int
    jobs : int

    Returns
    -------
    labels : two ndarrays of shape (n_samples,), or None
        None where the ensemble is too small to be split. A cluster's number in one says nothing
        about the other.
    """
    halves = split(kernel)
    if halves is None:
        return None
    first, second = (_cluster(half, embedding, table, n_clusters, jobs) for half in halves)
    return first, second


def _part(kernel: Kernel, part: slice) -> Kernel:
    """Keep some of the mixtures of every size."""
    ensemble = kernel.ensemble
    stacks = tuple(type(stack)(*(array[part, ...] for array in stack)) for stack in ensemble.stacks)
    return kernel._replace(ensemble=ensemble._replace(stacks=stacks))


def _cluster(
    kernel: Kernel, embedding: str, table: Table, n_clusters: int, jobs: int
) -> np.ndarray:
    """Embed rows and group them; labels of shape (n_samples,)."""
    rng = np.random.default_rng(0)
    with blas_threads(jobs):
        features = feature_matrix(kernel, table, jobs)
        projection = EMBEDDINGS[embedding](features, n_clusters, rng)
        coordinates = project_features(features, projection)
        return partition(coordinates, n_clusters, n_init=N_STARTS, rng=rng)
