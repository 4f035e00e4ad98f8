"""How a table is read and which of its columns are used: what every front end may choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, NamedTuple

from pckid._utils.commands import LISTS
from pckid.input.cells import as_text


class Fix(NamedTuple):
    """What settles a doubt: an option and its value, which is often about one column."""

    option: str  # a field of `ReadOptions` or `ColumnOptions`
    value: Any = True
    column: str = ""

    @property
    def choice(self) -> Any:
        """What is chosen, whatever the column: "category", "-9" of "age=-9"."""
        if not self.column or not isinstance(self.value, str):
            return self.value
        if self.option in ("drop", "categorical"):
            return {"drop": "drop", "categorical": "category"}[self.option]
        return self.value.removeprefix(f"{self.column}=")


def drop_column(name: str) -> Fix:
    """Leave a column out."""
    return Fix("drop", name, name)


def take_as_missing(text: str, column: str = "") -> Fix:
    """Take cells of this content as missing: in one column, or in all of them."""
    return Fix("na_values", f"{column}={text}" if column else text, column)


def read_as(column: str, way: str) -> Fix:
    """Read a column as "category", as numbers written like "1.234,56", or as dates ("use")."""
    if way == "category":
        return Fix("categorical", column, column)
    return Fix("numbers" if way.startswith("1") else "dates", f"{column}={way}", column)


def set_option(name: str, value: Any = True) -> Fix:
    """Set an option, such as `skip_last` to 2 rows; True is any other value."""
    return Fix(name, value)


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read; None: to be detected."""

    delimiter: str | None = None  # of a text file, and so are the next three
    decimal: str | None = None
    encoding: str | None = None
    fallback_encoding: str | None = None  # of a text file that is not UTF-8
    header: bool = True  # whether the first row of a text file or sheet holds the names
    sheet: str | None = None  # its name, its number from 1, or "all" with the same columns
    skip_first: int | None = None  # lines of a text file, or rows of a sheet, above the table
    skip_last: int = 0  # rows at the end of a text file or sheet; blank ones do not count
    skip_below: int = 0  # rows below the names, such as units and the questions of a survey


class CaseOptions(NamedTuple):
    """How several lines of a table make one case: parameters of `pckid.series.from_long`."""

    case: str
    time: str
    variable: str | None = None
    value: str | None = None
    static: tuple[str, ...] | None = None
    bins: Any = "auto"
    from_first: bool = False
    keep: bool = False  # whether the lines stay in memory, to be written


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns are used, and as what."""

    columns: tuple[str, ...] = ()  # to use, names of rows and free text among them; () is all
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()  # hold categories, whatever they look like
    na_values: tuple[str, ...] = ()  # further cells that mean missing: "-9999", or "age=-9"
    not_missing: tuple[str, ...] = ()  # cells that usually mean missing, and do not here
    ignore_case: bool = False  # whether categories that differ in capitals and blanks are one
    limits: str = ""  # what becomes of "<0.5" among numbers: "value", "half" or "missing"
    numbers: tuple[str, ...] = ()  # how they are written: "1.234,56", or "revenue=1.234,56"
    dates: tuple[str, ...] = ()  # what becomes of them: "use", or "visit=use"
    row_names: str | None = None  # the column that names the rows
    labels: str | None = None  # the column with known groups
    known: str | None = None  # the column with the groups of rows that are known, for the fit
    weights: str | None = None  # the column that says how much each row counts
    lines: CaseOptions | None = None  # where the rows are lines of cases
    decimal: str | None = None  # the decimal separator, where it is known for sure
    take_advice: bool = False  # whether fixes are applied that can be
    missing_columns: bool = False  # whether a table may lack columns of a model: all are missing

    @property
    def times(self) -> list[str]:
        """The column with the times of lines of cases, if rows are such lines."""
        return [self.lines.time] if self.lines else []

    def with_fixes(self, fixes: Sequence[Fix]) -> ColumnOptions:
        """Add fixes of columns; those of rows are no matter of columns."""
        changed = dict(vars(self))
        for name, value, _ in fixes:
            if name in LISTS:
                known = changed[name]
                changed[name] = known if value in known else (*known, value)
            elif name in changed:
                changed[name] = value
        return ColumnOptions(**changed)


def pairs_of(fixes: Iterable[Fix]) -> list[tuple[str, Any]]:
    """Give the names and values of the options that fixes set."""
    return [(fix.option, fix.value) for fix in fixes]


def list_given(*options: ReadOptions | ColumnOptions) -> dict[str, Any]:
    """List the options that are not as they are by default, by name, and those of cases, too."""
    given = {
        each.name: getattr(some, each.name)
        for some in options
        for each in fields(some)
        if getattr(some, each.name) != each.default
    }
    lines = given.pop("lines", None)
    if lines is not None:
        usual = CaseOptions._field_defaults | {"keep": lines.keep}
        given |= {k: v for k, v in lines._asdict().items() if v != usual.get(k)}
        given.pop("row_names", None)  # the case names them
        if isinstance(lines.bins, list):
            given["bins"] = ",".join(map(str, lines.bins))
    return given


def pick_options(given: Mapping[str, Any]) -> tuple[ReadOptions, ColumnOptions]:
    """Make options from those among `given` that are set, by the names of their attributes."""

    def pick(kind: Any) -> Any:
        chosen: dict[str, Any] = {}
        for each in fields(kind):
            value = given.get(each.name)
            if isinstance(each.default, tuple) and value is not None:
                chosen[each.name] = list_texts(value, each.name)
            elif value is not None:
                chosen[each.name] = str(value) if each.name == "sheet" else value
        return kind(**chosen)

    return pick(ReadOptions), pick(ColumnOptions)


def list_texts(value: Any, name: str) -> tuple[str, ...]:
    """List the texts of an option; one alone, and numbers, are taken, too."""
    if isinstance(value, Mapping):
        raise TypeError(f"{name} is {value!r}. Give a list of texts, as 'COLUMN=…' for one column.")
    return tuple(map(as_text, [value] if isinstance(value, str | Real) else value))
