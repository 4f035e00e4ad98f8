"""Columns of categories, and missingness that tells of the components, in the product family."""

import tracemalloc

import numpy as np
import pytest
from helpers import begin, close, steps
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from pckid._utils.arrays import to_numpy
from pckid.input.sample import with_one_hot
from pckid.input.table import block, fit_scaling, standardise, take
from pckid.mixture import em, product

SIZES = (2, 4)
seeds = st.integers(0, 10_000)
layouts = st.sampled_from(["shared", "distinct"])


def draw_rows(rng, layout="distinct", n_samples=24):
    """Draw three columns of numbers, then two of categories, with holes."""
    numbers = rng.standard_normal((n_samples, 3))
    codes = np.stack([rng.integers(size, size=n_samples) for size in SIZES], axis=1)
    # Every category occurs, so that the sizes are as said.
    codes[: max(SIZES)] = np.arange(max(SIZES))[:, None] % SIZES
    X = np.concatenate([numbers, codes], axis=1)
    holes = rng.random(X.shape) < 0.3
    if layout == "shared":
        holes = holes[:2][np.arange(n_samples) % 2]
    holes[: max(SIZES), 3:] = False
    # Every number varies, so that no column is left out.
    holes[:2, :3] = False
    holes[np.arange(n_samples), rng.integers(5, size=n_samples)] = False
    return np.where(holes, np.nan, X)


def make_table(X, informative=False, dtype="float64", weights=()):
    categorical = np.arange(X.shape[1]) >= X.shape[1] - len(SIZES)
    scaling = fit_scaling(X, categorical, informative=informative)
    if weights:
        scaling = scaling._replace(
            column_model=scaling.column_model._replace(weights=np.array(weights))
        )
    return standardise(X, scaling, dtype)


def as_loops(table, params, informative):
    """Compute log-joints (n, g), and one EM step's parameters, row by row and cell by cell."""
    Z, codes, observed = table.values, table.codes, table.observed
    n, g = len(Z), params.means.shape[1]
    shares, column = table.column_model.frequencies, table.column_model.column
    weights = np.ones(5) if table.column_model.weights is None else table.column_model.weights
    joint = np.tile(params.log_weights[0], (n, 1))
    for i in range(n):
        for k in range(g):
            for j in range(3):
                if observed[i, j]:
                    spread = np.sqrt(params.covariances[0, k, j])
                    density = norm.logpdf(Z[i, j], params.means[0, k, j], spread)
                    joint[i, k] += weights[j] * density
            for j in range(2):
                if observed[i, 3 + j]:
                    chance = params.categories[0, k, codes[i, j]]
                    joint[i, k] += weights[3 + j] * np.log(chance)
            for j in np.flatnonzero(np.broadcast_to(informative, 5)):
                if not observed[:, j].all():
                    chance = params.observed[0, k, j]
                    chance = chance if observed[i, j] else 1 - chance
                    joint[i, k] += weights[j] * np.log(chance)
    gamma = np.exp(joint - joint.max(axis=1, keepdims=True))
    gamma /= gamma.sum(axis=1, keepdims=True)
    categories = np.zeros((g, len(shares)))
    chances = np.zeros((g, 5))
    for k in range(g):
        for c in range(len(shares)):
            counted = 0.1 * shares[c]  # a tenth of a row of the whole table's shares
            for i in range(n):
                seen = observed[i, 3 + column[c]]
                part = codes[i, column[c]] == c if seen else params.categories[0, k, c]
                counted += gamma[i, k] * part
            categories[k, c] = counted / (gamma[:, k].sum() + 0.1)
        for j in range(5):
            counted = gamma[:, k] @ observed[:, j] + 5 * observed[:, j].mean()
            chances[k, j] = counted / (gamma[:, k].sum() + 5)
    return joint, categories, chances


@pytest.mark.parametrize(
    ("informative", "weights"),
    [
        (False, ()),
        (True, (0.5, 2.0, 1.0, 3.0, 0.1)),
        (np.array([1, 0, 0, 1, 0], dtype=bool), ()),
    ],
)
@given(seed=seeds, layout=layouts)
def test_one_step_equals_the_loops(informative, weights, seed, layout):
    rng = np.random.default_rng(seed)
    table = make_table(draw_rows(rng, layout), informative, weights=weights)
    stats = product.statistics(table)
    chosen = rng.choice(table.n_samples, (1, 3), replace=False)
    params = steps(product, stats, begin(product, stats, chosen, 1e-3), 1, 1e-3)
    joint, categories, chances = as_loops(table, params, informative)
    close(product.log_joint(stats, params)[0].T, joint, scale=100)
    after = steps(product, stats, params, 1, 1e-3)
    close(after.categories[0], categories)
    if np.any(informative):
        tells = np.broadcast_to(informative, 5)
        close(after.observed[0][:, tells], chances[:, tells])
    else:
        assert after.observed.shape == (1, 3, 0)


