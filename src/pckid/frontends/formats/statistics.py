"""Files of statistics programs: Stata, SPSS and SAS."""

import datetime
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pckid.frontends.formats.headers import unique_names
from pckid.frontends.formats.isolation import read_apart
from pckid.frontends.formats.sources import Source, refuse_large, refuse_wide, require_library
from pckid.frontends.formats.table import FileTable, as_whole
from pckid.frontends.options import ReadOptions

_ROWS_AT_ONCE = 1 << 16
_SPSS = (b"$FL2", b"$FL3")
_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_WEEKS = 52
# Formats of periods that Stata counts from the first of 1960, and how many a year has.
_PERIODS = {"%tm": 12, "%tq": 4, "%th": 2, "%tw": _WEEKS}
_MAX_PERIODS = 10_000
_XPORT = (b"HEADER RECORD*******LIBRARY", b"HEADER RECORD*******LIBV8")


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a file whole.

    A column all of whose values have labels is read as these labels, one in which some have none,
    such as a scale with its ends named, as numbers. What the file declares missing is missing.
    """
    require_library("pyreadstat", "Reading Stata, SPSS and SAS", "stats")
    data = pa.concat_tables(read_apart(parse_statfile, source))
    names, facts = unique_names(data.column_names)
    return FileTable(data.rename_columns(names), None, (), source.name, facts)


def parse_statfile(source: Source) -> Iterator[Any]:
    """Yield the table."""
    import pyreadstat

    content = b"".join(source.pieces())
    reader: Any = pyreadstat.read_dta
    if content.startswith(_SPSS):
        reader = pyreadstat.read_sav
    elif content.startswith((_SAS, *_XPORT)):
        reader = pyreadstat.read_xport if content.startswith(_XPORT) else pyreadstat.read_sas7bdat
    parts: list[dict[str, list[Any]]] = []
    n_rows, found = 0, _ROWS_AT_ONCE
    while found == _ROWS_AT_ONCE:
        limits = {"row_limit": _ROWS_AT_ONCE, "row_offset": n_rows}
        columns, told = reader(io.BytesIO(content), output_format="dict", **limits)
        refuse_wide(len(columns), source.name)
        found = len(next(iter(columns.values()), ()))
        n_rows += found
        refuse_large(8 * n_rows * len(columns), source.name, source.max_bytes)
        parts.append(columns)
    labels, forms = told.variable_value_labels, told.original_variable_types
    columns = {}
    for key in parts[0]:
        cells = [part[key] for part in parts]
        n_a_year = _PERIODS.get((forms.get(key) or "").replace("-", "")[:3])
        columns[key] = _first_days(cells, n_a_year) if n_a_year else None
        if columns[key] is None:
            columns[key] = _labelled_column(cells, labels.get(key, {}))
    yield pa.table(columns)


def _first_days(parts: Sequence[Sequence[Any]], n_a_year: int) -> Any:
    """Make a column of the first days of months, quarters or weeks, counted from 1960 on.

    Weeks are those of Stata, 52 in each year. None where a cell counts none of these.
    """
    days: list[Any] = []
    for cell in (cell for part in parts for cell in part):
        if cell is None or cell != cell:
            days.append(None)
            continue
        if isinstance(cell, str) or cell != int(cell) or abs(cell) > _MAX_PERIODS:
            return None
        years, period = divmod(int(cell), n_a_year)
        month, week = (1, period) if n_a_year == _WEEKS else (1 + 12 // n_a_year * period, 0)
        days.append(datetime.date(1960 + years, month, 1) + datetime.timedelta(weeks=week))
    return pa.array(days, pa.date32())


def _labelled_column(parts: Sequence[Sequence[Any]], labels: Mapping[Any, str]) -> Any:
    """Make a column; its values are replaced by labels if every one of them has one."""
    cells = [cell for part in parts for cell in part]
    observed = {cell for cell in cells if cell is not None and cell == cell}
    if labels and observed and all(cell in labels for cell in observed):
        return pa.array([labels.get(cell) for cell in cells], pa.string())
    if all(isinstance(cell, str) for cell in observed):
        return pa.array([cell or None for cell in cells], pa.string())
    return as_whole(pa.array(cells, from_pandas=True))
