"""Series in files: the lines of a long table become a table with a row for each case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from pckid.tables.table import FileTable, as_whole


class Visits(NamedTuple):
    """A long table that was read, and its cases."""

    lines: Prepared  # how the lines were read; with their cells only if they were to be kept
    series: SeriesTable
    cases: Prepared  # with one row for each case


def read_visits(
    table: OpenTable,
    options: ColumnOptions,
    keys: Mapping[str, Any],
    check: Callable[[Prepared], Any],
    *,
    keep_lines: bool = False,
) -> Visits:
    """Make one row of the lines of each case of a table in memory.

    Parameters
    ----------
    table : OpenTable
    options : ColumnOptions
    keys : mapping of str to object
        Parameters of `from_long`.
    check : callable
        Is given what was prepared of the lines, and raises if something must be decided first.
    keep_lines : bool, default=False
        Whether the lines stay in memory, to be written.
    """
    aside = [keys[key] for key in ("time", "variable") if keys.get(key)]
    others = replace(options, drop=(*options.drop, *aside), row_names=keys["case"])
    return _read(table, others, keys, check, None, None, keep_lines)


def read_new_visits(
    table: OpenTable,
    options: ColumnOptions,
    known: Known,
    form: SeriesFormat,
    check: Callable[[Prepared], Any],
    *,
    keep_lines: bool = False,
) -> Visits:
    """Make one row of the lines of each new case, as those of a model were made."""
    measured = [form.options["value"]] if "value" in form.options else form.variables
    texts = {name: known.categories[name] for name in form.static if name in known.categories}
    names = (*measured, *form.static)
    others = replace(options, row_names=form.options["case"])
    lines = Known(names, texts, known.units)
    return _read(table, others, form.options, check, lines, form, keep_lines)


def _read(
    table: OpenTable,
    options: ColumnOptions,
    keys: Mapping[str, Any],
    check: Callable[[Prepared], Any],
    known: Known | None,
    like: SeriesFormat | None,
    keep_lines: bool,
) -> Visits:
    """Read lines, and gather those of each case."""
    lines, times = _prepare_lines(table, options, keys["time"], known)
    check(lines)
    whole, texts = lines.rows_in_memory, set(lines.texts)
    frame = lines.frame
    for name in (keys["case"], keys.get("variable")):
        if name:
            frame = frame.append_column(name, _without_blanks(whole.data.column(name)))
    frame = frame.append_column(keys["time"], pa.array(times))
    if not keep_lines:
        # Before the table of cases takes its place.
        lines = replace(lines, table=replace(lines.table, whole=None), columns=None)
    series = from_long(frame, **keys, like=like)
    del frame
    return Visits(lines, series, _prepare_cases(lines, whole, series, texts))


def _prepare_lines(
    table: OpenTable, options: ColumnOptions, time: str, known: Known | None
) -> tuple[Prepared, Any]:
    """Read the columns of lines, with what is doubtful about their times, and the times."""
    said = any(choice.startswith(f"{time}=") for choice in options.dates)
    dates = options.dates if said else (*options.dates, f"{time}=use")
    alone = ColumnOptions(
        (time,), na_values=options.na_values, not_missing=options.not_missing,
        numbers=options.numbers, dates=dates, decimal=options.decimal,
        take_advice=options.take_advice,
    )  # fmt: skip
    found = prepare(table, options, known)
    when = prepare(found.table, alone)
    if when.table is not found.table:
        found = prepare(when.table, options, known)
    # The choices for the time hold for new lines, too.
    chosen = replace(found.options, dates=dates, numbers=when.options.numbers)
    problems = (*when.problems, *found.problems)
    return replace(found, options=chosen, problems=problems), _read_time(when, time)


def _read_time(prepared: Prepared, name: str) -> Any:
    """Give the times of all lines (n_lines,): numbers, dates, or texts that are neither."""
    if name in prepared.texts:
        return prepared.texts[name]
    days = prepared.X[:, 0]
    if prepared.readings[name].kind != "date":
        return days
    times = np.full(len(days), np.datetime64("NaT", "ms"))
    seen = ~np.isnan(days)
    times[seen] = np.round(days[seen] * 86_400_000).astype("M8[ms]")
    return times


def _without_blanks(column: Any) -> Any:
    """Make empty texts null."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)


def _prepare_cases(
    lines: Prepared, whole: FileTable, series: SeriesTable, texts: set[str]
) -> Prepared:
    """Prepare the table of cases; what is doubtful was found in the lines."""
    case = series.format.options["case"]
    columns = {case: pa.array(series.cases)}
    for name in series.frame.column_names:
        cells = series.frame[name]
        cells = cells if name in texts else pa.array(np.asarray(cells), from_pandas=True)
        columns[name] = as_whole(cells) if name in series.static else cells
    aside = {key: getattr(lines.options, key) for key in ("labels", "known", "weights")}
    for name in filter(None, aside.values()):
        cells = pa.table({name: _without_blanks(whole.data.column(name))})
        columns[name] = read_static(cells, name, series.rows, given=True)
    text = whole.text and whole.text._replace(decimal=".")
    cases = whole._replace(data=pa.table(columns), text=text)
    table = replace(lines.table, names=list(columns), whole=cases)
    categories = tuple(name for name in series.static if name in texts)
    names = tuple(series.frame.column_names)
    options = ColumnOptions(names, categorical=categories, row_names=case, **aside)
    return replace(prepare(table, options), notes=(), problems=lines.problems)
