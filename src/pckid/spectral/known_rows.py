"""Rows whose group is known: they name clusters, or hold their centres in a wider embedding.

Where the clusters that there would be without known rows put each of these into its own group, they
are only named: nothing asks for others. And clear clusters, whose rows lie close to their centres,
are not broken for the sake of a single known row.

Else known rows hold the centres. Known labels are often finer or coarser than what the k leading
eigenvectors show, so that the centres are sought among four times as many coordinates. What tells
centres apart lies in the span of these, so that k coordinates are enough again once they are found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, take_along, to_numpy
from pckid.spectral.kmeans import MEMBERS_COUNT, Anchors, Clusters, distances_to, kmeans, nearest

_WIDER = 4
# Clusters are clear if rows are on average so much closer to their centre than to the next one, as
# in `PCKID.score`. Clear ones are broken only if so many more known rows are then right.
_CLEAR, _MANY_ROWS = 0.95, 2


class KnownRows(NamedTuple):
    """Rows whose group is known."""

    features: Array  # (n_columns, n_known), Φᵀ
    labels: np.ndarray  # (n_known,), from 0

    def anchors(self, points: Array, n_clusters: int) -> Anchors:
        """Sum the coordinates of the known rows (n_known, n_coordinates) by cluster."""
        xp = namespace(points)
        numbers = xp.arange(n_clusters, dtype=xp.int64, device=device_of(points))[:, None]
        labels = asarray_like(self.labels, points, dtype=xp.int64)
        own = xp.astype(labels == numbers, points.dtype)
        return Anchors(own @ points, xp.sum(own, axis=1, keepdims=True))

    def find_clusters(
        self, points: Array, own: Array, n_clusters: int, how: dict[str, Any]
    ) -> tuple[Clusters, bool]:
        """Find clusters without these rows, or held by them where these do not agree.

        Of the rows of a table, `points` (n_samples, n_coordinates) are the coordinates, and of the
        known rows `own` (n_known, n_coordinates); `how` are parameters of `kmeans`. Returns the
        clusters, those of the known labels first, and whether known rows hold their centres; if not
        they are found by the first `n_clusters` coordinates.
        """
        found = kmeans(points, n_clusters, anchors=self.anchors(own, n_clusters), **how)
        centers, rows = to_numpy(found.centers), to_numpy(own)
        judged = distances_without_self(centers, rows, self.labels).argmin(axis=0)
        n_held = int((judged == self.labels).sum())
        near = points[:, :n_clusters]
        free = kmeans(near, n_clusters, **how)
        named, n_free = name_centers(free.centers, own[:, :n_clusters], self.labels)
        kept = n_free == len(self.labels)
        if not kept and n_held - n_free < _MANY_ROWS and n_clusters > 1:
            first, second = np.sort(to_numpy(distances_to(near, free.centers)), axis=0)[:2]
            kept = 1 - float(np.mean(first / np.where(second > 0, second, 1.0))) > _CLEAR
        return (free._replace(centers=named), False) if kept else (found, True)


def n_coordinates(n_clusters: int, n_rows: int) -> int:
    """Return the number of coordinates among which centres are sought."""
    return min(_WIDER * n_clusters, n_rows)


def name_centers(centers: Array, points: Array, labels: np.ndarray) -> tuple[Array, int]:
    """Put the centres of known labels first, in their order; and count the rows that agree.

    Centres (k, d) that known rows had no part in are named so that as many known rows as possible,
    at `points` (n_known, d), are nearest to that of their own of the `labels` (n_known,), from 0.
    """
    nearest_ones = to_numpy(nearest(points, centers[None, ...])[0, :])
    counts = np.zeros((int(labels.max()) + 1, centers.shape[0]))
    np.add.at(counts, (labels, nearest_ones), 1.0)
    own = linear_sum_assignment(counts, maximize=True)[1]
    order = np.concatenate([own, np.setdiff1d(np.arange(centers.shape[0]), own)])
    named = take_along(centers, asarray_like(order, centers))
    return named, int((own[labels] == nearest_ones).sum())


def distances_without_self(centers: np.ndarray, points: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Measure how far known rows (n_known, d) are from centres (k, d) that they hold: (k, n_known).

    A known row holds the centre of its cluster, `own` (n_known,), near itself. Without it, the
    centre of a cluster with m known rows is (m + 2) / (m + 1) times as far, see `kmeans.lloyd`.
    """
    distances = to_numpy(distances_to(points.astype(np.float64), centers.astype(np.float64)))
    held = np.bincount(own)[own] + MEMBERS_COUNT
    distances[own, np.arange(len(own))] *= held / (held - 1)
    return distances


def span_of_centers(centers: Array) -> Array:
    """Find orthonormal axes (n_coordinates, n_clusters) that span the centres."""
    axes = np.linalg.svd(to_numpy(centers).astype(np.float64), full_matrices=False)[2]
    largest = np.abs(axes).argmax(axis=1)
    axes *= np.sign(axes[np.arange(len(axes)), largest])[:, None]
    return asarray_like(axes.T, centers, dtype=centers.dtype)
