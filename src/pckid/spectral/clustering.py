"""From a trained kernel to clusters: landmarks, eigenvectors, k-means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, is_host, namespace, take_along, to_numpy
from pckid._utils.parallel import blas_threads, meanwhile
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.ensemble.feature_map import Kernel, Projection, feature_matrix, project, project_features
from pckid.ensemble.outliers import MAX_USUAL, FeatureScorer, project_and_score
from pckid.ensemble.score_scale import OwnScores, ScoreScale, fit_score_scale, keep_scores
from pckid.ensemble.training import Training
from pckid.input.sample import Sample
from pckid.input.table import StandardisedRows, take
from pckid.spectral.embedding import draw_guess, fit_embedding
from pckid.spectral.kmeans import (
    distances_to,
    first_of_nearest,
    kmeans,
    lloyd,
    nearest,
)
from pckid.spectral.known_rows import FoundClusters, KnownRows, n_coordinates, span_of_centers
from pckid.spectral.membership import calibrate_membership, cluster_by_parts

_TURNS = 20
# Of more rows than there are landmarks, so many say what scores are usual.
_MAX_SCORED = 1_000
# Starts of k-means where several numbers of clusters are tried.
_N_STARTS = 20
# Of a feature map of so few entries threads would take longer than what they do.
_FEW_CELLS = 1 << 19


class SampleScores(NamedTuple):
    """Outlier scores of the rows of a sample."""

    scale: ScoreScale
    held_out: Array  # (n_scored,), of some rows, as they would have them if they were new
    weights: np.ndarray | None  # (n_scored,), how much these rows count
    own: Array | None  # (n_samples,), of all rows; None where they were not computed
    are_held_out: bool  # whether each of these is by the mixtures that did not learn from the row

    def keep_held_out(self, table: StandardisedRows) -> OwnScores | None:
        """Keep the scores of all rows of a table, if they are as those of new rows would be."""
        return keep_scores(table, self.own) if self.own is not None and self.are_held_out else None


class ClusteredSample(NamedTuple):
    """The clusters of a sample, and how any row gets its coordinates."""

    projection: Projection
    centers: Array  # (n_clusters, n_clusters), the largest cluster first
    inertia: float
    inverse_temperature: float  # of the rows' memberships, see `membership`
    points: Array  # (n_samples, n_clusters), the coordinates of the rows of the sample
    scores: SampleScores
    order: np.ndarray  # (n_clusters,), which centre each cluster had; those of known rows first
    known_points: Array | None  # (n_known, n_clusters), the coordinates of the known rows


class Landmarks(NamedTuple):
    """The rows of a sample that span its embedding: all of them, or random ones."""

    rows: np.ndarray  # (n_landmarks,), in the sample's table
    weights: Array | None  # (n_landmarks,), how many rows each counts for; None: all alike
    points: Array  # (n_landmarks, n_coordinates)
    known_points: Array | None  # (n_known, n_coordinates), of rows whose cluster is known
    found: FoundClusters | None  # those that known rows led to; None: still to be found
    parts: np.ndarray  # (n_draws, n_landmarks), labels by parts of the ensemble


def cluster_sample(
    training: Training,
    n_clusters: int,
    *,
    embedding: str,
    n_landmarks: int,
    n_init: int,
    jobs: int,
    known: tuple[StandardisedRows, np.ndarray] | None = None,
    groups: np.ndarray | None = None,
) -> ClusteredSample:
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
    known : tuple of StandardisedRows and array of shape (n_known,), default=None
        Rows whose cluster is known, each with something observed, and its number from 0.
    groups : ndarray of shape (n_samples,), default=None
        Rows that belong together, by numbers: memberships are as sure as whole groups make them.

    Returns
    -------
    clustering : ClusteredSample
    """
    sample = training.sample
    rng = generator(sample.entropy, Stream.EMBEDDING)
    how: dict[str, Any] = {"n_init": n_init, "rng": rng}
    with blas_threads(1):
        projection, landmarks, scores = embed_landmarks(
            training, n_clusters, embedding, n_landmarks, known, groups, how, jobs
        )
        clustering, distances = cluster_embedding(
            training, n_clusters, projection, landmarks, scores, how, jobs
        )
        n_groups = None if groups is None else len(np.unique(groups[landmarks.rows]))
        inverse_temperature = calibrate_membership(
            distances, clustering.centers, landmarks.parts, landmarks.weights, n_groups
        )
    return clustering._replace(inverse_temperature=inverse_temperature)


