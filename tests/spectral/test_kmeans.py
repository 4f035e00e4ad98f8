"""k-means: every start is Lloyd's loop, the best of them is as good as scikit-learn's."""

import numpy as np
import pytest
from helpers import close, groups
from hypothesis import given
from hypothesis import strategies as st
from oracles import lloyd
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.preprocessing import scale

from pckid._utils.arrays import to_numpy
from pckid.spectral import kmeans as k_means

seeds = st.integers(0, 2**32 - 1)
TABLES = {
    "iris": lambda: (load_iris().data, 3),
    "wine": lambda: (scale(load_wine().data), 3),
    "moons": lambda: (make_moons(200, noise=0.1, random_state=0)[0], 5),
    "groups": lambda: (np.nan_to_num(groups(n_samples=200)[0]), 4),
    "noise": lambda: (np.random.default_rng(0).standard_normal((150, 2)), 8),
}


@given(seed=seeds, n_clusters=st.integers(1, 6))
def test_each_start_follows_lloyds_loop(seed, n_clusters):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    start = X[rng.choice(40, n_clusters, replace=False)]
    centers, cost = lloyd(X, start)
    found = k_means.lloyd(X, start[None])
    close(found.centers, centers)
    close(found.inertia, cost)


@given(seed=seeds, n_clusters=st.integers(1, 6))
def test_weights_count_in_means_and_cost(seed, n_clusters):
    rng = np.random.default_rng(seed)
    X, weights = rng.standard_normal((40, 3)), rng.uniform(0.1, 4.0, 40)
    start = X[rng.choice(40, n_clusters, replace=False)]
    centers, cost = lloyd(X, start, row_weights=weights)
    found = k_means.lloyd(X, start[None], weights=weights)
    close(found.centers, centers)
    close(found.inertia, cost)


@given(seed=seeds, n_clusters=st.integers(1, 6))
def test_whole_weights_are_repeated_rows(seed, n_clusters):
    rng = np.random.default_rng(seed)
    X, counts = rng.standard_normal((30, 2)), rng.integers(1, 5, 30)
    uniforms = rng.random((7, n_clusters))
    repeated = np.repeat(X, counts, axis=0)
    centers = k_means.plus_plus(X, uniforms, counts.astype(float))
    np.testing.assert_array_equal(centers, k_means.plus_plus(repeated, uniforms))
    expected = k_means.lloyd(repeated, centers)
    close(k_means.lloyd(X, centers, weights=counts.astype(float)).inertia, expected.inertia)


def test_the_best_of_all_starts_is_returned(rng):
    X = rng.standard_normal((60, 2))
    starts = np.stack([X[rng.choice(60, 5, replace=False)] for _ in range(12)])
    each = [lloyd(X, start) for start in starts]
    best = min(each, key=lambda result: result[1])
    found = k_means.lloyd(X, starts)
    close(found.centers, best[0])
    close(found.inertia, best[1])
    assert best[1] < max(cost for _, cost in each)


def test_a_start_cut_short_still_returns_its_cost():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    start = X[:6]
    centers, cost = lloyd(X, start, max_iter=2)
    found = k_means.lloyd(X, start[None], max_iter=2)
    close(found.centers, centers)
    close(found.inertia, cost)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_iter", [1, 7, 8, 13, 300])
def test_a_device_that_is_seldom_asked_follows_lloyds_loop(monkeypatch, weighted, max_iter):
    rng = np.random.default_rng(2)
    X, weights = rng.standard_normal((150, 2)), rng.uniform(0.1, 4.0, 150) if weighted else None
    start = X[rng.choice(150, 6, replace=False)]
    centers, cost = lloyd(X, start, max_iter=max_iter, row_weights=weights)
    monkeypatch.setattr(k_means, "is_host", lambda _: False)
    found = k_means.lloyd(X, start[None], max_iter, weights)
    close(found.centers, centers)
    close(found.inertia, cost)


