"""Null tables against slow oracles: margins, correlations, missing cells."""

import itertools

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import linear_sum_assignment

from pckid.significance.margins import dip, fit_margin, gaussian_scores, unimodal
from pckid.significance.null_tables import (
    _MIN_PRICED,
    NullModels,
    complete_scores,
    copula_correlations,
    denoise_correlations,
    denoise_eigenvalues,
    draw_null_table,
    fit_null_model,
    gaussian_of_all,
    order_categories,
    pair_rows,
    pairwise_correlations,
    prices,
    without_chance,
)


def no_categories(X):
    return np.zeros(X.shape[1], dtype=bool)


def test_scores_are_the_gaussian_means_of_the_levels():
    shares = np.array([0.2, 0.5, 0.3])
    means, variance, hermite = gaussian_scores(shares)
    ends = stats.norm.ppf([0, 0.2, 0.7, 1])
    expected = [stats.truncnorm.mean(low, high) for low, high in itertools.pairwise(ends)]
    np.testing.assert_allclose(means, expected, rtol=1e-6)
    assert variance == pytest.approx(shares @ np.square(expected))
    third = [
        integrate.quad(lambda z: (z**3 - 3 * z) / np.sqrt(6) * stats.norm.pdf(z), low, high)[0]
        for low, high in itertools.pairwise(ends)
    ]
    assert hermite[2] == pytest.approx(expected @ np.array(third) / np.sqrt(variance))


def test_up_to_ten_values_that_repeat_are_drawn_as_they_are():
    ratings = np.tile(np.arange(1.0, 11.0), 2)
    margin = fit_margin(ratings)
    assert margin.discrete
    assert set(margin.quantile(np.linspace(0, 1, 99))) == set(ratings)
    assert not fit_margin(ratings[:-1]).discrete
    assert not fit_margin(np.tile(np.arange(11.0), 2)).discrete


def correlations_of(X):
    margins = [fit_margin(column) for column in X.T]
    scores = np.column_stack([margin.scores for margin in margins])
    return copula_correlations(margins, *pairwise_correlations(scores, ~np.isnan(X)))


def assert_same_masks(drawn, X):
    """The rows lack the same cells, in another order."""
    masks = [np.unique(np.isnan(table), axis=0, return_counts=True) for table in (drawn, X)]
    np.testing.assert_array_equal(masks[0][0], masks[1][0])
    np.testing.assert_array_equal(masks[0][1], masks[1][1])


def drawn_like(X, rng, categorical=None):
    model = fit_null_model(X, no_categories(X) if categorical is None else categorical)
    return draw_null_table(model, np.arange(len(X)), rng)


def test_the_correlation_of_cut_columns_is_the_gaussian_one(rng):
    rho = 0.7
    latent = rng.multivariate_normal([0, 0, 0], [[1, rho, 0], [rho, 1, 0], [0, 0, 1]], size=20_000)
    X = np.column_stack([latent[:, 0] > 0.8, np.digitize(latent[:, 1], [-1, 0, 0.5]), latent[:, 2]])
    found = correlations_of(X)
    assert found[0, 1] == pytest.approx(rho, abs=0.03)
    assert found[0, 2] == pytest.approx(0, abs=0.03)


def test_no_correlation_is_beyond_one():
    coin = (np.arange(200) % 2).astype(float)
    X = np.column_stack([coin, coin, 1 - coin])
    found = correlations_of(X)
    assert np.abs(found).max() <= 1
    np.testing.assert_array_equal(np.diag(found), 1)
    assert found[0, 1] > 0.9
    assert found[0, 2] < -0.9


def test_pairwise_correlations_use_the_rows_in_which_both_are_observed():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    observed = rng.random(X.shape) < 0.7
    found, counts = pairwise_correlations(np.where(observed, X, 0), observed)
    both = observed[:, 0] & observed[:, 2]
    assert counts[0, 2] == both.sum()
    assert found[0, 2] == pytest.approx(np.corrcoef(X[both, 0], X[both, 2])[0, 1])


