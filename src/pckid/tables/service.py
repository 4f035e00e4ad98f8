"""The one door for tables: open one, then prepare its columns; every front end calls these two.

    source → open_table(ReadOptions) → OpenTable → prepare(ColumnOptions) → Prepared

Nothing here knows a front end: problems, notes and fixes are data.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief
from pckid.exceptions import OptionError, TableError
from pckid.tables.booleans import unify_answers
from pckid.tables.categories import (
    Columns,
    count_texts,
    match_categories,
    read_columns,
    text_column,
)
from pckid.tables.facts import Fact
from pckid.tables.fixes import Fix, Missing, SkipFirst, SkipLast
from pckid.tables.kinds import (
    Reading,
    ReadingRules,
    find_reading_anew,
    find_readings,
    first_rows,
    is_used,
    parse_rules,
)
from pckid.tables.numbers import WORDS, MissingTokens, NotNumbers, count_text, holds_token
from pckid.tables.options import ColumnOptions, ReadOptions
from pckid.tables.problems import (
    ABOUT_USE,
    Problem,
    advice,
    find_problems,
    infinite_number,
    other_units,
    units_line,
)
from pckid.tables.scanning import Scan, batches, leave_out_last, read_up_to, scan_table
from pckid.tables.sources import Source
from pckid.tables.table import FileTable, name_row

# What is fixed may bring more to light: a code for missing that hid an outlier.
_MOST_ROUNDS = 5
_ROWS_AT_ONCE = 1 << 14
# Of a column with more different texts, categories are counted no further.
_MOST_TEXTS = 10_000


@dataclass(frozen=True)
class OpenTable:
    """A table that was opened.

    Attributes
    ----------
    scan : Scan
        The table in its file.
    whole : FileTable or None
        All of its rows, where they are in memory.
    """

    scan: Scan
    whole: FileTable | None = None

    @property
    def rows(self) -> FileTable | Scan:
        """The rows in memory, or else in the file."""
        return self.scan if self.whole is None else self.whole

    @property
    def source(self) -> str:
        """The file's name, "standard input" for a stream."""
        return self.scan.source

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return self.rows.names

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known."""
        return self.scan.n_rows if self.whole is None else self.whole.data.num_rows

    @property
    def delimiter(self) -> str | None:
        """The sign between cells of a text file."""
        return self.scan.text.delimiter if self.scan.text else None

    @property
    def decimal(self) -> str:
        """The sign between a number's whole part and its fraction."""
        return self.scan.text.decimal if self.scan.text else "."

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes as they are stored."""
        return self.scan.sha256() if self.whole is None else self.whole.sha256

    @property
    def notes(self) -> tuple[Fact, ...]:
        """What was decided when it was opened."""
        more = (Fact("numbers_as_names", {}),) * self.scan.header_is_numbers
        return (*self.scan.facts, *more)

    def read(self, at_most: float = math.inf) -> OpenTable:
        """Read all rows into memory if their cells take no more than `at_most` bytes."""
        whole = None if self.scan.n_bytes > at_most else read_up_to(self.scan, at_most)
        return replace(self, whole=whole)

    def without_last(self, n_rows: int) -> OpenTable:
        """Leave out the last rows; those that are left out already count."""
        if self.whole is not None:
            return replace(self, whole=leave_out_last(self.whole, n_rows))
        return replace(self, scan=leave_out_last(self.scan, n_rows))

    def batches(self, names: Sequence[str]) -> Iterator[tuple[int, FileTable]]:
        """Yield columns of all rows: at once from memory, in batches from a file, with a start."""
        if self.whole is not None:
            yield 0, self.whole
            return
        for batch in batches(self.scan, self.scan.parts, names, _ROWS_AT_ONCE):
            yield batch.start, batch.table


def open_table(
    source: str | Source, options: ReadOptions | None = None, *, at_most: float = math.inf
) -> OpenTable:
    """Open a table, and read it if its cells take no more than `at_most` bytes.

    Parameters
    ----------
    source : str or Source
        Path of a file or of a folder of Parquet files; "-" is standard input.
    options : ReadOptions, optional
    at_most : float, default=inf
        0 leaves every table in its file.

    Returns
    -------
    table : OpenTable

    Raises
    ------
    TableError
        If it cannot be read; says why and what to do.
    """
    given = options or ReadOptions()
    limit = given.max_unpacked
    scan = scan_table(
        source, delimiter=_check_delimiter(given.delimiter), decimal=given.decimal,
        encoding=given.encoding, header=given.header, sheet=given.sheet,
        skip_first=given.skip_first, skip_last=given.skip_last, visible_only=given.visible_only,
        max_bytes=None if limit is None else int(limit * 2**30),
    )  # fmt: skip
    return OpenTable(scan).read(at_most) if at_most else OpenTable(scan)


def _check_delimiter(delimiter: str | None) -> str | None:
    """Read the sign between cells; None is to be found out."""
    if delimiter in ("tab", "\\t"):
        return "\t"
    if delimiter is not None and len(delimiter) != 1:
        raise OptionError(f"{delimiter!r} is not one sign.", "delimiter")
    if delimiter is not None and (not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise OptionError(
            f"{delimiter!r} cannot separate cells. Give a sign of ASCII, no quote and no line end.",
            "delimiter",
        )
    return delimiter


class Known(NamedTuple):
    """What a model knows of its columns.

    Attributes
    ----------
    names : tuple of str
    categories : mapping of name to sequence
        Of the columns of categories.
    units : mapping of name to str
        What the numbers of columns were in, where they had a unit.
    """

    names: tuple[str, ...]
    categories: Mapping[str, Sequence[Any]]
    units: Mapping[str, str]


@dataclass(frozen=True)
class Prepared:
    """The part of a table that is clustered, what goes with it, and what is doubtful about it.

    Attributes
    ----------
    table : OpenTable
        Without rows that advice left out.
    options : ColumnOptions
        With the advice that was taken.
    names : tuple of str
        The columns used.
    left_out : mapping of name to str
        The others, and why: a kind of reading, "choice", "row names", "labels", "weights",
        "not chosen", or "unknown" to the model.
    readings : mapping of name to Reading
        How the columns are read, those left out by what they hold among them.
    rules : ReadingRules
    missing : MissingTokens
    row_names : str or None
        The column that names the rows.
    notes : tuple of Fact
    problems : tuple of Problem
    weights : ndarray of shape (n_rows,) or None
        How much each row of a table in memory counts.
    counts : mapping of name to Counter
        How often each category occurs in all rows, for the columns of categories.
    answers : mapping of name to mapping
        The category that each text of these columns stands for.
    columns : Columns or None
        All rows of the columns used, where the table is in memory.
    """

    table: OpenTable
    options: ColumnOptions
    names: tuple[str, ...]
    left_out: Mapping[str, str]
    readings: Mapping[str, Reading]
    rules: ReadingRules
    missing: MissingTokens
    row_names: str | None
    notes: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    weights: np.ndarray | None = field(default=None, repr=False)
    counts: Mapping[str, Counter[str]] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    columns: Columns | None = field(default=None, repr=False)

    @property
    def X(self) -> np.ndarray:
        """The numbers (n_rows, n_columns) of a table in memory; those of categories stand for
        texts."""
        return self._columns.X

    @property
    def texts(self) -> Mapping[str, list[str | None]]:
        """The cells of the columns of categories of a table in memory."""
        return self._columns.texts

    @property
    def rows_in_memory(self) -> FileTable:
        """All columns of a table in memory."""
        if self.table.whole is None:
            raise ValueError(f"{self.table.source} is not in memory.")
        return self.table.whole

    @property
    def _columns(self) -> Columns:
        """The columns of a table in memory."""
        if self.columns is None:
            raise ValueError(f"{self.table.source} is not in memory.")
        return self.columns

    @property
    def frame(self) -> Any:
        """The columns used, as an Arrow table: numbers, NaN where missing, and texts."""
        return name_columns(self.names, self.X, self.texts)

    @cached_property
    def ids(self) -> list[str] | None:
        """Names of the rows."""
        return self._cells(self.row_names)

    @cached_property
    def labels(self) -> list[str] | None:
        """Known groups of the rows."""
        return self._cells(self.options.labels)

    @property
    def stops(self) -> bool:
        """Whether something must be fixed first."""
        return any(problem.stops for problem in self.problems)

    def _cells(self, name: str | None) -> list[str] | None:
        """Read a column as text; a missing cell is empty."""
        if name is None or self.table.whole is None:
            return None
        cells = self.table.whole.data.column(name).to_pylist()
        return ["" if cell is None else str(cell) for cell in cells]


def name_columns(
    names: Sequence[str], X: np.ndarray, texts: Mapping[str, Sequence[str | None]]
) -> Any:
    """Give numbers (n_rows, n_columns) their names; `texts` stand for those of their columns."""
    columns = dict(zip(names, map(pa.array, X.T), strict=True))
    return pa.table(columns | {name: pa.array(cells, pa.string()) for name, cells in texts.items()})


class Unread(NamedTuple):
    """What the first rows of a file did not show, found in a later row.

    Attributes
    ----------
    names : frozenset of str
        Columns that are not written as their first rows are.
    infinite : mapping of name to (int, object)
        The first row with an infinite number, counted from 1, and its cell.
    """

    names: frozenset[str] = frozenset()
    infinite: Mapping[str, tuple[int, Any]] = {}


def prepare(
    table: OpenTable,
    options: ColumnOptions | None = None,
    known: Known | None = None,
    unread: Unread | None = None,
) -> Prepared:
    """Choose the columns to cluster, read them, and list all that is doubtful about them.

    Parameters
    ----------
    table : OpenTable
    options : ColumnOptions, optional
    known : Known, optional
        What a model knows, where new rows are to be placed: it has settled which columns are used,
        and as what.
    unread : Unread, optional
        What a pass over all rows of a file has met; these columns are looked at in all rows.

    Returns
    -------
    prepared : Prepared

    Raises
    ------
    OptionError
        If an option names no column, or leaves none.
    """
    options = options or ColumnOptions()
    unread = unread or Unread()
    found = _prepare_beyond_units(table, options, known, unread)
    taken: list[Fact] = []
    for _ in range(_MOST_ROUNDS):
        fixes = advice(found.problems)
        if not options.take_advice or any(isinstance(fix, SkipFirst) for fix in fixes):
            break
        changed, shorter = _apply(table, options, fixes)
        if changed == options and shorter == table:
            break
        fresh = [fix for fix in fixes if _apply(table, options, [fix]) != (options, table)]
        taken.append(Fact("advice_taken", {"fixes": fresh}))
        table, options = shorter, changed
        found = _prepare_beyond_units(table, options, known, unread)
    return replace(found, notes=(*taken, *found.notes))


def _prepare_beyond_units(
    table: OpenTable, options: ColumnOptions, known: Known | None, unread: Unread
) -> Prepared:
    """Choose and read columns; below a line of units, look for what it hides."""
    found = _prepare_once(table, options, known, unread)
    units = units_line(found.problems)
    if units is None or known is not None:
        return found
    below = _prepare_once(table, options.with_fixes(units.fix), known, unread)
    return replace(found, problems=(units, *below.problems))


def _apply(
    table: OpenTable, options: ColumnOptions, fixes: Sequence[Fix]
) -> tuple[ColumnOptions, OpenTable]:
    """Apply fixes to the options and to the rows."""
    for fix in fixes:
        if isinstance(fix, SkipLast) and fix.n_rows > table.rows.parts[0].n_below:
            table = table.without_last(fix.n_rows)
    return options.with_fixes(fixes), table


def _prepare_once(
    table: OpenTable, options: ColumnOptions, known: Known | None, unread: Unread
) -> Prepared:
    """Choose and read columns, and look for problems; no advice is taken."""
    if known is not None:
        refuse_absent(table, known.names)
        options = replace(
            options, columns=known.names, drop=(), categorical=tuple(known.categories)
        )
    names, left_out = _choose_columns(table, options)
    missing, rules = read_missing(table, options), read_rules(table, options)
    unmatched: list[Fact] = []
    if known is None and table.whole is not None:
        unmatched += _unmatched_codes(table.whole, options.na_values, missing)
    if known is not None:
        rules = rules._replace(kept=frozenset(names))
    readings = find_readings(table.rows, names, missing, rules)
    if all(readings[name].kind in ("row name", "free text") for name in names):
        rules = rules._replace(kept=frozenset(names))
        readings = find_readings(table.rows, names, missing, rules)
    for name in unread.names.intersection(names):
        readings[name] = find_reading_anew(table.rows, name, missing, rules)
    if known is not None:
        readings = {name: expect_numbers(each, name, rules) for name, each in readings.items()}
    used = [name for name in names if is_used(readings[name], rules, name)]
    kept = set(used)
    left_out |= {name: readings[name].kind for name in names if name not in kept}
    if not used:
        raise OptionError(
            "No column is left to cluster: all hold dates, free text or names of rows.",
            "dates",
            "columns",
        )
    row_names = options.row_names
    if row_names is None and known is None:
        row_names = next((n for n, each in readings.items() if each.kind == "row name"), None)
    read = _read(table, used, missing, rules, readings, unread)
    if known is not None:
        read = _as_known(read, known)
    columns, problems = read.columns, read.problems
    if known is not None:
        problems = [
            problem._replace(fix=tuple(fix for fix in problem.fix if isinstance(fix, _FOR_CELLS)))
            for problem in problems
            if problem.code not in ABOUT_USE
        ]
        problems += other_units(known.units, columns.readings)
        unknown = set(table.names) - set(names)
        left_out = {name: "unknown" for name in table.names if name in unknown}
    readings = {**readings, **columns.readings}
    return Prepared(
        table, options, tuple(used), left_out, readings, rules, missing, row_names,
        (*_notes(left_out, readings), *read.facts, *unmatched), tuple(problems),
        _read_weights(table, options.weights, missing), read.counts, read.answers,
        None if table.whole is None else columns,
    )  # fmt: skip


_FOR_CELLS = (Missing, SkipLast, SkipFirst)


class _Read(NamedTuple):
    """Columns that were read, of all rows in memory or of the first ones, and what was found."""

    columns: Columns
    counts: dict[str, Counter[str]]
    answers: dict[str, dict[str, str]]
    problems: list[Problem]
    facts: tuple[Fact, ...]


def _read(
    table: OpenTable,
    names: Sequence[str],
    missing: MissingTokens,
    rules: ReadingRules,
    readings: Mapping[str, Reading],
    unread: Unread,
) -> _Read:
    """Read columns and list what is doubtful: of all rows in memory, or of the first in a file.

    Categories, and texts among numbers, are counted in all rows of a file, too.
    """
    if table.whole is not None:
        columns = read_columns(table.whole, names, missing, rules, readings)
        counts = {name: count_texts(cells) for name, cells in columns.texts.items()}
        problems = find_problems(columns, names, table.whole, rules, counts)
        return _Read(columns, counts, {}, problems, tuple(_kept_words(counts)))
    head = first_rows(table.scan, names, len(table.names))
    columns = read_columns(head, names, missing, rules, readings)
    answers, counts = _count_answers(table, list(columns.texts), missing)
    doubtful = [name for name in names if name in columns.wrong or name in unread.names]
    columns.wrong.update(_count_wrong(table, doubtful, missing, columns.readings))
    problems = find_problems(columns, names, head, rules, counts, table.scan)
    problems += [
        infinite_number(name, row, table.scan, cell)
        for name, (row, cell) in unread.infinite.items()
        if name in names and name not in {problem.column for problem in problems if problem.stops}
    ]
    return _Read(columns, counts, answers, problems, tuple(_kept_words(counts)))


def _as_known(read: _Read, known: Known) -> _Read:
    """Write categories as a model knows them; say which were written otherwise, or are unknown."""
    columns, facts = read.columns, []
    for name, categories in known.categories.items():
        if name not in read.counts or not categories:
            continue
        counts = read.counts[name]
        matched = match_categories(counts, categories)
        unknown = {t: n for t, n in counts.items() if t not in {*matched, *map(str, categories)}}
        if matched:
            facts.append(Fact("categories_matched", {"column": name, "texts": matched}))
            cells = [matched.get(c, c) if c is not None else c for c in columns.texts[name]]
            columns = columns._replace(texts={**columns.texts, name: cells})
        if unknown:
            facts.append(Fact("categories_unknown", {"column": name, "texts": unknown}))
    return read._replace(columns=columns, facts=tuple(facts))


def _count_answers(
    table: OpenTable, names: Sequence[str], missing: MissingTokens
) -> tuple[dict[str, dict[str, str]], dict[str, Counter[str]]]:
    """Count the categories of columns in all rows, and tell which text stands for which."""
    texts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for _, rows in table.batches(names) if names else ():
        for name in names:
            if len(texts[name]) < _MOST_TEXTS:
                found = pc.value_counts(text_column(rows, name, missing)).to_pylist()
                texts[name].update({each["values"]: each["counts"] for each in found})
    answers, counts = {}, {name: Counter[str]() for name in names}
    for name, found in texts.items():
        found.pop(None, None)  # type: ignore[call-overload]
        answers[name] = unify_answers(found)
        for text, count in found.items():
            counts[name][answers[name][text]] += count
    return answers, counts


def _count_wrong(
    table: OpenTable,
    names: Sequence[str],
    missing: MissingTokens,
    readings: Mapping[str, Reading],
) -> dict[str, NotNumbers]:
    """Count the cells of each column that cannot be read, where there are some, in all rows."""
    total: dict[str, NotNumbers] = {}
    numeric = [name for name in names if readings[name].kind != "category"]
    for start, rows in table.batches(numeric) if numeric else ():
        for name in numeric:
            found = count_text(rows, name, missing, readings[name].form)
            total[name] = found.after(total.get(name), start)
    return {name: found for name, found in total.items() if found.n_cells}


def expect_numbers(reading: Reading, name: str, rules: ReadingRules) -> Reading:
    """Take a column of text that is not declared to be categories as numbers, to be refused."""
    if reading.kind == "category" and name not in rules.categorical:
        return Reading("text")
    return reading


def read_missing(table: OpenTable, options: ColumnOptions) -> MissingTokens:
    """Put together what the options say about missing values."""
    if options.limits not in ("", "value", "half", "missing"):
        raise OptionError(f"{options.limits!r} is none of value, half, missing.", "limits")
    return MissingTokens.with_defaults(
        options.na_values, options.not_missing, table.names, options.limits
    )


def _unmatched_codes(
    table: FileTable, tokens: Sequence[str], missing: MissingTokens
) -> Iterator[Fact]:
    """List contents that are to mean missing and are those of no cell.

    One that names no column, such as "age=-9" in a table without ages, is an error.
    """
    for token in tokens:
        name, _, code = token.rpartition("=")
        own = name in missing.columns
        names, text = ([name], code) if own else (table.names, token)
        if any(holds_token(table, each, text) for each in names):
            continue
        if name and not own:
            raise OptionError(_no_such_column(name, table.names), "na_values")
        yield Fact("code_unmatched", {"column": name, "text": text})


def read_rules(table: OpenTable, options: ColumnOptions) -> ReadingRules:
    """Put together what the options say about how columns are written."""
    return parse_rules(
        table.names,
        numbers=options.numbers,
        dates=options.dates,
        decimal=options.decimal,
        categorical=_named_columns(table, options.categorical, "categorical"),
        kept=_named_columns(table, options.columns, "columns"),
    )


def _choose_columns(table: OpenTable, options: ColumnOptions) -> tuple[list[str], dict[str, str]]:
    """Choose the columns to cluster; say why the others are left out."""
    aside = {key: getattr(options, key) for key in ("row_names", "labels", "weights")}
    for key, name in aside.items():
        if name is not None:
            _named_columns(table, [name], key, split=False)
    dropped = _named_columns(table, options.drop, "drop")
    wanted = _named_columns(table, options.columns, "columns") or table.names
    left_out = dict.fromkeys(dropped, "choice")
    left_out |= {name: key for key, name in aside.items() if name}
    names = [name for name in wanted if name not in left_out]
    chosen = set(wanted)
    left_out |= {name: "not chosen" for name in table.names if name not in chosen}
    if not names:
        raise OptionError("No column is left to cluster.", "columns", "drop")
    return names, left_out


def _named_columns(
    table: OpenTable, values: Sequence[str], option: str, split: bool = True
) -> list[str]:
    """Find the columns that an option names, alone or with commas between them."""
    found: list[str] = []
    known = set(table.names) if values else set()
    for value in values:
        whole = value in known or not split
        parts = [value] if whole else [part.strip() for part in value.split(",")]
        for part in filter(None, parts):
            if part not in known:
                raise OptionError(_no_such_column(part, table.names), option)
            found.append(part)
    return list(dict.fromkeys(found))


def _no_such_column(name: str, names: list[str]) -> str:
    """Say that a column does not exist, and which comes close."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = (
        f"Did you mean '{brief(near[0])}'?"
        if near
        else "The columns are: " + ", ".join(brief(other) for other in names[:12])
    )
    return f"the table has no column '{brief(name)}'. {hint}"


