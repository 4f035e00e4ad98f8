"""Tables in files, read batch by batch: memory is bounded by `working_memory`, not by the file."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn import get_config

from pckid._utils.parallel import one_ahead
from pckid.exceptions import NeedsWholeTable
from pckid.outofcore.rows import Block, BlockedRows, BlockResult, Survey, add, survey_block
from pckid.tables.dates import DateFormat
from pckid.tables.formats import NumberFormat
from pckid.tables.kinds import Reading, ReadingRules, find_reading_anew, numbers_in_text
from pckid.tables.numbers import (
    MAX_TEXTS,
    MissingTokens,
    NotNumbers,
    check_finite_columns,
    check_no_text,
    count_text,
    describe_text,
    try_columns,
)
from pckid.tables.scanning import Batch, Part, Scan, batches, read_up_to
from pckid.tables.table import FileTable

# Longer batches gain nothing.
_MOST_ROWS = 1 << 15
# A batch is held as Arrow columns, as floats, standardised, and in parts of each.
_BYTES_PER_NUMBER = 256
# What reading alone takes of that for each cell of numbers, and of text.
_BYTES_PER_NUMBER_READ, _BYTES_PER_TEXT_READ = 32, 80
# Reading in batches takes about this share of `working_memory`, however large the table is; a fit
# to a table that is read whole takes about so many times its size, as numbers or as text.
_SHARE_OF_BATCHES, _GROWTH = 1 / 4, 8


class Found(NamedTuple):
    """Rows of a file, and what a function gave for them."""

    table: FileTable | None  # the columns asked for; None if none were
    start: int  # number of the first row in the whole table
    results: tuple[np.ndarray, ...]
    numbers: dict[str, np.ndarray] | None = None  # of columns that the file holds as text


class _OtherFormat(Exception):
    """A column is written otherwise than its first rows are."""

    def __init__(self, name: str, reading: Reading) -> None:
        super().__init__(name)
        self.name, self.reading = name, reading


class FileRows(BlockedRows):
    """The rows of a table in one or more files.

    Parameters
    ----------
    scan : Scan
    names : sequence of str
        The columns to cluster by.
    missing : MissingTokens
    readings : mapping of name to Reading, optional
        How columns are written, as from `find_readings`; plainly by default.
    rules : ReadingRules, optional
        Where given, a column that turns out to be written otherwise than its first rows is looked
        at anew.
    """

    lazy = False
    local = True  # whether functions run in this process

    def __init__(
        self,
        scan: Scan,
        names: Sequence[str],
        missing: MissingTokens,
        readings: Mapping[str, Reading] | None = None,
        rules: ReadingRules | None = None,
    ) -> None:
        self.scan = scan
        self.columns = list(names)
        self.missing = missing
        self.readings = dict(readings or {})
        self.rules = rules
        self.template = scan.template(names)
        self.surveyed: Survey | None = None  # what the last fit found

    @property
    def names(self) -> tuple[str, ...]:
        """The columns as errors name them."""
        return tuple(f"'{name}'" for name in self.columns)

    @property
    def bytes_at_once(self) -> int:
        """About how much memory this process reads into at a time; 0 where others read.

        Two batches, one of them read ahead.
        """
        if not self.local:
            return 0
        each = _BYTES_PER_TEXT_READ if self.scan.text else _BYTES_PER_NUMBER_READ
        return 2 * batch_rows(len(self.columns)) * len(self.columns) * each

    def survey(self, entropy: int, size: int) -> Survey:
        """Pass over all rows; choose `size` of them."""
        while True:
            try:
                self.surveyed = self.survey_parts(self.scan.parts, entropy, size, math.inf)
                # Arrow keeps what its batches took; a fit needs it before the next ones come.
                pa.default_memory_pool().release_unused()
                return self.surveyed
            except _OtherFormat as found:
                self.readings[found.name] = found.reading

    def survey_parts(self, parts: Sequence[Part], entropy: int, size: int, limit: float) -> Survey:
        """Pass over some parts of the table, choosing among keys below `limit`."""
        waiting: list[Survey] = []
        with closing(self.blocks(parts)) as blocks:
            for batch, X in blocks:
                block = Block(batch.start, batch.part.place, self.names, batch.row, 1)
                waiting.append(survey_block(X, block, entropy, size, limit))
                if sum(len(survey.keys) for survey in waiting) > 2 * size:
                    waiting = [add(waiting, size)]
                    limit = waiting[0].keys.max()
        return add(waiting, size)

    def blocks(
        self, parts: Sequence[Part], others: Sequence[str] = ()
    ) -> Generator[tuple[Batch, np.ndarray], None, None]:
        """Yield batches with other columns besides, and the numbers to cluster by.

        To be closed by whoever stops early: the next batch is read meanwhile.
        """
        wanted = list(dict.fromkeys([*self.columns, *others]))
        # Here, since scikit-learn's settings are those of a thread.
        n_rows = batch_rows(len(wanted))
        return one_ahead(self._read_blocks(parts, wanted, n_rows))

    def _read_blocks(
        self, parts: Sequence[Part], wanted: Sequence[str], n_rows: int
    ) -> Generator[tuple[Batch, np.ndarray], None, None]:
        """Yield batches of some columns, and the numbers to cluster by."""
        for batch in batches(self.scan, parts, wanted, n_rows):
            yield batch, self._numbers(batch, parts)

    def _numbers(self, batch: Batch, parts: Sequence[Part]) -> np.ndarray:
        """Read a batch as numbers (n_rows, n_features), NaN where a cell is missing."""
        X = np.empty((batch.table.data.num_rows, len(self.columns)))
        forms = self._forms()
        for j, values in enumerate(try_columns(batch.table, self.columns, self.missing, forms)):
            if isinstance(values, NotNumbers):
                self._look_anew(self.columns[j])
                self._refuse_text(parts)
            X[:, j] = values
        if np.isinf(X).any():
            self._refuse_text(parts)
            check_finite_columns(X, self.columns, self.scan.parts, batch.start)
        return X

    def _forms(self) -> dict[str, NumberFormat | DateFormat | None]:
        """Give the formats of the columns."""
        return {name: reading.form for name, reading in self.readings.items()}

    def _look_anew(self, name: str) -> None:
        """Raise to begin again if all rows show another format than the first ones."""
        reading = self.readings.get(name)
        if self.rules is None or reading is None or reading.kind != "number" or reading.number:
            return
        found = find_reading_anew(self.scan, name, self.missing, self.rules)
        if found.kind == "number" and not found.doubt:
            raise _OtherFormat(name, found)

    def count_wrong(self, parts: Sequence[Part]) -> dict[str, NotNumbers]:
        """Count the cells of each column that cannot be read, where there are some."""
        total: dict[str, NotNumbers] = {}
        forms = self._forms()
        for batch in batches(self.scan, parts, self.columns, batch_rows(len(self.columns))):
            for name in self.columns:
                found = count_text(batch.table, name, self.missing, forms.get(name))
                total[name] = _add_text(total.get(name), found, batch.start)
        return {name: found for name, found in total.items() if found.n_cells}

    def _refuse_text(self, parts: Sequence[Part]) -> None:
        """Raise if there is text, with the sentence that the table gets when it is read whole."""
        texts = self.count_wrong(parts)
        categories = {name for name, reading in self.readings.items() if reading.kind == "category"}
        wrong = {name: found for name, found in texts.items() if name not in categories}
        if wrong:
            check_no_text(wrong, self.scan.parts)
        if texts:
            named = ",".join(texts)
            plain = named.isprintable() and len(named) <= 200
            raise NeedsWholeTable(
                "\n".join(describe_text(texts, self.scan.parts)) + "\nOnly a table that is read "
                "whole takes text as categories. Read it whole, leave such columns out, or, if it "
                "does not fit in memory, write each category as a column of 0 and 1.",
                f"Add --no-stream, or --drop{f' {shlex.quote(named)}' if plain else ''}.",
            )

    def results(
        self, function: Callable, state: Any, others: Sequence[str] = ()
    ) -> Generator[Found, None, None]:
        """Apply `function(state, X)` to batches in order; yield `others` of their columns too.

        To be closed by whoever stops early.
        """
        place = {name: j for j, name in enumerate(self.columns)}
        with closing(self.blocks(self.scan.parts, others)) as blocks:
            for batch, X in blocks:
                table = batch.table._replace(data=batch.table.data.select(list(others)))
                read = [name for name in others if name in place]
                written = numbers_in_text(batch.table, read, self.readings)
                numbers = {name: X[:, place[name]] for name in written}
                yield Found(table if others else None, batch.start, function(state, X), numbers)

    def arrays(
        self, function: Callable, state: Any, kinds: tuple[BlockResult, ...]
    ) -> tuple[Any, ...]:
        """Apply `function(state, X)` to each block X; return NumPy arrays for all rows."""
        with closing(self.results(function, state)) as results:
            found = [found.results for found in results]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


def _add_text(total: NotNumbers | None, found: NotNumbers, start: int) -> NotNumbers:
    """Add what a batch that begins after row `start` holds to what those before it hold."""
    if found.n_cells:
        found = found._replace(row=start + found.row)
    if total is None:
        return found
    first = total if total.n_cells else found
    return NotNumbers(
        total.n_cells + found.n_cells,
        total.n_observed + found.n_observed,
        first.example,
        first.row,
        tuple((Counter(dict(total.texts)) + Counter(dict(found.texts))).most_common(MAX_TEXTS)),
    )


def batch_rows(n_columns: int) -> int:
    """Decide how many rows are read at a time, by scikit-learn's `working_memory`."""
    allowed = int(_working_bytes()) // (_BYTES_PER_NUMBER * n_columns)
    return max(1, min(allowed, _MOST_ROWS))


def read_if_small(scan: Scan) -> FileTable | None:
    """Read a table whole; None if reading it in batches takes less memory."""
    return _read_within(scan, _SHARE_OF_BATCHES * _working_bytes() / _GROWTH)


def read_if_it_fits(scan: Scan) -> FileTable | None:
    """Read a table whole that batches will not do for; None if it fills `working_memory`.

    Numbers may fill it themselves; text, with what a fit makes of it.
    """
    return _read_within(scan, _working_bytes() / (_GROWTH if scan.text else 1))


def _read_within(scan: Scan, limit: float) -> FileTable | None:
    """Read a table whole; None if it takes more than `limit` bytes."""
    return None if scan.n_bytes > limit else read_up_to(scan, limit)


def _working_bytes() -> float:
    """Memory that scikit-learn's configuration allows for work, in bytes."""
    return get_config()["working_memory"] * 2**20
