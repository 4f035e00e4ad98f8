"""What a table holds and everything that is wrong or doubtful about it, as plain data."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief, counted, number_hint
from pckid.exceptions import TableError
from pckid.input.sentinels import find_sentinels
from pckid.inspection.columns import (
    ColumnSummary,
    find_outlier,
    looks_like_identifier,
    missing_patterns,
    summarise_column,
)
from pckid.tables import (
    MissingTokens,
    Reading,
    ReadingRules,
    Table,
    find_readings,
    read_source,
)
from pckid.tables.categories import MAX_CATEGORIES, Columns, count_categories, read_columns
from pckid.tables.formats import NumberFormat
from pckid.tables.numbers import NotNumbers, describe_text
from pckid.tables.table import name_row

RESULT_COLUMNS = ("cluster", "confidence", "outlier_score")
"""What a clustering adds to a table."""
_PATTERNS, _COMMON, _MOST_CODES = 8, 3, 5
_FIRST_CELLS, _ZEROS = 1000, re.compile(r"0\d+")
_THOUSANDS = {"": "no thousands sign", " ": "thousands ' '"}
_SHOWN, _LONGEST_ADVICE = 12, 500
_REASONS = {
    "row name": "because they name the rows (--columns takes them)",
    "date": "because they hold dates (--dates use takes them as days)",
    "duration": "because they hold durations (--dates use takes them as hours)",
}
_FLAGS = {
    "na_values": "--na-values", "numbers": "--numbers", "dates": "--dates", "drop": "--drop",
    "categorical": "--categorical", "id_column": "--id",
}  # fmt: skip


class Option(NamedTuple):
    """An option of the command line, such as `--drop notes`."""

    key: str  # "na_values", "numbers", "dates", "drop", "categorical" or "id_column"
    value: str

    def __str__(self) -> str:
        return f"{_FLAGS[self.key]} {shlex.quote(self.value)}"


class Problem(NamedTuple):
    """Something wrong or doubtful about a column.

    Attributes
    ----------
    column : str
    kind : str
        "text among numbers", "ambiguous numbers", "mixed units", "ambiguous dates", "too many
        categories", "infinite numbers", "code for missing", "outlier", "unit left out",
        "may name the rows", "codes with zeros" or "earlier result".
    evidence : str
        A sentence that says what was found.
    fix : str
        A sentence that says what to do.
    options : tuple of Option
        What takes the advice; none where only the owner of the table can tell.
    stops : bool
        Whether the table cannot be clustered before it is mended.
    """

    column: str
    kind: str
    evidence: str
    fix: str
    options: tuple[Option, ...] = ()
    stops: bool = False


class ColumnInspection(NamedTuple):
    """What is known of one column.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date", "duration", "row name", "constant", "empty", "text"}
        "text" is what cannot be read before a problem is mended.
    used : bool
        Whether the clustering uses the column as it stands.
    evidence : str
        Why the column is taken as what it is; empty where there is nothing to explain.
    number_format : str or None
        How its numbers are written, such as "1.234,56".
    unit : str or None
        Currency, percent sign or unit around its numbers.
    missing_codes : tuple of str
        Contents of cells that look like codes for missing values.
    suggestion : Option or None
        The first option that mends a problem.
    problems : tuple of Problem
    n_observed, n_distinct : int
    share_missing : float
    quartiles : dict of str to float or None
        Minimum to maximum of numbers.
    common : tuple of (str, int)
        The commonest categories.
    """

    name: str
    kind: str
    used: bool
    evidence: str
    number_format: str | None
    unit: str | None
    missing_codes: tuple[str, ...]
    suggestion: Option | None
    problems: tuple[Problem, ...]
    n_observed: int
    n_distinct: int
    share_missing: float
    quartiles: dict[str, float | None]
    common: tuple[tuple[str, int], ...]


class TableInspection(NamedTuple):
    """What is known of a table.

    Attributes
    ----------
    source, sha256 : str
    n_rows : int
    columns : tuple of ColumnInspection
    row_names : str or None
        The column that names the rows, if one does.
    share_missing : float
        Among the columns of numbers and categories.
    n_empty_rows : int
    n_patterns : int
    patterns : tuple of (int, tuple of str)
        How many rows lack which columns, the commonest first.
    delimiter, decimal : str or None
    """

    source: str
    sha256: str
    n_rows: int
    columns: tuple[ColumnInspection, ...]
    row_names: str | None
    share_missing: float
    n_empty_rows: int
    n_patterns: int
    patterns: tuple[tuple[int, tuple[str, ...]], ...]
    delimiter: str | None
    decimal: str

    @property
    def problems(self) -> list[Problem]:
        """All that is wrong or doubtful, in the order of the columns."""
        return [problem for column in self.columns for problem in column.problems]

    @property
    def options(self) -> list[Option]:
        """The options that take all advice."""
        return advice(self.problems)


def inspect_table(
    source: str | Table,
    missing: MissingTokens | None = None,
    rules: ReadingRules | None = None,
) -> TableInspection:
    """Find out what a table holds, and all that is wrong or doubtful about it.

    Parameters
    ----------
    source : str or Table
        Path of a table, or one that was read.
    missing : MissingTokens, optional
    rules : ReadingRules, optional

    Returns
    -------
    inspection : TableInspection
    """
    table = read_source(source) if isinstance(source, str) else source
    missing = missing or MissingTokens.with_defaults()
    names = table.names
    readings = find_readings(table, names, missing, rules)
    columns = read_columns(table, names, missing, rules, readings)
    problems = find_problems(columns, names, table, rules)
    found = tuple(
        _inspect_column(
            name,
            columns.X[:, j],
            columns,
            [problem for problem in problems if problem.column == name],
            is_used(columns.readings[name], rules, name),
        )
        for j, name in enumerate(names)
    )
    used = [
        j
        for j, column in enumerate(found)
        if column.kind != "text" and is_used(columns.readings[column.name], rules, column.name)
    ]
    X = columns.X[:, used]
    n_patterns, patterns = _patterns(X, [names[j] for j in used])
    return TableInspection(
        table.source, table.sha256, table.data.num_rows, found, choose_row_names(columns.readings),
        float(np.isnan(X).mean()) if X.size else 0.0,
        int(np.isnan(X).all(axis=1).sum()) if X.size else 0, n_patterns, patterns,
        table.text.delimiter if table.text else None, table.decimal,
    )  # fmt: skip


def choose_row_names(readings: Mapping[str, Reading]) -> str | None:
    """Choose the column whose cells name the rows best: the first that does."""
    return next((name for name, reading in readings.items() if reading.kind == "row name"), None)


def advice(problems: Sequence[Problem]) -> list[Option]:
    """List the options that mend what is wrong, each once."""
    return list(dict.fromkeys(option for problem in problems for option in problem.options))


def as_arguments(options: Sequence[Option]) -> str:
    """Write options as they are given on the command line, the columns to drop in one."""
    drops = [option.value for option in options if option.key == "drop"]
    if not any("," in name for name in drops):
        options = [option for option in options if option.key != "drop"]
        options += [Option("drop", ",".join(drops))] if drops else []
    return " ".join(map(str, options))


def is_used(reading: Reading, rules: ReadingRules | None, name: str) -> bool:
    """Tell whether a column is clustered by: names of rows never, dates if asked for."""
    if reading.kind in ("date", "duration"):
        return (rules or ReadingRules()).dates_of(name) != "leave-out"
    return reading.kind != "row name"


def find_problems(
    columns: Columns, names: Sequence[str], table: Table, rules: ReadingRules | None = None
) -> list[Problem]:
    """List all that is wrong or doubtful about columns that were read.

    Parameters
    ----------
    columns : Columns
    names : sequence of str
        The columns of `columns.X`.
    table : Table
    rules : ReadingRules, optional

    Returns
    -------
    problems : list of Problem
    """
    found: list[Problem] = []
    for j, name in enumerate(names):
        reading = columns.readings[name]
        if not is_used(reading, rules, name):
            continue
        doubts = _earlier_result(name) + _doubts(name, reading)
        found += doubts
        if any(doubt.stops for doubt in doubts):
            continue
        if name in columns.wrong:
            found.append(_text_among_numbers(name, reading, columns.wrong[name], table))
        elif name in columns.texts:
            found += _category_problems(name, columns.texts[name])
        else:
            found += _number_problems(name, columns.X[:, j], reading, table)
            if table.text is not None and reading.kind == "number" and not reading.choice:
                found += _codes_with_zeros(name, columns.X[:, j], table)
    return found


def _earlier_result(name: str) -> list[Problem]:
    """Say that a column seems to be the result of an earlier run."""
    if name not in RESULT_COLUMNS:
        return []
    drop = Option("drop", name)
    evidence = f"The table already has a column '{name}', as an earlier result would."
    fix = f"Leave it out ({drop}); the new result then takes its place."
    return [Problem(name, "earlier result", evidence, fix, (drop,), True)]


def _doubts(name: str, reading: Reading) -> list[Problem]:
    """Say what must be asked about the way a column is written."""
    shown, choice = brief(name), reading.choice
    if reading.doubt == "order":
        ways = [Option("dates", f"{name}={way}") for way in ("day-first", "month-first")]
        return [Problem(
            name, "ambiguous dates",
            f"Column '{shown}' holds dates in which day and month could be either way round.",
            f"Say which: {ways[0]}, or {ways[1]}.", (ways[0],), True,
        )]  # fmt: skip
    if reading.doubt == "units" and choice:
        listed = ", ".join(f"'{unit}' in {n:,}" for unit, n in choice.units.items())
        drop = Option("drop", name)
        return [Problem(
            name, "mixed units", f"Column '{shown}' holds numbers in different units: {listed}.",
            f"Convert them to one unit, or leave the column out: {drop}.", (drop,), True,
        )]  # fmt: skip
    if reading.doubt == "format" and choice and choice.rival:
        both = sorted((choice.format, choice.rival), key=lambda form: not form.thousands)
        ways = [Option("numbers", f"{name}={form.name}") for form in both]
        told = " or ".join(f"{_as_number(choice.example, form):,.10g}" for form in both)
        return [Problem(
            name, "ambiguous numbers",
            f"Column '{shown}': '{brief(choice.example)}' is {told}; all cells can be read "
            "either way.",
            f"Say which: {ways[0]} (thousands) or {ways[1]} (decimal sign).", (ways[0],), True,
        )]  # fmt: skip
    if choice and "%" in choice.units and choice.n_bare:
        return [Problem(
            name, "unit left out",
            f"Column '{shown}' has no % sign in {choice.n_bare:,} of {choice.n_fitting:,} cells; "
            "they are taken as percent too.",
            "Check them.",
        )]  # fmt: skip
    return []


def _as_number(example: str, form: NumberFormat) -> float:
    """Read an example in one of two formats."""
    digits = "".join(sign for sign in example if sign.isdigit() or sign in ".,' -")
    if form.thousands:
        digits = digits.replace(form.thousands, "")
    return float(digits.replace(form.decimal, ".").replace(" ", ""))


def _text_among_numbers(name: str, reading: Reading, found: NotNumbers, table: Table) -> Problem:
    """Say that some cells of a column of numbers are none."""
    evidence = describe_text({name: found}, table.parts)[0]
    few = (
        found.all_texts and len(found.texts) <= _MOST_CODES and 2 * found.n_cells < found.n_observed
    )
    drop = Option("drop", name)
    if few and not any(number_hint(text) for text, _ in found.texts):
        codes = tuple(Option("na_values", text) for text, _ in found.texts)
        fix = f"If the text means missing: {' '.join(map(str, codes))}. Otherwise leave the column "
        fix += f"out ({drop}), or take it as categories ({Option('categorical', name)})."
        return Problem(name, "text among numbers", evidence, fix, codes, True)
    fix = (
        f"Leave the column out ({drop}), or take it as categories ({Option('categorical', name)})."
    )
    return Problem(name, "text among numbers", evidence, fix, (drop,), True)


def _category_problems(name: str, cells: Sequence[str | None]) -> list[Problem]:
    """Say that a column has too many categories."""
    n_distinct, n_observed = count_categories(cells)
    if not MAX_CATEGORIES < n_distinct < n_observed:
        return []
    drop = Option("drop", name)
    return [Problem(
        name, "too many categories",
        f"Column '{brief(name)}' holds {n_distinct:,} different texts in {n_observed:,} rows, too "
        f"many for categories (at most {MAX_CATEGORIES}).",
        f"Leave it out ({drop}), or name it as --id or --label.", (drop,), True,
    )]  # fmt: skip


def _number_problems(
    name: str, values: np.ndarray, reading: Reading, table: Table
) -> list[Problem]:
    """Say what looks wrong in a column of numbers."""
    shown, found = brief(name), []
    for sentinel in find_sentinels(values):
        code = Option("na_values", f"{sentinel.value:g}")
        found.append(Problem(
            name, "code for missing",
            f"Column '{shown}' holds {sentinel.value:g} in {counted(sentinel.n_cells, 'row')}, far "
            "from its other values.",
            f"If that means missing, add {code}", (code,),
        ))  # fmt: skip
    outlier = find_outlier(values)
    if outlier is not None and not found:
        found.append(Problem(
            name, "outlier",
            f"Column '{shown}' holds {outlier:g}, so far from its other values that these look all "
            "alike.",
            "If it is a mistake, mend it or leave the cell empty.",
        ))  # fmt: skip
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        option = _without_infinite(name, int(infinite[0]), table)
        found.append(Problem(
            name, "infinite numbers",
            f"Column '{shown}' holds an infinite number in "
            f"{name_row(table.parts, int(infinite[0]) + 1)}.",
            f"Replace it, or leave the cell empty to treat it as missing, as with {option}.",
            (option,), True,
        ))  # fmt: skip
    plain = reading.kind == "number" and reading.number is None
    if plain and looks_like_identifier(values):
        found.append(Problem(
            name, "may name the rows",
            f"Column '{shown}' holds a whole number in every row, no two alike: it may name the "
            "rows rather than describe them.",
            f"If so, leave it out: {Option('id_column', name)} or {Option('drop', name)}.",
        ))  # fmt: skip
    return found


def _codes_with_zeros(name: str, values: np.ndarray, table: Table) -> list[Problem]:
    """Say that numbers begin with zeros, as codes do and measurements do not."""
    cells = table.data.column(name).slice(0, _FIRST_CELLS).to_pylist()
    codes = [cell for cell in cells if cell and _ZEROS.fullmatch(cell.strip())]
    if not codes:
        return []
    n_distinct = len(np.unique(values[~np.isnan(values)]))
    few = n_distinct <= min(MAX_CATEGORIES, len(values) // 2)
    ways = [Option("categorical", name), Option("drop", name)]
    return [Problem(
        name, "codes with zeros",
        f"Column '{brief(name)}' holds numbers that begin with 0, such as "
        f"{brief(codes[0].strip())}: they look like codes.",
        f"Take them as categories ({ways[0]}), or leave the column out ({ways[1]}).",
        (ways[0] if few else ways[1],),
    )]  # fmt: skip


def _without_infinite(name: str, row: int, table: Table) -> Option:
    """Say what makes an infinite number missing: its text, or else no such column."""
    cell = table.data.column(name)[row].as_py()
    return Option("na_values", cell.strip()) if isinstance(cell, str) else Option("drop", name)


def explain_reading(reading: Reading) -> str:
    """Say why a column is taken as what it is; nothing where that is plain."""
    choice = reading.choice
    if reading.kind == "row name":
        return "no two rows have the same: it names the rows and is left out"
    if reading.kind in ("date", "duration"):
        written = f" written {reading.date.layout}" if reading.date and reading.date.layout else ""
        return f"{reading.kind}s{written}"
    if choice is None or reading.kind == "text":
        return ""
    form = choice.format
    thousands = _THOUSANDS.get(form.thousands, f"thousands '{form.thousands}'")
    units = f", unit {' or '.join(map(repr, choice.units))}" if choice.units else ""
    return (
        f"'{brief(choice.example)}': {choice.n_fitting:,} of {choice.n_observed:,} cells fit "
        f"{thousands}, decimal '{form.decimal}'{units}"
    )


def reading_notes(left_out: Collection[str], readings: Mapping[str, Reading]) -> list[str]:
    """Say in one line each which columns name rows, hold dates, or write numbers in some way."""
    lines = []
    for kind, reason in _REASONS.items():
        named = [n for n, reading in readings.items() if reading.kind == kind and n in left_out]
        if named:
            lines.append(f"Left out, {reason}: {_listed(named)}.")
    ways: dict[str, list[str]] = {}
    for name, reading in readings.items():
        if reading.choice and reading.number and name not in left_out and not reading.doubt:
            ways.setdefault(str((reading.number, *reading.choice.units)), []).append(name)
    for names in ways.values():
        lines.append(f"Numbers read in {_listed(names)}: {explain_reading(readings[names[0]])}.")
    return lines


def _listed(names: Sequence[str]) -> str:
    """Name the first few of some columns."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(brief(name) for name in names[:5]) + more