def embed_landmarks(
    training: Training,
    n_clusters: int,
    embedding: str,
    n_landmarks: int,
    known: tuple[StandardisedRows, np.ndarray] | None,
    groups: np.ndarray | None,
    how: dict[str, Any],
    jobs: int,
) -> tuple[Projection, Landmarks, SampleScores]:
    """Find the leading eigenvectors of the kernel between landmarks, and all that needs their Φ.

    That are their outlier scores, and their clusters by parts of the ensemble. `how` are parameters
    of `kmeans`, the others as for `cluster_sample`.
    """
    kernel, sample, rng = training.kernel, training.sample, how["rng"]
    rows, weights = sample.draw(n_landmarks, rng)
    width, known_rows = n_clusters, None
    if known is not None:
        known_rows = KnownRows(feature_matrix(kernel, known[0], jobs), known[1])
        width = n_coordinates(n_clusters, len(rows))
    table = take(sample.table, rows)
    features = feature_matrix(kernel, table, jobs)
    deviate = partial(_deviate, training, features, table, rows, jobs)
    by_parts = partial(
        cluster_by_parts,
        kernel,
        features,
        n_clusters,
        embedding,
        generator(sample.entropy, Stream.MEMBERSHIP),
        weights,
        groups=None if groups is None else groups[rows],
    )
    in_threads = is_host(features) and math.prod(features.shape) > _FEW_CELLS
    # The host launches these before it waits for the eigenvectors on a GPU.
    launched, moved = None if in_threads else deviate(), None

    def deviate_and_cluster() -> tuple[_Deviations, np.ndarray]:
        return launched or deviate(), by_parts(known=moved)

    # One thread for both: more would wait for each other at the interpreter.
    beside = in_threads and known_rows is None
    wait = meanwhile(deviate_and_cluster, jobs) if beside else deviate_and_cluster
    projection = fit_embedding(embedding, features, width, rng, weights)
    points = project_features(features, projection)
    known_points = found = None
    if known_rows is not None:
        known_points = project_features(known_rows.features, projection)
        each = how | {"weights": weights}
        found = known_rows.find_clusters(points, known_points, n_clusters, each)
        if found.is_wide:
            moved = known_rows
        else:
            projection, points = projection.first(n_clusters), points[:, :n_clusters]
            known_points = known_points[:, :n_clusters]
    deviations, parts = wait()
    scores = _score_landmarks(deviations, sample, weights)
    landmarks = Landmarks(rows, weights, points, known_points, found, parts)
    return projection, landmarks, scores


def cluster_embedding(
    training: Training,
    n_clusters: int,
    projection: Projection,
    landmarks: Landmarks,
    scores: SampleScores,
    how: dict[str, Any],
    jobs: int,
) -> tuple[ClusteredSample, Array]:
    """Cluster the landmarks by k-means, then all rows of the sample from there.

    Returns the clusters, whose memberships have no inverse temperature yet, and how far the
    landmarks are from them (n_clusters, n_landmarks).
    """
    kernel, sample = training.kernel, training.sample
    _, weights, points, known_points, by_known, _ = landmarks
    are_all = len(landmarks.rows) == sample.table.n_samples
    starts = how | {"weights": weights, "jobs": jobs if are_all else 1}
    beside = not are_all and by_known is None and is_host(points)
    cluster = meanwhile(partial(kmeans, points, n_clusters, **starts), jobs if beside else 1)
    if not are_all and sample.is_whole:
        points, own = project_and_score(kernel, projection, scores.scale, sample.table, jobs)
        scores = scores._replace(own=own)
    elif not are_all:
        points = project(kernel, projection, sample.table, jobs)
    found = cluster() if by_known is None else by_known.clusters
    is_wide = by_known is not None and by_known.is_wide
    anchors = None if by_known is None else by_known.anchors
    row_weights = None if sample.weights is None else asarray_like(sample.weights, points)
    # Centres between free ones and held ones are no means of their rows.
    if not are_all and (anchors is not None or not is_wide):
        found = lloyd(points, found.centers[None, ...], weights=row_weights, anchors=anchors)
    centers = found.centers
    if is_wide and known_points is not None:
        axes = span_of_centers(centers)
        values = projection.eigenvalues[:n_clusters]
        projection = projection._replace(basis=projection.basis @ axes, eigenvalues=values)
        centers, points, known_points = centers @ axes, points @ axes, known_points @ axes
    centers, distances, order = largest_first(points, centers, row_weights)
    if not are_all:
        distances = take_along(distances, asarray_like(landmarks.rows, distances), axis=1)
    clustering = ClusteredSample(
        projection, centers, found.inertia, 1.0, points, scores, order, known_points
    )
    return clustering, distances


