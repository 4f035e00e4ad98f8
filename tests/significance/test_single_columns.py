"""Columns that split rows by themselves, or go with no other column, do not count."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import stats

from pckid import PCKID, EmptyRowWarning, IgnoredColumnsWarning
from pckid.estimator import cluster_into_others
from pckid.significance.single_columns import (
    cluster_distances,
    find_single_columns,
    measure_relation,
    split_alone,
)
from pckid.significance.units import find_units


def three_groups(n_rows=300, distance=6, seed=0):
    """Three groups in four columns of numbers, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 3
    centers = distance * np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    return centers[labels] + rng.normal(size=(n_rows, 4)), labels


def with_coin(X, levels=2, seed=1):
    """The table with a column of random numbers 0, 1, …"""
    return np.column_stack([X, np.random.default_rng(seed).integers(levels, size=len(X))])


def units_of(X, categories=()):
    categorical = np.zeros(X.shape[1], dtype=bool)
    categorical[list(categories)] = True
    return find_units(X, categorical)


class TestClusterDistances:
    def test_numbers_as_a_loop_has_them(self):
        X, labels = three_groups(90)
        X[::5, 1] = np.nan
        found = cluster_distances(units_of(X), labels)
        for a in range(3):
            for b in range(3):
                for j in range(4):
                    first, second = X[labels == a, j], X[labels == b, j]
                    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
                    within = (
                        ((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()
                    ) / (len(first) + len(second) - 2)
                    expected = (first.mean() - second.mean()) ** 2 / within
                    expected -= 1 / len(first) + 1 / len(second)
                    assert found[a, b, j] == pytest.approx(expected)

    def test_categories_as_a_loop_has_them(self, rng):
        labels = np.arange(80) % 2
        codes = np.where(rng.random(80) < 0.7, labels, 2).astype(float)
        found = cluster_distances(
            units_of(np.column_stack([codes, rng.normal(size=80)]), [0]), labels
        )
        p, q = (np.bincount(codes[labels == a].astype(int), minlength=3) / 40 for a in (0, 1))
        between = 0.5 * sum((a - b) ** 2 / (a + b) for a, b in zip(p, q, strict=True))
        assert found[0, 1, 0] == pytest.approx(4 * between / (1 - between) - 2 * (1 / 40 + 1 / 40))

    def test_a_cluster_with_one_value_of_a_column_is_0_apart_there(self):
        X, labels = three_groups(90)
        X[np.flatnonzero(labels == 1)[1:], 2] = np.nan
        found = cluster_distances(units_of(X), labels)
        assert not found[1, :, 2].any()
        assert not found[:, 1, 2].any()
        assert found[0, 2, 2] > 0
        assert found[1, 0, 3] == found[0, 1, 3] != 0

    def test_the_same_clusters_are_0_apart_on_average(self, rng):
        X = np.column_stack([rng.normal(size=(2000, 20)), rng.integers(4, size=(2000, 20))])
        found = cluster_distances(units_of(X, range(20, 40)), rng.integers(2, size=2000))
        assert abs(found[0, 1].mean()) < 3 * 2 * (2 / 1000) / np.sqrt(40)


def test_a_coin_alone_tells_the_halves_of_a_group_apart():
    X, labels = three_groups()
    X = with_coin(X)
    halves = labels * 2 + X[:, 4].astype(int)
    assert split_alone(cluster_distances(units_of(X), halves)).tolist() == [False] * 4 + [True]
    assert not split_alone(cluster_distances(units_of(X), labels)).any()


def test_columns_of_one_category_count_as_one():
    X, labels = three_groups()
    coin = with_coin(X)[:, 4].astype(int)
    one_hot = np.column_stack([X, np.eye(2)[coin]])
    units = units_of(one_hot)
    found = find_single_columns(units, labels * 2 + coin)
    assert units.columns_of(found) == [4, 5]


class TestRelation:
    def test_columns_that_go_together_are_told_from_those_that_do_not(self, rng):
        base = rng.normal(size=400)
        category = np.where(base > 0, 2, rng.integers(2, size=400))
        parabola = base**2 + 0.3 * rng.normal(size=400)
        X = np.column_stack([base, parabola, category, *rng.normal(size=(3, 400))])
        X[rng.random(X.shape) < 0.1] = np.nan
        found = measure_relation(units_of(X, [2]))
        assert (found.p_values > 0.05).tolist() == [False] * 3 + [True] * 3

    def test_numbers_as_a_loop_has_them(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(200, 3))
        X[:, 1:] += 0.3 * X[:, :1]
        scores = []
        for column in X.T:
            ranks = stats.rankdata(column)
            line = stats.zscore(ranks)
            square = stats.zscore(ranks**2)
            scores.append([line, stats.zscore(square - np.mean(line * square) * line)])
        found = measure_relation(units_of(X))
        for i in range(3):
            others = [np.array([[np.mean(a * b) for b in scores[j]] for a in scores[i]])
                      for j in range(3) if j != i]  # fmt: skip
            assert found.strongest[i] == pytest.approx(max(np.abs(r).max() for r in others))
            # The smallest of two p-values, times two.
            smallest = min(stats.chi2.sf(199 * (r**2).sum(), 4) for r in others)
            assert found.p_values[i] == pytest.approx(min(2 * smallest, 1))
        assert found.p_values.max() < 1

    def test_two_categories_as_a_contingency_table_has_them(self):
        rng = np.random.default_rng(2)
        first = rng.integers(3, size=300)
        second = np.where(rng.random(300) < 0.1, first, rng.integers(4, size=300))
        counts = stats.contingency.crosstab(first, second).count
        expected = stats.chi2_contingency(counts, correction=False)
        found = measure_relation(units_of(np.column_stack([first, second]).astype(float), [0, 1]))
        p_value = stats.chi2.sf(expected.statistic * 299 / 300, expected.dof)
        assert found.p_values == pytest.approx([p_value] * 2)

    def test_independent_columns_are_called_so(self):
        rng = np.random.default_rng(3)
        found = [
            measure_relation(units_of(rng.exponential(size=(60, 2)))).p_values[0]
            for _ in range(400)
        ]
        assert stats.kstest(found, "uniform").pvalue > 0.001


def test_a_column_that_goes_with_others_counts_though_it_splits_a_cluster(rng):
    shares = np.array([[0.95] * 5 + [0.5], [0.05] * 6])
    X = (rng.random((600, 6)) < shares[np.arange(600) % 2]).astype(float)
    halves = np.where(np.arange(600) % 2, 0, 1 + X[:, 5].astype(int))
    assert split_alone(cluster_distances(units_of(X), halves))[5]
    assert not len(find_single_columns(units_of(X), halves))


def test_few_rows_do_not_show_that_columns_are_unrelated():
    X, labels = three_groups(90)
    assert not len(find_single_columns(units_of(with_coin(X)), labels))


def test_two_columns_are_left_at_least():
    X, labels = three_groups()
    X = with_coin(X[:, :2])
    found = find_single_columns(units_of(X[:, 1:]), labels * 2 + X[:, 2].astype(int))
    assert not len(found)


@cache
def without_a_coin(distance):
    X, _ = three_groups(distance=distance)
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    return X, PCKID("auto", random_state=0).fit(X)


@pytest.mark.parametrize(
    ("distance", "levels"),
    [(4, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((4, 5), (12, 2)))],
)
def test_labels_are_those_of_the_table_without_the_column(distance, levels):
    X, plain = without_a_coin(distance)
    with pytest.warns(IgnoredColumnsWarning, match="Column 4"):
        coin = PCKID("auto", random_state=0).fit(with_coin(X, levels))
    assert plain.n_clusters_ == 3
    assert coin.choice_.ignored == (4,)
    assert np.array_equal(coin.labels_, plain.labels_)
    assert np.array_equal(coin.predict(with_coin(X, levels, seed=5)), plain.predict(X))
    # The column is left out of other numbers of clusters, too.
    (again,) = cluster_into_others(coin, with_coin(X, levels), [3])
    assert np.array_equal(again, coin.labels_)


def test_a_number_with_two_modes_is_no_group():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    X[:, 2] += 8 * rng.integers(2, size=300)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IgnoredColumnsWarning)
        assert PCKID("auto", random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.slow
def test_latent_classes_of_six_columns_of_0_and_1_are_found():
    rng = np.random.default_rng(4)
    shares = np.array([[0.95] * 6, [0.05] * 6, [0.95] * 3 + [0.05] * 3])
    X = (rng.random((450, 6)) < shares[np.arange(450) % 3]).astype(float)
    model = PCKID("auto", n_inits=5, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert model.choice_.ignored == ()


def test_given_a_number_of_clusters_every_column_counts():
    X, _ = three_groups()
    model = PCKID(3, random_state=0).fit(with_coin(X))
    assert not hasattr(model, "choice_")
    assert len(model.feature_importances_) == 5
    assert model.dropped_features_ == []


def test_rows_with_values_in_ignored_columns_alone_are_said():
    X, _ = three_groups(distance=8)
    X = with_coin(X)
    X[:5, :4] = np.nan
    X[5] = np.nan  # has no value at all
    with (
        pytest.warns(EmptyRowWarning, match="1 of 300 rows"),
        pytest.warns(IgnoredColumnsWarning, match=r" 5 rows .* other column"),
    ):
        model = PCKID("auto", random_state=0).fit(X)
    assert (model.labels_[:6] == -1).all()
    assert (model.labels_[6:] >= 0).all()


def test_clusters_of_another_number_go_by_the_columns_of_the_fit():
    X = with_coin(three_groups(distance=8)[0])
    with pytest.warns(IgnoredColumnsWarning):
        model = PCKID("auto", random_state=0).fit(X)
    same, more = cluster_into_others(model, X, [model.n_clusters_, model.n_clusters_ + 1])
    np.testing.assert_array_equal(same, model.labels_)
    assert more.max() == model.n_clusters_


def test_with_one_cluster_every_column_counts(rng):
    X = rng.normal(size=(300, 5))
    X[:, 1] += X[:, 0]
    X[:7, :2] = np.nan
    model = PCKID("auto", random_state=0).fit(X)
    assert (model.n_clusters_, model.choice_.ignored) == (1, ())
    assert (model.labels_ == 0).all()


def test_more_rows_relate_the_columns_of_a_rare_group():
    dropped = np.zeros(2)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        labels = (rng.random(3000) < 0.03).astype(int)
        X = rng.normal(size=(3000, 5)) + 2.4 * labels[:, None]
        few = units_of(X[:1000])
        dropped += [
            len(find_single_columns(few, labels[:1000], related)) for related in (None, units_of(X))
        ]
    assert dropped[1] < dropped[0] / 2
