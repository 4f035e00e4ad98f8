"""Columns of two values that hold one category together: found, weighted, and clustered as one."""

import itertools

import numpy as np
import pytest
from helpers import close
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID
from pckid.columns.one_hot import find_one_hot_columns
from pckid.input.sample import with_one_hot
from pckid.input.table import fit_scaling, standardise


def dummies(codes, n_categories=None):
    """Code categories, NaN where missing, as columns of 0 and 1 that are missing together."""
    size = n_categories or int(np.nanmax(codes)) + 1
    return np.where(np.isnan(codes)[:, None], np.nan, codes[:, None] == np.arange(size))


def by_trying_all(X):
    """Find the groups from left to right, each the shortest, by looking at every row."""
    n_columns, groups, first = X.shape[1], [], 0
    highest = np.nanmax(X, axis=0)
    while first < n_columns:
        end = next(
            (
                end
                for end in range(first + 2, n_columns + 1)
                if all(
                    np.isnan(row).all() or (~np.isnan(row).any() and (row == top).sum() == 1)
                    for row, top in zip(
                        X[:, first:end], itertools.repeat(highest[first:end]), strict=False
                    )
                )
            ),
            None,
        )
        if end is None or (~np.isnan(X[:, first])).sum() < 10:
            first += 1
        else:
            groups.append((first, end))
            first = end
    return groups


@given(seed=st.integers(0, 10_000))
def test_groups_are_those_found_by_looking_at_every_row(seed):
    rng = np.random.default_rng(seed)
    parts = []
    for size in rng.integers(1, 5, size=4):
        codes = rng.integers(size, size=30).astype(float)
        codes[: size + 1] = np.arange(size + 1) % size
        codes[rng.random(30) < rng.choice([0, 0.2, 0.6])] = np.nan
        part = dummies(codes, size) if size > 1 else (rng.random((30, 1)) < 0.4).astype(float)
        part[0, 0], part[1, 0] = 0, 1
        if rng.random() < 0.3:  # one row has two
            part[rng.integers(30)] = 1
        if rng.random() < 0.3:  # one cell is missing alone
            part[rng.integers(30), rng.integers(part.shape[1])] = np.nan
        parts.append(part)
    X = np.column_stack(parts)
    X = X[:, np.nanmax(X, axis=0) > np.nanmin(X, axis=0)]
    assert [(group.start, group.stop) for group in find_one_hot_columns(X)] == by_trying_all(X)


def test_columns_apart_are_no_neighbours():
    X = dummies(np.arange(30.0) % 3)
    assert find_one_hot_columns(X, np.array([0, 1, 2])) == [slice(0, 3)]
    assert find_one_hot_columns(X, np.array([0, 1, 3])) == []


def test_few_rows_say_nothing():
    X = dummies(np.arange(30.0) % 3)
    X[9:] = np.nan
    assert find_one_hot_columns(X) == []


def test_a_slip_in_one_row_of_a_hundred_is_forgiven():
    codes = np.repeat(np.arange(4.0), [140, 100, 78, 2])
    X = dummies(codes)
    assert find_one_hot_columns(X) == [slice(0, 4)]
    X[0], X[1], X[2, 0] = 1, 0, np.nan
    assert find_one_hot_columns(X) == [slice(0, 4)]
    # A flag that few rows have is no part of it.
    flag = np.zeros(320)
    flag[[5, 6]] = 1
    assert find_one_hot_columns(np.column_stack([X, flag])) == [slice(0, 4)]
    X[3:5] = 1
    assert find_one_hot_columns(X) == []


def test_columns_that_only_a_slip_tells_apart_hold_no_category(rng):
    usual = np.ones(200)
    rare = np.zeros(200)
    usual[0], rare[0] = 0, 1
    X = np.column_stack([rare, rare, usual])
    # The first is no third category of the others: it comes with one of them.
    assert find_one_hot_columns(X) == [slice(1, 3)]
    table = np.column_stack([rng.normal(size=(200, 3)), X])
    assert PCKID("auto", random_state=0).fit(table).n_clusters_ == 1


def test_one_bad_row_does_not_change_the_clusters_of_all_others():
    rng = np.random.default_rng(2)
    truth = np.arange(200) % 2
    codes = np.where(rng.random((200, 6)) < 0.8, truth[:, None] + 3 * (rng.random((200, 6)) < 0.5),
                     rng.integers(6, size=(200, 6))).astype(float)  # fmt: skip
    X = np.column_stack([dummies(column, 6) for column in codes.T])
    expected = PCKID(2, random_state=0).fit_predict(X)
    X[0] = 1
    model = PCKID(2, random_state=0).fit(X)
    assert (model._kernel.scaling.column_model.one_hot_weight > 0).all()
    assert adjusted_rand_score(expected[1:], model.labels_[1:]) > 0.9


def test_weights_make_a_category_count_as_one_column(rng):
    codes = rng.choice(4, size=400, p=[0.1, 0.2, 0.3, 0.4]).astype(float)
    X = np.column_stack([rng.normal(size=400), dummies(codes) * 7 - 2, rng.random(400) < 0.5])
    scaling = with_one_hot(fit_scaling(X, two_values=True), X)
    weights = scaling.column_model.one_hot_weight
    assert (weights > 0).tolist() == [False, True, True, True, True, False]
    close(np.sum(weights**2), 1.0)
    table = standardise(X, scaling, "float64")
    assert table.n_values == pytest.approx(3)
    close(table.observed_values, np.full(400, 3.0))
    rows = table.values[:, 1:5] * weights[1:5]
    pairs = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=-1)
    assert pairs.mean() == pytest.approx(2)


def test_a_table_without_such_columns_has_no_weights():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 2] = X[:, 2] > 0
    assert with_one_hot(fit_scaling(X, two_values=True), X).column_model.one_hot_weight is None
    assert with_one_hot(fit_scaling(X), X).column_model.one_hot_weight is None


def test_coded_and_declared_categories_give_the_same_clusters():
    rng = np.random.default_rng(1)
    truth = np.arange(240) % 3
    chances = rng.dirichlet(np.full(5, 0.25), size=(3, 12))
    codes = np.array([[rng.choice(5, p=p) for p in chances[t]] for t in truth], dtype=float)
    codes[rng.random(codes.shape) < 0.2] = np.nan
    coded = np.column_stack([dummies(column, 5) for column in codes.T])
    declared = PCKID(3, categorical_features=np.arange(12), random_state=0).fit_predict(codes)
    found = PCKID(3, random_state=0).fit_predict(coded)
    assert adjusted_rand_score(truth, declared) > 0.9
    assert adjusted_rand_score(declared, found) > 0.95