def problem_lines(problems: Sequence[Problem]) -> list[str]:
    """Say what is wrong, what stops the clustering first; what may name rows in one line."""
    named = [problem for problem in problems if problem.kind == "may name the rows"]
    if len(named) > 1:
        listed = _listed([problem.column for problem in named])
        evidence = (
            f"Columns {listed} hold a whole number in every row, no two alike: they may name "
        )
        both = named[0]._replace(
            evidence=evidence + "the rows rather than describe them.",
            fix="If so, leave them out: --drop.",
        )
        problems = [problem for problem in problems if problem not in named] + [both]
    ordered = sorted(problems, key=lambda problem: not problem.stops)
    return [f"{problem.evidence} {problem.fix}" for problem in ordered]


def refuse_problems(source: str, problems: Sequence[Problem]) -> None:
    """Raise if something must be mended first, with all that is wrong or doubtful."""
    stops = [problem for problem in problems if problem.stops]
    if not stops:
        return
    lines = problem_lines(problems)
    if len(lines) > 1:
        many = counted(len(stops), "column") + (" needs" if len(stops) == 1 else " need")
        more = [f"- and {counted(len(lines) - _SHOWN, 'more point')}"] * (len(lines) > _SHOWN)
        listed = [f"- {line}" for line in lines[:_SHOWN]]
        lines = [f"{many} a decision in {brief(source)}:", *listed, *more]
    options = as_arguments(advice(problems))
    by_hand = f", or {options}" if len(options) <= _LONGEST_ADVICE else ""
    lines.append(f"To take this advice: --yes{by_hand}")
    raise TableError("\n".join(lines))


