"""Series with missing values, and blocks of columns: what groups of columns are worth.

    python -m experiments series --data aeon-1.6.0-py3-none-any.whl --data pixels.csv.gz --jobs -1

Series with known classes lose values in four ways (see `datasets.series`). PCKID takes each time as
a column by itself, or the times of a variable as a group of columns; k-means takes them after
interpolation over time, or with the mean of the time. A wide block of columns beside a narrow one
shows what equal weights gain and cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from experiments import tables
from experiments.datasets.series import BLOCKS, SHARES, SIMULATED, list_blocks, list_series
from experiments.methods import find
from experiments.output import experiment, markdown
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks

GROUPED = "PCKID, groups"
PEERS = ("interpolation+kmeans", "column mean+kmeans")
METHODS = ("PCKID", GROUPED, "PCKID, equal groups", "PCKID, informative groups", *PEERS)
TCK = "TCK"
# Blocks of columns have no order to interpolate over.
METHODS_OF_BLOCKS = tuple(name for name in METHODS if name != "interpolation+kmeans")
_MARGIN = 0.01


def compare_on_series(
    data: Sequence[str] = (),
    out: str | Path = "results/series",
    *,
    half: str = "report",
    runs: int = 10,
    tck_runs: int = 0,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Compare the methods on a half of the series.

    Writes results.csv, series.md and series-cases.csv.

    Parameters
    ----------
    data : sequence of str
        Files with series, see `datasets.series.list_series`.
    out : path
        The folder for results. Called again with the same folder, it goes on where it stopped.
    half : {"report", "choose"}
    tck_runs : int
        How many of the runs TCK takes part in: it takes minutes for a table.
    runs, seed, jobs, device
        As in `plan_tasks` and `run_tasks`.
    parameters : mapping, default=None
        Overrides of the methods' parameters, for a quick look.
    say : callable (str)
        Hears where things are.
    """
    tasks, all_series = [], list_series(half, data)
    alone = [case for case in all_series if not case.dataset.endswith("terrain")]
    for cases, names, count in (
        (all_series, METHODS, runs),
        (list_blocks(), METHODS_OF_BLOCKS, runs),
        (alone, (TCK,), tck_runs),
    ):
        methods = [method.override(parameters or {}) for method in find(names)]
        tasks += plan_tasks(cases, methods, runs=count, seed=seed, device=device)
    tasks.sort(key=lambda task: task.run)
    rows = run_tasks(tasks, out, jobs=jobs, what="Series")
    path = Path(out) / "series.md"
    path.write_text(write_tables(rows), encoding="utf-8")
    series = [row for row in rows if row["dataset"] != BLOCKS and row["method"] != TCK]
    cases = tables.accuracy_table(series, "series", tables.case_name)
    path.with_name("series-cases.csv").write_text(tables.as_csv(cases), encoding="utf-8")
    say(f"wrote {path}")
    return rows


def write_tables(rows: Sequence[Row]) -> str:
    """Write means by set and share, losses, the comparison with TCK, and blocks, in Markdown."""
    series = [row for row in rows if row["dataset"] != BLOCKS and row["method"] != TCK]
    blocks = [row for row in rows if row["dataset"] == BLOCKS]
    parts = [
        tables.as_markdown(_by_set(series)),
        tables.as_markdown(_by_share(series)),
        _write_losses(series),
        *_compare_with_tck(rows),
        tables.as_markdown(tables.accuracy_table(blocks, "classes in", lambda case: case[1])),
    ]
    return "\n".join(parts)


def _by_set(rows: Sequence[Row]) -> tables.ResultTable:
    """Average over the settings of each set."""
    values = tables.by_dataset(rows, tables.collect(rows))
    names = list(dict.fromkeys(name for name, _ in tables.case_names(rows)))
    return _as_table("series", [*names, "mean"], np.vstack([values, values.mean(axis=0)]), rows)


