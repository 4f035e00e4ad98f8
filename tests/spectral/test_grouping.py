"""Labels count from the largest cluster, and those that hold no row come last."""

import numpy as np
import pytest
from helpers import groups

import pckid
from pckid._utils.arrays import to_numpy
from pckid.spectral.clustering import _by_size, largest_first

X, _ = groups(n_samples=60, n_features=4)


@pytest.mark.parametrize(("n_clusters", "embedding"), [(45, "kernel_pca"), (60, "random_walk")])
def test_more_clusters_than_the_kernel_can_tell_apart(n_clusters, embedding):
    # Two mixtures of two components: no more than a few rows differ in the embedding.
    model = pckid.PCKID(n_clusters, n_inits=2, max_components=3, embedding=embedding,
                        kmeans_n_init=10, reg_covar=1e-3, random_state=0)  # fmt: skip
    with pytest.warns(pckid.EmptyClusterWarning) as warned:
        labels = model.fit_predict(X)
    sizes = np.bincount(labels, minlength=n_clusters)
    assert (np.diff(sizes) <= 0).all()
    n_found = (sizes > 0).sum()
    assert n_found < n_clusters
    assert f" {n_found} of the {n_clusters} " in str(warned[0].message)
    assert np.array_equal(model.predict(X), labels)


def test_twins_and_ties_leave_the_largest_first(backend):
    if backend.name == "read-only":
        pytest.skip("nothing is written into rows or centres")
    # The row at 0 lies between the centres at -1 and 1; the centre at 5 is there twice.
    rows = backend.asarray(np.array([[-1.0], [0.0]] + 3 * [[1.0]] + 5 * [[5.0]]))
    centers = backend.asarray(np.array([[-1.0], [1.0], [5.0], [5.0]]))
    ordered, distances, order = map(to_numpy, largest_first(rows, centers))
    assert ordered.ravel().tolist() == [5.0, 1.0, -1.0, 5.0]
    assert order[:2].tolist() == [2, 1]
    np.testing.assert_array_equal(distances, abs(ordered - to_numpy(rows).T))


def test_clusters_that_weigh_the_same_come_in_the_order_of_their_first_rows():
    labels, weights = np.array([2, 0, 0, 2, 1]), np.array([0.5, 0.25, 0.75, 0.5, 3.0])
    assert _by_size(labels, 4, weights).tolist() == [1, 2, 0, 3]
