"""The sentence that a report opens with."""

from __future__ import annotations

from pckid.explanation import Explanation


def verdict(explained: Explanation) -> str:
    """Say in one sentence how far the clusters can be trusted.

    Parameters
    ----------
    explained : Explanation

    Returns
    -------
    sentence : str
    """
    n_clusters = sum(cluster.n_rows > 0 for cluster in explained.clusters)
    if n_clusters < 2:
        return "All rows are in one cluster: there is nothing to compare it with."
    if explained.agreement is None:
        return f"{n_clusters} clusters, of which one start cannot say how stable they are."
    found = "stable" if explained.agreement >= 0.95 else "partly stable"
    found = "not stable" if explained.agreement < 0.8 else found
    return (
        f"The {n_clusters} clusters are {found}: two halves of the computation, each by itself, "
        f"agree on {100 * explained.agreement:.0f} % of the rows."
    )
