"""The kernel: the paper's sum of scalar products, as a transformer and as a matrix."""

import numpy as np
import pytest
from helpers import SMALL, close, groups
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import kernel
from sklearn.decomposition import KernelPCA
from sklearn.metrics import accuracy_score
from sklearn.svm import SVC

from pckid import EmptyRowWarning, ProbabilisticClusterKernel
from pckid._utils.arrays import to_numpy

X, TRUTH = groups()
Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)


def mixtures(model):
    """List the weights, means and covariance matrices of all fitted mixtures."""
    for stack in model._kernel.ensemble.stacks:
        parts = (stack.log_weights, stack.means, stack.covariances)
        for logs, means, spread in zip(*parts, strict=True):
            spread = spread if spread.ndim == 3 else [np.diag(v) for v in spread]
            yield np.exp(logs), means, spread


@pytest.mark.parametrize(("weighting", "power"), [("equal", 0), ("fine", 2)])
@pytest.mark.parametrize("kind", ["diag", "full"])
def test_is_the_papers_sum_over_starts_and_sizes(kind, weighting, power):
    model = ProbabilisticClusterKernel(
        n_inits=2,
        max_components=4,
        covariance_type=kind,
        reg_covar=0.05,
        weighting=weighting,
        random_state=0,
    ).fit(X)
    found = list(mixtures(model))
    assert [len(weights) for weights, _, _ in found] == [2, 2, 3, 3, 4, 4]
    close(model.kernel(X[:12]), kernel(Z[:12], found, power))


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.3, 0.7]))
@pytest.mark.parametrize("kind", ["diag", "full"])
def test_is_symmetric_positive_and_bounded(kind, seed, share):
    rows = groups(seed % 1000, n_samples=40, share=share)[0]
    model = ProbabilisticClusterKernel(
        n_inits=2, max_components=4, covariance_type=kind, random_state=seed % 1000
    ).fit(rows)
    K, features = model.kernel(rows), model.transform(rows)
    close(K, K.T)
    close(K, features @ features.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    assert K.min() >= 0
    assert np.diag(K).max() <= 1 + 1e-12
    assert np.abs(K).max() <= np.diag(K).max() + 1e-12


def test_between_two_tables():
    model = ProbabilisticClusterKernel(**SMALL).fit(X)
    close(model.kernel(X[:20], X[50:]), model.kernel(X)[:20, 50:])
    close(model.kernel(X[:20]), model.kernel(X)[:20, :20])


def test_features_are_posteriors():
    model = ProbabilisticClusterKernel(**SMALL, weighting="equal").fit(X)
    features = model.transform(X) * np.sqrt(5 * 5)
    assert features.shape == (90, 5 * (2 + 3 + 4 + 5 + 6))
    assert len(model.get_feature_names_out()) == features.shape[1]
    first = 0
    for g in (2, 3, 4, 5, 6):
        for _ in range(5):
            close(features[:, first : first + g].sum(axis=1), np.ones(90))
            first += g


def test_an_empty_row_gets_the_weights():
    model = ProbabilisticClusterKernel(**SMALL, weighting="equal").fit(X)
    weights = np.concatenate([w for w, _, _ in mixtures(model)])
    close(model.transform(np.full((1, 4), np.nan))[0] * 5, weights)


def test_no_mixture_has_more_components_than_rows():
    model = ProbabilisticClusterKernel(n_inits=2, max_samples=4, random_state=0).fit(X)
    assert [stack.log_weights.shape[1] for stack in model._kernel.ensemble.stacks] == [2, 3, 4]


def test_empty_rows_are_left_out_of_the_fit():
    rows = np.insert(X, [3, 50], np.nan, axis=0)
    model = ProbabilisticClusterKernel(**SMALL)
    expected = model.fit(X).transform(X)
    with pytest.warns(EmptyRowWarning, match="2 of 92 rows"):
        model.fit(rows)
    close(model.transform(X), expected)


@pytest.mark.parametrize(
    ("entries", "dtype", "expected"),
    [(100, "auto", "float64"), (3000, "auto", "float32"), (100, "float32", "float32")],
)
def test_small_tables_are_computed_in_float64(entries, dtype, expected):
    rows = np.random.default_rng(0).standard_normal((entries, 4))
    model = ProbabilisticClusterKernel(
        n_inits=1, max_components=2, max_samples=50, dtype=dtype, random_state=0
    )
    assert model.fit(rows).transform(rows).dtype == expected


def test_works_with_kernel_methods():
    model = ProbabilisticClusterKernel(**SMALL).fit(X)
    K = model.kernel(X)
    svc = SVC(kernel="precomputed").fit(K[:60, :60], TRUTH[:60])
    assert accuracy_score(TRUTH[60:], svc.predict(model.kernel(X[60:], X[:60]))) > 0.9
    assert KernelPCA(2, kernel="precomputed").fit_transform(K).shape == (90, 2)


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_input_of_one_kind_gives_output_of_that_kind(backend, kind):
    rows = backend.asarray(X)
    model = ProbabilisticClusterKernel(
        n_inits=2, max_components=3, covariance_type=kind, random_state=0
    )
    expected = model.fit(X).kernel(X)
    model.fit(rows)
    for result in (model.transform(rows), model.kernel(rows)):
        assert type(result) is type(rows)
    np.testing.assert_allclose(to_numpy(model.kernel(rows)), expected, atol=1e-6)
    np.testing.assert_allclose(model.kernel(X), expected, atol=1e-6)


@pytest.mark.parametrize("n_samples", [2_900, 4_000])
def test_the_number_of_components_follows_the_number_of_different_rows(n_samples):
    """Thirty-two patterns, in small tables and in those where repeated rows are not merged."""
    rows = np.random.default_rng(0).integers(2, size=(n_samples, 5)).astype(float)
    rows = rows[np.lexsort(rows.T)]
    kernel = ProbabilisticClusterKernel(n_inits=1, random_state=0).fit(rows)
    assert kernel._kernel.ensemble.stacks[-1].log_weights.shape[1] == round(1.5 * 32**0.5)