def _by_share(rows: Sequence[Row]) -> tables.ResultTable:
    """Average over sets and ways to remove values, by share removed."""
    means, cases = tables.mean(tables.collect(rows)), tables.case_names(rows)
    wanted = {"nothing": "as is"} | {f"{share:.0%}": f" {share:.0%}" for share in SHARES}
    found = [
        means[[i for i, (_, setting) in enumerate(cases) if setting.endswith(end)]].mean(axis=0)
        for end in wanted.values()
    ]
    return _as_table("removed", list(wanted), np.stack(found), rows)


def _as_table(
    corner: str, names: list[str], values: Any, rows: Sequence[Row]
) -> tables.ResultTable:
    """Make a table of accuracies, the best of each row marked."""
    columns = tables.method_names(rows)
    best = tables.best_of_row(values, 3)
    return tables.ResultTable(corner, names, columns, values, (3,) * len(columns), best)


def _write_losses(rows: Sequence[Row]) -> str:
    """Count by set where a k-means is ahead of PCKID with groups by more than 0.01."""
    methods, cases = tables.method_names(rows), tables.case_names(rows)
    means = tables.mean(tables.collect(rows))
    own = means[:, methods.index(GROUPED)]
    peers = means[:, [methods.index(name) for name in PEERS]].max(axis=1)
    lost = peers > own + _MARGIN
    lines = []
    for name in dict.fromkeys(name for name, _ in cases):
        mine = np.array([i for i, case in enumerate(cases) if case[0] == name])
        worst = mine[np.argmax(peers[mine] - own[mine])]
        most = f"{cases[worst][1]}: {own[worst]:.3f}, {peers[worst]:.3f}" if lost[worst] else ""
        lines.append([name, len(mine), lost[mine].sum(), most])
    lines.append(["all", len(cases), lost.sum(), ""])
    titles = ["series", "cases", "k-means ahead", "most: groups, the better k-means"]
    return markdown(titles, lines)


def _compare_with_tck(rows: Sequence[Row]) -> list[str]:
    """Compare with TCK on the tables that it clustered, by set and, of VAR(1), by case."""
    tried = [row for row in rows if row["method"] == TCK]
    done = {(*tables.case_names([row]), row["run"]): row for row in tried if not row["error"]}
    if not done:
        return []
    methods = (TCK, GROUPED, *PEERS)
    same = [
        row
        for row in rows
        if row["method"] in methods and (*tables.case_names([row]), row["run"]) in done
    ]
    same.sort(key=lambda row: methods.index(row["method"]))
    seconds = [
        f"{name} {np.mean([float(row['seconds']) for row in same if row['method'] == name]):.1f} s"
        for name in (TCK, GROUPED)
    ]
    failed = len(tried) - len(done)
    simulated = [row for row in same if row["dataset"] in SIMULATED.values()]
    by_case = tables.accuracy_table(simulated, "VAR(1)", lambda case: case[1])
    return [
        tables.as_markdown(_by_set(same)),
        tables.as_markdown(by_case),
        f"TCK failed on {failed} of {len(tried)} tables. A table takes {', '.join(seconds)}.\n",
    ]


@click.option(
    "--data", multiple=True, type=click.Path(exists=True, dir_okay=False),
    help="A wheel of aeon or sktime, which ships series, or a table of pixels (.csv.gz) with dates "
    "in the names of its columns. May be repeated; without one, series are simulated.",
)  # fmt: skip
@click.option(
    "--tck-runs", type=click.IntRange(0), default=0, show_default=True,
    help="Runs that TCK takes part in, which takes minutes for a table; needs its package, tck.",
)  # fmt: skip
@click.option("--inits", "n_inits", type=click.IntRange(1), help="Q, to be quick.")
@experiment("series", "half", "seed", "jobs", runs=10)
def series_command(n_inits: int | None, half: str | None, **options: Any) -> None:
    """Compare PCKID with and without groups of columns with k-means on series that lose values."""
    parameters = {} if n_inits is None else {"n_inits": n_inits}
    compare_on_series(half=half or "report", **options, parameters=parameters, say=click.echo)
