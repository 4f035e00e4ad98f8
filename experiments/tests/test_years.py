"""The experiment on years runs, and its figures are what they say."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import years
from experiments.output import Found


def test_the_command_writes_its_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(years, "follow_year", lambda *task: [Found("a", "b", 0, 1.0)])
    monkeypatch.setattr(years, "refuse_unit", lambda *task: [Found("c", "d", 0, 0.5)])
    done = CliRunner().invoke(years.years_command, ["--runs", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "| a | b | 1.000 | 0.000 | 13 |" in (tmp_path / "years.md").read_text()


@pytest.mark.slow
def test_the_parts_give_their_figures(monkeypatch):
    monkeypatch.setattr(years, "N_ROWS", 120)
    for scene in years.SCENES:
        assert len(years.follow_year(scene, 8.0, 0)) == 3
    assert [each.value for each in years.refuse_unit(0)] == [1.0, 0.0]
    X = years.draw_year(np.random.default_rng(0), np.zeros((1, 6)), [1.0])
    assert len(years.follow_halves(X, 2, 0, 0)) == 4
