"""What sets clusters apart, column by column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.quantities import quantiles_of_sorted
from pckid.describe.categories import CategoryFeature, compare_categories
from pckid.describe.noise import rank_noise
from pckid.describe.rows import used_columns
from pckid.input.validation import feature_names

CLEAR = 0.4  # from this distinctness on, a feature sets a cluster clearly apart
_HIGH_OR_LOW = 0.5  # from here on it is by high or low values, not by middle ones
N_COMPARED = 10  # so many columns are compared between a cluster and the nearest one


class ClusterFeature(NamedTuple):
    """How one feature looks inside one cluster, from observed values alone.

    `chance_higher` is the chance that a row of the cluster has a higher value than a row outside
    it, ties counting half: 0.5 is no difference, 0 and 1 separate completely. `chance_between` is
    the smaller of the chances that a row of the cluster has a higher value than a row of the
    clusters of lower median, and a lower one than a row of those of higher median; it is 0 where
    there are no such clusters on both sides, or where high or low values set the cluster apart.
    """

    feature: int
    n_observed: int  # rows of the cluster with a value
    n_missing: int  # rows of the cluster without
    lower_quartile: float  # NaN where nothing is observed, and so are the next two
    median: float
    upper_quartile: float
    median_outside: float  # of the rows in other clusters
    chance_higher: float
    median_below: float = np.nan  # of the rows in clusters of lower median; NaN: there are none
    median_above: float = np.nan
    chance_between: float = 0.0
    # Of a column that takes two values: the higher one, its share, and its share outside
    higher: tuple[float, float, float] | None = None
    n_outside: int = 0  # rows in other clusters with a value
    n_beside: int = 0  # the fewer of those in clusters of lower, and of higher median

    @property
    def distinctness(self) -> float:
        """From 0 (no difference) to 1 (separates completely): by high, low or middle values."""
        return max(abs(2 * self.chance_higher - 1), 2 * self.chance_between - 1)

    @property
    def is_between(self) -> bool:
        """Whether it is by middle values that the feature sets the cluster apart most."""
        return 2 * self.chance_between - 1 > abs(2 * self.chance_higher - 1)

    def noise(self, n_columns: int) -> float:
        """Bound the distinctness in the largest of so many columns of noise."""
        n_others = self.n_beside if self.is_between else self.n_outside
        return rank_noise(self.n_observed, n_others, n_columns)

    @property
    def share_missing(self) -> float:
        """Share of the cluster's rows without a value."""
        return self.n_missing / max(self.n_observed + self.n_missing, 1)


Feature = ClusterFeature | CategoryFeature
NamedFeatures = list[tuple[str, Feature]]


def distinguishing_features(
    X: np.ndarray,
    labels: np.ndarray,
    categories: Mapping[int, list[Any]] | None = None,
    features: Iterable[int] | None = None,
) -> list[list[Feature]]:
    """Rank, for each cluster 0…k−1, the features that set it apart from the other rows.

    Of rows (n_samples, n_features) with NaN where missing, those with a negative label
    (n_samples,) are left out. `categories` has those of some columns, which hold numbers from 0,
    by index; `features` are the columns to rank, all by default.
    """
    X, labels = X[labels >= 0], labels[labels >= 0]
    n_clusters = int(labels.max(initial=-1)) + 1
    ranked: list[list[Feature]] = [[] for _ in range(n_clusters)]
    for feature in range(X.shape[1]) if features is None else features:
        column, found = X[:, feature], list[Feature]()
        if categories and feature in categories:
            found += compare_categories(feature, column, labels, categories[feature], n_clusters)
        else:
            found += _compare_numbers(feature, column, labels, n_clusters)
        for mine, item in zip(ranked, found, strict=True):
            mine.append(item)
    return [sorted(found, key=lambda item: -item.distinctness) for found in ranked]