@pytest.mark.parametrize("ratio", [0.05, 0.4, 1.5])
def test_eigenvalues_that_stand_out_are_those_of_all_rows(ratio):
    # In units of the others' mean. One closer to it than √g would not stand out.
    true = np.array([ell for ell in (0.1, 1 + 3 * np.sqrt(ratio), 9.0) if ell > 1 or ratio < 0.5])
    moved = [ell + ratio * ell / (ell - 1) for ell in true]
    values = np.array([*np.linspace(0.9, 1.1, 60), *moved])
    found = denoise_eigenvalues(values / values.mean(), ratio)
    np.testing.assert_allclose(found * values.mean(), [*np.ones(60), *true], rtol=1e-9)


def test_many_rows_leave_eigenvalues_as_they_are():
    values = np.array([0.2, 0.5, 0.9, 1.1, 2.3])
    np.testing.assert_allclose(denoise_eigenvalues(values, 1e-9), values, rtol=1e-6)


def one_factor(loadings):
    """Correlations of columns that share one factor."""
    true = np.outer(loadings, loadings)
    np.fill_diagonal(true, 1.0)
    return true


@pytest.mark.parametrize(
    ("true", "gain"),
    [
        (np.eye(15), 4),
        (one_factor(np.linspace(-0.9, 0.9, 15)), 1.3),
        (one_factor(np.full(15, 0.7)), 1.3),
    ],
)
def test_denoised_correlations_are_closer_to_those_of_all_rows(true, gain, rng):
    before, after = [], []
    for _ in range(30):
        X = rng.multivariate_normal(np.zeros(15), true, size=80)
        observed = rng.random(X.shape) < 0.7
        raw, counts = pairwise_correlations(np.where(observed, X, 0), observed)
        found = denoise_correlations(raw, counts)
        np.testing.assert_allclose(np.diag(found), 1)
        before.append(np.mean((raw - true) ** 2))
        after.append(np.mean((found - true) ** 2))
    assert gain * np.mean(after) < np.mean(before)


def test_denoised_correlations_by_hand():
    true = one_factor(np.linspace(0.7, 0.95, 6))
    n_rows = 12
    kept = n_rows / (n_rows + 2) * true
    np.fill_diagonal(kept, 1)
    variance = (n_rows / (n_rows + 2)) ** 2 / (n_rows - 1)
    values, vectors = np.linalg.eigh(kept)
    rebuilt = vectors @ np.diag(denoise_eigenvalues(values, 6 * variance)) @ vectors.T
    expected = np.empty_like(true)
    for i, j in itertools.product(range(6), repeat=2):
        expected[i, j] = rebuilt[i, j] / np.sqrt(rebuilt[i, i] * rebuilt[j, j])
    found = denoise_correlations(true, np.full((6, 6), float(n_rows)))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found.min() > 0.1


def test_columns_that_share_few_rows_have_correlations():
    found = denoise_correlations(np.ones((2, 2)), np.full((2, 2), 2.0))
    assert 0 <= found[0, 1] < 1
    assert denoise_correlations(np.ones((1, 1)), np.full((1, 1), 9.0)) == pytest.approx(1)


def test_correlations_lose_what_chance_adds():
    correlations = np.array([[1.0, 0.5, -0.3], [0.5, 1.0, 0.1], [-0.3, 0.1, 1.0]])
    counts = np.full((3, 3), 20.0)
    found = without_chance(correlations, counts)
    for i, j in itertools.product(range(3), repeat=2):
        r = correlations[i, j] * 20 / 22
        square = r**2 - (1 - r**2) ** 2 / 19
        assert found[i, j] == pytest.approx(np.sign(r) * np.sqrt(max(square, 0)))
    assert found[1, 2] == 0
    assert not without_chance(np.ones((2, 2)), np.full((2, 2), 2.0)).any()


def test_more_columns_than_rows_that_are_all_the_same():
    found = denoise_eigenvalues(np.array([0.0] * 99 + [100.0]), 2.0)
    assert found[-1] > 50
    assert 0 < found[:-1].max() < 0.01


