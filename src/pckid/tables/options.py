"""How a table is read and which of its columns are used: what every front end may choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from pckid.tables.findings import Drop, Fix, Missing, ReadAs, SetOption, SkipFirst
from pckid.tables.formats import FORMATS


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read; None is to be found out.

    Attributes
    ----------
    delimiter, decimal, encoding : str or None
        How a text file is written.
    header : bool
        Whether the first row of a text file or sheet holds the names.
    sheet : str or None
        Sheet of a workbook: its name, or its number from 1.
    skip_first : int or None
        Lines of a text file, or rows of a sheet, above the table.
    skip_last : int
        Rows at the end of a text file or sheet to leave out.
    visible_only : bool
        Whether rows that a sheet hides are left out.
    max_unpacked : float or None
        Gigabytes that a compressed table, or one from a pipe, may take.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    sheet: str | None = None
    skip_first: int | None = None
    skip_last: int = 0
    visible_only: bool = False
    max_unpacked: float | None = None


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns are used, and as what.

    Attributes
    ----------
    columns : tuple of str
        The columns to use, names of rows and free text among them; all by default.
    drop : tuple of str
        Columns to leave out.
    categorical : tuple of str
        Columns that hold categories, whatever they look like.
    na_values : tuple of str
        Further contents of cells that mean missing: "-9999", or "age=-9" in one column.
    not_missing : tuple of str
        Contents of cells that usually mean missing, and do not here.
    limits : {"", "value", "half", "missing"}
        What becomes of limits such as "<0.5" among numbers.
    numbers : tuple of str
        How numbers are written: "1.234,56", or "revenue=1.234,56" in one column.
    dates : tuple of str
        What becomes of dates: "use", or "visit=use" for one column.
    row_names, labels, weights : str or None
        Columns that name the rows, hold known groups, or say how much each row counts.
    decimal : str or None
        The decimal sign, where it is known for sure.
    take_advice : bool
        Whether fixes are applied that can be.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    na_values: tuple[str, ...] = ()
    not_missing: tuple[str, ...] = ()
    limits: str = ""
    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    row_names: str | None = None
    labels: str | None = None
    weights: str | None = None
    decimal: str | None = None
    take_advice: bool = False

    def with_fixes(self, fixes: Sequence[Fix]) -> ColumnOptions:
        """Add fixes of columns; those of rows are no matter of columns."""
        changed = self
        for fix in fixes:
            name, value = option_of(fix)
            if name == "limits":
                changed = replace(changed, limits=value)
            elif name in ("drop", "categorical", "na_values", "numbers", "dates"):
                known = getattr(changed, name)
                if value not in known:
                    more: dict[str, Any] = {name: (*known, value)}
                    changed = replace(changed, **more)
        return changed


def option_of(fix: Fix) -> tuple[str, Any]:
    """Give the name and the value of the option that a fix sets."""
    if isinstance(fix, Drop):
        return "drop", fix.column
    if isinstance(fix, Missing):
        return "na_values", f"{fix.column}={fix.text}" if fix.column else fix.text
    if isinstance(fix, ReadAs):
        if fix.way == "category":
            return "categorical", fix.column
        return "numbers" if fix.way in FORMATS else "dates", f"{fix.column}={fix.way}"
    if isinstance(fix, SetOption):
        return fix.name, True if fix.value is None else fix.value
    return "skip_first" if isinstance(fix, SkipFirst) else "skip_last", fix.n_rows


def pick_options(kind: type, given: Mapping[str, Any]) -> Any:
    """Make options of a kind from those among `given` that are set; lists become tuples."""
    known = {field.name for field in fields(kind)}
    return kind(**{
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if name in known and value is not None
    })  # fmt: skip
