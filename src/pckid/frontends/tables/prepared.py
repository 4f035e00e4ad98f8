"""A table that is ready to be clustered: its columns, what goes with them, what is doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from pckid.frontends.formats.findings import Doubt, Fact
from pckid.frontends.formats.table import FileTable, TextFormat
from pckid.frontends.options import OF_KINDS, ColumnOptions
from pckid.frontends.tables.kinds import (
    Reading,
    ReadingRules,
    read_columns,
    text_column,
)
from pckid.input.cells import as_text


@dataclass(frozen=True)
class Prepared:
    """The part of a table that is clustered, what goes with it, and what is doubtful about it."""

    table: FileTable  # without rows that advice left out
    options: ColumnOptions  # with the advice that was taken
    names: tuple[str, ...]  # the columns used; of lines of cases, the times are the last
    # The others, and why: a kind of reading, "choice", "row_names", "labels", "known", "weights",
    # "place", "not chosen", "about rows", or "unknown" to the model.
    left_out: Mapping[str, str]
    readings: Mapping[str, Reading]  # also of those left out by what they hold
    rules: ReadingRules
    row_names: str | None  # the column that names the rows
    # Of the columns used; without cells where rows come in batches. Numbers (n_rows, n_columns) are
    # NaN where missing, and codes of categories.
    X: np.ndarray = field(repr=False)
    texts: Mapping[str, list[str | None]] = field(repr=False)  # the cells of categories
    counts: Mapping[str, Counter[str]] = field(repr=False)  # how often each category is there
    wrong: frozenset[str] = frozenset()  # columns with cells that could not be read
    notes: tuple[Fact, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    weights: np.ndarray | None = field(default=None, repr=False)  # (n_rows,)
    places: Mapping[str, np.ndarray] | None = field(default=None, repr=False)  # (n_rows,) each
    series: Any = None  # SeriesTable, where the rows are cases, each made of its lines
    levels: Mapping[str, list[str]] = field(default_factory=dict)  # of ordered categories used
    lines: Prepared | None = None  # how these were read; with their cells only if these are kept

    @property
    def units(self) -> dict[str, str]:
        """What the numbers of columns are in, such as "%" or "$", where they have a unit."""
        choices = {name: reading.choice for name, reading in self.readings.items()}
        return {name: each.unit for name, each in choices.items() if each and each.unit}

    @property
    def of_kinds(self) -> dict[str, list[str]]:
        """The columns of numbers that are of a kind, by the parameter of PCKID that takes them."""
        numbers = [name for name in self.names if name not in self.counts]
        asked = self.options.of_kinds.items()
        return {OF_KINDS[kind]: [n for n in numbers if n in names] for kind, names in asked}

    @property
    def text(self) -> TextFormat | None:
        """How a text table is written: with a decimal comma where one of its columns has it."""
        forms = (reading.number for reading in self.readings.values())
        has_comma = any(form is not None and form.decimal == "," for form in forms)
        text = self.table.text
        return text._replace(decimal=",") if text and has_comma else text

    @property
    def frame(self) -> Any:
        """The columns used, as estimators take them: cases as the SeriesTable that they are, and
        other rows as an Arrow table of numbers, NaN where missing, and texts."""
        if self.series is not None:
            return self.series
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
    def positions(self) -> Any:
        """Where or when rows are, as estimators take it; None if nothing says so."""
        return None if self.places is None else pa.table(dict(self.places))

    @property
    def together(self) -> list[Fact]:
        """A note that rows which share a name are judged together, if any do."""
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
        cells, tokens = self._cells(self.options.known), self.rules.missing.texts
        return cells and ["" if cell.strip().lower() in tokens else cell for cell in cells]

    def outcome(self, name: str) -> tuple[list[Any], str | None]:
        """Read a column to compare clusters in, as others are read; None where missing.

        With how its numbers are written, as in `write_quantity`.
        """
        rules = self.rules._replace(kept=self.rules.kept | {name})
        _, found = read_columns(self.table, [name], rules, always=[name])
        if name in found.wrong:
            cells = text_column(self.table, name, rules.missing)
            return list(cells.to_pylist()), None
        if name in found.texts:
            return found.texts[name], None
        reading, column = found.readings[name], found.X[:, 0]
        form = date_form(reading, column) or (reading.choice and reading.choice.unit) or None
        return [None if np.isnan(cell) else cell for cell in column.tolist()], form

    @property
    def notes_on_cases(self) -> list[str]:
        """How lines made cases; nothing of other rows."""
        return [] if self.series is None else self.series.notes

    @property
    def stops(self) -> bool:
        """Whether something must be fixed first."""
        return any(doubt.stops for doubt in self.doubts)

    def _cells(self, name: str | None) -> list[str] | None:
        """Read a column as text; a missing cell is empty."""
        if name is None:
            return None
        cells = self.table.data.column(name).to_pylist()
        return ["" if cell is None else as_text(cell) for cell in cells]


def date_form(reading: Reading | None, column: np.ndarray) -> str | None:
    """Tell how a column (n_rows,) of dates or durations is written; None if it holds neither."""
    part = reading.date.part if reading and reading.date else "days"
    if reading is None or reading.kind not in ("date", "duration") or part == "month":
        return None
    if reading.kind == "duration" or part == "hour":
        return "time"
    seen = column[~np.isnan(column)]
    return "date" if (seen == np.floor(seen)).all() else "datetime"