def test_chance_between_discrete_columns_is_removed_by_eigenvalues():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 6)) + rng.normal(size=(90, 1))
    X[:, :3] = X[:, :3] > 0.3
    margins, observed = [fit_margin(column) for column in X.T], np.ones(X.shape, dtype=bool)
    scores = np.column_stack([margin.scores for margin in margins])
    raw, counts = pairwise_correlations(scores, observed)
    denoised, one_by_one = denoise_correlations(raw, counts), without_chance(raw, counts)
    found = copula_correlations(margins, raw, counts)
    for i, j in itertools.combinations(range(6), 2):
        of_scores = sum(
            found[i, j] ** m * margins[i].hermite[m - 1] * margins[j].hermite[m - 1]
            for m in range(1, len(margins[i].hermite) + 1)
        )
        expected = denoised if i < 3 else one_by_one
        assert of_scores == pytest.approx(expected[i, j], abs=2e-3)


def test_null_tables_of_independent_columns_are_hardly_more_correlated():
    rng = np.random.default_rng(7)

    def mean_square(table):
        observed = ~np.isnan(table)
        found, _ = pairwise_correlations(np.nan_to_num(table), observed)
        return np.mean(found[np.triu_indices(len(found), 1)] ** 2)

    own, null = [], []
    for _ in range(20):
        X = rng.normal(size=(60, 12))
        X[rng.random(X.shape) < 0.4] = np.nan
        own.append(mean_square(X))
        null.append(mean_square(drawn_like(X, rng)))
    # With the correlations as they are it would be about twice as much.
    assert np.mean(null) < 1.6 * np.mean(own)


def slow_minorant(x, y, at):
    """The greatest convex function under points, at one of them: the lowest chord above it."""
    chords = [
        y[i] + (y[j] - y[i]) * (x[at] - x[i]) / (x[j] - x[i])
        for i in range(at + 1)
        for j in range(at, len(x))
        if x[i] < x[j]
    ]
    return min(chords, default=y[at])


def test_unimodal_is_convex_then_concave_and_next_to_the_column():
    rng = np.random.default_rng(2)
    values = np.sort(np.concatenate([rng.normal(size=30), rng.normal(3, 0.5, size=20)]))
    shares = np.full(50, 1 / 50)
    knots, cumulative, _ = unimodal(values, shares)
    jump = int(np.flatnonzero(np.diff(knots) == 0)[0])
    mode = int(np.searchsorted(values, knots[jump]))
    before, after = np.arange(50) / 50, np.arange(1, 51) / 50
    for i in range(50):
        if i < mode:
            expected = slow_minorant(values[: mode + 1], before[: mode + 1], i)
        elif i > mode:
            expected = -slow_minorant(-values[mode:][::-1], -after[mode:][::-1], 49 - i)
        else:
            continue
        assert np.interp(values[i], knots, cumulative) == pytest.approx(expected)


def test_the_dip_is_the_smallest_difference_of_all_modes(rng):
    for n in (1, 2, 5, 40, 150):
        for step in (0.0, 0.5):
            values = rng.normal(size=n) + 3 * (np.arange(n) % 2)
            values = np.round(values / step) * step if step else values
            levels, counts = np.unique(values, return_counts=True)
            assert dip(values) == pytest.approx(unimodal(levels, counts / n)[2], abs=1e-12)


def test_two_groups_dip_more_than_one():
    rng = np.random.default_rng(3)
    one = rng.normal(size=200)
    assert dip(np.concatenate([one - 4, one + 4])) > 3 * dip(one)
    assert dip(np.arange(100.0)) <= 1 / 100


def test_null_tables_have_the_missing_cells_margins_and_correlations_of_the_table():
    rng = np.random.default_rng(4)
    latent = rng.normal(size=(900, 1)) + 0.5 * rng.normal(size=(900, 3))
    X = np.column_stack([np.exp(latent[:, 0]), latent[:, 1] > 0.5, latent[:, 2]])
    X[rng.random(X.shape) < 0.3] = np.nan
    drawn = drawn_like(X, rng)
    assert_same_masks(drawn, X)
    assert set(np.unique(drawn[~np.isnan(drawn[:, 1]), 1])) == {0.0, 1.0}
    assert np.nanmean(drawn[:, 1]) == pytest.approx(np.nanmean(X[:, 1]), abs=0.08)
    quantiles = [0.1, 0.5, 0.9]
    np.testing.assert_allclose(
        np.nanquantile(drawn[:, 0], quantiles), np.nanquantile(X[:, 0], quantiles), rtol=0.25
    )

    def rank_correlation(table):
        both = ~np.isnan(table[:, 0]) & ~np.isnan(table[:, 2])
        return stats.spearmanr(table[both, 0], table[both, 2]).statistic

    assert rank_correlation(drawn) == pytest.approx(rank_correlation(X), abs=0.08)


