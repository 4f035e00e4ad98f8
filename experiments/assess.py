"""How often groups are told from none: `python -m experiments compare --assess`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.compare import find_cases
from experiments.datasets.simulated import GROUPS, NO_GROUPS, simulated_cases
from experiments.datasets.tables import MAX_ROWS, NOT_FEATURES
from experiments.methods import Method
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks
from pckid import PCKID, assess
from pckid._utils.text import write_p
from pckid.significance.comparison import ALPHA


class Verdict(NamedTuple):
    """The number of clusters that a fit chose, 1 for none, and the p-value of the assessment."""

    chosen: int
    p_value: float


def assess_tables(
    folders: Sequence[str | Path] = (),
    out: str | Path = "results/assess",
    *,
    half: str | None = None,
    runs: int = 1,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    drop: Sequence[str] = NOT_FEATURES,
    max_rows: int = MAX_ROWS,
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Assess simulated tables, or those of folders; the parameters of
    `compare.compare_methods`.

    Every run draws one table without groups and one with 2 to 8 groups of each of eight families of
    columns, so that 25 runs make 200 of each.

    Returns
    -------
    list of dict
        The rows of results.csv.
    """
    cases = find_cases(folders, half, drop, max_rows, say) if folders else simulated_cases()
    method = Method("PCKID", judge, {}).override(parameters or {})
    tasks = plan_tasks(cases, [method], runs=runs, seed=seed, device=device, score=record_verdict)
    rows = run_tasks(tasks, out, jobs=jobs, what="Assessing")
    text = by_table(rows) if folders else by_family(rows)
    name = "assess_tables" if folders else "assess_simulated"
    (Path(out) / f"{name}.md").write_text(text, encoding="utf-8")
    say(text)
    return rows


def judge(X: NDArray, _: int, *, seed: int, device: str | None) -> Verdict:
    """Let PCKID choose the number of clusters, and assess the clusters."""
    model = PCKID("auto", random_state=seed, device=device).fit(X)
    found = assess(model, X, n_resamples=0, random_state=seed)
    return Verdict(model.n_clusters_, np.nan if found.p_value is None else found.p_value)


def record_verdict(y: NDArray, verdict: Verdict) -> dict[str, float]:
    """Note what was found."""
    return {"chosen": float(verdict.chosen), "p_value": verdict.p_value}


def by_family(rows: Sequence[Row]) -> str:
    """Tabulate, by family of columns, how often there were rightly groups or none, in Markdown."""
    families = list(dict.fromkeys(row["dataset"] for row in rows))
    parts = [[row for row in rows if row["dataset"] == family] for family in families]
    lines = [_shares(family, part) for family, part in zip(families, parts, strict=True)]
    lines.append(_shares("**all**", rows))
    head = (
        "| columns | tables | none, by auto | none, by assess | with groups | found, by auto "
        "| found, by assess | right k |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(lines) + "\n\n" + _wrong(rows)


def _shares(name: str, rows: Sequence[Row]) -> str:
    """Write a line of the table."""
    without = [row for row in rows if row["setting"] == NO_GROUPS and not row["error"]]
    with_groups = [row for row in rows if row["setting"] == GROUPS and not row["error"]]
    none = [row["chosen"] == "1" for row in without]
    none_assessed = [not _has_groups(row) for row in without]
    found = [row["chosen"] != "1" for row in with_groups]
    found_assessed = [_has_groups(row) for row in with_groups]
    right = [row["chosen"] == row["n_clusters"] for row in with_groups]
    return (
        f"| {name} | {len(without)} | {_write_share(none)} | {_write_share(none_assessed)} "
        f"| {len(with_groups)} | {_write_share(found)} | {_write_share(found_assessed)} "
        f"| {_write_share(right)} |"
    )


def _wrong(rows: Sequence[Row]) -> str:
    """List the tables in which groups were missed or seen wrongly, and failures."""
    lines = []
    for row in rows:
        groups = row["setting"] == GROUPS
        if row["error"]:
            lines.append(f"- {_describe_row(row)}: {row['error']}")
        elif (row["chosen"] != "1") != groups or _has_groups(row) != groups:
            p_value = write_p(float(row["p_value"]))
            lines.append(f"- {_describe_row(row)}: chose {row['chosen']}, {p_value}")
    return "Wrong on groups or none:\n\n" + "\n".join(lines or ["- none"]) + "\n"


def by_table(rows: Sequence[Row]) -> str:
    """Tabulate what was found in each table, in Markdown."""
    head = "| table | rows | classes | chosen | p |\n|---|---:|---:|---:|---:|\n"
    lines = [
        f"| {tables.case_name((row['dataset'], row['setting']))} | {row['n_samples']} "
        f"| {row['n_clusters']} | {row['chosen']} | {row['error'] or row['p_value']} |"
        for row in rows
    ]
    found = [row["chosen"] != "1" for row in rows if not row["error"]]
    assessed = [_has_groups(row) for row in rows if not row["error"]]
    end = f"Groups found by auto: {_write_share(found)}, by assess: {_write_share(assessed)}.\n"
    return head + "\n".join(lines) + "\n\n" + end


def _has_groups(row: Row) -> bool:
    """Tell whether the assessment found groups."""
    return float(row["p_value"]) <= ALPHA


def _describe_row(row: Row) -> str:
    """Describe a table."""
    return (
        f"{row['dataset']}, run {row['run']}: {row['n_samples']} × {row['n_features']}, "
        f"{float(row['missing']):.0%} missing, {row['n_clusters']} groups"
    )


def _write_share(flags: Sequence[bool]) -> str:
    """Write a share."""
    return f"{np.mean(flags):.1%}" if flags else "–"
