"""The profile of a fitted estimator by what it keeps of its table: means, not medians."""

from typing import Any

import numpy as np

from pckid.describe.cluster_names import cluster_titles
from pckid.describe.profiles import ClusterProfiles
from pckid.input.cells import as_text
from pckid.profiles.columns import CategoryProfile, Column, NumberProfile, choose_decimals
from pckid.profiles.profile import ClusterHead, Profile


def profile_by_means(estimator: Any) -> Profile:
    """Describe the clusters of a fitted estimator without its table, what separates most first.

    Means with standard deviations, and shares of categories; nothing is graded, and no spread is
    drawn, since that takes the rows.
    """
    found: ClusterProfiles = estimator.cluster_profiles_
    n_rows = found.n_rows
    columns: list[Column] = [
        _describe_number(found, j, name) for j, name in enumerate(found.feature_names)
    ]
    columns += [_describe_shares(found, name) for name in found.category_shares]
    columns.sort(key=lambda column: -column.telling)
    total = max(int(n_rows.sum()), 1)
    heads = [
        ClusterHead(number, title, int(n), n / total, None, number)
        for number, (title, n) in enumerate(zip(cluster_titles(estimator), n_rows, strict=True))
    ]
    return Profile(heads, columns)


def _describe_number(found: ClusterProfiles, j: int, name: str) -> NumberProfile:
    """Describe a column by its means; those of all rows follow from the clusters'."""
    n, means, spreads = (part[:, j] for part in (found.n_observed, found.centers, found.spreads))
    whole, around = np.nan, np.nan
    if n.sum():
        seen = n > 0
        whole = float(np.average(means[seen], weights=n[seen]))
        squares = spreads[seen] ** 2 + (means[seen] - whole) ** 2
        around = float(np.sqrt(np.average(squares, weights=n[seen])))
    middle, width = np.append(means, whole), np.append(spreads, around)
    return NumberProfile(
        **_common(found, name, n),
        low=middle - width,
        middle=middle,
        high=middle + width,
        differences=np.zeros(len(n)),
        decimals=choose_decimals(middle, 2 * width),
        is_mean=True,
    )


def _describe_shares(found: ClusterProfiles, name: str) -> CategoryProfile:
    """Describe a column of categories by their shares."""
    counts = found.category_counts[name]
    whole = counts.sum(axis=0, keepdims=True) / max(counts.sum(), 1)
    return CategoryProfile(
        **_common(found, name, counts.sum(axis=1)),
        categories=[as_text(category) for category in found.categories[name]],
        shares=np.vstack([found.category_shares[name], whole]),
        differences=np.zeros(counts.shape),
    )


def _common(found: ClusterProfiles, name: str, n_observed: np.ndarray) -> dict[str, Any]:
    """Give what all columns have: its name, counts, how much it tells, and no bars."""
    n = np.rint(n_observed).astype(int)
    return {
        "name": name,
        "n_observed": n,
        "n_missing": found.n_rows - n,
        "telling": found.importances[name],
        "chance": np.full(len(n), np.inf),
        "edges": np.empty(0),
        "bars": np.empty((len(n), 0)),
    }
