"""The comparison with null tables, and stability, against slow oracles."""

import numpy as np
import pytest
from scipy import stats

from pckid.significance.comparison import Comparison, standardise_measures
from pckid.significance.stability import measure_stability
from pckid.significance.structure import association_within, largest_gap, walk_spectrum


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
    assert largest_gap(np.array([1.0, 0.9, 0.8, 0.3, 0.2])) == 3


def test_the_p_value_is_that_of_a_further_draw():
    rng = np.random.default_rng(2)
    null = rng.normal(size=7)
    null -= null.mean()
    compared = Comparison(1.5, null)
    expected = stats.ttest_ind([1.5], null, alternative="greater").pvalue
    assert compared.p_value == pytest.approx(expected)
    assert Comparison(0.0, np.zeros(5)).p_value == pytest.approx(0.5)


def test_measures_count_alike_in_units_of_the_null():
    own, null = np.array([2.0, 30.0]), np.array([[0.0, 10.0], [1.0, 30.0], [2.0, 20.0]])
    found = standardise_measures(own, null)
    assert found.statistic == pytest.approx((1.0 + 1.0) / 2)
    np.testing.assert_allclose(found.null_statistics, [-1.0, 0.5, 0.5])


def test_stability_by_hand():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    same_by_other_names = 1 - labels
    one_moved = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    found = measure_stability(labels, [same_by_other_names, one_moved], 2)
    np.testing.assert_allclose(found.clusters, [(1 + 3 / 4) / 2, (1 + 4 / 5) / 2])
    np.testing.assert_allclose(found.recovery, [1.0, 1.0])
    np.testing.assert_allclose(found.rows, [1, 1, 1, 0.5, 1, 1, 1, 1])
