"""Which columns name the rows."""

import numpy as np

from pckid.input.meanings import kind_of_texts, numbers_may_name_rows, numbers_name_rows


def test_numbers_that_count_name_rows():
    assert numbers_name_rows(np.arange(1.0, 21.0))
    assert numbers_name_rows(np.random.default_rng(0).permutation(1000) + 52000.0)
    assert not numbers_name_rows(np.arange(5.0))
    assert not numbers_name_rows(np.arange(20.0) / 2)


def test_a_few_rows_without_a_number_may_be_there():
    numbers = np.arange(5000.0, 5030.0)
    for n_missing, named in ((1, True), (3, True), (4, False), (30, False)):
        some = numbers.copy()
        some[:n_missing] = np.nan
        assert numbers_name_rows(some) is named


def test_texts_that_are_all_different_name_rows():
    assert kind_of_texts(30, 30, 30) == "row name"
    for counts in ((1, 1, 1), (30, 29, 29), (30, 30, 29)):
        assert kind_of_texts(*counts) != "row name"


def test_measurements_are_seldom_taken_for_names():
    # Whole numbers drawn at random: taken for names of rows in less than one table of a thousand.
    rng = np.random.default_rng(0)
    for n, top in ((20, 30), (100, 700), (500, 10**6), (200, 10**9)):
        drawn = rng.integers(0, top, (2000, n)).astype(float)
        assert sum(map(numbers_name_rows, drawn)) <= 2


def test_row_numbers():
    assert numbers_may_name_rows(np.arange(5.0))
    assert numbers_may_name_rows(np.arange(1.0, 5.0))
    assert not numbers_may_name_rows(np.array([0.0, 2.0, 4.0]))
    assert not numbers_may_name_rows(np.array([1.0, np.nan, 3.0]))


def test_numbers_of_their_own_name_rows():
    numbers = np.random.default_rng(0).permutation(10_000)[:60] + 132_000.0
    assert numbers_may_name_rows(numbers)
    assert not numbers_may_name_rows(numbers[:40])  # few rows differ by chance
    assert not numbers_may_name_rows(numbers + 0.5)
    assert not numbers_may_name_rows(np.append(numbers, numbers[0]))
    assert not numbers_may_name_rows(np.append(numbers, np.nan))
