"""The full family beyond the EM laws: batches of patterns, floors, vanished components."""

import numpy as np
import pytest
from helpers import SMALL, TOLERANCE, begin, close, groups, punch, steps
from hypothesis import given
from hypothesis import strategies as st
from oracles import completed
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from tiers import one_in

from pckid import PCKID
from pckid._utils.arrays import to_numpy
from pckid.input.table import Scaling, fit_scaling, standardise
from pckid.mixture import batches, full

seeds = st.integers(0, 2**32 - 1)


def make_stats(X, dtype="float64"):
    return full.statistics(standardise(X, fit_scaling(X), dtype))


def make_start(stats, chosen, floor=1e-3):
    return begin(full, stats, chosen, floor)


def test_small_batches_give_what_large_ones_give(table, monkeypatch):
    stats = make_stats(table)
    params = steps(full, stats, make_start(stats, np.array([[0, 1, 2]])), 4, 1e-3)
    monkeypatch.setattr(batches, "_CELLS_HOST", 1)
    monkeypatch.setattr(batches, "_MAX_ROWS", 4)
    monkeypatch.setattr(full, "WIDTH", 2)
    small = make_stats(table)
    assert len(small.batches) > len(stats.batches)
    again = steps(full, small, make_start(small, np.array([[0, 1, 2]])), 4, 1e-3)
    for a, b in zip(params, again, strict=True):
        close(a, b)


def test_a_start_from_rows_that_weigh_less_than_one_has_their_moments(table):
    stats = make_stats(table)
    resp = np.zeros((1, 2, len(table)))
    resp[0, 0, :4] = [0.1, 0.2, 0.1, 0.3]
    params = full.start(stats, resp, np.full((1, 2, 4), 9.0))
    rows, weights = stats.values[0, :4], resp[0, 0, :4]
    close(params.means[0, 0], np.average(rows, axis=0, weights=weights))
    close(params.covariances[0, 0], np.cov(rows.T, aweights=weights, ddof=0))
    # Where there are none, it starts at its centre.
    close(params.means[0, 1], np.full(4, 9.0))
    close(params.covariances[0, 1], np.eye(4))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_float32_keeps_the_digits_of_tight_components(share, rng):
    rotations = np.linalg.qr(rng.standard_normal((3, 12, 12)))[0]
    lengths = np.geomspace(1e-3, 2.0, 12)
    covariances = (rotations * lengths) @ rotations.transpose(0, 2, 1)
    noise = np.sqrt(lengths) * rng.standard_normal((60, 12))
    X = punch(np.einsum("nij,nj->ni", rotations[np.arange(60) % 3], noise), rng, share)
    as_is = Scaling(np.zeros(12), np.ones(12), np.arange(12))
    params = full.Parameters(np.full((1, 3), -np.log(3)), np.zeros((1, 3, 12)), covariances[None])
    exact = full.log_joint(full.statistics(standardise(X, as_is, "float64")), params)
    params = full.Parameters(*(part.astype("float32") for part in params))
    found = full.log_joint(full.statistics(standardise(X, as_is, "float32")), params)
    np.testing.assert_allclose(found, exact, rtol=5e-4, atol=5e-4)


def test_given_rows_are_those_of_one_mixture(table):
    rows = np.array([[3, 8, 1, 40, 41, 7, 77]])
    whole = standardise(table, fit_scaling(table), "float64")
    stats = full.statistics(whole, rows)
    np.testing.assert_array_equal(full.filled(stats)[0], whole.values[rows[0]])


