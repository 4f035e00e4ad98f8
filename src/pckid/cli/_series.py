"""Long tables and groups of columns in the shell: what their options mean."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import click
import numpy as np

from pckid.cli._outputs import open_writer
from pckid.cli._say import say
from pckid.cluster import PCKID
from pckid.series.files import PreparedCases
from pckid.streaming import Layout, write_placed
from pckid.tables.options import CaseOptions, ColumnOptions
from pckid.tables.service import Prepared

_NEED_CASE = ("time", "variable", "value", "static", "from_first", "out_long")
_NOT_LONG = {"row_names": "id", "stream": "stream", "scheduler": "scheduler", "resume": "resume"}


def check_series(options: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    if not options["case"]:
        asked = [key for key in _NEED_CASE if options.get(key)]
        if asked or options["bins"] != "auto":
            name = (asked or ["bins"])[0].replace("_", "-")
            raise click.UsageError(f"--{name} is about lines of cases: add --case and --time.")
        return
    if not options["time"]:
        raise click.UsageError("--case needs --time, the column with the time of each line.")
    if bool(options["variable"]) != bool(options["value"]):
        raise click.UsageError("--variable and --value go together.")
    asked = [name for key, name in _NOT_LONG.items() if options.get(key)]
    if asked:
        raise click.UsageError(f"--{asked[0]} does not go with --case.")


def case_options(options: Mapping[str, Any]) -> CaseOptions | None:
    """Pick the options that say how lines make cases."""
    if not options["case"]:
        return None
    static = tuple(name.strip() for names in options["static"] for name in names.split(","))
    return CaseOptions(
        options["case"], options["time"], options["variable"], options["value"], static or None,
        _read_bins(options["bins"]), options["from_first"], bool(options.get("out_long")),
    )  # fmt: skip


def with_lines_kept(columns: ColumnOptions, options: Mapping[str, Any]) -> ColumnOptions:
    """Say whether new lines stay in memory, for a model of cases."""
    if options["out_long"] and columns.lines is None:
        raise click.UsageError("--out-long is about lines of cases, and the model has none.")
    lines = columns.lines and columns.lines._replace(keep=bool(options["out_long"]))
    return replace(columns, lines=lines)


def tell_series(prepared: Prepared) -> None:
    """Say how lines made cases."""
    if isinstance(prepared, PreparedCases):
        for sentence in prepared.series.notes:
            say(sentence)


def _read_bins(text: str) -> Any:
    """Read which times share a column."""
    if text in ("auto", "each"):
        return text
    edges = [edge.strip() for edge in text.split(",")]
    if len(edges) == 1:
        return int(text) if text.isdecimal() else text
    return edges


def find_column_groups(
    options: Mapping[str, Any], prepared: Prepared
) -> dict[str, list[str]] | None:
    """Find the columns of each group by patterns such as "ndvi=ndvi_*", beside those of series."""
    groups: dict[str, list[str]] = {}
    for each in options["groups"]:
        group, sign, pattern = each.partition("=")
        found = [name for name in prepared.names if fnmatchcase(name, pattern)]
        if not (group and sign and pattern):
            raise click.BadParameter(f"{each!r} is not NAME=PATTERN.", param_hint="--group")
        if not found:
            raise click.BadParameter(
                f"no column that is used is named as {pattern!r} says.", param_hint="--group"
            )
        groups[group] = [*groups.get(group, ()), *found]
    if groups and isinstance(prepared, PreparedCases):
        groups |= prepared.series.column_groups
    return groups or None


def write_lines(
    estimator: PCKID,
    prepared: Prepared,
    results: Sequence[np.ndarray],
    out: str,
    escape_formulas: bool,
) -> None:
    """Write all lines of a table of cases, each with what was found for its case."""
    if isinstance(prepared, PreparedCases):
        with open_writer(out, escape_formulas=escape_formulas) as writer:
            layout = Layout(tuple(prepared.lines.table.names))
            of_lines = tuple(result[prepared.series.rows] for result in results)
            write_placed(estimator, prepared.lines, of_lines, writer, layout)
