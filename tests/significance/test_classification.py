"""Errors of labels, and sums corrected for them, against loops and other libraries."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from stepmix.corrections import compute_bch_matrix

from pckid import PCKID
from pckid.describe.rows import standardised_rows
from pckid.significance.classification import correct_sums, error_rates, fit_posteriors


@pytest.fixture(scope="module")
def memberships():
    return np.random.default_rng(0).dirichlet([1.0, 2.0, 0.5], size=80)


def test_error_rates_are_those_of_a_loop_and_of_stepmix(memberships):
    labels = memberships.argmax(axis=1)
    found = error_rates(memberships.T, labels)
    for s in range(3):
        for t in range(3):
            mine = sum(p[s] for p, label in zip(memberships, labels, strict=True) if label == t)
            assert found[s, t] == pytest.approx(mine / memberships[:, s].sum())
    np.testing.assert_allclose(found, compute_bch_matrix(memberships)[0])


def test_weights_of_two_count_a_row_twice(memberships):
    labels, twice = memberships.argmax(axis=1), np.repeat(memberships, 2, axis=0)
    found = error_rates(memberships.T, labels, np.arange(80) % 3 + 0.0)
    some = np.repeat(np.arange(80), np.arange(80) % 3)
    np.testing.assert_allclose(found, error_rates(memberships[some].T, labels[some]))
    np.testing.assert_allclose(
        error_rates(twice.T, np.repeat(labels, 2)), error_rates(memberships.T, labels)
    )


def test_a_cluster_without_posterior_gets_its_own_label():
    found = error_rates(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0, 0]))
    np.testing.assert_array_equal(found, np.eye(2))


def test_a_cluster_of_less_posterior_than_one_row_has_errors_of_its_own():
    found = error_rates(np.array([[0.8, 0.9], [0.2, 0.1]]), np.array([1, 0]))
    np.testing.assert_allclose(found, [[9 / 17, 8 / 17], [1 / 3, 2 / 3]])


def test_corrected_sums_are_those_of_the_weights_of_each_row(memberships):
    labels, y = memberships.argmax(axis=1), np.random.default_rng(1).normal(size=80)
    rates = error_rates(memberships.T, labels)
    inverse, expected = np.linalg.inv(rates), np.zeros(3)
    for label, value in zip(labels, y, strict=True):
        expected += inverse[label] * value
    sums = np.array([[y[labels == t].sum()] for t in range(3)])
    np.testing.assert_allclose(correct_sums(rates, sums)[:, 0], expected)


def test_corrected_sizes_are_those_of_the_posteriors(memberships):
    labels = memberships.argmax(axis=1)
    counts = np.bincount(labels, minlength=3)[:, None].astype(float)
    found = correct_sums(error_rates(memberships.T, labels), counts)[:, 0]
    np.testing.assert_allclose(found, memberships.sum(axis=0))


def test_without_missing_values_posteriors_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    group = np.arange(300) % 2
    X = rng.normal(size=(300, 3)) + 2.0 * group[:, None]
    model = PCKID(2, n_inits=2, max_components=4, dtype="float64", random_state=0).fit(X)
    table = standardised_rows(model, X)
    found = fit_posteriors(table, model.labels_, 2, 3, rng)
    means = np.stack([table.values[model.labels_ == c].mean(axis=0) for c in range(2)])
    other = GaussianMixture(2, covariance_type="diag", means_init=means, tol=1e-8, max_iter=1000)
    expected = other.fit(table.values).predict_proba(table.values)
    np.testing.assert_allclose(found.memberships[0].T, expected, atol=0.02)
    assert found.memberships.shape == (4, 2, 300)
    np.testing.assert_allclose(found.weights.mean(axis=1), 1)
    np.testing.assert_array_equal(found.weights[0], 1)
