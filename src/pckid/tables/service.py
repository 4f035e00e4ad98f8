"""Prepare the columns of an open table; every front end calls `open_table`, then this.

    source → open_table(ReadOptions) → OpenTable → prepare(ColumnOptions) → Prepared

Nothing here knows a front end: problems, notes and fixes are data.
"""

from __future__ import annotations

import difflib
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
from pckid.tables.categories import Columns, match_categories, read_columns, text_column
from pckid.tables.findings import Drop, Fact, Fix, Missing, Problem, SkipLast, SkipUnits, advice
from pckid.tables.formats import FORMATS
from pckid.tables.kinds import (
    DATE_CHOICES,
    Reading,
    ReadingRules,
    find_reading_anew,
    find_readings,
    first_rows,
    is_used,
)
from pckid.tables.meanings import name_tells_time, unify_answers
from pckid.tables.numbers import WORDS, MissingTokens, NotNumbers, count_text, holds_token
from pckid.tables.options import ColumnOptions
from pckid.tables.problems import (
    ABOUT_USE,
    find_problems,
    find_repeated_names,
    find_units_row,
    infinite_number,
    merge_transposed,
    other_units,
)
from pckid.tables.scanning import OpenTable
from pckid.tables.table import FileTable, name_row, with_points

# What is fixed may bring more to light: a code for missing that hid an outlier.
_MOST_ROUNDS = 5
# Of a column with more different texts, categories are counted no further.
_MOST_TEXTS = 10_000
# Columns of more answers are no questions of a survey.
_MOST_ANSWERS = 11
_FOR_CELLS = (Missing, SkipLast, SkipUnits)
_WEIGHTS = "Weights are numbers from 0 on; 0 is for rows that should not count."


class Known(NamedTuple):
    """What a model knows of its columns."""

    names: tuple[str, ...]
    categories: Mapping[str, Sequence[Any]]  # of the columns of categories
    units: Mapping[str, str]  # what the numbers of columns were in, where they had a unit
    form: Any = None  # SeriesFormat: how the lines of its cases were read, if it has cases


class Unread(NamedTuple):
    """What the first rows of a file did not show, found in a later row."""

    names: frozenset[str] = frozenset()  # columns not written as their first rows are
    infinite: Mapping[str, tuple[int, Any]] = {}  # the first such row, from 1, and its cell


@dataclass(frozen=True)
class Prepared:
    """The part of a table that is clustered, what goes with it, and what is doubtful about it."""

    table: OpenTable  # without rows that advice left out
    options: ColumnOptions  # with the advice that was taken
    names: tuple[str, ...]  # the columns used
    # The others, and why: a kind of reading, "choice", "row_names", "labels", "known", "weights",
    # "not chosen", or "unknown" to the model.
    left_out: Mapping[str, str]
    readings: Mapping[str, Reading]  # also of those left out by what they hold
    rules: ReadingRules
    row_names: str | None  # the column that names the rows
    notes: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    weights: np.ndarray | None = field(default=None, repr=False)  # (n_rows,) of rows in memory
    counts: Mapping[str, Counter[str]] = field(default_factory=dict)  # of categories, in all rows
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # text to category
    columns: Columns | None = field(default=None, repr=False)  # those used, of rows in memory

    @property
    def missing(self) -> MissingTokens:
        """What counts as missing."""
        return self.rules.missing

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
        columns = dict(zip(self.names, map(pa.array, self.X.T), strict=True))
        texts = {name: pa.array(cells, pa.string()) for name, cells in self.texts.items()}
        return pa.table(columns | texts)

    @cached_property
    def ids(self) -> list[str] | None:
        """Names of the rows."""
        return self._cells(self.row_names)

    @property
    def groups(self) -> list[str | None] | None:
        """Which rows belong together: those of one name, where names repeat; None: none do."""
        names = [cell or None for cell in self.ids or ()]
        return names if len(set(names)) < len(names) - names.count(None) else None

    @property
    def together(self) -> list[Fact]:
        """Say that rows which share a name are judged together, if any do."""
        groups = self.groups
        if groups is None:
            return []
        data = {"column": self.row_names, "n_names": len(set(groups) - {None})}
        return [Fact("rows_together", data | {"n_rows": len(groups)})]

    @cached_property
    def labels(self) -> list[str] | None:
        """Known groups of the rows."""
        return self._cells(self.options.labels)

    @property
    def known(self) -> list[str] | None:
        """The groups of rows that are known for the fit, "" for the others."""
        if self.options.known is not None and self.table.whole is None:
            raise OptionError("known rows need the table in memory.", "known")
        cells = self._cells(self.options.known)
        tokens = self.missing.texts
        return cells and ["" if cell.strip().lower() in tokens else cell for cell in cells]

    @property
    def stops(self) -> bool:
        """Whether something must be fixed first."""
        return any(problem.stops for problem in self.problems)

    def _cells(self, name: str | None) -> list[str] | None:
        """Read a column as text; a missing cell is empty."""
        if name is None or self.table.whole is None:
            return None
        column = self.table.whole.data.column(name)
        cells = with_points(column, self.table.parts).to_pylist()
        return ["" if cell is None else str(cell) for cell in cells]