def test_null_tables_of_two_groups_have_no_gap():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 1)) + 8 * (np.arange(400) % 2)[:, None]
    drawn = drawn_like(X, rng)
    assert dip(X[:, 0]) > 0.1
    assert dip(drawn[:, 0]) < 0.04
    assert drawn.min() >= X.min()
    assert drawn.max() <= X.max()


def test_categories_are_ordered_along_the_direction_of_largest_variance():
    rng = np.random.default_rng(6)
    position = rng.normal(size=300)
    codes = np.array([2.0, 0.0, 1.0])[np.digitize(position, [-0.5, 0.5])]
    X = np.column_stack([position, position + 0.1 * rng.normal(size=300), codes])
    order = order_categories(X, np.array([False, False, True]))[2]
    assert order.tolist() in ([2.0, 0.0, 1.0], [1.0, 0.0, 2.0])
    drawn = drawn_like(X, rng, np.array([False, False, True]))
    counts = [np.bincount(table[:, 2].astype(int)) for table in (X, drawn)]
    np.testing.assert_allclose(*counts, atol=40)
    assert drawn[drawn[:, 2] == 2, 0].mean() < drawn[drawn[:, 2] == 1, 0].mean() - 1


def test_columns_without_two_values_stay_empty():
    X = np.column_stack([np.arange(30.0), np.ones(30), np.full(30, np.nan)])
    drawn = drawn_like(X, np.random.default_rng(0))
    assert np.isnan(drawn[:, 1:]).all()


def test_columns_that_hold_one_category_together_stay_so():
    rng = np.random.default_rng(8)
    position = rng.normal(size=600)
    codes = np.digitize(position + 0.5 * rng.normal(size=600), [-0.5, 0.7])
    coded = np.where(rng.random(600)[:, None] < 0.2, np.nan, 3 * (codes[:, None] == range(3)) - 1)
    X = np.column_stack([position, coded, rng.random(600) < 0.5])
    drawn = drawn_like(X, rng)
    assert_same_masks(drawn, X)
    seen = drawn[~np.isnan(drawn[:, 1]), 1:4]
    assert set(np.unique(seen)) == {-1.0, 2.0}
    assert ((seen == 2).sum(axis=1) == 1).all()
    np.testing.assert_allclose(np.nanmean(drawn, axis=0), np.nanmean(X, axis=0), atol=0.3)
    assert drawn[drawn[:, 1] == 2, 0].mean() < drawn[drawn[:, 3] == 2, 0].mean() - 1


def lost_after_high_values(rng, n_samples=400):
    """Two columns of correlation 0.9; the second is missing where the first is above 0."""
    x = rng.normal(size=n_samples)
    X = np.column_stack([x, 0.9 * x + np.sqrt(0.19) * rng.normal(size=n_samples)])
    X[x > 0, 1] = np.nan
    return X


def test_null_rows_lack_the_cells_of_rows_that_they_resemble():
    rng = np.random.default_rng(9)
    X = lost_after_high_values(rng)
    drawn = drawn_like(X, rng)
    assert_same_masks(drawn, X)
    lost = np.isnan(drawn[:, 1])
    assert drawn[lost, 0].mean() > drawn[~lost, 0].mean() + 1
    assert np.nanmean(drawn[:, 1]) == pytest.approx(np.nanmean(X[:, 1]), abs=0.2)


def test_cells_missing_at_random_are_missing_at_random_in_null_tables():
    rng, found = np.random.default_rng(10), []
    for _ in range(20):
        X = rng.normal(size=(150, 1)) + rng.normal(size=(150, 6))
        X[:, 1:][rng.random((150, 5)) < 0.3] = np.nan
        drawn = drawn_like(X, rng)
        extreme = np.abs(np.nanmean(drawn, axis=1))
        found.append(stats.spearmanr(extreme, np.isnan(drawn).sum(axis=1)).statistic)
    # Fewer values vary more in the mean; rows paired by observed cells alone had 0.27.
    assert np.mean(found) < 0.12


