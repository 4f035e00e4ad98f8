"""Embeddings through the feature map equal the eigenvectors of the kernel matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import embed
from scipy.sparse.linalg import ArpackNoConvergence

from pckid import ProbabilisticClusterKernel
from pckid._utils.arrays import to_numpy
from pckid.spectral import embedding as spectra

KINDS = list(spectra.EMBEDDINGS)
seeds = st.integers(0, 2**32 - 1)


def posteriors(rng, n_samples, n_mixtures=6, inverse_temperature=3.0):
    """Draw a feature map Φᵀ: columns of posteriors that sum to one for each mixture."""
    hidden = rng.standard_normal((n_samples, 2))
    parts = []
    for g in range(2, 2 + n_mixtures):
        scores = inverse_temperature * hidden @ rng.standard_normal((2, g))
        parts.append(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    return np.concatenate(parts, axis=1).T / np.sqrt(n_mixtures)


def coordinates(projection, features):
    """Project the columns of Φᵀ."""
    found = features.T @ projection.basis
    return found if projection.degree is None else found / (features.T @ projection.degree)[:, None]


def assert_same_up_to_sign(found, expected, atol=1e-8):
    """Compare columns whose signs are free; eigenvalues must be apart."""
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * np.where(signs == 0, 1, signs), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, n_samples=st.sampled_from([5, 30, 33, 45, 70, 120]), k=st.integers(1, 4))
def test_coordinates_are_eigenvectors_of_the_kernel(kind, seed, n_samples, k):
    rng = np.random.default_rng(seed)
    features = posteriors(rng, n_samples)
    values, expected = embed(features.T @ features, k, kind)
    found = spectra.fit_embedding(kind, features, k, rng)
    np.testing.assert_allclose(found.eigenvalues, values, rtol=0, atol=1e-8)
    assert_same_up_to_sign(coordinates(found, features), expected)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, n_samples=st.sampled_from([5, 30, 33, 70]), k=st.integers(1, 4))
def test_weights_count_in_every_sum_over_the_kernel(kind, seed, n_samples, k):
    rng = np.random.default_rng(seed)
    features, weights = posteriors(rng, n_samples), rng.uniform(0.1, 4.0, n_samples)
    values, expected = embed(features.T @ features, k, kind, weights)
    found = spectra.fit_embedding(kind, features, k, rng, weights)
    np.testing.assert_allclose(found.eigenvalues, values, rtol=0, atol=1e-8)
    assert_same_up_to_sign(coordinates(found, features), expected)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, n_samples=st.sampled_from([5, 20, 50]), k=st.integers(1, 4))
def test_whole_weights_are_repeated_rows(kind, seed, n_samples, k):
    rng = np.random.default_rng(seed)
    features, counts = posteriors(rng, n_samples), rng.integers(1, 5, n_samples)
    repeated = np.repeat(features, counts, axis=1)
    expected = spectra.fit_embedding(kind, repeated, k, np.random.default_rng(1))
    found = spectra.fit_embedding(kind, features, k, rng, counts.astype(float))
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=0, atol=1e-8)
    # Signs too: the larger end is positive whatever the weights.
    points = coordinates(found, features)
    np.testing.assert_allclose(points, coordinates(expected, features), rtol=0, atol=1e-8)


def test_a_row_of_almost_no_weight_changes_nothing():
    features = posteriors(np.random.default_rng(0), 60)
    for kind in KINDS:
        expected = spectra.fit_embedding(kind, features[:, 1:], 3, np.random.default_rng(1))
        weights = np.r_[1e-12, np.ones(59)]
        found = spectra.fit_embedding(kind, features, 3, np.random.default_rng(1), weights)
        points = coordinates(found, features)
        assert np.isfinite(points).all()
        np.testing.assert_allclose(points, coordinates(expected, features), rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_samples", [30, 150])
def test_both_ways_to_the_eigenvectors_agree(n_samples, monkeypatch):
    features = posteriors(np.random.default_rng(0), n_samples)
    dense = spectra.fit_embedding("random_walk", features, 3, np.random.default_rng(1))
    monkeypatch.setattr(spectra, "_DENSE", 0)
    by_arpack = spectra.fit_embedding("random_walk", features, 3, np.random.default_rng(1))
    np.testing.assert_allclose(dense.eigenvalues, by_arpack.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(dense.basis, by_arpack.basis, atol=1e-8)


@pytest.mark.parametrize("n_samples", [41, 101, 201, 250])
def test_slowly_decaying_spectra_converge_too(n_samples):
    rng = np.random.default_rng(1)
    vectors = np.linalg.qr(rng.standard_normal((n_samples, n_samples)))[0]
    values = np.linspace(1.0, 0.9, n_samples)
    matrix = vectors * values @ vectors.T
    guess = rng.standard_normal((n_samples, 9))
    found, ritz = spectra.leading_eigenpairs(lambda v: matrix @ v, guess, 3)
    np.testing.assert_allclose(found, values[:3], atol=1e-10)
    assert_same_up_to_sign(ritz, vectors[:, :3] * np.sign(ritz[0] * vectors[0, :3]), 1e-6)
    np.testing.assert_allclose(ritz.T @ ritz, np.eye(3), atol=1e-10)


def test_a_guess_that_holds_an_eigenvector_is_fine():
    values = np.arange(260.0, 0.0, -1.0)
    guess = np.zeros((260, 4))
    guess[[0, 1, 2, 3, 4, 5, 6], [0, 1, 1, 2, 2, 3, 3]] = 1.0
    found, _ = spectra.leading_eigenpairs(lambda v: values[:, None] * v, guess, 2)
    np.testing.assert_allclose(found, [260.0, 259.0])


def test_float32_stops_at_its_own_precision(rng):
    features = posteriors(rng, 400, n_mixtures=20)
    calls = []

    def gram(v):
        calls.append(v.shape[1])
        return features.T.astype("f4") @ (features.astype("f4") @ v)

    guess = rng.standard_normal((400, 9)).astype("f4")
    values, _ = spectra.leading_eigenpairs(gram, guess, 3)
    expected = np.linalg.eigvalsh(features.T @ features)[::-1][:3]
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert len(calls) < 40


def test_signs_are_fixed():
    vectors = np.array([[0.1, 0.9], [-0.8, 0.2], [0.3, -0.1]])
    np.testing.assert_array_equal(spectra._fix_signs(vectors), vectors * [-1.0, 1.0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_samples", [6, 80])
@pytest.mark.parametrize("k", [1, 3])
class TestDegenerate:
    def test_identical_rows(self, kind, n_samples, k):
        features = np.full((4, n_samples), 0.5)
        found = spectra.fit_embedding(kind, features, k, np.random.default_rng(0))
        points = coordinates(found, features)
        assert np.isfinite(points).all()
        np.testing.assert_allclose(points, np.broadcast_to(points[0], points.shape), atol=1e-9)
        np.testing.assert_allclose(points[:, 1:], 0, atol=1e-9)
        top = n_samples if kind == "kernel_pca" else 1.0
        np.testing.assert_allclose(found.eigenvalues[0], top)
        np.testing.assert_allclose(found.eigenvalues[1:], 0, atol=1e-9)

    def test_rank_two(self, kind, n_samples, k):
        features = np.repeat(np.eye(2), n_samples // 2, axis=1)
        features = np.concatenate([features, features[:, :1]], axis=1)
        found = spectra.fit_embedding(kind, features, k, np.random.default_rng(0))
        points = coordinates(found, features)
        values, _ = embed(features.T @ features, k, kind)
        assert np.isfinite(points).all()
        np.testing.assert_allclose(found.eigenvalues, values, atol=1e-9)
        if k == 3:
            assert np.linalg.norm(points[0] - points[-2]) > 1e-3
            np.testing.assert_allclose(points[0], points[1], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_coordinates_as_rows(kind):
    features = posteriors(np.random.default_rng(0), 6)
    found = spectra.fit_embedding(kind, features, 6, np.random.default_rng(0))
    K = features.T @ features
    points = coordinates(found, features)
    assert points.shape == (6, 6)
    if kind == "kernel_pca":
        np.testing.assert_allclose(points @ points.T, K, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_runs_alike_on_every_array_library(backend, kind, weighted):
    features = posteriors(np.random.default_rng(0), 80)
    counts = np.random.default_rng(2).uniform(0.5, 3.0, 80)
    weights, given = (counts, backend.asarray(counts)) if weighted else (None, None)
    expected = spectra.fit_embedding(kind, features, 3, np.random.default_rng(1), weights)
    found = spectra.fit_embedding(
        kind, backend.asarray(features), 3, np.random.default_rng(1), given
    )
    for a, b in zip(found, expected, strict=True):
        if b is not None:
            assert type(a) is type(backend.asarray(features))
            np.testing.assert_allclose(to_numpy(a), b, atol=1e-8)


class TestFlatSpectra:
    """Eigenvalues that hardly differ: slow to converge, which must not pass for rounding."""

    @staticmethod
    def problem(dtype, n=600):
        rng = np.random.default_rng(0)
        vectors, _ = np.linalg.qr(rng.standard_normal((n, n)))
        matrix = ((vectors * np.linspace(1, 0.9, n)) @ vectors.T).astype(dtype)
        return matrix, rng.standard_normal((n, 9)).astype(dtype)

    @staticmethod
    def residual(matrix, values, vectors):
        return np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max()

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_on_a_cpu(self, dtype):
        matrix, guess = self.problem(dtype)
        values, vectors = spectra.leading_eigenpairs(lambda v: matrix @ v, guess, 3)
        np.testing.assert_allclose(values, np.linspace(1, 0.9, 600)[:3], atol=1e-5)
        assert self.residual(matrix, values, vectors) < 300 * np.finfo(dtype).eps

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_where_arpack_gives_up(self, dtype, monkeypatch):
        def give_up(*arguments, **options):
            raise ArpackNoConvergence("No convergence", np.empty(0), np.empty((0, 0)))

        monkeypatch.setattr(spectra, "eigsh", give_up)
        matrix, guess = self.problem(dtype)
        values, vectors = spectra.leading_eigenpairs(lambda v: matrix @ v, guess, 3)
        np.testing.assert_allclose(values, np.linspace(1, 0.9, 600)[:3], atol=1e-5)
        assert self.residual(matrix, values, vectors) < 300 * np.finfo(dtype).eps


@pytest.mark.parametrize("kind", ["ndarray", "Tensor"])
def test_no_product_of_separated_groups_is_subnormal(kind, rng):
    """Subnormal numbers would make the clearest tables the slowest ones, tenfold."""
    X = rng.normal(size=(200, 20)) + 10 * rng.normal(size=(3, 20))[np.arange(200) % 3]
    rows = X if kind == "ndarray" else pytest.importorskip("torch").asarray(X)
    features = ProbabilisticClusterKernel(dtype="float32", random_state=0).fit_transform(rows)
    products = to_numpy(features).astype(np.float64) ** 2
    assert np.min(products[products > 0]) > np.finfo(np.float32).smallest_normal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_samples", [20, 90])
@pytest.mark.parametrize("most", [0, 10**6])
def test_eigenvectors_found_on_the_host_and_where_the_rows_lie(
    backend, monkeypatch, kind, n_samples, most
):
    features = posteriors(np.random.default_rng(3), n_samples)
    values, expected = embed(features.T @ features, 3, kind)
    monkeypatch.setattr(spectra, "_ON_HOST", most)
    there = backend.asarray(features)
    found = spectra.fit_embedding(kind, there, 3, np.random.default_rng(0))
    assert type(found.basis) is type(there)
    host = spectra.Projection(*(part if part is None else to_numpy(part) for part in found))
    np.testing.assert_allclose(host.eigenvalues, values, rtol=0, atol=1e-8)
    assert_same_up_to_sign(coordinates(host, features), expected)


def test_coordinates_of_a_walk_are_its_eigenvectors_but_the_constant_one(rng):
    features = posteriors(rng, 40)
    graph = features.T @ features
    degree = graph.sum(axis=1)
    values, vectors = np.linalg.eigh(graph / np.sqrt(np.outer(degree, degree)))
    values, vectors = values[::-1][1:4], vectors[:, ::-1][:, 1:4]
    guess = rng.standard_normal((40, 5))
    found, coordinates = spectra.walk_coordinates(graph, guess, 3)
    np.testing.assert_allclose(found, values)
    assert_same_up_to_sign(coordinates, vectors / np.sqrt(degree)[:, None] * values)