def _compare_numbers(
    feature: int, column: np.ndarray, labels: np.ndarray, n_clusters: int
) -> Iterator[ClusterFeature]:
    """Compare the numbers of a column (n,) in each cluster with those outside."""
    sizes, seen = np.bincount(labels, minlength=n_clusters), ~np.isnan(column)
    # Sorted once, each part of them is sorted, too.
    order = np.argsort(column[seen])
    values, groups = column[seen][order], labels[seen][order]
    distinct, ranks = values[_are_first(values)], _rank_sorted(values)
    parts = [values[groups == cluster] for cluster in range(n_clusters)]
    medians = np.array([quantiles_of_sorted(part, [0.5])[0] for part in parts])
    for cluster, own in enumerate(parts):
        others, n_missing = values[groups != cluster], int(sizes[cluster]) - len(own)
        low, middle, high = quantiles_of_sorted(own, [0.25, 0.5, 0.75]).tolist()
        outside = float(quantiles_of_sorted(others, [0.5])[0])
        chance = _chance_higher(ranks[groups == cluster], len(others))
        item = ClusterFeature(feature, len(own), n_missing, low, middle, high, outside, chance)
        item = item._replace(n_outside=len(others))
        if len(distinct) == 2 and len(own) and len(others):
            here, there = (float((part == distinct[1]).mean()) for part in (own, others))
            item = item._replace(higher=(float(distinct[1]), here, there))
        elif len(distinct) != 2 and item.distinctness < _HIGH_OR_LOW:
            sides = [(medians < medians[cluster])[groups], (medians > medians[cluster])[groups]]
            n_below, n_above = (int(side.sum()) for side in sides)
            if n_below and n_above:
                is_own = groups == cluster
                higher, lower = (
                    _chance_higher(_rank_sorted(values[both])[is_own[both]], int(side.sum()))
                    for side, both in ((side, side | is_own) for side in sides)
                )
                below, above = (
                    float(quantiles_of_sorted(values[side], [0.5])[0]) for side in sides
                )
                item = item._replace(
                    median_below=below,
                    median_above=above,
                    chance_between=min(higher, 1 - lower),
                    n_beside=min(n_below, n_above),
                )
        yield item


def _are_first(values: np.ndarray) -> np.ndarray:
    """Whether each of sorted values (n,) is the first of those equal to it."""
    return np.append(np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1])


def _rank_sorted(values: np.ndarray) -> np.ndarray:
    """Rank sorted values (n,) from 1, equal ones by the mean of their ranks."""
    starts = np.append(np.flatnonzero(_are_first(values)), len(values))
    return np.repeat((starts[:-1] + starts[1:] + 1) / 2, np.diff(starts))


def _chance_higher(ranks: np.ndarray, n_others: int) -> float:
    """Compute the chance that a value is higher than one of others, by their ranks (n,) among both.

    It is the Mann-Whitney statistic by the number of pairs; ties count half.
    """
    pairs = len(ranks) * n_others
    return float((ranks.sum() - len(ranks) * (len(ranks) + 1) / 2) / pairs) if pairs else 0.5


def differences_to_nearest(
    X: np.ndarray,
    labels: np.ndarray,
    ranked: Sequence[Sequence[Feature]],
    categories: Mapping[int, list[Any]] | None = None,
) -> list[tuple[int, list[Feature]] | None]:
    """Find, for each cluster, the one most like it, and the columns that tell the two apart.

    The nearest is the one whose values lie nearest in the order of each column, and whose shares of
    categories are most alike, over all columns.

    Of the rows (n_samples, n_features) with their labels (n_samples,), ranked as by
    `distinguishing_features`. The columns are the few that differ most. None where there are no
    more than two clusters, or no row.
    """
    distances = _distances(ranked)
    n_features, n_clusters = distances.shape[:2]
    filled = np.bincount(labels[labels >= 0], minlength=n_clusters) > 0
    if filled.sum() <= 2 or not n_features:
        return [None] * n_clusters
    total = distances.sum(axis=0) + np.where(filled & ~np.eye(n_clusters, dtype=bool), 0, np.inf)
    columns = np.array([item.feature for item in sorted(ranked[0], key=lambda item: item.feature)])
    found: list[tuple[int, list[Feature]] | None] = []
    for cluster, other in enumerate(total.argmin(axis=1).tolist()):
        if not filled[cluster]:
            found.append(None)
            continue
        rows = (labels == cluster) | (labels == other)
        first = np.argsort(-distances[:, cluster, other], kind="stable")[:N_COMPARED]
        pair = (labels[rows] == other).astype(int)
        compared = distinguishing_features(X[rows], pair, categories, columns[first].tolist())
        found.append((other, compared[0]))
    return found