def _notes(left_out: Mapping[str, str], readings: Mapping[str, Reading]) -> Iterator[Fact]:
    """List which columns name rows, hold dates, or write numbers in some way."""
    for kind in ("row name", "free text", "several answers", "date", "duration"):
        named = [
            name
            for name, reading in readings.items()
            if left_out.get(name) == reading.kind and _why_left_out(reading) == kind
        ]
        if named:
            yield Fact("left_out", {"why": kind, "columns": named})
    ways: dict[tuple[Any, ...], list[str]] = {}
    for name, reading in readings.items():
        if reading.choice and reading.number and name not in left_out and not reading.doubt:
            ways.setdefault((reading.number, *reading.choice.units), []).append(name)
    for names in ways.values():
        yield Fact("numbers_read", {"columns": names, "reading": readings[names[0]]})


def _kept_words(counts: Mapping[str, Counter[str]]) -> Iterator[Fact]:
    """List columns of texts in which words for missing are taken as values."""
    for name, texts in counts.items():
        words = {text: n for text, n in texts.items() if text.lower() in WORDS}
        if words:
            yield Fact("words_kept", {"column": name, "words": words})


def _why_left_out(reading: Reading) -> str:
    """Say why a column is left out, if it is."""
    several = reading.kind == "free text" and reading.several
    return "several answers" if several else reading.kind


