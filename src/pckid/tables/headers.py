"""Find the header of a sheet: below titles, notes and blank rows, over one row or several."""

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

Grid = list[list[Any]]
Range = tuple[tuple[int, int], tuple[int, int]]  # first and last cell, as (row, column) from 0

_MOST_HEADER_ROWS = 4
_NEARLY_ALL = 0.8


class Header(NamedTuple):
    """Where the names of the columns are, and what they are.

    Attributes
    ----------
    first, end : int
        The first row of the header, and the first row below it.
    names : list of str
        Empty where a column has no name.
    """

    first: int
    end: int
    names: list[str]


def find_header(rows: Grid, merged: Sequence[Range] = ()) -> Header:
    """Find the header among the first rows of a sheet.

    It is the first row with a cell in nearly every column. Where cells of it are merged across
    some columns, or down, the rows below them belong to it: "2023" over "Q1" gives "2023 Q1".

    Parameters
    ----------
    rows : list of lists, of shape (n_rows, n_columns)
        Empty cells are "".
    merged : sequence of ranges

    Returns
    -------
    header : Header
    """
    width = len(rows[0])
    grid = [list(row) for row in rows]
    near = [
        r
        for r in merged
        if r[0][0] < len(rows) and _header_columns(r) < max(2, width * _NEARLY_ALL)
    ]
    for merge in near:
        _fill_merged(grid, merge)
    counts = [width - row.count("") for row in grid]
    first = _first_row(rows, grid, counts)
    end = first + 1
    while end < min(len(rows), first + _MOST_HEADER_ROWS) and _continues(rows, near, first, end):
        end += 1
    columns = zip(*grid[first:end], strict=True)
    return Header(first, end, [_name(cells) for cells in columns])


def _header_columns(merge: Range) -> int:
    """Count the columns of a merged range."""
    return merge[1][1] - merge[0][1] + 1


def _fill_merged(grid: Grid, merge: Range) -> None:
    """Write the content of a merged range, which its first cell has, into all of its cells."""
    (top, left), (bottom, right) = merge
    for row in grid[top : bottom + 1]:
        row[left : right + 1] = [grid[top][left]] * len(row[left : right + 1])


def _first_row(rows: Grid, grid: Grid, counts: list[int]) -> int:
    """Choose the first row that is nearly full; rows apart from the table come before a blank one.

    Such a row is passed over if it holds more than texts, as "Date: | 2024-01-31" does, and a row
    of texts begins another block below.
    """
    enough = [i for i, count in enumerate(counts) if count >= _NEARLY_ALL * max(counts)]
    first = enough[0]
    blank = next((i for i in range(first, len(rows)) if counts[i] == 0), None)
    if blank is not None and not _is_texts(rows[first]):
        later = [i for i in enough if i > blank and counts[i - 1] == 0 and _is_texts(rows[i])]
        return later[0] if later and later[0] + 1 < len(rows) else first
    return first


def _continues(rows: Grid, merged: Sequence[Range], first: int, row: int) -> bool:
    """Tell whether a row still belongs to the header: merged cells reach or lie over it."""
    if any(top < row <= bottom and top >= first for (top, _), (bottom, _) in merged):
        return True
    above = [r for r in merged if r[0][0] <= row - 1 <= r[1][0] and _header_columns(r) > 1]
    # Below a heading of several columns come their names, which are texts.
    return bool(above) and first <= above[0][0][0] and _is_texts(rows[row])


def _is_texts(row: list[Any]) -> bool:
    """Tell whether all cells that hold something are texts."""
    return all(isinstance(cell, str) for cell in row)


def _name(cells: Sequence[Any]) -> str:
    """Put the cells over a column together to its name."""
    return " ".join(filter(None, dict.fromkeys(" ".join(cell_text(c).split()) for c in cells)))


def cell_text(cell: Any) -> str:
    """Write a cell as text: whole numbers without a point, dates as ISO 8601 has them."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    return str(cell)
