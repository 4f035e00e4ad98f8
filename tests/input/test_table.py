"""Standardised tables: centre and spread of what is observed, and the patterns of holes."""

import numpy as np
import pytest
from helpers import close, groups, punch
from hypothesis import given
from hypothesis import strategies as st

from pckid._utils.arrays import to_numpy
from pckid.blocks.rows import moments, scaling
from pckid.input import table as tables

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, scale=st.sampled_from([1e-300, 1e-8, 1.0, 1e8, 1e300]))
def test_centre_and_spread_are_the_observed_mean_and_deviation(seed, scale):
    rng = np.random.default_rng(seed)
    X = punch(rng.standard_normal((30, 4)), rng)
    scaling = tables.fit_scaling(scale * X)
    close(scaling.center / scale, np.nanmean(X, axis=0))
    close(scaling.scale / scale, np.nanstd(X, axis=0))
    np.testing.assert_array_equal(scaling.kept, np.arange(4))


def test_spread_keeps_its_digits_next_to_a_large_offset():
    X = groups(share=0.2)[0]
    close(tables.fit_scaling(X + 1e8).scale, np.nanstd(X, axis=0), scale=1e3)


@given(seed=seeds, scale=st.sampled_from([1e-305, 1e-8, 1.0, 1e300]))
def test_one_scale_is_the_root_mean_square_of_all(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4)) * rng.uniform(0.1, 3, 4)
    scaling = tables.fit_scaling(scale * X, column_blocks=np.zeros(X.shape[1]))
    expected = np.sqrt(np.mean(np.var(X, axis=0)))
    close(scaling.scale / scale, np.full(4, expected))
    values = tables.standardise(scale * X, scaling, "float64").values
    close(values, (X - X.mean(axis=0)) / expected)


def test_one_scale_leaves_nothing_of_a_column_that_is_nothing_beside_others():
    X = np.random.default_rng(0).standard_normal((30, 2)) * [1e300, 1e-305]
    values = tables.standardise(
        X, tables.fit_scaling(X, column_blocks=np.zeros(2)), "float32"
    ).values
    np.testing.assert_array_equal(values[:, 1], 0)
    assert np.isfinite(values).all()


def test_columns_that_never_vary_are_left_out():
    X = np.array([[1.0, 5.0, np.nan, 2.0], [2.0, 5.0, np.nan, np.nan], [3.0, np.nan, np.nan, 2.5]])
    scaling = tables.fit_scaling(X)
    np.testing.assert_array_equal(scaling.kept, [0, 3])
    table = tables.standardise(X, scaling, "float64")
    assert (table.n_samples, table.n_features) == (3, 2)
    close(table.values[:, 1], [-1.0, 0.0, 1.0])


def test_values_one_rounding_step_apart_still_count_as_variation():
    X = np.array([[1e16], [1e16 + 2], [1e16 + 4], [1e16]])
    table = tables.standardise(X, tables.fit_scaling(X), "float64")
    assert np.all(np.isfinite(table.values))
    assert table.values[2, 0] > table.values[1, 0] > table.values[0, 0]


