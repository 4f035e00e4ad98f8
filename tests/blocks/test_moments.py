"""Blocks equal the whole: centres, spreads, the pool."""

from itertools import pairwise

import numpy as np
import pytest
from helpers import groups
from hypothesis import given
from hypothesis import strategies as st

from pckid.blocks import rows as surveys
from pckid.blocks.rows import combine, moments, scaling
from pckid.input.sample import keys
from pckid.input.table import fit_scaling

X = groups(n_samples=120, gap=2.0)[0]


def scaled(X, cuts):
    parts = [moments(part) for part in np.split(X, sorted(cuts))]
    total = parts[0]
    for part in parts[1:]:
        total = combine(total, part)
    return scaling(total)


@given(st.lists(st.integers(0, 120), max_size=6))
def test_blocks_measure_as_the_whole_does(cuts):
    expected, found = fit_scaling(X), scaled(X, cuts)
    np.testing.assert_allclose(found.center, expected.center, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-12)
    assert np.array_equal(found.kept, expected.kept)


@pytest.mark.parametrize("factor", [1e300, 1e-300])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_huge_and_tiny_numbers(factor, offset):
    rows = (X + offset) * factor
    rows[:40] *= 1e-3
    expected, found = fit_scaling(rows), scaled(rows, [40, 41, 90])
    np.testing.assert_allclose(found.center, expected.center, rtol=1e-9)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-9)


def test_empty_and_constant_columns_are_left_out():
    rows = np.column_stack([X, np.full(120, np.nan), np.full(120, 3.5), np.zeros(120)])
    rows[:60, 1] = np.nan
    assert scaled(rows, [30, 60]).kept.tolist() == [0, 1, 2, 3]


@given(st.lists(st.integers(0, 120), max_size=5), st.integers(1, 130))
def test_surveys_of_blocks_add_up_to_that_of_the_whole(cuts, size):
    rows = X.copy()
    rows[::7] = np.nan
    cuts = [0, *sorted(cuts), 120]
    parts = [surveys.survey_block(rows[a:b], None, a, 5, size, 2.0) for a, b in pairwise(cuts)]
    found = surveys.add(parts, size)
    filled = np.setdiff1d(np.arange(120), np.arange(0, 120, 7))
    mine = keys(5, 0, 120)
    chosen = np.sort(filled[np.argsort(mine[filled])[:size]])
    assert (found.n_rows, found.n_filled) == (120, len(filled))
    np.testing.assert_array_equal(found.moments.n_seen, (~np.isnan(rows)).sum(axis=0))
    assert np.array_equal(found.keys, mine[chosen])
    assert np.array_equal(found.rows, rows[chosen], equal_nan=True)


@given(cuts=st.lists(st.integers(0, 120), max_size=6), seed=st.integers(0, 99))
def test_blocks_find_columns_of_two_values_as_the_whole_does(cuts, seed):
    rng = np.random.default_rng(seed)
    values = np.array([1e9, 1e9 + 1, 1e9 + 2])
    rows = values[(rng.random((120, 3)) < [0.01, 0.5, 0.9]).astype(int)]
    rows[rng.random(rows.shape) < 0.3] = np.nan
    # In one column a single row has a third value, which may lie between the others or beyond.
    rows[rng.integers(120), 1] = rng.choice([1e9 + 0.5, values[2]])
    expected = fit_scaling(rows, two_values=True)
    found = scaled(rows, cuts)
    # So near to each other beside their size, their shares have few digits.
    np.testing.assert_allclose(
        found.column_model.two_value_share, expected.column_model.two_value_share, atol=1e-6
    )


def test_columns_of_one_category_are_left_out():
    codes = np.zeros((4, 3))
    counts = {0: np.array([4.0]), 1: np.array([3.0, 1.0]), 2: np.array([2.0, 1.0, 1.0])}
    found = scaling(moments(codes), counts)
    assert found.categorical.tolist() == [1, 2]
    np.testing.assert_allclose(found.column_model.frequencies, [0.75, 0.25, 0.5, 0.25, 0.25])
