"""How the clusters of one number lie within those of a smaller one."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.markup import html_table
from pckid._utils.text import counted


class NestedCluster(NamedTuple):
    """One cluster of one number of clusters, and where its rows come from.

    Attributes
    ----------
    n_clusters : int
        Of how many clusters it is one.
    number : int
    n_rows : int
    parent : int or None
        The cluster, with one cluster less, that holds most of its rows; None at the first number.
    share : float
        Share of its rows that come from there.
    """

    n_clusters: int
    number: int
    n_rows: int
    parent: int | None
    share: float


class Nesting(NamedTuple):
    """How the clusters of each number divide those of the number before.

    Attributes
    ----------
    clusters : list of NestedCluster
        By number of clusters, then by their own numbers.
    rows : ndarray of shape (n_rows,)
        The rows of the table that were looked at.
    labels : ndarray of shape (n_levels, n_rows)
        Their clusters, for each number of clusters.
    """

    clusters: list[NestedCluster]
    rows: np.ndarray
    labels: np.ndarray

    def records(self) -> list[dict[str, Any]]:
        """One dict for each cluster, as `pandas.DataFrame` and others take them."""
        return [cluster._asdict() for cluster in self.clusters]

    def to_frame(self) -> Any:
        """Return the tree as a pandas data frame, one row for each cluster."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def __str__(self) -> str:
        """Draw the tree, each cluster below the one that most of its rows come from."""
        roots = [cluster for cluster in self.clusters if cluster.parent is None]
        return "\n".join(line for root in roots for line in self._draw_branch(root))

    def _draw_branch(self, cluster: NestedCluster, indent: str = "") -> Iterator[str]:
        """Write a line for a cluster, and those of what it divides into."""
        part = "" if cluster.parent is None else f", {cluster.share:.0%} from there"
        name = f"k={cluster.n_clusters}: cluster {cluster.number}"
        yield f"{indent}{name} ({counted(cluster.n_rows, 'row')}{part})"
        below = cluster.n_clusters + 1, cluster.number
        for other in self.clusters:
            if (other.n_clusters, other.parent) == below:
                yield from self._draw_branch(other, indent + "  ")

    def _repr_html_(self) -> str:
        """Show the tree as a table in a notebook."""
        names = ("clusters", "number", "rows", "mostly from", "share from there")
        return html_table(names, self.clusters)


def nest(labels: Sequence[np.ndarray], first: int = 2) -> list[NestedCluster]:
    """Find, for each cluster, the cluster of the level before that holds most of its rows.

    Levels (n_rows,) each have one cluster more, the first one `first` of them, numbered from 0.
    Clusters without rows are left out.
    """
    found = []
    for level, mine in enumerate(labels):
        n_clusters = level + first
        for number in range(n_clusters):
            inside = mine == number
            if not inside.any():
                continue
            size, parent, share = int(inside.sum()), None, 1.0
            if level > 0:
                counts = np.bincount(labels[level - 1][inside])
                parent, share = int(counts.argmax()), float(counts.max() / size)
            found.append(NestedCluster(n_clusters, number, size, parent, share))
    return found
