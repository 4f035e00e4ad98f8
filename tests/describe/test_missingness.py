"""Whether holes tell of clusters: against loops, and against chance."""

import statistics

import numpy as np
import pytest

from pckid.describe.missingness import (
    find_followed_missingness,
    find_missing_flags,
    missingness_links,
    stratified_strength,
)


def groups_and_values(seed, n_rows=300, n_groups=3, n_columns=5, apart=3.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_groups, size=n_rows)
    centers = apart * rng.normal(size=(n_groups, n_columns))
    return rng, rng.normal(size=(n_rows, n_columns)) + centers[labels], labels


def test_strength_within_strata_is_that_of_loops(rng):
    labels, strata = rng.integers(3, size=200), rng.integers(4, size=200)
    strata[0] = 4  # a row alone
    missing = rng.random((200, 3)) < np.where(labels == 1, 0.6, 0.2)[:, None]
    missing[strata == 2, 1] = False
    found = stratified_strength(missing, labels, strata)
    for column, holes in enumerate(missing.T.astype(float)):
        between = 0.0
        for stratum in range(4):
            mine = holes[strata == stratum]
            groups = [holes[(strata == stratum) & (labels == c)] for c in range(3)]
            between += sum(len(part) * (part.mean() - mine.mean()) ** 2 for part in groups)
            between -= 2 * statistics.variance(mine)
        whole = sum((hole - holes.mean()) ** 2 for hole in holes)
        assert found[column] == pytest.approx(np.sqrt(max(between, 0) / whole))


def test_strength_within_one_stratum_is_cramers_v(rng):
    labels = rng.integers(3, size=500)
    missing = rng.random((500, 1)) < np.where(labels == 1, 0.7, 0.2)[:, None]
    found = stratified_strength(missing, labels, np.zeros(500, dtype=int))
    assert found[0] == pytest.approx(missingness_links(~missing, labels)[0].strength, abs=2e-3)


def test_clusters_follow_holes_at_random_in_next_to_no_table():
    told = []
    for seed in range(100):
        n_rows, n_groups = (100, 300, 1000)[seed % 3], 2 + seed % 4
        rng, values, labels = groups_and_values(seed, n_rows, n_groups, 4 + seed % 5, seed % 4)
        values[rng.random(values.shape) < 0.05 + 0.45 * rng.random()] = np.nan
        told.append(bool(find_followed_missingness(values, labels).followed))
    assert np.mean(told) < 0.05


def test_holes_that_follow_a_value_are_not_followed_by_clusters_that_differ_in_it():
    told, together = [], []
    for seed in range(40):
        rng, values, labels = groups_and_values(seed, 400)
        high = values[:, 0] - np.median(values[:, 0])
        chance = (high > 0) if seed % 2 else 1 / (1 + np.exp(-2 * high))
        values[rng.random(400) < chance, 1] = np.nan
        found = find_followed_missingness(values, labels)
        told.append(bool(found.followed))
        together.append(bool(found.together))
    assert np.mean(told) < 0.05
    assert np.mean(together) > 0.8  # which a test that looks at holes and clusters alone would tell


@pytest.mark.parametrize("apart", [0.0, 0.5], ids=["values alike", "values differ somewhat"])
def test_holes_that_make_the_clusters_are_named(apart):
    for seed in range(20):
        rng, values, labels = groups_and_values(seed, 200, 2, 5, apart)
        values[rng.random(200) < np.where(labels == 1, 0.9, 0.1), 2] = np.nan
        values[rng.random(200) < 0.2, 3] = np.nan
        assert find_followed_missingness(values, labels).followed == [2]


def test_holes_that_come_together_do_not_explain_each_other():
    _, values, labels = groups_and_values(0, 200, 2, 4, 0.0)
    values[np.ix_(labels == 1, [1, 2])] = np.nan
    assert sorted(find_followed_missingness(values, labels).followed) == [1, 2]


def test_few_missing_cells_are_too_few_to_tell():
    _, values, labels = groups_and_values(0, 100, 2, 4, 0.0)
    for n_missing, followed in ((9, []), (45, [1])):
        holes = values.copy()
        holes[np.flatnonzero(labels == 1)[:n_missing], 1] = np.nan
        assert find_followed_missingness(holes, labels).followed == followed


@pytest.mark.parametrize(("n_cells", "together"), [(9, []), (10, [1])])
@pytest.mark.parametrize("rare", ["missing", "observed"])
def test_neither_few_missing_nor_few_observed_cells_tell(rng, n_cells, together, rare):
    labels = (np.arange(100) < 15).astype(int)
    values, few = rng.normal(size=(100, 3)), np.arange(100) < n_cells
    values[few if rare == "missing" else ~few, 1] = np.nan
    assert find_followed_missingness(values, labels).together == together


def test_categories_explain_holes_too(rng):
    labels = rng.integers(3, size=400)
    answers = np.where(rng.random(400) < 0.9, labels, rng.integers(3, size=400)).astype(float)
    values = np.stack([answers, rng.normal(size=400)], axis=1)
    values[rng.random(400) < np.where(answers == 2, 0.9, 0.1), 1] = np.nan
    found = find_followed_missingness(values, labels, categorical=[0])
    assert found.together == [1]
    assert found.followed == []


def test_nothing_is_followed_without_rows_or_clusters():
    values = np.full((4, 2), np.nan)
    assert find_followed_missingness(values, np.full(4, -1)).followed == []
    assert find_followed_missingness(values, np.zeros(4, dtype=int)).followed == []


@pytest.mark.parametrize(("n_wrong", "found"), [(0, {0: 2}), (1, {0: 2}), (9, {})])
@pytest.mark.parametrize("measured", [False, True])
def test_a_column_that_is_the_missingness_of_another_is_a_flag(rng, n_wrong, found, measured):
    X = rng.normal(size=(300, 4))
    X[rng.random(300) < 0.4, 2] = np.nan
    X[rng.random(300) < 0.2, 3] = np.nan
    flag = np.isnan(X[:, 2]) != measured
    flag[:n_wrong] = ~flag[:n_wrong]
    X[:, 0] = np.where(flag, 5.0, 2.0)
    assert find_missing_flags(X) == found
    assert find_missing_flags(X[:, 1:]) == {}
    assert find_missing_flags(X[:0]) == {}