class _Deviations(NamedTuple):
    """How far landmarks lie from what the mixtures expect that did not learn from them."""

    values: Array  # (n_scored,)
    usual: np.ndarray  # (n_values,), the deviations that are usual
    rows: np.ndarray  # (n_scored,), which of the landmarks
    are_unseen: np.ndarray  # (n_scored,), whether there are such mixtures


def _deviate(
    training: Training, features: Array, table: StandardisedRows, rows: np.ndarray, jobs: int
) -> _Deviations:
    """Compute the deviations of landmarks, of at most 1,000 where they are not all rows.

    Their features are (n_columns, n_landmarks); `rows` (n_landmarks,) are their places.
    """
    sample, some = training.sample, np.arange(len(rows))
    if table.held_out is not None:
        table = table._replace(scores=table.held_out)
        features = feature_matrix(training.kernel, table, jobs)
    if len(rows) < sample.table.n_samples:
        some = some_rows(some, _MAX_SCORED)
    unseen = training.find_unseen(rows[some])
    # Of a row that comes several times, mixtures learn from the other ones also if it is new.
    counts = np.bincount(sample.places, minlength=sample.table.n_samples)
    unseen[:, counts[rows[some]] > 1] = True

    def pick(places: np.ndarray) -> tuple[Array, StandardisedRows]:
        if len(places) == len(rows):
            return features, table
        index = asarray_like(places, table.values)
        return take_along(features, index, 1), take(table, index)

    scorer, few = FeatureScorer(training.kernel, table), some_rows(np.arange(len(some)), MAX_USUAL)
    usual = scorer.usual_deviations(*pick(some[few]), unseen[:, few], jobs)
    chosen, own = pick(some)
    deviations = scorer.deviation(chosen, usual, own, jobs, unseen)
    return _Deviations(deviations, usual, some, np.any(unseen, axis=0))


def _score_landmarks(found: _Deviations, sample: Sample, weights: Array | None) -> SampleScores:
    """Put the deviations of landmarks, whose weights are (n_landmarks,), on a scale of scores."""
    deviations, usual, rows, are_unseen = found
    each = None if weights is None else to_numpy(weights).astype(np.float64)[rows]
    n_values = sample.table.n_values
    if sample.table.scores is not None:
        n_values += sample.table.scores.n_values
    scale = fit_score_scale(to_numpy(deviations), usual, n_values, each)
    scores = scale.standardise(deviations)
    are_all = len(rows) == sample.table.n_samples
    return SampleScores(
        scale,
        scores[asarray_like(are_unseen, scores, dtype=namespace(scores).bool)],
        None if each is None else each[are_unseen],
        scores if are_all else None,
        are_all,
    )


@blas_threads(1)
def recluster(
    kernel: Kernel,
    sample: Sample,
    numbers: Sequence[int],
    *,
    embedding: str,
    n_landmarks: int,
    n_init: int,
    jobs: int,
    others: StandardisedRows | None = None,
) -> list[np.ndarray]:
    """Cluster the rows of a sample that is a whole table into numbers of clusters.

    The labels (n_rows,), or those of `others`, are those that `cluster_sample` leads to for each of
    the `numbers`, ascending: the random numbers are the same, and the coordinates for few clusters
    are the first of those for many. The other parameters are those of `cluster_sample`.
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
    row_weights = None if sample.weights is None else asarray_like(sample.weights, points)
    found = []
    for n_clusters in numbers:
        rng = generator(sample.entropy, Stream.EMBEDDING)
        sample.draw(n_landmarks, rng)
        draw_guess(features, n_clusters, rng)
        own = points[:, :n_clusters]
        best = kmeans(near[:, :n_clusters], n_clusters, n_init=n_init, rng=rng, weights=weights)
        if not are_all:
            best = lloyd(own, best.centers[None, ...], weights=row_weights)
        centers, distances, _ = largest_first(own, best.centers, row_weights)
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
    kernel: Kernel, embedding: str, table: StandardisedRows, numbers: Sequence[int], jobs: int
) -> list[np.ndarray]:
    """Cluster rows into each number of clusters, by the leading coordinates of one embedding.

    Parameters
    ----------
    kernel : Kernel
    embedding : str
        A name in `EMBEDDINGS`.
    table : StandardisedRows
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
