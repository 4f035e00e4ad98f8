"""Simulated tables with and without groups, and what is tabulated of the verdicts on them."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from experiments import assess
from experiments.assess import Verdict, assess_tables, by_table
from experiments.datasets.simulated import (
    FAMILIES,
    draw_with_groups,
    draw_without_groups,
    simulated_cases,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_have_the_sizes_that_are_named(family):
    for seed in range(3):
        X, y = draw_without_groups(family, np.random.default_rng(seed))
        assert 60 <= len(X) <= 1000
        assert set(y) == {0}
        assert np.isnan(X).mean() <= 0.55
        assert (~np.isnan(X)).sum(axis=1).min() >= 2
        levels = len(np.unique(X[~np.isnan(X)]))
        assert {"0/1": levels == 2, "ordinal 1 to 5": levels == 5}.get(family, levels > 5)


@pytest.mark.parametrize("family", ["uniform", "0/1", "mixed"])
def test_groups_are_those_of_the_labels(family):
    X, y = draw_with_groups(family, 3, np.random.default_rng(0))
    assert set(y) == {0, 1, 2}
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    middles = np.stack([filled[y == group].mean(axis=0) for group in range(3)])
    nearest = ((filled[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
    assert adjusted_rand_score(y, nearest) > 0.5


def test_a_seed_draws_the_same_table():
    for case in simulated_cases()[:4]:
        np.testing.assert_array_equal(case.draw(5).X, case.draw(5).X)


def test_verdicts_are_counted_by_family(monkeypatch, tmp_path):
    def judge(X, n_groups, *, seed, device):
        return Verdict(n_groups, 0.5 if n_groups == 1 else 0.001)

    monkeypatch.setattr(assess, "judge", judge)
    monkeypatch.setattr(assess, "simulated_cases", lambda: simulated_cases()[:2])
    said = []
    rows = assess_tables(out=tmp_path, runs=2, say=said.append)
    assert len(rows) == 4
    assert "| **all** | 2 | 100.0% | 100.0% | 2 | 100.0% | 100.0% | 100.0% |" in said[0]
    assert "- none" in said[0]
    assert (tmp_path / "assess_simulated.md").read_text(encoding="utf-8") == said[0]
    rows[0]["chosen"] = "3"
    assert "1 groups: chose 3, p = 0.5" in assess.by_family(rows)


def test_tables_of_folders_are_listed(golden):
    row = {"dataset": "penguins", "setting": "as is", "n_samples": "342", "n_clusters": "3"}
    row |= {"chosen": "3", "p_value": "1e-20", "error": ""}
    text = by_table([row, row | {"chosen": "1", "p_value": "0.4"}])
    assert "| penguins | 342 | 3 | 3 | 1e-20 |" in text
    golden(text)
