"""Rows that may be lines of cases: a column of ids that repeat, with a time in every row."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid._utils.text import brief
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import CaseOptions, Fix
from pckid.frontends.questions.case_and_time import find_case_and_time
from pckid.frontends.questions.names import CASES, IDS, TIMES, split_name
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out
from pckid.frontends.tables.kinds import Reading
from pckid.frontends.tables.numbers import try_numbers

# Of the lines that hold one value each, so many are of another case, time or variable.
_DISTINCT = 0.9


class RepeatedIds(Question):
    """Are rows lines of cases?"""

    code = "repeated ids"
    evidence = (
        "{column} holds {n_distinct} different values in {n_observed} rows, each with another "
        "{time!q} in every row: rows may be lines of cases, one after the other in time."
    )
    advice = "If so, {lines} gives each {name!q} one label. {say[together]}"
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns by which rows may be lines of cases, each with a time of its own.

        Dates, which are left out otherwise, are read for that.
        """
        if seen.is_settled or seen.options.row_names:
            return
        readings, table = seen.readings, seen.table
        kinds = {name: reading.kind for name, reading in readings.items()}
        dated = {name: kinds[name] == "date" and not readings[name].doubt for name in kinds}
        numbers = {name: seen.values(name) for name in seen.columns.readings}
        for name in (name for name in kinds if dated[name] and name not in numbers):
            found = try_numbers(table, name, seen.rules.missing, readings[name].form)
            if isinstance(found, np.ndarray):
                numbers[name] = found
        measured = {n: x for n, x in numbers.items() if dated[n] or kinds[n] == "number"}
        named = {n for n in numbers if not TIMES.isdisjoint(split_name(n))}
        # Species by sites are a full table as well: that a number is a time, its name says.
        times = {n: x for n, x in measured.items() if dated[n] or n in named}
        aged = {n: x for n, x in measured.items() if "age" in split_name(n)}
        whole = {n: x for n, x in measured.items() if not dated[n] and np.all(x == np.round(x))}
        cases = {n: x for n, x in numbers.items() if kinds[n] == "category"} | whole
        cases = {n: x for n, x in cases.items() if n not in named}
        lines, more = None, dict[str, str]()
        for some in (times, aged):
            lines = lines or find_case_and_time(cases, some, dated)
        # Where each line holds one value, the lines of one variable are looked at.
        for name in [name for name in cases if kinds[name] == "category"] if lines is None else ():
            first = numbers[name] == 0
            found_there = find_case_and_time(
                {n: x[first] for n, x in cases.items() if n != name},
                {n: x[first] for n, x in times.items()}, dated,
            )  # fmt: skip
            if found_there is not None:
                more = _find_variable(table, found_there.case, found_there.time, readings)
                lines = found_there if more else None
                break
        places = seen.first("places")
        if places and lines and {lines.case, lines.time} <= {*places.data["columns"]}:
            return
        if lines is not None:
            data = {"n_distinct": lines.n_cases, "n_observed": len(seen.columns.X)}
            data["is_named"] = not (CASES | IDS).isdisjoint(split_name(lines.case))
            yield self.doubt(lines.case, data | {"time": lines.time, **more})

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write the options that name the columns of cases."""
        keys = [key for key in ("time", "variable", "value") if key in doubt.data]
        named = {"case": doubt.column, **{key: doubt.data[key] for key in keys}}
        return {"lines": words.lines(named)}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to make cases of the lines, or to leave the ids out."""
        name, data = doubt.column, doubt.data
        more = [data[key] for key in ("variable", "value") if key in data]
        lines = Fix("lines", CaseOptions(name, data["time"], *more), name)
        label = f"Group by {brief(name, 20)} over {brief(data['time'], 20)}"
        return [(label, (lines,)), leave_out(name, f"Leave {brief(name, 20)} out")]


def _find_variable(
    table: FileTable, case: str, time: str, readings: Mapping[str, Reading]
) -> dict[str, str]:
    """Find the columns of variable and value, where each line of a table holds a single value.

    The other columns hold numbers, and categories: lines of a case and a time differ in the first
    one, which any others, such as units, follow.
    """
    kinds = {name: each.kind for name, each in readings.items() if name not in (case, time)}
    variable, *others = [n for n, kind in kinds.items() if kind == "category"] or [""]
    values = [name for name, kind in kinds.items() if kind == "number"]
    if not variable or len(values) != 1:
        return {}
    data = table.data
    n_variables, n_with_others, n_times, n_lines = (
        data.group_by(names).aggregate([]).num_rows
        for names in ([variable], [variable, *others], [case, time], [case, time, variable])
    )
    is_long = n_lines >= _DISTINCT * data.num_rows and n_times < _DISTINCT * n_lines
    is_long = is_long and n_with_others == n_variables
    return {"variable": variable, "value": values[0]} if is_long else {}


REPEATED_IDS = RepeatedIds()