def name_differences(
    estimator: Any, values: np.ndarray, labels: np.ndarray
) -> list[tuple[NamedFeatures, tuple[int, NamedFeatures] | None]]:
    """List for each cluster the columns that set it apart, and those that do from the nearest.

    By rows (n, n_features), categories as numbers, and their labels (n,); as `features` and
    `nearest` of `ClusterExplanation`.
    """
    known, names = estimator.state_.columns.categories, feature_names(estimator)
    ranked = distinguishing_features(values, labels, known, used_columns(estimator))
    nearest = differences_to_nearest(values, labels, ranked, known)

    def named(features: Any) -> NamedFeatures:
        return [(names[item.feature], item) for item in features]

    return [
        (named(features), None if other is None else (other[0], named(other[1])))
        for features, other in zip(ranked, nearest, strict=True)
    ]


def _distances(ranked: Sequence[Sequence[Feature]]) -> np.ndarray:
    """Compute how far clusters are apart in each column (n_features, n_clusters, n_clusters).

    For numbers the difference of mean ranks, as shares of the rows; for categories half the sum of
    the differences of shares. 0 where one of them has no value.
    """
    aligned = [sorted(items, key=lambda item: item.feature) for items in ranked]
    distances = np.zeros((len(aligned[0]) if aligned else 0, len(aligned), len(aligned)))
    for place, items in enumerate(zip(*aligned, strict=True)):
        counts = np.array([item.n_observed for item in items])
        n_rows = max(int(counts.sum()), 1)
        if isinstance(items[0], CategoryFeature):
            points = np.array([item.shares / 2 for item in items])
        else:
            chances = np.array([item.chance_higher for item in items])
            points = (((n_rows - counts) * chances + counts / 2) / n_rows)[:, None]
        seen = (counts > 0)[:, None] & (counts > 0)
        distances[place] = np.abs(points[:, None] - points).sum(axis=2) * seen
    return distances


def rank_columns(ranked: Iterable[Iterable[Feature]]) -> list[int]:
    """Order columns by how clearly any cluster stands out by them, the clearest first."""
    best: dict[int, float] = {}
    for item in chain.from_iterable(ranked):
        best[item.feature] = max(best.get(item.feature, 0.0), item.distinctness)
    return sorted(sorted(best), key=lambda column: -best[column])


def confidence_by_observed(
    confidence: np.ndarray, share_observed: np.ndarray, max_groups: int = 8
) -> list[tuple[float, float, int, float, float, float]]:
    """Summarise confidence for rows grouped by how much of them was observed.

    From the emptiest rows to the fullest: lowest share, highest share, number of rows, lower
    quartile, median and upper quartile of each group.
    """
    shares = np.unique(share_observed)
    edges = shares[1:]
    if len(shares) > max_groups:
        edges = np.linspace(shares[0], shares[-1], max_groups + 1)[1:-1]
    group = np.searchsorted(edges, share_observed, side="right")
    rows = []
    for index in np.unique(group):
        inside = group == index
        quartiles = np.quantile(confidence[inside], [0.25, 0.5, 0.75]).tolist()
        low, high = share_observed[inside].min(), share_observed[inside].max()
        rows.append((float(low), float(high), int(inside.sum()), *quartiles))
    return rows
