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

A ring or an arc may bend so far that its inner half has two modes, too. So a dip does not count
where rows lead from one cluster to the other round the valley, see `ridges`.

A dip of all rows does not see few rows beside many. Where one cluster has far fewer, it is apart,
too, if there is a valley between both, see `valleys`.

Columns of few values are put in another random order in each split, see `placing`. Such a column
cannot bend, and nothing is subtracted from its dip.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm, t

from pckid._utils.seeds import Stream, generator
from pckid.significance.levels import LEVELS, Levels
from pckid.significance.margins import dip
from pckid.significance.neighbours import find_neighbours, find_ways
from pckid.significance.placing import Ties, find_ties, place_between
from pckid.significance.ridges import HIGH, measure_ridge
from pckid.significance.single_columns import cluster_distances
from pckid.significance.units import Units
from pckid.significance.valleys import MIN_ROWS, find_valley

_MAX_SPLITS, _SPLITS_AT_ONCE = 16, 4
_FAR = 3.0  # standard errors
_MIN_ERROR = 0.05  # of one split: four may lie closer together by chance
# Of √n times the dip of Gaussian clouds, the mean over the halves.
_MEAN, _SPREAD = 0.49, 0.055
# More halves are drawn while the mean may lie between the levels of coarser divisions and others.
_UNSURE = _MEAN + _SPREAD * norm.isf([LEVELS.in_coarser_divisions().gaps, LEVELS.gaps])
_SHALLOW = 0.04
# √n times the dip of the inner halves is at least this where there is a gap, less where one side
# has more rows than the other. Where rows are spread evenly it is 0.5 to 0.65.
_INNER = 0.95
# Where one cluster has at most this share of the rows of the other, a dip hardly shows.
_UNEQUAL = 0.6
# A ridge is looked for where a dip is as likely as this, or less, and columns that can bend make up
# so much of what separates the two clusters.
_CLEAR, _MIN_SMOOTH = 0.1, 0.5
# Fewer rows of a cluster, or of a half of two, cannot show a dip.
_MIN_ROWS = 20
# Of the squared distance between two clusters: one that is closer to both lies between them, and
# joins them if it has some rows.
_BETWEEN, _MIN_BRIDGE = 0.6, 5
# One of so many rows, by the smaller of two others, would show a gap to each if there were one.
_AS_LARGE = 0.5
_LARGEST = 8.0  # z of a p-value of 0
_MIN_SPREAD = 0.6  # of null gaps, as z: fewer than twenty may lie close together by chance


class Gaps(NamedTuple):
    """Which clusters have a gap between them."""

    # (n_clusters, n_clusters), how likely a cloud without a gap looks so for each pair; 1 on the
    # diagonal, and NaN where a cluster has fewer than 20 rows (12 beside one that has far more):
    # too few to show a gap
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
    """Test pairs of clusters for a gap; labels (n_samples,) count from 0.

    Of `n_clusters` the last may have no rows. `entropy` is the seed of the halves. A pair has a gap
    up to the p-value `levels.gaps`. Pairs of neighbours are tested, and others unless each way
    between them crosses a gap, which then is theirs, see `neighbours`. With `only_if_separated`,
    pairs are tested first that would join all clusters to one group, then those that may join two
    groups: the groups are the same, and NaN is the p-value of pairs that were not tested. Of rows
    that depend on each other, `null` (n_null,) are the clearest gaps of all pairs in tables without
    groups, as z: pairs are tested by dips alone, and compared with these.
    """
    with_valleys = null is None
    ties = find_ties(units)
    sizes = np.bincount(labels, minlength=n_clusters)
    distances = cluster_distances(units, labels, len(sizes)).sum(axis=2)
    enough = np.flatnonzero(sizes >= (MIN_ROWS if with_valleys else _MIN_ROWS))
    p_values = np.full((len(sizes), len(sizes)), np.nan)
    np.fill_diagonal(p_values, 1.0)
    is_open = np.zeros(p_values.shape, dtype=bool)
    is_open[np.ix_(enough, enough)] = ~np.eye(len(enough), dtype=bool)

    def test(pairs: np.ndarray) -> None:
        for a, b in np.argwhere(np.triu((pairs | pairs.T) & is_open)).tolist():
            found = _test_pair(ties, units.categorical, labels, a, b, entropy, with_valleys)
            p_values[a, b] = p_values[b, a] = found
        is_open[pairs | pairs.T] = False

    def judge(found: np.ndarray) -> np.ndarray:
        return found if null is None else compare_with_null_gaps(found, null)

    def group() -> np.ndarray:
        return _find_groups((judge(p_values) <= levels.gaps) | is_open, sizes, distances)

    if only_if_separated:
        test(_pairs_with_closest(enough, sizes, distances))
        if not (groups := group()).any():
            return Gaps(p_values, groups, levels.gaps)
    pairs = np.zeros(is_open.shape, dtype=bool)
    pairs[np.ix_(enough, enough)] = find_neighbours(units, labels, enough)
    # Where null tables have the clearest gaps that there can be, no further pair decides.
    may_decide = bool((judge(np.zeros_like(p_values)) <= levels.gaps).any())
    while (pairs & is_open).any():
        test(pairs)
        ways, groups = find_ways(p_values, is_open), group()
        is_settled = (judge(ways) <= levels.gaps) | (not may_decide)
        pairs = ~is_settled
        if only_if_separated:
            pairs &= groups[:, None] != groups
        p_values = np.where(is_open & is_settled, ways, p_values)
    if not may_decide:
        is_open[:] = False
    return Gaps(judge(p_values), group(), levels.gaps)


