"""Many small inverses at once, against LAPACK's one by one."""

import numpy as np
import pytest
from helpers import TOLERANCE, close
from hypothesis import given
from hypothesis import strategies as st

from pckid._utils.arrays import to_numpy
from pckid.mixture.completion import solve


def draw(seed, size, n_right, batch):
    """Draw positive definite matrices (s, s, ...) and right-hand sides (s, r, ...)."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((*batch, size, 2 * size + 1))
    B = rng.standard_normal((size, n_right, *batch))
    return np.moveaxis(A @ np.swapaxes(A, -1, -2), (-2, -1), (0, 1)), B


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(0, 6), n_right=st.integers(0, 3))
def test_equals_lapack(seed, size, n_right):
    A, B = draw(seed, size, n_right, (2, 3))
    before = A.copy(), B.copy()
    found = solve(A, B)
    assert found.inverse.shape == A.shape
    assert found.solutions.shape == B.shape
    for i in np.ndindex(2, 3):
        matrix, right = A[(..., *i)], B[(..., *i)]
        close(found.inverse[(..., *i)], np.linalg.inv(matrix), scale=10)
        close(found.solutions[(..., *i)], np.linalg.solve(matrix, right), scale=10)
        close(found.log_det[i], np.linalg.slogdet(matrix)[1], scale=10)
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(B, before[1])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_alike_on_every_array_library(backend, dtype):
    A, B = (part.astype(dtype) for part in draw(0, 4, 2, (5,)))
    found = solve(backend.asarray(A), backend.asarray(B))
    for a, b in zip(found, solve(A, B), strict=True):
        assert str(a.dtype).endswith(dtype)
        np.testing.assert_allclose(to_numpy(a), b, rtol=0, atol=10 * TOLERANCE[dtype])
