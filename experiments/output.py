"""What the experiments share: options, processes, figures of runs, and the files they write."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from experiments.progress import experiment_progress

Row = Mapping[str, Any]
Call = tuple[Callable[..., Any], tuple]


class Found(NamedTuple):
    """One figure of one run: whether something happened (0 or 1), or a share."""

    part: str
    setting: str
    run: int
    value: float


OPTIONS = {
    "folders": click.argument(
        "folders", nargs=-1, type=click.Path(exists=True, file_okay=False)
    ),
    "data": click.option(
        "--data", "folders", multiple=True, type=click.Path(exists=True, file_okay=False),
        help="Folder of labelled tables, as `compare` takes it. May be repeated.",
    ),
    "half": click.option(
        "--half", type=click.Choice(["choose", "report"]), help="One half of the benchmark."
    ),
    "seed": click.option("--seed", type=click.IntRange(0), default=0, show_default=True),
    "jobs": click.option(
        "--jobs", type=int, default=1, show_default=True, help="Processes; -1: one on each core."
    ),
}  # fmt: skip


def experiment(name: str, *shared: str, runs: int = 0, max_rows: int = 0) -> Callable[..., Any]:
    """Make a function a command: with `--out`, some of the `OPTIONS`, and these defaults."""
    options = [OPTIONS[each] for each in shared]
    for option, least, default in (("--runs", 1, runs), ("--max-rows", 10, max_rows)):
        if default:
            kind = click.IntRange(least)
            options.append(click.option(option, type=kind, default=default, show_default=True))
    out = click.Path(file_okay=False, path_type=Path)
    options.append(click.option("--out", type=out, default=f"results/{name}", show_default=True))

    def decorate(function: Callable[..., Any]) -> Any:
        for option in reversed(options):
            function = option(function)
        return click.command(name)(function)

    return decorate


def call_all(calls: Iterable[Call], jobs: int, what: str) -> list[Any]:
    """Call functions in processes of one thread each, with a bar; results in the order of calls.

    Warnings are ignored: tables are incomplete and clusters few on purpose.
    """
    from joblib import Parallel, delayed, parallel_config

    calls, found = list(calls), []
    with (
        parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1),
        experiment_progress(len(calls), what) as advance,
    ):
        tasks = (delayed(_call_silently)(function, given) for function, given in calls)
        for each in Parallel(return_as="generator", batch_size=1)(tasks):
            found.append(each)
            advance()
    return found


def _call_silently(function: Callable[..., Any], given: tuple) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given)


def write_found(out: Path, name: str, runs: Iterable[Sequence[Found]]) -> None:
    """Write the figures of all runs as NAME.csv, and their means as NAME.md."""
    found = [each for run in runs for each in run]
    write_both(out, name, [each._asdict() for each in found], mean_table(found))


def write_both(out: Path, name: str, rows: Sequence[Row], text: str) -> None:
    """Write rows as NAME.csv, a column for each name that any has, and a text as NAME.md."""
    write_text(out, name, text)
    fields = list(dict.fromkeys(field for row in rows for field in row))
    with open(out / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_text(out: Path, name: str, text: str) -> None:
    """Write and show a table as NAME.md."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    click.echo(text)


def mean_table(found: Sequence[Found]) -> str:
    """Tabulate the mean of each figure, with its standard error and the number of tables."""
    values: dict[tuple[str, str], list[float]] = {}
    for each in found:
        values.setdefault((each.part, each.setting), []).append(each.value)
    lines = []
    for names, mine in values.items():
        error = np.std(mine) / np.sqrt(len(mine))
        lines.append([*names, f"{np.mean(mine):.3f}", f"{error:.3f}", len(mine)])
    return markdown(["", "setting", "mean", "±", "tables"], lines)


def markdown(titles: Sequence[str], lines: Iterable[Sequence[Any]], rule: str = "---:") -> str:
    """Lay out a table in Markdown; `rule` aligns all columns but the first."""
    rows = [titles, ["---", *[rule] * (len(titles) - 1)], *lines]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)
