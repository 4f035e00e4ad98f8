"""What noise reaches: the largest of many columns of it, by simulation."""

import math

import numpy as np
import pytest

from pckid.describe.clusters import distinguishing_features
from pckid.describe.noise import rank_noise, share_noise

N_TABLES = 200
# 5 % of the tables, and four standard errors of their share.
MOST = 0.05 + 4 * math.sqrt(0.05 * 0.95 / N_TABLES)


def exceeding(draw, sizes, n_columns, categories=None):
    """Find the share of tables of noise in which the first cluster differs beyond the bound."""
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], sizes)
    known = dict.fromkeys(range(n_columns), categories) if categories else None
    found = []
    for _ in range(N_TABLES):
        values = draw(rng, (sum(sizes), n_columns))
        first = distinguishing_features(values, labels, known)[0]
        found.append(any(item.distinctness > item.noise(n_columns) for item in first))
    return np.mean(found)


@pytest.mark.parametrize("sizes", [(8, 30), pytest.param((25, 25), marks=pytest.mark.slow)])
def test_the_largest_of_many_numbers_rarely_exceeds_the_bound(sizes):
    assert 0.005 < exceeding(lambda rng, shape: rng.normal(size=shape), sizes, 12) < MOST


@pytest.mark.parametrize("n_categories", [2, 4])
def test_nor_does_the_largest_of_many_categories(n_categories):
    def draw(rng, shape):
        return rng.choice(n_categories, size=shape, p=np.ones(n_categories) / n_categories) + 0.0

    names = [str(each) for each in range(n_categories)]
    assert exceeding(draw, (15, 30), 10, names) < MOST


def test_rare_categories_in_few_rows_hardly_exceed_it_either():
    def draw(rng, shape):
        return (rng.random(shape) < 0.05) + 0.0

    assert exceeding(draw, (6, 200), 10, ["usual", "rare"]) < MOST


def test_more_columns_and_fewer_rows_reach_further():
    assert rank_noise(20, 40, 5) < rank_noise(20, 40, 50) < rank_noise(10, 20, 50)
    shares = np.array([0.2, 0.3, 0.5])
    assert share_noise(shares, 20, 40, 5) < share_noise(shares, 20, 40, 50)
    assert rank_noise(3, 3, 2) > 1  # complete separation of three and three is no rare thing


def test_without_values_on_both_sides_nothing_is_beyond_noise():
    assert rank_noise(0, 5, 1) == rank_noise(5, 0, 1) == math.inf
    assert share_noise(np.zeros(2), 0, 5, 1) == math.inf
