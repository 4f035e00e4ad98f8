"""From coordinates to clusters: the nearest centre of each row, and how surely it stays that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, clip_min, device_of, namespace, to_numpy
from pckid.ensemble.feature_map import Kernel, Projection, project
from pckid.ensemble.outliers import outlier_score
from pckid.input.reading import standardise_at_home
from pckid.input.table import Table, row_slices
from pckid.outofcore import BlockedRows
from pckid.outofcore.rows import BlockResult
from pckid.spectral.kmeans import distances_to, first_of_nearest
from pckid.spectral.membership import membership


class Assignment(NamedTuple):
    """Rows and the clusters they belong to."""

    labels: Array  # (n_samples,), −1 for a row with nothing observed
    confidence: Array  # (n_samples,), the membership in this cluster, 0 where there is none


class FittedClusters(NamedTuple):
    """All that rows need to find their clusters; it travels to where blocks of them are."""

    kernel: Kernel
    projection: Projection
    centers: Array
    sharpness: float  # of the memberships


def assign(embedding: Array, centers: Array, table: Table, sharpness: float) -> Assignment:
    """Find the nearest centre of each row, and the chance that the row belongs to its cluster.

    Of centres equally near up to rounding the first is taken, so that a row gets the same label
    in whatever order its coordinates were summed.
    """
    xp, parts = namespace(embedding), []
    for rows in row_slices(embedding):
        distances = distances_to(embedding[rows, :], centers)
        labels = first_of_nearest(distances, centers)
        confidence = xp.max(membership(distances, sharpness), axis=0)
        empty = ~xp.any(table.observed[rows, :], axis=1)
        parts.append((xp.where(empty, -1, labels), xp.where(empty, 0.0, confidence)))
    return Assignment(*(xp.concat(part) for part in zip(*parts, strict=True)))


def memberships(fitted: FittedClusters, table: Table, jobs: int = 1) -> Array:
    """Compute memberships (n_samples, n_clusters); all the same where nothing is observed."""
    xp, embedding = namespace(table.values), project(fitted.kernel, fitted.projection, table, jobs)
    distances = distances_to(embedding, fitted.centers)
    chances = xp.matrix_transpose(membership(distances, fitted.sharpness))
    empty = ~xp.any(table.observed, axis=1)
    return xp.where(empty[:, None], 1 / chances.shape[1], chances)


def silhouettes(fitted: FittedClusters, table: Table, jobs: int = 1) -> Array:
    """Compute simplified silhouettes 1 − a/b of the rows (n_samples,), NaN if nothing is observed.

    a and b are the distances to the nearest and to the second nearest centre.
    """
    xp, embedding = namespace(table.values), project(fitted.kernel, fitted.projection, table, jobs)
    distances = distances_to(embedding, fitted.centers)
    labels = first_of_nearest(distances, fitted.centers)
    index = xp.arange(distances.shape[0], dtype=labels.dtype, device=device_of(embedding))
    own = labels == index[:, None]
    first = xp.sum(xp.where(own, distances, 0.0), axis=0)
    second = xp.min(xp.where(own, xp.inf, distances), axis=0)
    apart = second > 0
    found = xp.where(apart, 1 - first / xp.where(apart, second, 1.0), 0.0)
    return xp.where(xp.any(table.observed, axis=1), clip_min(found, 0.0), xp.nan)


def place_rows(
    fitted: FittedClusters, X: np.ndarray, jobs: int = 1
) -> tuple[Assignment, np.ndarray]:
    """Find the clusters and coordinates of a block of rows (n_samples, n_features), on the host."""
    if len(X) == 0:
        none = np.empty((0, fitted.centers.shape[0]), dtype=fitted.kernel.dtype)
        return Assignment(np.empty(0, np.int64), none[:, 0]), none
    table = standardise_at_home(X, fitted.kernel.scaling, fitted.kernel.dtype)
    embedding = project(fitted.kernel, fitted.projection, table, jobs)
    found = assign(embedding, fitted.centers, table, fitted.sharpness)
    return Assignment(*map(to_numpy, found)), to_numpy(embedding)


def score_rows(fitted: FittedClusters, X: np.ndarray, jobs: int = 1) -> np.ndarray:
    """Compute how unusual the rows of a block (n_samples, n_features) are, on the host."""
    if len(X) == 0:
        return np.empty(0, dtype=fitted.kernel.dtype)
    table = standardise_at_home(X, fitted.kernel.scaling, fitted.kernel.dtype)
    return to_numpy(outlier_score(fitted.kernel, table, jobs))


def label_blocks(fitted: FittedClusters, rows: BlockedRows) -> Assignment:
    """Label the rows of all blocks, when they are asked for."""
    return Assignment(*rows.arrays(_labels_of, fitted, _kinds(fitted)[:2]))


def embed_blocks(fitted: FittedClusters, rows: BlockedRows) -> Array:
    """Embed the rows of all blocks, when they are asked for."""
    return rows.arrays(_embedding_of, fitted, _kinds(fitted)[2:])[0]


def memberships_of_blocks(fitted: FittedClusters, rows: BlockedRows) -> Array:
    """Compute the memberships of the rows of all blocks, when they are asked for."""
    return rows.arrays(_memberships_of, fitted, _kinds(fitted)[2:])[0]


def silhouettes_of_blocks(fitted: FittedClusters, rows: BlockedRows) -> Array:
    """Compute the silhouettes of the rows of all blocks, when they are asked for."""
    return rows.arrays(_silhouettes_of, fitted, _kinds(fitted)[1:2])[0]


def outlier_score_of_blocks(fitted: FittedClusters, rows: BlockedRows) -> Array:
    """Compute how unusual the rows of all blocks are, when they are asked for."""
    return rows.arrays(_outlier_score_of, fitted, _kinds(fitted)[1:2])[0]


def place_blocks(fitted: FittedClusters, rows: BlockedRows) -> tuple[Array, Array, Array]:
    """Give labels, confidence and coordinates of the rows of all blocks, when asked for."""
    labels, confidence, embedding = rows.arrays(_all_of, fitted, _kinds(fitted))
    return labels, confidence, embedding


def _kinds(fitted: FittedClusters) -> tuple[BlockResult, ...]:
    """Return the dtypes of a row's label, confidence and coordinates."""
    dtype = fitted.kernel.dtype
    return (
        BlockResult("int64", None),
        BlockResult(dtype, None),
        BlockResult(dtype, fitted.centers.shape[1]),
    )


