"""Rows that depend on each other: their correlation, and null tables of it."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_info, threadpool_limits

import pckid.significance.dependence as module
from pckid import PCKID, assess, choose_n_clusters
from pckid.input.arrangement import Arrangement
from pckid.significance.dependence import (
    INDEPENDENT,
    Correlation,
    choose_rows,
    describe_dependence,
    find_pace,
    fit_correlation,
    measure_correlogram,
    restricted_likelihood,
    root_of,
    score_components,
)
from pckid.significance.gaps import compare_with_null_gaps
from pckid.significance.levels import Answer
from pckid.significance.null_tables import (
    draw_dependent_table,
    find_dependence,
    fit_null_model,
)
from pckid.significance.row_order import find_alike_neighbours


def autoregress(n_rows, n_columns, phi, rng):
    """Draw columns each of whose values is phi times the one before, and chance."""
    X = np.empty((n_rows, n_columns))
    X[0] = rng.normal(size=n_columns)
    for i in range(1, n_rows):
        X[i] = phi * X[i - 1] + np.sqrt(1 - phi**2) * rng.normal(size=n_columns)
    return X


def in_time(n_rows):
    return Arrangement(np.arange(n_rows, dtype=float)[:, None], None, "")


def test_the_restricted_likelihood_is_that_of_contrasts():
    rng = np.random.default_rng(0)
    y, A = rng.normal(size=6), rng.normal(size=(6, 6))
    covariance = A @ A.T + np.eye(6)
    # n − 1 orthonormal contrasts have no mean; the scale is the one of highest likelihood.
    contrasts = np.linalg.svd(np.eye(6) - 1 / 6)[0][:, :5].T
    z, V = contrasts @ y, contrasts @ covariance @ contrasts.T
    scale = z @ np.linalg.solve(V, z) / 5
    expected = multivariate_normal(cov=scale * V).logpdf(z)
    # Constants: (2π e)^(-5/2), and that of the contrasts, ½ log n.
    constant = -2.5 * np.log(2 * np.pi * np.e) + 0.5 * np.log(6)
    np.testing.assert_allclose(restricted_likelihood(y, covariance) + constant, expected)


def test_components_are_what_the_observed_columns_tell():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, 4))
    covariance = A @ A.T + np.eye(4)
    spread = np.sqrt(np.diag(covariance))
    C = covariance / spread / spread[:, None]
    values, vectors = np.linalg.eigh(C)
    z = rng.normal(size=(3, 4))
    z[0, [1, 2]] = z[1, 3] = np.nan
    y, errors = score_components(z, C, values[-2:], vectors[:, -2:])
    for i, row in enumerate(z):
        o = np.flatnonzero(~np.isnan(row))
        for k, (value, vector) in enumerate(zip(values[-2:], vectors.T[-2:], strict=True)):
            # The Gaussian of the component and the observed columns, conditioned by hand.
            cross = C[o] @ vector / np.sqrt(value)
            weights = np.linalg.solve(C[np.ix_(o, o)], cross)
            explained = weights @ cross
            np.testing.assert_allclose(y[i, k], weights @ row[o] / explained)
            np.testing.assert_allclose(errors[i, k], 1 / explained - 1, atol=1e-12)


@pytest.mark.parametrize("phi", [0.8, 0.95])
def test_the_correlation_of_a_series_is_found(phi):
    rng = np.random.default_rng(2)
    distances = in_time(200).distances(np.arange(200), np.arange(200))
    found = [
        fit_correlation(autoregress(200, 1, phi, rng)[:, 0], np.zeros(200), distances)
        for _ in range(3)
    ]
    lag = np.mean([each.between(np.full((1, 1), 5.0))[0, 0] for each in found])
    assert abs(lag - phi**5) < 0.25


def test_independent_rows_are_seen_as_such():
    rng = np.random.default_rng(3)
    distances = in_time(150).distances(np.arange(150), np.arange(150))
    found = [fit_correlation(rng.normal(size=150), np.zeros(150), distances) for _ in range(5)]
    assert sum(each == INDEPENDENT for each in found) >= 4


def test_errors_of_the_scores_are_not_taken_for_independence():
    rng = np.random.default_rng(4)
    distances = in_time(200).distances(np.arange(200), np.arange(200))
    errors = np.full(200, 1.0)
    found = []
    for given in (errors, 0 * errors):
        y = autoregress(200, 1, 0.95, np.random.default_rng(5))[:, 0] + rng.normal(size=200)
        found.append(fit_correlation(y, given, distances).rho)
    assert found[0] > found[1]


@pytest.mark.parametrize("pace", [0.02, 0.5])
def test_as_how_far_a_day_counts_is_found(pace):
    rng = np.random.default_rng(0)
    positions = np.column_stack(
        [np.tile(rng.random((20, 2)), (10, 1)), np.repeat(np.arange(10.0), 20)]
    )
    arrangement = Arrangement(positions, None, "", has_times=True)
    rows = np.arange(200)
    R = np.exp(-arrangement.distances(rows, rows, pace) / 0.6) + 1e-6 * np.eye(200)
    found = [
        find_pace(np.linalg.cholesky(R) @ rng.normal(size=200), np.zeros(200), arrangement)
        for _ in range(5)
    ]
    assert 0.4 < np.median(found) / pace < 2.5


def test_groups_alone_have_one_correlation():
    rng, groups = np.random.default_rng(6), np.repeat(np.arange(50), 4)
    arrangement = Arrangement(None, groups)
    every = np.arange(200)
    distances = arrangement.distances(every, every)
    y = np.sqrt(0.5) * rng.normal(size=50)[groups] + np.sqrt(0.5) * rng.normal(size=200)
    found = fit_correlation(y, np.zeros(200), distances)
    assert 0.3 <= found.rho <= 0.8
    R = root_of(found, distances)
    R = R @ R.T
    same = groups[:, None] == groups
    np.testing.assert_allclose(R[same & ~np.eye(200, dtype=bool)], found.rho)
    assert (R[~same] == 0).all()


def test_rows_are_chosen_with_their_neighbours():
    arrangement = in_time(1000)
    rows = choose_rows(arrangement, 1000, np.random.default_rng(0))
    assert len(np.unique(rows)) == len(rows) <= 200
    apart = np.abs(np.subtract.outer(rows, rows))
    np.fill_diagonal(apart, 1000)
    assert (apart.min(axis=1) == 1).mean() > 0.9


def test_null_tables_depend_as_the_table_and_lack_its_cells():
    rng = np.random.default_rng(7)
    X = autoregress(300, 4, 0.95, rng)
    X[100:130, 2] = np.nan
    model = fit_null_model(X, np.zeros(4, dtype=bool))
    dependence = find_dependence(model, in_time(300), rng)
    some = np.arange(0, 300, 2)
    drawn = draw_dependent_table(model, dependence, some, rng)
    assert drawn.shape == (150, 4)
    np.testing.assert_array_equal(np.isnan(drawn), np.isnan(X[dependence.rows[some]]))
    after = [np.corrcoef(x[:-1], x[1:])[0, 1] for x in (drawn[:, 0], drawn[:, 1], drawn[:, 3])]
    assert min(after) > 0.6
    assert dependence.n_effective < 60


def test_series_without_groups_have_none_with_positions_and_groups_stay():
    X = autoregress(200, 5, 0.95, np.random.default_rng(8))
    model = PCKID(n_inits=5, n_runs=1, random_state=0)
    given = choose_n_clusters(model, X, positions=np.arange(200.0))
    assert (given.n_clusters, given.p_value > 0.03) == (1, True)
    assert given.compared.correlation.rho > 0
    kinds = np.repeat(np.arange(60) % 2, 5)
    persons = np.repeat(np.arange(60), 5)
    rng = np.random.default_rng(9)
    own = rng.normal(size=(60, 5))[persons] + rng.normal(size=(300, 5))
    X = own / np.sqrt(2) + 3 * kinds[:, None]
    fitted = PCKID(n_inits=5, n_runs=1, random_state=0).fit(X, groups=persons)
    assert fitted.n_clusters_ == 2
    found = assess(fitted, X, n_resamples=4)
    assert (found.answer, found.n_together) == (Answer.GROUPS, 60)
    assert found.dependence.within_groups
    # A model that chose is not judged again, and neither is it without what it was given.
    assert found.p_value == fitted.choice_.p_value


def test_a_walk_that_never_returns_cannot_be_judged():
    X = np.cumsum(np.random.default_rng(10).normal(size=(300, 4)), axis=0)
    model = PCKID(n_inits=5, n_runs=1, random_state=0).fit(X, positions=np.arange(300))
    assert model.n_clusters_ == 1
    found = assess(model, X, n_resamples=0)
    assert found.answer in (Answer.UNKNOWN, Answer.NONE)


def test_each_row_five_times_is_no_group():
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(30, 4))[np.repeat(np.arange(30), 5)]
        groups = np.repeat(np.arange(30), 5)
        model = PCKID(n_inits=5, random_state=seed).fit(X, groups=groups)
        assert model.n_clusters_ == 1
        assert assess(model, X, n_resamples=0).answer is not Answer.GROUPS


def test_gaps_are_compared_with_the_clearest_null_ones():
    p = np.array([[1.0, 1e-6, np.nan], [1e-6, 1.0, 0.04], [np.nan, 0.04, 1.0]])
    found = compare_with_null_gaps(p, np.array([2.0, 3.0, 2.5, 2.0, 3.0]))
    assert found[0, 1] < 0.05 < found[1, 2]
    np.testing.assert_array_equal(np.isnan(found), np.isnan(p))
    assert (np.diag(found) == 1).all()


def test_a_place_and_a_time_have_a_reach_each():
    arrangement = Arrangement(np.zeros((5, 3)), None, "km", has_times=True)
    found = describe_dependence(Correlation(0.8, 100.0, 1.0, pace=20.0), 5.0, arrangement)
    np.testing.assert_allclose(found.reach / found.days, 20.0)
    np.testing.assert_allclose(found.pace, 20.0)


def test_dependence_is_described_by_its_reach():
    arrangement = Arrangement(np.arange(5.0)[:, None], None, "days")
    found = describe_dependence(Correlation(0.9, 10.0, 1.0), 30.0, arrangement)
    np.testing.assert_allclose(0.9 * np.exp(-found.reach / 10), 0.2)
    assert (found.unit, found.is_endless, found.within_groups) == ("days", False, False)
    assert describe_dependence(INDEPENDENT, np.inf, arrangement) is None


class TestOrder:
    def test_series_are_alike_in_order_and_shuffled_rows_are_not(self):
        rng = np.random.default_rng(0)
        X = autoregress(200, 4, 0.9, rng)
        X[rng.random(X.shape) < 0.1] = np.nan
        assert find_alike_neighbours(X) > 0.5
        assert find_alike_neighbours(X[rng.permutation(200)]) == 0

    def test_a_table_sorted_by_a_column_is_not_asked_about(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(200, 3)) + 3 * rng.normal(size=(200, 1))
        assert find_alike_neighbours(X[np.argsort(X[:, 0])]) == 0

    def test_rows_sorted_by_kind_are_not_asked_about(self):
        rng = np.random.default_rng(2)
        kinds = np.repeat(np.arange(3), 60)
        X = rng.normal(size=(180, 3)) + 4 * np.eye(3)[kinds]
        assert find_alike_neighbours(X) > 0.5
        assert find_alike_neighbours(X, kinds) == 0
        series = autoregress(180, 3, 0.97, rng)
        assert find_alike_neighbours(series, (series[:, 0] > 0).astype(int)) > 0.5


def correlogram_by_loops(y, errors, distances, longest, n_bins=12, least=20):
    """The correlogram, one pair after the other."""
    pairs = [(i, j) for i in range(len(y)) for j in range(i) if distances[i, j] <= longest]
    width = max(distances[i, j] for i, j in pairs) / n_bins
    mean = sum(y) / len(y)
    variance = sum((value - mean) ** 2 - e for value, e in zip(y, errors, strict=True)) / len(y)
    found = []
    for place in range(n_bins):
        own = [(i, j) for i, j in pairs if min(int(distances[i, j] / width), n_bins - 1) == place]
        if len(own) >= least:
            products = [(y[i] - mean) * (y[j] - mean) / variance for i, j in own]
            apart = [distances[i, j] for i, j in own]
            found.append((sum(apart) / len(own), sum(products) / len(own), len(own)))
    return np.array(found).T


def test_a_correlogram_is_the_mean_product_of_pairs(rng):
    places = np.sort(100 * rng.random(60))
    distances = np.abs(places[:, None] - places)
    y, errors = rng.normal(size=60), rng.random(60) / 3
    fitted = Correlation(0.8, 12.0, 1.0)
    found = measure_correlogram(y, errors, distances, fitted)
    expected = correlogram_by_loops(y, errors, distances, 36.0)
    np.testing.assert_allclose(found[:3], expected)
    assert found.fitted is fitted


def test_a_correlogram_follows_the_curve_that_rows_come_from():
    rng, places = np.random.default_rng(0), np.arange(400.0)
    truth = Correlation(0.9, 20.0, 1.0)
    distances = np.abs(places[:, None] - places)
    R = truth.between(distances)
    np.fill_diagonal(R, 1.0)
    root = np.linalg.cholesky(R)
    drawn = [root @ rng.normal(size=400) for _ in range(30)]
    found = [measure_correlogram(y, 0 * y, distances, truth) for y in drawn]
    mean = np.mean([each.correlations for each in found], axis=0)
    # The mean of each draw is estimated, which lowers all alike.
    np.testing.assert_allclose(mean, truth.between(found[0].distances), atol=0.12)


def test_few_pairs_have_no_correlogram():
    y = np.arange(5.0)
    assert measure_correlogram(y, 0 * y, np.abs(y[:, None] - y), Correlation(0.5, 2.0)) is None
    alone = np.full((5, 5), np.inf)
    assert measure_correlogram(y, 0 * y, alone, Correlation(0.5, 2.0)) is None


def test_small_matrices_are_solved_by_one_thread_of_blas(monkeypatch):
    seen = []

    def watched(y, covariance):
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return restricted_likelihood(y, covariance)

    monkeypatch.setattr(module, "restricted_likelihood", watched)
    rng = np.random.default_rng(0)
    X, where = rng.normal(size=(40, 2)), in_time(40)
    with threadpool_limits(2, user_api="blas"):
        module.find_reach(X[:, 0], where, rng)
        module.fit_dependence(X, np.eye(2), np.zeros(2), np.arange(2), where, rng)
    assert set(seen) == {1}
