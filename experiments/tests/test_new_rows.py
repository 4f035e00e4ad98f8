"""The experiment on new rows runs, and its figures are what they say."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import new_rows
from experiments.output import Found


def test_changes_are_made_in_the_first_column_alone():
    rng = np.random.default_rng(0)
    X = new_rows.draw_rows(rng, 50, np.zeros((3, 4)), None)
    for change in new_rows.CHANGES.values():
        found = change(X.copy(), rng)
        np.testing.assert_array_equal(found[:, 1:], X[:, 1:])
        assert not np.array_equal(found[:, 0], X[:, 0], equal_nan=True)


def test_the_command_writes_its_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(new_rows, "N_FIT", 60)
    monkeypatch.setattr(new_rows, "compare_simulated", lambda *task: [Found("a", "b", 0, 1.0)])
    monkeypatch.setattr(new_rows, "judge_households", lambda *task: [Found("c", "d", 0, 0.5)])
    done = CliRunner().invoke(new_rows.new_rows_command, ["--runs", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "| a | b | 1.000 | 0.000 | 3 |" in (tmp_path / "new-rows.md").read_text()
    assert (tmp_path / "new-rows.csv").read_text().splitlines()[0] == "part,setting,run,value"


@pytest.mark.slow
def test_the_parts_give_their_figures(monkeypatch):
    monkeypatch.setattr(new_rows, "N_FIT", 60)
    monkeypatch.setattr(new_rows, "N_NEW", 40)
    assert len(new_rows.compare_simulated(0, None, 40)) == 1 + len(new_rows.CHANGES)
    X, households = new_rows.draw_households(np.random.default_rng(0), 12, 3)
    assert len(X) == len(households) <= 36
    (split,) = new_rows.split_table(X, 2, "name", 0, 0)
    assert split.value in (0, 1)
    found = new_rows.judge_households(0, 24, 3)
    assert len(found) == 8
    assert all(0 <= each.value <= 1 for each in found)
