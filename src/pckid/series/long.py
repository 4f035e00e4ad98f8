"""Long tables: a line for each visit, or for each value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pckid._utils.commands import as_argument, as_arguments
from pckid._utils.text import brief, counted, list_first
from pckid.series.frames import (
    LineError,
    column_names_of,
    number_cells,
    read_floats,
    read_static,
)
from pckid.series.table import SeriesFormat, SeriesTable, assemble
from pckid.series.times import choose_bins, locate_times, read_times

# Where more than this share of visits has several lines, these may be single values.
_SHARE_SEVERAL = 0.1
# Where more than this share of cases starts after the first bin of dates, it is pointed out.
_SHARE_LATE = 0.1
# A mean is written with no more digits than are sure.
_DIGITS = 10


def from_long(
    frame: Any,
    case: str,
    time: str,
    variables: Sequence[str] | None = None,
    *,
    static: Sequence[str] | None = None,
    variable: str | None = None,
    value: str | None = None,
    bins: Any = "auto",
    from_first: bool = False,
    like: SeriesFormat | None = None,
) -> SeriesTable:
    """Make a table of series from lines of visits, or from lines of single values.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        One line for each visit of a case, with a column for each variable; or, with `variable` and
        `value`, one line for each value. Lines may come in any order.
    case : str
        The column that names the case: a patient, a pixel, a machine.
    time : str
        The column of times: numbers, dates, texts such as "2024-03-31", or durations, in days.
    variables : sequence of str, default=None
        What is measured at each visit. None takes all columns of numbers that are not static.
    static : sequence of str, default=None
        Columns that hold the same in all lines of a case, such as sex or year of birth, kept once.
        None finds them: those that change within at most a tenth of the cases, which is taken for
        slips; the commonest value of the case counts. Besides those given, the ones that never
        change within a case are static; an empty list takes none.
    variable, value : str, default=None
        In a table of single values, the column that says what was measured, and the one that
        holds the number.
    bins : "auto", "each", int or sequence, default="auto"
        Which times share a column; several values of a case in one are averaged. "each": every
        time is its own. A number: so many bins with about equally many lines each. A sequence:
        their edges; a bin includes its first edge and not its last, but for the last bin; edges may
        be infinite. "auto" is "each" up to 50 different times if the median case has lines at
        half of them or more, and otherwise as many bins as the median case has times, between 2
        and 50: columns that are mostly missing tell less than means over a few bins.
    from_first : bool, default=False
        Count time from each case's first line, in days where times are dates.
    like : SeriesFormat, default=None
        Variables, static columns and bins of another table, as `SeriesTable.like` gives it.

    Returns
    -------
    table : SeriesTable
        Its `notes` say what was done.

    Raises
    ------
    ValueError
        If a column is absent, times are missing or written in two ways, lie outside of the bins
        given, a static column changes within many cases, or an unused column of text tells several
        values of a case and time apart.

    Examples
    --------
    >>> import pandas as pd
    >>> from pckid.series import from_long
    >>> visits = pd.DataFrame({"patient": ["a", "a", "b", "b"], "day": [0, 1, 0, 1],
    ...                        "pulse": [61, 65, None, 80], "sex": ["f", "f", "m", "m"]})
    >>> table = from_long(visits, case="patient", time="day")
    >>> table.frame.to_numpy().tolist()
    [[61.0, 65.0, 'f'], [nan, 80.0, 'm']]
    >>> table.column_groups
    {'pulse': ['pulse_0', 'pulse_1']}
    """
    parts = {"case": case, "time": time, "variable": variable, "value": value}
    names = {key: name for key, name in parts.items() if name is not None}
    if len(names) == 3:
        raise ValueError("Give both `variable` and `value`, or none of them.")
    if like is not None:
        variables, static, bins = like.variables, like.static, like.bins
    chosen = () if variable else tuple(variables or ())
    others = column_names_of(frame, [*names.values(), *(static or ()), *chosen])
    others = [name for name in others if name not in names.values()]
    rows, cases = _read_cases(frame, case)
    times, dates = read_times(frame[time], time)
    first = np.full(len(cases), np.inf)
    np.minimum.at(first, rows, times)
    if from_first:
        times, dates = times - first[rows], False
    visits = _number_visits(rows, times)
    n_times = np.bincount(rows[np.unique(visits, return_index=True)[1]])
    bins = choose_bins(times, float(np.median(n_times)), bins, dates)
    cells = locate_times(bins, times) * len(cases) + rows
    free = [name for name in others if name not in chosen]
    if static is not None and (like is not None or not static):
        free = list(static)
    kept, slips = _read_static_columns(frame, free, rows, static)
    left_out = [name for name in others if name not in kept]
    series, n_averaged, shape = {}, 0, (len(bins.names), len(cases))
    for name, index, values in (
        _read_values(frame, variable, value, variables, new=like is not None)
        if variable and value
        else _read_variables(frame, left_out, variables)
    ):
        series[name], n_repeated = _average(cells[index], values, shape)
        n_averaged += n_repeated
    if variables is not None:
        left_out += [name for name in series if name not in variables]
        series = {name: series[name] for name in variables}
    if not series:
        raise ValueError(
            "The table has no column of numbers that change within a case, but for those of the "
            "case and the time."
        )
    unused = [name for name in left_out if name not in series]
    if like is None and not variable:
        _check_unused(frame, unused, list(series), visits)
    options = {**names, "from_first": from_first}
    form = SeriesFormat("from_long", options, tuple(series), tuple(kept), bins)
    table = assemble(form, series, kept, cases, frame, rows)
    more = _describe_lines(n_times, n_averaged, unused)
    if dates and like is None and (bins.locate(first) > 0).mean() > _SHARE_LATE:
        more.append(
            "Cases start at different dates: from_first=True (--from-first) counts days from the "
            "first line of each case, if that is what they have in common."
        )
    return replace(table, notes=table.notes + slips + more)


def _read_cases(frame: Any, name: str) -> tuple[np.ndarray, list[Any]]:
    """Number the cases of all lines (n_lines,), and list them; raises if a line has none."""
    rows, cases = number_cells(frame, name)
    if len(rows) == 0 or rows.min() < 0:
        where = ("in ", int(np.argmin(rows))) if len(rows) else ("because there is no line",)
        raise LineError(
            f"Column {name!r} names no case ", *where,
            ". Give every line its case, or leave it out.",
        )  # fmt: skip
    return rows, cases


def _number_visits(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Number the lines (n_lines,) so that those of the same case and time have the same number."""
    distinct, index = np.unique(times, return_inverse=True)
    return rows * np.int64(len(distinct)) + index


