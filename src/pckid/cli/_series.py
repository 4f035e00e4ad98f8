"""Long tables and groups of columns in the shell: what their options mean."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import click

from pckid._utils.commands import as_argument
from pckid.cli._outputs import open_writer
from pckid.runs import Clustering
from pckid.streaming import Layout
from pckid.tables.options import CaseOptions
from pckid.tables.prepared import Prepared

_NEED_CASE = ("time", "variable", "value", "static", "from_first", "out_long")
_NOT_LONG = ("row_names", "stream", "scheduler", "resume")


def case_options(given: SimpleNamespace) -> CaseOptions | None:
    """Pick the options that say how lines make cases; refuse those that do not go together."""
    if not given.case:
        asked = [key for key in _NEED_CASE if getattr(given, key, None)]
        if asked or given.bins != "auto":
            name = as_argument((asked or ["bins"])[0])
            raise click.UsageError(f"{name} is about lines of cases: add --case and --time.")
        return None
    if not given.time:
        raise click.UsageError("--case needs --time, the column with the time of each line.")
    if bool(given.variable) != bool(given.value):
        raise click.UsageError("--variable and --value go together.")
    for key in _NOT_LONG:
        if getattr(given, key, None):
            raise click.UsageError(f"{as_argument(key)} does not go with --case.")
    static = tuple(name.strip() for names in given.static for name in names.split(","))
    bins: Any = [edge.strip() for edge in given.bins.split(",")]
    if len(bins) == 1:
        bins = int(given.bins) if given.bins.isdecimal() else given.bins
    return CaseOptions(
        given.case, given.time, given.variable, given.value, static or None, bins,
        given.from_first, bool(getattr(given, "out_long", None)),
    )  # fmt: skip


def find_column_groups(asked: Sequence[str], prepared: Prepared) -> dict[str, list[str]] | None:
    """Find the columns of each group by patterns such as "ndvi=ndvi_*", beside those of series."""
    groups: dict[str, list[str]] = {}
    for each in asked:
        group, sign, pattern = each.partition("=")
        found = [name for name in prepared.names if fnmatchcase(name, pattern)]
        if not (group and sign and pattern):
            raise click.BadParameter(f"{each!r} is not NAME=PATTERN.", param_hint="--group")
        if not found:
            raise click.BadParameter(
                f"no column that is used is named as {pattern!r} says.", param_hint="--group"
            )
        groups[group] = [*groups.get(group, ()), *found]
    if groups and prepared.series is not None:
        groups |= prepared.series.column_groups
    return groups or None


def write_lines(found: Clustering, out: str, escape_formulas: bool) -> None:
    """Write all lines of a table of cases, each with what was found for its case."""
    cases = found.prepared
    if cases.lines is not None:
        with open_writer(out, escape_formulas=escape_formulas) as writer:
            results = tuple(result[cases.series.rows] for result in found.results)
            lines = replace(found, prepared=cases.lines, results=results)
            lines.write(writer, Layout(cases.lines.table.own_names))
