"""How far the clusters can be trusted: against themselves, and against known groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pckid._arrays import to_numpy
from pckid._parallel import blas_threads, n_threads
from pckid.embedding import EMBEDDINGS
from pckid.featuremap import feature_matrix, project
from pckid.kmeans import kmeans, nearest
from pckid.metrics import clustering_accuracy
from pckid.mixture.table import Table
from pckid.plots import sample_by_cluster, standardised_rows

MAX_GROUPS = 20
MAX_ROWS = 1000
N_STARTS = 20


@dataclass(frozen=True)
class KnownGroups:
    """Clusters against groups that were known beforehand.

    Attributes
    ----------
    groups : list of str
    counts : ndarray of shape (n_groups, n_clusters)
    accuracy : float
        Share of rows in the right cluster under the best matching of clusters and groups.
    n_rows : int
        Rows that have both.
    """

    groups: list[str]
    counts: np.ndarray
    accuracy: float
    n_rows: int


def compare_known(known: list[str] | None, labels: np.ndarray) -> KnownGroups | None:
    """Compare clusters with known groups.

    Parameters
    ----------
    known : list of str or None
        "" where a row's group is unknown.
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    comparison : KnownGroups or None
        None where no group is known, or where there are too many for a comparison.
    """
    if known is None:
        return None
    groups = np.asarray(known, dtype=object)
    both = (labels >= 0) & (groups != "")
    names = sorted(set(groups[both]))
    if not names or len(names) > MAX_GROUPS:
        return None
    codes = np.searchsorted(np.asarray(names, dtype=object), groups[both])
    counts = np.zeros((len(names), int(labels.max()) + 1), dtype=int)
    np.add.at(counts, (codes, labels[both]), 1)
    accuracy = float(clustering_accuracy(codes, labels[both]))
    return KnownGroups([str(name) for name in names], counts, accuracy, int(both.sum()))


def halves_agreement(estimator: Any, X: np.ndarray) -> float | None:
    """Cluster by each half of the ensemble alone and compare the two.

    Parameters
    ----------
    estimator : fitted PCKID
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    agreement : float or None
        Share of rows that both halves put into the same cluster under the best matching; None
        where the ensemble is too small to be split.
    """
    half = estimator.n_inits // 2
    if half == 0:
        return None
    rows = sample_by_cluster(to_numpy(estimator.labels_), MAX_ROWS)
    table = standardised_rows(estimator, X[rows])
    parts = (slice(0, half), slice(half, 2 * half))
    return clustering_accuracy(*(_cluster_by_part(estimator, table, part) for part in parts))


def _cluster_by_part(estimator: Any, table: Table, part: slice) -> np.ndarray:
    """Cluster rows by some of the mixtures of every size; labels of shape (n_samples,)."""
    ensemble = estimator._kernel.ensemble
    stacks = tuple(type(stack)(*(array[part, ...] for array in stack)) for stack in ensemble.stacks)
    kernel = estimator._kernel._replace(ensemble=ensemble._replace(stacks=stacks))
    n_clusters, jobs = len(estimator.cluster_centers_), n_threads(estimator.n_jobs)
    rng = np.random.default_rng(0)
    with blas_threads(jobs):
        features = feature_matrix(kernel, table, jobs)
        projection = EMBEDDINGS[estimator.embedding](features, n_clusters, rng)
        embedding = project(kernel, projection, table, jobs)
        centers = kmeans(embedding, n_clusters, n_init=N_STARTS, rng=rng).centers
    return to_numpy(nearest(embedding, centers[None, ...])[0, :])
