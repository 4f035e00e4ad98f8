"""The map of the clusters: places, rows around them, and what distances mean."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs

from pckid import PCKID
from pckid.describe.layout import map_coordinates, place_centers, stress


def middles(points, labels):
    return np.array([points[labels == label].mean(axis=0) for label in np.unique(labels)])


@pytest.mark.parametrize("k", range(2, 11))
def test_separated_blobs_lie_apart_on_the_map(k):
    X, _ = make_blobs(40 * k, n_features=6, centers=k, center_box=(-20, 20), random_state=k)
    X[np.random.default_rng(k).random(X.shape) < 0.2] = np.nan
    model = PCKID(k, n_inits=2, n_sizes=3, random_state=0).fit(X)
    points = map_coordinates(model.embedding_, model.labels_, model.cluster_centers_)
    width = np.ptp(points, axis=0).max()
    assert pdist(middles(points, model.labels_)).min() > 0.1 * width


def test_places_that_fit_into_the_plane_keep_their_distances():
    places = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [0.5, 2]])
    found = place_centers(cdist(places, places))
    np.testing.assert_allclose(cdist(found, found), cdist(places, places), atol=1e-4)


def test_no_small_move_of_the_places_lowers_the_stress():
    distances = cdist(*2 * [np.random.default_rng(0).normal(size=(7, 6))])
    distances = np.maximum(distances, 0.3 * distances.max()) * ~np.eye(7, dtype=bool)
    found = place_centers(distances)
    slopes = approx_fprime(found.ravel(), lambda p: stress(p.reshape(7, 2), distances))
    np.testing.assert_allclose(slopes, 0, atol=1e-4)
    errors = [
        (np.hypot(*(found[i] - found[j])) / distances[i, j] - 1) ** 2
        for i in range(7)
        for j in range(i)
    ]
    assert stress(found, distances) == pytest.approx(sum(errors))


@pytest.mark.parametrize("k", [1, 2, 3, 15])
def test_places_of_equal_distances_are_apart(k):
    places = place_centers(np.ones((k, k)) - np.eye(k))
    assert places.shape == (k, 2)
    np.testing.assert_allclose(places.sum(axis=0), 0, atol=1e-9)
    if k > 1:
        assert pdist(places).min() > 0.15 * pdist(places).max()


def test_a_row_halfway_between_centres_is_drawn_halfway():
    centers = np.eye(3)
    embedding = np.concatenate([centers, [(centers[0] + centers[1]) / 2]])
    points = map_coordinates(embedding, np.array([0, 1, 2, 0]), centers)
    gap = np.hypot(*(points[0] - points[1]))
    halfway = (points[0] + points[1]) / 2
    # Rows are moved over a disc of at most a fifth of a gap.
    assert np.hypot(*(points[3] - halfway)) < 0.41 * gap


def test_rows_at_one_spot_are_spread_over_a_disc():
    points = map_coordinates(np.zeros((500, 2)), np.zeros(500, int), np.zeros((1, 2)))
    radii = np.hypot(*points.T)
    assert radii.max() <= 0.2
    assert pdist(points).min() > 0
    # An even disc: a quarter of the rows lies within half of the radius.
    assert np.mean(radii < 0.1) == pytest.approx(0.25, abs=0.02)


def test_the_map_does_not_depend_on_the_order_of_the_rows(rng):
    centers, labels = rng.normal(size=(4, 4)), np.arange(60) % 4
    embedding = centers[labels] + 0.1 * rng.normal(size=(60, 4))
    order = rng.permutation(60)
    points = map_coordinates(embedding, labels, centers)
    np.testing.assert_allclose(
        map_coordinates(embedding[order], labels[order], centers), points[order]
    )


def test_clusters_without_rows_twins_and_unlabelled_rows_do_no_harm():
    centers = np.array([[0.0, 0], [0, 0], [5, 0], [0, 1]])
    embedding = np.array([[0.0, 0], [0.1, 0], [0, 0.9], [0, 1.1]])
    points = map_coordinates(embedding, np.array([0, 1, 3, -1]), centers)
    assert np.isfinite(points).all()
    assert pdist(points[:3]).min() > 0
    assert np.hypot(*(points[3] - points[2])) < np.hypot(*(points[3] - points[0]))
    assert map_coordinates(np.zeros((0, 2)), np.zeros(0, int), centers).shape == (0, 2)


def test_an_outlying_row_does_not_blow_up_the_map():
    embedding = np.concatenate([np.eye(3), [[1e6, 0, 0]]])
    points = map_coordinates(embedding, np.array([0, 1, 2, 0]), np.eye(3))
    assert np.ptp(points, axis=0).max() < 3 * pdist(points[:3]).max()
