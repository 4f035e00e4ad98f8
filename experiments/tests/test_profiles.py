"""The experiment on descriptions runs, and its figures are what they say."""

import numpy as np
import pytest

from experiments import profiles
from experiments.output import Found, mean_table
from experiments.profiles import Design
from pckid.describe.descriptions import ClusterDescription, Phrase, Trait


def told(*columns):
    return [Trait((Phrase("higher "), Phrase(str(column), "name"))) for column in columns]


def test_groups_differ_in_the_columns_that_tell():
    design = Design("a", 3000, 3, 2, weak=1.0)
    X, labels = profiles.draw(design, 0)
    means = np.stack([np.nanmean(X[labels == group], axis=0) for group in range(3)])
    expected = np.zeros((3, 3 + profiles.N_NOISE))
    expected[0, 0] = expected[1, 1] = profiles.SHIFT
    expected[0, 2] = 1
    np.testing.assert_allclose(means, expected, atol=0.25)
    assert abs(np.isnan(X).mean() - profiles.MISSING) < 0.01


def test_shares_are_those_of_clusters_that_name_noise():
    design = Design("a", 60, 3, 1, weak=1.0)
    found = [
        ClusterDescription("Stands out by", told(0, 1), 1, told(0), []),
        ClusterDescription("Stands out by", told(0, 7), 0, told(2, 3), []),
        ClusterDescription("Typical values:", told(5), 0, [], []),
    ]
    shares = {each.part: each.value for each in profiles.measure(design, 0, "found", found)}
    assert list(shares.values()) == [1 / 3, 1 / 3, 1 / 3]
    found = [Found("a", "b", run, run) for run in range(2)]
    assert "| a | b | 0.500 | 0.354 | 2 |" in mean_table(found)


@pytest.mark.slow
def test_one_table_is_described_twice():
    found = profiles.describe_table(Design("a", 40, 2, 1), 0, 0)
    assert {each.setting for each in found} == {"a: the groups", "a: found"}
