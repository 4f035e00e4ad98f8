"""The last lines of `pckid cluster`: what to do next, and which questions are open."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pckid._utils.commands import write_command
from pckid._utils.text import counted
from pckid.cli._say import say
from pckid.cli._words import SHELL
from pckid.tables.findings import Problem, advice
from pckid.tables.writing import table_format
from pckid.wording import write_problems

_READERS = {
    "csv": "read_csv", "tsv": "read_csv", "xlsx": "read_excel", "parquet": "read_parquet",
    "arrow": "read_feather",
}  # fmt: skip
_READING = (
    "sheet", "skip_first", "delimiter", "decimal", "encoding", "max_unpacked", "no_header",
    "visible_only", "units_row", "na_values", "not_missing", "limits", "numbers", "dates",
    "skip_last", "case", "time", "variable", "value", "static", "bins", "from_first",
)  # fmt: skip


def tell_next(
    out: str | None,
    report_path: str | None,
    model_path: str | None,
    delimiter: str,
    n_clusters: int,
    *,
    streamed: bool | None = None,
) -> None:
    """List what can be done with what was written; each command runs as it is printed.

    `delimiter` is that of the table that was read, which a CSV file keeps, `n_clusters` those that
    hold rows. `streamed` says whether the table was read in batches because --stream or the like
    asked for it, or of itself; by default it was read whole, as a report needs it.
    """
    lines = []
    if report_path:
        lines.append(f"Open the report in a browser: {Path(report_path).resolve().as_uri()}")
    if model_path:
        predict = write_command(["predict", model_path, "new.csv"], {"out": "new-clusters.csv"})
        lines.append(f"Put new rows into these clusters: {predict}")
    if out not in (None, "-"):
        lines.append(f"Load the clusters in Python: {python_line(out, delimiter)}")
    if n_clusters == 1:
        lines.append("All rows are in one cluster; -k 2 or more divides them, groups or not.")
    elif not report_path and not model_path:
        report = "See what sets the clusters apart with --report FILE.html"
        if streamed is not None:
            report += ", which needs the table in memory"
        report += " (leave --stream out)" if streamed else ""
        lines.append(f"{report}; put new rows into the clusters later with --save FILE.pckid.")
    for line in ("What next:", *(f"  {line}" for line in lines)):
        say(line)


def python_line(out: str, delimiter: str) -> str:
    """Write the line of Python that loads the clusters from a table that was written."""
    kind, _ = table_format(out)
    sign = {"csv": delimiter, "tsv": "\t"}.get(kind, ",")
    options = "" if sign == "," else f", sep={sign!r}"
    # The reader that comes with pckid[excel], as the writer does.
    options += ", engine='calamine'" if kind == "xlsx" else ""
    return f"import pandas; pandas.{_READERS[kind]}({out!r}{options})['cluster']"


def tell_open(source: str, options: Mapping[str, Any], problems: Sequence[Problem]) -> None:
    """Say how many questions about the table are open, and where to read them."""
    n_open = len(write_problems(problems, SHELL))
    if not n_open:
        return
    many, them = counted(n_open, "question"), "it" if n_open == 1 else "them"
    where = "" if source == "-" else f" {inspect_command(source, options)} tells more."
    taken = " Add --yes to take the advice." if advice(problems) else ""
    say(
        f"{many} about the table {'is' if n_open == 1 else 'are'} open; see {them} above, after "
        f"'Note:'.{where}{taken}"
    )


def inspect_command(source: str, options: Mapping[str, Any]) -> str:
    """Write the command that inspects a table, read in the same way."""
    return write_command(["inspect", source], reading_given(options))


def reading_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the options that say how a table is read."""
    given = {key: options.get(key) for key in _READING}
    # Of lines above the table, 0 says that there are none; below it, that is the default.
    bins = None if given["bins"] == "auto" else given["bins"]
    return given | {"skip_last": given["skip_last"] or None, "bins": bins}