def slow_expectation(row, means, covariance):
    """A row with its missing values as the Gaussian expects them, and their covariance."""
    o, m = ~np.isnan(row), np.isnan(row)
    full, spread = row.copy(), np.zeros_like(covariance)
    gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
    full[m] = means[m] + gain @ (row[o] - means[o])
    spread[np.ix_(m, m)] = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
    return full, spread


def test_the_gaussian_of_all_values_is_a_fixed_point_of_em():
    rng = np.random.default_rng(11)
    X = lost_after_high_values(rng, 300)
    X = np.column_stack([X, rng.normal(size=300) + X[:, 0]])
    X[rng.random(300) < 0.2, 2] = np.nan
    means, spreads, correlations = gaussian_of_all(X)
    covariance = correlations * spreads * spreads[:, None]
    rows, parts = zip(*(slow_expectation(row, means, covariance) for row in X), strict=True)
    rows = np.stack(rows)
    again = np.cov(rows.T, bias=True) * 300 + np.sum(parts, axis=0) + 2 * np.eye(3)
    np.testing.assert_allclose(rows.mean(axis=0), means, atol=0.01)
    np.testing.assert_allclose(again / 302, covariance, atol=0.02)
    # What was observed of the second column is below 0 on average.
    assert np.nanmean(X[:, 1]) < -0.5
    assert abs(means[1]) < 0.15


def test_missing_scores_are_drawn_given_the_observed_ones():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(4000, 1)) + 0.5 * rng.normal(size=(4000, 3))
    X[:, 1:][rng.random((4000, 2)) < 0.3] = np.nan
    model = fit_null_model(X, no_categories(X))
    completed = complete_scores(model, np.arange(4000), rng)
    seen = ~np.isnan(X)
    np.testing.assert_allclose(completed[seen], model.scores[seen])
    found, expected = np.corrcoef(completed.T), model.root @ model.root.T
    np.testing.assert_allclose(found, expected, atol=0.04)
    np.testing.assert_allclose(completed.std(axis=0), model.spreads, atol=0.04)


def test_rows_are_paired_by_the_least_sum_of_squared_distances():
    rng = np.random.default_rng(13)
    rows, others = rng.normal(size=(2, 6, 3))

    def total(order):
        return ((rows - others[list(order)]) ** 2).sum()

    best = min(itertools.permutations(range(6)), key=total)
    np.testing.assert_array_equal(pair_rows(rows, others), best)


def test_runs_share_the_null_model_of_one_table():
    X = np.random.default_rng(16).normal(size=(30, 2))
    models, none = NullModels(), np.zeros(2, dtype=bool)
    first = models.fit(X, none)
    assert models.fit(X.copy(), none) is first
    X[0, 0] = np.nan
    other = models.fit(X, none)
    assert other is not first
    np.testing.assert_array_equal(other.root, fit_null_model(X, none).root)


def test_many_rows_are_paired_as_well_by_prices():
    rows, others = np.random.default_rng(14).normal(size=(2, _MIN_PRICED, 3)) * [3.0, 1.0, 0.3]
    costs = ((rows[:, None] - others) ** 2).sum(axis=2)
    np.testing.assert_array_equal(pair_rows(rows, others), linear_sum_assignment(costs)[1])


def test_prices_leave_less_to_be_found():
    """With those of the best assignment, no pair would cost less than nothing, and n pairs that."""
    rows, others = np.random.default_rng(15).normal(size=(2, 60, 3))
    costs = -rows @ others.T
    costs -= costs.min(axis=1, keepdims=True)
    costs -= costs.min(axis=0)
    best = costs[linear_sum_assignment(costs)].sum()
    of_rows, of_others = prices(costs)
    left = costs - of_rows[:, None] - of_others
    low = left.min(axis=1, keepdims=True)
    bound = (of_rows + low[:, 0]).sum() + of_others.sum() + (left - low).min(axis=0).sum()
    # A lower bound of what the best assignment costs, where costs as they are give none.
    assert 0.8 * best < bound <= best + 1e-9


def test_rows_that_are_all_the_same_have_prices():
    found = pair_rows(np.zeros((_MIN_PRICED, 2)), np.zeros((_MIN_PRICED, 2)))
    assert sorted(found) == list(range(_MIN_PRICED))
