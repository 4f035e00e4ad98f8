"""What each column of a table holds, and how it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.arrow import is_text
from pckid._utils.text import UNREAD_NUMBER
from pckid.frontends.formats.table import FileTable, count_different, release_memory
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
from pckid.frontends.tables.missing import MissingTokens
from pckid.frontends.tables.numbers import (
    LIMIT,
    NotNumbers,
    observed_cells,
    try_columns,
    try_numbers,
    without_limits,
)
from pckid.frontends.tables.ranges import are_ranges
from pckid.input.cells import as_text
from pckid.input.meanings import holds_mostly, kind_of_texts, numbers_name_rows

# The first rows: as many cells in a table of any width.
_HEAD_ROWS, _HEAD_CELLS = 10_000, 2_000_000
_DATE_ORDERS = ("day-month-year", "month-day-year")
_OTHER_ORDERS = ("year-month-day", "year-month")
DATE_CHOICES = ("leave-out", "use", "month", "hour", "day-first", "month-first")
"""What may become of dates; or letters of strptime, by which they are written."""
_TIMES = ("date", "duration")
NUMERIC = ("number", "text", *_TIMES)
"""Kinds that are read as numbers."""
_MAX_RANGES = 30  # different ones, in a column of them
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


class Columns(NamedTuple):
    """Columns that were read."""

    # (n_rows, n_columns), NaN where a cell is missing or cannot be read; categories are numbered in
    # alphabetical order.
    X: np.ndarray
    texts: dict[str, list[str | None]]  # the cells of the columns of categories
    readings: dict[str, Reading]  # of all columns, in their order
    wrong: dict[str, NotNumbers]  # what could not be read
    counts: dict[str, Counter[str]]  # how often each category stands in its column
    # Texts that were taken for another one, which differs in capitals and blanks only, by column
    joined: Mapping[str, Mapping[str, str]] = {}


def read_columns(
    table: FileTable,
    names: Sequence[str],
    rules: ReadingRules,
    always: Collection[str] = (),
    numeric: Collection[str] = (),
) -> tuple[dict[str, Reading], Columns]:
    """Find out what columns hold and how they are written, and read those that are used.

    Names of rows, free text and dates are used only if the rules say so, or `always`. Text in
    columns that are to be `numeric` is wrong, unless it is declared to be categories.
    """
    X = np.empty((table.data.num_rows, len(names)), order="F")
    readings, place = _find_readings(table, names, rules, X)
    for name in set(numeric) - rules.categorical:
        if readings[name].kind == "category":
            readings[name] = Reading("text")
    used = [name for name in names if name in always or rules.uses(name, readings[name].kind)]
    for j, name in enumerate(used):
        if name in place:  # Columns move to the left: none is overwritten before it moved.
            X[:, j] = X[:, place[name]]
    X, found = X[:, : len(used)], {name: readings[name] for name in used}
    rest = {name: j for j, name in enumerate(used) if name not in place}
    forms = {name: found[name].form for name in rest if found[name].kind in NUMERIC}
    wrong: dict[str, NotNumbers] = {}
    for name, values in zip(forms, try_columns(table, [*forms], rules.missing, forms), strict=True):
        if isinstance(values, NotNumbers):
            wrong[name] = values
        X[:, rest.pop(name)] = np.nan if name in wrong else values
    columns = Columns(X, {}, found, wrong, {}, joined := {})
    for name, j in rest.items():
        cells = text_column(table, name, rules.missing)
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        coded = cells.dictionary_encode()
        texts, index = coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy()
        counts = Counter(dict(zip(texts, np.bincount(index + 1)[1:].tolist(), strict=True)))
        if rules.ignore_case:
            commonest: dict[str, str] = {}
            for text in sorted(counts, key=lambda text: (-counts[text], text)):
                commonest.setdefault(fold_text(text), text)
            best = [commonest[fold_text(text)] for text in texts]
            others = {old: new for old, new in zip(texts, best, strict=True) if old != new}
            if others:
                joined[name], texts, before = others, best, counts
                counts = Counter()
                for old, n in before.items():
                    counts[others.get(old, old)] += n
        codes = {text: float(code) for code, text in enumerate(sorted(counts))}
        X[:, j] = np.array([*(codes[text] for text in texts), np.nan])[index]
        # One object for each text, however many rows hold it.
        columns.texts[name] = np.array([*texts, None], dtype=object)[index].tolist()
        columns.counts[name] = counts
        release_memory(table)
    return readings, columns


def fold_text(text: str) -> str:
    """Write a text without its capitals and blanks."""
    return "".join(text.casefold().split())


def text_column(table: FileTable, name: str, missing: MissingTokens) -> Any:
    """Read a column as an Arrow array of texts without blanks around them; null where missing."""
    column, missing = table.data.column(name), missing.of(name).among_texts
    if is_text(column.type):
        return observed_cells(column, missing)
    try:
        coded = column.combine_chunks().dictionary_encode()
        values, index = coded.dictionary.to_pylist(), coded.indices
    except pa.ArrowNotImplementedError:  # lists and the like
        values, index = column.to_pylist(), pa.array(range(len(column)))
    absent = (None, *missing.numbers)
    texts = [None if v in absent or v != v else as_text(v) for v in values]
    return pa.array(texts, pa.string()).take(index)


def _find_readings(
    table: FileTable, names: Sequence[str], rules: ReadingRules, X: np.ndarray
) -> tuple[dict[str, Reading], dict[str, int]]:
    """Find out what columns hold; fill plain numbers into X (n_rows, n_columns) and say where."""
    # As many cells in a table of any width, which tell texts from numbers.
    n_head = max(1, min(_HEAD_ROWS, _HEAD_CELLS // max(len(table.names), 1)))
    missing, head = rules.missing, replace(table, data=table.data.slice(0, n_head))
    found: dict[str, Reading | None] = {}
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
            X[:, place[name]] = values
        else:
            del place[name]
        release_memory(table)
    counts: dict[str, CellCounts] = {}
    for name in [name for name in names if found[name] is None]:
        tokens = missing.of(name)
        cells = observed_cells(table.data.column(name), tokens._replace(limits=""))
        counts[name] = CellCounts(cells, tokens.limits)
        release_memory(table)
        found[name] = _decide(name, counts[name], table, rules)
    readings = {name: reading for name, reading in found.items() if reading is not None}
    ambiguous = [name for name in counts if (c := readings[name].choice) and c.rival]
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
    return readings, place


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
        # Cells that are dates in any layout, or else durations
        written = sum(self.dates[layout] for layout in (*_OTHER_ORDERS, EITHER_ORDER))
        self.n_dates = max(written, self.dates["hours:minutes"])


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
    if rules.numbers.get(name, rules.numbers.get("")):
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
    n_read = max(counts.n_dates, choice.n_fitting if choice else 0)
    if holds_mostly(n_read, counts.n_observed):
        return None
    unread = pc.sum(pc.match_substring_regex(cells, UNREAD_NUMBER)).as_py() or 0
    if holds_mostly(unread, counts.n_observed):
        return Reading("text")
    return _text(column, name, rules)


def _kind_of_numbers(values: np.ndarray, name: str, rules: ReadingRules) -> Reading:
    """Distinguish measurements from names of the rows."""
    named = name not in rules.kept and numbers_name_rows(values)
    return Reading("row name" if named else "number")


def _text(column: Any, name: str, rules: ReadingRules) -> Reading:
    """Distinguish categories from free text and names of rows."""
    if name in rules.kept:
        return Reading("category")
    cells = observed_cells(column, rules.missing.of(name).among_texts).drop_null()
    return Reading(kind_of_texts(len(column), len(cells), len(cells.unique())))


def _decide(
    name: str,
    counts: CellCounts,
    table: FileTable,
    rules: ReadingRules,
    evidence: str | None = None,
) -> Reading:
    """Decide how a column of text is read by the counts of its cells."""
    form = rules.numbers.get(name, rules.numbers.get(""))
    choice = choose_format(counts, decimal=rules.decimal, evidence=evidence, form=form)
    n_numbers = choice.n_fitting if choice else 0
    if holds_mostly(counts.n_dates, counts.n_observed) and counts.n_dates > n_numbers:
        return choose_date_format(counts, rules.dates_of(name))
    if choice is None or not holds_mostly(n_numbers, counts.n_observed):
        return _text(table.data.column(name), name, rules)
    if n_numbers < counts.n_observed and are_few_ranges(table.data.column(name), name, rules):
        return Reading("category")
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


def are_few_ranges(column: Any, name: str, rules: ReadingRules) -> bool:
    """Whether a column holds few different texts, all ranges of numbers: <=20, 20-50, >50."""
    texts = observed_cells(column, rules.missing.of(name)).unique().drop_null()
    return len(texts) <= _MAX_RANGES and are_ranges(texts.to_pylist())


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
