"""Rows whose group is known: they name clusters, or move their centres in a wider embedding.

Where the clusters that there would be without known rows put each of these into its own group, they
are only named: nothing asks for others.

Else known rows hold the centres. Known labels are often finer or coarser than what the k leading
eigenvectors show, so that the centres are sought among four times as many coordinates. What tells
centres apart lies in the span of these, so that k coordinates are enough again once they are found.

A few known rows may be unlike their groups, and centres that they hold then worse than none. So the
centres go all the way only if known rows, each judged without itself, are right more often there;
else they stop halfway from the clusters without known rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, take_along, to_numpy
from pckid.spectral.chances import USUAL, membership
from pckid.spectral.kmeans import (
    MEMBERS_COUNT,
    Anchors,
    Clusters,
    distances_to,
    inertia,
    kmeans,
    means_of,
    nearest,
)

_WIDER = 4
# Centres that known rows hold are kept as they are if so many more of these are then right.
_MANY_ROWS = 2


class FoundClusters(NamedTuple):
    """Clusters with those of the known labels first."""

    clusters: Clusters
    anchors: Anchors | None  # where known rows hold the centres
    is_wide: bool  # whether centres have all coordinates; else the first of them, one a cluster


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
    ) -> FoundClusters:
        """Find clusters without these rows, or moved by them where these do not agree.

        Of the rows of a table, `points` (n_samples, n_coordinates) are the coordinates, and of the
        known rows `own` (n_known, n_coordinates); `how` are parameters of `kmeans`.
        """
        xp, anchors = namespace(points), self.anchors(own, n_clusters)
        held = kmeans(points, n_clusters, anchors=anchors, **how)
        near, weights = points[:, :n_clusters], how.get("weights")
        free = kmeans(near, n_clusters, **how)
        named, nearest_ones = name_centers(free.centers, own[:, :n_clusters], self.labels)
        free_right = nearest_ones == self.labels
        if free_right.all():
            return FoundClusters(free._replace(centers=named), None, is_wide=False)
        judged = distances_without_self(to_numpy(held.centers), to_numpy(own), self.labels)
        held_right = judged.argmin(axis=0) == self.labels
        labels = nearest(near, named[None, ...])
        each = None if weights is None else to_numpy(weights)
        sizes = np.bincount(to_numpy(labels[0, :]), each, minlength=n_clusters)
        if gains(free_right, held_right, self.labels, sizes):
            return FoundClusters(held, anchors, is_wide=True)
        middles = means_of(points, n_clusters, weights)(labels, held.centers[None, ...])
        between = (middles + held.centers[None, ...]) / 2
        cost = float(to_numpy(inertia(points, between, weights))[0])
        between = xp.reshape(between, held.centers.shape)
        return FoundClusters(Clusters(between, cost), None, is_wide=True)


def gains(
    free_right: np.ndarray, held_right: np.ndarray, labels: np.ndarray, sizes: np.ndarray
) -> bool:
    """Whether known rows are right more often in clusters that they hold than in free ones.

    At least two more of them are right, and their shares by label, each weighted by the `sizes`
    (n_clusters,) of the free clusters, rise: as many rows may be known of a rare label as of a
    common one, and be right at the cost of all other rows of the latter.

    Parameters
    ----------
    free_right, held_right : ndarray of shape (n_known,)
        Whether each known row lies in the cluster of its label.
    labels : ndarray of shape (n_known,)
        From 0.
    sizes : ndarray of shape (n_clusters,)
        How many rows the free clusters have, those of the labels first.
    """
    more = held_right.astype(np.int64) - free_right
    rise = np.bincount(labels, more) / np.bincount(labels) @ sizes[: labels.max() + 1]
    return int(more.sum()) >= _MANY_ROWS and bool(rise > 0)


def n_coordinates(n_clusters: int, n_rows: int) -> int:
    """Return the number of coordinates among which centres are sought."""
    return min(_WIDER * n_clusters, n_rows)


def name_centers(centers: Array, points: Array, labels: np.ndarray) -> tuple[Array, np.ndarray]:
    """Put the centres of known labels first, in their order; and find those nearest to the rows.

    Centres (k, d) that known rows had no part in are named so that the memberships of known rows,
    at `points` (n_known, d), in the cluster of their own of the `labels` (n_known,), from 0, add up
    to the most. Counts of the nearest rows would leave ties where few are known.
    """
    distances = to_numpy(distances_to(points, centers))
    memberships = np.zeros((int(labels.max()) + 1, centers.shape[0]))
    np.add.at(memberships, labels, to_numpy(membership(distances, USUAL)).T)
    own = linear_sum_assignment(memberships, maximize=True)[1]
    order = np.concatenate([own, np.setdiff1d(np.arange(centers.shape[0]), own)])
    named = take_along(centers, asarray_like(order, centers))
    return named, np.argsort(order)[distances.argmin(axis=0)]


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