def test_a_device_finds_the_best_of_all_starts_in_few_looks(monkeypatch, rng):
    X = rng.standard_normal((300, 2))
    starts = np.stack([X[rng.choice(300, 5, replace=False)] for _ in range(12)])
    looks = []
    monkeypatch.setattr(k_means, "to_numpy", lambda array: looks.append(array.shape) or array)
    expected = k_means.lloyd(X, starts)
    n_iterations = len(looks) - 1
    looks.clear()
    monkeypatch.setattr(k_means, "is_host", lambda _: False)
    close(k_means.lloyd(X, starts).inertia, expected.inertia)
    assert n_iterations > 8
    assert len(looks) - 1 == -(-n_iterations // 8)
    assert [n_starts for (n_starts,) in looks[:-1]] != [12] * (len(looks) - 1)


def test_a_cluster_without_rows_keeps_its_centre():
    X = np.array([[0.0], [1.0], [2.0]])
    found = k_means.lloyd(X, np.array([[[1.0], [50.0]]]))
    close(found.centers, [[1.0], [50.0]])
    close(found.inertia, 2.0)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", [0, 1])
def test_never_worse_than_sklearn(name, seed):
    X, k = TABLES[name]()
    theirs = KMeans(k, n_init=20, random_state=seed).fit(X).inertia_
    found = k_means.kmeans(X, k, n_init=100, rng=np.random.default_rng(seed))
    assert found.inertia <= theirs * (1 + 1e-3)


def test_inertia_is_the_sum_of_squared_distances_to_the_nearest(rng):
    X, centers = rng.standard_normal((30, 3)), rng.standard_normal((4, 5, 3))
    for start, cost in zip(centers, k_means.inertia(X, centers), strict=True):
        close(cost, sum(min(np.sum((x - c) ** 2) for c in start) for x in X), scale=10)


def test_inertia_does_not_cancel_next_to_a_large_offset(rng):
    X = rng.standard_normal((50, 2)) + 3e3 * np.arange(50)[:, None] % 2
    near = k_means.kmeans(X, 2, n_init=5, rng=np.random.default_rng(0)).inertia
    far = k_means.kmeans(X + 1e7, 2, n_init=5, rng=np.random.default_rng(0)).inertia
    np.testing.assert_allclose(far, near, rtol=1e-6)


def test_squared_distances_keep_their_digits(rng):
    X = 1e6 + rng.standard_normal((20, 3))
    expected = [[np.sum((x - c) ** 2) for x in X] for c in X[:4]]
    np.testing.assert_allclose(
        k_means.squared_distances_to(X)(X[:4]), expected, rtol=1e-6, atol=1e-9
    )
    assert k_means.squared_distances_to(X)(X[:4]).min() >= 0


def test_starts_are_drawn_by_squared_distance(rng):
    X = np.array([[0.0], [1.0], [3.0]])
    uniforms = rng.random((20_000, 2))
    uniforms[:, 0] = 0.0  # the first centre is the first row
    second = k_means.plus_plus(X, uniforms)[:, 1, 0]
    np.testing.assert_allclose(np.mean(second == 3.0), 0.9, atol=0.01)
    np.testing.assert_allclose(np.mean(second == 1.0), 0.1, atol=0.01)


def test_the_first_centre_is_any_row():
    X = np.arange(4.0)[:, None]
    uniforms = np.random.default_rng(0).random((8000, 1))
    counts = np.bincount(k_means.plus_plus(X, uniforms)[:, 0, 0].astype(int), minlength=4)
    np.testing.assert_allclose(counts / 8000, 0.25, atol=0.03)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fewer_distinct_points_than_clusters(dtype):
    X = np.repeat(np.array([[0.0, 1.0], [2.0, 5.0]], dtype=dtype), 6, axis=0)
    found = k_means.kmeans(X, 4, n_init=5, rng=np.random.default_rng(0))
    assert found.centers.shape == (4, 2)
    assert np.isfinite(found.centers).all()
    assert found.inertia < 1e-10


def test_one_row():
    found = k_means.kmeans(np.array([[2.0, 3.0]]), 1, n_init=3, rng=np.random.default_rng(0))
    close(found.centers, [[2.0, 3.0]])
    assert found.inertia == 0


def test_starts_done_in_parts_equal_starts_done_at_once(monkeypatch):
    X = np.random.default_rng(0).standard_normal((80, 3))
    whole = k_means.kmeans(X, 4, n_init=9, rng=np.random.default_rng(3))
    monkeypatch.setattr(k_means, "_CELLS_HOST", 80 * 4 * 2)
    for jobs in (1, 3):
        parts = k_means.kmeans(X, 4, n_init=9, rng=np.random.default_rng(3), jobs=jobs)
        close(parts.centers, whole.centers)
        close(parts.inertia, whole.inertia)


@pytest.mark.parametrize("weighted", [False, True])
def test_runs_alike_on_every_array_library(backend, weighted):
    X = np.nan_to_num(groups()[0])
    counts = np.random.default_rng(2).uniform(0.5, 3.0, len(X))
    weights, given = (counts, backend.asarray(counts)) if weighted else (None, None)
    rng, again = np.random.default_rng(0), np.random.default_rng(0)
    expected = k_means.kmeans(X, 3, n_init=10, rng=rng, weights=weights)
    found = k_means.kmeans(backend.asarray(X), 3, n_init=10, rng=again, weights=given)
    close(to_numpy(found.centers), expected.centers)
    close(found.inertia, expected.inertia)


def test_a_row_at_two_centers_is_as_near_to_one_as_to_the_other():
    rows = np.array([[0.1, 0.7], [0.3, 0.2]])
    centers = np.array([rows[0], rows[1] + 1e-17, rows[1] * (1 + 2e-16)])
    assert (k_means.distances_to(rows, centers)[1:, 1] == 0).all()
    assert k_means.distances_to(rows, centers)[0, 1] == pytest.approx(np.hypot(0.2, 0.5))


def test_rows_that_are_alike_are_not_drawn_by_rounding():
    rows = np.repeat(np.random.default_rng(0).normal(size=(6, 5)), 7, axis=0)
    centred = rows - rows.mean(axis=0)
    squares = (centred**2).sum(axis=1)
    alike = (rows[:, None] == rows).all(axis=2)
    # As they are computed, but for the rounding.
    assert (squares[:, None] + squares - 2 * centred @ centred.T)[alike].max() > 0
    distances = k_means.squared_distances_to(rows)(rows)
    np.testing.assert_array_equal(distances == 0, alike)
