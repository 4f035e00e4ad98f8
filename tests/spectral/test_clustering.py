"""From a kernel to clusters: the largest first, those that hold no row last, other numbers too."""

import numpy as np
import pytest
from helpers import SMALL, groups
from sklearn.metrics import adjusted_rand_score

import pckid
from pckid import PCKID
from pckid._utils.arrays import to_numpy
from pckid.describe.rows import standardised_rows
from pckid.spectral import clustering
from pckid.spectral.clustering import cluster_by_numbers, cluster_points, largest_first, recluster

X, TRUTH = groups(n_samples=60, n_features=4)


class TestLargestFirst:
    def test_largest_first_counts_rows_between_two_centres_anew(self, backend, monkeypatch):
        # The rows at 0 are as near to -1 as to 1. At first they belong to -1: 3, 4, 2 and 0 rows.
        # In that order they move to 1: 6, 1 and 2 rows, so that the centre at -1 is the smallest.
        rows = [[-1.0], [0.0], [0.0], *4 * [[1.0]], *2 * [[9.0]]]
        rows, centers = (backend.asarray(np.array(x)) for x in (rows, [[-1.0], [1.0], [9.0], [9]]))
        ordered, distances, order = map(to_numpy, largest_first(rows, centers))
        assert ordered.ravel().tolist() == [1.0, 9.0, -1.0, 9.0]
        assert order.tolist() == [1, 2, 0, 3]
        np.testing.assert_array_equal(distances, abs(ordered - to_numpy(rows).T))
        monkeypatch.setattr(clustering, "_TURNS", 1)
        assert to_numpy(largest_first(rows, centers)[0]).ravel().tolist() == [1.0, -1.0, 9.0, 9.0]

    def test_largest_first_adds_weights_and_breaks_ties_by_the_first_row(self):
        rows, centers = np.array([[2.0], [0], [0], [2], [1]]), np.arange(4.0)[:, None]
        weights = np.array([0.5, 0.25, 0.75, 0.5, 3.0])
        assert largest_first(rows, centers, weights)[2].tolist() == [1, 2, 0, 3]
        assert largest_first(rows, centers)[2].tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(("n_clusters", "embedding"), [(45, "kernel_pca"), (60, "random_walk")])
def test_more_clusters_than_the_kernel_can_separate(n_clusters, embedding):
    # Two mixtures of two components: no more than a few rows differ in the embedding.
    model = PCKID(n_clusters, n_inits=2, max_components=3, embedding=embedding,
                  kmeans_n_init=10, reg_covar=1e-3, random_state=0)  # fmt: skip
    with pytest.warns(pckid.EmptyClusterWarning) as warned:
        labels = model.fit_predict(X)
    sizes = np.bincount(labels, minlength=n_clusters)
    assert (np.diff(sizes) <= 0).all()
    n_found = (sizes > 0).sum()
    assert n_found < n_clusters
    assert f" {n_found} of the {n_clusters} " in str(warned[0].message)
    assert np.array_equal(model.predict(X), labels)


@pytest.mark.parametrize("n_landmarks", [60, 30])
def test_recluster_labels_rows_as_fits_with_these_numbers_do(n_landmarks):
    model = PCKID(2, **SMALL, n_landmarks=n_landmarks).fit(X)
    sample, new = model._draw(X).sample, X[:20] + 0.1
    how = {"embedding": "random_walk", "n_landmarks": n_landmarks, "n_init": 100, "jobs": 1}
    own = recluster(model._kernel, sample, [2, 3, 4], **how)
    others = standardised_rows(model, new)
    placed = recluster(model._kernel, sample, [2, 3, 4], others=others, **how)
    for k, labels, predicted in zip((2, 3, 4), own, placed, strict=True):
        again = PCKID(k, **SMALL, n_landmarks=n_landmarks).fit(X)
        np.testing.assert_array_equal(labels, again.labels_)
        np.testing.assert_array_equal(predicted, again.predict(new))


def test_cluster_points_numbers_clusters_by_their_sizes(rng):
    truth = np.repeat([2, 0, 1], [5, 30, 12])
    points = rng.normal(size=(47, 3)) + 20 * np.eye(3)[truth]
    np.testing.assert_array_equal(cluster_points(points, rng), truth)


def test_cluster_by_numbers_finds_each_number_of_clusters():
    model = PCKID(2, **SMALL).fit(X)
    table = standardised_rows(model, X)
    found = cluster_by_numbers(model._kernel, "random_walk", table, [1, 2, 3], 1)
    assert [len(set(labels)) for labels in found] == [1, 2, 3]
    assert adjusted_rand_score(found[2], TRUTH) == 1
    assert all((np.diff(np.bincount(labels)) <= 0).all() for labels in found)