def _read_weights(table: OpenTable, name: str | None, missing: MissingTokens) -> np.ndarray | None:
    """Read the column of weights: a number from 0 on in every row."""
    if name is None:
        return None
    if table.whole is None:
        raise OptionError("weights need the table in memory.", "weights")
    rules = ReadingRules(kept=frozenset([name]))
    reading = expect_numbers(find_readings(table.whole, [name], missing, rules)[name], name, rules)
    columns = read_columns(table.whole, [name], missing, rules, {name: reading})
    if name in columns.wrong:
        example = brief(columns.wrong[name].example)
        raise OptionError(f"column '{brief(name)}' holds '{example}'. {_WEIGHTS}", "weights")
    found = columns.X[:, 0]
    bad = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
    if len(bad) or not found.any():
        where = "holds 0 in all rows"
        if len(bad):
            what = "nothing" if np.isnan(found[bad[0]]) else f"{found[bad[0]]:g}"
            where = f"holds {what} in {name_row(table.whole.parts, int(bad[0]) + 1)}"
        raise OptionError(f"column '{brief(name)}' {where}. {_WEIGHTS}", "weights")
    return found


_WEIGHTS = "Weights are numbers from 0 on; 0 is for rows that should not count."


def refuse_absent(table: OpenTable, names: Sequence[str]) -> None:
    """Raise if a table lacks columns of a model, with those that may be meant."""
    here = set(table.names)
    absent = [name for name in names if name not in here]
    if not absent:
        return
    others = [name for name in table.names if name not in set(names)]
    near = _similar_names(absent, others)
    if len(absent) == len(names) > 1 and not near:
        raise TableError(
            f"{table.source} has none of the model's {len(names)} columns, such as "
            f"'{brief(absent[0])}': it is another table, or its columns have other names. Give "
            "rows with the columns of the table that the model was fitted on."
        )
    many = f"{len(absent)} of the model's {len(names)} columns, first"
    them, their = ("it", "its") if len(absent) == 1 else ("them", "their")
    what = f"Add {them}; {their} cells may be empty."
    if near:
        listed = ", ".join(near[:5])
        what = f"Did you mean {listed}? Rename {them}, or add {them} with empty cells."
    raise TableError(
        f"{table.source} lacks {many if len(names) > 1 else 'the only column of the model,'} "
        f"'{brief(absent[0])}'. {what}"
    )


def _similar_names(absent: Sequence[str], others: Sequence[str]) -> list[str]:
    """Say which absent columns may be there under other names."""
    plain = {_letters(name): name for name in reversed(others)}
    pairs = []
    for name in absent:
        near = difflib.get_close_matches(_letters(name), plain, n=1)
        if near:
            pairs.append(f"'{brief(plain[near[0]])}' for '{brief(name)}'")
    return pairs


def _letters(name: str) -> str:
    """Write a name without case and without signs between words."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())
