"""Series of many cases as one table, and how they were read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from pckid._utils.text import counted, list_first
from pckid.input.columns import has_category_type
from pckid.input.validation import block_values
from pckid.series.columns import as_lines
from pckid.series.times import TimeBins

_OPTIONS: dict[str, frozenset[str]] = {
    "from_long": frozenset({"case", "time", "variable", "value", "from_first"}),
    "from_array": frozenset({"axes"}),
}


@dataclass(frozen=True)
class SeriesFormat:
    """How series were read, so that new cases are read alike.

    Parameters
    ----------
    maker : {"from_long", "from_array"}
        The function that read them.
    options : mapping of str to str or bool
        What it was given: names of columns, the order of axes.
    variables, static : tuple of str
        Names of the variables and of the static columns.
    bins : TimeBins
        Their times.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.series import SeriesFormat, from_array
    >>> text = from_array(np.zeros((4, 3)), axes="case time").format.to_json()
    >>> len(SeriesFormat.from_json(text).read(np.ones((2, 3))))
    2
    """

    maker: str
    options: Mapping[str, Any]
    variables: tuple[str, ...]
    static: tuple[str, ...]
    bins: TimeBins

    def read(self, data: Any) -> SeriesTable:
        """Make a table of new cases, as `SeriesTable.like` does, of `data` in the same form."""
        make = getattr(import_module("pckid.series"), self.maker)
        return make(data, **self.options, like=self)

    def to_json(self) -> str:
        """Write it as a text."""
        return json.dumps(vars(self) | {"bins": self.bins._asdict()})

    @classmethod
    def from_json(cls, text: str) -> SeriesFormat:
        """Read the `text` that `to_json` wrote."""
        known = json.loads(text)
        if not known["options"].keys() <= _OPTIONS.get(known["maker"], frozenset()):
            raise ValueError(f"{known['maker']} is not made of {', '.join(known['options'])}.")
        bins = TimeBins(tuple(known["bins"].pop("edges")), **known.pop("bins"))
        variables, static = tuple(known["variables"]), tuple(known["static"])
        return cls(known["maker"], known["options"], variables, static, bins)


@dataclass(frozen=True, eq=False, repr=False)
class SeriesTable:
    """Series of many cases as a table with one row for each case; `PCKID.fit` takes it.

    Made by `from_long` or `from_array`.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        One row for each case; for each variable a column for each time, then the static columns.
    column_groups : dict of str to list of str
        The columns of each variable, in the order of time.
    cases : list
        What names each row, in the order in which the cases first come.
    notes : list of str
        What was done: which bins, what was averaged, left out or never observed.
    format : SeriesFormat
        How the series were read.
    rows : ndarray of shape (n_lines,), int
        The row of `frame` for each line of a long table: ``labels_[table.rows]`` has a label for
        each line.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.series import from_array
    >>> from_array(np.zeros((4, 3, 2)), axes="case time variable", variables=["ndvi", "evi"])
    SeriesTable: 4 cases, 2 variables (ndvi, evi) at 3 times (0, 1, 2).
    """

    frame: Any
    column_groups: dict[str, list[str]]
    cases: list[Any]
    notes: list[str]
    format: SeriesFormat
    rows: np.ndarray

    @property
    def variables(self) -> list[str]:
        """Names of the variables."""
        return list(self.format.variables)

    @property
    def static(self) -> list[str]:
        """Names of the columns that do not change with time."""
        return list(self.format.static)

    @property
    def times(self) -> np.ndarray:
        """The time of each column of a variable (n_times,), or the middle of its bin."""
        return self.format.bins.positions

    @property
    def values(self) -> np.ndarray:
        """The numbers of the series (n_cases, n_times, n_variables), NaN where missing."""
        names = [name for group in self.column_groups.values() for name in group]
        shape = len(self), len(self.column_groups), -1
        return block_values(as_lines(self.frame).select(names)).reshape(shape).transpose(0, 2, 1)

    def like(self, data: Any) -> SeriesTable:
        """Make a table of new cases, with the variables, times and bins of this one.

        Parameters
        ----------
        data : dataframe, array or list of arrays
            In the form in which this table's own data came.

        Returns
        -------
        table : SeriesTable
            For `PCKID.predict` and the like.

        Raises
        ------
        ValueError
            If it lacks a column, or has times that this table does not have.

        Warns
        -----
        ShiftedRowsWarning
            If lines of new cases have no value of a variable.

        Examples
        --------
        >>> import numpy as np
        >>> from pckid.series import from_array
        >>> table = from_array(np.zeros((4, 3, 2)), axes="case time variable")
        >>> table.like(np.ones((1, 3, 2))).frame.shape
        (1, 6)
        """
        return self.format.read(data)

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.cases)

    def __repr__(self) -> str:
        return f"SeriesTable: {' '.join(self.notes)}"


def assemble(
    form: SeriesFormat,
    block: np.ndarray,
    static: Mapping[str, Any],
    cases: list[Any],
    notes: Sequence[str] = (),
    source: nw.DataFrame[Any] | None = None,
    rows: np.ndarray | None = None,
) -> SeriesTable:
    """Make the table of series (n_variables, n_times, n_cases) and static columns of each case.

    Its frame is of the library of `source`. `block` is its memory from then on.
    """
    times = form.bins.names
    groups = {variable: [f"{variable}_{time}" for time in times] for variable in form.variables}
    names = [*(name for group in groups.values() for name in group), *static]
    if len(set(names)) < len(names) or len(groups) < len(form.variables):
        raise ValueError(
            f"Of the columns {list_first(list(dict.fromkeys(names)))} two would have the same "
            "name. Rename a variable or a static column."
        )
    frame = _make_frame(names, block, static, source, (cases, form.options.get("case")))
    variables = list(form.variables)
    never = [v for v, values in zip(variables, block, strict=True) if np.isnan(values).all()]
    told = [
        f"{counted(len(cases), 'case')}, {counted(len(variables), 'variable')} "
        f"({list_first(variables)}) at "
        f"{counted(len(times), 'time' if form.bins.exact else 'bin')} ({list_first(times)})."
    ]
    told += [f"Static: {list_first(list(static))}."] * bool(static)
    told += [f"Never observed: {list_first(never)}."] * bool(never)
    rows = np.arange(len(cases)) if rows is None else rows
    return SeriesTable(frame, groups, cases, [*told, *notes], form, rows)


def _make_frame(
    names: list[str], block: np.ndarray, static: Mapping[str, Any], source: Any, index: Any
) -> Any:
    """Make a frame of the source's library; of pandas, or of Arrow, where that is no frame."""
    columns = block.reshape(-1, block.shape[-1])
    library = nw.Implementation.PANDAS if find_spec("pandas") else nw.Implementation.PYARROW
    backend: Any = library if source is None else source.implementation
    if backend.is_pandas_like():
        import pandas as pd

        rows = pd.Index(index[0], name=index[1])
        frame = pd.DataFrame(columns.T, rows, names[: len(columns)], copy=False)
        frame = pd.concat([frame, pd.DataFrame(static, rows)], axis=1) if static else frame
    else:
        data = dict(zip(names, [*columns, *static.values()], strict=True))
        frame = nw.from_dict(data, backend=backend).to_native()
    texts = [name for name, cells in static.items() if isinstance(cells, list)]
    coded = [nw.col(name) for name in texts if has_category_type(source[name])]
    return nw.from_native(frame).with_columns(c.cast(nw.Categorical) for c in coded).to_native()
