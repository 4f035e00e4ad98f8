"""Imputation followed by k-means or RBF spectral clustering."""

import doctest
from statistics import median, mode

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from experiments import baselines
from experiments.baselines import RBFSpectralClustering, all_baselines, baseline
from pckid.metrics import clustering_accuracy

seeds = st.integers(0, 2**32 - 1)

STATISTICS = {
    "zero": lambda values: 0.0,
    "mean": lambda values: sum(values) / len(values),
    "median": median,
    "most_frequent": lambda values: mode(sorted(values)),
}


def holed_blobs(n_clusters=3, n_features=4):
    """Draw well separated clusters of rounded values and remove a tenth of them."""
    X, y = make_blobs(60, n_features, centers=n_clusters, cluster_std=0.3, random_state=3)
    X = X.round(1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


def filled_by_hand(X, imputation):
    filled = X.copy()
    for column in filled.T:
        seen = [value for value in column if not np.isnan(value)]
        for row, value in enumerate(column):
            if np.isnan(value):
                column[row] = STATISTICS[imputation](seen) if seen else 0.0
    return filled


def embedding_by_hand(X, width, n_components):
    """Form the kernel entry by entry and take all of its eigenvectors."""
    n_samples = len(X)
    pairs = [(i, j) for i in range(n_samples) for j in range(i)]
    sigma = width * median(np.linalg.norm(X[i] - X[j]) for i, j in pairs)
    kernel = np.eye(n_samples)
    for i, j in pairs:
        kernel[i, j] = kernel[j, i] = np.exp(-np.sum((X[i] - X[j]) ** 2) / (2 * sigma**2))
    values, vectors = np.linalg.eigh(kernel)
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    gap = values[n_components - 1] - values[n_components]
    return sigma, vectors[:, :n_components] * np.sqrt(values[:n_components]), gap


# --------------------------------------------------------------------- RBF spectral clustering


@parametrize_with_checks([RBFSpectralClustering()])
@pytest.mark.slow
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, width=st.floats(0.1, 2), n_clusters=st.integers(1, 4))
def test_the_embedding_is_uncentred_kernel_pca(seed, width, n_clusters):
    X = np.random.default_rng(seed).normal(size=(12, 3))
    model = RBFSpectralClustering(n_clusters, width=width, n_init=1, random_state=0).fit(X)
    sigma, expected, gap = embedding_by_hand(X, width, n_clusters)
    assert model.sigma_ == pytest.approx(sigma)
    assume(gap > 1e-5)  # else rounding decides which direction is the last one kept
    # Signs are free, and so is the basis within equal eigenvalues; inner products are neither.
    np.testing.assert_allclose(
        model.embedding_ @ model.embedding_.T, expected @ expected.T, atol=1e-8
    )
    np.testing.assert_allclose(
        model.embedding_.T @ model.embedding_, expected.T @ expected, atol=1e-8
    )


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_the_largest_entry_of_each_direction_is_positive(seed):
    X = np.random.default_rng(seed).normal(size=(12, 3))
    Z = RBFSpectralClustering(4, n_init=1, random_state=0).fit(X).embedding_
    np.testing.assert_allclose(Z.max(axis=0), np.abs(Z).max(axis=0), rtol=1e-12)


def test_labels_are_k_means_of_the_embedding():
    X, _ = make_blobs(40, random_state=0)
    model = RBFSpectralClustering(3, n_init=7, random_state=5).fit(X)
    kmeans = KMeans(3, n_init=7, random_state=5).fit(model.embedding_)
    np.testing.assert_array_equal(model.labels_, kmeans.labels_)


def test_separated_clusters_are_found():
    X, y = make_blobs(60, centers=4, cluster_std=0.3, random_state=0)
    labels = RBFSpectralClustering(4, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) == 1


def test_the_scale_and_the_origin_of_the_table_do_not_matter():
    X, _ = make_blobs(40, random_state=0)
    model = RBFSpectralClustering(3, random_state=0).fit(X)
    moved = clone(model).fit(1e-6 * X + 1.0)
    assert moved.sigma_ == pytest.approx(1e-6 * model.sigma_)
    np.testing.assert_allclose(moved.embedding_, model.embedding_, atol=1e-7)
    np.testing.assert_array_equal(moved.labels_, model.labels_)


