"""The runner: nothing is lost, nothing is done twice, and SIGKILL changes no result."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from experiments.datasets import Case, LabelledTable, cases
from experiments.methods import Method, find
from experiments.results import COLUMNS, MEASURED, ResultsFile, key, read_results
from experiments.run import execute, plan_tasks, run_tasks

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, time
from experiments.datasets import cases
from experiments.methods import find
from experiments.run import plan_tasks, run_tasks

def slowly(X, n_clusters, **more):
    time.sleep(0.05)
    return fast.function(X, n_clusters, **more)

fast, pckid = (m.override({"n_inits": 1, "max_components": 3, "kmeans_n_init": 2})
               for m in find(["AI+kmeans", "PCKID"]))
tasks = plan_tasks(cases("wine"), [pckid, fast._replace(function=slowly)], runs=6, seed=5)
run_tasks(tasks, sys.argv[1])
"""


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
    return [tuple(row[name] for name in COLUMNS if name not in MEASURED) for row in rows]


def test_a_row_says_how_it_was_made(quick):
    (method,) = (found.override(quick) for found in find(["PCKID"]))
    (row,) = [execute(task) for task in plan_tasks(cases("wine")[:1], [method], runs=1, seed=3)]
    assert set(row) == set(COLUMNS)
    assert row["seed"] == "3"
    assert '"n_inits": 4' in row["parameters"]
    assert all(name in row["versions"] for name in ("pckid", "numpy", "scikit-learn", "python"))
    assert float(row["accuracy"]) > 0.8
    assert float(row["seconds"]) > 0
    assert row["error"] == ""


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


@pytest.mark.skipif(sys.platform == "win32", reason="no file locks")
def test_two_processes_do_not_write_one_file(tmp_path):
    with (
        ResultsFile(tmp_path / "results.csv"),
        pytest.raises(ValueError, match="process is writing"),
        ResultsFile(tmp_path / "results.csv"),
    ):
        pass


def test_processes_change_no_result(tmp_path, quick):
    methods = [found.override(quick) for found in find(["PCKID", "AI+kmeans"])]
    tasks = plan_tasks(cases("wine")[:2], methods, runs=1)
    alone = run_tasks(tasks, tmp_path / "alone")
    together = run_tasks(tasks, tmp_path / "together", jobs=2)
    assert without_timings(alone) == without_timings(together)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_killed_and_started_again_it_ends_the_same(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    path = tmp_path / "killed" / "results.csv"
    process = _start(script, path.parent)
    _wait_for_lines(path, 6, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    early = path.read_bytes()
    finished = early[: early.rfind(b"\n")].splitlines()
    assert 6 <= len(finished) < 30
    path.write_bytes(early + b"wine,mar 5")  # as a write that was cut short would leave it
    processes = [_start(script, path.parent), _start(script, tmp_path / "whole")]
    assert [process.wait() for process in processes] == [0, 0]
    assert set(finished) <= set(path.read_bytes().splitlines())
    whole = read_results(tmp_path / "whole" / "results.csv")
    assert len(whole) == 36
    assert without_timings(read_results(path)) == without_timings(whole)


def _start(script, folder):
    # The experiments are not installed: they are found from the root of the repository.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        stderr=subprocess.DEVNULL,
        env={**os.environ, **alone, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _wait_for_lines(path, count, process):
    """Wait until a file has so many lines."""
    deadline = time.monotonic() + 300
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
