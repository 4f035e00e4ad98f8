"""The last lines of `pckid cluster`: what to do next, and which questions are open."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from pckid._utils.commands import write_command
from pckid.cli._say import say
from pckid.cli._words import SHELL
from pckid.tables.findings import Problem, advice
from pckid.tables.options import ColumnOptions, ReadOptions, list_given
from pckid.wording import write_problems

# Options of columns that do not say how they are read.
_USE = (
    "columns", "drop", "categorical", "row_names", "labels", "known", "weights", "take_advice",
)  # fmt: skip

_MOST_REPEATED = 5


def tell_next(given: SimpleNamespace, n_clusters: int, in_batches: bool) -> None:
    """List what can be done with what was written; each command runs as it is printed.

    `n_clusters` are those that hold rows.
    """
    lines = []
    if given.report_path:
        url = Path(given.report_path).resolve().as_uri()
        lines.append(f"Open the report in a browser: {url}")
    if given.model_path:
        words = ["predict", given.model_path, "new.csv"]
        predict = write_command(words, {"out": "new-clusters.csv"})
        lines.append(f"Put new rows into these clusters: {predict}")
    if n_clusters == 1:
        lines.append("There is only one cluster; -k 2 or more divides its rows, groups or not.")
    elif not lines:
        memory = ", which needs the table in memory" if in_batches else ""
        memory += " (leave --stream out)" if in_batches and given.stream else ""
        lines.append(
            f"See what sets the clusters apart with --report FILE.html{memory}; put new rows into "
            "the clusters later with --save FILE.pckid."
        )
    for line in ("What next:", *(f"  {line}" for line in lines)):
        say(line)


def tell_open(
    source: str, reading: ReadOptions, columns: ColumnOptions, problems: Sequence[Problem]
) -> None:
    """Repeat the questions about the table that are open, the first few of many."""
    lines = write_problems(problems, SHELL)
    if not lines:
        return
    say(f"Open {'question' if len(lines) == 1 else 'questions'} about the table:")
    for line in lines[:_MOST_REPEATED]:
        say(f"  {line}")
    if len(lines) > _MOST_REPEATED:
        say(f"  and {len(lines) - _MOST_REPEATED} more, above.")
    if source != "-":
        say(f"{inspect_command(source, reading, columns)} tells more.")
    if advice(problems):
        say("Add --yes to take the advice.")


def inspect_command(source: str, reading: ReadOptions, columns: ColumnOptions) -> str:
    """Write the command that inspects a table, read in the same way."""
    given = list_given(reading, columns)
    return write_command(["inspect", source], {k: v for k, v in given.items() if k not in _USE})
