"""Factors of observed cells: the steps of EM as loops, and which columns and how many are found."""

import numpy as np
import pytest
from scipy.stats import f_oneway

from pckid.factors.fit import Asked, asked_of, fit_factors, score_by_others
from pckid.factors.model import (
    Cells,
    Loadings,
    Scores,
    expect_scores,
    first_scores,
    fit_by_em,
    fit_loadings,
    log_p_of_columns,
    standard_scores,
)
from pckid.factors.scores import (
    Scored,
    WideFactors,
    expect_columns,
    informative_columns,
    score_rows,
    standardised_indicators,
    unexplained,
)
from pckid.factors.selection import (
    Gain,
    choose_fit,
    fewest_columns,
    follow_path,
    gains_of_paths,
    ranks_to_try,
    sizes_of_path,
)

R = 2


def draw_cells(n=40, d=30, n_telling=12, seed=0, missing=0.3, noise=0.5):
    rng = np.random.default_rng(seed)
    loadings = np.zeros((d, R))
    loadings[:n_telling] = rng.normal(size=(min(n_telling, d), R))
    X = rng.normal(size=(n, R)) @ loadings.T + noise * rng.normal(size=(n, d))
    seen = (rng.random(X.shape) >= missing).astype(float)
    count = seen.sum(axis=0)
    X = X - (X * seen).sum(axis=0) / count
    X /= np.sqrt((X**2 * seen).sum(axis=0) / count)
    return Cells(X * seen, seen, np.ones(n), np.ones(d))


@pytest.fixture
def weighed():
    rng = np.random.default_rng(1)
    cells = draw_cells(12, 7)
    return cells._replace(rows=rng.uniform(0.5, 1.5, 12), columns=rng.uniform(0.5, 2, 7))


@pytest.fixture
def loadings():
    rng = np.random.default_rng(2)
    return Loadings(rng.normal(size=(7, R)), rng.uniform(0.3, 1, 7))


def expect_by_loops(cells, loadings):
    means, covariances = [], []
    for x, seen in zip(cells.values, cells.seen, strict=True):
        precision, total = np.eye(R), np.zeros(R)
        for j in np.flatnonzero(seen):
            w, p = loadings.weights[j], cells.columns[j] / loadings.noise[j]
            precision += p * np.outer(w, w)
            total += p * w * x[j]
        covariances.append(np.linalg.inv(precision))
        means.append(covariances[-1] @ total)
    return Scores(np.array(means), np.array(covariances))


def test_scores_are_the_posterior_given_what_is_observed(weighed, loadings):
    found, expected = expect_scores(weighed, loadings), expect_by_loops(weighed, loadings)
    for mine, slow in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, slow, atol=1e-12)
    factors = WideFactors(*loadings, weighed.columns / loadings.noise, np.ones(R))
    for mine, slow in zip(score_rows(weighed.values, weighed.seen, factors), expected, strict=True):
        np.testing.assert_allclose(mine, slow, atol=1e-12)


def test_columns_are_regressed_on_the_scores_of_rows_in_which_they_are_observed(weighed, loadings):
    scores, variance, old = expect_by_loops(weighed, loadings), 0.2, loadings.noise
    found = fit_loadings(weighed, scores, old, variance)
    left, counts = np.zeros(7), np.zeros(7)
    for j in range(7):
        gram, cross = old[j] / variance * np.eye(R), np.zeros(R)
        rows = np.flatnonzero(weighed.seen[:, j])
        for i in rows:
            z, c = scores.means[i], scores.covariances[i]
            gram = gram + weighed.rows[i] * (np.outer(z, z) + c)
            cross += weighed.rows[i] * weighed.values[i, j] * z
        w = np.linalg.solve(gram, cross)
        np.testing.assert_allclose(found.weights[j], w, atol=1e-12)
        for i in rows:
            z, c = scores.means[i], scores.covariances[i]
            left[j] += weighed.rows[i] * ((weighed.values[i, j] - w @ z) ** 2 + w @ c @ w)
            counts[j] += weighed.rows[i]
    common = (weighed.columns @ left) / (weighed.columns @ counts)
    np.testing.assert_allclose(found.noise, (left + 5 * common) / (counts + 5), rtol=1e-10)


def test_a_rotation_to_standard_factors_leaves_what_is_expected_of_cells(weighed, loadings):
    scores = expect_scores(weighed, loadings)
    turned, same = standard_scores(weighed, scores, loadings)
    np.testing.assert_allclose(
        turned.means @ same.weights.T, scores.means @ loadings.weights.T, atol=1e-10
    )
    second = (turned.means.T * weighed.rows) @ turned.means
    second += np.tensordot(weighed.rows, turned.covariances, axes=1)
    np.testing.assert_allclose(second / 12, np.eye(R), atol=1e-10)


@pytest.mark.parametrize("shape", [(12, 30), (30, 12)])
def test_first_scores_are_principal_components(shape):
    cells = draw_cells(*shape, missing=0.0)
    u = np.linalg.svd(cells.values, full_matrices=False)[0][:, :R]
    found = first_scores(cells, R).means / np.sqrt(shape[0])
    np.testing.assert_allclose(np.abs(np.sum(found * u, axis=0)), 1, atol=1e-10)