def prepare(
    table: OpenTable,
    options: ColumnOptions | None = None,
    known: Known | None = None,
    unread: Unread | None = None,
) -> Prepared:
    """Choose the columns to cluster, read them, and list all that is doubtful about them.

    A model that knows its columns has settled which are used, and as what. What a pass over all
    rows of a file left unread is looked at in all rows. An OptionError says that an option names
    no column, leaves none, or is about cells that are not there.
    """
    options, unread = options or ColumnOptions(), unread or Unread()
    unmatched = [] if known else list(_find_unmatched(table, options))
    found = _prepare_once(table, options, known, unread)
    taken: list[Fact] = []
    for _ in range(_MOST_ROUNDS):
        fixes = advice(found.problems)
        if not options.take_advice:
            break
        fresh = [fix for fix in fixes if _changes(fix, table, options)]
        if not fresh:
            break
        taken.append(Fact("advice_taken", {"fixes": fresh}))
        options = options.with_fixes(fresh)
        for fix in fresh:
            table = table.without_last(fix.n_rows) if isinstance(fix, SkipLast) else table
            table = table.without_units() if isinstance(fix, SkipUnits) else table
        found = _prepare_once(table, options, known, unread)
    return replace(found, notes=(*taken, *found.notes, *unmatched))


def _changes(fix: Fix, table: OpenTable, options: ColumnOptions) -> bool:
    """Tell whether a fix changes anything that was not fixed before."""
    if isinstance(fix, SkipLast):
        return fix.n_rows > table.parts[-1].n_below
    if isinstance(fix, SkipUnits):
        return not table.units_row
    return options.with_fixes([fix]) != options


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
    rules = _read_rules(table, options)
    if known is not None:
        rules = rules._replace(kept=frozenset(names))
    readings = find_readings(table, names, rules)
    if all(readings[name].kind in ("row name", "free text") for name in names):
        rules = rules._replace(kept=frozenset(names))
        readings = find_readings(table, names, rules)
    for name in unread.names.intersection(names):
        readings[name] = find_reading_anew(table, name, rules)
    if known is not None:
        readings = {name: _expect_numbers(each, name, rules) for name, each in readings.items()}
    used = [name for name in names if is_used(readings[name], rules, name)]
    kept, chosen = set(used), set(names)
    left_out |= {name: readings[name].kind for name in names if name not in kept}
    row_names = options.row_names
    if row_names is None and known is None:
        row_names = next((n for n, each in readings.items() if each.kind == "row name"), None)
    columns, counts, answers, problems = _read(table, used, rules, readings, unread)
    if options.lines is None:
        problems = _with_times(problems, readings, options.take_advice)
    else:
        problems = _of_cases(problems, (options.lines.time, options.lines.value))
    if options.row_names is None and row_names is not None and table.whole is not None:
        problems += find_repeated_names(table.whole.data.column(row_names), row_names)
    if not used:
        problems = [Problem("nothing left", names[0], stops=True)]
    units = find_units_row(problems, columns, used)
    if units is not None:  # What it hides shows at once.
        below = _prepare_once(table.without_units(), options, known, unread)
        return replace(below, problems=(units, *below.problems))
    if known is None:
        facts = list(_kept_words(counts))
        problems = merge_transposed(problems, len(used))
    else:
        columns, facts = _as_known(columns, counts, known)
        problems = [
            problem._replace(fix=tuple(fix for fix in problem.fix if isinstance(fix, _FOR_CELLS)))
            for problem in problems
            if problem.code not in ABOUT_USE
        ]
        problems += other_units(known.units, columns.readings)
        left_out = {name: "unknown" for name in table.names if name not in chosen}
    readings = {**readings, **columns.readings}
    return Prepared(
        table, options, tuple(used), left_out, readings, rules, row_names,
        (*_notes(left_out, readings), *_same_answers(counts), *facts), tuple(problems),
        _read_weights(table, options.weights, rules.missing), counts, answers,
        None if table.whole is None else columns,
    )  # fmt: skip


