"""What a table holds, as plain data: a record for each column, with its problems."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np

from pckid.inspection.columns import missing_patterns, summarise_column
from pckid.tables.categories import Columns, count_texts, read_columns
from pckid.tables.fixes import Fix, Missing
from pckid.tables.kinds import Reading, find_readings, is_used
from pckid.tables.options import ColumnOptions
from pckid.tables.problems import Problem, advice, find_problems, units_line
from pckid.tables.service import OpenTable, read_missing, read_rules

_PATTERNS, _COMMON = 8, 3
_QUARTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")


class ColumnInspection(NamedTuple):
    """What is known of one column.

    Attributes
    ----------
    name : str
    kind : str
        "number", "category", "date", "duration", "row name", "free text", "constant", "empty" or
        "text". "text" is what cannot be read before a problem is fixed.
    used : bool
        Whether the clustering uses the column as it stands.
    reading : Reading
        How it is read, and why.
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
    reading: Reading
    problems: tuple[Problem, ...]
    n_observed: int
    n_distinct: int
    share_missing: float
    quartiles: dict[str, float | None]
    common: tuple[tuple[str, int], ...]

    @property
    def number_format(self) -> str | None:
        """How its numbers are written, such as "1.234,56"."""
        return self.reading.number.name if self.reading.number else None

    @property
    def unit(self) -> str | None:
        """Currency, percent sign or unit around its numbers."""
        return next(iter(self.reading.choice.units), None) if self.reading.choice else None

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """Contents of cells that look like codes for missing values."""
        return tuple(fix.text for fix in advice(self.problems) if isinstance(fix, Missing))


class TableInspection(NamedTuple):
    """What is known of a table.

    Attributes
    ----------
    table : OpenTable
    columns : tuple of ColumnInspection
    row_names : str or None
        The column that names the rows, if one does.
    share_missing : float
        Among the columns of numbers and categories.
    n_empty_rows : int
    n_patterns : int
    patterns : tuple of (int, tuple of str)
        How many rows lack which columns, the commonest first.
    """

    table: OpenTable
    columns: tuple[ColumnInspection, ...]
    row_names: str | None
    share_missing: float
    n_empty_rows: int
    n_patterns: int
    patterns: tuple[tuple[int, tuple[str, ...]], ...]

    @property
    def problems(self) -> list[Problem]:
        """All that is wrong or doubtful, in the order of the columns."""
        return [problem for column in self.columns for problem in column.problems]

    @property
    def fixes(self) -> list[Fix]:
        """What takes all advice."""
        return advice(self.problems)


def inspect_table(table: OpenTable, options: ColumnOptions | None = None) -> TableInspection:
    """Find out what a table in memory holds, and all that is wrong or doubtful about it.

    Below a line of units, what it hides is looked for, too.
    """
    options = options or ColumnOptions()
    found = _inspect_once(table, options)
    units = units_line(found.problems)
    if units is None:
        return found
    below = _inspect_once(table, options.with_fixes(units.fix))
    columns = tuple(
        column._replace(problems=(units, *column.problems))
        if column.name == units.column
        else column
        for column in below.columns
    )
    return below._replace(columns=columns)


def _inspect_once(table: OpenTable, options: ColumnOptions) -> TableInspection:
    """Find out what a table in memory holds."""
    if table.whole is None:
        raise ValueError(f"{table.source} is not in memory.")
    missing, rules = read_missing(table, options), read_rules(table, options)
    names = table.names
    readings = find_readings(table.whole, names, missing, rules)
    columns = read_columns(table.whole, names, missing, rules, readings)
    problems: defaultdict[str, list[Problem]] = defaultdict(list)
    counts = {name: count_texts(cells) for name, cells in columns.texts.items()}
    for problem in find_problems(columns, names, table.whole, rules, counts):
        problems[problem.column].append(problem)
    used = [is_used(columns.readings[name], rules, name) for name in names]
    found = tuple(
        _inspect_column(name, columns, j, counts.get(name), problems[name], used[j])
        for j, name in enumerate(names)
    )
    counted = [j for j, column in enumerate(found) if column.kind != "text" and used[j]]
    X = columns.X[:, counted]
    n_patterns, patterns = _patterns(X, [names[j] for j in counted])
    row_names = (name for name, each in columns.readings.items() if each.kind == "row name")
    return TableInspection(
        table, found, next(row_names, None), float(np.isnan(X).mean()) if X.size else 0.0,
        int(np.isnan(X).all(axis=1).sum()) if X.size else 0, n_patterns, patterns,
    )  # fmt: skip


def _inspect_column(
    name: str,
    columns: Columns,
    j: int,
    counts: Counter[str] | None,
    problems: list[Problem],
    used: bool,
) -> ColumnInspection:
    """Put together what is known of column j."""
    reading, kind = columns.readings[name], columns.readings[name].kind
    summary = summarise_column(name, columns.X[:, j])
    if name in columns.wrong:
        kind = "text"
    elif kind not in ("date", "duration") and summary.n_distinct <= 1:
        kind = "constant" if summary.n_observed else "empty"
    # None where nothing is observed, for JSON knows no NaN.
    levels = {key: getattr(summary, key) for key in _QUARTILES if kind == "number"}
    quartiles = {key: level if np.isfinite(level) else None for key, level in levels.items()}
    return ColumnInspection(
        name, kind, used and kind not in ("text", "constant", "empty"), reading, tuple(problems),
        summary.n_observed, summary.n_distinct, summary.share_missing, quartiles,
        tuple((counts or Counter()).most_common(_COMMON)),
    )  # fmt: skip


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
