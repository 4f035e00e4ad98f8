"""Whether there is a gap between two clusters: fewer rows between them than inside.

The rows of both are placed along the direction in which they differ, from 0, the centre of one, to
1, the centre of the other. The direction is that of half of the rows, and the other half is placed;
then the other way round. A gap shows as two modes, by the dip of Hartigan and Hartigan (1985). It
is the mean over up to 16 ways to halve the rows, so that chance has less of a part in it: no more
are drawn once the mean is three standard errors from p-values of 0.01 to 0.05.

In a Gaussian cloud √n times the dip, n being the rows of a half, is about 0.49 in the mean over all
halves, with a standard deviation of up to 0.055, from 20 rows on: that gives the p-value.
Other clouds differ from a Gaussian one: a curved one, cut into pieces, even has shallow modes where
it bends. So a dip counts only for what it exceeds 0.04 by, and only if the inner half of the rows
on either side show one, too: a gap is between clusters, the modes of a bend are at its ends. The
closest unimodal distribution is no better reference: where there are two modes it is flat between
them, and hardly any gap of a few hundred rows exceeds it.

Columns of few values have gaps of their own, between one value and the next. They are replaced by
random normal scores: within a value rows are in random order, so that such a column alone is a
Gaussian without a gap, and several of them show one where they agree. The order is another one in
each split: by a single one, a table would have a gap by one seed and none by another. Such a column
cannot bend, and nothing is subtracted from its dip.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri
from scipy.stats import norm, t

from pckid._utils.seeds import Stream, generator
from pckid.significance.levels import LEVELS, Levels
from pckid.significance.margins import dip
from pckid.significance.single_columns import cluster_distances
from pckid.significance.units import Units

_MAX_SPLITS, _SPLITS_AT_ONCE = 16, 4
_FAR = 3.0  # standard errors
_MIN_ERROR = 0.05  # of one split: four may lie closer together by chance
# Of √n times the dip of Gaussian clouds, the mean over the halves.
_MEAN, _SPREAD = 0.49, 0.055
_UNSURE = _MEAN + _SPREAD * norm.isf([0.01, 0.05])
_SHALLOW = 0.04
# √n times the dip of the inner halves is at least this where there is a gap, less where one side
# has more rows than the other. Where rows are spread evenly it is 0.5 to 0.65.
_INNER = 0.95
# In a column of numbers with ties, fewer of its values than this differ.
_DISTINCT = 0.9
# Rows count if they have half of what separates the two clusters.
_MIN_SEEN = 0.5
# Fewer rows of a cluster, or of a half of two, cannot show a gap.
_MIN_ROWS = 20
# Of the squared distance between two clusters: one that is closer to both lies between them, and
# joins them if it has some rows.
_BETWEEN, _MIN_BRIDGE = 0.6, 5
_MIN_VARIANCE = 0.02
_LARGEST = 8.0  # z of a p-value of 0
_MIN_PLACE = 1e-9  # of the lowest row among all
_MIN_SPREAD = 0.6  # of null gaps, as z: fewer than twenty may lie close together by chance


class Gaps(NamedTuple):
    """Which clusters have a gap between them."""

    # (n_clusters, n_clusters), how likely a cloud without a gap looks so for each pair; 1 on the
    # diagonal, and NaN where a cluster has fewer than 20 rows: too few to show a gap
    p_values: np.ndarray
    # (n_clusters,), from 0: a cluster is of the group of the closest larger one to which it shows
    # no gap, and joins two that it lies between
    groups: np.ndarray
    level: float = LEVELS.gaps  # a pair shows a gap up to this p-value

    @property
    def apart(self) -> np.ndarray:
        """The pairs that show a gap (n_clusters, n_clusters); not those with too few rows."""
        return self.p_values <= self.level

    @property
    def n_separated(self) -> int:
        """The number of groups with gaps between them; 1 where no cluster is separated."""
        return int(self.groups.max()) + 1

    @property
    def untested(self) -> list[int]:
        """The clusters with too few rows to show a gap to any other."""
        return [c for c, row in enumerate(self.p_values) if np.isnan(np.delete(row, c)).all()]


def find_gaps(
    units: Units,
    labels: np.ndarray,
    entropy: int,
    n_clusters: int = 0,
    levels: Levels = LEVELS,
    null: np.ndarray | None = None,
    only_if_separated: bool = False,
) -> Gaps:
    """Test each pair of clusters for a gap; labels (n_samples,) count from 0.

    Of `n_clusters` the last may have no rows. `entropy` is the seed of the halves. A pair has a gap
    up to the p-value `levels.gaps`. Of rows that depend on each other, `null` (n_null,) are the
    clearest gaps of tables without groups, as z. With `only_if_separated`, pairs are tested that
    would join all clusters to one group, and others only if they do not.
    """
    rng = generator(entropy, Stream.GAPS)
    ties = find_ties(units)
    sizes = np.bincount(labels, minlength=n_clusters)
    distances = cluster_distances(units, labels, len(sizes)).sum(axis=2)
    p_values = np.full((len(sizes), len(sizes)), np.nan)
    np.fill_diagonal(p_values, 1.0)

    def test(pairs: Iterable[tuple[int, int]]) -> None:
        for a, b in pairs:
            rows = np.flatnonzero((labels == a) | (labels == b))
            second = labels[rows] == b
            statistic = _pair_statistic(ties.take(rows), units.categorical, second, rng)
            p_values[a, b] = p_values[b, a] = norm.sf(statistic, loc=_MEAN, scale=_SPREAD)

    enough = np.flatnonzero(sizes >= _MIN_ROWS).tolist()
    first = _pairs_with_closest(enough, sizes, distances) if only_if_separated else []
    test(first)
    if not first or _find_groups(p_values <= levels.gaps, sizes, distances).any():
        test(pair for pair in combinations(enough, 2) if pair not in first)
    if null is not None:
        p_values = compare_with_null_gaps(p_values, null)
    groups = _find_groups(p_values <= levels.gaps, sizes, distances)
    return Gaps(p_values, groups, levels.gaps)


def as_z(p_values: np.ndarray) -> np.ndarray:
    """Turn p-values into standard normal quantiles; those not tested into the lowest."""
    z = np.nan_to_num(norm.isf(p_values), nan=-_LARGEST)
    return np.clip(z, -_LARGEST, _LARGEST)


def compare_with_null_gaps(p_values: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Compare gaps between pairs (n_clusters, n_clusters) with the clearest null ones (n_null,).

    p is that of a further one, by Student's t; pieces of smooth fields have gaps, too.
    """
    null = np.maximum(null, 0.0)
    n, spread = len(null), max(float(null.std(ddof=1)), _MIN_SPREAD)
    height = (as_z(p_values) - null.mean()) / (spread * np.sqrt(1 + 1 / n))
    found = np.where(np.isnan(p_values), np.nan, t.sf(height, n - 1))
    np.fill_diagonal(found, 1.0)
    return found


