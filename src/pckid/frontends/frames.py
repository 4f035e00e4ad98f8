"""Tables from files as dataframes: numbers, categories and dates as they are meant."""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pckid._utils.commands import as_parameter, as_parameters
from pckid._utils.files import ORIGIN, printable_name
from pckid.exceptions import OptionError, TableError
from pckid.frontends.options import pairs_of, pick_options
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.tables.preparing import prepare
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.wording import LEFT_OUT, Dialect, refuse_undecided, write_findings

PYTHON = Dialect(
    write=lambda fixes: as_parameters(pairs_of(fixes)),
    names={
        **{key: as_parameter(key) for key in ("columns", "categorical", "sheet")},
        "dates": as_parameter("dates", ["use"]),
        "skip_first": as_parameter("skip_first", [0]),
        "header": as_parameter("header", [False]),
        "n_clusters": "n_clusters",
        "together": "Give its values as groups= to fit and assess.",
    },
    lines=lambda columns: (
        f"pckid.series.from_long(frame, {', '.join(f'{k}={v!r}' for k, v in columns.items())})"
    ),
    log=lambda columns: f"PCKID(log_columns={list(columns)!r})",
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


def read_table(
    path: str | os.PathLike[str],
    *,
    na_values: Sequence[str] = (),
    numbers: Sequence[str] = (),
    dates: Sequence[str] = (),
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    not_missing: Sequence[str] = (),
    ignore_case: bool = False,
    limits: str = "",
    take_advice: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    sheet: str | int | None = None,
    skip_first: int | None = None,
    skip_below: int = 0,
    skip_last: int = 0,
) -> TableFrame:
    """Read a table as the command line does.

    Numbers are read as they are written, with thousands separators, currency, percent signs and
    units. Columns that name the rows are left out, and so are dates unless `dates` says otherwise.

    Parameters
    ----------
    path : str or path-like
        A CSV, TSV, Parquet or Arrow file, also compressed, a folder of Parquet files, a
        spreadsheet (.xlsx, .xls, .ods), or a file of Stata, SPSS or SAS.
    na_values : sequence of str, default=()
        Further contents of cells that mean missing, such as "-9999", or "age=-9" in one column.
    numbers : sequence of str, default=()
        How numbers are written, as 1234.56 would be: "1.234,56" for all columns, or
        "revenue=1.234,56" for one. Detected by default.
    dates : sequence of str, default=()
        "leave-out", "use" (days; durations in hours), "month", "hour", "day-first" or
        "month-first", for all columns or for one: "visit=use". Letters of strptime use dates that
        are written otherwise: "born=%d %b %Y".
    columns : sequence of str, default=()
        The columns to use, names of rows among them; all by default.
    drop : sequence of str, default=()
        Columns to leave out.
    categorical : sequence of str, default=()
        Columns of numbers that are codes of categories.
    not_missing : sequence of str, default=()
        Contents of cells that usually mean missing, and are values here. "none", "nil" and "-" mean
        missing only among numbers.
    ignore_case : bool, default=False
        Whether categories that differ in capitals and blanks only are one: "f" and "F ".
    limits : {"", "value", "half", "missing"}, default=""
        What becomes of limits such as "<0.5" and ">100" among numbers; asked about by default.
        "half" halves those with "<".
    take_advice : bool, default=False
        Do what `pckid inspect` would advise, instead of raising an error that says so.
    delimiter, decimal, encoding : str, default=None
        How a text file is written; detected by default.
    header : bool, default=True
        Whether the first row of a text file or spreadsheet holds the names.
    sheet : str or int, default=None
        Sheet of a spreadsheet, by its name or its number from 1, or "all" for every one with the
        columns of the first; by default the first that is visible and holds a table.
    skip_first : int, default=None
        Lines of a text file, or rows of a sheet, above the table; detected by default.
    skip_below : int, default=0
        Rows below the names to leave out, such as units and the questions of a survey.
    skip_last : int, default=0
        Rows at the end of a text file or sheet to leave out, such as totals and notes; blank ones
        are not counted.

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
    reading, options = pick_options(locals())
    with parameter_errors(path):
        prepared = prepare(open_table(path, reading), options)
    refuse_undecided(prepared, PYTHON)
    return TableFrame(_to_frame(prepared), write_findings(prepared, PYTHON))


@contextmanager
def parameter_errors(path: str) -> Iterator[None]:
    """Name the parameters that do not suit a table in the error."""
    try:
        yield
    except OptionError as error:
        named = " and ".join(map(as_parameter, error.options))
        raise TableError(f"{path}: {error} See {named}.") from None


def _to_frame(prepared: Prepared) -> Any:
    """Make a frame: of pandas if it is installed, of Arrow otherwise.

    One of pandas carries in its `attrs` what a report says of the file.
    """
    if importlib.util.find_spec("pandas") is None:
        return prepared.frame
    import pandas as pd

    texts = {name: pd.Categorical(cells) for name, cells in prepared.texts.items()}
    frame = pd.DataFrame(dict(zip(prepared.names, prepared.X.T, strict=True)) | texts)
    if prepared.row_names is not None:
        cells = prepared.table.data.column(prepared.row_names).to_pylist()
        frame.index = pd.Index(cells, name=prepared.row_names)
    frame.attrs[ORIGIN] = describe_origin(prepared, PYTHON)
    return frame


def describe_origin(prepared: Prepared, words: Dialect) -> dict[str, Any]:
    """Describe where a table comes from and how it was read: fields of a report's `Background`."""
    return {
        "source": printable_name(prepared.table.source),
        "sha256": prepared.table.sha256,
        "left_out": {name: LEFT_OUT[why] for name, why in prepared.left_out.items()},
        "units": prepared.units,
        "notes": write_findings(prepared, words, skip="left_out"),
    }
