"""Wide tables with columns whose names are a series: the same words, then a date or a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pckid._utils.text import list_first
from pckid.series.frames import column_names_of, read_floats, read_static
from pckid.series.table import SeriesFormat, SeriesTable, assemble
from pckid.series.times import TimeBins, read_times, write_times

_DATE = r"\d{4}[-_.]?[01]\d[-_.]?[0-3]\d"
_TIME = re.compile(rf"(?P<stem>.*?)(?P<sign>[\s_.:-]*)(?P<time>{_DATE}|\d+(?:\.\d+)?)", re.DOTALL)
# Two or three numbered columns are often anything else.
_FEWEST = 4


def from_wide(
    frame: Any,
    variables: Sequence[str] | None = None,
    *,
    static: Sequence[str] | None = None,
    like: SeriesFormat | None = None,
) -> SeriesTable:
    """Make a table of series from columns whose names are a series, see `find_series`.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        One row for each case, such as with the columns ``ndvi_2019-01-05``, ``ndvi_2019-02-10``,
        …, elevation.
    variables : sequence of str, default=None
        The series to take, by the words before the time; None takes all.
    static : sequence of str, default=None
        Columns to keep beside them; None keeps all others.
    like : SeriesFormat, default=None
        Variables, static columns and times of another table, as `SeriesTable.like` gives it.

    Returns
    -------
    table : SeriesTable
        One row for each case.

    Examples
    --------
    >>> import pandas as pd
    >>> from pckid.series import from_wide
    >>> wide = pd.DataFrame([[800, 1, 2, 3, 4]], columns=["elevation", "t1", "t2", "t3", "t4"])
    >>> table = from_wide(wide)
    >>> table.variables, table.static
    (['t'], ['elevation'])
    """
    if like is not None:
        variables, static = like.variables, like.static
    found = find_times(column_names_of(frame, static or ()))
    absent = [name for name in variables or () if name not in found]
    if absent or not found:
        raise ValueError(
            f"The table has no series {', '.join(map(repr, absent)) or 'in its names'}. A series "
            "is four columns or more that are named such as t1, t2, … or ndvi_2019-01-05. Found: "
            f"{list_first(list(found)) or 'none'}."
        )
    series = {name: found[name] for name in (variables or found)}
    distinct = sorted({time for times in series.values() for time in times.values()})
    if distinct[0][0] != distinct[-1][0]:
        raise ValueError(
            f"Of the series {', '.join(series)} some have dates in their names and some have "
            "numbers. Choose among them: `variables`."
        )
    bins = TimeBins(tuple(time for _, time in distinct), True, distinct[0][0])
    if like is not None:
        bins = _check_times(bins, like.bins)
    if static is None:
        used = {name for times in series.values() for name in times}
        static = [name for name in column_names_of(frame) if name not in used]
    rows = np.arange(len(frame))
    blocks = {variable: np.full((len(distinct), len(rows)), np.nan) for variable in series}
    for variable, times in series.items():
        for name, time in times.items():
            blocks[variable][distinct.index(time)] = read_floats(frame, name)
    columns = {name: read_static(frame, name, rows, given=True) for name in static}
    kept = {name: column.values for name, column in columns.items() if column}
    form = SeriesFormat("from_wide", {}, tuple(series), tuple(kept), bins)
    return assemble(form, blocks, kept, list(getattr(frame, "index", rows)), frame)


def _check_times(bins: TimeBins, known: TimeBins) -> TimeBins:
    """Raise if the times of new cases are not those of a table."""
    lacking = sorted(set(known.edges) - set(bins.edges))
    if bins.dates != known.dates or lacking:
        texts = write_times(lacking, known.dates)
        raise ValueError(
            f"The table has no columns of the times {list_first(texts)}. Add them; their cells may "
            "be empty."
        )
    further = sorted(set(bins.edges) - set(known.edges))
    if further:
        texts = write_times(further, known.dates)
        raise ValueError(
            f"The table has columns of further times: {list_first(texts)}. Leave them out."
        )
    return known


def find_series(columns: Iterable[str]) -> dict[str, list[str]]:
    """Find columns whose names are a series: ``ndvi_2019-01-05``, ``t1`` to ``t24``, ``1990``.

    At least four columns with the same words before a date or a number count as a series. Whether
    they are one, only their user knows: the items of a questionnaire look the same.

    Parameters
    ----------
    columns : iterable of str
        Names of columns.

    Returns
    -------
    series : dict of str to list of str
        The columns of each variable, in the order of time.

    Examples
    --------
    >>> from pckid.series import find_series
    >>> find_series(["elevation", "t10", "t1", "t2", "t3"])
    {'t': ['t1', 't2', 't3', 't10']}
    """
    return {
        stem: [name for name, _ in sorted(found.items(), key=lambda item: item[1])]
        for stem, found in find_times(columns).items()
    }


def find_times(columns: Iterable[str]) -> dict[str, dict[str, tuple[bool, float]]]:
    """Find the time of each column of each series: whether it is a date, and its number."""
    found: dict[str, dict[str, tuple[bool, float]]] = {}
    for name in columns:
        match = _TIME.fullmatch(str(name))
        if match:
            found.setdefault(match["stem"] or "value", {})[name] = _read(match["time"])
    return {
        stem: times
        for stem, times in found.items()
        if len(times) >= _FEWEST
        and len(set(times.values())) == len(times)
        and len({dates for dates, _ in times.values()}) == 1
    }


def _read(text: str) -> tuple[bool, float]:
    """Read the time in a name: a date where it can be one."""
    digits = re.sub(r"[-_.]", "", text)
    if re.fullmatch(_DATE, text) and len(digits) == 8:
        try:
            days, _ = read_times([f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"], "name")
            return True, float(days[0])
        except ValueError:
            return False, float(digits)
    return False, float(text)