def _with_times(
    problems: list[Problem], readings: Mapping[str, Reading], take_advice: bool
) -> list[Problem]:
    """Tell with ids that repeat which column has the time of each row, if there is one.

    Rows may then be lines of cases: who takes all advice unseen is asked.
    """
    times = [
        name
        for name, reading in readings.items()
        if reading.kind in ("date", "duration")
        or (reading.kind == "number" and name_tells_time(name))
    ]
    return [
        problem._replace(data={**problem.data, "time": times[0]}, fix=(), stops=take_advice)
        if times and problem.code == "repeated ids"
        else problem
        for problem in problems
    ]


def _of_cases(problems: list[Problem], needed: Sequence[str | None]) -> list[Problem]:
    """Ask nothing about the use of columns that cases need, and never advise to drop them."""
    return [
        problem._replace(fix=tuple(fix for fix in problem.fix if not isinstance(fix, Drop)))
        if problem.column in needed
        else problem
        for problem in problems
        if problem.column not in needed or problem.code not in ABOUT_USE
    ]


def _read(
    table: OpenTable,
    names: Sequence[str],
    rules: ReadingRules,
    readings: Mapping[str, Reading],
    unread: Unread,
) -> tuple[Columns, dict[str, Counter[str]], dict[str, dict[str, str]], list[Problem]]:
    """Read columns and list what is doubtful: of all rows in memory, or of the first in a file.

    Categories, and texts among numbers, are counted in all rows of a file, too. Gives the columns,
    the counts of categories, which text stands for which category, and the problems.
    """
    if not names:
        return Columns(np.empty((table.n_rows or 0, 0)), {}, {}, {}), {}, {}, []
    rows = first_rows(table, names) if table.whole is None else table.whole
    columns = read_columns(rows, names, rules, readings)
    counts = columns.counts
    answers: dict[str, dict[str, str]] = {}
    if table.whole is None:
        answers, counts = _count_answers(table, list(columns.texts), rules.missing)
        doubtful = [name for name in names if name in columns.wrong or name in unread.names]
        columns.wrong.update(_count_wrong(table, doubtful, rules.missing, columns.readings))
    problems = find_problems(columns, names, rows, rules, counts, table)
    stopped = {problem.column for problem in problems if problem.stops}
    problems += [
        infinite_number(name, row, table.parts, cell)
        for name, (row, cell) in unread.infinite.items()
        if name in names and name not in stopped
    ]
    return columns, counts, answers, problems


def _as_known(
    columns: Columns, counts: Mapping[str, Counter[str]], known: Known
) -> tuple[Columns, list[Fact]]:
    """Write categories as a model knows them; say which were written otherwise, or are unknown."""
    texts, facts = dict(columns.texts), []
    for name, categories in known.categories.items():
        if name not in counts or not categories:
            continue
        matched = match_categories(counts[name], categories)
        expected = {*matched, *map(str, categories)}
        unknown = {text: n for text, n in counts[name].items() if text not in expected}
        if matched:
            facts.append(Fact("categories_matched", {"column": name, "texts": matched}))
            texts[name] = [matched.get(c, c) if c is not None else c for c in texts[name]]
        if unknown:
            facts.append(Fact("categories_unknown", {"column": name, "texts": unknown}))
    return columns._replace(texts=texts), facts


