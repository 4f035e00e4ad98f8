"""Who would be together in one cluster less, or one more, than the report describes."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pckid._utils.text import join_words
from pckid.describe.rows import own_labels
from pckid.estimator import cluster_into_others
from pckid.profiles.profile import Profile, make_profile

# A cluster that gives a smaller share of another one's rows is not named.
_NAMED_SHARE = 0.1


class OtherNumber(NamedTuple):
    """The clusters of another number of clusters, and the sign of each row there.

    A cluster has the sign of the report's cluster whose rows it keeps, or a new one.
    """

    profile: Profile
    signs: np.ndarray  # (n_samples,), −1 for rows without a cluster


def find_other_numbers(
    estimator: Any, values: np.ndarray, titles: list[str], **how: Any
) -> list[OtherNumber]:
    """Cluster the rows of a fit into one cluster less, not below two, and into one more.

    Nothing is found for a single cluster, where rows had weights or known groups, and for a number
    with too few rows. `values` are those of all rows (n_samples, n_features), `titles` those of the
    report's clusters, and `how` the options of `make_profile`.
    """
    n_clusters, labels = estimator.n_clusters_, own_labels(estimator)
    weighted = estimator.state_.is_weighted or hasattr(estimator, "known_groups_")
    if n_clusters == 1 or weighted:
        return []
    rows = np.flatnonzero(labels >= 0)
    n_distinct = len(np.unique(np.nan_to_num(values[rows], nan=np.inf), axis=0))
    numbers = [k for k in (n_clusters - 1, n_clusters + 1) if 2 <= k <= n_distinct]
    if not numbers:
        return []
    found, others_of = [], cluster_into_others(estimator, values[rows], numbers)
    for number, own in zip(numbers, others_of, strict=True):
        others = np.full(len(labels), -1)
        others[rows] = own
        if len(np.unique(own)) == number:
            names = [f"Cluster {cluster} of {number}" for cluster in range(number)]
            profile = make_profile(estimator, values, others, titles=names, **how)
            found.append(_compare(profile, labels[rows], others, titles))
    return found


def _compare(
    profile: Profile, labels: np.ndarray, others: np.ndarray, titles: list[str]
) -> OtherNumber:
    """Say where the rows of each cluster are from, and give it the sign of the nearest."""
    number, inside = len(profile.clusters), others[others >= 0]
    counts = np.zeros((number, len(titles)), dtype=int)
    np.add.at(counts, (inside, labels), 1)
    signs = np.full(number, -1)
    kept, matched = linear_sum_assignment(-counts)
    signs[kept] = matched
    signs[signs < 0] = np.arange(counts.shape[1], counts.shape[1] + int((signs < 0).sum()))
    heads = []
    for head in profile.clusters:
        shares = counts[head.number] / counts[head.number].sum()
        order = np.argsort(-shares, kind="stable").tolist()
        sources = [c for c in order if c == order[0] or shares[c] >= _NAMED_SHARE]
        words = [titles[c] if shares[c] == 1 else f"{titles[c]} ({shares[c]:.0%})" for c in sources]
        note = f"from {join_words(words)}"
        heads.append(replace(head, sign=int(signs[head.number]), note=note))
    return OtherNumber(replace(profile, clusters=heads), np.append(signs, -1)[others])