def test_if_most_rows_are_identical_the_median_of_the_other_distances_counts():
    X = np.array([[0.0]] * 8 + [[3.0], [5.0]])
    model = RBFSpectralClustering(3, random_state=0).fit(X)
    # Sixteen distances of 3 and 5 between the rows of zeros and the others, one of 2.
    assert model.sigma_ == pytest.approx(0.2 * median([3.0] * 8 + [5.0] * 8 + [2.0]))
    assert clustering_accuracy([0] * 8 + [1, 2], model.labels_) == 1


def test_identical_rows_have_a_width_of_one():
    model = RBFSpectralClustering(1, random_state=0).fit(np.full((5, 2), 7.0))
    assert model.sigma_ == 0.2
    np.testing.assert_allclose(model.embedding_, np.ones((5, 1)))


def test_one_row_is_one_cluster():
    np.testing.assert_array_equal(RBFSpectralClustering(1).fit([[1.0, 2.0]]).labels_, [0])


def test_too_few_rows_are_an_error():
    with pytest.raises(ValueError, match=r"n_samples=2 .* n_clusters=3"):
        RBFSpectralClustering(3).fit([[1.0], [2.0]])


def test_missing_values_are_an_error():
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RBFSpectralClustering(1).fit([[1.0], [np.nan]])


@pytest.mark.parametrize(
    ("name", "value"), [("n_clusters", 0), ("n_clusters", 2.5), ("width", 0.0), ("n_init", 0)]
)
def test_parameters_out_of_range_are_an_error(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of RBFSpectralClustering"):
        RBFSpectralClustering(**{name: value}).fit(np.eye(10))


# ----------------------------------------------------------------------------------- pipelines


@pytest.mark.parametrize("imputation", STATISTICS)
@pytest.mark.parametrize(
    ("clustering", "clusterer"), [("kmeans", KMeans), ("spectral", RBFSpectralClustering)]
)
def test_a_baseline_fills_in_and_clusters(imputation, clustering, clusterer):
    X, _ = holed_blobs()
    pipeline = baseline(imputation, clustering, 3, n_init=5, random_state=2)
    filled = filled_by_hand(X, imputation)
    expected = clusterer(3, n_init=5, random_state=2).fit_predict(filled)
    np.testing.assert_array_equal(pipeline.fit_predict(X), expected)
    np.testing.assert_allclose(pipeline["impute"].transform(X), filled)


def test_the_eight_baselines_have_the_names_of_the_paper():
    expected = {
        f"{short}+{clustering}": (imputation, clustering)
        for clustering in ("spectral", "kmeans")
        for short, imputation in zip(("ZI", "AI", "MI", "MFVI"), STATISTICS, strict=True)
    }
    pipelines = all_baselines(3, n_init=5, random_state=2)
    assert list(pipelines) == list(expected)
    for name, words in expected.items():
        assert str(pipelines[name]) == str(baseline(*words, 3, n_init=5, random_state=2))


@pytest.mark.parametrize("name", all_baselines(2))
def test_k_means_starts_a_hundred_times(name):
    assert all_baselines(2)[name]["cluster"].n_init == 100


@pytest.mark.parametrize("name", all_baselines(2))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_and_columns_with_nothing_observed_are_filled_in(name, dtype):
    X, _ = holed_blobs()
    X[0] = np.nan
    X[:, 1] = np.nan
    pipeline = all_baselines(3, n_init=2, random_state=0)[name]
    labels = pipeline.fit_predict(X.astype(dtype))
    assert labels.shape == (60,)
    assert set(labels) == {0, 1, 2}
    without = clone(pipeline).fit_predict(np.delete(X, 1, axis=1).astype(dtype))
    assert clustering_accuracy(without, labels) == 1


def test_a_table_without_holes_needs_no_imputation():
    X, y = make_blobs(60, centers=3, cluster_std=0.3, random_state=0)
    for pipeline in all_baselines(3, n_init=10, random_state=0).values():
        assert clustering_accuracy(y, pipeline.fit_predict(X)) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("knn", "kmeans"), r"no imputation 'knn'. .*\['zero', 'mean', 'med"),
        (("mean", "dbscan"), r"no clustering 'dbscan'. .*\['spectral', 'km"),
    ],
)
def test_an_unknown_baseline_is_an_error(words, sentence):
    with pytest.raises(ValueError, match=sentence):
        baseline(*words, 2)


def test_the_examples_in_the_docstrings_run():
    result = doctest.testmod(baselines)
    assert result.attempted > 0
    assert result.failed == 0
