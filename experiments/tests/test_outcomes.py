"""The experiment on outcomes runs, and its truth is what it says."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import outcomes
from experiments.output import Found


def test_groups_and_outcomes_are_those_of_the_truth(monkeypatch):
    monkeypatch.setattr(outcomes, "N_ROWS", 20_000)
    rng = np.random.default_rng(0)
    X, group = outcomes.draw_groups(rng, *outcomes.SETTINGS["3 groups of unequal spread"])
    assert np.isnan(X).mean() == pytest.approx(0.2, abs=0.01)
    spreads = [np.nanstd(X[group == g], axis=0).mean() for g in range(3)]
    np.testing.assert_allclose(spreads, [0.7, 1.0, 1.4], rtol=0.03)
    for kind in outcomes.KINDS:
        cells, truth = outcomes.draw_outcome(rng, group, kind)
        values = (cells == "a").astype(float) if kind == "category" else cells
        found = [values[group == g].mean() for g in range(3)]
        np.testing.assert_allclose(found, truth, atol=0.05)


def test_the_command_writes_its_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(outcomes, "judge_table", lambda *task: [Found("a", "b", 0, 1.0)])
    monkeypatch.setattr(outcomes, "compare_stepmix", lambda *task: [Found("c", "d", 0, 0.5)])
    monkeypatch.setattr(outcomes, "judge_dependent", lambda *task: [Found("e", "f", 0, 0.5)])
    done = CliRunner().invoke(outcomes.outcomes_command, ["--runs", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "| a | b | 1.000 | 0.000 | 9 |" in (tmp_path / "outcomes.md").read_text()


@pytest.mark.slow
def test_the_parts_give_their_figures(monkeypatch):
    monkeypatch.setattr(outcomes, "N_ROWS", 150)
    for setting in ("2 groups, some overlap", "3 skewed groups"):
        found = outcomes.judge_table(setting, 0)
        shares = [each.value for each in found if each.part.startswith(("truth", "labels"))]
        assert all(0 <= share <= 1 for share in shares)
    assert len(outcomes.compare_stepmix(0.9, 0)) == 5
    for setting in outcomes.DEPENDENT:
        assert len(outcomes.judge_dependent(setting, 0)) == 4
