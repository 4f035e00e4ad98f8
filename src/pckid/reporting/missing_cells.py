"""Whether the clusters follow the holes of the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pckid.inspection.clusters import HoleLink, hole_links
from pckid.inspection.columns import missing_patterns
from pckid.inspection.missingness import HoleInformation, hole_information

WARN_STRENGTH = 0.3
"""Cramér's V between a column's holes and the clusters from which on a reader is warned."""

MAX_PATTERNS = 10
MAX_LINKS = 5


@dataclass(frozen=True)
class PatternRow:
    """One pattern of missing cells: which columns, and its rows in each cluster."""

    missing: list[str]
    n_more: int
    counts: list[int]
    n_unclustered: int

    @property
    def n_rows(self) -> int:
        """Rows with this pattern."""
        return sum(self.counts) + self.n_unclustered


@dataclass(frozen=True)
class Holes:
    """Patterns of missing cells against clusters.

    Attributes
    ----------
    n_patterns : int
    patterns : list of PatternRow
        The commonest.
    links : list of (name, HoleLink)
        The columns whose holes go most with the clusters.
    follow : list of str
        Columns for which that is strong enough for a warning.
    information : HoleInformation
        How much all missing cells together say about the clusters, compared with chance.
    """

    n_patterns: int
    patterns: list[PatternRow]
    links: list[tuple[str, HoleLink]]
    follow: list[str]
    information: HoleInformation


def summarise_holes(observed: np.ndarray, labels: np.ndarray, names: list[str]) -> Holes:
    """Set patterns of missing cells against clusters.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_features), bool
    labels : ndarray of shape (n_samples,)
    names : list of str

    Returns
    -------
    holes : Holes
    """
    patterns = missing_patterns(observed)
    n_clusters = int(labels.max(initial=-1)) + 1
    rows = []
    for index in range(min(MAX_PATTERNS, len(patterns.counts))):
        inside = labels[patterns.row_pattern == index]
        counts = np.bincount(inside[inside >= 0], minlength=n_clusters).tolist()
        missing = [names[j] for j in np.flatnonzero(~patterns.observed[index])]
        rows.append(
            PatternRow(missing[:5], max(len(missing) - 5, 0), counts, int((inside < 0).sum()))
        )
    links = [(names[link.feature], link) for link in hole_links(observed, labels)]
    shown = [(name, link) for name, link in links[:MAX_LINKS] if link.strength > 0]
    follow = [name for name, link in links if link.strength >= WARN_STRENGTH]
    information = hole_information(observed, labels)
    return Holes(len(patterns.counts), rows, shown, follow, information)
