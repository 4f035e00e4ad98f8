"""Columns of a table as numbers or as categories: text is categories, and what is named such."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.tables.numbers import (
    MissingTokens,
    NotNumbers,
    is_text,
    observed_cells,
    refuse_infinite,
    refuse_text,
    try_columns,
)
from pckid.tables.table import Table

MAX_CATEGORIES = 255


class Columns(NamedTuple):
    """Columns that were read.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns), float64
        NaN where a cell is missing; categories are numbered in alphabetical order.
    texts : dict of name to list of str or None
        The cells of the columns of categories.
    """

    X: np.ndarray
    texts: dict[str, list[str | None]]


def read_columns(
    table: Table,
    names: Sequence[str],
    missing: MissingTokens,
    declared: Collection[str] = (),
    *,
    guess: bool = True,
) -> Columns:
    """Read columns as numbers or as categories.

    Parameters
    ----------
    table : Table
    names : sequence of str
        The columns wanted, in this order.
    missing : MissingTokens
    declared : collection of str
        Columns that hold categories, whatever they look like.
    guess : bool, default=True
        Take columns of text as categories too. A column in which most cells are numbers is
        refused: its texts are more likely codes for missing values. So is one in which most are
        numbers to a reader alone, such as 1,234 or 5 %.

    Returns
    -------
    columns : Columns

    Raises
    ------
    TableError
        If a column can be read neither way, or holds too many categories.
    """
    texts: dict[str, list[str | None]] = {}
    columns: dict[str, np.ndarray] = {}
    wrong: dict[str, NotNumbers] = {}
    declared = set(declared)
    for name, found in zip(names, try_columns(table, names, missing), strict=True):
        guessed = isinstance(found, NotNumbers) and guess and is_categories(found, table, name)
        if name in declared or guessed:
            texts[name] = text_cells(table, name, missing)
            columns[name] = _codes(name, texts[name])
        elif isinstance(found, NotNumbers):
            wrong[name] = found
        else:
            columns[name] = found
    if wrong:
        refuse_text(wrong, table.parts)
    X = np.column_stack([columns[name] for name in names])
    refuse_infinite(X, names, table.parts)
    return Columns(X, texts)


def text_cells(table: Table, name: str, missing: MissingTokens) -> list[str | None]:
    """Read a column as texts without the blanks around them; None where a cell is missing."""
    column = table.data.column(name)
    if is_text(column.type):
        return observed_cells(column, missing).to_pylist()
    return [_as_text(cell, missing) for cell in column.to_pylist()]


def is_categories(found: NotNumbers, table: Table, name: str) -> bool:
    """Tell whether a column that holds no numbers is taken as categories.

    At least half of its observed cells are texts, and no numbers to a reader either.
    """
    mostly = (found.n_cells - found.n_number_like) * 2 >= found.n_observed
    return mostly and is_text(table.data.column(name).type)


def _as_text(cell: Any, missing: MissingTokens) -> str | None:
    """Write a cell of numbers as a text file would."""
    if cell is None or cell != cell or (isinstance(cell, int | float) and cell in missing.numbers):
        return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _codes(name: str, cells: list[str | None]) -> np.ndarray:
    """Number the categories of a column, of shape (n_rows,); too many are refused."""
    observed = [cell for cell in cells if cell is not None]
    distinct = sorted(set(observed))
    if MAX_CATEGORIES < len(distinct) < len(observed):
        raise TableError(
            f"Column '{brief(name)}' holds {len(distinct):,} different texts in "
            f"{len(observed):,} rows, too many for categories (at most {MAX_CATEGORIES}). Leave "
            "it out with --drop, or name it as --id or --label."
        )
    index = {category: float(code) for code, category in enumerate(distinct)}
    return np.array([np.nan if cell is None else index[cell] for cell in cells])
