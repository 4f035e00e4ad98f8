"""A tree of clusters: which join first, the more alike they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from pckid._utils.markup import html_table


class Join(NamedTuple):
    """Two parts of the tree that become one.

    Attributes
    ----------
    first, second : tuple of int
        The clusters of each part.
    likeness : float
        How alike the parts are, from 0 to 1.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    likeness: float


class ClusterTree(NamedTuple):
    """Which clusters lie close.

    Attributes
    ----------
    joins : list of Join
        From the most alike to the least, one less than there are clusters.
    likeness : ndarray of shape (n_clusters, n_clusters)
        How alike each two clusters are: 1 for a cluster and itself.
    names : list of str
        How the clusters are called.
    """

    joins: list[Join]
    likeness: np.ndarray
    names: list[str]

    def cut(self, n_classes: int) -> list[list[int]]:
        """Join clusters until so many classes are left.

        Parameters
        ----------
        n_classes : int

        Returns
        -------
        groups : list of list of int
            The clusters of each class, for `PCKID.merge`.
        """
        k = len(self.likeness)
        if not 1 <= n_classes <= k:
            raise ValueError(f"n_classes is {n_classes}. Give a number from 1 to {k}.")
        groups: set[tuple[int, ...]] = {(cluster,) for cluster in range(k)}
        for first, second, _ in self.joins[: k - n_classes]:
            groups = groups - {first, second} | {tuple(sorted(first + second))}
        return sorted(map(list, groups))

    def records(self) -> list[dict[str, Any]]:
        """One dict for each join, as `pandas.DataFrame` and others take them."""
        return [join._asdict() for join in self.joins]

    def __str__(self) -> str:
        """Write a line for each join: how alike, and which."""
        return "\n".join(f"{j.likeness:.2f}  {self._write(j.first)} and {self._write(j.second)}"
                         for j in self.joins)  # fmt: skip

    def _write(self, clusters: tuple[int, ...]) -> str:
        return "+".join(self.names[cluster] for cluster in clusters)

    def _repr_html_(self) -> str:
        """Show the joins as a table in a notebook."""
        rows = [(self._write(j.first), self._write(j.second), j.likeness) for j in self.joins]
        return html_table(("first", "second", "likeness"), rows)


def grow_tree(kernel: np.ndarray, names: Sequence[str | None]) -> ClusterTree:
    """Join clusters by average linkage, by the mean kernel between them (n_clusters, n_clusters).

    A cluster of no rows is like no other.
    """
    within = np.sqrt(np.maximum(np.diag(kernel), 1e-12))
    likeness = np.clip((kernel + kernel.T) / 2 / np.outer(within, within), 0, 1)
    np.fill_diagonal(likeness, 1.0)
    parts: list[tuple[int, ...]] = [(cluster,) for cluster in range(len(likeness))]
    joins = []
    if len(parts) > 1:
        for a, b, distance, _ in linkage(squareform(1 - likeness, checks=False), "average"):
            first, second = sorted((parts[int(a)], parts[int(b)]))
            joins.append(Join(first, second, 1 - float(distance)))
            parts.append(tuple(sorted(first + second)))
    titles = [name or str(number) for number, name in enumerate(names)]
    return ClusterTree(joins, likeness, titles)
