"""How often the number of clusters is chosen right: `python -m experiments compare --choose-k`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.choosers import CHOOSERS, ChosenK
from experiments.compare import GROUPS, find_cases, find_methods, grouped
from experiments.datasets.tables import MAX_ROWS, NOT_FEATURES
from experiments.measure import agreement_scores
from experiments.resampling import interval
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks


def compare_choosers(
    folders: Sequence[str | Path] = (),
    out: str | Path = "results/compare",
    *,
    half: str | None = None,
    runs: int = 1,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    methods: Sequence[str] | None = None,
    drop: Sequence[str] = NOT_FEATURES,
    max_rows: int = MAX_ROWS,
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Choose the number of clusters of every table in every way, as `compare_methods` compares."""
    cases = find_cases(folders, half, drop, max_rows, say)
    found = find_methods(methods or list(CHOOSERS), CHOOSERS, say)
    found = [chooser.override(parameters or {}) for chooser in found]
    tasks = plan_tasks(cases, found, runs=runs, seed=seed, device=device, score=record)
    rows = run_tasks(tasks, out, jobs=jobs, what="Choosing k")
    name = f"{half}_n_clusters" if half else "n_clusters"
    tables.write(chosen(rows), Path(out), f"{name}_by_table")
    (Path(out) / f"{name}.md").write_text(text := summarise_choices(rows), encoding="utf-8")
    say(text)
    return rows


def record(y: NDArray, choice: ChosenK) -> dict[str, float]:
    """Note what was chosen, and how well as many clusters agree with the classes."""
    return {"chosen": float(choice.n_clusters), **agreement_scores(y, choice.labels)}


def chosen(rows: Sequence[Row]) -> tables.ResultTable:
    """Tabulate what each chose, mean over runs; bold where every run was right."""
    classes, found = tables.collect(rows, "n_clusters"), tables.collect(rows, "chosen")
    values = np.hstack([tables.mean(classes)[:, :1], tables.mean(found)])
    right = np.pad((found == classes).all(axis=2), ((0, 0), (1, 0)))
    names = [tables.case_name(case) for case in tables.case_names(rows)]
    columns = ["classes", *tables.method_names(rows)]
    return tables.ResultTable("table", names, columns, values, (1,) * len(columns), right)


def summarise_choices(rows: Sequence[Row]) -> str:
    """Write how often each chooser was right, by group of tables and over all, in Markdown."""
    parts = {GROUPS[name]: part for name, part in grouped(rows).items()} | {"All": list(rows)}
    texts = [
        f"## {title}\n\n{tables.as_markdown(score_choices(part))}" for title, part in parts.items()
    ]
    return "\n".join(texts)


def score_choices(rows: Sequence[Row]) -> tables.ResultTable:
    """Tabulate how often each chooser was right and within one, how far off, and to what effect.

    The effect is the adjusted Rand index between the classes and as many clusters of PCKID.

    A data set counts once; the intervals come from resampling the data sets. A chooser that failed
    was not right.
    """
    error = np.abs(tables.collect(rows, "chosen") - tables.collect(rows, "n_clusters"))
    measured = [
        tables.by_dataset(rows, values)
        for values in (
            (error == 0).astype(float),
            (error <= 1).astype(float),
            error,
            tables.collect(rows, "ari"),
        )
    ]
    values = np.column_stack([tables.mean(value, axis=0) for value in measured])
    ends = np.stack([interval(value) for value in measured], axis=-1)
    best = tables.best_of_row((values * [1, 1, -1, 1]).T, 2).T
    columns = ["right", "within one", "mean error", "ARI"]
    return tables.ResultTable(
        "chooser", tables.method_names(rows), columns, values, (2, 2, 2, 3), best, ends
    )
