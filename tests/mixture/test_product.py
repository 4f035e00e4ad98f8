"""The product family beyond the EM laws: layouts, additivity, vanished components."""

import numpy as np
import pytest
from helpers import TOLERANCE, begin, close, groups, steps
from sklearn.mixture import GaussianMixture

from pckid._utils.arrays import to_numpy
from pckid.input.table import block, fit_scaling, standardise
from pckid.mixture import em, product

DTYPES = ["float64", "float32"]


def make_stats(X, dtype="float64"):
    return product.statistics(standardise(X, fit_scaling(X), dtype))


def make_start(stats, chosen, floor=1e-3):
    return begin(product, stats, chosen, floor)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factored_patterns_give_what_single_masks_give(dtype, rng):
    masks = rng.random((3, 8)) < 0.5
    masks[:, 0] = True
    X = np.where(masks[np.arange(60) % 3], rng.standard_normal((60, 8)), np.nan)
    table = standardise(X, fit_scaling(X), dtype)
    factored = product.statistics(table)
    plain = product.statistics(table._replace(pattern=None, patterns=None))
    assert factored.link is not None
    assert plain.link is None
    chosen = np.array([[0, 1, 2, 3]])
    start = make_start(plain, chosen)
    for a, b in zip(start, make_start(factored, chosen), strict=True):
        close(a, b, dtype)
    close(product.log_joint(factored, start), product.log_joint(plain, start), dtype, scale=10)
    ours = steps(product, factored, start, 10, 1e-3)
    for a, b in zip(ours, steps(product, plain, start, 10, 1e-3), strict=True):
        close(a, b, dtype, scale=10)


def test_sums_of_two_blocks_add_up_to_those_of_both(table):
    whole = standardise(table, fit_scaling(table), "float64")
    stats = product.statistics(whole)
    params = make_start(stats, np.array([[0, 1, 2]]))
    total = product.expect(stats, params, lambda joint, _: em.posterior(joint)).moments
    parts = 0.0
    for s in (slice(0, 31), slice(31, 90)):
        part = product.statistics(block(whole, s.start, s.stop))
        parts = parts + product.expect(part, params, lambda joint, _: em.posterior(joint)).moments
    close(parts, total, scale=100)


def test_rows_shared_by_a_stack_meet_every_mixture(table, rng):
    stats = make_stats(table)
    each = [make_start(stats, rng.choice(90, (1, 4), replace=False)) for _ in range(3)]
    stack = product.Parameters(*(np.concatenate(part) for part in zip(*each, strict=True)))
    together = product.log_joint(stats, stack)
    for i, one in enumerate(each):
        close(together[i], product.log_joint(stats, one)[0], scale=100)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_component_that_lost_all_rows_keeps_its_parameters(table, dtype):
    stats = make_stats(table, dtype)
    params = make_start(stats, np.array([[0, 1, 2]]))
    far = params.means.copy()
    far[0, 1] = 30.0
    params = params._replace(means=far)
    after = steps(product, stats, params, 3, 1e-3)
    close(after.means[0, 1], params.means[0, 1], dtype)
    close(after.covariances[0, 1], params.covariances[0, 1], dtype)
    assert after.log_weights[0, 1] < -50
    assert np.isfinite(after.log_weights).all()
    alive = product.Parameters(*(part[:, [0, 2]] for part in params))
    alive = steps(product, stats, alive, 3, 1e-3)
    close(after.means[0, [0, 2]], alive.means[0], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_variances_never_fall_below_the_floor(table, dtype):
    stats = make_stats(table, dtype)
    params = make_start(stats, np.arange(12)[None], 0.02)
    params = steps(product, stats, params, 20, 0.02)
    assert params.covariances.min() >= np.dtype(dtype).type(0.02)
    assert params.covariances.min() < 0.0201


@pytest.mark.parametrize("layout", ["masks", "patterns"])
def test_completed_rows_take_the_means_where_nothing_was_observed(layout):
    X = groups()[0]
    if layout == "patterns":
        X = np.where(np.arange(len(X))[:, None] % 2 * np.arange(4) == 3, np.nan, np.nan_to_num(X))
    stats = make_stats(X)
    assert (stats.link is None) == (layout == "masks")
    params = make_start(stats, np.array([[0, 1]]))
    found = product.conditional_means(stats, params)
    standard = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    for k in range(2):
        close(found[k], np.where(np.isnan(standard), params.means[0, k], standard))


def test_counts_parameters_as_sklearn_does():
    X = groups(share=0.0)[0]
    theirs = GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
    assert product.n_parameters(3, X.shape[1]) == theirs._n_parameters()


@pytest.mark.parametrize("dtype", DTYPES)
def test_runs_alike_on_every_array_library(backend, table, dtype):
    X = backend.asarray(table)
    stats = product.statistics(standardise(X, fit_scaling(X), dtype))
    params = make_start(stats, backend.asarray(np.array([[0, 1, 2]])))
    params = steps(product, stats, params, 5, 1e-3)
    expected = make_stats(table, dtype)
    expected = steps(product, expected, make_start(expected, np.array([[0, 1, 2]])), 5, 1e-3)
    assert type(params.means) is type(X)
    for a, b in zip(params, expected, strict=True):
        assert str(a.dtype).endswith(dtype)
        np.testing.assert_allclose(to_numpy(a), b, rtol=0, atol=10 * TOLERANCE[dtype])
