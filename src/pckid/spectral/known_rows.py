"""Rows whose group is known: they hold the centres of their clusters in a wider embedding.

Known groups are often finer or coarser than what the k leading eigenvectors show, so that the
centres are sought among four times as many coordinates. What tells centres apart lies in the span
of these, so that k coordinates are enough again once they are found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, to_numpy
from pckid.spectral.kmeans import Anchors

_WIDER = 4


class KnownRows(NamedTuple):
    """Rows whose group is known."""

    features: Array  # (n_columns, n_known), Φᵀ
    groups: np.ndarray  # (n_known,), from 0

    def anchors(self, points: Array, n_clusters: int) -> Anchors:
        """Sum the coordinates of the known rows (n_known, n_coordinates) by cluster."""
        xp = namespace(points)
        numbers = xp.arange(n_clusters, dtype=xp.int64, device=device_of(points))[:, None]
        groups = asarray_like(self.groups, points, dtype=xp.int64)
        own = xp.astype(groups == numbers, points.dtype)
        return Anchors(own @ points, xp.sum(own, axis=1, keepdims=True))


def n_coordinates(n_clusters: int, n_rows: int) -> int:
    """Return the number of coordinates among which centres are sought."""
    return min(_WIDER * n_clusters, n_rows)


def span_of_centers(centers: Array) -> Array:
    """Find orthonormal axes (n_coordinates, n_clusters) that span the centres."""
    axes = np.linalg.svd(to_numpy(centers).astype(np.float64), full_matrices=False)[2]
    largest = np.abs(axes).argmax(axis=1)
    axes *= np.sign(axes[np.arange(len(axes)), largest])[:, None]
    return asarray_like(axes.T, centers, dtype=centers.dtype)
