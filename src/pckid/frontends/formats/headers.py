"""Find the names of the columns: below titles, notes and blank rows, over one row or several."""

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from pckid.frontends.formats.findings import Fact

Grid = list[list[Any]]
Range = tuple[tuple[int, int], tuple[int, int]]  # first and last cell, as (row, column) from 0

_MAX_HEADER_ROWS = 4
_MAX_TITLES = 20
_NEARLY_ALL = 0.8
_MAX_NUMBER_LENGTH = 40
_MIN_ROWS, _MAX_CELLS = 4, 100_000
_NUMBER = re.compile(r"[+\-−–]?[$€£]?\s?[\d.,'’\s]*\d[\d.,'’\s]*([eE][+-]?\d+)?\s?[%€$£]?[-−–]?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}")
_YEAR = re.compile(r"(18|19|20|21)\d\d(\.0)?")
_MAX_NOTES = 12
_NUMBERS = frozenset({"number", "year"})
# Texts that name no column; others in `MISSING_TOKENS`, such as "missing", may name one.
_MISSING = frozenset({"na", "n/a", "nan", "#n/a", "null", "none", "nil", "-", "--", ".", "?"})


class NamesRow(NamedTuple):
    """The row that holds the names of the columns."""

    row: int
    is_sure: bool  # whether it holds texts above numbers
    is_data: bool  # whether it may be data: it holds numbers above numbers


