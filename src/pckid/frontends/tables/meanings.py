"""What the cells of a column tell: names of the rows, free text, the cases and times of lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pckid.frontends.tables.findings import Doubt
from pckid.frontends.tables.numbers import MissingTokens, try_numbers

if TYPE_CHECKING:
    from pckid.frontends.tables.kinds import Columns, Reading
    from pckid.frontends.tables.table import FileTable

_MIN_ROWS = 10
# As many different texts or fewer may well be categories.
_FEW_TEXTS = 20
# A few rows of an export, such as its totals, have no number of their own.
_MAX_MISSING = 0.1
# Repeats that chance would give on average: the probability of none is then below 0.001.
_REPEATS = 7.0
# A time has so many values, and cases have so many; a pair of case and time is hardly ever there
# twice, and a case has two lines or more.
_MIN_TIMES, _MIN_CASES, _SINGLE, _LINES = 8, 5, 0.99, 2
# Times are equally far apart but for so many times the shortest step, and within cases, most lines
# are followed by the next of them.
_WIDEST_STEP, _FOLLOWING = 1.5, 0.75
_MAX_COLUMNS = 50
# Of the lines that hold one value each, so many are of another case, time or variable.
_DISTINCT = 0.9


def numbers_name_rows(values: np.ndarray) -> bool:
    """Return whether the numbers of a column name the rows.

    All are whole and different, at most a tenth are missing, and they would not all be different by
    chance: n draws from a range R repeat n (n - 1) / 2R times. Values (n_rows,) are NaN where
    missing.
    """
    seen = values[~np.isnan(values)]
    n = len(seen)
    if n < _MIN_ROWS or len(values) - n > _MAX_MISSING * len(values):
        return False
    if not bool(np.all(seen == np.round(seen))) or len(np.unique(seen)) < n:
        return False
    return n * (n - 1) / (2 * (float(np.ptp(seen)) + 1)) > _REPEATS


def kind_of_texts(n_rows: int, n_observed: int, n_distinct: int) -> str:
    """Tell categories from texts that name the rows, each its own, and from names and remarks.

    Names and remarks are mostly different, and too many for categories.
    """
    if n_rows == n_observed == n_distinct > 1:
        return "row name"
    is_free = n_distinct > _FEW_TEXTS and 2 * n_distinct > n_observed
    return "free text" if is_free else "category"


def looks_like_identifier(values: np.ndarray) -> bool:
    """Whether numbers (n_rows,) count the rows, or many rows hold a whole one each of its own."""
    if len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1)):
        return True
    whole = bool(np.all(values == np.round(values)))  # False for a column with NaN
    return whole and len(values) >= 50 and len(np.unique(values)) == len(values)


class CaseAndTime(NamedTuple):
    """The columns that say which lines are of one case, and when each of them was."""

    case: str
    time: str
    n_cases: int


def find_case_and_time(
    cases: Mapping[str, np.ndarray], times: Mapping[str, np.ndarray], dates: Mapping[str, bool]
) -> CaseAndTime | None:
    """Find a column of cases and one of times: cases repeat, and a case has each time once.

    `cases` and `times` are the columns that may be either, as numbers (n_rows,), NaN where missing;
    `dates` are those of the times that hold dates. Numbers are times only where the lines of a case
    follow each other in the table, time by time; where they have many values without a gap between
    them, in the table and within cases; or where every case has each of a few. Of several pairs the
    first of these is taken, and else the one of most times.
    """
    found: list[tuple[tuple[bool, int], CaseAndTime]] = []
    moments: dict[str, np.ndarray] = {}
    for time, x in times.items():
        rank = _rank(x)  # Cases share numbers that are times.
        if rank is not None and (dates.get(time) or _LINES * rank.max(initial=0) < len(rank)):
            moments[time] = rank
    for time, when in list(moments.items())[:_MAX_COLUMNS]:
        n_times, is_date = int(when.max(initial=0)) + 1, dates.get(time, False)
        # Numbers have several values, with equal steps between them.
        steps = np.diff(np.unique(times[time]))
        regular = is_date or (len(steps) > 1 and steps.max() <= _WIDEST_STEP * steps.min())
        for case, values in list(cases.items())[:_MAX_COLUMNS]:
            which = None if case == time else _rank(values)
            if which is None:
                continue
            n_cases, n_lines = int(which.max(initial=0)) + 1, len(which)
            few = n_cases < _MIN_CASES or n_lines < _LINES * n_cases
            if few or n_cases * n_times < _DISTINCT * n_lines:
                continue
            in_order = _follow_each_other(which, when)
            # A few times are enough where every case has each of them.
            scarce = n_times < _MIN_TIMES and not is_date and n_cases * n_times != n_lines
            if not in_order and (scarce or not regular):
                continue
            pairs = np.unique(which * n_times + when)
            # The next line of the same case is the next moment.
            follows = (np.diff(pairs) == 1) & (np.diff(pairs // n_times) == 0)
            follow = is_date or follows.sum() >= _FOLLOWING * (n_lines - n_cases)
            if in_order or (follow and len(pairs) >= _SINGLE * n_lines):
                found.append(((in_order, n_times), CaseAndTime(case, time, n_cases)))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _follow_each_other(which: np.ndarray, when: np.ndarray) -> bool:
    """Whether the lines of each case (n_rows,) are together and their times (n_rows,) ascend.

    That is no order by chance where a case would have some times twice.
    """
    n_lines, n_cases, n_times = len(which), int(which.max()) + 1, int(when.max()) + 1
    same = np.diff(which) == 0
    if same.sum() != n_lines - n_cases or not bool((np.diff(when)[same] > 0).all()):
        return False
    return n_lines * (n_lines - 1) / (2 * n_cases * n_times) > _REPEATS


def _rank(values: np.ndarray) -> np.ndarray | None:
    """Number different values (n_rows,) in ascending order; None where one is missing."""
    return None if np.isnan(values).any() else np.unique(values, return_inverse=True)[1]


def find_lines(table: FileTable, columns: Columns, readings: Mapping[str, Reading]) -> list[Doubt]:
    """Report columns by which rows may be lines of cases, each with a time of its own.

    Dates, which are left out otherwise, are read for that.
    """
    kinds = {name: reading.kind for name, reading in readings.items()}
    dated = {name: kinds[name] == "date" and not readings[name].doubt for name in kinds}
    numbers = dict(zip(columns.readings, columns.X.T, strict=True))
    for name in (name for name in kinds if dated[name] and name not in numbers):
        found = try_numbers(table, name, MissingTokens.with_defaults(), readings[name].form)
        if isinstance(found, np.ndarray):
            numbers[name] = found
    times = {n: x for n, x in numbers.items() if dated[n] or kinds[n] == "number"}
    whole = {n: x for n, x in times.items() if not dated[n] and np.all(x == np.round(x))}
    cases = {n: x for n, x in numbers.items() if kinds[n] == "category"} | whole
    lines, more = find_case_and_time(cases, times, dated), dict[str, str]()
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
    if lines is None:
        return []
    data = {"n_distinct": lines.n_cases, "n_observed": len(columns.X), "time": lines.time, **more}
    return [Doubt("repeated ids", lines.case, (), data)]


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
