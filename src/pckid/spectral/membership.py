"""The scale of soft memberships, from parts of an ensemble."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize_scalar

from pckid._utils.arrays import Array, asarray_like, take_along, to_numpy
from pckid.ensemble.feature_map import Kernel, project_features
from pckid.input.weights import draw_together
from pckid.spectral.chances import USUAL, relative_distances
from pckid.spectral.embedding import fit_embedding
from pckid.spectral.kmeans import distances_to, first_of_nearest, kmeans
from pckid.spectral.known_rows import KnownRows, n_coordinates

# Parts are one in so many of the mixtures and of the rows. Chosen among 3, 4 and 6 on 24 tables,
# each clustered by halves.
_PART = 4
# Two clusterings pin down one number well enough.
_N_DRAWS = 2
# Of n rows, memberships are as sharp as n / (n + 10) of what the parts say: a table drawn with
# replacement holds two thirds of the rows. Chosen on simulated tables of 40 to 800 rows.
_WIDER = 10
_N_STARTS = 5
# How many clusterings the inverse temperature of a usual table is worth.
_PRIOR = 0.5
# Below the first all memberships are alike, above the second all are 0 or 1 but at the border.
_INVERSE_TEMPERATURES = (0.05, 50.0)

DOUBTFUL = 0.8
"""Rows of a lower confidence are doubtful: more than one in five would get another cluster."""


def fit_inverse_temperature(
    distances: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    prior: float = 0.0,
) -> float:
    """Find the inverse temperature under which labels that were found again are most likely.

    Parameters
    ----------
    distances : ndarray of shape (n_clusters, n_samples)
    labels : ndarray of shape (n_draws, n_samples)
        The cluster of each row in other clusterings, numbered alike.
    weights : ndarray of shape (n_samples,), default=None
        How much each row counts.
    prior : float, default=0
        How many clusterings it is worth that the logarithm of the inverse temperature is about log
        5, give or take 1. The rows of one clustering go astray together, so that few of them say
        little.

    Returns
    -------
    inverse_temperature : float
        From 0.05 to 50.
    """
    beyond = relative_distances(distances)
    found = beyond[labels, np.arange(beyond.shape[1])].mean(axis=0)

    def loss(log_inverse: float) -> float:
        # −log p of the labels found, on average.
        inverse_temperature = float(np.exp(log_inverse))
        each = inverse_temperature * found + np.log(
            np.exp(-inverse_temperature * beyond).sum(axis=0)
        )
        penalty = prior / len(labels) * (log_inverse - np.log(USUAL)) ** 2 / 2
        return penalty + float(np.average(each, weights=weights))

    bounds = tuple(np.log(_INVERSE_TEMPERATURES))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def calibrate_membership(
    distances: Array,
    centers: Array,
    parts: np.ndarray,
    weights: Array | None = None,
    n_groups: int | None = None,
) -> float:
    """Find the inverse temperature of memberships from clusterings by parts of the ensemble.

    Parameters
    ----------
    distances : array of shape (n_clusters, n_samples)
        Of the rows from the centres.
    centers : array of shape (n_clusters, n_components)
    parts : ndarray of shape (n_draws, n_samples)
        As from `cluster_by_parts`.
    weights : array of shape (n_samples,), default=None
    n_groups : int, default=None
        How many groups of rows that belong together there are; None: as many as rows.
    """
    n_clusters = centers.shape[0]
    if n_clusters == 1:
        return 1.0
    distances = to_numpy(distances)
    labels = to_numpy(first_of_nearest(distances, to_numpy(centers)))
    matched = np.stack([match_labels(labels, part, n_clusters) for part in parts])
    each = None if weights is None else to_numpy(weights).astype(np.float64)
    count = n_groups or distances.shape[1]
    inverse_temperature = fit_inverse_temperature(
        distances.astype(np.float64), matched, each, _PRIOR
    )
    return inverse_temperature * count / (count + _WIDER)


def match_labels(reference: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Number clusters as in another clustering, so that as many rows as possible agree.

    Parameters
    ----------
    reference, labels : ndarray of shape (n_samples,)
        From 0 to `n_clusters` − 1.
    n_clusters : int

    Returns
    -------
    matched : ndarray of shape (n_samples,)
    """
    counts = np.zeros((n_clusters, n_clusters))
    np.add.at(counts, (labels, reference), 1)
    return linear_sum_assignment(counts, maximize=True)[1][labels]


def cluster_by_parts(
    kernel: Kernel,
    features: Array,
    n_clusters: int,
    embedding: str,
    rng: np.random.Generator,
    weights: Array | None = None,
    known: KnownRows | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Cluster rows by parts of an ensemble, each a quarter of the mixtures and of the rows.

    Where an estimate from all has the variance v around the truth, one from a share s of the same
    is (1 / s − 1) v away from it. As far as an estimate from as many new mixtures and rows, 2 v,
    would be a third, but the mixtures of a part have learnt from all rows: a quarter comes closer.
    So the parts tell how far clusters would change, without training anything anew.

    Parameters
    ----------
    kernel : Kernel
    features : array of shape (n_columns, n_samples)
        Φᵀ of the rows under all mixtures.
    n_clusters : int
    embedding : str
        A name in `EMBEDDINGS`.
    rng : numpy Generator
    weights : array of shape (n_samples,), default=None
    known : KnownRows, default=None
    groups : ndarray of shape (n_samples,), default=None
        Rows of one group are drawn together.

    Returns
    -------
    parts : ndarray of shape (n_draws, n_samples)
        Labels of all rows; clusters are numbered by each part anew.
    """
    n_samples = features.shape[1]
    if n_clusters == 1:
        return np.zeros((_N_DRAWS, n_samples), dtype=np.int64)
    size = min(max(n_clusters + 1, -(-n_samples // _PART)), n_samples)
    width = n_clusters if known is None else n_coordinates(n_clusters, size)
    parts = np.empty((_N_DRAWS, n_samples), dtype=np.int64)
    for labels in parts:
        columns = _draw_columns(kernel, rng)
        rows = draw_together(rng, n_samples, size, groups)
        each = None if weights is None else take_along(weights, rows)
        part = take_along(features, columns)
        mine = take_along(part, asarray_like(rows, part), 1)
        projection = fit_embedding(embedding, mine, width, rng, each)
        # Few starts on few rows: the host is done before it could tell a GPU what to do.
        points = to_numpy(project_features(part, projection))
        each = None if each is None else to_numpy(each)
        anchors = None
        if known is not None:
            own = take_along(known.features, columns)
            anchors = known.anchors(to_numpy(project_features(own, projection)), n_clusters)
        centers = kmeans(
            points[rows], n_clusters, n_init=_N_STARTS, rng=rng, weights=each, anchors=anchors
        ).centers
        labels[:] = to_numpy(first_of_nearest(distances_to(points, centers), centers))
    return parts


def _draw_columns(kernel: Kernel, rng: np.random.Generator) -> np.ndarray:
    """Draw a part of the mixtures of each size; the columns of the feature map that are theirs."""
    shapes = [stack.log_weights.shape for stack in kernel.ensemble.stacks]
    n_mixtures = shapes[0][0]
    order = np.argsort(rng.random((len(shapes), n_mixtures)), axis=1)
    # The first mixtures of the order, whichever they are.
    is_chosen = np.argsort(order, axis=1) < max(1, round(n_mixtures / _PART))
    sizes = np.repeat([n_components for _, n_components in shapes], n_mixtures)
    return np.flatnonzero(np.repeat(is_chosen.ravel(), sizes))
