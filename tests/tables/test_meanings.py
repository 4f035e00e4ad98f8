"""Which columns name the rows, and which only hold many different numbers."""

import numpy as np
import pytest

from pckid.tables.meanings import (
    name_tells_rows,
    name_tells_units,
    numbers_name_rows,
    texts_name_rows,
)


@pytest.mark.parametrize(
    "name", ["id", "Customer_No", "PatientID", "PLZ", "Kundennummer", "zip code", "Nr. (Kunde)"]
)
def test_names_that_tell(name):
    assert name_tells_rows(name)
    assert numbers_name_rows(np.array([52134.0, 80331.0, 10115.0]), name)
    # A single new row has the columns of the table that it belongs to.
    assert numbers_name_rows(np.array([52134.0]), name)
    assert texts_name_rows(name, 1, 1, 1)
    assert not numbers_name_rows(np.array([52134.0, 80331.0, 52134.0]), name)
    assert not numbers_name_rows(np.array([52134.0, np.nan, 10115.0]), name)


@pytest.mark.parametrize(
    "name", ["income", "humid", "notes", "grid", "customer_age", "number of rooms", "%"]
)
def test_names_that_do_not(name):
    assert not name_tells_rows(name)
    assert not numbers_name_rows(np.array([52134.0, 80331.0, 10115.0]), name)


def test_numbers_that_count_name_rows_without_a_name():
    assert numbers_name_rows(np.arange(1.0, 21.0), "n")
    assert numbers_name_rows(np.random.default_rng(0).permutation(1000) + 52000.0, "n")
    assert not numbers_name_rows(np.arange(5.0), "n")
    assert not numbers_name_rows(np.arange(20.0) / 2, "n")


@pytest.mark.parametrize("name", ["customer_no", "n"])
def test_a_few_rows_without_a_number_may_be_there(name):
    numbers = np.arange(5000.0, 5030.0)
    for n_missing, named in ((1, True), (3, True), (4, False), (30, False)):
        some = numbers.copy()
        some[:n_missing] = np.nan
        assert numbers_name_rows(some, name) is named


def test_texts_that_say_so_name_rows_in_spite_of_blanks_and_repeats():
    assert texts_name_rows("town", 30, 30, 30)
    assert not texts_name_rows("town", 1, 1, 1)
    for counts in ((30, 29, 29), (30, 27, 27), (30, 30, 29), (300, 295, 293)):
        assert texts_name_rows("Pat-Nr", *counts)
        assert not texts_name_rows("town", *counts)
    for counts in ((30, 26, 26), (30, 30, 28), (20, 20, 19), (300, 300, 296)):
        assert not texts_name_rows("Pat-Nr", *counts)


def test_measurements_are_seldom_taken_for_names():
    # Whole numbers drawn at random: taken for names of rows in less than one table of a thousand.
    rng = np.random.default_rng(0)
    for n, top in ((20, 30), (100, 700), (500, 10**6), (200, 10**9)):
        drawn = rng.integers(0, top, (2000, n)).astype(float)
        taken = sum(numbers_name_rows(values, "income") for values in drawn)
        assert taken <= 2


def test_names_of_what_rows_share():
    shared = ["patient_id", "HouseholdID", "Kunde", "plate", "Subject", "pid", "USUBJID"]
    assert all(map(name_tells_units, shared))
    assert all(map(name_tells_rows, shared))
    assert not any(map(name_tells_units, ["zip", "plz", "code", "row", "patient_age", "number"]))