def find_clearest_gap(units: Units, labels: np.ndarray, entropy: int, n_clusters: int) -> float:
    """Find the clearest gap between any two clusters, as z, by dips alone.

    What `find_gaps` finds of all pairs; those farthest apart are tested first, and no further ones
    than the first that is as clear as can be.
    """
    ties, sizes = find_ties(units), np.bincount(labels, minlength=n_clusters)
    distances = cluster_distances(units, labels, len(sizes)).sum(axis=2)
    enough = np.flatnonzero(sizes >= _MIN_ROWS).tolist()
    pairs = sorted(combinations(enough, 2), key=lambda pair: -distances[pair])
    clearest = -_LARGEST
    for a, b in pairs:
        found = _test_pair(ties, units.categorical, labels, a, b, entropy, with_valley=False)
        clearest = max(clearest, float(as_z(np.array(found))))
        if clearest >= _LARGEST:
            break
    return clearest


def _test_pair(
    ties: Ties,
    categorical: np.ndarray,
    labels: np.ndarray,
    a: int,
    b: int,
    entropy: int,
    with_valley: bool,
) -> float:
    """Test two clusters of labels (n_samples,) for a gap, always by the same halves for a seed."""
    rows = np.flatnonzero((labels == a) | (labels == b))
    rng = generator(entropy, Stream.GAPS, a, b)
    return find_gap_of_pair(ties.take(rows), categorical, labels[rows] == b, rng, with_valley)


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
    clusters: np.ndarray, sizes: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Pair each of some clusters (n_some,) with the closest larger one (n_clusters, n_clusters)."""
    order = clusters[np.argsort(-sizes[clusters], kind="stable")]
    pairs = np.zeros(distances.shape, dtype=bool)
    for place, cluster in enumerate(order[1:], start=1):
        closest = order[int(distances[cluster, order[:place]].argmin())]
        pairs[min(cluster, closest), max(cluster, closest)] = True
    return pairs


def _find_groups(apart: np.ndarray, sizes: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Find the group of each cluster (n_clusters,), see `Gaps`.

    Pairs `apart` (n_clusters, n_clusters) have a gap, `distances` (n_clusters, n_clusters) are
    squared. Few rows hardly show a gap to any cluster, so a cluster without a gap to several larger
    ones joins the closest of them, and two others only where it lies between them, or has half as
    many rows as the smaller of both.
    """
    near, joined = ~apart, np.eye(len(sizes), dtype=bool)
    order = np.argsort(-sizes, kind="stable")
    for place, cluster in enumerate(order):
        larger = order[:place][near[cluster, order[:place]]]
        if len(larger):
            joined[cluster, larger[distances[cluster, larger].argmin()]] = True
        for a, b in combinations(larger if sizes[cluster] >= _MIN_BRIDGE else [], 2):
            nearer = max(distances[cluster, a], distances[cluster, b])
            is_large = sizes[cluster] >= max(_MIN_ROWS, _AS_LARGE * min(sizes[a], sizes[b]))
            if is_large or nearer < _BETWEEN * distances[a, b]:
                joined[cluster, [a, b]] = True
    return connected_components(joined, directed=False)[1]


