"""What can be done about a table, as data: each front end has its own words for it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Drop(NamedTuple):
    """Leave a column out."""

    column: str


class Missing(NamedTuple):
    """Take cells of this content as missing: in one column, or in all of them."""

    text: str
    column: str = ""


class ReadAs(NamedTuple):
    """Read a column as "category", as numbers written like "1.234,56", or as dates ("use")."""

    column: str
    way: str


class SkipFirst(NamedTuple):
    """Leave out lines of a text file, or rows of a sheet, above the table."""

    n_rows: int


class SkipLast(NamedTuple):
    """Leave out rows at the end."""

    n_rows: int


class SetOption(NamedTuple):
    """Set an option of reading by hand: one of `ReadOptions`; None is any other value."""

    name: str
    value: Any = None


Fix = Drop | Missing | ReadAs | SkipFirst | SkipLast | SetOption
FIXES = (Drop, Missing, ReadAs, SkipFirst, SkipLast, SetOption)


def pack_fixes(fixes: tuple[Fix, ...]) -> list[list[Any]]:
    """Write fixes as plain lists, for another process."""
    return [[type(fix).__name__, *fix] for fix in fixes]


def unpack_fixes(packed: list[list[Any]]) -> tuple[Fix, ...]:
    """Read fixes from plain lists."""
    kinds: dict[str, Any] = {kind.__name__: kind for kind in FIXES}
    return tuple(kinds[name](*values) for name, *values in packed)
