"""Arrays of three axes, and lists of arrays of unequal length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import counted, join_words, list_first
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
    order = axes.split()
    if sorted(order) not in (["case", "time", "variable"], ["case", "time"]):
        raise ValueError(f"axes is {axes!r}. Give the words case, time and variable in order.")
    series = list(_each_case(X, order))
    widths, longest = {each.shape[1] for each in series}, max(map(len, series), default=0)
    if len(widths) != 1 or 0 in widths or longest == 0:
        raise ValueError(
            f"The cases have {join_words(sorted(map(str, widths))) or 'no'} variables, and at most "
            f"{longest} times. Give every case the same variables, and some time."
        )
    if like is not None:
        variables = like.variables
    elif variables is None:
        variables = [f"variable{j}" for j in range(*widths)] if widths != {1} else ["value"]
    if widths != {len(variables)}:
        raise ValueError(
            f"The cases have {counted(series[0].shape[1], 'variable')}, but "
            f"{counted(len(variables), 'name')} for them: {list_first(list(variables))}."
        )
    bins = _make_bins(times, longest) if like is None else like.bins
    if len(bins.edges) < longest:
        raise ValueError(
            f"The cases have up to {longest} times, where there are {len(bins.edges)}: "
            f"{list_first(bins.names)}. Leave out what comes later."
        )
    block = np.full((len(variables), len(bins.edges), len(series)), np.nan)
    for number, each in enumerate(series):
        block[:, : len(each), number] = each.T
    named = list(range(len(series))) if cases is None else list(cases)
    form = SeriesFormat("from_array", {"axes": axes}, tuple(variables), (), bins)
    table = assemble(form, dict(zip(variables, block, strict=True)), {}, named)
    short = sum(len(each) < len(bins.edges) for each in series)
    padded = [f"{counted(short, 'case')} with fewer times: missing at the end."] * bool(short)
    return replace(table, notes=table.notes + padded)


def _make_bins(times: Any, n_times: int) -> TimeBins:
    """Take times as given, or count them from 0."""
    values, dates = (np.arange(float(n_times)), False)
    if times is not None:
        values, dates = read_times(times, "times")
    if (np.diff(values) <= 0).any():
        raise ValueError("times must be in ascending order, each once.")
    return TimeBins(tuple(values.tolist()), True, dates)


def _each_case(X: Any, axes: list[str]) -> Iterator[np.ndarray]:
    """Yield the series of each case as floats (n_times, n_variables)."""
    inner = [axis for axis in axes if axis != "case"]
    if not isinstance(X, (list, tuple)):
        X = np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMA(X) else to_numpy(X)
        if X.ndim != len(axes):
            raise ValueError(f"The array has the shape {X.shape}, and axes={' '.join(axes)!r}.")
        X = np.moveaxis(X, axes.index("case"), 0)
    for number, each in enumerate(X):
        values = np.asarray(each if isinstance(each, (list, tuple)) else to_numpy(each), np.float64)
        if values.ndim != len(inner):
            raise ValueError(
                f"Case {number} is an array of shape {values.shape}, where axes={' '.join(axes)!r} "
                f"says that a case has {' and '.join(inner)}."
            )
        if len(inner) == 1:
            values = values[:, None]
        yield values.T if inner[0] == "variable" else values
