"""The comparison with null tables, and stability, against slow oracles."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from pckid.significance import comparison
from pckid.significance.comparison import (
    Comparison,
    Structure,
    compare_structures,
    compare_with_null_tables,
    leave_one_out,
    measure_structure,
    rows_to_compare,
)
from pckid.significance.ensemble import n_starts
from pckid.significance.levels import LEVELS
from pckid.significance.margins import dip
from pckid.significance.stability import measure_stability


def test_the_p_value_is_that_of_a_further_draw():
    null = np.random.default_rng(2).normal(size=7)
    compared = Comparison(1.5, null)
    expected = stats.ttest_ind([1.5], null, alternative="greater").pvalue
    assert compared.p_value == pytest.approx(expected)
    assert Comparison(0.0, np.zeros(5)).p_value == pytest.approx(0.5)


def structure(*numbers):
    """One number of each kind."""
    return Structure(*(np.array([number]) for number in numbers))


def draw_structures(rng, count):
    return [Structure(rng.random(2), rng.random(7), rng.random(3)) for _ in range(count)]


def test_the_statistic_is_the_mean_of_the_highest_of_each_kind_with_eigenvalues_twice():
    rng = np.random.default_rng(6)
    own, null = draw_structures(rng, 3), draw_structures(rng, 5)

    def measure(one, others):
        highest = []
        for kind in ("eigenvalues", "eigenvalues", "shares", "dips"):
            found = []
            for i, value in enumerate(getattr(one, kind)):
                compared = [getattr(other, kind)[i] for other in others]
                found.append((value - np.mean(compared)) / np.std(compared, ddof=1))
            highest.append(max(found))
        return np.mean(highest)

    compared = compare_structures(own, null)
    statistics = [measure(one, null) for one in own]
    assert compared.statistic == pytest.approx(np.mean(statistics))
    assert compared.error == pytest.approx(stats.sem(statistics))
    assert compare_structures(own[:1], null).error == 0
    expected = [measure(null[i], null[:i] + null[i + 1 :]) for i in range(5)]
    np.testing.assert_allclose(compared.null_statistics, expected)


def test_null_tables_that_are_all_the_same_leave_the_answer_open():
    same = [structure(0.5, 0.3, 0.1)] * 7
    compared = compare_structures(same[:3], same)
    assert compared.p_value == pytest.approx(0.5)
    assert compare_structures([structure(0.6, 0.3, 0.1)], same).p_value < 1e-6


def test_each_row_is_standardised_by_the_others():
    values = np.random.default_rng(7).normal(3, 2, size=(6, 4))
    found = leave_one_out(values)
    for i, row in enumerate(values):
        others = np.delete(values, i, axis=0)
        expected = (row - others.mean(axis=0)) / others.std(axis=0, ddof=1)
        np.testing.assert_allclose(found[i], expected)


def test_p_values_of_few_null_tables_are_honest():
    rng = np.random.default_rng(8)
    p_values = []
    for _ in range(400):
        own, *null = draw_structures(rng, 8)
        p_values.append(compare_structures([own], null).p_value)
    # Three standard errors; standardised by all null tables, a quarter would be up to 0.05.
    assert np.mean(np.array(p_values) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_structure_is_that_of_the_random_walk():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2)) + 9 * np.eye(2)[np.arange(60) % 2]
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8)
    found = measure_structure(kernel)
    values, vectors = np.linalg.eig(kernel / kernel.sum(axis=1, keepdims=True))
    order = np.argsort(-values.real)
    values, vectors = values.real[order], vectors.real[:, order]
    np.testing.assert_allclose(found.eigenvalues, [values[1], np.mean(values[1:8])])
    expected = [sum(values[1 : i + 1]) / sum(values[1:14]) for i in range(1, 8)]
    np.testing.assert_allclose(found.shares, expected)
    np.testing.assert_allclose(found.dips, [dip(vectors[:, i]) for i in (1, 2, 3)], atol=1e-6)
    assert found.dips[0] > 0.1


def test_few_rows_that_come_often_have_a_structure():
    kernel = np.kron(np.eye(2), np.ones((15, 15)))
    found = measure_structure(kernel)
    np.testing.assert_allclose(found.eigenvalues, [1, 1 / 7])
    np.testing.assert_allclose(found.shares, 1, atol=1e-6)


@pytest.mark.parametrize(
    ("settled", "n_null", "asked"),
    [([True], 6, None), ([False, True], 9, None), ([False] * 4 + [True], 72, None),
     ([False] * 6, 144, None), ([False], 30, 30)],
)  # fmt: skip
def test_null_tables_are_drawn_until_the_answer_is_clear(monkeypatch, settled, n_null, asked):
    sizes = []

    def compare(own, null):
        sizes.append((len(own), len(null)))
        return SimpleNamespace(is_settled=lambda level: settled[len(sizes) - 1])

    monkeypatch.setattr(comparison, "compare_structures", compare)
    monkeypatch.setattr(comparison, "measure_structure", lambda kernel: kernel)
    X = np.random.default_rng(4).normal(size=(30, 2))
    how = np.zeros(2, dtype=bool), lambda tables, seeds: seeds, 0
    compare_with_null_tables(X, *how, n_null=asked)
    assert sizes[-1] == (max(3, n_null // 3), n_null)
    assert len(sizes) == len(settled)


def test_the_error_of_the_height_is_that_of_repeated_comparisons():
    rng, heights = np.random.default_rng(6), []
    for _ in range(400):
        own, null = rng.normal(2.0, 0.5, size=4), rng.normal(size=20)
        found = Comparison(own.mean(), null, own.std(ddof=1) / 2)
        heights.append((found._in_spreads[0], found.n_errors(0.03)))
    height, n_errors = np.array(heights).T
    threshold = stats.t.isf(0.03, 19) * np.sqrt(1 + 1 / 20)
    errors = np.abs(height - threshold) / n_errors
    assert np.median(errors) == pytest.approx(height.std(), rel=0.2)


def test_null_tables_that_vary_much_by_chance_make_no_answer_surer():
    # Below the threshold the standard deviation of the null tables is as uncertain as at it.
    null = np.random.default_rng(7).normal(size=9)
    threshold = stats.t.isf(0.03, 8) * np.sqrt(1 + 1 / 9)
    expected = threshold / np.sqrt(1 / 9 + threshold**2 / 16)
    assert Comparison(null.mean(), null).n_errors(0.03) == pytest.approx(expected)
    high = Comparison(null.mean() + 9 * null.std(ddof=1), null)
    assert high.n_errors(0.03) == pytest.approx((9 - threshold) / np.sqrt(1 / 9 + 81 / 16))


def test_none_is_the_answer_only_once_four_null_tables_are_as_clear():
    null = np.r_[np.full(30, -3.0), np.linspace(1, 2, 10)]
    for height, n_exceeding in ((1.65, 4), (1.7, 3)):
        found = Comparison(height, null)
        assert found.n_errors(0.001) > 2.5
        assert (null >= height).sum() == n_exceeding
        assert found.is_settled(0.001) == (n_exceeding == 4)
    clear = Comparison(40.0, null)
    assert clear.n_errors(0.03) > 2.5
    assert clear.is_settled(0.03)
    near = Comparison(1.0, null)
    assert not near.is_settled(near.p_value)


def test_the_level_decides_when_a_comparison_stops(monkeypatch):
    levels = []
    found = SimpleNamespace(is_settled=lambda level: levels.append(level) or True)
    monkeypatch.setattr(comparison, "compare_structures", lambda own, null: found)
    monkeypatch.setattr(comparison, "measure_structure", lambda kernel: kernel)
    X = np.random.default_rng(4).normal(size=(30, 2))
    how = np.zeros(2, dtype=bool), lambda tables, seeds: seeds, 0
    compare_with_null_tables(X, *how)
    compare_with_null_tables(X, *how, level=0.2)
    assert levels == [LEVELS.structure, 0.2]


def test_long_tables_are_compared_by_other_rows_each_time():
    X, seen = np.random.default_rng(5).normal(size=(600, 2)), []

    def kernels_of(tables, seeds):
        seen.extend(tables)
        return (np.exp(-((x[:40, None] - x[:40]) ** 2).sum(axis=2)) for x in tables)

    compare_with_null_tables(X, np.zeros(2, dtype=bool), kernels_of, 0, n_null=6)
    assert {len(table) for table in seen} == {500}
    first, second = ({tuple(row) for row in table} for table in seen[:2])
    assert first != second
    assert first | second <= {tuple(row) for row in X}


def test_at_most_two_thousand_rows_are_modelled():
    np.testing.assert_array_equal(rows_to_compare(2000, 3), np.arange(2000))
    rows = rows_to_compare(2500, 3)
    assert len(rows) == len(set(rows)) == 2000
    assert (np.diff(rows) > 0).all()
    assert set(rows) != set(rows_to_compare(2500, 4))


def test_rows_are_drawn_by_weight_as_many_as_they_are_worth():
    weights = np.r_[np.full(80, 3.0), np.full(80, 1e-6), np.zeros(40)]
    rows = rows_to_compare(200, 0, weights)
    np.testing.assert_array_equal(rows, np.arange(80))
    assert len(rows_to_compare(100, 0, np.r_[100.0, np.ones(99)])) == 4


@pytest.mark.parametrize(
    ("n_inits", "shape", "expected"),
    [
        (10, (20, 4), 20),
        (10, (100, 20), 20),
        (10, (200, 20), 10),
        (10, (400, 5), 5),
        (30, (500, 20), 5),
        (10, (80, 50), 10),
        (10, (80, 1000), 5),
        (5, (60, 14), 20),
        (3, (60, 14), 3),
    ],
)
def test_small_tables_are_compared_by_more_starts(n_inits, shape, expected):
    assert n_starts(n_inits, *shape) == expected


def test_every_table_has_a_seed_of_its_own():
    seeds, X = [], np.random.default_rng(4).normal(size=(30, 2))

    def kernels_of(tables, drawn):
        seeds.extend(drawn)
        return (np.exp(-((x[:, None] - x) ** 2).sum(axis=2)) for x in tables)

    found = compare_with_null_tables(X, np.zeros(2, dtype=bool), kernels_of, 0, n_null=7)
    assert len(found.null_statistics) == 7
    assert len(seeds) == len(set(seeds)) == 3 + 7


def test_of_wide_tables_some_columns_are_compared(monkeypatch):
    monkeypatch.setattr("pckid.significance.comparison.MAX_COLUMNS", 3)
    X, used = np.random.default_rng(5).normal(size=(30, 8)), set()

    def kernels_of(tables, seeds):
        used.update(tuple(np.flatnonzero(~np.isnan(x).all(axis=0))) for x in tables)
        filled = map(np.nan_to_num, tables)
        return (np.exp(-((x[:, None] - x) ** 2).sum(axis=2)) for x in filled)

    compare_with_null_tables(X, np.zeros(8, dtype=bool), kernels_of, 0, n_null=5)
    assert len(used) == 1
    assert len(used.pop()) == 3
    assert not np.isnan(X).any()


def test_stability_by_hand():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    same_by_other_names = 1 - labels
    one_moved = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    found = measure_stability(labels, [same_by_other_names, one_moved], 2)
    np.testing.assert_allclose(found.clusters, [(1 + 3 / 4) / 2, (1 + 4 / 5) / 2])
    np.testing.assert_allclose(found.recovery, [1.0, 1.0])
    np.testing.assert_allclose(found.rows, [1, 1, 1, 0.5, 1, 1, 1, 1])


def test_a_cluster_of_one_row_is_found_again():
    labels = np.array([0, 0, 0, 1])
    np.testing.assert_array_equal(measure_stability(labels, [labels], 2).clusters, [1, 1])
