"""Errors of labels, and sums corrected for them, against loops and other libraries."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, truncnorm
from sklearn.mixture import GaussianMixture
from stepmix.corrections import compute_bch_matrix

from pckid import PCKID
from pckid.describe.rows import standardised_rows
from pckid.significance.classification import (
    RowDraws,
    _cut_table,
    _given_factor,
    _maximise,
    correct_sums,
    error_rates,
    fit_posteriors,
)


def drawn(n_draws, table):
    return RowDraws(n_draws, None, np.random.default_rng(0)).draw(np.arange(table.n_samples))


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


def fit_two(draw, n=600, seed=2):
    """Two overlapping groups of `draw` noise: the rows, their groups, labels and table."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    X = draw(rng, (n, 4)) + 1.3 * group[:, None]
    model = PCKID(2, n_inits=4, max_components=4, dtype="float64", random_state=0).fit(X)
    labels = model.labels_ if (model.labels_ == group).mean() > 0.5 else 1 - model.labels_
    return group, labels, standardised_rows(model, X)


def test_of_gaussian_columns_posteriors_are_about_those_of_scikit_learn():
    _, labels, table = fit_two(lambda rng, shape: rng.normal(size=shape))
    found = fit_posteriors(table, labels, 2, drawn(3, table))
    means = np.stack([table.values[labels == c].mean(axis=0) for c in range(2)])
    other = GaussianMixture(2, covariance_type="diag", means_init=means, tol=1e-8, max_iter=1000)
    expected = other.fit(table.values).predict_proba(table.values).T
    # Bins know no more than the place of a value among 30.
    assert np.abs(found.memberships[0] - expected).mean() < 0.02
    np.testing.assert_allclose(
        error_rates(found.memberships[0], labels), error_rates(expected, labels), atol=0.02
    )
    assert found.memberships.shape == (4, 2, 600)
    np.testing.assert_allclose(found.weights.mean(axis=1), 1)
    np.testing.assert_array_equal(found.weights[0], 1)
    assert (found.memberships[1] != found.memberships[2]).any()


def test_errors_of_skewed_groups_are_nearer_the_truth_than_by_gaussians():
    off, plain = [], []
    for seed in range(3):
        group, labels, table = fit_two(lambda rng, shape: rng.exponential(size=shape), 1200, seed)
        found = fit_posteriors(table, labels, 2, drawn(0, table)).memberships[0]
        true = error_rates((group == np.arange(2)[:, None]).astype(float), labels)
        means = np.stack([table.values[labels == c].mean(axis=0) for c in range(2)])
        other = GaussianMixture(2, covariance_type="diag", means_init=means).fit(table.values)
        gaussian = other.predict_proba(table.values).T
        off.append(np.abs(error_rates(found, labels) - true).max())
        plain.append(np.abs(error_rates(gaussian, labels) - true).max())
    assert np.mean(off) < 0.7 * np.mean(plain)


def test_errors_of_correlated_columns_are_nearer_the_truth_with_a_factor(monkeypatch):
    def draw(rng, shape):
        return 0.8 * rng.normal(size=shape) + 0.6 * rng.normal(size=(shape[0], 1))

    off, plain = [], []
    for seed in range(4):
        group, labels, table = fit_two(draw, 800, seed)
        true = error_rates((group == np.arange(2)[:, None]).astype(float), labels)
        found = fit_posteriors(table, labels, 2, drawn(2, table))
        assert found.are_correlated
        assert found.memberships.shape == (3, 2, 800)
        off.append(np.abs(error_rates(found.memberships[0], labels) - true).mean())
        with monkeypatch.context() as patched:
            patched.setattr("pckid.significance.classification._MIN_LOADED", 9)
            other = fit_posteriors(table, labels, 2, drawn(0, table))
        assert not other.are_correlated
        plain.append(np.abs(error_rates(other.memberships[0], labels) - true).mean())
    assert np.mean(off) < 0.5 * np.mean(plain)


def test_of_independent_columns_no_factor_is_chosen():
    for draw in (np.random.Generator.normal, np.random.Generator.exponential):
        _, labels, table = fit_two(lambda rng, shape, draw=draw: draw(rng, size=shape))
        assert not fit_posteriors(table, labels, 2, drawn(0, table)).are_correlated


def test_given_the_factor_chances_are_those_of_a_normal_copula(rng):
    x = rng.normal(size=(300, 3))
    table = standardised_rows(PCKID(1, n_inits=2, max_components=3, random_state=0).fit(x), x)
    cells = _cut_table(table, 5)
    mixture = _maximise(cells, np.ones((300, 1, 1, 1), dtype=np.float32))
    mixture = mixture._replace(loadings=np.array([[0.6, -0.5, 0.0]]))
    given, scores = _given_factor(cells, mixture)
    values, weights = mixture.nodes
    np.testing.assert_allclose(weights @ given[0, 0], mixture.chances[0, 0], atol=0.01)
    cell = np.flatnonzero(cells.column == 0)[7]
    ends = np.cumsum(mixture.chances[0, 0])[[cell - 1, cell]]
    low, high = (norm.ppf(ends)[:, None] - 0.6 * values) / 0.8
    np.testing.assert_allclose(given[0, 0, :, cell], norm.cdf(high) - norm.cdf(low))
    inside = truncnorm.mean(low[2], high[2])
    assert scores[0, 0, 2, cell] == pytest.approx(0.6 * values[2] + 0.8 * inside)


def test_of_categories_one_more_step_by_loops_changes_nothing():
    rng = np.random.default_rng(3)
    group = np.arange(300) % 2
    chances = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    table = pd.DataFrame(
        {f"c{j}": ["abc"[rng.choice(3, p=chances[g])] for g in group] for j in range(5)}
    ).mask(rng.random((300, 5)) < 0.2)
    model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(table)
    rows = np.flatnonzero(model.labels_ >= 0)
    codes = np.stack([table[name].map({"a": 0, "b": 1, "c": 2}) for name in table], axis=1)
    found = fit_posteriors(
        standardised_rows(model, codes[rows]), model.labels_[rows], 2, np.ones((0, len(rows)))
    ).memberships[0]
    again = np.empty_like(found)
    for i, row in enumerate(codes[rows]):
        for s in range(2):
            again[s, i] = found[s].sum()
            for j in np.flatnonzero(~np.isnan(row)):
                seen = ~np.isnan(codes[rows, j])
                same = codes[rows, j] == row[j]
                again[s, i] *= found[s, same].sum() / found[s, seen].sum()
    np.testing.assert_allclose(found, again / again.sum(axis=0), atol=0.01)


def test_few_rows_far_away_are_a_cluster_without_errors(rng):
    X = np.concatenate([rng.normal(size=(200, 3)), rng.normal(size=(3, 3)) + 40])
    model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(X)
    table = standardised_rows(model, X)
    found = fit_posteriors(table, model.labels_, 2, drawn(3, table))
    rates = error_rates(found.memberships, model.labels_, found.weights)
    np.testing.assert_allclose(rates, np.broadcast_to(np.eye(2), (4, 2, 2)), atol=1e-3)