def _inspect_column(
    name: str, values: np.ndarray, columns: Columns, problems: list[Problem], used: bool
) -> ColumnInspection:
    """Put together what is known of one column."""
    reading, kind = columns.readings[name], columns.readings[name].kind
    choice = reading.choice
    summary = summarise_column(name, values)
    if name in columns.wrong:
        kind = "text"
    elif kind not in ("date", "duration") and summary.n_distinct <= 1:
        kind = "constant" if summary.n_observed else "empty"
    options = advice(problems)
    codes = tuple(option.value for option in options if option.key == "na_values")
    counts = Counter(cell for cell in columns.texts.get(name, ()) if cell is not None)
    return ColumnInspection(
        name, kind, used and kind not in ("text", "constant", "empty"), explain_reading(reading),
        reading.number.name if reading.number else None,
        next(iter(choice.units), None) if choice else None,
        codes, options[0] if options else None, tuple(problems),
        summary.n_observed, summary.n_distinct, summary.share_missing,
        _quartiles(summary) if kind == "number" else {}, tuple(counts.most_common(_COMMON)),
    )  # fmt: skip


def _quartiles(summary: ColumnSummary) -> dict[str, float | None]:
    """Minimum to maximum; None where nothing is observed, for JSON knows no NaN."""
    keys = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
    values = {key: getattr(summary, key) for key in keys}
    return {key: value if np.isfinite(value) else None for key, value in values.items()}


def _patterns(X: np.ndarray, names: list[str]) -> tuple[int, tuple[tuple[int, Any], ...]]:
    """Count the patterns of missing cells; list the commonest by the columns that are missing."""
    if not names:
        return 0, ()
    found = missing_patterns(~np.isnan(X))
    shown = [
        (int(n_rows), tuple(names[j] for j in np.flatnonzero(~observed)))
        for n_rows, observed in zip(found.counts, found.observed[:_PATTERNS], strict=False)
    ]
    return len(found.counts), tuple(shown)
