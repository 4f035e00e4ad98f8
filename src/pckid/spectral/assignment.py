"""From coordinates to clusters: the nearest centre of each row, and how clearly it is that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, at_least, device_of, namespace, to_numpy
from pckid.ensemble.feature_map import Kernel, Projection, project
from pckid.input.reading import standardise_at_home
from pckid.input.table import Table
from pckid.outofcore import BlockedRows
from pckid.outofcore.rows import Kind
from pckid.spectral.kmeans import distances_to, first_of_nearest


class Assignment(NamedTuple):
    """Rows and the clusters they belong to."""

    labels: Array  # (n_samples,), −1 for a row with nothing observed
    confidence: Array  # (n_samples,), 1 − nearest / second nearest distance to a centre


class Fitted(NamedTuple):
    """All that rows need to find their clusters; it travels to where blocks of them are."""

    kernel: Kernel
    projection: Projection
    centers: Array


def assign(embedding: Array, centers: Array, table: Table) -> Assignment:
    """Find the nearest centre of each row, and how clearly it is the nearest.

    Of centres equally near up to rounding the first is taken, so that a row gets the same label
    in whatever order its coordinates were summed.
    """
    xp = namespace(embedding)
    distances = distances_to(embedding, centers)
    labels, rounding = first_of_nearest(distances, centers)
    index = xp.arange(centers.shape[0], dtype=labels.dtype, device=device_of(embedding))
    own = labels == index[:, None]
    first = xp.sum(xp.where(own, distances, 0.0), axis=0)
    second = xp.min(xp.where(own, xp.inf, distances), axis=0)
    apart = second > rounding
    confidence = xp.where(apart, 1 - first / xp.where(apart, second, 1.0), 0.0)
    empty = ~xp.any(table.observed, axis=1)
    confidence = xp.where(empty, 0.0, at_least(confidence, 0.0))
    return Assignment(xp.where(empty, -1, labels), confidence)


def place_rows(fitted: Fitted, X: np.ndarray, jobs: int = 1) -> tuple[Assignment, np.ndarray]:
    """Find the clusters and coordinates of a block of rows (n_samples, n_features), on the host."""
    if len(X) == 0:
        none = np.empty((0, fitted.centers.shape[0]), dtype=fitted.kernel.dtype)
        return Assignment(np.empty(0, np.int64), none[:, 0]), none
    table = standardise_at_home(X, fitted.kernel.scaling, fitted.kernel.dtype)
    embedding = project(fitted.kernel, fitted.projection, table, jobs)
    found = assign(embedding, fitted.centers, table)
    return Assignment(*map(to_numpy, found)), to_numpy(embedding)


def label_blocks(fitted: Fitted, rows: BlockedRows) -> Assignment:
    """Label the rows of all blocks, when they are asked for."""
    return Assignment(*rows.arrays(_labels_of, fitted, _kinds(fitted)[:2]))


def embed_blocks(fitted: Fitted, rows: BlockedRows) -> Array:
    """Embed the rows of all blocks, when they are asked for."""
    return rows.arrays(_embedding_of, fitted, _kinds(fitted)[2:])[0]


def place_blocks(fitted: Fitted, rows: BlockedRows) -> tuple[Array, Array, Array]:
    """Give labels, confidence and coordinates of the rows of all blocks, when asked for."""
    labels, confidence, embedding = rows.arrays(_all_of, fitted, _kinds(fitted))
    return labels, confidence, embedding


def _kinds(fitted: Fitted) -> tuple[Kind, ...]:
    """Say what a row's label, confidence and coordinates are."""
    dtype = fitted.kernel.dtype
    return Kind("int64", None), Kind(dtype, None), Kind(dtype, fitted.centers.shape[1])


def _labels_of(fitted: Fitted, X: np.ndarray) -> tuple[Array, ...]:
    """Label a block of rows."""
    return tuple(place_rows(fitted, X)[0])


def _embedding_of(fitted: Fitted, X: np.ndarray) -> tuple[np.ndarray, ...]:
    """Embed a block of rows."""
    return (place_rows(fitted, X)[1],)


def _all_of(fitted: Fitted, X: np.ndarray) -> tuple[Array, ...]:
    """Label and embed a block of rows."""
    found, embedding = place_rows(fitted, X)
    return (*found, embedding)
