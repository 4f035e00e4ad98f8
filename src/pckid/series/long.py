"""Long tables: a line for each visit, or for each value."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from pckid._utils.commands import as_argument, as_arguments
from pckid._utils.text import brief, counted, join_words, list_first, number_hint
from pckid.input.cells import is_number
from pckid.input.columns import has_category_type, holds_categories, holds_words
from pckid.input.warnings import ShiftedRowsWarning, warn_caller
from pckid.series.columns import as_lines, as_names, number_cells, read_floats, read_static
from pckid.series.table import SeriesFormat, SeriesTable, assemble
from pckid.series.times import LineError, choose_bins, locate_times, read_times, write_times

# Where more than this share of visits has several lines, these may be single values. A text that
# names them differs within this share of such visits.
_SHARE_SEVERAL, _SHARE_APART = 0.1, 0.5
# A whole number may name them if it is another one in each line of this share of such visits, and
# has at most so many times as many values as a typical one of them has lines.
_SHARE_ONCE, _MAX_CODES = 0.9, 10
# Where more than this share of cases starts after the first bin of dates, it is pointed out.
_SHARE_LATE = 0.1
_FIRST_LINES = 1000
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
        The column of times: numbers, dates, durations, in days, or texts with dates such as
        "2024-03-31".
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
        time is its own. A number: so many bins with about equally many lines each, or "each" if
        there are no more times. A sequence: their edges; a bin includes its first edge and not its
        last, but for the last bin; edges may be infinite. "auto" is "each" up to 50 different times
        if the median case has lines at half of them or more, and otherwise as many bins as the
        median case has times, between 2 and 50: columns that are mostly missing tell less than
        means over a few bins.
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
        If a column is absent, texts stand among its numbers, times are missing or can be read in
        two ways, lie outside of the bins given, a static column changes within many cases, or an
        unused column of text tells several values of a case and time apart.

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
    names = {key: str(name) for key, name in parts.items() if name is not None}
    for key, name in parts.items():
        if isinstance(name, list):
            raise TypeError(f"{key} is {name!r}. Give the name of one column.")
    if len(names) == 3:
        raise ValueError("Give both `variable` and `value`, or none of them.")
    if len(set(names.values())) < len(names):
        raise ValueError(f"Give different columns as {join_words(list(names))}.")
    case, time, variable, value = (names.get(key, "") for key in parts)
    if like is not None:
        variables, static, bins = like.variables, like.static, like.bins
    variables, static = as_names(variables, "variables"), as_names(static, "static")
    chosen = () if variable else tuple(variables or ())
    lines = as_lines(frame, [*names.values(), *(static or ()), *chosen])
    others = [name for name in lines.columns if name not in names.values()]
    rows, cases = number_cells(lines, case)
    if len(rows) == 0 or rows.min() < 0:
        where = ("in ", int(np.argmin(rows))) if len(rows) else ("because there is no line",)
        advice = ". Give every line its case, or leave it out."
        raise LineError(f"Column {case!r} names no case ", *where, advice)
    times, dates = read_times(lines[time], time)
    first = np.full(len(cases), np.inf)
    np.minimum.at(first, rows, times)
    if from_first:
        times, dates = times - first[rows], False
    distinct, place = np.unique(times, return_inverse=True)
    visits = rows * np.int64(len(distinct)) + place  # lines of one case and time have one number
    n_times = np.bincount(np.unique(visits) // len(distinct))
    bins = choose_bins(times, float(np.median(n_times)), bins, dates)
    cells = locate_times(bins, times) * len(cases) + rows
    del times, place  # long tables fill much of the memory
    free = [name for name in others if name not in chosen]
    if static is not None and (like is not None or not static):
        free = list(static)
    kept, notes = _read_static_columns(lines, free, rows, static)
    left_out = [name for name in others if name not in kept]
    series: Iterable[tuple[str, Any, np.ndarray]]
    if variable and value:
        places = _find_places(lines, variable, variables, new=like is not None)
        measured = list(places) if variables is None else variables
        left_out += [name for name in places if name not in measured]
        values = _read_numbers(lines, value)
        series = ((name, places[name], values[places[name]]) for name in measured)
    else:
        # Columns of text, which the first lines tell, take no memory.
        numbers = _read_variables(lines[:_FIRST_LINES], left_out, given=False)
        measured = [name for name, *_ in numbers] if variables is None else variables
        series = _read_variables(lines, measured, given=variables is not None)
    shape = len(measured), len(bins.names), len(cases)
    found, block, n_averaged, conflicts = _average(series, cells, visits, shape)
    unused = [name for name in left_out if name not in found]
    if like is None and not variable:
        notes += _find_names_of_values(lines, unused, found, visits, int(n_times.sum()))
    single = int((n_times == 1).sum())
    notes += [f"{n_averaged:,} values share a cell with another: averaged."] * bool(n_averaged)
    if conflicts:
        name, _, line, one, other = conflicts[0]
        all_times, are_dates = read_times(lines[time], time)
        when = write_times(all_times[line : line + 1], are_dates)[0]
        n_more = sum(n_visits for _, n_visits, *_ in conflicts) - 1
        notes.append(
            f"Different values of one variable, case and time are averaged, too: {name} of "
            f"{cases[rows[line]]} at {when} is {one:g} and {other:g}"
            f"{f', and {n_more:,} more' * bool(n_more)}."
        )
    notes += [f"{counted(single, 'case')} with one time only."] * bool(single)
    notes += [f"Not used: {list_first(unused)}."] * bool(unused)
    once = [name for name in unused if name in others and _is_once(lines, name, rows)]
    if once and like is None:
        notes.append(
            f"{list_first(once)} {'has' if len(once) == 1 else 'have'} at most one value in each "
            f"case: static={once} ({as_argument('static', ','.join(once))}) keeps such columns."
        )
    never = [name for name, each in zip(found, block, strict=True) if np.isnan(each).all()]
    if never and like is not None:
        warn_caller(
            f"The new cases have no value of {list_first(never)}: taken as missing. "
            f"{f'Not used: {list_first(unused)}. ' * bool(unused)}Check the names.",
            ShiftedRowsWarning,
        )
    if dates and like is None and (bins.locate(first) > 0).mean() > _SHARE_LATE:
        notes.append(
            "Cases start at different dates, and time is counted by the calendar. To count days "
            "from the first line of each case instead, add --from-first (from_first=True in "
            "Python)."
        )
    options = {**names, "from_first": from_first}
    form = SeriesFormat("from_long", options, tuple(found), tuple(kept), bins)
    return assemble(form, block, kept, cases, notes, lines, rows)


def _is_once(lines: nw.DataFrame[Any], name: str, rows: np.ndarray) -> bool:
    """Return whether no case (n_lines,) has a column's value twice."""
    seen = rows[number_cells(lines, name)[0] >= 0]
    return len(seen) > 0 and np.bincount(seen).max() == 1


