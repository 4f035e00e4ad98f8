"""Series in files: the lines of a prepared long table become a table with a row for each case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid.series.frames import read_static
from pckid.series.long import from_long
from pckid.series.table import SeriesFormat, SeriesTable
from pckid.tables.options import ColumnOptions
from pckid.tables.scanning import OpenTable
from pckid.tables.service import Known, Prepared, prepare
from pckid.tables.table import as_whole


class Lines(NamedTuple):
    """The lines of a long table in memory, and their times."""

    prepared: Prepared  # the variables, with what was found about the times, too
    times: Any  # (n_lines,) numbers, datetime64, or the cells as they are where they are neither


class Visits(NamedTuple):
    """A long table that was read, and its cases."""

    lines: Prepared
    series: SeriesTable
    cases: Prepared  # with one row for each case


def prepare_lines(
    table: OpenTable, options: ColumnOptions, keys: Mapping[str, Any], known: Known | None = None
) -> Lines:
    """Read the columns of a long table in memory.

    Parameters
    ----------
    table : OpenTable
    options : ColumnOptions
    keys : mapping of str to str
        The columns of the case, the time, and of the variable's name in a table of single values.
    known : Known, optional
        What a model knows of the variables and static columns.
    """
    time = keys["time"]
    aside = tuple(keys[key] for key in ("time", "variable") if keys.get(key))
    others = replace(options, drop=(*options.drop, *aside), row_names=keys["case"])
    said = any(choice.startswith(f"{time}=") for choice in options.dates)
    dates = options.dates if said else (*options.dates, f"{time}=use")
    alone = ColumnOptions(
        (time,), na_values=options.na_values, not_missing=options.not_missing,
        numbers=options.numbers, dates=dates, decimal=options.decimal,
        take_advice=options.take_advice,
    )  # fmt: skip
    found = prepare(table, others, known)
    when = prepare(found.table, alone)
    if when.table is not found.table:
        found = prepare(when.table, others, known)
    problems = (*when.problems, *found.problems)
    # The choices of the time hold for new lines, too.
    chosen = replace(found.options, dates=dates, numbers=when.options.numbers)
    return Lines(replace(found, options=chosen, problems=problems), _read_time(when, time))


def _read_time(prepared: Prepared, name: str) -> Any:
    """Give the times of all lines (n_lines,)."""
    if name in prepared.texts:
        return prepared.texts[name]
    days = prepared.X[:, 0]
    if prepared.readings[name].kind != "date":
        return days
    times = np.full(len(days), np.datetime64("NaT", "ms"))
    seen = ~np.isnan(days)
    times[seen] = np.round(days[seen] * 86_400_000).astype("M8[ms]")
    return times


def gather_cases(lines: Lines, keys: Mapping[str, Any], like: SeriesFormat | None = None) -> Visits:
    """Make one row of the lines of each case; parameters as for `from_long`."""
    prepared, data = lines.prepared, lines.prepared.rows_in_memory.data
    frame = prepared.frame
    for name in (keys["case"], keys.get("variable")):
        if name:
            frame = frame.append_column(name, _without_blanks(data.column(name)))
    frame = frame.append_column(keys["time"], pa.array(lines.times))
    series = from_long(frame, **keys, like=like)
    return Visits(prepared, series, _prepare_cases(prepared, series))


def _without_blanks(column: Any) -> Any:
    """Make empty texts null."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def _prepare_cases(lines: Prepared, series: SeriesTable) -> Prepared:
    """Prepare the table of cases; what is doubtful was found in the lines."""
    whole, case, known = lines.rows_in_memory, series.format.options["case"], lines.options.labels
    columns = {case: pa.array(series.cases)}
    for name in series.frame.column_names:
        cells = series.frame[name]
        cells = cells if name in lines.texts else pa.array(np.asarray(cells), from_pandas=True)
        columns[name] = as_whole(cells) if name in series.static else cells
    if known:
        columns[known] = read_static(whole.data, known, series.rows, given=True)
    text = whole.text and whole.text._replace(decimal=".")
    data = whole._replace(data=pa.table(columns), text=text)
    table = replace(lines.table, names=list(columns), whole=data)
    names = tuple(series.frame.column_names)
    texts = tuple(name for name in series.static if name in lines.texts)
    options = ColumnOptions(names, categorical=texts, row_names=case, labels=known)
    return replace(prepare(table, options), notes=(), problems=lines.problems)
