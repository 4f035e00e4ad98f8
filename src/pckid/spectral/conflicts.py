"""Known rows beside what the table says of them: which agree, which it puts elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid.input.known import KnownMembers
from pckid.spectral.assignment import FittedClusters
from pckid.spectral.chances import membership
from pckid.spectral.known_rows import distances_without_self

# A known row is in conflict if its own cluster has at most this membership, divided by the number
# of the others: about a tenth of what these have on average, whichever of them leads.
_LOW = 0.1


class KnownGroup(NamedTuple):
    """A known group, and how many of its known rows the table puts into its cluster.

    Attributes
    ----------
    name : str
    cluster : int
        The number of its cluster in `labels_`.
    n_rows : int
        How many rows were known to belong to it.
    n_agreeing : int
        How many of them lie nearest to this cluster, each judged without itself.
    n_compared : int
        How many of them were judged: those with something observed, of at most 10,000.
    """

    name: str
    cluster: int
    n_rows: int
    n_agreeing: int
    n_compared: int


class Conflict(NamedTuple):
    """A known row that the table puts elsewhere: it hardly belongs to the cluster of its group.

    Its membership there, judged without the row itself, is at most 0.1 divided by the number of
    other clusters.

    Attributes
    ----------
    row : int
        Its place in the table, from 0.
    group : str
        The group that was given.
    cluster : int
        The cluster that it looks like most.
    confidence : float
        Its membership in that cluster, judged without the row itself.
    """

    row: int
    group: str
    cluster: int
    confidence: float


def find_conflicts(
    known: KnownMembers, clusters: np.ndarray, points: np.ndarray, fitted: FittedClusters
) -> tuple[list[KnownGroup], list[Conflict]]:
    """Compare known rows with the clusters that the table would put them into.

    The clusters (n_groups,) are those of the groups, the points (n_known, n_clusters) the known
    rows' coordinates; each row has something observed.
    """
    numbers, names = known.labels, known.names
    own, each = clusters[numbers], np.arange(len(numbers))
    distances = distances_without_self(to_numpy(fitted.centers), points, own)
    compared = np.bincount(numbers)
    chances = to_numpy(membership(distances, fitted.inverse_temperature))
    nearest, sure = chances.argmax(axis=0), chances.max(axis=0)
    conflicts = [
        Conflict(int(known.rows[i]), known.known[i], int(nearest[i]), float(sure[i]))
        for i in np.flatnonzero(chances[own, each] <= _LOW / max(len(chances) - 1, 1))
    ]
    agreeing = np.bincount(numbers[nearest == own], minlength=len(names))
    groups = [
        KnownGroup(name, int(clusters[i]), known.counts[name], int(agreeing[i]), int(compared[i]))
        for i, name in enumerate(names)
    ]
    return groups, conflicts
