"""How often each answer is given: groups with gaps, structure without gaps, no clear groups.

    python -m experiments answers --runs 24 --jobs -1

Tables without groups of fifteen shapes, tables with groups in eight families of columns, tables
with groups beside columns that tell nothing of them, and latent classes; with folders, labelled
tables instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from experiments.compare import find_cases
from experiments.datasets import simulated
from experiments.datasets.shapes import (
    COINS,
    MISSING,
    SHAPES,
    draw_groups,
    draw_latent_classes,
    draw_shape,
    remove,
)
from experiments.datasets.tables import NOT_FEATURES
from experiments.output import Call, call_all, experiment, markdown, write_both

N_ROWS = (60, 250, 1200, 5000)
DISTANCES = (3, 4, 6, 8, 12)
ANSWERS = ("groups", "structure", "none", "unknown")

Row = dict[str, Any]


def fit_and_assess(X: NDArray, seed: int, categorical: Sequence[int] = ()) -> tuple[Any, Any]:
    """Fit with n_clusters="auto" and assess without resamples; returns model and verdict."""
    from pckid import PCKID, assess

    model = PCKID("auto", random_state=seed, categorical_features=categorical, n_jobs=1).fit(X)
    return model, assess(model, X, n_resamples=0, n_jobs=1)


def judge(X: NDArray, categorical: NDArray, y: NDArray | None, seed: int) -> Row:
    """Fit with n_clusters="auto", assess, and compare with the groups, if there are any."""
    model, found = fit_and_assess(X, seed, np.flatnonzero(categorical))
    row = {"answer": str(found.answer), "chosen": model.n_clusters_, "gaps": found.n_separated}
    row |= {"p_value": found.p_value, "ignored": len(model.choice_.ignored)}
    if y is not None:
        rows = model.labels_ >= 0
        row["right"] = int(model.n_clusters_ == len(np.unique(y)))
        row["ari"] = adjusted_rand_score(y[rows], model.labels_[rows])
    return row


def judge_shape(shape: str, n_rows: int, run: int, seed: int) -> Row:
    """Judge a table without groups."""
    rng = np.random.default_rng([seed, 1, SHAPES.index(shape), n_rows, run])
    how = MISSING[run % len(MISSING)]
    X = remove(draw_shape(shape, n_rows, rng), how, rng)
    none = np.zeros(X.shape[1], dtype=bool)
    return {"kind": "shape", "name": shape, "rows": n_rows, "how": how, **judge(X, none, None, run)}


def judge_family(family: str, n_rows: int, run: int, seed: int) -> Row:
    """Judge a table with 2 to 8 groups in a family of columns."""
    rng = np.random.default_rng([seed, 2, simulated.FAMILIES.index(family), n_rows, run])
    n_groups = int(rng.integers(2, min(9, n_rows // 15)))
    X, y = simulated.draw_with_groups(family, n_groups, rng, (n_rows, n_rows))
    none = np.zeros(X.shape[1], dtype=bool)
    return {"kind": "groups", "name": family, "rows": n_rows, **judge(X, none, y, run)}


def judge_coins(coins: str, n_columns: int, distance: int, n_rows: int, run: int, seed: int) -> Row:
    """Judge a table with groups and columns that tell nothing of them."""
    rng = np.random.default_rng([seed, 3, n_columns, distance, n_rows, run])
    X, categorical, y = draw_groups(n_rows, n_columns, distance, coins, rng)
    found = judge(X, categorical, y, run)
    return {"kind": "coins", "name": coins, "rows": n_rows, "distance": distance, **found}


def judge_classes(n_rows: int, run: int, seed: int) -> Row:
    """Judge a table of latent classes in columns of 0 and 1."""
    X, y = draw_latent_classes(n_rows, np.random.default_rng([seed, 4, n_rows, run]))
    found = judge(X, np.zeros(6, dtype=bool), y, run)
    return {"kind": "classes", "name": "latent classes", "rows": n_rows, **found}


def plan(
    runs: int, seed: int, only: str | None = None, sizes: Sequence[int] = N_ROWS[:3]
) -> list[Call]:
    """List what is to be judged; tables of 5,000 rows in every second run.

    `only` is one of the shapes, of which tables of `sizes` rows are judged, "families": tables with
    groups, or "close": groups 3 standard deviations apart beside coins.
    """
    tasks: list[Call] = []
    for run in range(runs):
        if only == "close":
            tasks += _plan_coins(run, seed, DISTANCES[:1])
        elif only in SHAPES:
            tasks += [(judge_shape, (only, n_rows, run, seed)) for n_rows in sizes]
        if only in (None, "families"):
            for n_rows in (120, 600):
                tasks += [(judge_family, (name, n_rows, run, seed)) for name in simulated.FAMILIES]
        if only:
            continue
        for n_rows in N_ROWS:
            if n_rows < 5000 or run % 2 == 0:
                tasks += [(judge_shape, (shape, n_rows, run, seed)) for shape in SHAPES]
        tasks += [(judge_classes, (n_rows, run, seed)) for n_rows in (300, 1000)]
        if run % 3 == 0:
            tasks += _plan_coins(run, seed, DISTANCES)
    return tasks


def _plan_coins(run: int, seed: int, distances: Sequence[int]) -> list[Call]:
    """List tables with groups beside columns that tell nothing of them."""
    return [
        (judge_coins, (coins, n_columns, distance, n_rows, run, seed))
        for coins in COINS
        for n_columns in (4, 8)
        for distance in distances
        for n_rows in (300, 1000)
    ]


def judge_case(case: Any, number: int) -> Row:
    """Judge a labelled table."""
    X, y = case.draw(number)
    found = judge(np.asarray(X, float), np.zeros(X.shape[1], dtype=bool), np.asarray(y), 0)
    return {"kind": "table", "name": case.dataset, "how": case.setting, "rows": len(X), **found}


def by_shape(rows: Sequence[Row]) -> str:
    """Tabulate, for tables without groups, the shares of structure and of groups with gaps."""
    lines = []
    for shape in (*SHAPES, "all"):
        parts = [
            _some(rows, "shape", rows=n_rows, name=None if shape == "all" else shape)
            for n_rows in N_ROWS
        ]
        cells = [
            f"{_share(part, 'structure', 'groups')} / {_share(part, 'groups')}" for part in parts
        ]
        lines.append([shape, *cells])
    return markdown(["without groups", *(f"{n:,} rows" for n in N_ROWS)], lines)


def by_group(rows: Sequence[Row]) -> str:
    """Tabulate, for tables with groups, the shares of both answers, of right k, and the ARI."""
    kinds = ("groups", "classes")
    found = [(row["kind"], row["name"], row["rows"]) for row in rows if row["kind"] in kinds]
    found = [*dict.fromkeys(found), ("groups", None, 120), ("groups", None, 600)]
    lines = []
    for kind, name, n_rows in found:
        part = _some(rows, kind, rows=n_rows, name=name)
        answers = _share(part, "structure", "groups"), _share(part, "groups")
        right = f"{_mean(part, 'right'):.0%}", f"{_mean(part, 'ari'):.3f}"
        lines.append([name or "all families", n_rows, *answers, *right])
    titles = ["with groups", "rows", "structure or groups", "groups with gaps", "right k", "ARI"]
    return markdown(titles, lines)


def by_coin(rows: Sequence[Row]) -> str:
    """Tabulate right k and ARI by how far groups are apart, and which columns stand beside them."""
    lines = []
    for coins in COINS:
        parts = [_some(rows, "coins", distance=each, name=coins) for each in (*DISTANCES, None)]
        cells = [f"{_mean(part, 'right'):.0%} / {_mean(part, 'ari'):.3f}" for part in parts]
        lines.append([coins, *cells])
    return markdown(["beside the groups", *(f"{d} sd" for d in DISTANCES), "all"], lines)


def by_answer(rows: Sequence[Row]) -> str:
    """Tabulate how often each answer is given, and how far clusters agree with classes there."""
    parts = {name: [row for row in rows if row["answer"] == name] for name in ANSWERS}
    lines = [[name, len(part), f"{_mean(part, 'ari'):.3f}"] for name, part in parts.items() if part]
    return markdown(["answer", "cases", "ARI"], lines)


def _some(found: Sequence[Row], kind: str, **wanted: Any) -> list[Row]:
    """Select rows of a kind; None wants any."""
    return [
        row
        for row in found
        if row["kind"] == kind
        and all(value is None or row[name] == value for name, value in wanted.items())
    ]


def _share(rows: Sequence[Row], *answers: str) -> str:
    """Write the share of some answers."""
    return f"{np.mean([row['answer'] in answers for row in rows]):.0%}" if rows else "–"


def _mean(rows: Sequence[Row], field: str) -> float:
    """Average a field; NaN where there is no row."""
    return float(np.mean([row[field] for row in rows])) if rows else float("nan")


@click.option("--only", type=click.Choice([*SHAPES, "families", "close"]), help="A part.")
@click.option(
    "--rows",
    "sizes",
    type=click.Choice([str(n) for n in N_ROWS]),
    multiple=True,
    help="Sizes of the tables of one shape.  [default: all but the largest]",
)
@experiment("answers", "folders", "half", "seed", "jobs", runs=24)
def answers_command(
    folders: Sequence[str],
    half: str | None,
    only: str | None,
    sizes: Sequence[str],
    runs: int,
    seed: int,
    jobs: int,
    out: Path,
) -> None:
    """Count answers on simulated tables, or on the labelled tables of FOLDERS.

    Writes answers.csv and answers.md.
    """
    calls = plan(runs, seed, only, [*map(int, sizes)] or N_ROWS[:3])
    if folders:
        cases = find_cases(folders, half, NOT_FEATURES, 1000, click.echo)
        calls = [(judge_case, (case, number)) for number, case in enumerate(cases)]
    rows = call_all(calls, jobs, "Judging")
    parts = {"shape": by_shape, "groups": by_group, "coins": by_coin, "table": by_answer}
    found = [tabulate(rows) for kind, tabulate in parts.items() if _some(rows, kind)]
    write_both(out, "answers", rows, "\n".join(found))
