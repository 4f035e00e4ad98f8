"""Tables from files as dataframes: numbers, categories and dates as they are meant."""

import importlib.util
import os
from collections.abc import Callable
from inspect import Parameter, signature
from textwrap import fill
from typing import Any, NamedTuple

from pckid._utils.files import ORIGIN
from pckid.exceptions import OptionError, TableError
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import OPTIONS, as_parameter, as_parameters, drop_column, pick_options
from pckid.frontends.preparing import prepare
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.wording import describe_origin, refuse_undecided, write_findings

PYTHON = Dialect(
    write=as_parameters,
    names={
        **{key: as_parameter(key) for key in ("columns", "categorical", "sheet", "drop_rows")},
        "dates": as_parameter("dates", ["use"]),
        "skip_first": as_parameter("skip_first", [0]),
        "header": as_parameter("header", [False]),
        "n_clusters": "n_clusters",
        "together": "Give its values as groups= to fit and assess.",
    },
    lines=lambda columns: (
        f"pckid.series.from_long(frame, {', '.join(f'{k}={v!r}' for k, v in columns.items())})"
    ),
    log=lambda columns: (
        "PCKID(log_columns=list(frame.columns))"
        if columns == ["all"]
        else f"PCKID(log_columns={list(columns)!r})"
    ),
    outcomes=lambda columns: (
        f"{as_parameters([drop_column(name) for name in columns])}, and compare_outcomes compares "
        f"the clusters with {'it' if len(columns) == 1 else 'them'}"
    ),
    groups=lambda name: (
        f"read the table with drop={[name]!r}, and give them to fit as known=, which keeps them"
    ),
    yes="take_advice=True",
)
"""How options are written for users of Python: as parameters of `read_table`."""


class TableFrame(NamedTuple):
    """A table that was read.

    Attributes
    ----------
    frame : pandas.DataFrame or pyarrow.Table
        The columns to cluster by: numbers as floats, NaN where missing, and categories. In pandas
        the index names the rows, if a column does so. An Arrow table where pandas is not installed.
    notes : list of str
        How columns were read, which were left out, and what looks wrong.
    """

    frame: Any
    notes: list[str]


_OFFERED = (
    "na_values", "numbers", "dates", "columns", "drop", "categorical", "ordinal", "place",
    "not_missing",
    "ignore_case", "limits", "take_advice", "delimiter", "decimal", "encoding", "header",
    "sheet", "table", "layer", "skip_first", "skip_below", "skip_last", "drop_rows", "keep_rows",
    "visible_rows", "transpose", "as_is",
)  # fmt: skip
_KINDS = {"N": "int", "": "bool"}


def _take_options(function: Callable[..., TableFrame]) -> Callable[..., TableFrame]:
    """Give a function the options of a table as parameters, and describe these in its docstring."""
    own, lines = signature(function), []
    parameters = [each for each in own.parameters.values() if each.kind != each.VAR_KEYWORD]
    for name, default, told, _, shows, choices, _ in map(OPTIONS.__getitem__, _OFFERED):
        kind = "sequence of str" if OPTIONS[name].several else _KINDS.get(shows, "str")
        kind = f"{{{', '.join(map(repr, choices))}}}" if choices else kind
        text = fill(told, 96, initial_indent=" " * 8, subsequent_indent=" " * 8)
        lines.append(f"    {name} : {kind}, default={default!r}\n{text}")
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
    function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    if function.__doc__:
        function.__doc__ = function.__doc__.replace("    **options\n", "\n".join(lines) + "\n")
    return function


@_take_options
def read_table(path: str | os.PathLike[str], **options: Any) -> TableFrame:
    """Read a table as the command line does.

    Numbers are read as they are written, with thousands separators, currency, percent signs and
    units. Columns that name the rows are left out, and so are dates unless `dates` says otherwise.

    Parameters
    ----------
    path : str or path-like
        A file of CSV, a spreadsheet (.xlsx, .xls, .ods), Stata, SPSS, SAS, Parquet, Arrow, JSON
        lines, SQLite, DuckDB or AnnData, also compressed, or a folder of Parquet files.
    **options

    Returns
    -------
    frame : pandas.DataFrame or pyarrow.Table
        The columns to cluster by; an Arrow table where pandas is not installed.
    notes : list of str
        How columns were read, which were left out, and what looks wrong.

    Raises
    ------
    ValueError
        If a column cannot be read, or can be read in two ways; the message lists all of them, with
        what to do about each.

    Examples
    --------
    >>> import os, tempfile
    >>> import pckid
    >>> path = os.path.join(tempfile.mkdtemp(), "sales.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("customer;revenue\\nK07;5.345,73\\nK12;845,00\\nK13;1.200,50\\n")
    >>> frame, notes = pckid.read_table(path)
    >>> frame["revenue"].tolist()
    [5345.73, 845.0, 1200.5]
    >>> print(notes[0])
    Left out, because they name the rows (columns=[...] takes them): customer.
    """
    path = os.fsdecode(path)
    unknown = options.keys() - set(_OFFERED)
    if unknown:
        raise TypeError(f"read_table has no parameter {min(unknown)!r}.")
    reading, columns = pick_options(options)
    try:
        prepared = prepare(open_table(path, reading, take_advice=columns.take_advice), columns)
    except OptionError as error:
        named = " and ".join(map(as_parameter, error.options))
        raise TableError(f"{path}: {error} See {named}.") from None
    refuse_undecided(prepared, PYTHON)
    return TableFrame(_to_frame(prepared), write_findings(prepared, PYTHON))


def _to_frame(prepared: Prepared) -> Any:
    """Make a frame: of pandas if it is installed, of Arrow otherwise.

    One of pandas carries in its `attrs` what a report says of the file.
    """
    if importlib.util.find_spec("pandas") is None:
        frame, places = prepared.frame, prepared.positions
        for name in places.column_names if places is not None else ():
            frame = frame.append_column(name, places.column(name))
        return frame
    import pandas as pd

    texts = {name: pd.Categorical(cells) for name, cells in prepared.texts.items()}
    for name, levels in prepared.levels.items():
        texts[name] = pd.Categorical(prepared.texts[name], categories=levels, ordered=True)
    columns = dict(zip(prepared.names, prepared.X.T, strict=True)) | texts
    frame = pd.DataFrame(columns | dict(prepared.places or {}))
    if prepared.row_names is not None:
        cells = prepared.table.data.column(prepared.row_names).to_pylist()
        frame.index = pd.Index(cells, name=prepared.row_names)
    frame.attrs[ORIGIN] = describe_origin(prepared, PYTHON)
    return frame
