"""How well clusters agree with known classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

__all__ = ["clustering_accuracy"]


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Compute the share of rows in the right cluster, under the best naming of the clusters.

    Clusters have no names of their own, so each is matched to at most one class and each class to
    at most one cluster, such that the most rows agree (Hungarian algorithm). With M the matching,

        ACC = max_M  (1/n) Σ_i δ{ y_i = M(ŷ_i) }.

    There may be more clusters than classes or fewer; the rows of what is left unmatched count as
    errors. So do rows of cluster −1, which stands for "not clustered" (nothing observed in that
    row, or noise): it is never matched to a class. In `y_true`, −1 is a class like any other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The known classes: numbers, strings or any labels that can be sorted.
    y_pred : array-like of shape (n_samples,)
        The clusters found; their labels need not be those of the classes.

    Returns
    -------
    float
        From 0 to 1; 1 if clusters and classes are the same up to their names.

    Examples
    --------
    >>> from pckid.metrics import clustering_accuracy
    >>> clustering_accuracy(["five", "five", "six", "six"], [1, 1, 0, 0])
    1.0
    >>> clustering_accuracy(["five", "five", "six", "six"], [1, 1, 0, -1])
    0.75
    """
    classes, clusters = _labels(y_true, "y_true"), _labels(y_pred, "y_pred")
    if classes.size != clusters.size:
        raise ValueError(
            f"y_true has {classes.size} labels but y_pred has {clusters.size}. "
            "Give one class and one cluster for each row."
        )
    clustered = clusters != -1
    if not clustered.any():
        return 0.0
    counts = contingency_matrix(classes[clustered], clusters[clustered])
    return accuracy_of_counts(counts, classes.size)


def accuracy_of_counts(counts: NDArray[Any], n_rows: int | None = None) -> float:
    """Compute the accuracy from how many rows of each class (rows) are in each cluster (columns).

    `n_rows` counts all rows where some are in no cluster.
    """
    matched = linear_sum_assignment(counts, maximize=True)
    return float(counts[matched].sum() / (counts.sum() if n_rows is None else n_rows))


class Agreement(NamedTuple):
    """How clusters agree with known groups of the same rows."""

    adjusted_rand_index: float  # 1: the same; about 0: no more than by chance
    accuracy: float | None  # None where there are more clusters than groups, or fewer
    inside: dict[int, str]  # the clusters that lie wholly inside one group, and that group


def agreement_of_counts(counts: NDArray[Any], names: Sequence[str]) -> Agreement | None:
    """Compare clusters with known groups, from the rows of each group in each cluster.

    Parameters
    ----------
    counts : ndarray of shape (n_groups, n_clusters)
        Rows by known group and cluster.
    names : sequence of length n_groups
        Names of the groups.

    Returns
    -------
    agreement : Agreement or None
        None where fewer than two clusters hold rows: there is nothing to compare.
    """
    groups, clusters = (np.flatnonzero(counts.sum(axis=axis)) for axis in (1, 0))
    if len(clusters) < 2:
        return None
    accuracy = accuracy_of_counts(counts) if len(groups) == len(clusters) else None
    inside = {
        int(cluster): names[int(counts[:, cluster].argmax())]
        for cluster in clusters
        if np.count_nonzero(counts[:, cluster]) == 1
    }
    return Agreement(_adjusted_rand_index(counts), accuracy, inside)


def _adjusted_rand_index(counts: NDArray[Any]) -> float:
    """Compute Hubert and Arabie's index from counts (n_groups, n_clusters).

    Of the pairs of rows that are together in both, as many as exceed what chance gives, as a share
    of the most that could.
    """

    def pairs(sizes: NDArray[Any]) -> float:
        return float((sizes * (sizes - 1.0) / 2).sum())

    together, of_groups, of_clusters = pairs(counts), pairs(counts.sum(1)), pairs(counts.sum(0))
    by_chance = of_groups * of_clusters / max(pairs(counts.sum()), 1.0)
    most = (of_groups + of_clusters) / 2
    return 1.0 if most == by_chance else (together - by_chance) / (most - by_chance)


def _labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Check one label for each row; (n_samples,)."""
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(
            f"{name} has shape {labels.shape}, but one label for each row is needed, of shape "
            "(n_samples,). If it holds scores of each cluster, take their argmax first."
        )
    if labels.size == 0:
        raise ValueError(f"{name} is empty. Give at least one label.")
    missing = [row for row, label in enumerate(labels.tolist()) if _is_missing(label)]
    if missing:
        raise ValueError(
            f"{name} lacks {len(missing)} of {labels.size} labels, the first in row {missing[0]}. "
            "Leave out rows whose label is not known."
        )
    return labels


def _is_missing(label: Any) -> bool:
    """Recognise None, NaN, NaT and pandas.NA."""
    try:
        return label is None or not bool(label == label)
    except TypeError:  # pandas.NA refuses to be true or false
        return True