def _read_static_columns(
    frame: Any, names: Sequence[str], rows: np.ndarray, given: Sequence[str] | None
) -> tuple[dict[str, Any], list[str]]:
    """Read those columns that are static, and say which change within some cases."""
    kept, notes = {}, []
    for name in names:
        column = read_static(frame, name, rows, given=name in (given or ()))
        if column is None:
            continue
        if column.n_changed and given is not None and name not in given:
            notes += column.describe(name, "if these are slips, name it as static, too.")
        else:
            kept[name] = column.values
            notes += column.describe(name)
    return kept, notes


def _check_unused(frame: Any, unused: Sequence[str], series: list[str], visits: np.ndarray) -> None:
    """Raise if a column that is not used says what was measured in each line of a visit."""
    _, visits, n_lines = np.unique(visits, return_inverse=True, return_counts=True)
    several = n_lines > 1
    # A visit that was entered twice now and then is no sign of it, nor are remarks.
    for name in unused if several.mean() > _SHARE_SEVERAL else ():
        codes, texts = number_cells(frame, name)
        pairs = np.unique((visits * len(texts) + codes)[codes >= 0])
        differs = np.bincount(pairs // max(len(texts), 1)) > 1
        named = len(texts) <= len(visits) / 2 and all(isinstance(text, str) for text in texts)
        if named and differs.sum() >= several.sum() / 2:
            value = series[0] if len(series) == 1 else "COLUMN"
            raise ValueError(
                f"Column {name!r} is not used, and tells lines of the same case and time apart: "
                f"{list_first([brief(str(text)) for text in texts])}. If it says what was "
                f"measured, name it and the column of the values: "
                f"{as_arguments([('variable', name), ('value', value)])}, in Python "
                f"variable={name!r}, value={value!r}. If not, leave it out of the table "
                f"({as_argument('drop', name)}), and lines of the same time are averaged."
            )


def _read_variables(
    frame: Any, others: Sequence[str], chosen: Sequence[str] | None
) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield each variable of a table of visits: its name, its lines, its values there."""
    for name in others if chosen is None else chosen:
        try:
            yield name, slice(None), read_floats(frame, name)
        except ValueError as error:
            if chosen is not None:
                raise ValueError(
                    f"{error} Only numbers can change with time; what is the same in all lines of "
                    "a case may be static."
                ) from None


def _read_values(
    frame: Any, variable: str, value: str, chosen: Sequence[str] | None, new: bool
) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield each variable of a table of single values: its name, its lines, its values there."""
    codes, found = number_cells(frame, variable)
    if codes.min() < 0:
        raise LineError(
            f"Column {variable!r} names no variable in ", int(np.argmin(codes)),
            ". Give every line one, or leave it out.",
        )  # fmt: skip
    names, values = [str(name) for name in found], read_floats(frame, value)
    absent = [name for name in chosen or () if name not in names]
    if absent and not new:
        raise ValueError(
            f"Column {variable!r} never says {', '.join(map(repr, absent))}. It says: "
            f"{list_first(names, 12)}."
        )
    for number, name in enumerate([*names, *absent]):
        index = np.flatnonzero(codes == number)
        yield name, index, values[index]


def _average(
    cells: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, int]:
    """Average values (n,) in cells (n,) of a grid (n_times, n_cases); count those that meet."""
    seen, size = ~np.isnan(values), shape[0] * shape[1]
    count = np.bincount(cells[seen], minlength=size)
    total = np.bincount(cells[seen], weights=values[seen], minlength=size)
    with np.errstate(invalid="ignore"):
        means, several = total / count, count > 1
    means[several] = [float(f"{mean:.{_DIGITS}g}") for mean in means[several].tolist()]
    return means.reshape(shape), int(count[several].sum())


def _describe_lines(visits: np.ndarray, n_averaged: int, left_out: list[str]) -> list[str]:
    """Say what became of lines, by the number of times of each case (n_cases,)."""
    single = int((visits == 1).sum())
    return [
        *[f"{n_averaged:,} values share a cell with another: averaged."] * bool(n_averaged),
        *[f"{counted(single, 'case')} with one time only."] * bool(single),
        *[f"Not used: {list_first(left_out)}."] * bool(left_out),
    ]
