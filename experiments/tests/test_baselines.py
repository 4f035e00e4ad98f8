"""The paper's baselines, against slow and obvious code."""

from statistics import median, mode

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from experiments.baselines import IMPUTATIONS, embed_kernel, impute, rbf_kernel
from experiments.methods import find

STATISTICS = {
    "ZI": lambda values: 0.0,
    "AI": lambda values: sum(values) / len(values),
    "MI": median,
    "MFVI": lambda values: mode(sorted(values)),
}


def kernel_by_hand(X, width):
    n_samples = len(X)
    pairs = [(i, j) for i in range(n_samples) for j in range(i)]
    sigma = width * median(np.linalg.norm(X[i] - X[j]) for i, j in pairs)
    kernel = np.eye(n_samples)
    for i, j in pairs:
        kernel[i, j] = kernel[j, i] = np.exp(-np.sum((X[i] - X[j]) ** 2) / (2 * sigma**2))
    return kernel


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), width=st.floats(0.1, 2), n_components=st.integers(1, 4))
def test_rows_are_embedded_by_uncentred_kernel_pca(seed, width, n_components):
    X = np.random.default_rng(seed).normal(size=(12, 3))
    kernel = kernel_by_hand(X, width)
    np.testing.assert_allclose(rbf_kernel(X, width), kernel, atol=1e-12)
    values, vectors = np.linalg.eigh(kernel)
    assume(values[-n_components] - values[-n_components - 1] > 1e-5)
    expected = vectors[:, -n_components:] * np.sqrt(values[-n_components:])
    Z = embed_kernel(kernel, n_components)
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-8)
    np.testing.assert_allclose(Z.max(axis=0), np.abs(Z).max(axis=0))


def test_the_width_is_of_distances_that_are_not_0():
    X = np.array([[0.0]] * 8 + [[3.0], [5.0]])
    sigma = 0.2 * median([3.0] * 8 + [5.0] * 8 + [2.0])
    assert rbf_kernel(X, 0.2)[0, 8] == pytest.approx(np.exp(-0.5 * (3 / sigma) ** 2))
    np.testing.assert_array_equal(rbf_kernel(np.full((3, 1), 7.0), 0.2), np.ones((3, 3)))


@pytest.mark.parametrize("imputation", IMPUTATIONS)
def test_a_baseline_fills_in_and_clusters(imputation):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 4)) + 5 * np.eye(3, 4)[np.arange(60) % 3]).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.nan
    filled = X.copy()
    for column in filled.T:
        seen = [value for value in column if not np.isnan(value)]
        column[np.isnan(column)] = STATISTICS[imputation](seen) if seen else 0.0
    np.testing.assert_allclose(impute(X, imputation), filled)
    for name, rows in (
        (f"{imputation}+kmeans", filled),
        (f"{imputation}+spectral", embed_kernel(kernel_by_hand(filled, 0.2), 3)),
    ):
        (found,) = find([name])
        labels = found.override({"kmeans_n_init": 5}).cluster(X, 3, seed=2)
        expected = KMeans(3, n_init=5, random_state=2).fit_predict(rows)
        np.testing.assert_array_equal(labels, expected)
