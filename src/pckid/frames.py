"""Tables from files as dataframes: numbers, categories and dates as they are meant."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pckid._utils.commands import as_argument, options_as_parameters
from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.inspection import notes
from pckid.inspection.problems import Problem, find_problems, is_used
from pckid.inspection.tables import choose_row_names
from pckid.tables import (
    Columns,
    FileTable,
    MissingTokens,
    Reading,
    Scan,
    find_readings,
    parse_rules,
    read_columns,
    read_whole,
    scan_table,
)


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
    path: str,
    *,
    na_values: Sequence[str] = (),
    numbers: Sequence[str] = (),
    dates: Sequence[str] = (),
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    take_advice: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    sheet: str | None = None,
    skip_first: int | None = None,
    skip_last: int = 0,
) -> TableFrame:
    """Read a table as the command line does.

    Numbers are read as they are written, with thousands signs, currency, percent signs and units.
    Columns that name the rows are left out, and so are dates unless `dates` says otherwise.

    Parameters
    ----------
    path : str
        A CSV, TSV, Parquet or Arrow file, also compressed, a folder of Parquet files, a
        spreadsheet (.xlsx, .xls, .ods), or a file of Stata, SPSS or SAS.
    na_values : sequence of str, default=()
        Further contents of cells that mean missing, such as "-9999".
    numbers : sequence of str, default=()
        How numbers are written, as 1234.56 would be: "1.234,56" for all columns, or
        "revenue=1.234,56" for one. Found out by default.
    dates : sequence of str, default=()
        "leave-out", "use" (days; durations in hours), "month", "hour", "day-first" or
        "month-first", for all columns or for one: "visit=use".
    columns : sequence of str, default=()
        The columns to use, names of rows among them; all by default.
    drop : sequence of str, default=()
        Columns to leave out.
    categorical : sequence of str, default=()
        Columns of numbers that are codes of categories.
    take_advice : bool, default=False
        Do what `pckid inspect` would advise, instead of raising an error that says so.
    delimiter, decimal, encoding : str, default=None
        How a text file is written; found out by default.
    header : bool, default=True
        Whether the first row of a text file or spreadsheet holds the names.
    sheet : str, default=None
        Sheet of a spreadsheet, by its name or its number from 1; by default the first that is
        visible and holds a table.
    skip_first : int, default=None
        Lines of a text file, or rows of a sheet, above the table; found out by default.
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
    ...     _ = file.write("customer_no;revenue\\n1007;5.345,73\\n1012;845,00\\n1013;1.200,50\\n")
    >>> frame, notes = pckid.read_table(path)
    >>> frame["revenue"].tolist()
    [5345.73, 845.0, 1200.5]
    >>> print(notes[0])
    Left out, because they name the rows (columns=[...] takes them): customer_no.
    """

    given: dict[str, Any] = {
        "na_values": tuple(na_values), "numbers": tuple(numbers), "dates": tuple(dates),
        "drop": tuple(drop), "categorical": tuple(categorical), "columns": tuple(columns),
        "skip_last": skip_last, "yes": take_advice,
    }  # fmt: skip
    with options_as_parameters():
        scan = scan_table(
            path, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header,
            sheet=sheet, skip_first=skip_first, skip_last=skip_last,
        )  # fmt: skip
        return _read_scan(scan, given, decimal)


def _read_scan(scan: Scan, given: dict[str, Any], decimal: str | None) -> TableFrame:
    """Read a table that was opened; take advice if it is asked for."""
    table = read_whole(scan)
    for name in (*given["drop"], *given["categorical"], *given["columns"]):
        if name not in table.names:
            raise TableError(f"{scan.source} has no column '{brief(name)}'.")
    first = _read_selected(table, given, decimal)
    taken: list[str] = []
    table, found = notes.take_advice(
        table, first, given, lambda table: _read_selected(table, given, decimal), taken.append
    )
    notes.refuse_problems(table.source, found.problems, "take_advice=True")
    said = [*scan.notes, *taken, *notes.reading_notes(found.left_out, found.readings)]
    said += notes.problem_lines(found.problems)
    return TableFrame(_to_frame(found, table), said)


class _Found(NamedTuple):
    """Columns that were read, and what is known of them."""

    names: list[str]
    columns: Columns
    problems: list[Problem]
    readings: dict[str, Reading]
    left_out: list[str]


def _read_selected(table: FileTable, given: Mapping[str, Any], decimal: str | None) -> _Found:
    """Read the columns that are clustered by."""

    missing = MissingTokens.with_defaults(given["na_values"])
    rules = parse_rules(
        table.names, numbers=given["numbers"], dates=given["dates"], decimal=decimal,
        categorical=given["categorical"], kept=given["columns"],
    )  # fmt: skip
    wanted = given["columns"] or table.names
    names = [name for name in wanted if name not in given["drop"]]
    readings = find_readings(table, names, missing, rules)
    used = [name for name in names if is_used(readings[name], rules, name)]
    if not used:
        raise TableError(
            f"{table.source} holds nothing but dates, free text and names of rows. If dates tell "
            f"the rows apart, add {as_argument('dates', 'use')}; {as_argument('columns')} takes "
            f"names of rows, {as_argument('categorical')} takes text as categories."
        )
    columns = read_columns(table, used, missing, rules, readings)
    problems = find_problems(columns, used, table, rules)
    left_out = [name for name in names if not is_used(readings[name], rules, name)]
    return _Found(used, columns, problems, readings | columns.readings, left_out)


def _to_frame(found: _Found, table: FileTable) -> Any:
    """Make a frame: of pandas if it is installed, of Arrow otherwise."""

    numbers = dict(zip(found.names, found.columns.X.T, strict=True))
    texts = found.columns.texts
    if importlib.util.find_spec("pandas") is None:
        import pyarrow as pa

        return pa.table({n: pa.array(texts[n]) if n in texts else numbers[n] for n in found.names})
    import pandas as pd

    row_names = choose_row_names(found.readings)
    index = None
    if row_names is not None:
        index = pd.Index(table.data.column(row_names).to_pylist(), name=row_names)
    return pd.DataFrame(
        {n: pd.Categorical(texts[n]) if n in texts else numbers[n] for n in found.names},
        index=index,
    )