@given(seed=seeds, layout=layouts)
def test_a_weight_of_two_equals_a_column_that_comes_twice(seed, layout):
    rng = np.random.default_rng(seed)
    X = draw_rows(rng, layout)
    weighed = make_table(X, True, weights=(2.0, 1.0, 1.0, 1.0, 1.0))
    twice = make_table(np.column_stack([X[:, :1], X]), True)
    chosen = rng.choice(len(X), (1, 3), replace=False)
    joints = []
    for table in (weighed, twice):
        stats = product.statistics(table)
        params = steps(product, stats, begin(product, stats, chosen, 1e-2), 2, 1e-2)
        joints.append(product.log_joint(stats, params))
    close(*joints, scale=100)
    assert weighed.n_values == twice.n_values


def log_posterior(table, stats, params):
    """Compute the log-likelihood of the rows and the log-prior of the probabilities."""
    _, density = em.responsibilities(product.log_joint(stats, params))
    prior = 0.1 * np.sum(table.column_model.frequencies * np.log(params.categories))
    if params.observed.shape[-1]:
        shares = table.column_model.observed
        some = (shares > 0) & (shares < 1)
        weights = 1.0 if table.column_model.weights is None else table.column_model.weights[some]
        chances, shares = params.observed[..., some], shares[some]
        logs = shares * np.log(chances) + (1 - shares) * np.log(1 - chances)
        prior += 5 * np.sum(weights * logs)
    return density.sum() + prior


@pytest.mark.parametrize(
    ("informative", "weights"), [(False, ()), (True, (0.5, 2.0, 1.0, 1.0, 1.0))]
)
@given(seed=seeds, layout=layouts)
def test_likelihood_times_prior_never_falls(informative, weights, seed, layout):
    rng = np.random.default_rng(seed)
    table = make_table(draw_rows(rng, layout), informative, weights=weights)
    stats = product.statistics(table)
    params = begin(product, stats, rng.choice(table.n_samples, (1, 3), replace=False), 1e-3)
    last = log_posterior(table, stats, params)
    for _ in range(15):
        params = steps(product, stats, params, 1, 1e-3)
        now = log_posterior(table, stats, params)
        assert now >= last - 1e-9 * abs(last)
        last = now


@given(seed=seeds, layout=layouts)
def test_a_group_has_one_variance_in_each_component(seed, layout):
    rng = np.random.default_rng(seed)
    alone = make_table(draw_rows(rng, layout))
    table = alone._replace(column_blocks=np.array([[1.0], [0.0], [1.0]]))
    stats = product.statistics(table)
    params = begin(product, stats, rng.choice(table.n_samples, (1, 3), replace=False), 1e-3)
    last = log_posterior(table, stats, params)
    for _ in range(10):
        own = steps(product, product.statistics(alone), params, 1, 0.0).covariances
        params = steps(product, stats, params, 1, 1e-3)
        shared = np.maximum((own[..., 0] + own[..., 2]) / 2, 1e-3)
        close(params.covariances, np.stack([shared, np.maximum(own[..., 1], 1e-3), shared], -1))
        now = log_posterior(table, stats, params)
        assert now >= last - 1e-9 * abs(last)
        last = now


@given(seed=seeds, layout=layouts)
def test_probabilities_sum_to_one_in_each_column(seed, layout):
    rng = np.random.default_rng(seed)
    table = make_table(draw_rows(rng, layout))
    stats = product.statistics(table)
    params = begin(product, stats, rng.choice(table.n_samples, (1, 4), replace=False), 1e-3)
    for _ in range(3):
        for j, size in enumerate(SIZES):
            mine = params.categories[..., to_numpy(table.column_model.column) == j]
            assert mine.shape[-1] == size
            assert mine.min() > 0
            close(mine.sum(axis=-1), np.ones((1, 4)))
        params = steps(product, stats, params, 1, 1e-3)


@given(seed=seeds, layout=layouts)
def test_every_column_weighs_alike_in_the_starts(seed, layout):
    rng = np.random.default_rng(seed)
    X = draw_rows(rng, layout, n_samples=40)
    filled = product.filled(product.statistics(make_table(X)))[0]
    for columns in ([0], [1], [2], [3, 4], [5, 6, 7, 8]):
        part = filled[:, columns]
        place = columns[0] if len(columns) == 1 else 3 + (len(columns) == 4)
        part = part[~np.isnan(X[:, place])]
        distances = np.sum((part[:, None] - part[None]) ** 2, axis=-1)
        close(distances.mean(), 2.0)


def test_a_missing_category_lies_at_the_mean_in_the_starts():
    X = draw_rows(np.random.default_rng(0))
    filled = product.filled(product.statistics(make_table(X)))[0]
    absent = np.isnan(X[:, 4])
    assert absent.any()
    close(filled[absent, 5:], np.tile(filled[~absent, 5:].mean(axis=0), (absent.sum(), 1)))


def test_the_starts_do_not_compare_every_category_with_every_other():
    X = np.random.default_rng(0).permuted(np.tile(np.arange(300.0) % 150, (20, 1)), axis=1).T
    stats = product.statistics(standardise(X, fit_scaling(X, np.full(20, True)), "float64"))
    tracemalloc.start()
    filled = product.filled(stats)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert filled.shape == (1, 300, 3000)
    assert peak < 3000 * 3000 * 8 / 2


