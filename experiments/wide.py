"""Wide tables: few rows, many columns, and few of them tell: `python -m experiments wide`.

    python -m experiments wide --cells scanpy-1.11.5-py3-none-any.whl --data DATA --jobs -1

Made tables, single cells, and tables of the benchmark with columns of noise added; PCKID with the
number of clusters given and chosen, beside imputation followed by k-means, components, mixtures, a
graph of neighbours and a choice of columns, and k-means on what is observed.

    python -m experiments wide --half clouds --method "PCKID, k chosen" --runs 8

In clouds without groups an index of 1 says that one cluster was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from experiments.datasets.wide import list_wide
from experiments.methods import find
from experiments.methods.wide import WIDE_METHODS, name_of
from experiments.output import experiment, markdown
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks

OWN, CHOSEN = "PCKID", "PCKID, k chosen"
METHODS = (OWN, CHOSEN, *(name_of(way) for way in WIDE_METHODS), "k-means observed")


def compare_on_wide_tables(
    half: str,
    cells: str | None,
    folders: Sequence[str],
    out: Path,
    *,
    methods: Sequence[str] = METHODS,
    only: Sequence[str] = (),
    runs: int = 10,
    seed: int = 0,
    jobs: int = 1,
    starts: int = 20,
) -> list[Row]:
    """Compare methods on the wide tables of a half; writes results.csv and wide.md.

    `starts` are those of k-means on what is observed, and `only` some of the settings.
    """
    cases = [case for case in list_wide(half, cells, folders) if not only or case.setting in only]
    found = [
        each if each.name == OWN else each.override({"kmeans_n_init": starts})
        for each in find(methods)
    ]
    rows = run_tasks(plan_tasks(cases, found, runs=runs, seed=seed), out, jobs=jobs, what="Wide")
    (out / "wide.md").write_text(write_table(rows), encoding="utf-8")
    return rows


def write_table(rows: Sequence[Row]) -> str:
    """Tabulate mean adjusted Rand indices by case and method."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    cases = list(dict.fromkeys((row["dataset"], row["setting"]) for row in rows))
    scores = {
        (row["dataset"], row["setting"], row["run"], row["method"]): _score(row) for row in rows
    }
    runs = list(dict.fromkeys(row["run"] for row in rows))
    values = np.array(
        [[[scores[*case, run, name] for name in names] for run in runs] for case in cases]
    )
    lines = []
    for case, each in zip(cases, values, strict=True):
        lines.append([f"{case[0]}: {case[1]}", *_cells(np.nanmean(each, axis=0))])
    lines.append(["mean", *_cells(np.nanmean(values, axis=(0, 1)))])
    return markdown(["adjusted Rand index", *names], lines)


def _score(row: Row) -> float:
    return float(row["ari"]) if row["ari"] else np.nan


def _cells(means: np.ndarray) -> list[str]:
    best = np.nanmax(np.round(means, 2))
    return [f"**{x:.2f}**" if np.round(x, 2) == best else f"{x:.2f}" for x in means]


@experiment("wide", "data", "seed", "jobs", runs=10)
@click.option("--half", type=click.Choice(["choose", "report", "clouds"]), default="report")
@click.option(
    "--cells",
    type=click.Path(exists=True, dir_okay=False),
    help="The wheel of scanpy, or 10x_pbmc68k_reduced.h5ad from it; needs h5py.",
)
@click.option("--method", "methods", multiple=True, metavar="NAME", help="These methods only.")
@click.option("--only", multiple=True, metavar="SETTING", help="These tables only.")
def wide_command(
    folders: Sequence[str],
    seed: int,
    jobs: int,
    runs: int,
    half: str,
    cells: str | None,
    methods: Sequence[str],
    only: Sequence[str],
    out: Path,
) -> None:
    """Compare methods on wide tables, of which few columns tell the groups apart.

    Writes results.csv and wide.md.
    """
    how = {"runs": runs, "seed": seed, "jobs": jobs, "only": only}
    compare_on_wide_tables(half, cells, folders, out, methods=methods or METHODS, **how)
    click.echo((out / "wide.md").read_text(encoding="utf-8"))
