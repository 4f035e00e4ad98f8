"""The options of a table: how it is read, which of its columns are used, what settles a doubt.

Each is described once, here. The shell's options, the parameters of `read_table` and the widgets of
the page are made from these descriptions; a `Fix` names one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, NamedTuple, Self


class Fix(NamedTuple):
    """What settles a doubt: an option and its value, which is often about one column."""

    option: str  # a field of `ReadOptions` or `ColumnOptions`
    value: Any = True  # that of a flag, or any other value than the one there is
    column: str = ""

    @property
    def choice(self) -> Any:
        """What is chosen, whatever the column: "category", "-9" of "age=-9"."""
        if not self.column or not isinstance(self.value, str):
            return self.value
        if self.option in ("drop", "categorical", "ordinal", "place", *OF_KINDS):
            return {"categorical": "category"}.get(self.option, self.option)
        return self.value.removeprefix(f"{self.column}=")


def take_as_place(name: str) -> Fix:
    """Take a column as one that says where or when each row is."""
    return Fix("place", name, name)


def drop_column(name: str) -> Fix:
    """Leave a column out."""
    return Fix("drop", name, name)


def take_as_missing(text: str, column: str = "") -> Fix:
    """Take cells of this content as missing: in one column, or in all of them."""
    return Fix("na_values", f"{column}={text}" if column else text, column)


def take_as_value(text: str, column: str) -> Fix:
    """Take cells of this content in one column as a value, though it usually means missing."""
    return Fix("not_missing", f"{column}={text}", column)


def read_as(column: str, way: str) -> Fix:
    """Read a column as "category", as numbers written like "1.234,56", or as dates ("use")."""
    if way == "category":
        return Fix("categorical", column, column)
    return Fix("numbers" if way.startswith("1") else "dates", f"{column}={way}", column)


def _option(default: Any, told: str, *, label: str = "", **more: Any) -> Any:
    """Describe an option: its default, what it does, its label on the page, fields of `Option`."""
    return field(default=default, metadata={"told": told, "label": label, **more})


class _Fixed:
    """Options that fixes can set."""

    def with_fixes(self, fixes: Iterable[Fix]) -> Self:
        """Add the fixes that are about these options."""
        changed = dict(vars(self))
        for name, value, _ in fixes:
            if name in changed and isinstance(changed[name], tuple):
                changed[name] = tuple(dict.fromkeys((*changed[name], value)))
            elif name in changed:
                changed[name] = value
        return type(self)(**changed)


@dataclass(frozen=True)
class ReadOptions(_Fixed):
    """How a file is read; None: to be detected."""

    delimiter: str | None = _option(
        None,
        "Character between the cells of a text file, or tab. Detected by default.",
        label="Character between the cells",
        shows="SIGN",
    )
    decimal: str | None = _option(
        None, "Decimal separator of a text file. Detected by default.", choices=(".", ",")
    )
    encoding: str | None = _option(
        None, "Encoding of a text file, such as cp1252. UTF-8 by default.",
        label="The file was saved by", shows="NAME",
    )  # fmt: skip
    fallback_encoding: str | None = None  # of a text file that is not UTF-8
    header: bool = _option(
        True, "Whether the first row of a text file or sheet holds the names.",
        label="The columns have names",
    )  # fmt: skip
    sheet: str | None = _option(
        None,
        "Sheet of a spreadsheet: its name, its number from 1, or all of the same columns. "
        "By default the first that is visible and holds a table.",
        label="Sheet of the workbook",
        shows="NAME",
    )
    table: str | None = _option(
        None,
        'Table or view of a database, or a query: "select age, kind from customers". By default '
        "the only table.",
        label="Table of the database",
        shows="NAME",
    )
    layer: str | None = _option(
        None,
        "Matrix of an .h5ad file: the name of a layer, or raw. By default X.",
        label="Matrix of the file",
        shows="NAME",
    )
    transpose: bool = _option(
        False, "Each column is a row, such as a sample, and each row something measured of it.",
        label="The columns are the rows",
    )  # fmt: skip
    skip_first: int | None = _option(
        None,
        "Lines of a text file, or rows of a sheet, above the names. Detected by default.",
        label="Row with the names; 0: find it",
        shows="N",
    )
    skip_below: int = _option(
        0,
        "Rows below the names to leave out, such as units and the questions of a survey.",
        label="Rows below the names to leave out, such as units",
        shows="N",
    )
    skip_last: int = _option(
        0,
        "Rows at the end of a text file or sheet to leave out, such as totals and notes.",
        label="Rows at the end to leave out, such as totals",
        shows="N",
    )
    drop_rows: tuple[str, ...] = _option(
        (), "Rows to leave out: the lines of a text file in which they begin, or rows of a sheet.",
        shows="ROWS",
    )  # fmt: skip
    visible_rows: bool = _option(
        False, "Leave out the rows that a sheet hides, by a filter or otherwise.",
        label="Leave out rows that the sheet hides",
    )  # fmt: skip


@dataclass(frozen=True)
class CaseOptions:
    """How several lines of a table make one case: parameters of `pckid.series.from_long`."""

    case: str = _option(
        "", "Column that names the case where each has several lines, such as the visits of a "
        "patient. Each case gets one cluster.", label="Column that names the case", shows="NAME",
    )  # fmt: skip
    time: str = _option(
        "", "Column with the time of each line: numbers or dates.", label="Column of times",
        shows="NAME",
    )  # fmt: skip
    variable: str | None = _option(
        None,
        "Where each line holds one value: the column that says what was measured.",
        label="Column that says what was measured, if each line has one value",
        shows="NAME",
    )
    value: str | None = _option(
        None, "The column that holds the value measured.", label="Column of these values",
        shows="NAME",
    )  # fmt: skip
    static: tuple[str, ...] = _option(
        (),
        "Columns that are the same in all lines of a case. By default those that change "
        "within at most a tenth of the cases; the commonest value of the case is taken.",
        shows="NAMES",
    )
    bins: str | int | Sequence[str] = _option(
        "auto", "Which times share a column: each (none do), a number of bins with about equally "
        "many lines, or their edges, such as 0,6,12,inf. By default each for up to 50 times if the "
        "median case has half of them, and else as many bins as it has times.", shows="BINS",
    )  # fmt: skip
    from_first: bool = _option(
        False, "Count time from the first line of each case.",
        label="Count time from the first line of each case",
    )  # fmt: skip
    keep: bool = False  # whether the lines stay in memory, to be written


@dataclass(frozen=True)
class ColumnOptions(_Fixed):
    """Which columns are used, and as what."""

    columns: tuple[str, ...] = _option(
        (),
        "The columns to use, names of rows and free text among them; all others are left out.",
        shows="NAMES",
    )
    drop: tuple[str, ...] = _option((), "Columns to leave out.", shows="NAMES")
    categorical: tuple[str, ...] = _option(
        (),
        "Columns of numbers that are codes of categories.",
        shows="NAMES",
    )
    ordinal: tuple[str, ...] = _option(
        (),
        "Columns whose categories, or whole numbers, are levels of a scale, such as answers and "
        "stages; pain=none<mild<severe gives their order where it is not known.",
        shows="NAMES",
    )
    count: tuple[str, ...] = _option(
        (),
        "Columns of counts: events, visits, animals.",
        shows="NAMES",
        parameter="count_columns",
    )
    na_values: tuple[str, ...] = _option(
        (), "Further contents of cells that mean missing, such as -9999, or age=-9 in one column. "
        "Empty cells, NA, null, ? and the like always do.",
        label="Cells that mean missing, besides empty ones, NA and the like", shows="[NAME=]TEXT",
    )  # fmt: skip
    not_missing: tuple[str, ...] = _option(
        (), "Contents of cells that often mean missing, such as NA or -9, and are values here, or "
        "kind=NA in one column.", label="Cells that are values, though they often mean missing",
        shows="[NAME=]TEXT",
    )  # fmt: skip
    as_is: tuple[str, ...] = _option(
        (), "Columns to use like others: nothing is asked about what they are for.", shows="NAMES",
    )  # fmt: skip
    keep_rows: bool = _option(
        False, "All rows are data, also those that look like totals: nothing is asked about them."
    )
    ignore_case: bool = _option(
        False, "Whether categories that differ in capitals and blanks only are one: f and F."
    )
    limits: str = _option(
        "",
        "What becomes of limits such as <0.5 among numbers: the number itself, half of it, or "
        "missing. Asked about by default.",
        choices=("value", "half", "missing"),
    )
    numbers: tuple[str, ...] = _option(
        (), "How numbers are written, as 1234.56 would be: 1.234,56 for all columns, or "
        "revenue=1.234,56 for one. Detected by default.", shows="[NAME=]FORMAT",
    )  # fmt: skip
    dates: tuple[str, ...] = _option(
        (), "What becomes of dates and durations: leave-out (default), use (days; durations in "
        "hours), month, hour, day-first, month-first, or how they are written in letters of "
        "strptime, such as born=%d.%m.%Y. For all columns or for one.", shows="[NAME=]CHOICE",
    )  # fmt: skip
    row_names: str | None = _option(None, "Column that names the rows; not used.", shows="NAME")
    labels: str | None = _option(
        None,
        "Column of known groups: compared with clusters.",
        shows="NAME",
    )
    known: str | None = _option(
        None,
        "Column with the groups of some rows, empty elsewhere: these keep them, others follow.",
        shows="NAME",
    )
    weights: str | None = _option(
        None, "Column of how much each row counts, in a survey.", shows="NAME"
    )
    place: tuple[str, ...] = _option(
        (), "Columns of where or when each row is, such as lat,lon or a date. `order`: its place "
        "in the table.",
        shows="NAMES",
    )  # fmt: skip
    lines: CaseOptions | None = None  # where the rows are lines of cases
    decimal: str | None = None  # the decimal separator, where it is known for sure
    take_advice: bool = _option(False, "Do what `pckid inspect` advises, instead of asking.")
    missing_columns: bool = _option(
        False, "Take columns of the model that the table lacks as missing in all rows.",
        label="Take columns of the model that the table lacks as missing",
    )  # fmt: skip

    @property
    def of_kinds(self) -> dict[str, tuple[str, ...]]:
        """The columns of numbers that are said to be of a kind, by the option that says so."""
        return {name: getattr(self, name) for name in OF_KINDS}

    @property
    def times(self) -> list[str]:
        """The column with the times of lines of cases, if rows are such lines."""
        return [self.lines.time] if self.lines else []


class Option(NamedTuple):
    """An option as a front end may offer it."""

    name: str
    default: Any
    told: str  # what it does
    label: str  # of its widget on the page, if it has one
    shows: str = ""  # what stands for its value in a shell's help
    choices: tuple[str, ...] = ()
    parameter: str = ""  # of PCKID, if it names columns of numbers of a kind

    @property
    def several(self) -> bool:
        """Whether it takes several values."""
        return isinstance(self.default, tuple)


OPTIONS = {
    each.name: Option(each.name, each.default, **each.metadata)
    for kind in (ReadOptions, ColumnOptions, CaseOptions)
    for each in fields(kind)
    if each.metadata
}
"""All that people may choose about a table."""
OF_KINDS = {name: option.parameter for name, option in OPTIONS.items() if option.parameter}
"""Options that name columns of numbers of a kind, and the parameters of PCKID that take these."""


def pairs_of(fixes: Iterable[Fix]) -> list[tuple[str, Any]]:
    """Give the names and values of the options that fixes set."""
    pairs = list[tuple[str, Any]]()
    for option, value, _ in fixes:
        pairs += list_of_lines(value).items() if option == "lines" else [(option, value)]
    return pairs


def list_of_lines(lines: CaseOptions) -> dict[str, Any]:
    """List the options of lines of cases that are not as they are by default, by name."""
    usual = replace(CaseOptions("", ""), keep=lines.keep)
    given = {key: value for key, value in vars(lines).items() if value != getattr(usual, key)}
    if isinstance(lines.bins, list):
        given["bins"] = ",".join(map(str, lines.bins))
    return given


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
        given |= list_of_lines(lines)
        given.pop("row_names", None)  # the case names them
    return given


def pick_options(given: Mapping[str, Any]) -> tuple[ReadOptions, ColumnOptions]:
    """Make options from those among `given` that are set, by the names of their attributes."""
    made: list[Any] = []
    for kind in (ReadOptions, ColumnOptions):
        names = [each.name for each in fields(kind)]
        chosen = {name: given[name] for name in names if given.get(name) is not None}
        for name, value in chosen.items():
            if name in OPTIONS and OPTIONS[name].several:
                chosen[name] = list_texts(value, name)
            elif name in ("sheet", "table", "layer"):
                chosen[name] = str(value)
        made.append(kind(**chosen))
    return made[0], made[1]


def list_texts(value: Any, name: str) -> tuple[str, ...]:
    """List the texts of an option; one alone, and numbers, are taken, too."""
    if isinstance(value, Mapping):
        raise TypeError(f"{name} is {value!r}. Give a list of texts, as 'COLUMN=…' for one column.")
    from pckid.input.cells import as_text  # The help of a command does without NumPy.

    return tuple(map(as_text, [value] if isinstance(value, str | Real) else value))


def as_parameters(fixes: Iterable[Fix]) -> str:
    """Write fixes as parameters of `pckid.read_table`: "drop=['notes'], sheet='2'"."""
    values: dict[str, list[Any]] = {}
    for option, value in pairs_of(fixes):
        values.setdefault(option, []).append(value)
    return ", ".join(as_parameter(name, some) for name, some in values.items())


def as_parameter(name: str, values: Sequence[Any] = ()) -> str:
    """Write one parameter: "drop=['notes']", or "drop=[...]" without values."""
    if name in OPTIONS and OPTIONS[name].several:
        return f"{name}={list(dict.fromkeys(values))!r}" if values else f"{name}=[...]"
    return f"{name}={values[-1]!r}" if values else f"{name}=..."