def test_categories_alone_are_a_table():
    X = draw_rows(np.random.default_rng(0))[:, 3:]
    X = X[~np.isnan(X).all(axis=1)]
    table = make_table(X)
    assert table.values.shape == (len(X), 0)
    stats = product.statistics(table)
    params = steps(product, stats, begin(product, stats, np.array([[0, 1]]), 1e-3), 5, 1e-3)
    resp, density = em.responsibilities(product.log_joint(stats, params))
    close(resp.sum(axis=1), np.ones((1, len(X))))
    assert np.isfinite(density).all()


def test_columns_that_tell_no_rows_apart_are_left_out(rng):
    constant, empty = np.zeros(20), np.full(20, np.nan)
    X = np.stack([rng.standard_normal(20), constant, empty, np.arange(20) % 3], axis=1)
    scaling = fit_scaling(X, np.array([False, True, True, True]))
    assert scaling.kept.tolist() == [0]
    assert scaling.categorical.tolist() == [3]
    assert scaling.used.tolist() == [0, 3]


def test_a_column_without_holes_says_nothing_of_missingness():
    X = draw_rows(np.random.default_rng(0))
    X[:, 0] = np.arange(24)
    table = make_table(X, informative=True)
    stats = product.statistics(table)
    params = steps(product, stats, begin(product, stats, np.array([[0, 1]]), 1e-3), 2, 1e-3)
    joint = product.log_joint(stats, params)
    other = params._replace(observed=params.observed * np.where(np.arange(5) == 0, 0.5, 1.0))
    close(product.log_joint(stats, other), joint)


@pytest.mark.parametrize("layout", ["shared", "distinct"])
def test_blocks_and_gathered_rows_are_those_of_the_whole(layout):
    table = make_table(draw_rows(np.random.default_rng(0), layout), informative=True)
    stats = product.statistics(table)
    params = begin(product, stats, np.array([[0, 1]]), 1e-3)
    whole = product.log_joint(stats, params)
    parts = [product.statistics(block(table, *cut)) for cut in ((0, 7), (7, 24))]
    close(np.concatenate([product.log_joint(p, params) for p in parts], axis=-1), whole, scale=10)
    rows = np.array([5, 3, 20])
    taken = product.log_joint(product.statistics(take(table, rows)), params)
    close(taken, whole[..., rows], scale=10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_alike_on_every_array_library(backend, dtype):
    X = draw_rows(np.random.default_rng(0))
    results = []
    for values, chosen in (
        (backend.asarray(X), backend.asarray(np.array([[0, 1, 2]]))),
        (X, np.array([[0, 1, 2]])),
    ):
        stats = product.statistics(make_table(values, informative=True, dtype=dtype))
        results.append(steps(product, stats, begin(product, stats, chosen, 1e-3), 5, 1e-3))
    for a, b in zip(*results, strict=True):
        close(to_numpy(a), b, dtype, scale=10)


@given(seed=seeds, layout=layouts, informative=st.booleans())
def test_numbers_that_take_two_values_count_as_two_categories(seed, layout, informative):
    rng = np.random.default_rng(seed)
    X = draw_rows(rng, layout)
    # Beside the column of two categories, in any unit; of four categories two are left.
    X[:, 4] = X[:, 4] % 2
    declared = np.arange(5) >= 3
    by_family = []
    for categorical in (declared, None):
        scaling = fit_scaling(X, categorical, informative=informative, two_values=True)
        table = standardise(X, scaling, "float64")
        stats = product.statistics(table)
        params = steps(product, stats, begin(product, stats, np.array([[0, 5, 9]]), 0.1), 3, 0.1)
        by_family.append(em.posterior(product.log_joint(stats, params)))
        X[:, 3:] = X[:, 3:] * [-2.5, 1e4] + 7
    close(by_family[1], by_family[0], scale=1e3)


@given(seed=seeds, layout=layouts, informative=st.booleans())
def test_columns_that_hold_one_category_together_count_as_it_does(seed, layout, informative):
    X = draw_rows(np.random.default_rng(seed), layout)
    assume((~np.isnan(X[:, 3:])).sum(axis=0).min() >= 10)
    coded = [
        np.where(np.isnan(column)[:, None], np.nan, 5 * (column[:, None] == np.arange(size)) - 2)
        for column, size in zip(X[:, 3:].T, SIZES, strict=True)
    ]
    by_family = []
    for rows, categorical in (
        (X, np.arange(5) >= 3),
        (np.column_stack([X[:, :3], *coded]), None),
    ):
        scaling = fit_scaling(rows, categorical, informative=informative, two_values=True)
        scaling = with_one_hot(scaling, rows)
        stats = product.statistics(standardise(rows, scaling, "float64"))
        params = steps(product, stats, begin(product, stats, np.array([[0, 5, 9]]), 0.1), 3, 0.1)
        by_family.append(em.posterior(product.log_joint(stats, params)))
    close(by_family[1], by_family[0], scale=1e3)
