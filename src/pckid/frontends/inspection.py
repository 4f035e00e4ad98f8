"""What a table holds, as plain data: a record for each column, with its problems."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid.describe.columns import missing_patterns, summarise_column
from pckid.frontends.cases import prepare_table
from pckid.frontends.formats.findings import Doubt, advice
from pckid.frontends.formats.table import FileTable, count_different, release_memory
from pckid.frontends.options import ColumnOptions, Fix
from pckid.frontends.tables.kinds import NUMERIC, Reading, text_column
from pckid.frontends.tables.numbers import NotNumbers, try_columns
from pckid.input.answers import find_order, list_categories
from pckid.input.meanings import MAX_CATEGORIES

_PATTERNS = 8
_UNUSED = ("text", "constant", "empty")
_QUARTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")


class ColumnInspection(NamedTuple):
    """What is known of one column."""

    name: str
    # A kind of reading, or "constant" or "empty"; "text" is what cannot be read before a problem
    # is fixed.
    kind: str
    used: bool  # whether the clustering uses the column as it stands
    reading: Reading
    doubts: tuple[Doubt, ...]
    n_observed: int
    n_distinct: int
    share_missing: float
    quartiles: dict[str, float | None]  # minimum to maximum of numbers
    common: tuple[tuple[str, int], ...]  # the commonest categories, or a few in their order

    @property
    def is_read(self) -> bool:
        """Whether its cells can be read as they stand; dates that are left out need not be."""
        is_date = self.kind in ("date", "duration")
        return self.kind != "text" and not (is_date and not self.n_observed)

    @property
    def number_format(self) -> str | None:
        """How its numbers are written, such as "1.234,56"."""
        return self.reading.number.name if self.reading.number else None

    @property
    def unit(self) -> str | None:
        """Currency, percent sign or unit around its numbers."""
        choice = self.reading.choice
        return next(map(choice.spell, choice.units), None) if choice else None

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """Contents of cells that look like codes for missing values."""
        return tuple(fix.choice for fix in advice(self.doubts) if fix.option == "na_values")


class TableInspection(NamedTuple):
    """What is known of a table; where it has lines of cases, of the table of cases."""

    table: FileTable
    columns: tuple[ColumnInspection, ...]
    doubts: tuple[Doubt, ...]  # all that is wrong or doubtful
    row_names: str | None  # the column that names the rows, if one does
    share_missing: float  # among the columns of numbers and categories
    n_empty_rows: int
    n_patterns: int
    patterns: tuple[tuple[int, tuple[str, ...]], ...]  # how many rows lack which columns
    notes: tuple[str, ...] = ()  # how lines made cases

    @property
    def series(self) -> dict[str, list[str]]:
        """Columns of numbers whose names are a series, see `find_series`; none of cases."""
        from pckid.series.wide import find_series

        columns = () if self.notes else self.columns
        return find_series(each.name for each in columns if each.kind == "number")

    @property
    def fixes(self) -> list[Fix]:
        """What takes all advice."""
        return advice(self.doubts)


def inspect_table(table: FileTable, options: ColumnOptions | None = None) -> TableInspection:
    """Find out what a table in memory holds, and all that is wrong or doubtful about it."""
    found = prepare_table(table, options)
    table = found.table
    used = dict.fromkeys(found.names)
    # The column of cases is not read as others are.
    names = [name for name in table.names if name in found.readings]
    others = [name for name in names if name not in used]
    # What is not used is read for its figures alone.
    forms = {name: r.form for name in others if (r := found.readings[name]).kind in NUMERIC}
    rest = try_columns(table, [*forms], found.rules.missing, forms)
    numbers, wrong = dict(zip(used, found.X.T, strict=True)), set(found.wrong)
    for name, values in zip(forms, rest, strict=True):
        if isinstance(values, NotNumbers):
            wrong.add(name)
            values = np.full(table.n_rows, np.nan)
        numbers[name] = values
    doubts: defaultdict[str, list[Doubt]] = defaultdict(list)
    for doubt in found.doubts:
        doubts[doubt.column].append(doubt)
    columns = []
    for name in names:
        reading = found.readings[name]
        quartiles: dict[str, float | None] = {}
        common: tuple[tuple[str, int], ...] = ()
        # Dates that are left out need no cell corrected.
        aside = name not in used and reading.kind in ("date", "duration")
        kind = "text" if name in wrong and not aside else reading.kind
        if name in numbers:
            summary = summarise_column(name, numbers[name])
            n_observed, n_distinct = summary.n_observed, summary.n_distinct
            if counts := found.counts.get(name):
                common = _list_common(list(counts), np.array([*counts.values()]))
        else:
            cells = text_column(table, name, found.rules.missing)
            texts, n_cells = count_different(cells)
            n_observed, n_distinct = int(n_cells.sum()), len(texts)
            common = _list_common(texts, n_cells)
            del cells, texts
        release_memory(table)
        if kind not in ("text", "date", "duration") and n_distinct <= 1:
            kind = "constant" if n_observed else "empty"
        if kind == "number":  # None where nothing is observed, for JSON knows no NaN.
            levels = {key: getattr(summary, key) for key in _QUARTILES}
            quartiles = {k: level if np.isfinite(level) else None for k, level in levels.items()}
        columns.append(ColumnInspection(
            name, kind, name in used and kind not in _UNUSED, reading, tuple(doubts[name]),
            n_observed, n_distinct, 1 - n_observed / max(table.n_rows, 1), quartiles, common,
        ))  # fmt: skip
    kept = np.array([name not in wrong for name in used], dtype=bool)
    read, X = [name for name in used if name not in wrong], found.X
    X = X if kept.all() else X[:, kept]
    return TableInspection(
        table, tuple(columns), found.doubts, found.row_names,
        float(np.isnan(X).mean()) if X.size else 0.0,
        int(np.isnan(X).all(axis=1).sum()) if X.size else 0, *_patterns(X, read),
        tuple(found.notes_on_cases),
    )  # fmt: skip


def _list_common(texts: Sequence[Any], counts: np.ndarray) -> tuple[tuple[str, int], ...]:
    """List the commonest categories with their counts, or a few that have an order, in it."""
    few = [str(text) for text in texts] if len(texts) <= MAX_CATEGORIES else []
    listed = list_categories(few, counts, find_order(few))
    return tuple((str(texts[c]), int(counts[c])) for c in listed)


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