def _pairs_with_closest(
    clusters: list[int], sizes: np.ndarray, distances: np.ndarray
) -> list[tuple[int, int]]:
    """Pair each of some clusters with the closest larger one; ascending."""
    order, pairs = sorted(clusters, key=lambda cluster: -sizes[cluster]), []
    for place, cluster in enumerate(order[1:], start=1):
        closest = order[int(distances[cluster, order[:place]].argmin())]
        pairs.append((min(cluster, closest), max(cluster, closest)))
    return pairs


def _find_groups(apart: np.ndarray, sizes: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Find the group of each cluster (n_clusters,), see `Gaps`.

    Pairs `apart` (n_clusters, n_clusters) have a gap, `distances` (n_clusters, n_clusters) are
    squared. Few rows hardly show a gap to any cluster, so a cluster without a gap to several larger
    ones joins the closest of them, and two others only where it lies between them.
    """
    near, joined = ~apart, np.eye(len(sizes), dtype=bool)
    order = np.argsort(-sizes, kind="stable")
    for place, cluster in enumerate(order):
        larger = order[:place][near[cluster, order[:place]]]
        if len(larger):
            joined[cluster, larger[distances[cluster, larger].argmin()]] = True
        for a, b in combinations(larger if sizes[cluster] >= _MIN_BRIDGE else [], 2):
            nearer = max(distances[cluster, a], distances[cluster, b])
            if nearer < _BETWEEN * distances[a, b]:
                joined[cluster, [a, b]] = True
    return connected_components(joined, directed=False)[1]


def _normal_scores(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace a column (n,) by normal scores, equal values in random order; NaN where missing."""
    scores, seen = np.full(len(column), np.nan), np.flatnonzero(~np.isnan(column))
    order = np.lexsort((rng.random(len(seen)), column[seen]))
    scores[seen[order]] = ndtri((np.arange(len(seen)) + 0.5) / max(len(seen), 1))
    return scores


class Ties(NamedTuple):
    """Rows in whose columns of few values equal ones are put in random order, time and again."""

    values: np.ndarray  # (n_rows, n_units), NaN where missing
    are_tied: np.ndarray  # (n_units,), of few values
    columns: np.ndarray  # (n_tied,), columns of numbers among them
    below: np.ndarray  # (n_rows, n_tied), the share of lower values; NaN where missing
    equal: np.ndarray  # (n_rows, n_tied), the share of equal values

    def take(self, rows: np.ndarray) -> Ties:
        """Take some of the rows."""
        parts = self.values[rows], self.below[rows], self.equal[rows]
        return self._replace(values=parts[0], below=parts[1], equal=parts[2])

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Replace numbers that come several times by normal scores, in random order if equal."""
        drawn = self.values.copy()
        if len(self.columns):
            places = self.below + self.equal * rng.random(self.below.shape)
            drawn[:, self.columns] = ndtri(np.clip(places, _MIN_PLACE, 1 - _MIN_PLACE))
        return drawn


def find_ties(units: Units) -> Ties:
    """Find the columns of numbers with ties; categories have an order only between two clusters."""
    are_tied, columns, places = units.categorical.copy(), [], []
    for j in np.flatnonzero(~units.categorical):
        seen = ~np.isnan(units.values[:, j])
        levels, codes, counts = np.unique(
            units.values[seen, j], return_inverse=True, return_counts=True
        )
        if len(levels) > _DISTINCT * len(codes):
            continue
        shares, both = counts / len(codes), np.full((2, len(seen)), np.nan)
        both[:, seen] = np.stack([np.cumsum(shares) - shares, shares])[:, codes]
        are_tied[j] = True
        columns.append(j)
        places.append(both)
    below, equal = np.reshape(places, (len(places), 2, len(units.values))).transpose(1, 2, 0)
    return Ties(units.values, are_tied, np.array(columns, dtype=int), below, equal)


def _pair_statistic(
    ties: Ties, categorical: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> float:
    """Measure the gap between two clusters: √n (dip − 0.04), the mean over halves.

    Of the rows of both, `second` (n_rows,) are those of the second; units (n_units,) may be
    `categorical`. −inf where the inner rows show no gap.
    """
    found, inner = [], []
    for number in range(1, _MAX_SPLITS + 1):
        half, X = np.zeros(len(second), dtype=bool), ties.draw(rng)
        for part in (np.flatnonzero(~second), np.flatnonzero(second)):
            half[rng.permutation(part)[::2]] = True
        for learn in (half, ~half):
            positions, smooth = _place_between(X, categorical, ties.are_tied, second, learn, rng)
            if len(positions) < _MIN_ROWS:
                found.append(0.0)
                continue
            found.append(np.sqrt(len(positions)) * (dip(positions) - _SHALLOW * smooth))
            rows, share = _inner_half(positions), (positions < 0.5).mean()
            least = _INNER * smooth * 2 * np.sqrt(share * (1 - share))
            inner.append(np.sqrt(len(rows)) * dip(rows) - least)
        outer = [_find_side(np.array(found) - each) for each in _UNSURE]
        are_inside = _find_side(np.array(inner))
        is_sure = min(*outer, are_inside) > 0 or max(outer) < 0 or are_inside < 0
        if number % _SPLITS_AT_ONCE == 0 and is_sure:
            break
    return float(np.mean(found)) if inner and np.mean(inner) >= 0 else -np.inf


def _find_side(values: np.ndarray) -> int:
    """Find on which side of 0 the mean of values (n,) surely is: −1 or 1; 0 if it is not sure."""
    if len(values) < 2:
        return 0
    error = max(float(values.std(ddof=1)), _MIN_ERROR) / np.sqrt(len(values))
    mean = float(values.mean())
    return int(np.sign(mean)) if abs(mean) > _FAR * error else 0


def _inner_half(positions: np.ndarray) -> np.ndarray:
    """Select from positions (n,) the half on either side of the middle that is closer to it."""
    below, above = positions[positions < 0.5], positions[positions >= 0.5]
    low = np.median(below) if len(below) else 0.0
    high = np.median(above) if len(above) else 1.0
    return positions[(positions >= low) & (positions <= high)]


def _place_between(
    X: np.ndarray,
    categorical: np.ndarray,
    discrete: np.ndarray,
    second: np.ndarray,
    learn: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Place rows along the direction that the rows `learn` (n_rows,) give, from 0 to 1.

    With Δ the difference of the means of a column and v its variance within the clusters, the
    position of a row is Σ Δ (x − mean of the first) / v by Σ Δ² / v, over its observed columns: a
    missing value does not pull it to either side.

    Returns the positions of the other rows that have half of Σ Δ² / v observed, and which part of
    Σ Δ² / v comes from columns that are not discrete.
    """
    if categorical.any():
        X = X.copy()
    for j in np.flatnonzero(categorical):
        X[:, j] = _category_scores(X[:, j], second, learn, rng)
    seen = ~np.isnan(X)
    (n, first, below), (m, other, above), (_, _, total) = (
        _moments(X, seen, rows) for rows in (learn & ~second, learn & second, learn)
    )
    both = np.maximum(n + m, 1)
    within = np.maximum((below + above) / np.maximum(both - 2, 1), _MIN_VARIANCE * total / both)
    difference = np.where((n > 1) & (m > 1), other - first, 0.0)
    weight = difference / np.maximum(within, np.finfo(np.float64).tiny)
    apart = weight * difference
    if apart.sum() <= 0:
        return np.empty(0), 1.0
    placed = np.where(seen[~learn], weight * (X[~learn] - first), 0.0).sum(axis=1)
    observed = seen[~learn] @ apart
    enough = observed >= _MIN_SEEN * apart.sum()
    return placed[enough] / observed[enough], apart[~discrete].sum() / apart.sum()


def _moments(
    X: np.ndarray, seen: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the values of some rows in each column, and find their means and squares around it."""
    values, seen = X[rows], seen[rows]
    count = seen.sum(axis=0)
    mean = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    return count, mean, np.where(seen, (values - mean) ** 2, 0.0).sum(axis=0)


def _category_scores(
    column: np.ndarray, second: np.ndarray, learn: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Give categories (n,) random normal scores, in the order of their shares in the clusters."""
    seen = ~np.isnan(column)
    levels, codes = np.unique(column[seen], return_inverse=True)
    counts = np.stack(
        [
            np.bincount(codes[(learn & side)[seen]], minlength=len(levels)) + 0.5
            for side in (~second, second)
        ]
    )
    shares = counts / counts.sum(axis=1, keepdims=True)
    ranks = np.argsort(np.argsort(shares[1] / shares[0], kind="stable"))
    ordered = np.full(len(column), np.nan)
    ordered[seen] = ranks[codes]
    return _normal_scores(ordered, rng)