def find_names(rows: Grid) -> NamesRow:
    """Find the row that holds the names among the first ones of a table, of one length.

    It is the first row that holds something, unless that is clearly something else: a title, which
    fills at most half of the columns, or what cannot be names, with a row of texts above numbers
    below it.
    """
    rows = rows[: max(_MIN_ROWS, _MAX_CELLS // max(len(rows[0]), 1))]
    kinds = [[_kind(cell) for cell in row] for row in rows]
    filled = [i for i, row in enumerate(kinds) if any(row)]
    if not filled:
        return NamesRow(0, False, False)
    # A remark beside the table makes no column.
    fewest = 2 if len(filled) > _MIN_ROWS else 1
    columns = [len(kinds) - column.count("") for column in zip(*kinds, strict=True)]
    used = [j for j, n_cells in enumerate(columns) if n_cells >= fewest]
    counts = [sum(bool(row[j]) for j in used) for row in kinds]

    def above_numbers(i: int) -> list[str]:
        """List what the row holds above columns of numbers."""
        below = {j: [row[j] for row in kinds[i + 1 :] if row[j]] for j in used}
        numeric = (
            j for j in used if 2 * sum(kind in _NUMBERS for kind in below[j]) > len(below[j])
        )
        return [kinds[i][j] for j in numeric]

    def holds_names(i: int) -> bool:
        found = above_numbers(i)
        names = {"text", "year"} if "text" in kinds[i] else {"text"}
        texts = [str(cell).strip() for cell in rows[i] if cell != ""]
        return (
            2 * sum(kind in names for kind in found) > len(found)
            and names.issuperset(set(found) - {"", "missing"})
            and len(set(texts)) == len(texts)
        )

    # A title fills at most half of the columns; the index of a data frame has no name.
    left = used[0] if used else 0
    no_titles = (
        k
        for k, i in enumerate(filled)
        if 2 * counts[i] > len(used) or (not kinds[i][left] and counts[i] == len(used) - 1)
    )
    n_titles = next(no_titles, 0)
    found = filled[n_titles if n_titles <= _MAX_TITLES else 0]
    is_remark = str(rows[found][0]).lstrip().startswith("#")
    if is_remark or not {"number", "value"}.isdisjoint(kinds[found]):
        # Names are texts alone, right below that or below a blank row; more rows follow them.
        place = filled.index(found) + 1
        after = filled[place : place + _MAX_TITLES][: len(filled) // 2 + 1 - place]
        begins = [i for i in after if i == after[0] or not any(kinds[i - 1])]
        texts = [i for i in begins if all(kinds[i][j] in ("text", "year") for j in used)]
        later = next(filter(holds_names, texts), None)
        if later is not None:
            found = later
        elif n_titles:  # Right below titles come names, or the last of them holds the names.
            found = filled[n_titles - 1]
    return NamesRow(found, holds_names(found), set(above_numbers(found)) == {"number"})


def looks_like_number(cell: Any) -> bool:
    """Whether a cell is a number, however it is written, or a text for missing."""
    return _kind(cell) in ("number", "year", "missing")


def _kind(cell: Any) -> str:
    """Classify a cell: a number, perhaps a year, a text, another value, or nothing."""
    if isinstance(cell, str):
        text = cell.strip()
        if not text or text.lower() in _MISSING:
            return "missing" if text else ""
        if len(text) >= _MAX_NUMBER_LENGTH or not _NUMBER.fullmatch(text):
            return "value" if _DATE.match(text) else "text"
        return "year" if _YEAR.fullmatch(text) else "number"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return "year" if _YEAR.fullmatch(str(cell)) else "number"
    return "value"


class Header(NamedTuple):
    """Where the names of the columns are, and what they are."""

    first: int
    end: int  # the first row below the header
    names: list[str]  # empty where a column has no name
    is_data: bool = False


def find_header(rows: Grid, merged: Sequence[Range] = (), *, titled: bool = True) -> Header:
    """Find the header among the first rows (n_rows, n_columns) of a sheet; empty cells are "".

    Without titles it begins in the first row that holds something. Where cells of it are merged
    across some columns, or down, the rows below them belong to it: "2023" over "Q1" gives
    "2023 Q1".
    """
    width = len(rows[0])
    grid = [list(row) for row in rows]
    most = max(2, width * _NEARLY_ALL)
    near = [r for r in merged if r[0][0] < len(rows) and r[1][1] - r[0][1] + 1 < most]
    # The first cell of a merged range has its content.
    for (top, left), (bottom, right) in near:
        for row in grid[top : bottom + 1]:
            row[left : right + 1] = [grid[top][left]] * len(row[left : right + 1])
    first, _, is_data = find_names(grid)
    if not titled:
        filled = (i for i, row in enumerate(grid) if any(map(cell_text, row)))
        first, is_data = next(filled, 0), False
    end = first + 1
    while end < min(len(rows), first + _MAX_HEADER_ROWS) and _continues(rows, near, first, end):
        end += 1
    names = []
    for cells in zip(*grid[first:end], strict=True):
        texts = dict.fromkeys(" ".join(cell_text(cell).split()) for cell in cells)
        names.append(" ".join(filter(None, texts)))
    return Header(first, end, names, is_data)


def _continues(rows: Grid, merged: Sequence[Range], first: int, row: int) -> bool:
    """Return whether a row still belongs to the header: merged cells reach or lie over it."""
    if any(top < row <= bottom and top >= first for (top, _), (bottom, _) in merged):
        return True
    above = [r for r in merged if r[0][0] <= row - 1 <= r[1][0] and r[1][1] > r[0][1]]
    # Below a heading of several columns come their names, which are texts.
    is_texts = all(isinstance(cell, str) for cell in rows[row])
    return bool(above) and first <= above[0][0][0] and is_texts


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


def unique_names(names: Sequence[str]) -> tuple[list[str], tuple[Fact, ...]]:
    """Give columns of one name numbers, a second "a" becomes "a (2)"; and say so in facts."""
    taken = set(names)
    found: list[str] = []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new = name
        while seen[name] > 1 and new in taken:
            new = f"{name} ({seen[name]})"
            seen[name] += new in taken
        taken.add(new)
        found.append(new)
    pairs = zip(names, found, strict=True)
    facts = [Fact("renamed", {"old": old, "new": new}) for old, new in pairs if old != new]
    return found, tuple(facts[:_MAX_NOTES])