def _count_answers(
    table: OpenTable, names: Sequence[str], missing: MissingTokens
) -> tuple[dict[str, dict[str, str]], dict[str, Counter[str]]]:
    """Count the categories of columns in all rows, and tell which text stands for which."""
    texts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for batch in table.batches(names) if names else ():
        for name in names:
            if len(texts[name]) < _MOST_TEXTS:
                found = pc.value_counts(text_column(batch.table, name, missing)).to_pylist()
                seen = {
                    each["values"]: each["counts"] for each in found if each["values"] is not None
                }
                texts[name].update(seen)
    answers = {name: unify_answers(counted) for name, counted in texts.items()}
    counts = {name: Counter[str]() for name in names}
    for name, counted in texts.items():
        for text, count in counted.items():
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
    for batch in table.batches(numeric) if numeric else ():
        for name in numeric:
            found = count_text(batch.table, name, missing, readings[name].form)
            total[name] = found.after(total.get(name), batch.start)
    return {name: found for name, found in total.items() if found.n_cells}


def _expect_numbers(reading: Reading, name: str, rules: ReadingRules) -> Reading:
    """Take a column of text that is not declared to be categories as numbers, to be refused."""
    if reading.kind == "category" and name not in rules.categorical:
        return Reading("text")
    return reading


def _find_unmatched(table: OpenTable, options: ColumnOptions) -> Iterator[Fact]:
    """List contents that are to mean missing and are those of no cell.

    One for a column that lacks it, or for no column of the table, such as "age=-9", is an error.
    """
    waiting: dict[str, tuple[str, str]] = {}
    for token in options.na_values:
        name, _, code = token.rpartition("=")
        waiting[token] = (name, code) if name in table.names else ("", token)
    if not waiting:
        return
    for batch in table.batches(table.names):
        for token, (name, text) in list(waiting.items()):
            searched = [name] if name else table.names
            if any(holds_token(batch.table, each, text) for each in searched):
                del waiting[token]
        if not waiting:
            return
    for token, (name, text) in waiting.items():
        absent = token.rpartition("=")[0]
        if absent and not name:
            raise OptionError(_no_such_column(absent, table.names), "na_values")
        if name:
            raise OptionError(
                f"no cell of column '{brief(name)}' is '{brief(text)}', which was to mean missing.",
                "na_values",
            )
        yield Fact("code_unmatched", {"text": text})


def _read_rules(table: OpenTable, options: ColumnOptions) -> ReadingRules:
    """Put together what the options say about how columns are written."""
    if options.limits not in ("", "value", "half", "missing"):
        raise OptionError(f"{options.limits!r} is none of value, half, missing.", "limits")
    numbers = _parse_by_column(table, options.numbers, tuple(FORMATS), "numbers")
    return ReadingRules(
        MissingTokens.with_defaults(
            options.na_values, options.not_missing, table.names, options.limits
        ),
        {name: FORMATS[form] for name, form in numbers.items()},
        _parse_by_column(table, options.dates, DATE_CHOICES, "dates"),
        options.decimal,
        frozenset(_named_columns(table, options.categorical, "categorical")),
        frozenset(_named_columns(table, options.columns, "columns")),
    )


def _parse_by_column(
    table: OpenTable, values: Sequence[str], choices: Sequence[str], option: str
) -> dict[str, str]:
    """Read texts such as "1.234,56" for all columns or "visit=use" for one; the last one holds."""
    found: dict[str, str] = {}
    for value in values:
        name, _, choice = value.rpartition("=")
        if choice not in choices:
            raise OptionError(
                f"{choice!r} is none of {', '.join(choices)}. Give one of them for all columns, or "
                "NAME=ONE for a column.",
                option,
            )
        if name and name not in table.names:
            raise OptionError(_no_such_column(name, table.names), option)
        found[name] = choice
    return found