def test_columns_are_tested_by_regression():
    cells = draw_cells(missing=0.0)
    groups = np.arange(40) % 2
    scores = Scores((2.0 * groups - 1)[:, None], np.zeros((40, 1, 1)))
    found = log_p_of_columns(cells, scores)
    slow = [np.log(f_oneway(x[groups == 0], x[groups == 1]).pvalue) for x in cells.values.T]
    np.testing.assert_allclose(found, slow, rtol=1e-4)


def test_what_scores_say_of_columns_and_what_they_leave(weighed, loadings):
    rng, scored = np.random.default_rng(3), Scored(*expect_scores(weighed, loadings))
    factors = WideFactors(*loadings, np.ones(7), np.ones(R))
    means, variances = expect_columns(scored, factors, 5)
    draws = rng.multivariate_normal(scored.means[0], scored.covariances[0], 200_000)
    cells = draws @ loadings.weights[:5].T + np.sqrt(loadings.noise[:5]) * rng.normal(
        size=(200_000, 5)
    )
    np.testing.assert_allclose(means[0], cells.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(variances[0], cells.var(axis=0), rtol=0.03)
    left = unexplained(weighed.values, weighed.seen, scored, factors)
    seen = weighed.seen[0] == 1
    apart = weighed.values[0] - loadings.weights @ scored.means[0]
    slow = ((apart**2 / loadings.noise) ** 2)[seen].sum()
    np.testing.assert_allclose(left[0], [slow, seen.sum()])


def test_hidden_cells_find_the_number_of_factors_and_the_columns():
    found = fit_factors(draw_cells(80, 200), Asked(), np.random.default_rng(0))
    assert found.n_factors in (R, R + 1)
    assert len(found.columns) <= 25
    assert np.isin(np.arange(12), found.columns).sum() >= 9
    assert asked_of(found) == Asked(found.n_factors, len(found.columns))
    assert asked_of(None) is None


def test_where_most_columns_tell_of_many_rows_there_are_none_unless_asked_for():
    cells = draw_cells(120, 60, 60)
    assert fit_factors(cells, Asked(), np.random.default_rng(0)) is None
    assert fit_factors(cells, Asked(3), np.random.default_rng(0)).n_factors == 3
    few = fit_factors(draw_cells(120, 60, 8, missing=0.1), Asked(), np.random.default_rng(0))
    assert len(few.columns) <= 20


def test_rows_turned_turn_their_scores():
    # So scores of a Gaussian cloud are Gaussian, whatever columns were chosen.
    cells = draw_cells(20, 50, 0, missing=0.0)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 20)))[0]
    other = cells._replace(values=turn @ cells.values)
    mine, turned = (fit_by_em(each, first_scores(each, R), 5)[0].means for each in (cells, other))
    np.testing.assert_allclose(np.abs(turned), np.abs(turn @ mine), atol=1e-6)


def test_other_rows_leave_the_coordinates_where_they_are():
    cells = draw_cells(60, 150)
    factors = fit_factors(cells, Asked(R), np.random.default_rng(0))
    whole, count = score_rows(cells.values, cells.seen, factors).means, 0
    for rows, without in score_by_others(cells, factors):
        found = score_rows(cells.values[rows], cells.seen[rows], without).means
        assert np.corrcoef(found[:, 0], whole[rows, 0])[0, 1] > 0.95
        np.testing.assert_array_equal(without.columns, factors.columns)
        count += len(rows)
    assert count == 60


def test_paths_and_gains():
    assert sizes_of_path(7) == [7]
    assert ranks_to_try(3, 2) == [1]
    gains = gains_of_paths(draw_cells(60, 80), 1, np.random.default_rng(0))
    best = choose_fit(gains)
    assert (best.n_factors, best.n_columns <= 20) == (R, True)
    assert best.gain > 3 * best.error
    some = [Gain(1, 10, 3.0, 1.0), Gain(2, 20, 1.0, 1.0)]
    assert choose_fit(some, least=2).n_columns == 20
    assert choose_fit(some, least=9).n_columns == 20


@pytest.mark.parametrize("n_factors", [1, 2, 5, 8, 9, 12])
def test_no_fit_has_more_parameters_than_its_columns_covariances(n_factors):
    fewest = fewest_columns(n_factors)
    assert [(d - n_factors) ** 2 >= d + n_factors for d in (fewest - 1, fewest)] == [False, True]
    rng = np.random.default_rng(0)
    cells = Cells(rng.normal(size=(50, 40)), np.ones((50, 40)), np.ones(50), np.ones(40))
    levels = follow_path(cells, n_factors, first_scores(cells, n_factors))
    assert len(levels[-1].columns) >= max(fewest, 10)
    assert [len(level.columns) for level in levels[:2]] == [40, 20]


def test_indicators_of_columns_missing_for_a_reason():
    seen, shares = np.array([[1.0, 1, 0], [1, 0, 0]]), np.array([1.0, 0.5, 0.2])
    assert informative_columns(shares).tolist() == [1, 2]
    found = standardised_indicators(seen, shares)
    np.testing.assert_allclose(found, [[1, -0.5], [-1, -0.5]])
