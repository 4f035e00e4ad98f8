"""Valleys between clusters of which one has far fewer rows."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from pckid.significance import valleys
from pckid.significance.gaps import find_clearest_gap, find_gaps
from pckid.significance.levels import LEVELS
from pckid.significance.placing import find_ties
from pckid.significance.units import find_units
from pckid.significance.valleys import Valley, find_valley


def units_of(X):
    return find_units(X, np.zeros(X.shape[1], dtype=bool))


def valley_of(X, second, seed=0):
    units = units_of(X)
    return find_valley(find_ties(units), units.categorical, second, np.random.default_rng(seed))


def few_beside_many(share, distance, width=1.0, n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    second = np.arange(n_rows) < share * n_rows
    X = np.where(second, width, 1.0)[:, None] * rng.normal(size=(n_rows, 6))
    X += distance / np.sqrt(6) * second[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, second


@pytest.mark.parametrize(
    ("share", "distance", "width"),
    [(0.2, 5, 1), (0.1, 6, 1), (0.06, 7, 1), (0.03, 8, 1), (0.2, 12, 3), (0.35, 9, 3)],
)
def test_few_or_wide_rows_beside_many_have_a_gap(share, distance, width):
    separated = []
    for seed in range(6):
        X, second = few_beside_many(share, distance, width, seed=seed)
        separated.append(find_gaps(units_of(X), second.astype(int), 0).n_separated == 2)
    assert np.mean(separated) >= 0.8


def test_dependent_rows_are_judged_by_dips_alone():
    X, second = few_beside_many(0.2, 5)
    assert find_clearest_gap(units_of(X), second.astype(int), 0, 2) < norm.isf(LEVELS.gaps)


@pytest.mark.parametrize("shape", ["Gaussian", "exponential", "Student"])
def test_the_tail_of_a_cloud_has_no_valley(shape, rng):
    X = rng.normal(size=(500, 4))
    if shape == "exponential":
        X = 0.3 * X + rng.exponential(size=(500, 1))
    if shape == "Student":
        X = X / np.sqrt(rng.chisquare(3, size=(500, 1)) / 3)
    along = X.sum(axis=1)
    second = along > np.quantile(along, 0.85)
    assert find_gaps(units_of(X), second.astype(int), 0).n_separated == 1


def test_the_p_value_is_that_of_a_binomial_of_which_half_or_more_are_between():
    for peak, lowest in ((20, 3), (14, 0), (30, 30)):
        tail = 2 * binom.sf(peak - 1, peak + lowest, 0.5)
        assert Valley(peak, lowest, 1.0).p_value == pytest.approx(min(1.0, tail))
        bent = 2 * binom.sf(peak - 1, peak + lowest, 3 / 4)
        assert Valley(peak, lowest, 3.0).p_value == pytest.approx(min(1.0, bent))
    assert Valley(0.0, 0.0, 1.0).p_value == 1.0


def test_counts_are_those_of_a_loop(monkeypatch, rng):
    X, second = few_beside_many(0.3, 5, n_rows=60)
    places = np.array([0.01, 0.1, 0.21, 0.41, 0.52, 0.91, 1.01, 1.2, np.nan, 0.62] * 6)
    monkeypatch.setattr(valleys, "_place_all", lambda *given: places)
    found = valley_of(X, second)

    def count(center):
        return sum(abs(place - center) <= 0.15 for place in places)

    assert found.peak == min(count(0.0), count(1.0))
    assert found.lowest == min(count(0.35 + 0.05 * step) for step in range(7))


def test_each_row_is_placed_by_others():
    """A row far out changes where others lie, not by which rows it is placed."""
    X, second = few_beside_many(0.3, 8, n_rows=100)
    units, rng = units_of(X), np.random.default_rng(0)
    found = valleys._place_all(find_ties(units), units.categorical, second, rng)
    assert found.shape == (100,)
    assert np.nanmean(found[second]) == pytest.approx(1, abs=0.1)
    assert np.nanmean(found[~second]) == pytest.approx(0, abs=0.1)


def test_the_bend_of_an_arc_is_that_of_its_circle(rng):
    """Of three quarters of a circle, cut in two, centres and chord follow by integration."""
    angle = rng.uniform(-2.2, 2.2, 4000)
    X = 3 * np.column_stack([np.sin(angle), np.cos(angle)])
    found = valley_of(X + 0.1 * rng.normal(size=X.shape), angle > 0)
    assert found.bend > 2
    straight = valley_of(rng.normal(size=(4000, 2)) + 6 * (angle > 0)[:, None], angle > 0)
    assert straight.bend == pytest.approx(1, abs=0.1)
