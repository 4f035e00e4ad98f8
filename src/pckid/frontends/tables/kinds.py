"""What each column of a table holds, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import UNREAD_NUMBER
from pckid.frontends.tables.dates import (
    EITHER_ORDER,
    DateFormat,
    count_dates,
    is_duration,
    is_temporal,
)
from pckid.frontends.tables.formats import (
    CURRENCIES,
    FormatChoice,
    NumberFormat,
    Shapes,
    choose_format,
    decimal_sign,
    is_ambiguous_plain,
)
from pckid.frontends.tables.meanings import numbers_name_rows, texts_are_free, texts_name_rows
from pckid.frontends.tables.numbers import (
    LIMIT,
    MissingTokens,
    NotNumbers,
    is_text,
    observed_cells,
    try_columns,
    try_numbers,
    without_limits,
)
from pckid.frontends.tables.table import FileTable, count_different, release_memory

# The first rows: as many cells in a table of any width.
_HEAD_ROWS, _HEAD_CELLS = 10_000, 2_000_000
_DATE_ORDERS = ("day-month-year", "month-day-year")
_OTHER_ORDERS = ("year-month-day", "year-month")
DATE_CHOICES = ("leave-out", "use", "month", "hour", "day-first", "month-first")
"""What may become of dates; or letters of strptime, by which they are written."""
_TIMES = ("date", "duration")
_LEADING_ZEROS = r"^ *0\d+ *$"  # that numbers do not need
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class ReadingRules(NamedTuple):
    """What is said about how columns are to be read; "" stands for all of them."""

    missing: MissingTokens = MissingTokens.with_defaults()
    numbers: Mapping[str, NumberFormat] = _NOTHING  # set by hand; their units are found out
    dates: Mapping[str, str] = _NOTHING  # one of DATE_CHOICES, or letters of strptime
    decimal: str | None = None  # the decimal separator, where it is known for sure
    categorical: frozenset[str] = frozenset()  # whatever they look like
    kept: frozenset[str] = frozenset()  # neither names of rows nor free text, as they may look
    ignore_case: bool = False  # whether texts are one category but for capitals and blanks

    def dates_of(self, name: str) -> str:
        """What is to become of a column if it holds dates."""
        return self.dates.get(name, self.dates.get("", "leave-out"))

    def format_of(self, name: str) -> NumberFormat | None:
        """The format set for a column."""
        return self.numbers.get(name, self.numbers.get(""))

    def uses(self, name: str, kind: str) -> bool:
        """Whether a column of a kind is used: names of rows and free text never, dates if asked."""
        if kind in _TIMES:
            return self.dates_of(name) != "leave-out"
        return kind not in ("row name", "free text")


class Reading(NamedTuple):
    """How a column is to be read."""

    # "number", "category", "date", "duration", "row name", "free text"; "text" is what can be read
    # neither as numbers nor as categories.
    kind: str
    number: NumberFormat | None = None  # None is plain, with the decimal separator of the table
    date: DateFormat | None = None
    choice: FormatChoice | None = None  # what spoke for the format
    # What must be asked about: which "format" of two, which "units", the "order" of day and month,
    # or why cells differ in that ("orders").
    doubt: str = ""
    has_zeros: bool = False  # numbers begin with zeros, as codes do

    @property
    def form(self) -> NumberFormat | DateFormat | None:
        """The format of the cells."""
        return self.date or self.number

    @property
    def is_plain(self) -> bool:
        """Whether all cells are plain numbers."""
        return self.kind == "number" and self.form is None

    @property
    def is_number(self) -> bool:
        """Whether the column is to be read as numbers."""
        return self.kind in ("number", "text", *_TIMES)


def expect_numbers(reading: Reading, name: str, rules: ReadingRules) -> Reading:
    """Take a column of text that is not declared to be categories as numbers, to be refused."""
    if reading.kind == "category" and name not in rules.categorical:
        return Reading("text")
    return reading


class PlainColumns(NamedTuple):
    """Columns of plain numbers that were read while it was found out what columns hold."""

    X: np.ndarray  # (n_rows, n_columns), of all columns looked at, in their order
    place: dict[str, int]  # of those that are plain numbers; the others are not filled

    @classmethod
    def empty(cls, n_rows: int, n_columns: int) -> PlainColumns:
        """Make room for columns, each of them in one piece of memory."""
        return cls(np.empty((n_rows, n_columns), order="F"), {})


def find_readings(
    table: FileTable, names: Sequence[str], rules: ReadingRules
) -> tuple[dict[str, Reading], PlainColumns]:
    """Find out what columns hold and how they are written; give plain numbers, too."""
    missing, head = rules.missing, first_rows(table)
    found: dict[str, Reading | None] = {}
    plain = PlainColumns.empty(table.data.num_rows, len(names))
    place = {name: j for j, name in enumerate(names)}
    # Of a long table, only columns are read whole whose first rows hold numbers alone.
    texts: dict[str, NotNumbers] = {}
    if len(head.data) < len(table.data):
        first = zip(names, try_columns(head, names, missing), strict=True)
        texts = {name: values for name, values in first if isinstance(values, NotNumbers)}
    numeric = [name for name in names if name not in texts]
    whole = zip(numeric, try_columns(table, numeric, missing), strict=True)
    for name, values in chain(texts.items(), whole):
        reading = found[name] = _glance(table, head, name, values, rules)
        if isinstance(values, np.ndarray) and reading is not None and reading.is_plain:
            plain.X[:, place[name]], plain.place[name] = values, place[name]
        release_memory(table)
    unsettled = [name for name in names if found[name] is None]
    counts = {name: count_cells(table, name, missing) for name in unsettled}
    found |= {name: _decide(name, counts[name], table, rules) for name in unsettled}
    readings = {name: reading for name, reading in found.items() if reading is not None}
    ambiguous = [name for name in unsettled if (c := readings[name].choice) and c.rival]
    if ambiguous:
        # The decimal separator that the columns of text show beyond doubt.
        shown: set[str] = set()
        for name in names:
            column = table.data.column(name)
            if is_text(column.type):
                cells = observed_cells(column.slice(0, 1000), missing.of(name))
                shown.update(Shapes(*count_different(cells)).counts)
        sign = decimal_sign(shown)
        readings |= {name: _decide(name, counts[name], table, rules, sign) for name in ambiguous}
    return readings, plain


class CellCounts(Shapes):
    """Counts of the cells of a column by shape, and of dates."""

    def __init__(self, cells: Any, limits: str = "") -> None:
        """Count an Arrow column of texts, null where missing, with its limits as they are.

        These are counted whatever becomes of them.
        """
        texts, counts = count_different(cells)
        is_limit = pc.match_substring_regex(texts, LIMIT).to_numpy(zero_copy_only=False)
        self.n_limits = int(counts[is_limit].sum())
        if limits == "missing":
            texts, counts = texts.filter(pa.array(~is_limit)), counts[~is_limit]
        # A limit shows how its column writes numbers, whatever becomes of it; "2+" may be a grade.
        graded = pc.and_(pc.ends_with(texts, "+"), not limits)
        super().__init__(pc.if_else(graded, texts, without_limits(texts)), counts)
        self.dates = count_dates(without_limits(texts) if limits else texts, counts)

    @property
    def n_dates(self) -> int:
        """Cells that are dates in any layout, or else durations."""
        written = sum(self.dates[layout] for layout in (*_OTHER_ORDERS, EITHER_ORDER))
        return max(written, self.dates["hours:minutes"])


def count_cells(table: FileTable, name: str, missing: MissingTokens) -> CellCounts:
    """Count the cells of a column of text."""
    tokens = missing.of(name)
    cells = observed_cells(table.data.column(name), tokens._replace(limits=""))
    counts = CellCounts(cells, tokens.limits)
    release_memory(table)
    return counts


def first_rows(table: FileTable) -> FileTable:
    """Take the first rows, which tell texts from numbers."""
    n_rows = max(1, min(_HEAD_ROWS, _HEAD_CELLS // max(len(table.names), 1)))
    return table._replace(data=table.data.slice(0, n_rows))


def _glance(
    table: FileTable,
    head: FileTable,
    name: str,
    values: np.ndarray | NotNumbers,
    rules: ReadingRules,
) -> Reading | None:
    """Classify a column at first sight; None where the shapes of its cells must be counted."""
    column = table.data.column(name)
    declared = pa.types.is_dictionary(column.type) and isinstance(values, np.ndarray)
    if declared or name in rules.categorical:
        return Reading("category")
    if is_temporal(column.type):
        part = rules.dates_of(name)
        part = part if part in ("month", "hour") else "days"
        kind = "duration" if is_duration(column.type) else "date"
        return Reading(kind, date=DateFormat("", part))
    if not is_text(column.type):
        if not isinstance(values, np.ndarray):
            return Reading("text")
        return _kind_of_numbers(values, name, rules)
    if "%" in rules.dates_of(name):
        return Reading("date", date=DateFormat(rules.dates_of(name)))
    if rules.format_of(name):
        return None
    if isinstance(values, np.ndarray):
        # Where commas delimit no cells they may be decimal, and points thousands separators.
        doubtful = head.text is not None and head.text.delimiter == ";" and head.decimal == "."
        doubtful = doubtful and rules.decimal is None
        if doubtful and is_ambiguous_plain(observed_cells(column, rules.missing.of(name))):
            return None
        found = _kind_of_numbers(values, name, rules)
        zeros = found.kind == "number" and pc.match_substring_regex(column, _LEADING_ZEROS)
        return found._replace(has_zeros=bool(zeros and pc.any(zeros).as_py()))
    first = head.data.column(name)
    cells = observed_cells(first, rules.missing.of(name))
    counts = CellCounts(cells)
    choice = choose_format(counts, decimal=rules.decimal)
    if 2 * max(counts.n_dates, choice.n_fitting if choice else 0) > counts.n_observed:
        return None
    unread = pc.sum(pc.match_substring_regex(cells, UNREAD_NUMBER)).as_py() or 0
    if 2 * unread > counts.n_observed:
        return Reading("text")
    return _text(column, name, rules)


def _kind_of_numbers(values: np.ndarray, name: str, rules: ReadingRules) -> Reading:
    """Distinguish measurements from names of the rows."""
    named = name not in rules.kept and numbers_name_rows(values)
    return Reading("row name" if named else "number")


def _text(column: Any, name: str, rules: ReadingRules) -> Reading:
    """Distinguish categories from free text and names of rows."""
    cells = observed_cells(column, rules.missing.of(name).among_texts)
    n_observed = len(cells) - cells.null_count
    n_distinct = len(cells.drop_null().unique())
    if name in rules.kept:
        return Reading("category")
    if texts_name_rows(len(cells), n_observed, n_distinct):
        return Reading("row name")
    return Reading("free text" if texts_are_free(n_observed, n_distinct) else "category")


def _decide(
    name: str,
    counts: CellCounts,
    table: FileTable,
    rules: ReadingRules,
    evidence: str | None = None,
) -> Reading:
    """Decide how a column of text is read by the counts of its cells."""
    choice = choose_format(
        counts, decimal=rules.decimal, evidence=evidence, form=rules.format_of(name)
    )
    n_numbers = choice.n_fitting if choice else 0
    if 2 * counts.n_dates > counts.n_observed and counts.n_dates > n_numbers:
        return choose_date_format(counts, rules.dates_of(name))
    if choice is None or 2 * n_numbers <= counts.n_observed:
        return _text(table.data.column(name), name, rules)
    # A unit in few cells is asked about, unless all of these are limits, or it is a currency.
    n_units = sum(choice.units.values())
    few = counts.n_limits < n_units < choice.n_bare and CURRENCIES.keys().isdisjoint(choice.units)
    if choice.mixes_units or few:
        return Reading("text", choice=choice, doubt="units")
    if choice.may_be_codes:
        values = try_numbers(table, name, rules.missing, choice.format)
        if isinstance(values, np.ndarray):
            found = _kind_of_numbers(values, name, rules)
            if found.kind == "row name":
                return found
    if choice.format == NumberFormat(table.decimal) and not choice.rival:
        return Reading("number", number=choice.format)
    doubt = "format" if choice.rival else ""
    return Reading("number", number=choice.format, choice=choice, doubt=doubt)


def choose_date_format(counts: CellCounts, asked: str = "use") -> Reading:
    """Decide how a column of dates is read; cells may be written in several layouts."""
    dates = counts.dates
    if dates["hours:minutes"] == counts.n_dates:
        return Reading("duration", date=DateFormat("hours:minutes"))
    n_either = dates[EITHER_ORDER]
    fitting = [order for order in _DATE_ORDERS if dates[order] == n_either]
    order, doubt = (fitting or [EITHER_ORDER])[0], ""
    if asked in ("day-first", "month-first"):
        order = _DATE_ORDERS[asked == "month-first"]
    elif n_either:
        doubt = {1: "", 2: "order"}.get(len(fitting), "orders")
    layouts = [layout for layout in _OTHER_ORDERS if dates[layout]] + [order] * bool(n_either)
    layouts.sort(key=lambda layout: -dates[layout])
    part = asked if asked in ("month", "hour") else "days"
    return Reading("date", date=DateFormat(" or ".join(layouts), part), doubt=doubt)


def numbers_in_text(
    table: FileTable, readings: Mapping[str, Reading], names: Sequence[str], X: np.ndarray
) -> dict[str, np.ndarray]:
    """Give the columns of X (n_rows, n_columns), which has `names`, that a table holds as text.

    They are to be stored as numbers; dates, percentages, and numbers that begin with zeros, stay as
    they are.
    """
    types = dict(zip(table.names, table.data.schema.types, strict=True))
    return {
        name: values
        for name, values in zip(names, X.T, strict=True)
        if name in types and (table.text or is_text(types[name]))
        if (reading := readings[name]).kind in ("number", "text") and not reading.has_zeros
        if reading.number is None or "%" not in reading.number.units
    }
