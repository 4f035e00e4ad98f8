"""Crossing cases, runs and methods: in parallel, and so that it can be interrupted.

The unit of work is one method on one table. Units run in `jobs` processes, with the threads of the
machine shared out among them, and only the parent writes the results. Processes rather than threads
inside each method, because most peers use one thread most of the time, and because then the seconds
of one method are not blurred by another in the same process.

Runs are the outermost loop: an interrupted run has done all cases equally often, and the estimate
of the time left does not drift from cheap methods to dear ones.
"""

from __future__ import annotations

import json
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, GroupedTable, LabelledTable
from experiments.measure import agreement_scores
from experiments.methods import Method
from experiments.progress import experiment_progress
from experiments.results import (
    COLUMNS,
    Key,
    Row,
    csv_line,
    key,
    read_results,
    write_results,
)

RESULTS = "results.csv"
Score = Callable[[NDArray, Any], dict[str, float]]
_VERSIONS = ("pckid", "numpy", "scipy", "scikit-learn")


class Task(NamedTuple):
    """One method on the table of one case in one run."""

    case: Case
    run: int
    method: Method
    seed: int
    device: str | None
    score: Score = agreement_scores

    @property
    def key(self) -> Key:
        """What makes its row unique."""
        return self.case.dataset, self.case.setting, self.run, self.method.name

    @property
    def fixed(self) -> Row:
        """The part of its row that is known beforehand."""
        table_seed, method_seed = seeds(self.seed, self.case, self.run)
        return {
            "dataset": self.case.dataset,
            "setting": self.case.setting,
            "run": str(self.run),
            "method": self.method.name,
            "seed": str(self.seed),
            "table_seed": str(table_seed),
            "method_seed": str(method_seed),
            "data": self.case.source,
            "parameters": json.dumps(dict(self.method.parameters), sort_keys=True),
        }


def seeds(seed: int, case: Case, run: int) -> tuple[int, int]:
    """Derive the seeds of the table and of the methods, alike for all methods.

    They depend on the names of the case and the number of the run alone, so that neither the
    order, nor what else is run, nor an interruption changes a result.
    """
    name = zlib.crc32(f"{case.dataset}/{case.setting}".encode())
    first, second = np.random.SeedSequence([seed, name, run]).generate_state(2)
    return int(first), int(second)


def plan_tasks(
    cases: Sequence[Case],
    methods: Sequence[Method],
    *,
    runs: int,
    seed: int = 0,
    device: str | None = None,
    score: Score = agreement_scores,
) -> list[Task]:
    """List all tasks, run by run; `score` turns classes and what a method returned into results."""
    return [
        Task(case, run, method, seed, device, score)
        for run in range(runs)
        for case in cases
        for method in methods
    ]


def run_tasks(
    tasks: Sequence[Task], out: str | Path, *, jobs: int = 1, what: str = "Clustering"
) -> list[Row]:
    """Do what is left to do of the tasks, and return the rows of all of them.

    Parameters
    ----------
    tasks : sequence of Task
    out : path
        A folder; `results.csv` in it gets the rows. Rows already there are kept, never made again.
    jobs : int, default=1
        Processes; -1 for as many as there are cores.
    what : str
        The words before the progress bar.

    Returns
    -------
    list of dict
        In the order of the tasks, whether made now or earlier.
    """
    path = Path(out) / RESULTS
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {key(row): row for row in read_results(path)}
    _refuse_other_settings(tasks, found, path)
    left = [task for task in tasks if task.key not in found]
    write_results(path, found.values())
    with open(path, "a", encoding="utf-8") as file, experiment_progress(len(left), what) as advance:
        for row in _execute_all(left, jobs):
            file.write(csv_line(row))
            file.flush()
            found[key(row)] = row
            advance()
    write_results(path, found.values())
    return [found[task.key] for task in tasks]


def execute(task: Task) -> Row:
    """Draw the table, run the method, measure. A method that fails gets a row that says so."""
    _warm_up(task.device)
    table_seed, method_seed = seeds(task.seed, task.case, task.run)
    drawn = _draw_case(task.case, table_seed)
    X, y, groups = drawn.X, drawn.y, getattr(drawn, "groups", ())
    n_clusters = len(np.unique(y))
    found = {
        "n_samples": f"{X.shape[0]}",
        "n_features": f"{X.shape[1]}",
        "missing": f"{np.isnan(X).mean():.4f}",
        "n_clusters": f"{n_clusters}",
        "device": task.device or "cpu",
        "versions": _versions(task.method.needs, task.device is not None),
    }
    row = dict.fromkeys(COLUMNS, "") | task.fixed | found
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cluster, table = task.method.cluster, X.copy()
            begin = time.perf_counter()
            result = cluster(table, n_clusters, method_seed, task.device, groups)
            seconds = time.perf_counter() - begin
            row |= {name: f"{score:.6g}" for name, score in task.score(y, result).items()}
    except Exception as error:
        return row | {"error": " ".join(f"{type(error).__name__}: {error}".split())}
    return row | {"seconds": f"{seconds:.3f}"}


def _execute_all(tasks: Sequence[Task], jobs: int) -> Iterator[Row]:
    """Execute tasks here, or in processes that share the cores out; rows as they come."""
    from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config

    n_processes = min(effective_n_jobs(jobs), max(len(tasks), 1))
    if n_processes == 1:
        yield from map(execute, tasks)
        return
    threads = max(1, cpu_count() // n_processes)
    with parallel_config("loky", n_jobs=n_processes, inner_max_num_threads=threads):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        yield from parallel(delayed(execute)(task) for task in tasks)


def _refuse_other_settings(tasks: Iterable[Task], finished: dict[Key, Row], path: Path) -> None:
    """Raise if rows are there that were made with another seed, other parameters or other data."""
    for task in tasks:
        row = finished.get(task.key, {})
        for name, value in task.fixed.items():
            if row.get(name, value) != value:
                raise ValueError(
                    f"{path} holds results made with {name} {row[name]}, not {value}. "
                    "Ask for the same again to continue them, or choose another folder."
                )


@lru_cache(maxsize=1)
def _warm_up(device: str | None) -> None:
    """Start the device once in each process, so that no method's seconds hold its start."""
    if device is not None:
        from pckid import PCKID

        table = np.random.default_rng(0).normal(size=(16, 2))
        PCKID(2, n_inits=1, max_components=2, kmeans_n_init=1, device=device).fit(table)


@lru_cache(maxsize=1)
def _draw_case(case: Case, seed: int) -> LabelledTable | GroupedTable:
    """Draw a table, or return it again, as the methods of a case come one after another."""
    return case.draw(seed)


@lru_cache
def _versions(needs: tuple[str, ...], with_torch: bool) -> str:
    """Write down the versions of what took part."""
    found = {"python": python_version()}
    for name in [*_VERSIONS, *needs, *(["torch"] if with_torch else [])]:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            from pckid import __version__

            found[name] = __version__ if name == "pckid" else "unknown"
    return json.dumps(found, sort_keys=True)
