"""From a trained kernel to clusters: landmarks, eigenvectors, k-means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._arrays import Array, device_of, like, namespace, to_numpy
from pckid._parallel import blas_threads
from pckid.embedding import EMBEDDINGS, Projection
from pckid.featuremap import Kernel, feature_matrix, project, project_features
from pckid.kmeans import kmeans, lloyd, nearest
from pckid.mixture.table import take
from pckid.sample import Sample


class Grouping(NamedTuple):
    """The clusters of a sample, and how any row gets its coordinates."""

    projection: Projection
    embedding: Array  # (n_samples, n_clusters), of the sample's rows
    centers: Array  # (n_clusters, n_clusters), the largest cluster first
    inertia: float


def group(
    kernel: Kernel,
    sample: Sample,
    n_clusters: int,
    *,
    embedding: str,
    n_landmarks: int,
    n_init: int,
    jobs: int,
) -> Grouping:
    """Embed the rows of a sample by its landmarks, and cluster them.

    Parameters
    ----------
    kernel : Kernel
    sample : Sample
    n_clusters : int
    embedding : str
        A name in `EMBEDDINGS`.
    n_landmarks : int
        The eigenvectors come from this many rows at most.
    n_init : int
        Starts of k-means.
    jobs : int

    Returns
    -------
    grouping : Grouping
    """
    rng = np.random.default_rng(np.random.SeedSequence(sample.entropy, spawn_key=(0,)))
    landmarks, weights = sample.draw(n_landmarks, rng)
    features = feature_matrix(kernel, take(sample.table, landmarks), jobs)
    with blas_threads(jobs):
        projection = EMBEDDINGS[embedding](features, n_clusters, rng, weights)
        if landmarks.shape[0] == sample.table.n_samples:
            points = project_features(features, projection)
    if landmarks.shape[0] < sample.table.n_samples:
        del features
        points = project(kernel, projection, sample.table, jobs)
    with blas_threads(jobs):
        rows = namespace(points).take(points, landmarks, axis=0)
        found = kmeans(rows, n_clusters, n_init=n_init, rng=rng, weights=weights)
        every = None if sample.weights is None else like(sample.weights, points)
        # All starts run on the landmarks, then the best of them on all rows.
        if landmarks.shape[0] < points.shape[0]:
            found = lloyd(points, found.centers[None, ...], weights=every)
        centers = largest_first(points, found.centers, every)
    return Grouping(projection, points, centers, found.inertia)


def largest_first(rows: Array, centers: Array, weights: Array | None = None) -> Array:
    """Order the centres (k, k) by the number, or weight, of the rows nearest to them.

    Where rows have weights, clusters that count alike come in the order of their first rows, so
    that no rounding decides between them.
    """
    xp = namespace(rows)
    labels = nearest(rows, centers[None, ...])[0, :]
    if weights is not None:
        found, each = to_numpy(labels), to_numpy(weights).astype(np.float64)
        counts = np.bincount(found, weights=each, minlength=centers.shape[0])
        first = np.full(len(counts), len(found))
        np.minimum.at(first, found, np.arange(len(found)))
        order = np.lexsort((first, -counts))
        return xp.take(centers, like(order, centers, dtype=xp.int64), axis=0)
    index = xp.arange(centers.shape[0], dtype=labels.dtype, device=device_of(rows))
    counts = xp.sum(xp.astype(labels == index[:, None], xp.int64), axis=1)
    return xp.take(centers, xp.argsort(-counts, stable=True), axis=0)
