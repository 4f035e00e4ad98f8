"""Whether gaps of unequal groups are found, and none in clouds: `python -m experiments gaps`.

Clouds of many shapes have no gap; of two groups one may have few rows, or wide ones. Days are of
two types, with a season inside, and there are tables of many groups. The number of clusters is
chosen, and the table assessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets.clouds import (
    CLOUDS,
    DAY_SHARES,
    DESIGNS,
    MANY,
    draw_cloud,
    draw_days,
    draw_design,
    draw_many,
    remove_some,
)
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


def judge_days(number: int, run: int, seed: int) -> Row:
    """Assess days of two types."""
    X = draw_days(DAY_SHARES[number], np.random.default_rng([seed, len(CLOUDS), 100 + number, run]))
    name = f"two types of days, {DAY_SHARES[number]:.0%} missing"
    return {"kind": "days", "name": name, "rows": len(X), "run": run, **_judge(X, run)}


def judge_many(n_groups: int, run: int, seed: int) -> Row:
    """Assess many groups."""
    X = draw_many(n_groups, np.random.default_rng([seed, len(CLOUDS), 200 + n_groups, run]))
    found = {"rows": len(X), "run": run, "right": n_groups, **_judge(X, run)}
    return {"kind": "many", "name": f"{n_groups} groups of 40", **found}


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
        right = [row["k"] == row["right"] for row in rows if row["name"] == name and "right" in row]
        share = f"{np.mean(right):.3f}" if right else ""
        unsure = np.mean([answer == "undecided" for answer in answers])
        shares = [f"{each:.3f}" for each in (claims, gaps, unsure)]
        lines.append([name, kind, len(answers), *shares, share])
    heads = ["rows", "what", "tables", "groups or structure", "gaps", "undecided", "k right"]
    return markdown(heads, lines)


@experiment("gaps", "seed", "jobs", runs=40)
def gaps_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Count the gaps found in clouds, and between groups: unequal ones, types of days, and many.

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
    calls += [
        (judge_days, (number, run, seed))
        for run in range(runs)
        for number in range(len(DAY_SHARES))
    ]
    calls += [(judge_many, (n_groups, run, seed)) for run in range(runs) for n_groups in MANY]
    rows = call_all(calls, jobs, "Judging")
    write_both(out, "gaps", rows, tabulate(rows))
