"""Columns of a table as numbers or as categories, as their readings say."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.tables.booleans import unify_booleans
from pckid.tables.kinds import Reading, ReadingRules, find_reading_anew, find_readings
from pckid.tables.numbers import (
    MissingTokens,
    NotNumbers,
    check_finite_columns,
    check_no_text,
    is_text,
    observed_cells,
    try_columns,
    try_numbers,
)
from pckid.tables.table import FileTable

MAX_CATEGORIES = 255


class Columns(NamedTuple):
    """Columns that were read.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns), float64
        NaN where a cell is missing or cannot be read; categories are numbered in alphabetical
        order.
    texts : dict of name to list of str or None
        The cells of the columns of categories.
    readings : dict of name to Reading
        How the columns were read.
    wrong : dict of name to NotNumbers
        What could not be read.
    """

    X: np.ndarray
    texts: dict[str, list[str | None]]
    readings: dict[str, Reading]
    wrong: dict[str, NotNumbers]


def read_columns(
    table: FileTable,
    names: Sequence[str],
    missing: MissingTokens,
    rules: ReadingRules | None = None,
    readings: Mapping[str, Reading] | None = None,
) -> Columns:
    """Read columns as numbers or as categories.

    Parameters
    ----------
    table : Table
    names : sequence of str
        The columns wanted, in this order.
    missing : MissingTokens
    rules : ReadingRules, optional
    readings : mapping of name to Reading, optional
        How the columns are to be read, as from `find_readings`; found out by default, and no
        column names the rows then. Names of the rows are read as categories.

    Returns
    -------
    columns : Columns

    See Also
    --------
    refuse_unread : Raise for what could not be read.
    """
    rules = rules or ReadingRules()
    if readings is None:
        readings = find_readings(table, names, missing, rules._replace(kept=frozenset(names)))
    found = dict(readings)
    texts: dict[str, list[str | None]] = {}
    columns: dict[str, np.ndarray] = {}
    wrong: dict[str, NotNumbers] = {}
    numeric = [name for name in names if _is_number(found[name])]
    forms = {name: found[name].form for name in numeric}
    for name, values in zip(numeric, try_columns(table, numeric, missing, forms), strict=True):
        plainly = found[name].kind == "number" and forms[name] is None
        if isinstance(values, NotNumbers) and plainly and is_text(table.data.column(name).type):
            found[name] = find_reading_anew(table, name, missing, rules)
            if _is_number(found[name]):
                values = try_numbers(table, name, missing, found[name].form)
        if isinstance(values, np.ndarray):
            columns[name] = values
        elif _is_number(found[name]):
            wrong[name] = values
            columns[name] = np.full(table.data.num_rows, np.nan)
    for name in names:
        if name not in columns:
            texts[name] = unify_booleans(text_cells(table, name, missing))
            columns[name] = _number_categories(texts[name])
    return Columns(np.column_stack([columns[name] for name in names]), texts, found, wrong)


def refuse_unread(columns: Columns, names: Sequence[str], table: FileTable) -> None:
    """Raise for what could not be read, for too many categories and for infinite numbers."""
    if columns.wrong:
        check_no_text(columns.wrong, table.parts)
    for name, cells in columns.texts.items():
        n_distinct, n_observed = count_categories(cells)
        if MAX_CATEGORIES < n_distinct < n_observed:
            raise TableError(
                f"Column '{brief(name)}' holds {n_distinct:,} different texts in {n_observed:,} "
                f"rows, too many for categories (at most {MAX_CATEGORIES}). Leave it out.",
                "With --drop, or name it as --id or --label.",
            )
    check_finite_columns(columns.X, names, table.parts)


def count_categories(cells: Sequence[str | None]) -> tuple[int, int]:
    """Count the different texts of a column, and those cells that are not missing."""
    observed = [cell for cell in cells if cell is not None]
    return len(set(observed)), len(observed)


def text_cells(table: FileTable, name: str, missing: MissingTokens) -> list[str | None]:
    """Read a column as texts without the blanks around them; None where a cell is missing."""
    column = table.data.column(name)
    if is_text(column.type):
        return observed_cells(column, missing).to_pylist()
    return [_as_text(cell, missing) for cell in column.to_pylist()]


def _is_number(reading: Reading) -> bool:
    """Tell whether a column is to be read as numbers."""
    return reading.kind in ("number", "date", "duration", "text")


def _as_text(cell: Any, missing: MissingTokens) -> str | None:
    """Write a cell of numbers as a text file would."""
    if cell is None or cell != cell or (isinstance(cell, int | float) and cell in missing.numbers):
        return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _number_categories(cells: list[str | None]) -> np.ndarray:
    """Number the categories of a column, of shape (n_rows,)."""
    distinct = sorted({cell for cell in cells if cell is not None})
    index = {category: float(code) for code, category in enumerate(distinct)}
    return np.array([np.nan if cell is None else index[cell] for cell in cells], dtype=np.float64)
