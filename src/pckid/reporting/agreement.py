"""Clusters against groups that were known beforehand."""

from typing import NamedTuple

import numpy as np

from pckid.metrics import accuracy_of_counts

MAX_GROUPS = 20


class KnownGroups(NamedTuple):
    """Clusters against groups that were known beforehand."""

    groups: list[str]
    counts: np.ndarray  # (n_groups, n_clusters)
    accuracy: float  # share of rows in the right cluster under the best matching with the groups
    n_rows: int  # rows that have both


def compare_known(known: list[str] | None, labels: np.ndarray) -> KnownGroups | None:
    """Compare clusters (n_samples,) with known groups, "" where a row's group is unknown.

    None where no group is known, or where there are too many for a comparison.
    """
    if known is None:
        return None
    groups = np.asarray(known, dtype=object)
    both = (labels >= 0) & (groups != "")
    names, codes = np.unique(groups[both], return_inverse=True)
    if not 0 < len(names) <= MAX_GROUPS:
        return None
    counts = np.zeros((len(names), int(labels.max()) + 1), dtype=int)
    np.add.at(counts, (codes, labels[both]), 1)
    return KnownGroups(names.tolist(), counts, accuracy_of_counts(counts), int(both.sum()))
