"""Numbers, dates and times as a reader expects them, against the standard library."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pckid._utils.quantities import in_reach, quantiles, quantiles_of_sorted, write_quantity


@pytest.mark.parametrize("days", [0.0, 0.25, 19783.0, 19783.5625, -1.0, -0.5, 365_000.75])
def test_dates_are_those_of_the_standard_library(days):
    then = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days)
    assert write_quantity(days, "date") == then.strftime("%Y-%m-%d")
    assert write_quantity(days, "datetime") == then.strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("hours", "text"),
    [(0.0, "0:00"), (13.5, "13:30"), (8.9999, "9:00"), (26.25, "26:15"), (-1.5, "-1:30"),
     (-0.001, "0:00")],
)  # fmt: skip
def test_times_are_hours_and_minutes(hours, text):
    assert write_quantity(hours, "time") == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [(np.nan, "date", "–"), (np.inf, "time", "–"), (np.nan, None, "–"), (1234.56, None, "1235"),
     (0.012345, None, "0.01235"), (123456.7, None, "123,457"), (1e12, "date", "1,000,000,000,000"),
     (-2.50456e200, None, "-2.505e+200"), (1e15, None, "1e+15")],
)  # fmt: skip
def test_numbers_and_what_is_none(value, kind, text):
    assert write_quantity(value, kind) == text


def test_quantiles_of_huge_numbers_are_theirs(rng):
    values = rng.normal(size=50)
    q = [0.0, 0.25, 0.5, 0.75, 1.0]
    np.testing.assert_array_equal(quantiles(values, q), np.quantile(values, q))
    huge = values / np.abs(values).max() * 1.7e308
    expected = np.quantile(huge / 4, q) * 4  # warnings are errors
    np.testing.assert_allclose(quantiles(huge, q), expected)
    assert np.isnan(quantiles(values[:0], q)).all()
    scaled, factor = in_reach(np.column_stack([values, huge]))
    np.testing.assert_array_equal(scaled * factor, np.column_stack([values, huge]))


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("scale", [1.0, 8e307])
def test_quantiles_of_sorted_numbers_are_the_same(rng, n, scale):
    values, q = np.sort(rng.uniform(-1, 1, n) * scale), [0.0, 0.25, 0.5, 0.61, 1.0]
    np.testing.assert_array_equal(quantiles_of_sorted(values, q), quantiles(values, q))
    assert np.isnan(quantiles_of_sorted(values[:0], q)).all()