def _labels_of(fitted: FittedClusters, X: np.ndarray) -> tuple[Array, ...]:
    """Label a block of rows."""
    return tuple(place_rows(fitted, X)[0])


def _embedding_of(fitted: FittedClusters, X: np.ndarray) -> tuple[np.ndarray, ...]:
    """Embed a block of rows."""
    return (place_rows(fitted, X)[1],)


def _memberships_of(fitted: FittedClusters, X: np.ndarray) -> tuple[Array, ...]:
    """Compute the memberships of a block of rows."""
    if len(X) == 0:
        return (np.empty((0, fitted.centers.shape[0]), dtype=fitted.kernel.dtype),)
    table = standardise_at_home(X, fitted.kernel.scaling, fitted.kernel.dtype)
    return (to_numpy(memberships(fitted, table)),)


def _silhouettes_of(fitted: FittedClusters, X: np.ndarray) -> tuple[Array, ...]:
    """Compute the silhouettes of a block of rows."""
    if len(X) == 0:
        return (np.empty(0, dtype=fitted.kernel.dtype),)
    table = standardise_at_home(X, fitted.kernel.scaling, fitted.kernel.dtype)
    return (to_numpy(silhouettes(fitted, table)),)


def _outlier_score_of(fitted: FittedClusters, X: np.ndarray) -> tuple[Array, ...]:
    """Compute how unusual the rows of a block are."""
    return (score_rows(fitted, X),)


def _all_of(fitted: FittedClusters, X: np.ndarray) -> tuple[Array, ...]:
    """Label and embed a block of rows."""
    found, embedding = place_rows(fitted, X)
    return (*found, embedding)
