"""The comparison with null tables, and stability, against slow oracles."""

import numpy as np
import pytest
from scipy import stats

from pckid.significance.comparison import (
    Comparison,
    NullComparison,
    compare_structures,
    compare_until_clear,
)
from pckid.significance.stability import measure_stability
from pckid.significance.structure import (
    Structure,
    association_within,
    measure_structure,
    walk_spectrum,
)


def test_association_is_the_share_of_the_kernel_within_clusters():
    rng = np.random.default_rng(0)
    features = rng.random((12, 4))
    kernel, labels = features @ features.T, np.arange(12) % 3
    shares = []
    for cluster in range(3):
        rows = [i for i in range(12) if labels[i] == cluster]
        within = sum(kernel[i, j] for i in rows for j in rows)
        shares.append(within / sum(kernel[i, j] for i in rows for j in range(12)))
    assert association_within(kernel, labels, 3) == pytest.approx(np.mean(shares))
    assert association_within(kernel, labels, 6) == pytest.approx(np.sum(shares) / 6)


def test_the_spectrum_is_that_of_the_random_walk():
    features = np.random.default_rng(1).random((9, 5))
    kernel = features @ features.T
    walk = kernel / kernel.sum(axis=1, keepdims=True)
    found = walk_spectrum(kernel, 3)
    expected = np.sort(np.linalg.eigvals(walk).real)[::-1][:3]
    np.testing.assert_allclose(found.eigenvalues, expected)
    np.testing.assert_allclose(
        walk @ found.coordinates, found.coordinates * found.eigenvalues, atol=1e-10
    )


def test_the_p_value_is_that_of_a_further_draw():
    null = np.random.default_rng(2).normal(size=7)
    compared = Comparison(1.5, null)
    expected = stats.ttest_ind([1.5], null, alternative="greater").pvalue
    assert compared.p_value == pytest.approx(expected)
    assert Comparison(0.0, np.zeros(5)).p_value == pytest.approx(0.5)


def test_structures_are_compared_in_units_of_the_null():
    null = [
        Structure(np.array([0.0, 10.0]), np.array([1.0])),
        Structure(np.array([1.0, 30.0]), np.array([3.0])),
        Structure(np.array([2.0, 20.0]), np.array([2.0])),
    ]
    found = compare_structures(Structure(np.array([2.0, 50.0]), np.array([5.0])), null)
    assert found.statistic == pytest.approx((max(1.0, 3.0) + 3.0) / 2)
    np.testing.assert_allclose(
        found.null_statistics, [(-1.0 - 1.0) / 2, (1.0 + 1.0) / 2, (1.0 + 0.0) / 2]
    )


def test_structure_has_one_association_for_each_number_of_clusters():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2)) + 9 * np.eye(2)[np.arange(60) % 2]
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8)
    found = measure_structure(kernel)
    assert found.associations.shape == (7,)
    assert found.associations[0] == pytest.approx(
        association_within(kernel, np.arange(60) % 2, 2), abs=0.01
    )
    assert found.dips.shape == (3,)
    assert found.dips[0] > 0.1


@pytest.mark.parametrize(("statistic", "n_null"), [(9.0, 9), (0.0, 9), (1.8, 17)])
def test_null_tables_are_drawn_until_the_answer_is_clear(statistic, n_null):
    class Fake:
        n_null = 0

        def extend(self, size):
            self.n_null += size
            return Comparison(
                statistic, stats.norm.ppf((np.arange(self.n_null) + 0.5) / self.n_null)
            )

    assert len(compare_until_clear(Fake()).null_statistics) == n_null


def test_every_table_has_a_seed_of_its_own():
    seeds, X = [], np.random.default_rng(4).normal(size=(30, 2))

    def kernel_of(table, seed):
        seeds.append(seed)
        return np.exp(-((table[:, None] - table) ** 2).sum(axis=2))

    comparison = NullComparison(X, np.zeros(2, dtype=bool), kernel_of, 0)
    comparison.extend(5)
    assert len(comparison.extend(2).null_statistics) == 7
    assert len(seeds) == len(set(seeds)) == 3 + 7


def test_of_wide_tables_some_columns_are_compared(monkeypatch):
    monkeypatch.setattr("pckid.significance.comparison.MAX_COLUMNS", 3)
    X, used = np.random.default_rng(5).normal(size=(30, 8)), set()

    def kernel_of(table, seed):
        used.add(tuple(np.flatnonzero(~np.isnan(table).all(axis=0))))
        filled = np.nan_to_num(table)
        return np.exp(-((filled[:, None] - filled) ** 2).sum(axis=2))

    NullComparison(X, np.zeros(8, dtype=bool), kernel_of, 0).extend(5)
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
