"""Files of statistics programs: Stata (.dta), SPSS (.sav, .zsav), SAS (.sas7bdat, .xpt)."""

import importlib.util
import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.tables.isolation import Read, read_apart
from pckid.tables.sources import Source, refuse_large
from pckid.tables.table import as_whole

SPSS = (b"$FL2", b"$FL3")
STATA = (
    b"<stata_dta>",
    *(bytes([version, order]) for version in range(104, 116) for order in (1, 2)),
)
SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
XPORT = (b"HEADER RECORD*******LIBRARY", b"HEADER RECORD*******LIBV8")

_ROWS_AT_ONCE = 1 << 16


def is_statistics(start: bytes) -> bool:
    """Tell by its first bytes whether a file comes from a statistics program."""
    return start.startswith((*SPSS, *STATA, SAS, *XPORT))


def read_statistics(source: Source) -> Read:
    """Read a file of Stata, SPSS or SAS, in a process of its own.

    A column all of whose values have labels is read as these labels, one in which some have none,
    such as a scale with its ends named, as numbers. What the file declares missing is missing.
    """
    if importlib.util.find_spec("pyreadstat") is None:
        raise ImportError(
            "Reading Stata, SPSS and SAS needs pyreadstat: python -m pip install 'pckid[stats]'"
        )
    return read_apart(parse_statfile, source)


def parse_statfile(source: Source) -> Read:
    """Read a file, a number of rows at a time."""
    import pyreadstat

    content = b"".join(source.pieces())
    reader = _reader(pyreadstat, content[:64])
    parts: list[dict[str, list[Any]]] = []
    n_rows, found = 0, _ROWS_AT_ONCE
    while found == _ROWS_AT_ONCE:
        limits = {"row_limit": _ROWS_AT_ONCE, "row_offset": n_rows}
        try:
            columns, told = reader(io.BytesIO(content), output_format="dict", **limits)
        except Exception as error:  # which ones, and where they are, depends on the version
            raise TableError(_damaged_statfile(source.name, str(error))) from None
        found = len(next(iter(columns.values()), ()))
        n_rows += found
        refuse_large(8 * n_rows * len(columns), source.name, source.max_bytes)
        parts.append(columns)
    labels = told.variable_value_labels
    return Read(
        pa.table(
            {
                key: _labelled_column([part[key] for part in parts], labels.get(key, {}))
                for key in parts[0]
            }
        )
    )


def _damaged_statfile(name: str, reason: str) -> str:
    """Say that a file cannot be read."""
    return (
        f"{name} is damaged or cut short ({brief(reason, 200)}). Copy or download it again, or "
        "export it as CSV."
    )


def _reader(pyreadstat: Any, start: bytes) -> Any:
    """Choose the function that reads a file by its first bytes."""
    if start.startswith(SPSS):
        return pyreadstat.read_sav
    if start.startswith(SAS):
        return pyreadstat.read_sas7bdat
    return pyreadstat.read_xport if start.startswith(XPORT) else pyreadstat.read_dta


def _labelled_column(parts: Sequence[Sequence[Any]], labels: Mapping[Any, str]) -> Any:
    """Make a column; its values are replaced by labels if every one of them has one."""
    cells = [cell for part in parts for cell in part]
    observed = {cell for cell in cells if cell is not None and cell == cell}
    if labels and observed and all(cell in labels for cell in observed):
        return pa.array([labels.get(cell) for cell in cells], pa.string())
    if all(isinstance(cell, str) for cell in observed):
        return pa.array([cell or None for cell in cells], pa.string())
    return as_whole(pa.array(cells, from_pandas=True))
