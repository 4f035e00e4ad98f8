"""From a trained kernel to clusters: landmarks, eigenvectors, k-means."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, is_host, namespace, take_along, to_numpy
from pckid._utils.parallel import blas_threads, meanwhile
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.ensemble.base import Training
from pckid.ensemble.feature_map import Kernel, Projection, feature_matrix, project, project_features
from pckid.ensemble.outliers import MOST_USUAL, FeatureScorer, project_and_score
from pckid.ensemble.score_scale import ScoreScale, fit_score_scale
from pckid.input.sample import Sample
from pckid.input.table import Table, take
from pckid.spectral.embedding import draw_guess, fit_embedding
from pckid.spectral.kmeans import (
    distances_to,
    first_of_nearest,
    kmeans,
    lloyd,
    nearest,
)
from pckid.spectral.known_rows import KnownRows, n_coordinates, span_of_centers
from pckid.spectral.membership import cluster_by_parts, sharpness_of

_TURNS = 20
# Of more rows than there are landmarks, so many say what scores are usual.
_MOST_SCORED = 1_000
# Starts of k-means where several numbers of clusters are tried.
_N_STARTS = 20


class Grouping(NamedTuple):
    """The clusters of a sample, and how any row gets its coordinates."""

    projection: Projection
    centers: Array  # (n_clusters, n_clusters), the largest cluster first
    inertia: float
    sharpness: float  # of the rows' memberships, see `membership`
    points: Array  # (n_samples, n_clusters), the coordinates of the rows of the sample
    score_scale: ScoreScale  # of outlier scores
    scores: Array | None  # (n_samples,), their outlier scores; None where they were not computed
    are_held_out: bool  # whether each of these is by the mixtures that did not learn from the row
    order: np.ndarray  # (n_clusters,), which centre each cluster had; those of known groups first
    held_out: Array  # (n_scored,), outlier scores as some rows would have them if they were new
    held_out_weights: np.ndarray | None  # (n_scored,), how much these rows count
    known_points: Array | None  # (n_known, n_clusters), the coordinates of the known rows


@blas_threads(1)
def group(
    training: Training,
    n_clusters: int,
    *,
    embedding: str,
    n_landmarks: int,
    n_init: int,
    jobs: int,
    known: tuple[Table, np.ndarray] | None = None,
    groups: np.ndarray | None = None,
) -> Grouping:
    """Embed the rows of a sample by its landmarks, and cluster them.

    Parameters
    ----------
    training : Training
    n_clusters : int
    embedding : str
        A name in `EMBEDDINGS`.
    n_landmarks : int
        The eigenvectors come from this many rows at most.
    n_init : int
        Starts of k-means.
    jobs : int
    known : tuple of Table and array of shape (n_known,), default=None
        Rows whose group is known, each with something observed, and their groups from 0.
    groups : ndarray of shape (n_samples,), default=None
        Rows that belong together, by numbers: memberships are as sure as whole groups make them.

    Returns
    -------
    grouping : Grouping
    """
    kernel, sample = training.kernel, training.drawn.sample
    rng = generator(sample.entropy, Stream.EMBEDDING)
    landmarks, weights = sample.draw(n_landmarks, rng)
    are_all = landmarks.shape[0] == sample.table.n_samples
    together = None if groups is None else groups[landmarks]
    seeds, width = None, n_clusters
    if known is not None:
        seeds = KnownRows(feature_matrix(kernel, known[0], jobs), known[1])
        width = n_coordinates(n_clusters, landmarks.shape[0])
    there = asarray_like(landmarks, sample.table.values)
    rows = take(sample.table, there)
    features = feature_matrix(kernel, rows, jobs)
    # The eigenvectors wait for a GPU. Deviations come first: the host launches them meanwhile.
    scores, scored = None, np.arange(len(landmarks))
    if not are_all:
        scored = some_rows(scored, _MOST_SCORED)
    unseen = training.find_unseen(landmarks[scored])
    # Of a row that comes several times, mixtures learn from the other ones also if it is new.
    counts = np.bincount(sample.places, minlength=sample.table.n_samples)
    unseen[:, counts[landmarks[scored]] > 1] = True
    others = jobs if is_host(features) else 1
    deviate = meanwhile(partial(_deviate, kernel, features, rows, scored, unseen, jobs), others)
    own_rng = generator(sample.entropy, Stream.MEMBERSHIP)
    by_parts = partial(
        cluster_by_parts, kernel, features, n_clusters, embedding, own_rng, weights, groups=together
    )
    cluster_parts = by_parts if seeds is not None else meanwhile(by_parts, others)
    if others == 1:
        deviations, usual = deviate()
    projection = fit_embedding(embedding, features, width, rng, weights)
    points = project_features(features, projection)
    anchors = known_points = found = None
    if seeds is not None:
        known_points = project_features(seeds.features, projection)
        how: dict[str, Any] = {"n_init": n_init, "rng": rng, "weights": weights}
        found, held = seeds.find_clusters(points, known_points, n_clusters, how)
        if not held:
            seeds, points = None, points[:, :n_clusters]
            known_points, projection = known_points[:, :n_clusters], projection.first(n_clusters)
    parts = cluster_parts() if seeds is None else by_parts(known=seeds)
    if others > 1:
        deviations, usual = deviate()
    del features, rows, by_parts, cluster_parts, deviate
    each = None if weights is None else to_numpy(weights).astype(np.float64)[scored]
    scale = fit_score_scale(to_numpy(deviations), usual, sample.table.n_values, each)
    held_out = scale.standardise(deviations)
    if seeds is not None and known_points is not None:
        anchors = seeds.anchors(known_points, n_clusters)
    starts: dict[str, Any] = {"n_init": n_init, "rng": rng, "weights": weights, "anchors": anchors}
    cluster = meanwhile(
        partial(kmeans, points, n_clusters, **starts), others if found is None else 1
    )
    if are_all:
        scores = held_out
    elif not sample.is_whole:
        points = project(kernel, projection, sample.table, jobs)
    else:
        points, scores = project_and_score(kernel, projection, scale, sample.table, jobs)
    every = None if sample.weights is None else asarray_like(sample.weights, points)
    found = cluster() if found is None else found
    if not are_all:
        found = lloyd(points, found.centers[None, ...], weights=every, anchors=anchors)
    centers = found.centers
    if anchors is not None and known_points is not None:
        axes = span_of_centers(centers)
        values = projection.eigenvalues[:n_clusters]
        projection = projection._replace(basis=projection.basis @ axes, eigenvalues=values)
        centers, points, known_points = centers @ axes, points @ axes, known_points @ axes
    centers, distances, order = largest_first(points, centers, every)
    if not are_all:
        distances = take_along(distances, there, axis=1)
    n_groups = None if together is None else len(np.unique(together))
    sharpness = sharpness_of(distances, centers, parts, weights, n_groups)
    return Grouping(
        projection,
        centers,
        found.inertia,
        sharpness,
        points,
        scale,
        scores,
        are_all,
        order,
        held_out[asarray_like(unseen.any(axis=0), held_out, dtype=namespace(held_out).bool)],
        None if each is None else each[unseen.any(axis=0)],
        known_points,
    )


def _deviate(
    kernel: Kernel,
    features: Array,
    rows: Table,
    some: np.ndarray,
    unseen: np.ndarray,
    jobs: int,
) -> tuple[Array, np.ndarray]:
    """Compute the deviations of some rows (n_some,) by the mixtures that did not learn from them.

    `features` (n_columns, n_rows) and `rows` are of all, `unseen` (n_mixtures, n_some) of some.
    Returned with the deviations that are usual (n_values,).
    """

    def take_some(places: np.ndarray) -> tuple[Array, Table]:
        if len(places) == rows.n_samples:
            return features, rows
        index = asarray_like(places, rows.values)
        return take_along(features, index, 1), take(rows, index)

    scorer, few = FeatureScorer(kernel, rows), some_rows(np.arange(len(some)), MOST_USUAL)
    usual = scorer.usual_deviations(*take_some(some[few]), unseen[:, few], jobs)
    mine, chosen = take_some(some)
    return scorer.deviation(mine, usual, chosen, jobs, unseen), usual


@blas_threads(1)
def regroup(
    kernel: Kernel,
    sample: Sample,
    numbers: Sequence[int],
    *,
    embedding: str,
    n_landmarks: int,
    n_init: int,
    jobs: int,
    others: Table | None = None,
) -> list[np.ndarray]:
    """Cluster the rows of a sample that is a whole table into numbers of clusters.

    The labels (n_rows,), or those of `others`, are those that `group` leads to for each of the
    `numbers`, ascending: the random numbers are the same, and the coordinates for few clusters are
    the first of those for many. The other parameters are those of `group`.
    """
    rng = generator(sample.entropy, Stream.EMBEDDING)
    landmarks, weights = sample.draw(n_landmarks, rng)
    features = feature_matrix(kernel, take(sample.table, landmarks), jobs)
    projection = fit_embedding(embedding, features, numbers[-1], rng, weights)
    points = near = project_features(features, projection)
    are_all = landmarks.shape[0] == sample.table.n_samples
    if not are_all:
        points = project(kernel, projection, sample.table, jobs)
    wanted = None if others is None else project(kernel, projection, others, jobs)
    every = None if sample.weights is None else asarray_like(sample.weights, points)
    found = []
    for n_clusters in numbers:
        rng = generator(sample.entropy, Stream.EMBEDDING)
        sample.draw(n_landmarks, rng)
        draw_guess(features, n_clusters, rng)
        own = points[:, :n_clusters]
        best = kmeans(near[:, :n_clusters], n_clusters, n_init=n_init, rng=rng, weights=weights)
        if not are_all:
            best = lloyd(own, best.centers[None, ...], weights=every)
        centers, distances, _ = largest_first(own, best.centers, every)
        if wanted is not None:
            distances = distances_to(wanted[:, :n_clusters], centers)
        labels = to_numpy(first_of_nearest(distances, centers))
        found.append(labels[sample.places] if wanted is None else labels)
    return found


def largest_first(
    rows: Array, centers: Array, weights: Array | None = None
) -> tuple[Array, Array, np.ndarray]:
    """Order the centres (k, k) by the number, or weight, of the rows that belong to them.

    A row equally near to two centres belongs to the first, so that the order itself may move it: it
    is found again until it stays. Centres without rows, such as twins of others, come last.
    Returned with the distances of the rows to them (k, n_samples), and which each one was (k,).
    """
    each = None if weights is None else to_numpy(weights).astype(np.float64)
    distances, was = distances_to(rows, centers), np.arange(centers.shape[0])
    for _ in range(_TURNS):
        labels = first_of_nearest(distances, centers)
        order = _by_size(to_numpy(labels), centers.shape[0], each)
        if np.array_equal(order, np.arange(len(order))):
            break
        was = was[order]
        index = asarray_like(order, centers, dtype=namespace(centers).int64)
        centers, distances = take_along(centers, index), take_along(distances, index)
    return centers, distances, was


@blas_threads(1)
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
    features = feature_matrix(kernel, table, jobs)
    projection = fit_embedding(embedding, features, numbers[-1], rng)
    points = project_features(features, projection)
    return [cluster_points(points[:, :k], rng) for k in numbers]


def cluster_points(points: Array, rng: np.random.Generator) -> np.ndarray:
    """Cluster points (n_samples, k) into k clusters, the largest first; labels (n_samples,)."""
    k = points.shape[1]
    centers = kmeans(points, k, n_init=_N_STARTS, rng=rng).centers
    labels = to_numpy(nearest(points, centers[None, ...])[0, :])
    return np.argsort(_by_size(labels, k))[labels]


def _by_size(labels: np.ndarray, n_clusters: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Order clusters by their rows (n,), the largest first.

    Where rows have weights, clusters that count alike come in the order of their first rows, so
    that no rounding decides between them.
    """
    counts = np.bincount(labels, weights=weights, minlength=n_clusters)
    if weights is None:
        return np.argsort(-counts, kind="stable")
    first = np.full(n_clusters, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return np.lexsort((first, -counts))