def find_gap_of_pair(
    ties: Ties,
    categorical: np.ndarray,
    second: np.ndarray,
    rng: np.random.Generator,
    with_valley: bool = True,
) -> float:
    """Test two clusters for a gap, `second` (n_rows,) being rows of the second; its p-value.

    By the dip, and by the valley where one has far more rows than the other.
    NaN where there are too few rows for both.
    """
    few, many = sorted((int(second.sum()), int((~second).sum())))
    p_value = np.nan
    if few >= _MIN_ROWS:
        statistic, smooth = _pair_statistic(ties, categorical, second, rng)
        p_value = float(norm.sf(statistic, loc=_MEAN, scale=_SPREAD))
        if p_value <= _CLEAR and smooth >= _MIN_SMOOTH:
            columns = ~(categorical | ties.are_tied)
            p_value = 1.0 if measure_ridge(ties.values[:, columns], second) >= HIGH else p_value
    if not with_valley or not MIN_ROWS <= few <= _UNEQUAL * many:
        return p_value
    return float(np.fmin(p_value, find_valley(ties, categorical, second, rng).p_value))


def _pair_statistic(
    ties: Ties, categorical: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Measure the gap between two clusters: √n (dip − 0.04), the mean over halves.

    Of the rows of both, `second` (n_rows,) are those of the second; units (n_units,) may be
    `categorical`. −inf where the inner rows show no gap. Returned with the part of the separation
    that is not from columns of few values.
    """
    found: list[float] = []
    inner: list[float] = []
    placed: list[tuple[np.ndarray, float]] = []
    for number in range(1, _MAX_SPLITS + 1):
        half, X = np.zeros(len(second), dtype=bool), ties.draw(rng)
        for part in (np.flatnonzero(~second), np.flatnonzero(second)):
            half[rng.permutation(part)[::2]] = True
        for learn in (half, ~half):
            positions, smooth = place_between(X, categorical, ties.are_tied, second, learn, rng)
            positions = np.sort(positions[~np.isnan(positions)])
            if len(positions) < _MIN_ROWS:
                found.append(0.0)
                continue
            found.append(np.sqrt(len(positions)) * (dip(positions) - _SHALLOW * smooth))
            placed.append((positions, smooth))
        if number % _SPLITS_AT_ONCE:
            continue
        outer = [_find_side(np.array(found) - each) for each in _UNSURE]
        if max(outer) < 0:
            break
        inner += [_measure_inner(*each) for each in placed[len(inner) :]]
        are_inside = _find_side(np.array(inner))
        if min(*outer, are_inside) > 0 or are_inside < 0:
            break
    smooth = float(np.mean([each for _, each in placed])) if placed else 1.0
    if not placed or (inner and np.mean(inner) < 0):
        return -np.inf, smooth
    return float(np.mean(found)), smooth


def _measure_inner(positions: np.ndarray, smooth: float) -> float:
    """Measure how clear a gap the inner half of positions (n,) shows; below 0: none."""
    rows, share = _inner_half(positions), (positions < 0.5).mean()
    least = _INNER * smooth * 2 * np.sqrt(share * (1 - share))
    return float(np.sqrt(len(rows)) * dip(rows) - least)


def _find_side(values: np.ndarray) -> int:
    """Find on which side of 0 the mean of values (n,) surely is: −1 or 1; 0 if it is not sure."""
    if len(values) < 2:
        return 0
    error = max(float(values.std(ddof=1)), _MIN_ERROR) / np.sqrt(len(values))
    mean = float(values.mean())
    return int(np.sign(mean)) if abs(mean) > _FAR * error else 0


def _inner_half(positions: np.ndarray) -> np.ndarray:
    """Select from positions (n,), ascending, the half on either side of the middle next to it."""
    n_below = int(np.searchsorted(positions, 0.5))
    return positions[n_below // 2 : n_below + (len(positions) - n_below + 1) // 2]