def test_a_column_of_subnormal_numbers_does_not_vary():
    X = np.array([[1.0, 0.0], [2.0, 1e-310], [3.0, np.nan]])
    np.testing.assert_array_equal(tables.fit_scaling(X).kept, [0])
    np.testing.assert_array_equal(scaling(moments(X)).kept, [0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_standardised_rows_are_zero_where_missing(dtype):
    X = groups()[0]
    table = tables.standardise(X, tables.fit_scaling(X), dtype)
    assert table.values.dtype == dtype
    np.testing.assert_array_equal(table.observed, ~np.isnan(X))
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    close(table.values, np.nan_to_num(Z), dtype)


def test_huge_numbers_of_opposite_sign_stay_finite():
    X = 1.7e308 * np.array([[1.0], [1.0], [-1.0]])
    table = tables.standardise(X, tables.fit_scaling(X), "float64")
    close(table.values[:, 0], np.sqrt([0.5, 0.5, 2.0]) * [1, 1, -1])


def test_new_rows_far_out_have_finite_squares_in_float32():
    X = groups()[0]
    far = np.array([[1e200, -1e300, np.nan, 0.0]])
    values = tables.standardise(far, tables.fit_scaling(X), "float32").values
    assert np.all(np.isfinite(values**2))
    assert values[0, 0] > 1e6
    assert values[0, 1] < -1e6


@given(seed=seeds, n_features=st.sampled_from([1, 7, 8, 9, 63, 64, 65, 130]))
def test_patterns_are_the_distinct_rows(seed, n_features):
    rng = np.random.default_rng(seed)
    known = rng.random((5, n_features)) < 0.5
    observed = known[rng.integers(5, size=40)]
    patterns, index = tables.find_patterns(observed)
    assert len(patterns) == len({row.tobytes() for row in observed})
    np.testing.assert_array_equal(patterns[index], observed)


@pytest.mark.parametrize("n_patterns", [2, 5, 20, 30, 60])
def test_a_look_at_few_rows_changes_no_decision(n_patterns, monkeypatch, rng):
    masks = rng.random((n_patterns, 30)) < 0.6
    # Sorted, so that the first rows have but one pattern, or each a pattern of its own.
    for which in (np.sort(np.arange(60) % n_patterns), np.arange(60) % n_patterns):
        X = np.where(masks[which], rng.standard_normal((60, 30)), np.nan)
        scaling = tables.fit_scaling(X)
        monkeypatch.setattr(tables, "_FEW_ROWS", 60)
        expected = tables.standardise(X, scaling, "float64")
        monkeypatch.setattr(tables, "_FEW_ROWS", 4)
        found = tables.standardise(X, scaling, "float64")
        np.testing.assert_array_equal(found.patterns, expected.patterns)
        np.testing.assert_array_equal(found.pattern, expected.pattern)


@pytest.mark.parametrize("n_patterns", [2, 60])
def test_few_patterns_are_kept_and_many_are_not(n_patterns, rng):
    masks = rng.random((n_patterns, 30)) < 0.6
    X = np.where(masks[np.arange(60) % n_patterns], rng.standard_normal((60, 30)), np.nan)
    table = tables.standardise(X, tables.fit_scaling(X), "float64")
    assert (table.patterns is None) == (n_patterns == 60)
    if table.patterns is not None:
        np.testing.assert_array_equal(table.patterns[table.pattern] == 1, table.observed)


def test_patterns_that_are_not_asked_for_are_not_looked_for():
    X = np.arange(40.0).reshape(20, 2)
    X[::2, 1] = np.nan
    scaling = tables.fit_scaling(X)
    whole = tables.standardise(X, scaling, "float64")
    bare = tables.standardise(X, scaling, "float64", patterns=False)
    assert bare.pattern is None
    assert bare.patterns is None
    np.testing.assert_array_equal(bare.values, whole.values)
    np.testing.assert_array_equal(bare.observed, whole.observed)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_take_and_block_pick_rows(share, backend):
    X = groups(share=share)[0]
    table = tables.standardise(
        backend.asarray(X), tables.fit_scaling(backend.asarray(X)), "float64"
    )
    rows = np.array([5, 0, 7])
    taken = tables.take(table, backend.asarray(rows))
    cut = tables.block(table, 4, 9)
    for part, where in ((taken, rows), (cut, slice(4, 9))):
        np.testing.assert_array_equal(to_numpy(part.values), to_numpy(table.values)[where])
        np.testing.assert_array_equal(to_numpy(part.observed), to_numpy(table.observed)[where])
        if share == 0:
            np.testing.assert_array_equal(to_numpy(part.pattern), to_numpy(table.pattern)[where])


def test_the_floor_is_what_was_asked_for_or_what_the_arithmetic_bears():
    assert tables.variance_floor(1e-3, "float32") == 1e-3
    assert 0 < tables.variance_floor(0.0, "float64") < 1e-14
    assert 1e-7 < tables.variance_floor(0.0, "float32") < 1e-5


class TestTwoValues:
    X = np.array([[0.0, 5.0, 1.0], [3.0, 5.0, 2.0], [3.0, 7.0, np.nan], [3.0, np.nan, 4.0]])

    def test_shares_of_the_higher_one(self):
        margins = tables.fit_scaling(self.X, two_values=True).column_model
        close(margins.two_value_share, [3 / 4, 1 / 3, 0.0])

    def test_weights_count(self):
        margins = tables.fit_scaling(
            self.X, two_values=True, weights=np.arange(1.0, 5.0)
        ).column_model
        close(margins.two_value_share, [9 / 10, 3 / 6, 0.0])

    def test_nothing_is_kept_where_no_column_takes_two(self):
        assert (
            tables.fit_scaling(self.X[:, 2:], two_values=True).column_model.two_value_share is None
        )
        assert tables.fit_scaling(self.X).column_model.two_value_share is None


@pytest.mark.parametrize("informative", [False, True])
@pytest.mark.parametrize(("on_device", "numbers"), [(False, 40), (True, 40), (True, 1 << 24)])
def test_blocks_of_rows_change_nothing(monkeypatch, backend, informative, on_device, numbers, rng):
    X = punch(groups(n_samples=50)[0], rng)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, X[:, 1] > 5)
    X = np.column_stack([X, rng.integers(3, size=50), np.full(50, 7.0)])
    categorical = np.arange(X.shape[1]) == X.shape[1] - 2
    X, each = backend.asarray(X), backend.asarray(rng.uniform(0.5, 2, size=50))

    def read():
        found = tables.fit_scaling(
            X, categorical, informative=informative, two_values=True, weights=each
        )
        return found, tables.standardise(X, found, "float64")

    whole, expected = read()
    # Whole on the host, and in blocks of other sizes, or as a GPU keeps them.
    monkeypatch.setattr(tables, "_BLOCK_NUMBERS_DEVICE", numbers)
    monkeypatch.setattr(tables, "_BLOCK_NUMBERS", 40)
    monkeypatch.setattr(tables, "is_host", lambda _: not on_device)
    assert (len(tables.row_slices(X)) == 1) == (numbers > 40)
    found, table = read()
    assert found.kept.tolist() == whole.kept.tolist()
    for name in ("center", "scale"):
        close(to_numpy(getattr(found, name)), to_numpy(getattr(whole, name)))
    for mine, theirs in zip(found.column_model, whole.column_model, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            close(to_numpy(mine), to_numpy(theirs))
    close(to_numpy(table.values), to_numpy(expected.values))
    np.testing.assert_array_equal(to_numpy(table.observed), to_numpy(expected.observed))
