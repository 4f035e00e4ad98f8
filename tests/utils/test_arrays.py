"""Array libraries: what comes in decides what goes out, and where it is computed."""

import sys

import numpy as np
import pytest
from helpers import SMALL, groups

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel
from pckid._utils import arrays as _arrays

X = groups()[0]


def test_only_other_libraries_are_foreign(backend):
    assert _arrays.is_foreign(backend.asarray(X)) == (backend.name in ("array-api-strict", "torch"))
    assert not _arrays.is_foreign(X.tolist())


def test_there_and_back(backend):
    for values in (X, X.astype(np.float32), np.arange(5), np.isnan(X)):
        array = backend.asarray(values)
        back = _arrays.to_numpy(array)
        assert isinstance(back, np.ndarray)
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values)


def test_results_go_to_the_kind_of_another_array(backend):
    array = backend.asarray(X.astype(np.float32))
    values = np.arange(3.0)
    values.flags.writeable = False
    result = _arrays.asarray_like(values, array)
    assert type(result) is type(array)
    assert result.dtype == array.dtype
    integers = _arrays.asarray_like(np.arange(3), array, dtype=_arrays.namespace(array).int64)
    assert str(integers.dtype).endswith("int64")
    assert _arrays.is_host(array)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_what_was_sent_to_a_gpu_may_be_changed_at_once(dtype):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    home = torch.zeros(1, dtype=getattr(torch, dtype), device="cuda")
    busy = torch.ones((4096, 4096), device="cuda")
    for size in (3, 10_000, 5_000_000):
        for _ in range(20):
            busy = busy @ busy * 1e-4
        values = (np.arange(size) % 97).astype(dtype)
        sent = _arrays.asarray_like(values, home)
        expected = values.copy()
        values[:] = 0
        np.testing.assert_array_equal(_arrays.to_numpy(sent), expected)


def test_restoring_gives_back_the_kind_of_the_input(backend):
    array = backend.asarray(X)
    restore = _arrays.restorer(array)
    for result in (array, X):
        assert type(restore(result)) is type(array)
    assert isinstance(_arrays.restorer(X.tolist())(array), np.ndarray)


@pytest.mark.parametrize("axis", [0, 1])
def test_entries_taken_along_an_axis(backend, axis):
    X, index = np.arange(12.0).reshape(3, 4), np.array([2, 0, 2])
    found = _arrays.take_along(backend.asarray(X), backend.asarray(index), axis)
    np.testing.assert_array_equal(_arrays.to_numpy(found), np.take(X, index, axis=axis))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_product_is_added(backend, sign):
    a, b, c = np.random.default_rng(0).standard_normal((3, 4, 5))
    found = _arrays.add_product(*map(backend.asarray, (a, b, c[:1])), sign)
    np.testing.assert_allclose(
        _arrays.to_numpy(found), a + sign * b * c[:1], rtol=1e-12, atol=1e-14
    )


def test_half_of_a_column_is_taken_from_a_product(backend, rng):
    a, b, c = rng.standard_normal((4, 3)), rng.standard_normal((3, 5)), rng.standard_normal((4, 1))
    found = _arrays.product_less_half(*map(backend.asarray, (a, b, c)))
    np.testing.assert_allclose(_arrays.to_numpy(found), a @ b - c / 2, rtol=1e-12, atol=1e-14)


def test_bounds(backend):
    array = backend.asarray(np.array([-1.0, 0.5]))
    for bounds, expected in (((0.0,), [0, 0.5]), ((None, 0.0), [-1, 0]), ((-0.5, 0), [-0.5, 0])):
        np.testing.assert_array_equal(_arrays.to_numpy(_arrays.clip(array, *bounds)), expected)


