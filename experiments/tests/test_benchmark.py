"""The benchmark: two halves by name, and values removed from what is complete."""

import numpy as np
import pytest

from experiments.datasets import benchmark, complete
from experiments.datasets.benchmark import COMPLETE, HALVES, INCOMPLETE, cases_of


@pytest.fixture
def folder(tmp_path):
    """A tiny table for each name of the lists but scikit-learn's, and one that is in neither."""
    rng = np.random.default_rng(0)
    for group, cell in ((INCOMPLETE, ""), (COMPLETE, "0.5")):
        for name in (*group["choose"], *group["report"]):
            if name not in complete.BUNDLED:
                write(tmp_path / f"uci_{name}_num.csv", rng, cell)
    write(tmp_path / "stranger.csv", rng, "")
    return tmp_path


def write(path, rng, first_cell):
    lines = [f"{a:.3f},{b:.3f},{c:.3f},{k}" for k in "pq" for a, b, c in rng.random((5, 3))]
    lines[0] = f"{first_cell},0.5,0.5,p"
    path.write_text("\n".join(["a,b,c,label", *lines]) + "\n")


def names(cases):
    return {benchmark.plain_name(case.dataset) for case in cases}


@pytest.mark.parametrize("group", [INCOMPLETE, COMPLETE])
def test_names_alternate_between_the_halves(group):
    listed = sorted(group["choose"] + group["report"])
    assert len(set(listed)) == len(listed)
    assert group == {"choose": tuple(listed[::2]), "report": tuple(listed[1::2])}
    assert [benchmark.plain_name(name) for name in listed] == listed


def test_the_halves_cover_every_listed_table_and_no_other(folder):
    halves = [cases_of(half, [folder]) for half in HALVES]
    assert [names(found) for found in halves] == [set(benchmark.names_of(h)) for h in HALVES]
    everything = names(halves[0]) | names(halves[1])
    assert set(complete.BUNDLED) <= everything
    assert names(cases_of(None, [folder])) == everything - set(complete.BUNDLED) | {"stranger"}


def test_incomplete_tables_stay_as_they_are_and_complete_ones_lose_values(folder):
    for half in HALVES:
        found = {}
        for case in cases_of(half, [folder]):
            found.setdefault(benchmark.plain_name(case.dataset), []).append(case.setting)
        assert all(found[name] == ["as is"] for name in INCOMPLETE[half])
        removed = {name: list(complete.SETTINGS) for name in COMPLETE[half]}
        if "digits" in removed:
            removed["digits"].append("quadrants 50%")
        assert {name: found[name] for name in COMPLETE[half]} == removed


def test_tables_of_a_half_that_are_not_there_are_named(tmp_path):
    write(tmp_path / "heart.csv", np.random.default_rng(0), "1")
    missing = benchmark.not_found("choose", cases_of("choose", [tmp_path]))
    assert set(benchmark.names_of("choose")) - set(missing) == {"heart", "wine"}


def test_two_tables_of_one_name_are_refused(tmp_path):
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        write(tmp_path / str(number) / "heart.csv", np.random.default_rng(0), "1")
    with pytest.raises(ValueError, match="named 'heart'"):
        cases_of(None, [tmp_path / "1", tmp_path / "2"])


def test_indicators_of_one_column_go_together():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((400, 2)), np.eye(3)[rng.integers(3, size=400)]])
    hidden = np.isnan(complete.remove(X, np.array([0, 4, 7, 7, 7]), "mcar 30%", rng))
    assert (hidden[:, 2:].all(axis=1) == hidden[:, 2:].any(axis=1)).all()
    assert hidden[:, :3].mean() == pytest.approx(0.3, abs=0.05)
    assert not hidden.all(axis=1).any()


def test_a_row_loses_runs_of_neighbouring_columns():
    X = np.random.default_rng(0).random((500, 7))
    hidden = np.isnan(complete.remove(X, np.arange(7), "blocks 30%", np.random.default_rng(1)))
    whole = ~hidden.any(axis=1) | (hidden.sum(axis=1) < 6)  # others had a value given back
    for run in np.array_split(np.arange(7), 3):
        block = hidden[whole][:, run]
        assert (block.all(axis=1) == block.any(axis=1)).all()
    assert hidden.mean() == pytest.approx(0.3, abs=0.04)
