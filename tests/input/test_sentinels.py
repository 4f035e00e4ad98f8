"""Codes for missing values: alone in a column, and shared by several."""

import warnings

import numpy as np
import pytest

from pckid import IncompleteGaussianMixture, SentinelWarning
from pckid.data import load_penguins
from pckid.input.sentinels import describe_codes, find_codes

LIKERT = [1, 2, 3, 4, 5] * 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 4, 5, -9999, -9999, 6], [(-9999, 2)]),
        ([30, 40, 50, 999, 999, 999, -99, -99, -99], [(-99, 3), (999, 3)]),
        ([3, 4, 5, -9999], [(-9999, 1)]),
        ([3, 4, 500, -9999], [(-9999, 1)]),
        ([3, 4, 2000, -9999], []),
        ([3, 4, 5, -99], []),
        ([0, 1, 0, 1, -1, -1], []),
        ([1, 1, 99, 99], []),
        ([np.nan], []),
        ([*LIKERT, 99, 99], [(99, 2)]),
        ([*LIKERT, 98, 99], [(98, 1), (99, 1)]),
        ([*LIKERT, 97, 98, 99, 99], [(97, 1), (98, 1), (99, 2)]),
        ([*LIKERT, -999, -999, 99, 99], [(-999, 2), (99, 2)]),
        ([*range(1, 11), 88, 88, 99], [(88, 2), (99, 1)]),
        ([18, 35, 64, 85, 999, 999], [(999, 2)]),
        ([*range(18, 100), 99, 999, 999], [(999, 2)]),
        # Ages and percentages up to 99.
        (range(18, 100), []),
        ([3, 50, 90, 97, 98, 99, 99], []),
        ([*LIKERT, 9, 9, 9], [(9, 3)]),
        ([*LIKERT, 9, 9], []),
        # Counts, with a step left out or from 0 on.
        ([1, 2, 4, 5, 9, 9, 9], []),
        ([0, 1, 2, 3, 4, 9, 9, 9], []),
        ([*range(1, 8), 9, 9, 9], []),
        # Yes and no, with three who did not say.
        ([0, 1] * 9 + [9] * 3, [(9, 3)]),
        ([1, 2] * 9 + [9] * 2, []),
        ([0, 1] * 9 + [-9] * 3, [(-9, 3)]),
        ([0, 1] * 9 + [-1] * 3, []),
        # The only negative ones, though near for a column that spreads as ages do.
        ([*range(18, 85), -9, -9, -9], [(-9, 3)]),
        ([*range(18, 85), -9, -9], []),
        ([*range(0, 60, 11), -9, -9, -9], []),
        # Changes, temperatures, amounts.
        ([-1, -1, *range(5)], []),
        ([-9, -9, -9, -3, *range(30)], []),
    ],
)
def test_codes_of_a_column(values, expected):
    found = find_codes(np.array(list(values), dtype=float).reshape(-1, 1))
    assert found == ({0: expected} if expected else {})


def test_every_code_that_people_write_is_found_far_from_small_numbers():
    codes = [-1e30, -1e20, -99999, -32768, 32767, 65535, 999999, 1e20, 1e30]
    codes += [sign * float(3 * digit) for digit in "789" for sign in (-1, 1)]
    codes += [sign * float(4 * digit) for digit in "789" for sign in (-1, 1)]
    codes += [-9998.0, -9997, -998, -997, *range(995, 999), *range(9995, 9999)]
    codes += [99997.0, 99998, 99999]
    for code in codes:
        assert find_codes(np.array([[3.0], [4], [5], [6], [code], [code]])) == {0: [(code, 2)]}


def columns(*each):
    """Put columns of different lengths side by side."""
    table = np.full((max(map(len, each)), len(each)), np.nan)
    for j, values in enumerate(each):
        table[: len(values), j] = values
    return table


SEVEN = [*range(1, 8)] * 3


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # Above 1 to 7 a 9 is a code where three columns have it, and no other column does.
        ([[*SEVEN, 9]] * 3, {0: [(9, 1)], 1: [(9, 1)], 2: [(9, 1)]}),
        ([[*SEVEN, 9]] * 2, {}),
        ([[*SEVEN, 9]] * 3 + [range(20)], {}),
        ([[1, 2, 3, 4, 5, 8, 9]] * 3, {j: [(8, 1), (9, 1)] for j in range(3)}),
        ([range(1, 10)] * 3, {}),
        # What is a code in one column is one beside yes and no as well.
        ([[1, 2, 1, 2, 99], [*LIKERT, 99, 99]], {0: [(99, 1)], 1: [(99, 2)]}),
        ([[1, 2, 1, 2, -9], [*LIKERT, -9, -9]], {0: [(-9, 1)], 1: [(-9, 2)]}),
        # Once is enough then, far from the others.
        ([[34, 41, 28, -999, -999], [1200, 1350, 1100, -999]], {0: [(-999, 2)], 1: [(-999, 1)]}),
        # Negative ones of a survey tell of each other, where no other number is negative.
        ([[-1, *range(5)], [*LIKERT, -8, -8]], {0: [(-1, 1)], 1: [(-8, 2)]}),
        ([[-1, *range(5)], [*LIKERT, -99, -99]], {1: [(-99, 2)]}),
        ([[-1, -3, *range(5)], [*LIKERT, -8, -8]], {1: [(-8, 2)]}),
        # An age is not.
        ([range(18, 100), [*LIKERT, 99, 99]], {1: [(99, 2)]}),
        ([[1, 99, 1, 99], [*LIKERT, 99, 99]], {1: [(99, 2)]}),
    ],
)
def test_codes_of_a_table(table, expected):
    assert find_codes(columns(*map(list, table))) == expected


def test_codes_of_some_columns():
    table = columns([*LIKERT, 99, 99], [*LIKERT, 99, 99])
    assert list(find_codes(table, [1])) == [1]


def test_the_penguins_hold_none():
    X = np.asarray(load_penguins().data, dtype=float)
    assert find_codes(X) == {}


@pytest.mark.parametrize("n_columns", [1, 2, 8])
def test_words(golden, n_columns):
    said = describe_codes({j: [(98, 1), (99, 1200)] for j in range(n_columns)}, str)
    golden(said, str(n_columns))


def test_several_columns_warn_once(golden, rng):
    X = rng.integers(1, 6, (60, 4)).astype(float)
    X[:5], X[5:9, 2] = 99, 98
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        IncompleteGaussianMixture(2, random_state=0).fit(X)
    (found,) = [each for each in caught if each.category is SentinelWarning]
    golden(str(found.message))


@pytest.mark.parametrize("seed", range(10))
def test_rare_high_counts_are_no_codes(seed):
    rng = np.random.default_rng(seed)
    means = np.exp(rng.normal(-1, 1.2, (80, 30)))
    X = rng.negative_binomial(0.5, 0.5 / (0.5 + means)).astype(float)
    X[rng.random(X.shape) < 0.4] = 0
    assert find_codes(X) == {}


@pytest.mark.parametrize("codes", [[9], [7, 8, 9]])
def test_codes_beside_answers_of_which_0_is_the_commonest(codes, rng):
    X = rng.choice([0.0, 1, 2, 3], size=(200, 9), p=[0.6, 0.25, 0.1, 0.05])
    coded = rng.random(X.shape) < 0.04
    X[coded] = rng.choice(codes, coded.sum())
    found = find_codes(X)
    assert sum(code.n_cells for each in found.values() for code in each) == coded.sum()
