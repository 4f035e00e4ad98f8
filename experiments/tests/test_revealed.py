"""The experiment that reveals removed values: its counts."""

import numpy as np
import pytest

from experiments import revealed


def test_what_was_said_and_seen_is_counted_by_what_was_said():
    said = [np.array([0.0, 0.05, 0.2, 1.0]), np.array([0.6, 0.8])]
    seen = [np.array([False, False, True, True]), np.array([True, False])]
    table = revealed.calibration_table(said, seen, ["a", "b"])
    assert table.rows == ["0 to 0.1", "0.1 to 0.3", "0.3 to 0.5", "0.5 to 1", "all"]
    first, *_, last, whole = table.values
    np.testing.assert_allclose(first, [0.25, 0.025, 0.0])
    assert last[2] == pytest.approx((0.25 + 0.5) / (0.25 + 1.0))
    np.testing.assert_allclose(whole[1:], [(0.3125 + 0.7) / 2, 0.5])


def test_revealing_values_moves_some_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) + 3 * (np.arange(80) % 2)[:, None]
    said, changed = revealed.observe_table(X, np.arange(3), 2, "mcar 30%", 0)
    assert len(said) == len(changed) > 30
    assert ((said >= 0) & (said <= 1)).all()
