"""Weights of rows in one mixture: a row of weight w is w rows."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, groups

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel
from pckid._utils.arrays import to_numpy
from pckid.describe.row_summary import summarise_rows
from pckid.input import table as input_table
from pckid.input import weights as weighting
from pckid.input.table import fit_scaling, standardise
from pckid.input.weights import canonical_order, draw_rows
from pckid.mixture.covariance_types import COVARIANCE_TYPES

X, _ = groups(n_samples=60)
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, size=60)


def fit(rows, weights=None, kind="full", **parameters):
    model = IncompleteGaussianMixture(
        3, covariance_type=kind, tol=0.0, max_iter=8, n_init=2, reg_covar=1e-2, random_state=0,
        **parameters,
    )  # fmt: skip
    return model.fit(rows, sample_weight=weights)


def assert_same(a, b, rtol=1e-7):
    for name in ("weights_", "means_", "covariances_", "lower_bound_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_whole_weights_are_repeated_rows_in_any_order(kind):
    order = np.random.default_rng(1).permutation(60)
    assert_same(fit(X[order], COUNTS[order], kind), fit(np.repeat(X, COUNTS, axis=0), kind=kind))


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_only_the_ratios_of_small_weights_count(kind):
    weights = np.random.default_rng(2).uniform(0.1, 0.5, 60)
    assert_same(fit(X, weights, kind), fit(X, 2 * weights, kind))


@pytest.mark.parametrize("factor", [1e8, 1e15, 1e280])
def test_weights_of_whole_nations_need_no_memory_for_everyone(factor):
    # Drawn as so many rows they would fill any memory.
    truth = np.arange(60) % 2
    rows = 9.0 * truth[:, None] + np.random.default_rng(3).normal(size=(60, 2))
    model = IncompleteGaussianMixture(2, n_init=10, random_state=0)
    model.fit(rows, sample_weight=factor * COUNTS)
    share = COUNTS[truth == 0].sum() / COUNTS.sum()
    np.testing.assert_allclose(np.sort(model.weights_), np.sort([share, 1 - share]), rtol=1e-6)


def test_heavy_rows_draw_the_means():
    rows = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    mixture = IncompleteGaussianMixture(1).fit(rows, sample_weight=[1, 1, 9, 9, 1, 9])
    expected = np.average(rows[:, 0], weights=[1, 1, 9, 9, 1, 9])
    np.testing.assert_allclose(mixture.means_, [[expected]])
    spread = np.average((rows[:, 0] - expected) ** 2, weights=[1, 1, 9, 9, 1, 9])
    np.testing.assert_allclose(mixture.covariances_, [[[spread]]])


def test_a_value_seen_only_without_weight_was_not_seen():
    rows = np.column_stack([X, np.ones(60)])
    rows[0, 4] = 7.0
    weights = np.r_[0, np.ones(59)]
    model = fit(rows, weights)
    assert model.dropped_features_ == [4]
    np.testing.assert_array_equal(model.means_[:, 4], 1.0)


def test_weights_on_other_arrays(backend):
    found = fit(backend.asarray(X), backend.asarray(COUNTS.astype(float)))
    np.testing.assert_allclose(np.asarray(found.means_), fit(X, COUNTS).means_, rtol=1e-8)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(60), "for all rows|one non-zero"),
        (-np.ones(60), "[Nn]egative"),
        (np.ones(59), "sample_weight.shape"),
        (np.full(60, np.nan), "NaN"),
        (np.full(60, 1e306), "too large"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        fit(X, weights)


def test_too_few_rows_with_weight_are_refused():
    with pytest.raises(ValueError, match="n_components = 3, n_samples = 2"):
        fit(X, np.r_[np.ones(2), np.zeros(58)])


def test_blocks_of_columns_change_neither_the_order_nor_the_summary(monkeypatch):
    table, labels = standardise(X, fit_scaling(X), "float64"), np.arange(60) % 3
    expected = canonical_order(table), summarise_rows(table, labels, 3, np.zeros(2))
    monkeypatch.setattr(input_table, "_BLOCK_NUMBERS", 70)  # a column each
    assert len(input_table.column_slices(table.values)) == X.shape[1]
    found = canonical_order(table), summarise_rows(table, labels, 3, np.zeros(2))
    np.testing.assert_array_equal(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_canonical_order_follows_the_rows():
    table = standardise(X, fit_scaling(X), "float64")
    shuffle = np.random.default_rng(3).permutation(60)
    shuffled = table._replace(values=table.values[shuffle], observed=table.observed[shuffle])
    np.testing.assert_array_equal(shuffle[canonical_order(shuffled)], canonical_order(table))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "whole numbers", "categories"])
def test_a_gpu_orders_rows_alike(kind, weighted, backend, monkeypatch):
    rng = np.random.default_rng(5)
    rows = X if kind == "numbers" else np.round(X)
    rows = rows[rng.integers(0, 60, 150)]
    categorical = np.arange(rows.shape[1]) < 1 if kind == "categories" else None
    if categorical is not None:
        rows[:, 0] = rng.integers(0, 3, len(rows))
    weights = rng.integers(1, 4, len(rows)).astype(float) if weighted else None
    table = standardise(rows, fit_scaling(rows, categorical), "float64")
    expected = canonical_order(table, weights)
    given = backend.asarray(rows)
    table = standardise(given, fit_scaling(given, categorical), "float64")
    read = []
    monkeypatch.setattr(weighting, "to_numpy", lambda a: read.append(a.shape) or to_numpy(a))
    monkeypatch.setattr(weighting, "is_host", lambda _: False)
    found = canonical_order(table, weights)
    # Equal rows may follow each other in any order.
    np.testing.assert_array_equal(rows[found], rows[expected])
    if backend.name == "torch":
        assert (len(rows), table.n_features) not in read


def test_draws_are_in_proportion_to_the_weights():
    order, weights = np.array([2, 0, 1, 3]), np.array([1.0, 3.0, 0.5, 5.0])
    rng = np.random.RandomState(0)
    drawn = np.concatenate([draw_rows(order, weights, 1, rng) for _ in range(4000)])
    np.testing.assert_allclose(np.bincount(drawn) / 4000, [0.1, 0.3, 0.1, 0.5], atol=0.03)
    assert sorted(draw_rows(order, weights, 10, rng)) == [0, 1, 1, 1, 2, 3, 3, 3, 3, 3]
    # No counts of rows: fractions of weights count, too.
    drawn = np.concatenate([draw_rows(order, 1e30 * weights, 1, rng) for _ in range(4000)])
    np.testing.assert_allclose(np.bincount(drawn) / 4000, weights / 9.5, atol=0.03)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_series_goes_by_the_labels_of_the_rows(numbered):
    index = np.arange(60) if numbered else [f"P{row}" for row in range(60)]
    frame = pd.DataFrame(X, index=index, columns=list("abcd"))
    counts = pd.Series(1.0 + COUNTS, index=index)
    shuffled = counts.sample(frac=1, random_state=0)
    assert_same(fit(frame, shuffled), fit(frame, counts))
    for kind in (PCKID(3, **SMALL), ProbabilisticClusterKernel(**SMALL)):
        found, expected = (
            kind.fit(frame, sample_weight=weights).transform(frame)
            for weights in (shuffled, counts.to_numpy())
        )
        np.testing.assert_array_equal(found, expected)


def test_a_series_of_other_labels_goes_by_its_order():
    frame = pd.DataFrame(X, index=[f"P{row}" for row in range(60)], columns=list("abcd"))
    other = pd.Series(1.0 + COUNTS)
    assert_same(fit(frame, other), fit(frame, other.to_numpy()))
    wrong = pd.Series(1.0 + COUNTS, index=[*frame.index[:-1], "Q"])
    with pytest.raises(ValueError, match=r"sample_weight has 1 label .* 'Q'"):
        fit(frame, wrong)
