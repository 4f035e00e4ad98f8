"""A gap that finer clusters hide: between groups that fewer clusters show.

Where two kinds of rows differ, and rows of both change along a continuum beside, clusters cut the
continuum as well, and each pair of them may touch. So where the clusters show no gap, those of each
smaller number are looked at, by a stricter level, as there are several numbers. More clusters than
were asked for are not looked at: pieces of continua have gaps too often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pckid.significance.gaps import Gaps, find_gaps
from pckid.significance.levels import Levels
from pckid.significance.units import Units

MAX_COARSER = 12  # clusters: more of them cut a continuum finely, and there are many pairs
_MIN_SHARE = 0.9
# Divides rows (n_rows,) into each number of clusters, labels (n_rows,) from 0.
Divide = Callable[[Sequence[int]], list[np.ndarray]]


class CoarserGaps(NamedTuple):
    """A division into fewer clusters that shows gaps, where the clusters themselves show none."""

    n_clusters: int  # of the coarser division
    gaps: Gaps  # between its clusters
    # (n_clusters of the model,), from 0: the group in which most rows of a cluster are
    groups: np.ndarray
    share: float  # of the rows that are in the group of their cluster

    @property
    def are_divided(self) -> bool:
        """Whether the clusters divide these groups, and do not lie across them."""
        has_each = len(np.unique(self.groups)) == self.gaps.n_separated
        return has_each and self.share >= _MIN_SHARE


class Separation(NamedTuple):
    """The gaps between clusters, or else between fewer clusters that these divide."""

    gaps: Gaps
    coarser: CoarserGaps | None = None

    @property
    def n_separated(self) -> int:
        """The number of groups with gaps between them."""
        return int(self.groups.max()) + 1

    @property
    def groups(self) -> np.ndarray:
        """The group of each cluster (n_clusters,), from 0."""
        if self.coarser is not None and self.coarser.are_divided:
            return self.coarser.groups
        return self.gaps.groups


def find_coarser_gaps(
    units: Units,
    labels: np.ndarray,
    divide: Divide,
    entropy: int,
    n_clusters: int,
    levels: Levels,
) -> CoarserGaps | None:
    """Look for gaps between fewer clusters than the `n_clusters` of labels (n_samples,).

    Of the numbers from 2 on that show some, one whose groups the clusters divide; of these that of
    most groups, and then the smallest.
    """
    if n_clusters <= 2:
        return None
    levels = levels.in_coarser_divisions()
    numbers, best, highest = range(2, min(n_clusters, MAX_COARSER + 1)), None, (False, 1)
    for number, division in zip(numbers, divide(numbers), strict=True):
        found = find_gaps(units, division, entropy, number, levels, only_if_separated=True)
        counts = np.zeros((n_clusters, found.n_separated))
        np.add.at(counts, (labels, found.groups[division]), 1)
        share = float(counts.max(axis=1).sum() / counts.sum())
        coarser = CoarserGaps(number, found, counts.argmax(axis=1), share)
        rank = coarser.are_divided, found.n_separated
        if rank > highest and found.n_separated > 1:
            best, highest = coarser, rank
    return best
