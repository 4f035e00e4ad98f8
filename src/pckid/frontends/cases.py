"""Series in files: the lines of a long table become a table with a row for each case."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.table import FileTable, as_whole, name_row, null_where
from pckid.frontends.options import CaseOptions, ColumnOptions, Fix
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.repeated_ids import REPEATED_IDS
from pckid.frontends.questions.too_many_categories import TOO_MANY_CATEGORIES
from pckid.frontends.tables.choosing import ModelColumns
from pckid.frontends.tables.prepared import Prepared

if TYPE_CHECKING:
    from pckid.series.table import SeriesTable


def prepare_table(
    table: FileTable, options: ColumnOptions | None = None, known: ModelColumns | None = None
) -> Prepared:
    """Prepare a table as `prepare` does; where it has several lines for each case, its cases.

    The lines are in memory. Where something about them must be decided first, they themselves are
    what is prepared.
    """
    options = options or ColumnOptions()
    lines = options.lines
    if lines is None:
        return prepare(table, options, known)
    said = dict(choice.rpartition("=")[::2] for choice in options.dates)
    if said.get(lines.time, "leave-out") == "leave-out":
        options = replace(options, dates=(*options.dates, f"{lines.time}=use"))
    options = replace(options, row_names=lines.case)
    of_lines = known
    if known is not None:
        form = known.form
        measured = [form.options["value"]] if "value" in form.options else form.variables
        texts = {name: each for name, each in known.categories.items() if name in form.static}
        of_lines = ModelColumns((*measured, *form.static), texts, known.units)
    found = prepare(table, options, of_lines)
    # Texts that change within cases are no categories, however many they are.
    if any(doubt.stops and doubt.code != TOO_MANY_CATEGORIES.code for doubt in found.doubts):
        return found
    return _gather_cases(found, lines, known and known.form)


def prepare_advised(
    table: FileTable, options: ColumnOptions, *, can_group: bool = True
) -> Prepared:
    """Prepare a table with all advice taken, and its lines made cases if a column is named so.

    Time counts from a case's first line where that leaves less than half of the cells missing.
    Raises if nothing is left to cluster by.
    """
    options = replace(options, take_advice=True)
    found = prepare_table(table, options)
    doubt = next((each for each in found.doubts if each.code == REPEATED_IDS.code), None)
    can_group = can_group and doubt is not None and doubt.data["is_named"]
    has_kinds = options.ordinal or any(options.of_kinds.values())
    if doubt is None or not can_group or options.lines or has_kinds:
        return found
    variable, value = (doubt.data.get(key) for key in ("variable", "value"))
    lines = CaseOptions(doubt.column, doubt.data["time"], variable, value)
    by_share: dict[float, tuple[CaseOptions, Prepared]] = {}
    for first in (False, True):
        with suppress(ValueError):
            tried = replace(lines, from_first=first)
            cases = prepare_table(table, replace(options, lines=tried))
            if not cases.stops:
                # Of equal shares, that of the times as they are.
                by_share.setdefault(float(np.isnan(cases.X).mean()) * (1 + first), (tried, cases))
    if not by_share:
        return found
    chosen, cases = by_share[min(by_share)]
    taken = Fact("advice_taken", {"fixes": [Fix("lines", chosen)]})
    return replace(cases, notes=(taken, *cases.notes))


def _gather_cases(lines: Prepared, options: CaseOptions, like: Any) -> Prepared:
    """Make one row of the lines of each case, with the columns of `like`, a SeriesFormat, if given.

    What is doubtful was found in the lines.
    """
    from pckid.series.long import from_long  # Other tables do without, and without scikit-learn.
    from pckid.series.times import LineError, as_dates

    whole, texts = lines.table, set(lines.texts)
    written, frame = lines.readings[options.time], lines.frame
    if written.kind == "date":
        days = pa.array(as_dates(lines.X[:, -1]))
        frame = frame.set_column(len(lines.names) - 1, options.time, days)
    for name in filter(None, (options.case, options.variable)):
        frame = frame.append_column(name, _without_blanks(whole.data.column(name)))
    if not options.keep:
        # Before the table of cases takes their place.
        table = replace(lines.table, data=lines.table.data.slice(0, 0))
        lines = replace(lines, table=table, X=lines.X[:0].copy(), texts={})
    keys = {key: value for key, value in vars(options).items() if key != "keep"}
    keys["static"] = options.static or None
    aside = {key: getattr(lines.options, key) for key in ("labels", "known", "weights")}
    try:
        series = from_long(frame, **keys, like=like)
        del frame
        cells, slips = _case_columns(series, whole, texts, list(filter(None, aside.values())))
    except LineError as error:
        told = error.write(lambda row: name_row(whole.parts, row + 1))
        raise ValueError(told) from None
    layout = written.date.layout if written.date else ""
    if " or " in layout:
        slips.append(f"Dates in {options.time} are written {layout}: all were read.")
    series = replace(series, notes=series.notes + slips)
    # Its cells are numbers, whatever the file of the lines is.
    table = replace(lines.table, text=None, data=pa.table(cells))
    categories = tuple(name for name in series.static if name in texts)
    names = tuple(series.frame.column_names)
    found = prepare(table, ColumnOptions(names, (), categories, row_names=options.case, **aside))
    doubts = tuple(
        doubt
        for doubt in lines.doubts
        if doubt.code != TOO_MANY_CATEGORIES.code or doubt.column in series.static
    )
    return replace(found, notes=lines.notes, doubts=doubts, series=series, lines=lines)


def _case_columns(
    series: SeriesTable, whole: FileTable, texts: set[str], aside: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """List the columns of the table of cases, with those set aside, and notes on these."""
    from pckid.series.columns import as_lines, read_static

    notes: list[str] = []
    columns = {series.format.options["case"]: pa.array(series.cases)}
    for name in series.frame.column_names:
        cells = series.frame[name]
        cells = cells if name in texts else pa.array(np.asarray(cells), from_pandas=True)
        columns[name] = as_whole(cells) if name in series.static else cells
    for name in aside:
        one = pa.table({name: _without_blanks(whole.data.column(name))})
        column = read_static(as_lines(one), name, series.rows, given=True)
        columns[name] = column and column.values
        notes += column.describe(name) if column else []
    return columns, notes


def _without_blanks(column: Any) -> Any:
    """Make empty texts null."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    return null_where(pc.equal(column, ""), column)
