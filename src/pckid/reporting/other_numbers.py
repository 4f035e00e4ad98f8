"""Who would be together in one cluster less, or one more, than the report describes."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pckid.describe.clusters import name_differences
from pckid.describe.descriptions import Forms, Trait, describe_cluster
from pckid.describe.rows import own_labels

# A cluster that gives a smaller share of another one's rows is not named.
_NAMED_SHARE = 0.1


class OtherCluster(NamedTuple):
    """A cluster of another number of clusters."""

    number: int
    sign: int  # the report's cluster whose rows it keeps, with its sign and colour, or a new one
    n_rows: int
    share: float
    sources: list[tuple[int, float]]  # clusters of the report that its rows are from, and shares
    gist: list[Trait]


class OtherNumber(NamedTuple):
    """The clusters of another number of clusters, and the sign of each row there."""

    clusters: list[OtherCluster]
    signs: np.ndarray  # (n_samples,), −1 for rows without a cluster


def find_other_numbers(
    estimator: Any, values: np.ndarray, forms: Forms, *, has_groups: bool = True
) -> list[OtherNumber]:
    """Cluster the rows of a fit into one cluster less, not below two, and into one more.

    Nothing is found for a single cluster, where rows had weights or known groups, and for a number
    with too few rows. `values` are those of all rows (n_samples, n_features), and `forms` says how
    they are written. Nothing sets clusters apart where the table has no clear groups
    (`has_groups`).
    """
    n_clusters, labels = estimator.n_clusters_, own_labels(estimator)
    weighted = getattr(estimator, "_weighted", True) or hasattr(estimator, "known_groups_")
    if n_clusters == 1 or weighted:
        return []
    rows = np.flatnonzero(labels >= 0)
    n_distinct = len(np.unique(np.nan_to_num(values[rows], nan=np.inf), axis=0))
    numbers = [k for k in (n_clusters - 1, n_clusters + 1) if 2 <= k <= n_distinct]
    if not numbers:
        return []
    found = []
    for number, own in zip(numbers, estimator._recluster(values[rows], numbers), strict=True):
        others = np.full(len(labels), -1)
        others[rows] = own
        if len(np.unique(own)) == number:
            found.append(_describe(estimator, values, labels, others, forms, has_groups))
    return found


def _describe(
    estimator: Any,
    values: np.ndarray,
    labels: np.ndarray,
    others: np.ndarray,
    forms: Forms,
    has_groups: bool,
) -> OtherNumber:
    """Describe the clusters of labels (n_samples,), and compare them with those of the report."""
    rows, number = np.flatnonzero(others >= 0), int(others.max()) + 1
    counts = np.zeros((number, estimator.n_clusters_), dtype=int)
    np.add.at(counts, (others[rows], labels[rows]), 1)
    signs = np.full(number, -1)
    kept, matched = linear_sum_assignment(-counts)
    signs[kept] = matched
    signs[signs < 0] = np.arange(counts.shape[1], counts.shape[1] + int((signs < 0).sum()))
    clusters = []
    for cluster, (features, near) in enumerate(name_differences(estimator, values, others)):
        n_rows = int(counts[cluster].sum())
        order = np.argsort(-counts[cluster], kind="stable").tolist()
        shares = [(source, float(counts[cluster, source] / n_rows)) for source in order]
        sources = shares[:1] + [each for each in shares[1:] if each[1] >= _NAMED_SHARE]
        gist = describe_cluster(features, number, forms, near, has_groups=has_groups).gist
        clusters.append(
            OtherCluster(cluster, int(signs[cluster]), n_rows, n_rows / len(rows), sources, gist)
        )
    return OtherNumber(clusters, np.append(signs, -1)[others])
