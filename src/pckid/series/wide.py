"""Series with a column for each time: arrays, lists of arrays, and names such as t1 to t24."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pckid._utils.text import counted, join_words, list_first
from pckid.input.cells import is_missing
from pckid.input.columns import as_array, as_frame
from pckid.series.columns import as_lines, as_names, read_floats, read_static
from pckid.series.table import SeriesFormat, SeriesTable, assemble
from pckid.series.times import TimeBins, read_times

_DATE = r"\d{4}[-_.]?[01]\d[-_.]?[0-3]\d|(?:19|20)\d\d[-_][01]\d"
_TIME = re.compile(rf"(?P<stem>.*?)(?P<sign>[\s_.:-]*)(?P<time>{_DATE}|\d+(?:\.\d+)?)", re.DOTALL)
# Two or three numbered columns are often anything else.
_MIN_TIMES = 4


def from_array(
    X: Any,
    axes: str,
    *,
    variables: Sequence[str] | None = None,
    times: Any = None,
    cases: Sequence[Any] | None = None,
    like: SeriesFormat | None = None,
) -> SeriesTable:
    """Make a table of series from an array of three axes, or from a list of arrays.

    Parameters
    ----------
    X : array of three axes, or list of arrays
        NaN where a value is missing. The arrays of a list may have unequal numbers of times: the
        shorter ones are missing at the end.
    axes : str
        What the axes are, in their order: "case time variable" as in tslearn, "case variable time"
        as in aeon; "case time" where there is one variable. A list is the axis of cases itself.
    variables : sequence of str, default=None
        Names of the variables.
    times : sequence, default=None
        Numbers or dates in ascending order; None counts from 0.
    cases : sequence, default=None
        What names each case; None counts from 0.
    like : SeriesFormat, default=None
        Variables and times of another table, as `SeriesTable.like` gives it.

    Returns
    -------
    table : SeriesTable
        One row for each case.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.series import from_array
    >>> series = [np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0]])]
    >>> from_array(series, axes="case variable time", variables=["pulse"]).frame
       pulse_0  pulse_1  pulse_2
    0      1.0      2.0      3.0
    1      4.0      5.0      NaN
    """
    order = str(axes).split()
    if sorted(order) not in (["case", "time", "variable"], ["case", "time"]):
        raise ValueError(f"axes is {axes!r}. Give a text such as 'case time variable'.")
    series = _list_cases(X, order)
    widths = {len(each) for each in series}
    longest = max((each.shape[1] for each in series), default=0)
    if len(widths) != 1 or 0 in widths or longest == 0:
        raise ValueError(
            f"The cases have {join_words(sorted(map(str, widths))) or 'no'} variables, and at most "
            f"{longest} times. Give every case the same variables, and some time."
        )
    variables = as_names(variables if like is None else like.variables, "variables")
    if variables is None:
        variables = [f"variable{j}" for j in range(*widths)] if widths != {1} else ["value"]
    if widths != {len(variables)}:
        raise ValueError(
            f"The cases have {counted(len(series[0]), 'variable')}, but "
            f"{counted(len(variables), 'name')} for them: {list_first(list(variables))}."
        )
    values, dates = read_times(np.arange(longest) if times is None else times, "times")
    if (np.diff(values) <= 0).any():
        raise ValueError("times must be in ascending order, each once.")
    bins = TimeBins(tuple(values.tolist()), True, dates) if like is None else like.bins
    if len(bins.edges) < longest:
        raise ValueError(
            f"The cases have up to {longest} times, where there are {len(bins.edges)}: "
            f"{list_first(bins.names)}. Leave out what comes later."
        )
    block = np.full((len(variables), len(bins.edges), len(series)), np.nan)
    for number, each in enumerate(series):
        block[:, : each.shape[1], number] = each
    short = sum(each.shape[1] < len(bins.edges) for each in series)
    notes = [f"{counted(short, 'case')} with fewer times: missing at the end."] * bool(short)
    named = list(range(len(series))) if cases is None else list(cases)
    if len(named) != len(series):
        raise ValueError(f"cases has {counted(len(named), 'name')} for {len(series)} cases.")
    form = SeriesFormat("from_array", {"axes": axes}, tuple(variables), (), bins)
    return assemble(form, block, {}, named, notes)


def _list_cases(X: Any, axes: list[str]) -> list[np.ndarray]:
    """List the series of all cases as floats, each (n_variables, n_times)."""
    inner, asked = [axis for axis in axes if axis != "case"], " ".join(axes)
    if not isinstance(X, (list, tuple)):
        X = X if np.ma.isMA(X) else as_array(X)
        if X.ndim != len(axes):
            raise ValueError(f"The array has the shape {X.shape}, and axes={asked!r}.")
        X = np.moveaxis(X, axes.index("case"), 0)
    elif axes[0] != "case":
        raise ValueError(
            f"A list holds cases, and axes={asked!r}. Give axes that begin with case, or an array."
        )
    labels = [frame.columns for each in X if (frame := as_frame(each)) is not None]
    if inner == ["time", "variable"] and any(each != labels[0] for each in labels):
        raise ValueError("The frames differ in their columns, or their order. Give all the same.")
    series = []
    for number, each in enumerate(X):
        try:
            values = _read_floats(each)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Case {number} is no array of numbers: {error}.") from None
        if values.ndim != len(inner):
            raise ValueError(
                f"Case {number} is an array of shape {values.shape}, where axes={asked!r} says "
                f"that a case has {' and '.join(inner)}."
            )
        values = values[None] if len(inner) == 1 else values
        series.append(values.T if inner == ["time", "variable"] else values)
    return series


def _read_floats(X: Any) -> np.ndarray:
    """Read an array-like of any shape, NaN where something is missing."""
    if np.ma.isMA(X) and X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.float64), np.nan)
    values = as_array(X)
    if values.dtype.kind in "cmM":
        raise TypeError(f"it is of type {values.dtype}")
    if values.dtype.kind == "O":
        cells = [np.nan if is_missing(cell) else cell for cell in values.ravel().tolist()]
        return np.array(cells, np.float64).reshape(values.shape)
    return values.astype(np.float64)


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
    variables, static = as_names(variables, "variables"), as_names(static, "static")
    lines = as_lines(frame, static or ())
    found = find_times(lines.columns)
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
    if like is not None and bins != like.bins:
        differ = sorted({*bins.names} ^ {*like.bins.names})
        raise ValueError(
            f"The times of this table are not those of the series: {list_first(differ)}. Add "
            "columns of the times that it lacks, with empty cells, and leave others out."
        )
    notes = []
    if static is None:
        used = {name for times in series.values() for name in times}
        others = [name for name in lines.columns if name not in used]
        dated = [name for name in others if lines[name].dtype.is_temporal()]
        static = [name for name in others if name not in dated]
        notes = [f"Not used, because they hold dates: {list_first(dated)}."] * bool(dated)
    rows = np.arange(len(lines))
    block = np.full((len(series), len(distinct), len(rows)), np.nan)
    for values, times in zip(block, series.values(), strict=True):
        for name, time in times.items():
            values[distinct.index(time)] = read_floats(lines, name)
    columns = {name: read_static(lines, name, rows, given=True) for name in static}
    kept = {name: column.values for name, column in columns.items() if column}
    form = SeriesFormat("from_wide", {}, tuple(series), tuple(kept), bins)
    return assemble(form, block, kept, list(getattr(frame, "index", rows)), notes, lines)


def find_series(columns: Iterable[str]) -> dict[str, list[str]]:
    """Find columns whose names are a series: ``ndvi_2019-01-05``, ``t1`` to ``t24``, ``1990``.

    At least four columns with the same words before a date, a month or a number count. Whether
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
    return {stem: list(found) for stem, found in find_times(columns).items()}


def find_times(columns: Iterable[str]) -> dict[str, dict[str, tuple[bool, float]]]:
    """Find the times of the columns of each series: whether they are dates, and numbers, sorted."""
    found: dict[str, dict[str, tuple[bool, float]]] = {}
    for name in columns:
        match = _TIME.fullmatch(str(name))
        if match:
            found.setdefault(match["stem"] or "value", {})[name] = _read(match["time"])
    return {
        stem: dict(sorted(times.items(), key=lambda item: item[1]))
        for stem, times in found.items()
        if len(times) >= _MIN_TIMES
        and len(set(times.values())) == len(times)
        and len({dates for dates, _ in times.values()}) == 1
    }


def _read(text: str) -> tuple[bool, float]:
    """Read the time in a name: a date where it can be one."""
    digits = re.sub(r"[-_.]", "", text)
    if re.fullmatch(_DATE, text):
        try:
            day = np.datetime64("-".join(filter(None, (digits[:4], digits[4:6], digits[6:]))), "D")
            return True, float(day.astype(int))
        except ValueError:
            return False, float(digits)
    return False, float(text)