def test_stacked_mixtures_score_as_each_alone(table):
    stats = make_stats(table)
    one, two = (make_start(stats, np.array([c])) for c in ([0, 1, 2], [5, 9, 14]))
    stack = full.Parameters(*(np.concatenate(part) for part in zip(one, two, strict=True)))
    joint = full.log_joint(stats, stack)
    close(joint[0], full.log_joint(stats, one)[0])
    close(joint[1], full.log_joint(stats, two)[0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_component_that_lost_all_rows_keeps_its_parameters(table, dtype):
    stats = make_stats(table, dtype)
    params = make_start(stats, np.array([[0, 1, 2]]))
    far = params.means.copy()
    far[0, 1] = 30.0
    params = params._replace(means=far)
    after = steps(full, stats, params, 3, 1e-3)
    close(after.means[0, 1], params.means[0, 1], dtype)
    close(after.covariances[0, 1], params.covariances[0, 1], dtype)
    assert after.log_weights[0, 1] < -50
    assert np.isfinite(after.log_weights).all()


def test_eigenvalues_never_fall_below_the_floor(table):
    stats = make_stats(table)
    params = steps(full, stats, make_start(stats, np.arange(12)[None], 0.02), 20, 0.02)
    lowest = np.linalg.eigvalsh(params.covariances[0]).min()
    close(lowest, 0.02)


def test_clipping_lifts_small_eigenvalues_and_leaves_the_rest():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    matrices = np.stack([vectors * v @ vectors.T for v in ([1.0, 2.0, 1e-9], [1.0, 2.0, 3.0])])
    lifted = full.lift_eigenvalues(matrices, 0.1)
    close(lifted[0], vectors * [1.0, 2.0, 0.1] @ vectors.T)
    close(lifted[1], matrices[1])


@given(seed=seeds)
def test_completed_rows_are_conditional_means(seed):
    rng = np.random.default_rng(seed)
    X = punch(rng.standard_normal((12, 4)) @ rng.standard_normal((4, 4)), rng, 0.5)
    stats = make_stats(X)
    params = make_start(stats, np.array([[0, 1]]), 0.05)
    found = full.conditional_means(stats, params)
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    for k in range(2):
        for i in range(len(X)):
            Y, _ = completed(Z[i], params.means[0, k], params.covariances[0, k])
            close(found[k, i], Y, scale=10)


def test_counts_parameters_as_sklearn_does():
    X = groups(share=0.0)[0]
    theirs = GaussianMixture(3, covariance_type="full", random_state=0).fit(X)
    assert full.n_parameters(3, X.shape[1]) == theirs._n_parameters()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_alike_on_every_array_library(backend, table, dtype):
    X = backend.asarray(table)
    stats = full.statistics(standardise(X, fit_scaling(X), dtype))
    params = make_start(stats, backend.asarray(np.array([[0, 1, 2]])), 0.01)
    params = steps(full, stats, params, 5, 0.01)
    expected = make_stats(table, dtype)
    start = make_start(expected, np.array([[0, 1, 2]]), 0.01)
    expected = steps(full, expected, start, 5, 0.01)
    assert type(params.means) is type(X)
    for a, b in zip(params, expected, strict=True):
        assert str(a.dtype).endswith(dtype)
        np.testing.assert_allclose(to_numpy(a), b, rtol=0, atol=10 * TOLERANCE[dtype])


def nearly_collinear(n_samples=300, n_features=20):
    """Draw three groups along three directions of space, hardly any spread in the others."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_samples) % 3
    places = rng.standard_normal((n_samples, 3)) + 3 * np.eye(3)[truth]
    X = places @ rng.standard_normal((3, n_features))
    return punch(X + 1e-5 * rng.standard_normal(X.shape), rng, 0.2), truth


@pytest.mark.parametrize("kind", one_in(2, ["full", "tied"]))
def test_an_ensemble_of_covariance_matrices_is_computed_in_float64(kind):
    X, truth = nearly_collinear()
    options = {"covariance_type": kind, "reg_covar": 1e-6, **SMALL, "max_components": 4}
    expected = PCKID(3, **options, dtype="float64").fit(X)
    assert adjusted_rand_score(truth, expected.labels_) > 0.6
    for dtype in ("auto", "float32"):
        model = PCKID(3, **options, dtype=dtype).fit(X)
        assert model.embedding_.dtype == np.float64
        np.testing.assert_array_equal(model.labels_, expected.labels_)