def _read_numbers(lines: nw.DataFrame[Any], name: str) -> np.ndarray:
    """Read a column of what was measured (n_lines,)."""
    try:
        return read_floats(lines, name)
    except (TypeError, ValueError):
        cells = lines[name].to_list()
        row = next(row for row, cell in enumerate(cells) if not is_number(cell))
        raise LineError(
            f"Column {name!r} holds {brief(repr(cells[row]))} in ", row,
            f", where a number should be. {number_hint(cells[row])}Turn it into a number, or into "
            "NaN if it means missing, or leave the column out. Only numbers can change with time; "
            "what is the same in all lines of a case may be static.",
        ) from None  # fmt: skip


def _read_static_columns(
    lines: nw.DataFrame[Any], names: Sequence[str], rows: np.ndarray, given: Sequence[str] | None
) -> tuple[dict[str, Any], list[str]]:
    """Read those columns that are static, and say which change within some cases."""
    kept, notes = {}, []
    for name in names:
        column = read_static(lines, name, rows, given=name in (given or ()))
        if column is None:
            continue
        if column.n_changed and given is not None and name not in given:
            notes += column.describe(name, "if these are slips, name it as static, too.")
        else:
            kept[name] = column.values
            notes += column.describe(name)
    return kept, notes


def _read_variables(
    lines: nw.DataFrame[Any], names: Sequence[str], given: bool
) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield the columns of numbers of a table of visits: name, lines, and values there.

    Texts are no numbers, but for a few among numbers, as in `fit`: these raise.
    """
    for name in names:
        if not given and has_category_type(lines[name]):
            continue
        try:
            yield name, slice(None), _read_numbers(lines, name)
        except ValueError:
            if given or (holds_categories(lines[name]) and not holds_words(lines[name])):
                raise


def _find_places(
    lines: nw.DataFrame[Any], variable: str, chosen: Sequence[str] | None, new: bool
) -> dict[str, np.ndarray]:
    """Find the lines (n,) of each variable of a table of single values, by its name."""
    codes, found = number_cells(lines, variable)
    if codes.min() < 0:
        advice = ". Give every line one, or leave it out."
        where = int(np.argmin(codes))
        raise LineError(f"Column {variable!r} names no variable in ", where, advice)
    places = {str(name): np.flatnonzero(codes == number) for number, name in enumerate(found)}
    absent = [name for name in chosen or () if name not in places]
    if absent and not new:
        raise ValueError(
            f"Column {variable!r} never says {', '.join(map(repr, absent))}. It says: "
            f"{list_first(list(places), 12)}."
        )
    return places | dict.fromkeys(absent, np.empty(0, np.intp))


def _average(
    series: Iterable[tuple[str, Any, np.ndarray]],
    cells: np.ndarray,
    visits: np.ndarray,
    shape: tuple[int, int, int],
) -> tuple[list[str], np.ndarray, int, list[tuple[str, int, int, float, float]]]:
    """Average values in the same cell (n_lines,) of times and cases.

    Returns names and means (n_variables, n_times, n_cases), of at most the variables in `shape`,
    how many values met, and where those of one visit (n_lines,) differ: the variable, in how many
    visits, the first line, and two values there.
    """
    names: list[str] = []
    conflicts: list[tuple[str, int, int, float, float]] = []
    block, n_averaged, size = np.empty(shape), 0, shape[1] * shape[2]
    for name, lines, values in series:
        seen = ~np.isnan(values)
        mine, values = cells[lines][seen], values[seen]
        count, means = np.bincount(mine, minlength=size), block[len(names)].reshape(-1)
        with np.errstate(invalid="ignore"):
            np.divide(np.bincount(mine, weights=values, minlength=size), count, out=means)
        several = count > 1
        means[several] = [float(f"{mean:.{_DIGITS}g}") for mean in means[several].tolist()]
        names.append(name)
        n_averaged += int(count[several].sum())
        met = several[mine]
        if met.any():
            found = _find_conflicts(np.arange(len(cells))[lines][seen][met], values[met], visits)
            conflicts += [(name, *found)] if found else []
    if not names:
        raise ValueError(
            "The table has no column of numbers that change within a case, but for those of the "
            "case and the time."
        )
    return names, block[: len(names)], n_averaged, conflicts


def _find_conflicts(
    lines: np.ndarray, values: np.ndarray, visits: np.ndarray
) -> tuple[int, int, float, float] | None:
    """Find different values (n,) at lines (n,) of one visit (n_lines,), if there are any."""
    order = np.argsort(visits[lines], kind="stable")
    mine, values = visits[lines[order]], values[order]
    differ = np.flatnonzero((np.diff(mine) == 0) & (np.diff(values) != 0))
    if len(differ) == 0:
        return None
    first = differ[0]
    one, other = values[first : first + 2]
    return len(np.unique(mine[differ])), int(lines[order[first]]), one, other


def _find_names_of_values(
    lines: nw.DataFrame[Any],
    unused: Sequence[str],
    series: Sequence[str],
    visits: np.ndarray,
    n_visits: int,
) -> list[str]:
    """Look for a column that says what was measured in each line of a visit (n_lines,).

    Raises for a text, which is not used, where visits have several lines; where each has one, a
    text beside a single series gets a note. A whole number may be a variable, and gets a note.
    """
    # A visit that was entered twice now and then is no sign of it.
    if len(visits) - n_visits <= _SHARE_SEVERAL * n_visits:
        return _suggest_names(lines, unused, series)
    _, visits, n_lines = np.unique(visits, return_inverse=True, return_counts=True)
    several = n_lines > 1
    if several.mean() <= _SHARE_SEVERAL:
        return _suggest_names(lines, unused, series)

    def count_different(codes: np.ndarray) -> np.ndarray:
        """Count the codes (n_lines,) in each visit with several lines; -1 is none."""
        size = codes.max(initial=0) + 1
        pairs = np.unique((visits * size + codes)[codes >= 0])
        return np.bincount(pairs // size, minlength=len(n_lines))[several]

    for name in unused:
        codes, texts = number_cells(lines, name)
        if _are_names(texts, len(lines)) and (count_different(codes) > 1).mean() >= _SHARE_APART:
            raise ValueError(
                f"Column {name!r} is not used, and tells lines of the same case and time apart: "
                f"{list_first([brief(str(text)) for text in texts])}. {_advise_names(name, series)}"
                f" If not, leave it out of the table ({as_argument('drop', name)}), and lines of "
                "the same time are averaged."
            )
    notes = []
    for name in series if len(series) > 1 else ():
        distinct, codes = np.unique(read_floats(lines, name), return_inverse=True)
        few = len(distinct) <= _MAX_CODES * np.median(n_lines[several])
        once = few and count_different(codes) == n_lines[several]
        if few and (distinct % 1 == 0).all() and np.mean(once) >= _SHARE_ONCE:
            others = [other for other in series if other != name]
            notes.append(
                f"{name} is another whole number in each line of the same case and time, and "
                f"these lines are averaged. {_advise_names(name, others)}"
            )
    return notes


def _suggest_names(
    lines: nw.DataFrame[Any], unused: Sequence[str], series: Sequence[str]
) -> list[str]:
    """Point out a text that may say what a single series holds, where no two lines share a time."""
    alone = unused if len(series) == 1 else ()
    named = [name for name in alone if _are_names(number_cells(lines, name)[1], len(lines))]
    return [f"{name} is not used. {_advise_names(name, series)}" for name in named[:1]]


def _are_names(cells: Sequence[Any], n_lines: int) -> bool:
    """Whether the different cells of a column may name what was measured; remarks do not."""
    return len(cells) <= n_lines / 2 and all(isinstance(cell, str) for cell in cells)


def _advise_names(name: str, series: Sequence[str]) -> str:
    value = series[0] if len(series) == 1 else "COLUMN"
    options = as_arguments([("variable", name), ("value", value)])
    return (
        "If it says what was measured, name it and the column of the values: "
        f"{options}, in Python variable={name!r}, value={value!r}."
    )
