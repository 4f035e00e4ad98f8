"""The experiment on scores of rows: what it draws, and what it counts."""

import numpy as np
import pytest

from experiments import scores


def test_bins_show_what_was_said_and_seen():
    said = np.repeat([0.0, 0.2, 0.4], [40, 30, 29])
    changed = np.repeat([False, True, False], [40, 30, 29])
    expected = ["0.00, 0.00", "0.20, 1.00", "–", "–", f"{said.mean():.3f}, {changed.mean():.3f}"]
    assert scores.write_bins(said, changed) == expected


@pytest.mark.parametrize("name", scores.MECHANISMS)
def test_each_mechanism_loses_some_cells(name):
    X = np.random.default_rng(0).normal(size=(200, 7))
    lost = scores.MECHANISMS[name](X, np.random.default_rng(1))
    assert 0.1 < lost.mean() < 0.6
    if name == "the higher a value, the likelier it is lost":
        assert X[lost].mean() > 0.3 > abs(X.mean())


@pytest.mark.slow
def test_one_run_of_each_table():
    found = scores.observe_outliers("three groups 20 sd apart, 8 columns", 60, 0)
    assert all(0 <= share <= 1 for share in found)
    assert found.new < 0.05 < found.new_wrong
    kept = scores.observe_confidence("three groups 5 sd apart", 60, 0)
    assert kept.confidence > 0.5 < kept.fresh
    said, changed = scores.observe_instability("35 % of the cells, at random", 2, 0)
    assert len(said) == len(changed) > 200
    assert abs(said.mean() - changed.mean()) < 0.1
