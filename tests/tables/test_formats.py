"""Formats of numbers: written in one, a column is read back; where two fit, both are named."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pckid.frontends.formats.table import count_different
from pckid.frontends.tables.dates import DateFormat
from pckid.frontends.tables.formats import (
    FORMATS,
    NumberFormat,
    Shapes,
    choose_format,
    is_ambiguous_plain,
    read_numbers,
)
from pckid.frontends.tables.kinds import CellCounts, choose_date_format

UNITS = ["", "$", "€", "%", "kg", "CHF"]


def shapes_of(cells):
    return Shapes(*count_different(pa.array(cells, pa.string())))


def choose(cells, **options):
    return choose_format(shapes_of(cells), **options)


def write(value, form, unit, style):
    """Write a number as an office would, by steps that share nothing with how it is read."""
    digits = f"{abs(value):,.2f}".replace(",", "T").replace(".", form.decimal)
    digits = digits.replace("T", form.thousands)
    if unit and unit not in ("%", "kg"):
        digits = f"{unit} {digits}" if style % 2 else f"{digits} {unit}"
    elif unit:
        digits = f"{digits} {unit}"
    if value >= 0:
        return digits
    return f"({digits})" if style > 1 else f"-{digits}"


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8),
    st.sampled_from(sorted(FORMATS)),
    st.sampled_from(UNITS),
    st.integers(0, 3),
)
def test_what_is_written_in_a_format_is_read_back(cents, name, unit, style):
    form = FORMATS[name]
    values = [cent / 100 for cent in cents]
    cells = [write(value, form, unit, style) for value in values]
    found = choose(cells)
    # Two digits after the decimal separator leave no doubt which it is.
    assert found.rival is None
    assert found.format.decimal == form.decimal
    assert found.n_fitting == found.n_observed == len(cells)
    read, wrong = read_numbers(pa.array(cells), found.format)
    assert not wrong.any()
    np.testing.assert_allclose(read, values, rtol=1e-12)


@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_text_is_read_or_called_wrong(cells):
    found = choose(cells)
    form = found.format if found else NumberFormat()
    read, wrong = read_numbers(pa.array(cells, pa.string()), form)
    assert (np.isnan(read) == wrong).all()
    if found:
        assert (~wrong).sum() >= found.n_fitting


@pytest.mark.parametrize(
    ("cells", "name", "rival"),
    [
        (["1,234", "567"], "1,234.56", "1234,56"),
        (["1.234", "567"], "1234.56", "1.234,56"),
        (["1,234", "1,5"], "1234,56", None),
        (["1,234", "0,234"], "1234,56", None),
        (["1,234", "1,234,567"], "1,234.56", None),
        (["1,234", "1,234.5"], "1,234.56", None),
        (["1 234", "567"], "1 234.56", None),
        (["12,34,567"], "1,234.56", None),
    ],
)
def test_one_format_or_two(cells, name, rival):
    found = choose(cells)
    assert found.format.name == name
    assert (found.rival and found.rival.name) == rival


def test_other_columns_and_the_reader_decide_between_two_formats():
    cells = ["1,234", "5,678"]
    for options in ({"evidence": ","}, {"decimal": ","}, {"form": FORMATS["1234,56"]}):
        found = choose(cells, **options)
        assert (found.format.name, found.rival) == ("1234,56", None)
        np.testing.assert_array_equal(
            read_numbers(pa.array(cells), found.format)[0], [1.234, 5.678]
        )
    assert choose(cells, evidence=".").format.name == "1,234.56"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.234", "-12.000", "7"], True),
        (["1.234", "1.5"], False),
        (["1.234", "0.500"], False),
        (["1.234", "1234"], False),
        (["12", "345"], False),
    ],
)
def test_points_are_ambiguous_where_all_may_be_thousands(cells, expected):
    assert is_ambiguous_plain(pa.array(cells)) is expected


@pytest.mark.parametrize(
    ("cells", "units", "mixed"),
    [
        (["5 €", "7 EUR"], {"€": 1, "eur": 1}, False),
        (["5 €", "$7"], {"€": 1, "$": 1}, True),
        (["5 kg", "7 g", "3"], {"kg": 1, "g": 1}, True),
        (["5 Stück", "7 Stück"], {"stück": 2}, False),
    ],
)
def test_units(cells, units, mixed):
    found = choose(cells)
    assert dict(found.units) == units
    assert found.mixes_units is mixed


@pytest.mark.parametrize(
    "cell", ["12A", "A12", "<0.5", "1-2", "1.2.3", "1/2", "12 34", "$5€", "1,23"]
)
def test_codes_and_ranges_are_no_numbers(cell):
    found = choose([cell])
    signs = FORMATS["1,234.56"]
    read, wrong = read_numbers(pa.array([cell]), signs)
    assert wrong.all()
    assert math.isnan(read[0])
    assert found is None or cell == "1,23"


def test_cells_of_very_many_shapes_are_still_numbers():
    found = choose([f"{n}.{10 ** (n % 5 + k)} kg" for k in range(5) for n in range(1, 9)])
    assert (found.n_fitting, found.n_observed, found.unit) == (40, 40, "kg")


def test_dates_are_counted_by_cells():
    counts = CellCounts(pa.array(["03/01/2024", "13/02/2024 01:10:02", "03/01/2024", None]))
    assert (counts.n_dates, counts.n_observed) == (3, 3)
    assert choose_date_format(counts).date == DateFormat("day-month-year")


@pytest.mark.parametrize(
    "cells", [["16.3 cm²", "7 cm²"], ["16.3 cm2", "7 cm²"], ["16.3 m3", "7m³"], ["16.3 kg/m2", "7"]]
)
def test_areas_and_volumes_are_units(cells):
    texts = pa.array(cells)
    choice = choose(cells)
    assert choice.n_fitting == 2
    assert not choice.mixes_units
    np.testing.assert_array_equal(read_numbers(texts, choice.format)[0], [16.3, 7])


def test_a_2_after_a_word_is_no_square():
    assert choose(["12 team2", "form2"]) is None
