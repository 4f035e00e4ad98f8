"""Whether gaps of unequal groups are found, and none in clouds: `python -m experiments gaps`.

Clouds of many shapes have no gap; of two groups one may have few rows, or wide ones. The number of
clusters is chosen, and the table assessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets.clouds import CLOUDS, DESIGNS, draw_cloud, draw_design, remove_some
from experiments.output import Call, call_all, experiment, markdown, write_both

SIZES = (60, 250, 1200, 4000)
Row = dict[str, Any]


def judge_cloud(shape: str, n_rows: int, run: int, seed: int) -> Row:
    """Assess a cloud; every second one has lost some values."""
    rng = np.random.default_rng([seed, CLOUDS.index(shape), n_rows, run])
    X = draw_cloud(shape, n_rows, rng)
    if run % 2:
        X = remove_some(X, rng.uniform(0.05, 0.3), rng)
    return {"kind": "cloud", "name": shape, "rows": n_rows, "run": run, **_judge(X, run)}


def judge_design(number: int, run: int, seed: int) -> Row:
    """Assess two groups."""
    design = DESIGNS[number]
    X, _ = draw_design(design, np.random.default_rng([seed, len(CLOUDS), number, run]))
    found = _judge(X, run)
    return {"kind": "groups", "name": design.name, "rows": design.n_rows, "run": run, **found}


def _judge(X: np.ndarray, seed: int) -> Row:
    from pckid import PCKID, assess

    model = PCKID("auto", random_state=seed, n_jobs=1).fit(X)
    found = assess(model, X, n_resamples=0, n_jobs=1)
    return {"k": model.n_clusters_, "p_value": found.p_value, "answer": str(found.answer)}


def tabulate(rows: Sequence[Row]) -> str:
    """Tabulate the shares of tables with groups or structure, and with gaps, in Markdown."""
    lines = []
    for kind, name in dict.fromkeys((row["kind"], row["name"]) for row in rows):
        answers = [row["answer"] for row in rows if (row["kind"], row["name"]) == (kind, name)]
        claims = np.mean([answer in ("groups", "structure") for answer in answers])
        gaps = np.mean([answer == "groups" for answer in answers])
        lines.append([name, kind, len(answers), f"{claims:.3f}", f"{gaps:.3f}"])
    return markdown(["rows", "what", "tables", "groups or structure", "gaps"], lines)


@experiment("gaps", "seed", "jobs", runs=40)
def gaps_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Count the gaps found in clouds, and between groups of unequal size and spread.

    Writes gaps.csv and gaps.md.
    """
    calls: list[Call] = [
        (judge_cloud, (shape, n_rows, run, seed))
        for run in range(runs)
        for n_rows in SIZES
        for shape in CLOUDS
    ]
    calls += [
        (judge_design, (number, run, seed)) for run in range(runs) for number in range(len(DESIGNS))
    ]
    rows = call_all(calls, jobs, "Judging")
    write_both(out, "gaps", rows, tabulate(rows))
