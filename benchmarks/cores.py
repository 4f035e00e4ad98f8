"""Many cores: is what is done by default ever slower than on one thread?

On 1, 2, 4, … cores that this process may use, each of them `n_jobs=None` beside `n_jobs=1`.

python -m benchmarks.cores --json docs/performance/cores.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import machine, write_json
from pckid import PCKID, assess, explain, next_cells

N_COLUMNS = 20
ROWS = (60, 100, 300, 1000, 3000, 10_000, 100_000)
COUNTS = (1, 2, 4, 8, 16)
_REPEATS = 7
# What a case is expected to take once more, in units of what it took before, lest time run out.
_MARGIN = 1.2


def five_groups(n_rows: int, n_columns: int = N_COLUMNS) -> np.ndarray:
    """Draw five groups in columns of numbers, a fifth of the cells missing."""
    rng = np.random.default_rng(0)
    centers = 2.5 * rng.normal(size=(5, n_columns))
    X = rng.normal(size=(n_rows, n_columns)) + centers[rng.integers(5, size=n_rows)]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def fit_five(X: np.ndarray, model: PCKID, n_jobs: int | None) -> np.ndarray:
    """Fit five clusters."""
    return PCKID(5, random_state=0, n_jobs=n_jobs).fit(X).labels_


def choose(X: np.ndarray, model: PCKID, n_jobs: int | None) -> np.ndarray:
    """Fit as many clusters as there are."""
    return PCKID("auto", random_state=0, n_jobs=n_jobs).fit(X).labels_


def judge(X: np.ndarray, model: PCKID, n_jobs: int | None) -> np.ndarray:
    """Assess clusters."""
    return assess(model, X, n_jobs=n_jobs).row_stability


def describe(X: np.ndarray, model: PCKID, n_jobs: int | None) -> np.ndarray:
    """Explain clusters."""
    return explain(model, X)


def suggest(X: np.ndarray, model: PCKID, n_jobs: int | None) -> np.ndarray:
    """Find which cells of some rows to measure next."""
    return next_cells(model, X[:1000])


def match(X: np.ndarray, model: PCKID, n_jobs: int | None) -> np.ndarray:
    """Match clusters with earlier ones."""
    return PCKID(5, random_state=1, n_jobs=n_jobs).fit(X, like=model).labels_


TASKS: dict[str, Callable[[np.ndarray, PCKID, int | None], Any]] = {
    "fit": fit_five,
    "auto": choose,
    "assess": judge,
    "explain": describe,
    "next_cells": suggest,
    "match": match,
}


def time_cases(tasks: list[str], rows: list[int], seconds: float) -> dict[str, Any]:
    """Time tasks on one thread and by default, in turns, while the time lasts.

    Returned are the least seconds of both for each case, and whether the results are the same.
    """
    begin, found = time.perf_counter(), {}
    warnings.simplefilter("ignore")
    models: dict[int, tuple[np.ndarray, PCKID]] = {}
    for turn in range(_REPEATS):
        for n_rows in rows:
            for task in tasks:
                case = found.setdefault(f"{n_rows} {task}", {"one": [], "all": [], "same": True})
                left = begin + seconds - time.perf_counter()
                if left < _MARGIN * (max(case["one"], default=0) + max(case["all"], default=0)):
                    continue
                if n_rows not in models:
                    X = five_groups(n_rows)
                    models[n_rows] = X, PCKID(5, random_state=0, n_jobs=1).fit(X)
                if left > 0:
                    _time_both(task, *models[n_rows], turn, case)
    return {
        name: {"one": min(case["one"]), "all": min(case["all"]), "same": case["same"]}
        for name, case in found.items()
        if case["one"]
    }


def _time_both(task: str, X: np.ndarray, model: PCKID, turn: int, case: dict[str, Any]) -> None:
    """Time a task on one thread and by default; which comes first alternates."""
    results = []
    for name in ("one", "all") if turn % 2 else ("all", "one"):
        n_jobs = 1 if name == "one" else None
        model.set_params(n_jobs=n_jobs)
        begin = time.perf_counter()
        results.append(TASKS[task](X, model, n_jobs))
        case[name].append(time.perf_counter() - begin)
    if isinstance(results[0], np.ndarray):
        case["same"] &= bool(np.array_equal(*results, equal_nan=True))


def plan_waves(counts: list[int], n_cores: int) -> list[list[int]]:
    """Group numbers of cores that together are no more than there are, the largest first."""
    waves: list[list[int]] = []
    for count in sorted(counts, reverse=True):
        room = next((wave for wave in waves if sum(wave) + count <= n_cores), None)
        if room is None:
            waves.append([count])
        else:
            room.append(count)
    return waves


def run_waves(options: argparse.Namespace) -> dict[int, dict[str, Any]]:
    """Time all cases on each number of cores, in a process that may use no others."""
    cores = sorted(os.sched_getaffinity(0))
    waves = plan_waves([count for count in options.cores if count <= len(cores)], len(cores))
    what = [*map(str, options.rows)], options.tasks, options.seconds / len(waves)
    found = {}
    for wave in waves:
        running, free = {}, iter(cores)
        for count in wave:
            mine = [next(free) for _ in range(count)]
            # Before it imports NumPy, whose library starts a thread for each core that it may use.
            command = ["taskset", "--cpu-list", ",".join(map(str, mine))]
            command += [sys.executable, "-m", "benchmarks.cores", "--alone"]
            command += ["--rows", *what[0], "--tasks", *what[1], "--seconds", str(what[2])]
            running[count] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for count, process in running.items():
            found[count] = json.loads(process.communicate()[0])
    return dict(sorted(found.items()))


def print_table(found: dict[int, dict[str, Any]]) -> None:
    """Print seconds on one thread, and what the default takes in units of these."""
    names = list(dict.fromkeys(name for cases in found.values() for name in cases))
    print(f"{'rows, task':18} | one thread |", " | ".join(f"{count:2} cores" for count in found))
    for name in names:
        mine = {count: cases[name] for count, cases in found.items() if name in cases}
        ratios = [
            f"{mine[count]['all'] / mine[count]['one']:8.2f}" if count in mine else " " * 8
            for count in found
        ]
        one = min(case["one"] for case in mine.values())
        other = "" if all(case["same"] for case in mine.values()) else "  OTHER RESULTS"
        print(f"{name:18} | {one:8.3f} s |", " | ".join(ratios) + other, flush=True)
    worst = [
        (case["all"] / case["one"], f"{name} on {count} cores")
        for count, cases in found.items()
        for name, case in cases.items()
    ]
    print("Highest: {1}, {0:.2f} of one thread".format(*max(worst)))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--cores", type=int, nargs="+", default=list(COUNTS))
    parser.add_argument("--seconds", type=float, default=240.0, help="for all of it")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    if options.quick:
        options.rows, options.cores, options.seconds = [60], [1], 30.0
    if options.alone:
        print(json.dumps(time_cases(options.tasks, options.rows, options.seconds)))
        return
    found = run_waves(options)
    print_table(found)
    write_json(options.json, {"machine": machine(), "cores": found})


if __name__ == "__main__":
    main()