ESTIMATORS = [
    PCKID(3, **SMALL),
    ProbabilisticClusterKernel(**SMALL),
    IncompleteGaussianMixture(3, random_state=0, tol=0, max_iter=5),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_fit_on_one_kind_serves_every_other(backend, estimator):
    estimator.fit(backend.asarray(X))
    method = "transform" if hasattr(estimator, "transform") else "predict_proba"
    expected = _arrays.to_numpy(getattr(estimator, method)(backend.asarray(X)))
    assert type(getattr(estimator, method)(X)) is np.ndarray
    np.testing.assert_allclose(getattr(estimator, method)(X), expected, atol=1e-12)
    strict = pytest.importorskip("array_api_strict").asarray(X)
    result = getattr(estimator, method)(strict)
    assert type(result) is type(strict)
    np.testing.assert_allclose(_arrays.to_numpy(result), expected, atol=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_the_input_is_not_changed(backend, estimator):
    array = backend.asarray(X)
    estimator.fit(array)
    method = "transform" if hasattr(estimator, "transform") else "impute"
    getattr(estimator, method)(array)
    np.testing.assert_array_equal(_arrays.to_numpy(array), X)


class TestDevice:
    def test_none_leaves_the_data_where_they_are(self):
        assert _arrays.place(X, None) is X

    def test_needs_torch(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match="device='cpu' needs PyTorch"):
            PCKID(3, **SMALL, device="cpu").fit(X)

    def test_an_unknown_one_is_named(self):
        pytest.importorskip("torch")
        with pytest.raises(ValueError, match="device='nowhere' cannot be used"):
            PCKID(3, **SMALL, device="nowhere").fit(X)

    @pytest.mark.parametrize("writeable", [True, False])
    def test_numpy_in_numpy_out(self, writeable):
        pytest.importorskip("torch")
        rows = X.copy()
        rows.flags.writeable = writeable
        expected = PCKID(3, **SMALL).fit(X)
        model = PCKID(3, **SMALL, device="cpu").fit(rows)
        for result in (model.labels_, model.embedding_, model.predict(rows), model.kernel(rows)):
            assert type(result) is np.ndarray
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(rows), expected.labels_)
        features = ProbabilisticClusterKernel(**SMALL, device="cpu").fit(rows).transform(rows)
        assert type(features) is np.ndarray


def test_no_room_but_one_names_torch_or_cupy():
    from pathlib import Path

    source = Path(_arrays.__file__).parents[1]
    for file in source.rglob("*.py"):
        if file != Path(_arrays.__file__):
            for line in file.read_text().splitlines():
                assert not line.strip().startswith(("import torch", "from torch", "import cupy"))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exponentials_too_small_to_multiply_fast_are_zero(backend, dtype):
    smallest = np.finfo(dtype).smallest_normal
    low = float(np.log(smallest))
    scores = np.concatenate([[0.0, -1.0, low - 1, 2 * low], np.linspace(low, 0, 500)]).astype(dtype)
    expected = np.exp(scores)
    assert 0 < expected[2] < smallest
    found = _arrays.to_numpy(_arrays.exponential(_arrays.detach(backend.asarray(scores) + 0)))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=np.sqrt(2.0**44 * smallest))
    np.testing.assert_array_equal(found[2:4], 0)
    above = found[found > 0]
    assert len(above) > 100
    assert above.min() ** 2 > 2.0**20 * smallest
    scores = _arrays.detach(backend.asarray(scores) + 0)
    kept = _arrays.to_numpy(_arrays.exponential(scores, rounded=False))
    np.testing.assert_allclose(kept, expected, rtol=1e-6, atol=np.sqrt(2.0**44 * smallest))
    assert kept.min() ** 2 > 2.0**20 * smallest


@pytest.mark.parametrize(("g", "n"), [(3, 7), (7, 3), (1, 1)])
def test_product_with_the_transpose(backend, g, n, rng):
    A, B = rng.standard_normal((2, g, 5)), rng.standard_normal((2, n, 5))
    found = _arrays.to_numpy(_arrays.times_transposed(backend.asarray(A), backend.asarray(B)))
    np.testing.assert_allclose(found, np.einsum("mgc,mnc->mgn", A, B), rtol=1e-12, atol=1e-12)
    assert found.flags.c_contiguous


def test_products_with_rows_that_all_share(backend, rng):
    A, B = rng.standard_normal((3, 4, 5)), rng.standard_normal((1, 5, 6))
    expected = np.stack([each @ B[0] for each in A])
    shared = _arrays.times_shared(backend.asarray(A), backend.asarray(B))
    np.testing.assert_allclose(_arrays.to_numpy(shared), expected, rtol=1e-12, atol=1e-12)
    transposed = backend.asarray(np.ascontiguousarray(B.transpose(0, 2, 1)))
    found = _arrays.times_transposed(backend.asarray(A), transposed)
    np.testing.assert_allclose(_arrays.to_numpy(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("cached", [1, 100, 1 << 20])
def test_gram_matrix_times_vectors(backend, monkeypatch, cached, rng):
    monkeypatch.setattr(_arrays, "_CACHED_BYTES", cached)
    A, v = rng.standard_normal((9, 5)), rng.standard_normal((5, 2))
    found = _arrays.to_numpy(_arrays.times_gram(backend.asarray(A), backend.asarray(v)))
    np.testing.assert_allclose(found, A.T @ A @ v, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7, 300])
def test_first_of_the_highest_scores(backend, k):
    scores = np.random.default_rng(k).integers(0, 5, (3, k, 40)).astype(float)
    found = _arrays.to_numpy(_arrays.argmax_of_middle(backend.asarray(scores)))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.argmax(scores, axis=1))
