"""Long tables and groups of columns in the shell: what their options mean."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import click
import numpy as np

from pckid.cli import _words
from pckid.cli._outputs import open_writer
from pckid.cli._say import say
from pckid.cluster import PCKID
from pckid.series.files import Visits, read_new_visits, read_visits
from pckid.series.table import SeriesFormat
from pckid.streaming import Layout, write_placed
from pckid.tables.options import ColumnOptions
from pckid.tables.scanning import OpenTable
from pckid.tables.service import Known

_NEED_CASE = ("time", "variable", "value", "static", "from_first", "out_long")
_NOT_LONG = {"row_names": "id", "stream": "stream", "scheduler": "scheduler", "resume": "resume"}


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
    asked = [name for key, name in _NOT_LONG.items() if options[key]]
    if asked:
        raise click.UsageError(f"--{asked[0]} does not go with --case.")


def cluster_visits(table: OpenTable, columns: ColumnOptions, options: Mapping[str, Any]) -> Visits:
    """Make one row of the lines of each case of a table in memory, and say how."""
    keys = {key: options[key] for key in ("case", "time", "variable", "value") if options[key]}
    keys["static"] = [n.strip() for names in options["static"] for n in names.split(",")] or None
    keys |= {"bins": _read_bins(options["bins"]), "from_first": options["from_first"]}
    keep = bool(options["out_long"])
    return _tell(read_visits(table, columns, keys, _words.tell_prepared, keep_lines=keep))


def place_visits(
    table: OpenTable,
    columns: ColumnOptions,
    known: Known,
    form: SeriesFormat,
    options: Mapping[str, Any],
) -> Visits:
    """Make one row of the lines of each new case, and say how."""
    tell, keep = partial(_words.tell_prepared, settled=True), bool(options["out_long"])
    return _tell(read_new_visits(table, columns, known, form, tell, keep_lines=keep))


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
