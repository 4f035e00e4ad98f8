"""Long tables and groups of columns in the shell: what their options mean."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import click
import numpy as np

from pckid.cli import _words
from pckid.cli._outputs import open_writer
from pckid.cli._say import say
from pckid.cluster import PCKID
from pckid.series.files import Visits, gather_cases, prepare_lines
from pckid.series.table import SeriesFormat
from pckid.streaming import Layout, write_placed
from pckid.tables.options import ColumnOptions
from pckid.tables.scanning import OpenTable
from pckid.tables.service import Known

_NEED_CASE = ("time", "variable", "value", "static", "from_first", "out_long")
_NOT_LONG = ("weights", "stream", "scheduler", "resume")


def check_series(options: Mapping[str, Any]) -> None:
    """Refuse options that do not go together."""
    if not options["case"]:
        asked = [key for key in _NEED_CASE if options[key]]
        if asked or options["bins"] != "auto":
            name = (asked or ["bins"])[0].replace("_", "-")
            raise click.UsageError(f"--{name} is about lines of cases: add --case and --time.")
        return
    if not options["time"]:
        raise click.UsageError("--case needs --time, the column with the time of each line.")
    if bool(options["variable"]) != bool(options["value"]):
        raise click.UsageError("--variable and --value go together.")
    asked = [key for key in _NOT_LONG if options[key]]
    if asked:
        raise click.UsageError(f"--{asked[0]} does not go with --case.")


def read_visits(table: OpenTable, columns: ColumnOptions, options: Mapping[str, Any]) -> Visits:
    """Make one row of the lines of each case of a table in memory, and say how."""
    keys = {key: options[key] for key in ("case", "time", "variable", "value") if options[key]}
    lines = prepare_lines(table, columns, keys)
    _words.tell_prepared(lines.prepared)
    static = [name.strip() for names in options["static"] for name in names.split(",")] or None
    more = {"static": static, "bins": _read_bins(options["bins"])}
    return _tell(gather_cases(lines, {**keys, **more, "from_first": options["from_first"]}))


def read_new_visits(
    table: OpenTable, columns: ColumnOptions, known: Known, form: SeriesFormat
) -> Visits:
    """Make one row of the lines of each new case, as those of a model were made."""
    texts = {name: known.categories[name] for name in form.static if name in known.categories}
    measured = () if "value" not in form.options else (form.options["value"],)
    names = (*(measured or form.variables), *form.static)
    lines = prepare_lines(table, columns, form.options, Known(names, texts, known.units))
    _words.tell_prepared(lines.prepared, settled=True)
    return _tell(gather_cases(lines, form.options, form))


def _tell(visits: Visits) -> Visits:
    """Say how series were made."""
    for sentence in visits.series.notes:
        say(sentence)
    return visits


def _read_bins(text: str) -> Any:
    """Read which times share a column."""
    if text in ("auto", "each"):
        return text
    edges = [edge.strip() for edge in text.split(",")]
    if len(edges) == 1:
        return int(text) if text.isdecimal() else text
    return [float(edge) if edge.lstrip("-") == "inf" else edge for edge in edges]


def match_groups(patterns: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """Find the columns of each group by patterns such as "ndvi=ndvi_*"."""
    groups: dict[str, list[str]] = {}
    for each in patterns:
        group, sign, pattern = each.partition("=")
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not (group and sign and pattern):
            raise click.BadParameter(f"{each!r} is not NAME=PATTERN.", param_hint="--group")
        if not found:
            raise click.BadParameter(
                f"no column that is used is named as {pattern!r} says.", param_hint="--group"
            )
        groups[group] = [*groups.get(group, ()), *found]
    return groups


def write_lines(
    estimator: PCKID,
    visits: Visits,
    results: Sequence[np.ndarray],
    out: str,
    escape_formulas: bool,
) -> None:
    """Write all lines of a long table, each with what was found for its case."""
    with open_writer(out, escape_formulas=escape_formulas) as writer:
        layout = Layout(tuple(visits.lines.table.names))
        of_lines = tuple(result[visits.series.rows] for result in results)
        write_placed(estimator, visits.lines, of_lines, writer, layout)
