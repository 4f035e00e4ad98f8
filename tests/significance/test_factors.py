"""The Gaussian of wide tables: the steps of EM against slow oracles, and what they find."""

import numpy as np

from pckid.significance.factors import (
    Factors,
    expect_factors,
    gaussian_by_factors,
    regress_on_factors,
)
from pckid.significance.null_tables import gaussian_of_all, pairwise_correlations


def drawn(n_rows, n_columns, n_factors, rng):
    model = Factors(
        rng.normal(size=n_columns),
        rng.normal(size=(n_columns, n_factors)),
        rng.uniform(0.2, 1.0, size=n_columns),
    )
    factors = rng.normal(size=(n_rows, n_factors))
    errors = np.sqrt(model.variances) * rng.normal(size=(n_rows, n_columns))
    return model, model.means + factors @ model.loadings.T + errors


def test_factors_are_expected_as_a_joint_gaussian_has_them(rng):
    model, X = drawn(6, 5, 2, rng)
    seen = rng.random(X.shape) < 0.6
    factors, roots = expect_factors(np.where(seen, X, 0.0), seen, model)
    for x, o, mean, root in zip(X, seen, factors, roots, strict=True):
        loadings = model.loadings[o]
        inside = np.linalg.inv(loadings @ loadings.T + np.diag(model.variances[o]))
        np.testing.assert_allclose(mean, loadings.T @ inside @ (x[o] - model.means[o]), rtol=1e-9)
        expected = np.eye(2) - loadings.T @ inside @ loadings
        np.testing.assert_allclose(root @ root.T, expected, atol=1e-9)


def test_columns_are_regressed_over_the_rows_in_which_they_are_seen():
    rng = np.random.default_rng(1)
    _, X = drawn(5000, 4, 2, rng)
    seen = rng.random(X.shape) < 0.5
    factors = rng.normal(size=(5000, 2))
    known = np.zeros((5000, 2, 2))
    found = regress_on_factors(np.where(seen, X, 0.0), seen, factors, known)
    for j, o in enumerate(seen.T):
        design = np.column_stack([np.ones(o.sum()), factors[o]])
        expected, left, *_ = np.linalg.lstsq(design, X[o, j], rcond=None)
        np.testing.assert_allclose([found.means[j], *found.loadings[j]], expected, atol=1e-3)
        np.testing.assert_allclose(found.variances[j], left[0] / o.sum(), rtol=1e-2)


def test_complete_rows_have_their_own_means_and_correlations():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 12)) @ rng.normal(size=(12, 12))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    means, spreads, correlations = gaussian_by_factors(X, np.corrcoef(X.T))
    np.testing.assert_allclose(means, 0, atol=1e-9)
    np.testing.assert_allclose(spreads, 1, rtol=1e-2)
    np.testing.assert_allclose(correlations, np.corrcoef(X.T), atol=1e-2)


def test_values_missing_at_random_leave_the_gaussian_of_all():
    rng = np.random.default_rng(3)
    far, near, without = [], [], []
    for _ in range(3):
        whole = rng.normal(size=(300, 1)) * rng.uniform(0.6, 0.9, 20) + rng.normal(size=(300, 20))
        X = whole.copy()
        X[whole[:, 0] > 0.3, 8:] = np.nan
        X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
        start = pairwise_correlations(np.nan_to_num(X), ~np.isnan(X))[0]
        expected, true = gaussian_of_all(X), np.corrcoef(whole.T)
        found = gaussian_by_factors(X, start)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=0.25)
        near.append(np.mean((found[2] - true) ** 2))
        far.append(np.mean((expected[2] - true) ** 2))
        without.append(np.mean((start - true) ** 2))
    assert np.mean(near) < 1.5 * np.mean(far) < np.mean(without)
