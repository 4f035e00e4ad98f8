"""The runner: nothing is lost, nothing is done twice, and a torn line is repaired."""

from functools import partial

import numpy as np
import pytest

from experiments.datasets import Case, LabelledTable, cases
from experiments.methods import Method, find
from experiments.results import COLUMNS, key, read_results
from experiments.run import plan_tasks, run_tasks


def _draw(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 10)
    return LabelledTable(rng.normal(size=(20, 2)) + 5 * y[:, None], y)


def _count(counter, X, n_clusters, *, seed, device):
    counter.append(seed)
    return (X[:, 0] > 2.5).astype(int)


def _fail(X, n_clusters, *, seed, device):
    raise RuntimeError("no\nluck")


CASES = [Case("toy", "one", "made", _draw), Case("toy", "two", "made", _draw)]


def counting():
    counter = []
    return counter, Method("counting", partial(_count, counter), {})


def without_timings(rows):
    return [tuple(row[name] for name in COLUMNS if name != "seconds") for row in rows]


def test_all_methods_see_the_same_table_and_every_run_another():
    tasks = plan_tasks(CASES, find(["AI+kmeans", "MI+kmeans"]), runs=2)
    seeds = {(task.case.setting, task.run): task.fixed["table_seed"] for task in tasks}
    assert len(set(seeds.values())) == 4
    assert all(seeds[task.case.setting, task.run] == task.fixed["table_seed"] for task in tasks)


def test_finished_rows_are_not_made_again(tmp_path):
    counter, method = counting()
    first = run_tasks(plan_tasks(CASES, [method], runs=1), tmp_path)
    assert len(counter) == 2
    more = run_tasks(plan_tasks(CASES, [method], runs=3), tmp_path)
    assert len(counter) == 6
    assert first[0] in more
    fewer = run_tasks(plan_tasks(CASES, [method], runs=1), tmp_path)
    assert len(counter) == 6
    assert fewer == first
    assert len(read_results(tmp_path / "results.csv")) == 6


def test_rows_come_in_the_order_of_the_plan_and_the_file_is_sorted(tmp_path):
    _, method = counting()
    tasks = plan_tasks(CASES[::-1], [method], runs=11)
    rows = run_tasks(tasks, tmp_path)
    assert [key(row) for row in rows] == [task.key for task in tasks]
    keys = [key(row) for row in read_results(tmp_path / "results.csv")]
    assert keys == sorted(keys)


def test_a_method_that_fails_gets_a_row_that_says_so(tmp_path):
    (row,) = run_tasks(plan_tasks(CASES[:1], [Method("bad", _fail, {})], runs=1), tmp_path)
    assert row["error"] == "RuntimeError: no luck"
    assert row["accuracy"] == ""
    assert read_results(tmp_path / "results.csv") == [row]


def test_other_settings_in_the_same_folder_are_refused(tmp_path):
    _, method = counting()
    run_tasks(plan_tasks(CASES, [method], runs=1, seed=1), tmp_path)
    with pytest.raises(ValueError, match="seed 1, not 2"):
        run_tasks(plan_tasks(CASES, [method], runs=1, seed=2), tmp_path)
    with pytest.raises(ValueError, match=r"parameters \{\}, not"):
        run_tasks(
            plan_tasks(CASES, [method._replace(parameters={"a": 1})], runs=1, seed=1), tmp_path
        )
    other = [case._replace(source="elsewhere") for case in CASES]
    with pytest.raises(ValueError, match="made, not elsewhere"):
        run_tasks(plan_tasks(other, [method], runs=1, seed=1), tmp_path)


def test_a_torn_last_line_is_repaired(tmp_path):
    counter, method = counting()
    tasks = plan_tasks(CASES, [method], runs=4)
    run_tasks(tasks, tmp_path)
    path = tmp_path / "results.csv"
    whole = path.read_bytes()
    for cut in (10, 1, 200, len(whole) - 5):
        path.write_bytes(whole[:-cut])
        counter.clear()
        run_tasks(tasks, tmp_path)
        assert len(counter) == 8 - whole[:-cut].count(b"\n") + (cut != len(whole) - 5)
        assert len(read_results(path)) == 8
        path.write_bytes(whole)


def test_a_file_of_another_kind_is_left_alone(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("my,own,notes\n1,2,3\n")
    with pytest.raises(ValueError, match="has other columns"):
        run_tasks(plan_tasks(CASES, [counting()[1]], runs=1), tmp_path)
    assert path.read_text() == "my,own,notes\n1,2,3\n"


def test_processes_change_no_result(tmp_path, quick):
    methods = [found.override(quick) for found in find(["PCKID", "AI+kmeans"])]
    tasks = plan_tasks(cases("wine")[:2], methods, runs=1)
    alone = run_tasks(tasks, tmp_path / "alone")
    together = run_tasks(tasks, tmp_path / "together", jobs=2)
    assert without_timings(alone) == without_timings(together)
