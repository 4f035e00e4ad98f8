"""Series in arrays of three axes, or in lists of arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pckid._utils.text import counted, join_words, list_first
from pckid.input.cells import is_missing
from pckid.input.columns import as_array, as_frame
from pckid.series.columns import as_names
from pckid.series.table import SeriesFormat, SeriesTable, assemble
from pckid.series.times import TimeBins, read_times


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
