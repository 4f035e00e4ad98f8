"""Files of statistics programs: Stata (.dta), SPSS (.sav, .zsav), SAS (.sas7bdat, .xpt)."""

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pckid.frontends.tables.isolation import read_apart
from pckid.frontends.tables.sources import Source, refuse_large, refuse_wide, require_library
from pckid.frontends.tables.table import as_whole

SPSS = (b"$FL2", b"$FL3")
STATA = (
    b"<stata_dta>",
    *(bytes([version, order]) for version in range(104, 116) for order in (1, 2)),
)
SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
XPORT = (b"HEADER RECORD*******LIBRARY", b"HEADER RECORD*******LIBV8")
STATISTICS = (*SPSS, *STATA, SAS, *XPORT)
"""How files of statistics programs begin."""

_ROWS_AT_ONCE = 1 << 16


def read_statistics(source: Source) -> Any:
    """Read a file of Stata, SPSS or SAS as an Arrow table.

    A column all of whose values have labels is read as these labels, one in which some have none,
    such as a scale with its ends named, as numbers. What the file declares missing is missing.
    """
    require_library("pyreadstat", "Reading Stata, SPSS and SAS", "stats")
    return pa.concat_tables(read_apart(parse_statfile, source))


def parse_statfile(source: Source) -> Iterator[Any]:
    """Yield the table."""
    import pyreadstat

    content = b"".join(source.pieces())
    reader: Any = pyreadstat.read_dta
    if content.startswith(SPSS):
        reader = pyreadstat.read_sav
    elif content.startswith((SAS, *XPORT)):
        reader = pyreadstat.read_xport if content.startswith(XPORT) else pyreadstat.read_sas7bdat
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
    labels = told.variable_value_labels
    yield pa.table(
        {
            key: _labelled_column([part[key] for part in parts], labels.get(key, {}))
            for key in parts[0]
        }
    )


def _labelled_column(parts: Sequence[Sequence[Any]], labels: Mapping[Any, str]) -> Any:
    """Make a column; its values are replaced by labels if every one of them has one."""
    cells = [cell for part in parts for cell in part]
    observed = {cell for cell in cells if cell is not None and cell == cell}
    if labels and observed and all(cell in labels for cell in observed):
        return pa.array([labels.get(cell) for cell in cells], pa.string())
    if all(isinstance(cell, str) for cell in observed):
        return pa.array([cell or None for cell in cells], pa.string())
    return as_whole(pa.array(cells, from_pandas=True))
