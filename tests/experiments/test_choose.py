"""The measurement of choosers: right, within one, and how far off."""

import numpy as np
import pytest

from pckid.experiments import choose
from pckid.experiments.choosers import CHOOSERS, Computed
from pckid.experiments.datasets import cases


def row(case, classes, chosen, run=0, group="real"):
    name = next(iter(CHOOSERS))
    return dict(zip(choose.FIELDS, (group, case, str(run), classes, name, chosen), strict=True))


def test_tables_count_alike_whatever_their_runs(monkeypatch):
    name = next(iter(CHOOSERS))
    monkeypatch.setattr(choose, "CHOOSERS", {name: None})
    rows = [row("a", "2", "2"), row("a", "2", "2", 1), row("b", "4", "5")]
    rows.append(row("c", "3", "7", group="simulated"))
    text = choose.summary(rows)
    assert f"| {name} | 50% | 100% | 0.50 | 0% | 0% | 4.00 | 33% | 67% | 1.67 |" in text


def test_every_chooser_counts_clear_groups():
    rng = np.random.default_rng(0)
    places = 8 * np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    X = places[np.arange(90) % 3] + rng.normal(size=(90, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    computed = Computed(X, 0, n_inits=4, max_components=8)
    found = {name: chooser(computed) for name, chooser in CHOOSERS.items() if name != "always 2"}
    assert found == dict.fromkeys(found, 3)


def test_results_go_on_where_they_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "CHOOSERS", {"always 2": CHOOSERS["always 2"]})
    monkeypatch.setattr(choose, "COMPLETE", {"iris": "mcar 30%"})
    said = []
    first = choose.main(out=tmp_path, simulated=False, say=said.append)
    assert [(r["case"], r["classes"], r["chosen"]) for r in first] == [("iris, mcar 30%", "3", "2")]
    again = choose.main(out=tmp_path, runs=2, simulated=False, say=said.append)
    assert [r["run"] for r in again] == ["0", "1"]
    assert sum("iris" in text for text in said) == 2


@pytest.mark.parametrize("index", [0, -1])
def test_simulated_groups_are_as_many_as_said(index):
    case = cases("simulated")[index]
    X, y = case.draw(3)
    assert case.setting.startswith(f"{len(np.unique(y))} groups")
    assert 0.1 < np.isnan(X).mean() < 0.3
