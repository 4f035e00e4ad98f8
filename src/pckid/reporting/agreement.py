"""Clusters against groups that were known beforehand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pckid._utils.text import join_words
from pckid.metrics import Agreement, agreement_of_counts
from pckid.profiles.profile import Profile

MAX_GROUPS = 20


class KnownGroups(NamedTuple):
    """Clusters against groups that were known beforehand."""

    groups: list[str]
    counts: np.ndarray  # (n_groups, n_clusters)
    agreement: Agreement
    n_rows: int  # rows that have both

    def commonest(self, cluster: int) -> tuple[str, float] | None:
        """Give the group that most rows of a cluster are of, and their share; None without any."""
        inside = self.counts[:, cluster]
        if not inside.any():
            return None
        return self.groups[inside.argmax()], float(inside.max() / inside.sum())


def compare_known(known: list[str] | None, labels: np.ndarray) -> KnownGroups | None:
    """Compare clusters (n_samples,) with known groups, "" where a row's group is unknown.

    None where no group is known, where there are too many for a comparison, or one cluster.
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
    agreement = agreement_of_counts(counts, names.tolist())
    return agreement and KnownGroups(names.tolist(), counts, agreement, int(both.sum()))


def with_known(profile: Profile, found: KnownGroups) -> Profile:
    """Write above each cluster of a profile the group that most of its rows are of."""
    heads = []
    for head in profile.clusters:
        common = found.commonest(head.number)
        note = "" if common is None else f"{common[1]:.0%} {common[0]}"
        heads.append(replace(head, note=note))
    return replace(profile, clusters=heads)


def write_agreement(found: Agreement, titles: Sequence[str]) -> str:
    """Write how clusters agree with known groups; `titles` are those of all clusters."""
    said = f"Agreement with the known groups: adjusted Rand index {found.adjusted_rand_index:.2f}"
    if found.accuracy is not None:
        said += f", accuracy {found.accuracy:.3f}"
    names = [titles[cluster] for cluster in found.inside]
    if len(names) == len(titles):
        return f"{said}. Every cluster lies wholly inside one known group."
    if not names:
        return f"{said}. No cluster lies wholly inside one known group."
    lie = "lies" if len(names) == 1 else "lie"
    return f"{said}. {join_words(names, 12)} {lie} wholly inside one known group."
