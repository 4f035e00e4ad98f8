"""PCKID against what people would pick instead, over labelled tables: `compare`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments import figures, tables, verdict
from experiments._registry import check_registered
from experiments.datasets import Case
from experiments.datasets.benchmark import cases_of, not_found
from experiments.datasets.tables import AS_IS, MAX_ROWS, NOT_FEATURES
from experiments.methods import Method, all_methods
from experiments.methods.variants import VARIANTS
from experiments.paper import METHODS as PAPER_METHODS
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks

LEFT_OUT = ("incomplete gmm-full", "PCKID random walk", *PAPER_METHODS[1:], *VARIANTS)
"""Not compared unless named: too slow for many patterns, the paper's baselines, our variants."""
GROUPS = {"tables": "Tables with missing values", "removed": "Complete tables, values removed"}
STRATA = {"shown": "Classes that show as clusters", "hidden": "Classes that hardly show"}
ANSWERS = {
    "groups": "Called groups with gaps",
    "structure": "Called structure without gaps",
    "none": "Called no clear groups",
}
MIN_AGREEMENT = 0.2
"""Classes show as clusters in a case if the median ARI of all methods is higher."""


def compare_methods(
    folders: Sequence[str | Path] = (),
    out: str | Path = "results/compare",
    *,
    half: str | None = None,
    runs: int = 10,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    methods: Sequence[str] | None = None,
    drop: Sequence[str] = NOT_FEATURES,
    max_rows: int = MAX_ROWS,
    answers: str | Path | None = None,
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Run every method on every table; write results, tables, ranks and losses.

    The parameters are the options of `python -m experiments compare`;
    `say` hears of progress.
    Returns the rows of results.csv.
    """
    cases = find_cases(folders, half, drop, max_rows, say)
    known = all_methods()
    usual = [name for name in known if name not in LEFT_OUT and not known[name].grouped]
    found = [
        method.override(parameters or {}) for method in find_methods(methods or usual, known, say)
    ]
    tasks = plan_tasks(cases, found, runs=runs, seed=seed, device=device)
    rows = run_tasks(tasks, out, jobs=jobs, what="Comparing")
    write_comparison(rows, Path(out), f"{half}_" if half else "", say, answers)
    return rows


def find_cases(
    folders: Sequence[str | Path],
    half: str | None,
    drop: Sequence[str],
    max_rows: int,
    say: Callable[[str], None],
) -> list[Case]:
    """List the cases, and name the tables of a half that are not in the folders."""
    cases = cases_of(half, folders, drop, max_rows)
    missing = not_found(half, cases) if half else []
    if missing:
        say(f"Not in the folders, so the half is not complete: {', '.join(missing)}.")
    return cases


def find_methods(
    names: Sequence[str], known: Mapping[str, Method], say: Callable[[str], None]
) -> list[Method]:
    """Return the methods of these names, PCKID first; says which lack a package and are skipped."""
    chosen = []
    for name in sorted(names, key=lambda name: "PCKID" not in name):
        check_registered(name, known, "method")
        lacking = known[name].missing()
        if lacking:
            say(f"Without {name}: it needs {', '.join(lacking)}, which is not installed.")
        else:
            chosen.append(known[name])
    return chosen


def grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Split rows by whether values were removed; groups without rows are absent."""
    parts: dict[str, list[Row]] = {name: [] for name in GROUPS}
    for row in rows:
        parts["tables" if row["setting"] == AS_IS else "removed"].append(row)
    return {name: part for name, part in parts.items() if part}


def split_by_agreement(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Split rows by whether the classes of their case show as clusters, whatever the method.

    Where no method finds the classes, all are alike, and every mean over cases is diluted.
    """
    agreement = np.nanmedian(tables.mean(tables.collect(rows, "ari")), axis=1)
    shown = {
        case
        for case, median in zip(tables.case_names(rows), agreement, strict=True)
        if median > MIN_AGREEMENT
    }
    parts: dict[str, list[Row]] = {name: [] for name in STRATA}
    for row in rows:
        parts["shown" if (row["dataset"], row["setting"]) in shown else "hidden"].append(row)
    return {name: part for name, part in parts.items() if part}


def split_by_answer(rows: Sequence[Row], path: str | Path) -> dict[str, list[Row]]:
    """Split rows by what PCKID answered on their case: groups, structure or none."""
    with open(path, newline="", encoding="utf-8") as file:
        answers = {(row["name"], row["how"]): row["answer"] for row in csv.DictReader(file)}
    parts: dict[str, list[Row]] = {name: [] for name in ANSWERS}
    for row in rows:
        answer = answers.get((row["dataset"], row["setting"]))
        if answer in parts:
            parts[answer].append(row)
    return {name: part for name, part in parts.items() if part}


def write_comparison(
    rows: Sequence[Row],
    out: Path,
    prefix: str,
    say: Callable[[str], None],
    answers: str | Path | None = None,
) -> None:
    """Write the tables and the figure of each group of cases, and a summary of all."""
    texts = []
    strata = split_by_agreement(rows) | (split_by_answer(rows, answers) if answers else {})
    for stratum, part in strata.items():
        tables.write(verdict.overall(part), out, f"{prefix}{stratum}_overall")
        texts.append(f"## {(STRATA | ANSWERS)[stratum]}\n\n{verdict.summarise_means(part)}")
        draw_ranks(part, out / f"{prefix}{stratum}_ranks.png", say)
    for group, part in grouped(rows).items():
        for field in ("accuracy", "ari", "seconds"):
            table = tables.field_table(part, field, "table", tables.case_name)
            tables.write(table, out, f"{prefix}{group}_{field}")
        overall = verdict.overall(part)
        tables.write(overall, out, f"{prefix}{group}_overall")
        texts.append(f"## {GROUPS[group]}\n\n{verdict.summarise_ranks(part)}")
        say(tables.as_markdown(overall))
        say(verdict.losses(part))
        draw_ranks(part, out / f"{prefix}{group}_ranks.png", say)
    path = out / f"{prefix}summary.md"
    path.write_text("\n".join(texts), encoding="utf-8")
    say(f"wrote {path}")


def draw_ranks(rows: Sequence[Row], path: Path, say: Callable[[str], None]) -> None:
    """Draw mean ranks and the critical difference."""
    try:
        draw = partial(figures.draw_critical_difference, ranking=verdict.ranking(rows))
        say(f"wrote {figures.save_figure(path, draw, (9, 5))}")
    except ImportError:
        say("No figure: matplotlib is not installed.")
