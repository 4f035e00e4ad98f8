"""What a table holds, as plain data: a record for each column, with its problems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pckid.inspection.columns import ColumnSummary, missing_patterns, summarise_column
from pckid.inspection.notes import advice, explain_reading
from pckid.inspection.problems import Option, Problem, find_problems, is_used
from pckid.tables import (
    Columns,
    FileTable,
    MissingTokens,
    Reading,
    ReadingRules,
    find_readings,
    read_columns,
    read_source,
)

_PATTERNS, _COMMON = 8, 3


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
    evidence : str
        Why the column is taken as what it is; empty where there is nothing to explain.
    number_format : str or None
        How its numbers are written, such as "1.234,56".
    unit : str or None
        Currency, percent sign or unit around its numbers.
    missing_codes : tuple of str
        Contents of cells that look like codes for missing values.
    suggestion : Option or None
        The first option that fixes a problem.
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
    source: str | FileTable,
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
    problems: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in find_problems(columns, names, table, rules):
        problems[problem.column].append(problem)
    found = tuple(
        _inspect_column(
            name,
            columns.X[:, j],
            columns,
            problems[name],
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
