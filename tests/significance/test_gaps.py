"""Gaps between clusters: fewer rows between them than inside."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from pckid._utils.seeds import Stream, generator
from pckid.significance import gaps
from pckid.significance.gaps import find_clearest_gap, find_gaps
from pckid.significance.levels import Levels
from pckid.significance.margins import dip
from pckid.significance.placing import find_ties, place_between
from pckid.significance.units import find_units


def units_of(X, categories=()):
    categorical = np.zeros(X.shape[1], dtype=bool)
    categorical[list(categories)] = True
    return find_units(X, categorical)


def two_groups(n_rows, distance, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 2
    return rng.normal(size=(n_rows, 4)) + distance / 2 * labels[:, None], labels


def test_separated_groups_have_a_gap():
    X, labels = two_groups(300, 6)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    found = find_gaps(units_of(X), labels, 0)
    assert found.p_values[0, 1] == found.p_values[1, 0] < 1e-6
    assert found.n_separated == 2


@pytest.mark.parametrize("n_rows", [60, 300, 2000])
def test_halves_of_a_cloud_have_none(n_rows):
    X, _ = two_groups(n_rows, 0)
    labels = (X.sum(axis=1) > 0).astype(int)
    assert find_gaps(units_of(X), labels, 0).n_separated == 1


def test_thirds_of_a_cloud_are_one_group_though_the_outer_ones_are_apart():
    X, _ = two_groups(900, 0)
    labels = np.digitize(X.sum(axis=1), [-2, 2])
    found = find_gaps(units_of(X), labels, 0)
    assert found.p_values[0, 2] < 0.01
    assert found.n_separated == 1


def test_pieces_of_an_arc_are_one_group(rng):
    angle = rng.uniform(0, np.pi, 1200)
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * rng.normal(size=(1200, 2))
    assert find_gaps(units_of(X), np.digitize(angle, [1, 2]), 0).n_separated == 1


def test_the_halves_of_a_bent_cloud_are_one_group():
    angle = np.linspace(-2.2, 2.2, 60)
    X = 3 * np.column_stack([np.sin(angle), np.cos(angle)])
    X = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    found = find_gaps(units_of(X), (angle > 0).astype(int), 0)
    assert found.n_separated == 1
    assert found.p_values[0, 1] == 1.0


def test_the_inner_half_is_that_next_to_the_middle():
    positions = np.array([-0.2, 0.0, 0.1, 0.3, 0.4, 0.6, 0.9, 1.3])
    assert gaps._inner_half(positions).tolist() == [0.1, 0.3, 0.4, 0.6, 0.9]
    assert gaps._inner_half(positions[5:]).tolist() == [0.6, 0.9]
    assert gaps._inner_half(np.empty(0)).tolist() == []


def test_a_column_of_two_values_has_no_gap_of_its_own_but_several_that_agree_have(rng):
    labels = np.arange(600) % 2
    coin = np.column_stack([labels, rng.normal(size=(600, 3))]).astype(float)
    many = np.where(rng.random((600, 8)) < 0.95, labels[:, None], 1 - labels[:, None]).astype(float)
    for categories in ((), (0,)):
        assert find_gaps(units_of(coin, categories), labels, 0).n_separated == 1
    for categories in ((), range(8)):
        assert find_gaps(units_of(many, categories), labels, 0).n_separated == 2


@pytest.mark.parametrize(("n_rows", "n_separated"), [(38, 1), (40, 2)])
def test_clusters_of_twenty_rows_may_show_a_gap_and_smaller_ones_none(n_rows, n_separated):
    X, labels = two_groups(n_rows, 12)
    found = find_gaps(units_of(X), labels, 0)
    assert np.isnan(found.p_values[0, 1]) == (n_separated == 1)
    assert found.n_separated == n_separated


def test_a_cluster_of_few_rows_joins_the_closest_one_and_no_others():
    X, labels = two_groups(300, 8)
    few = np.full((5, 4), 5.0) + np.random.default_rng(1).normal(size=(5, 4))
    found = find_gaps(units_of(np.vstack([X, few])), np.r_[labels, np.full(5, 2)], 0)
    assert found.groups.tolist() == [0, 1, 1]


def test_a_cluster_of_few_rows_joins_two_that_it_lies_between():
    angle = np.linspace(0, np.pi, 120)
    arc = 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    labels = np.digitize(angle, [1.33, 1.81])
    assert np.bincount(labels).tolist() == [51, 18, 51]
    found = []
    for seed in range(20):
        X = arc + 0.2 * np.random.default_rng(seed).normal(size=arc.shape)
        outer = labels != 1
        found.append(find_clearest_gap(units_of(X[outer]), labels[outer] // 2, 0, 2))
        assert find_gaps(units_of(X), labels, 0).n_separated == 1
    # Of 400 seeds, two show no gap between the outer ones.
    assert np.mean(np.array(found) > norm.isf(0.01)) >= 0.9


def four_clouds(distance, rng):
    X = rng.normal(size=(240, 3))
    labels = np.repeat(np.arange(4), 60)
    X[:, 0] += distance * labels
    return units_of(X), labels


class TestNullGaps:
    """What a table without groups shows, and what is compared with it."""

    @pytest.fixture
    def tested(self, monkeypatch):
        pairs, own = [], gaps._test_pair

        def note(ties, categorical, labels, a, b, *more, **given):
            pairs.append((a, b))
            return own(ties, categorical, labels, a, b, *more, **given)

        monkeypatch.setattr(gaps, "_test_pair", note)
        return pairs

    def test_the_clearest_gap_is_that_of_all_pairs(self, rng):
        units, labels = four_clouds(1.2, rng)
        ties, each = find_ties(units), []
        for a, b in combinations(range(4), 2):
            rows, halves = np.isin(labels, [a, b]), generator(7, Stream.GAPS, a, b)
            given = ties.take(np.flatnonzero(rows)), units.categorical, labels[rows] == b
            each.append(gaps.find_gap_of_pair(*given, halves, with_valley=False))
        found = find_clearest_gap(units, labels, 7, 4)
        assert found == gaps.as_z(np.array(each)).max() < gaps._LARGEST

    def test_no_pair_is_tested_after_one_as_clear_as_can_be(self, tested, rng):
        assert find_clearest_gap(*four_clouds(30, rng), 0, 4) == gaps._LARGEST
        assert tested == [(0, 3)]

    def test_clusters_far_apart_need_no_test_of_their_own(self, tested, rng):
        found = find_gaps(*four_clouds(30, rng), 0, null=np.zeros(19))
        assert (found.n_separated, found.apart.sum()) == (4, 12)
        assert tested == [(0, 1), (1, 2), (2, 3)]

    def test_no_gap_is_clearer_than_the_clearest_of_null_tables(self, tested, rng):
        found = find_gaps(*four_clouds(30, rng), 0, null=np.full(19, gaps._LARGEST))
        assert (found.n_separated, found.apart.sum()) == (1, 0)
        assert not np.isnan(found.p_values).any()
        assert tested == [(0, 1), (1, 2), (2, 3)]


def joined_clusters(positions, sizes, gaps_between):
    """Find the groups of clusters on a line, with gaps between some pairs."""
    apart = np.zeros((len(sizes), len(sizes)), dtype=bool)
    for a, b in gaps_between:
        apart[a, b] = apart[b, a] = True
    distances = np.subtract.outer(positions, positions) ** 2
    return gaps._find_groups(apart, np.array(sizes), distances).tolist()


@pytest.mark.parametrize(
    ("positions", "gaps_between", "groups"),
    [
        ([0.0, 10.0, -2.0], [(0, 1)], [0, 1, 0]),  # beside one: of its group
        ([0.0, 10.0, 5.0], [(0, 1)], [0, 0, 0]),  # between both: joins them
        ([0.0, 10.0, 5.0], [(0, 1), (0, 2)], [0, 1, 1]),  # a gap to one of them
        ([0.0, 10.0, 5.0], [(0, 1), (0, 2), (1, 2)], [0, 1, 2]),
        ([0.0, 10.0, 20.0], [], [0, 0, 0]),
    ],
)
def test_a_cluster_joins_the_closest_larger_one_and_those_it_lies_between(
    positions, gaps_between, groups
):
    assert joined_clusters(positions, [90, 80, 30], gaps_between) == groups


@pytest.mark.parametrize(("n_rows", "groups"), [(39, [0, 1, 0]), (40, [0, 0, 0])])
def test_one_with_half_as_many_rows_joins_two_though_it_lies_beside_them(n_rows, groups):
    apart = [(0, 1)]
    assert joined_clusters([0.0, 10.0, -2.0], [90, 80, n_rows], apart) == groups


@pytest.mark.parametrize(("n_rows", "groups"), [(4, [0, 1, 0]), (5, [0, 0, 0])])
def test_fewer_than_five_rows_join_no_others_that_they_lie_between(n_rows, groups):
    assert joined_clusters([0.0, 10.0, 4.9], [90, 80, n_rows], [(0, 1)]) == groups


def test_pieces_of_a_group_do_not_join_the_others(rng):
    X = rng.normal(size=(600, 4)) + 10.0 * np.eye(4)[np.arange(600) % 3]
    # The first group is cut into pieces, the smallest of 25 rows.
    labels = np.arange(600) % 3
    first = np.flatnonzero(labels == 0)
    labels[first[np.argsort(X[first, 3])[:25]]] = 3
    assert find_gaps(units_of(X), labels, 0).groups.tolist() == [0, 1, 2, 0]


def test_positions_are_those_of_a_loop(rng):
    X, labels = two_groups(40, 3)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    learn = np.arange(40) < 20
    none = np.zeros(4, dtype=bool)
    found, smooth = place_between(X, none, none, labels == 1, learn, rng)
    first, second = X[learn & (labels == 0)], X[learn & (labels == 1)]
    difference = np.nanmean(second, axis=0) - np.nanmean(first, axis=0)
    counts = (~np.isnan(first)).sum(axis=0) + (~np.isnan(second)).sum(axis=0)
    sums = np.nansum((first - np.nanmean(first, axis=0)) ** 2, axis=0)
    sums += np.nansum((second - np.nanmean(second, axis=0)) ** 2, axis=0)
    weight = difference / (sums / (counts - 2))
    expected = []
    for row in X[~learn]:
        seen = ~np.isnan(row)
        total = (weight * difference)[seen].sum()
        if total >= 0.5 * (weight * difference).sum():
            apart = row - np.nanmean(first, axis=0)
            expected.append((weight * apart)[seen].sum() / total)
        else:
            expected.append(np.nan)
    assert np.allclose(found, expected, equal_nan=True)
    assert smooth == 1


def test_the_reference_is_that_of_gaussian_clouds(rng):
    for n_rows in (20, 100):
        drawn = []
        for _ in range(50):
            cloud = rng.normal(size=2 * n_rows)
            orders = [rng.permutation(2 * n_rows) for _ in range(gaps._SPLITS_AT_ONCE)]
            halves = [cloud[half] for order in orders for half in (order[::2], order[1::2])]
            drawn.append(np.sqrt(n_rows) * np.mean([dip(half) for half in halves]))
        assert np.mean(drawn) == pytest.approx(gaps._MEAN, abs=0.03)
        assert np.std(drawn) == pytest.approx(gaps._SPREAD, abs=0.015)


def table_of_few_values(seed):
    rng = np.random.default_rng(seed)
    labels = (np.arange(214) % 5 < 2).astype(int)
    X = np.round(rng.normal(size=(214, 7)) + labels[:, None])
    X[:, :2] = np.maximum(X[:, :2], 0)
    return X, labels


@pytest.mark.slow
def test_a_table_of_few_values_has_a_gap_by_every_seed_or_by_none():
    """With one order of equal values and four splits, 16 % of the pairs of seeds differed here."""
    differ = []
    for number in range(6):
        X, labels = table_of_few_values(number)
        share = np.mean([find_gaps(units_of(X), labels, s).n_separated == 2 for s in range(10)])
        differ.append(2 * share * (1 - share))
    assert np.mean(differ) < 0.05


def test_equal_values_are_put_in_another_order_in_each_draw(rng):
    X = np.column_stack([np.repeat([3.0, 1.0, 2.0], [50, 30, 20]), rng.normal(size=100)])
    X[::9, 0] = np.nan
    ties = find_ties(units_of(X))
    first, second = ties.draw(rng), ties.draw(rng)
    assert (ties.are_tied.tolist(), ties.columns.tolist()) == ([True, False], [0])
    assert np.array_equal(first[:, 1], X[:, 1])
    seen = ~np.isnan(X[:, 0])
    assert np.array_equal(np.isnan(first[:, 0]), ~seen)
    for drawn, rows in ((first, slice(None)), (ties.take(np.arange(80)).draw(rng), slice(80))):
        for value in (1, 2, 3):
            places = norm.cdf(drawn[X[rows, 0] == value, 0])
            low, high = ((X[seen, 0] < value).mean(), (X[seen, 0] <= value).mean())
            assert np.all((low - 1e-8 <= places) & (places <= high + 1e-8))
    assert not np.allclose(first[seen, 0], second[seen, 0])


def test_more_splits_are_drawn_only_where_the_mean_may_be_on_either_side():
    assert gaps._find_side(np.array([1.0, 1.1, 0.9, 1.0])) == 1
    assert gaps._find_side(np.array([-1.0, -1.1, -0.9, -1.0])) == -1
    assert gaps._find_side(np.array([0.06, 0.05, 0.05, 0.06])) == 0
    assert gaps._find_side(np.array([5.0])) == 0


def test_the_level_decides_which_pairs_are_apart():
    X, labels = two_groups(300, 8)
    p_value = find_gaps(units_of(X), labels, 0).p_values[0, 1]
    assert 0 < p_value < 1e-3
    for level, n_separated in ((p_value, 2), (p_value / 2, 1)):
        found = find_gaps(units_of(X), labels, 0, levels=Levels(gaps=level))
        assert found.apart.tolist() == [[False, n_separated == 2], [n_separated == 2, False]]
        assert found.n_separated == n_separated


def test_a_pair_of_too_few_rows_shows_no_gap_everywhere():
    X, labels = two_groups(300, 8)
    found = find_gaps(units_of(X), np.where(np.arange(300) < 10, 2, labels), 0)
    assert np.isnan(found.p_values[2, :2]).all()
    assert not found.apart[2].any()
    assert found.untested == [2]


def test_a_cluster_without_rows_is_of_some_group():
    X, labels = two_groups(300, 8)
    found = find_gaps(units_of(X), labels, 0, n_clusters=4)
    assert found.p_values.shape == (4, 4)
    assert found.p_values.diagonal().tolist() == [1.0] * 4
    assert found.groups.shape == (4,)
    assert found.n_separated == 2