def _choose_columns(table: OpenTable, options: ColumnOptions) -> tuple[list[str], dict[str, str]]:
    """Choose the columns to cluster; say why the others are left out."""
    aside = {key: getattr(options, key) for key in ("row_names", "labels", "known", "weights")}
    for key, name in aside.items():
        if name is not None:
            _named_columns(table, [name], key, split=False)
    if options.known is not None and options.known == options.labels:
        raise OptionError(
            f"column '{brief(options.known)}' is to be known for the fit and compared with its "
            "result: they agree in any case. Name another column, or one of the two options.",
            "known",
            "labels",
        )
    dropped = _named_columns(table, options.drop, "drop")
    wanted = _named_columns(table, options.columns, "columns") or table.names
    chosen = set(wanted)
    left_out = dict.fromkeys(dropped, "choice")
    left_out |= {name: "not chosen" for name in table.names if name not in chosen}
    left_out |= {name: key for key, name in aside.items() if name}
    names = [name for name in wanted if name not in left_out]
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
    by_reason: dict[str, list[str]] = {}
    ways: dict[tuple[Any, ...], list[str]] = {}
    for name, reading in readings.items():
        if left_out.get(name) == reading.kind:
            several = reading.kind == "free text" and reading.several
            by_reason.setdefault("several answers" if several else reading.kind, []).append(name)
        if reading.choice and reading.number and name not in left_out and not reading.doubt:
            ways.setdefault((reading.number, *reading.choice.units), []).append(name)
    for kind in ("row name", "free text", "several answers", "date", "duration"):
        if kind in by_reason:
            yield Fact("left_out", {"why": kind, "columns": by_reason[kind]})
    for names in ways.values():
        yield Fact("numbers_read", {"columns": names, "reading": readings[names[0]]})


def _same_answers(counts: Mapping[str, Counter[str]]) -> Iterator[Fact]:
    """List columns that share three answers or more, as questions of a survey do."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for name, texts in counts.items():
        columns.setdefault(tuple(sorted(texts)), []).append(name)
    for answers, names in columns.items():
        if len(names) > 1 and 3 <= len(answers) <= _MOST_ANSWERS:
            yield Fact("same_answers", {"columns": names, "answers": list(answers)})


def _kept_words(counts: Mapping[str, Counter[str]]) -> Iterator[Fact]:
    """List columns of texts in which words for missing are taken as values."""
    for name, texts in counts.items():
        words = {text: n for text, n in texts.items() if text.lower() in WORDS}
        if words:
            yield Fact("words_kept", {"column": name, "words": words})


def _read_weights(table: OpenTable, name: str | None, missing: MissingTokens) -> np.ndarray | None:
    """Read the column of weights: a number from 0 on in every row."""
    if name is None:
        return None
    if table.whole is None:
        raise OptionError("weights need the table in memory.", "weights")
    rules = ReadingRules(missing, kept=frozenset([name]))
    reading = _expect_numbers(find_readings(table.whole, [name], rules)[name], name, rules)
    columns = read_columns(table.whole, [name], rules, {name: reading})
    found = columns.X[:, 0]
    bad = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
    where = "" if found.any() else "0 in all rows"
    if name in columns.wrong:
        where = f"'{brief(columns.wrong[name].example)}'"
    elif len(bad):
        what = "nothing" if np.isnan(found[bad[0]]) else f"{found[bad[0]]:g}"
        where = f"{what} in {name_row(table.whole.parts, int(bad[0]) + 1)}"
    if where:
        raise OptionError(f"column '{brief(name)}' holds {where}. {_WEIGHTS}", "weights")
    return found


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
    """Say which absent columns may be there under other names, but for case and signs."""

    def letters(name: str) -> str:
        return "".join(sign for sign in name.casefold() if sign.isalnum())

    plain = {letters(name): name for name in reversed(others)}
    pairs = []
    for name in absent:
        near = difflib.get_close_matches(letters(name), plain, n=1)
        if near:
            pairs.append(f"'{brief(plain[near[0]])}' for '{brief(name)}'")
    return pairs
