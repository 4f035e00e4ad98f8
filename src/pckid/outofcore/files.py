"""Tables in files, read batch by batch: memory is bounded by `working_memory`, not by the file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn import get_config

from pckid._utils.parallel import one_ahead
from pckid.exceptions import TableError
from pckid.input.known import read_known
from pckid.outofcore.rows import BlockedRows, Survey, add, survey_block
from pckid.tables.categories import encode_texts, text_column
from pckid.tables.kinds import numbers_in_text
from pckid.tables.numbers import NotNumbers, try_columns
from pckid.tables.prepared import Prepared, Unread
from pckid.tables.table import FileTable

# Longer batches gain nothing.
_MOST_ROWS = 1 << 15
# A batch is held as Arrow columns, as floats, standardised, and in parts of each.
_BYTES_PER_NUMBER = 256
# Reading in batches takes about this share of `working_memory`, however large the table is; a fit
# to a table that is read whole takes about so many times its size, as numbers or as text.
_SHARE_OF_BATCHES, _GROWTH = 1 / 4, 8


class BatchResult(NamedTuple):
    """Rows of a file, and what a function gave for them."""

    table: FileTable | None  # the columns asked for; None if none were
    start: int  # number of the first row in the whole table
    results: tuple[np.ndarray, ...]
    numbers: dict[str, np.ndarray] | None = None  # of columns that the file holds as text


class FileRows(BlockedRows):
    """The rows of a prepared table in one or more files."""

    lazy = False
    local = True  # whether functions run in this process

    def __init__(self, prepared: Prepared) -> None:
        self.prepared, self.table = prepared, prepared.table
        self.columns = list(prepared.names)
        self.template = pa.table({name: pa.array([], pa.float64()) for name in self.columns})
        self.categories, self.category_counts, self._codes = {}, {}, {}
        for j, name in enumerate(self.columns):
            if name in prepared.counts:
                counts = prepared.counts[name]
                # Texts that are all alike, or all different, tell no groups apart.
                known = sorted(counts) if 1 < len(counts) < counts.total() else []
                self.categories[j] = known
                self.category_counts[j] = np.array([counts[text] for text in known], float)
                self._codes[name] = {text: float(code) for code, text in enumerate(known)}
        self.drawn: dict[tuple[int, int], Survey] = {}  # by seed and size
        self._stamps: dict[str, tuple[int, int]] = {}
        self.refuse_changes()

    def survey(self, entropy: int, size: int) -> Survey:
        """Pass over all rows, unless that was done; choose `size` of them."""
        if (entropy, size) not in self.drawn and isinstance(self.draw(entropy, size), Unread):
            raise self.changed_error()
        return self.drawn[entropy, size]

    @property
    def surveyed(self) -> Survey:
        """What the first pass over all rows found."""
        return next(iter(self.drawn.values()))

    def draw(self, entropy: int, size: int) -> Survey | Unread:
        """Pass over all rows and choose `size` of them, or say what is not as expected."""
        found = self._survey(entropy, size)
        if isinstance(found, Survey):
            found = self.drawn[entropy, size] = found._replace(categories=self.category_counts)
        # Arrow keeps what its batches took; a fit needs it before the next ones come.
        pa.default_memory_pool().release_unused()
        return found

    def _survey(self, entropy: int, size: int, limit: float = math.inf) -> Survey | Unread:
        """Pass over all rows, choosing among keys below `limit`."""
        waiting: list[Survey] = []
        with closing(self.blocks()) as blocks:
            for batch, X in blocks:
                if isinstance(X, Unread):
                    return X
                known = self._known(batch)
                waiting.append(survey_block(X, known, batch.start, entropy, size, limit))
                if sum(len(survey.keys) for survey in waiting) > 2 * size:
                    waiting = [add(waiting, size)]
                    limit = waiting[0].keys.max()
        return add(waiting, size)

    def blocks(
        self, others: Sequence[str] = ()
    ) -> Generator[tuple[FileTable, np.ndarray | Unread], None, None]:
        """Yield batches with other columns besides, and the numbers to cluster by.

        To be closed by whoever stops early: the next batch is read meanwhile.
        """
        known = self.prepared.options.known
        wanted = list(dict.fromkeys([*self.columns, *others, *([known] if known else [])]))
        # Here, since scikit-learn's settings are those of a thread.
        batches = self.table.batches(wanted, batch_rows(len(wanted)))
        return one_ahead((batch, self._numbers(batch)) for batch in batches)

    def changed_error(self, name: str = "") -> TableError:
        """Make the error for rows, or a file, that are not what they were."""
        changed = name or self.table.source
        return TableError(f"{changed} changed while it was read. Cluster it again.")

    def refuse_changes(self) -> None:
        """Raise if a file was written to since this was called first."""
        for name in {part.source.name for part in self.table.parts if self.table.data is None}:
            now = os.stat(name)
            stamp = now.st_size, now.st_mtime_ns
            if self._stamps.setdefault(name, stamp) != stamp:
                raise self.changed_error(name)

    def _numbers(self, batch: FileTable) -> np.ndarray | Unread:
        """Read a batch as numbers (n_rows, n_features), NaN where a cell is missing."""
        numeric = [name for name in self.columns if name not in self._codes]
        forms = {name: self.prepared.readings[name].form for name in numeric}
        missing = self.prepared.rules.missing
        columns = try_columns(batch, numeric, missing, forms)
        read: dict[str, Any] = dict(zip(numeric, columns, strict=True))
        wrong = frozenset(name for name in numeric if isinstance(read[name], NotNumbers))
        if wrong:
            return Unread(wrong)
        for name, codes in self._codes.items():
            read[name] = encode_texts(text_column(batch, name, missing), codes)
        X = np.column_stack([read[name] for name in self.columns])
        infinite, found = np.isinf(X), set()
        for j in np.flatnonzero(infinite.any(axis=0)).tolist():
            row, name = int(infinite[:, j].argmax()), self.columns[j]
            found.add((name, batch.start + row + 1, batch.data.column(name)[row].as_py()))
        return Unread(infinite=frozenset(found)) if found else X

    def _known(self, batch: FileTable) -> np.ndarray | None:
        """Read the known groups of the rows of a batch (n_rows,); None where no column has any."""
        cells = self.prepared.known_in(batch.data)
        return None if cells is None else read_known(cells, len(cells))

    def results(
        self, function: Callable, state: Any, others: Sequence[str] = ()
    ) -> Generator[BatchResult, None, None]:
        """Apply `function(state, X, known)` to batches in order; yield `others` of their columns.

        To be closed by whoever stops early.
        """
        with closing(self.blocks(others)) as blocks:
            for batch, X in blocks:
                if isinstance(X, Unread):
                    raise self.changed_error()
                table = batch._replace(data=batch.data.select(list(others)))
                numbers = numbers_in_text(table, self.prepared.readings, self.columns, X)
                found = function(state, X, self._known(batch))
                table = table._replace(text=self.prepared.text)
                yield BatchResult(table if others else None, batch.start, found, numbers)

    def arrays(self, function: Callable, state: Any) -> tuple[Any, ...]:
        """Apply `function(state, X, known)` to blocks X; return NumPy arrays for all rows."""
        with closing(self.results(function, state)) as results:
            found = [found.results for found in results]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


def batch_rows(n_columns: int) -> int:
    """Decide how many rows are read at a time, by scikit-learn's `working_memory`."""
    allowed = int(_working_bytes()) // (_BYTES_PER_NUMBER * n_columns)
    return max(1, min(allowed, _MOST_ROWS))


def small_bytes() -> float:
    """Bytes up to which a table is better read whole than in batches."""
    return _SHARE_OF_BATCHES * _working_bytes() / _GROWTH


def fitting_bytes(is_text: bool) -> float:
    """Bytes up to which a table is read whole that batches will not do for.

    Numbers may fill `working_memory` themselves; text, with what a fit makes of it.
    """
    return _working_bytes() / (_GROWTH if is_text else 1)


def _working_bytes() -> float:
    """Memory that scikit-learn's configuration allows for work, in bytes."""
    return get_config()["working_memory"] * 2**20
