"""Names of clusters within a sentence."""

from collections.abc import Sequence

from pckid._utils.text import join_words

Names = Sequence[str | None]  # of all clusters, or none at all


def name_each(names: Names, clusters: Sequence[int]) -> list[str]:
    """Name clusters, by numbers if none has a name: ["0", "2"], ["new", "cluster 2"]."""
    return [names[c] or f"cluster {c}" if any(names) else str(c) for c in clusters]


def list_clusters(names: Names, clusters: Sequence[int]) -> str:
    """List clusters in one phrase: "clusters 0 and 2", "new and loyal"."""
    listed = join_words(name_each(names, clusters))
    return listed if any(names) else f"cluster{'s' * (len(clusters) > 1)} {listed}"


def begin_with(names: Names, clusters: Sequence[int]) -> str:
    """Name clusters at the start of a sentence."""
    named = list_clusters(names, clusters)
    return f"C{named[1:]}" if named.startswith("cluster") else named
