"""Dask arrays, dataframes and clusters: the one file that knows dask.

Blocks are loaded by the tasks that need them, from where the collection has them, and what comes
back is small. A worker that is lost costs the blocks it was at.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import dask
import dask.array as da
import numpy as np
from joblib import parallel_config

from pckid.exceptions import TableError
from pckid.input.known import read_known
from pckid.input.validation import block_values, is_blocked
from pckid.outofcore.files import FileRows, Found, batch_rows
from pckid.outofcore.rows import BlockedRows, Survey, add, survey_block
from pckid.tables.prepared import Prepared, Unread

# How many more rows than needed the first pass asks the workers for, in case some are empty.
_MARGIN = 1.3
# So many blocks are surveyed before the rows kept of them are put together.
_AT_ONCE = 256
# Seconds to wait for a scheduler to answer.
_PATIENCE = 10


class DaskRows(BlockedRows):
    """The rows of a dask array or dataframe, of shape (n_samples, n_features).

    Their groups, where some are known, are a dask array or series, or an array in memory.
    """

    lazy = True

    def __init__(self, X: Any, known: Any = None) -> None:
        if hasattr(X, "columns") and hasattr(X, "to_delayed"):
            self.template = X._meta
            self.blocks = list(X.to_delayed())
            self.lengths: list[Any] = [math.nan] * len(self.blocks)
        elif isinstance(X, da.Array) and X.ndim == 2:
            X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
            self.template = np.empty((0, X.shape[1]))
            self.blocks = list(X.to_delayed().ravel())
            self.lengths = list(X.chunks[0])
        else:
            raise ValueError(
                f"Expected 2D array or a dataframe, got a dask collection of type "
                f"{type(X).__name__} with {getattr(X, 'ndim', 'unknown')} dimension(s). Rows go "
                "along the first axis and features along the second."
            )
        self.known, self.known_blocks = known, [None] * len(self.blocks)

    def survey(self, entropy: int, size: int) -> Survey:
        """Pass over all rows; choose `size` of them."""
        if any(math.isnan(length) for length in self.lengths):
            self.lengths = list(dask.compute(*[dask.delayed(len)(block) for block in self.blocks]))
        starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(int).tolist()
        if self.known is not None:
            self.known_blocks = _split(self.known, starts)
        blocks = list(zip(self.blocks, self.known_blocks, starts[:-1], strict=True))

        def surveys(limit: float) -> list[Any]:
            return [
                dask.delayed(_survey)(block, known, self.template, i, start, entropy, size, limit)
                for i, (block, known, start) in enumerate(blocks)
            ]

        return _ask(surveys, starts[-1], size)

    def arrays(self, function: Callable, state: Any) -> tuple[Any, ...]:
        """Apply `function(state, X, known)` to blocks X lazily; return dask arrays."""
        kinds = function(state, np.empty((0, self.n_features)), None)
        # In the graph, not scattered: it must survive the worker that first received it.
        shared = dask.delayed(state, traverse=False)
        apply = dask.delayed(_apply, nout=len(kinds))
        results = [
            apply(function, shared, block, known, self.template, f"block {i}")
            for i, (block, known) in enumerate(zip(self.blocks, self.known_blocks, strict=True))
        ]
        return tuple(
            da.concatenate(
                [
                    da.from_delayed(result[j], shape=(length, *kind.shape[1:]), dtype=kind.dtype)
                    for result, length in zip(results, self.lengths, strict=True)
                ]
            )
            for j, kind in enumerate(kinds)
        )


class ClusterRows(FileRows):
    """The rows of prepared Parquet files that the workers of a cluster read themselves."""

    local = False

    def __init__(self, prepared: Prepared, client: Any) -> None:
        table = prepared.table
        if table.text is not None or table.data is not None:
            kind = "text" if table.text else "a spreadsheet or of a statistics program"
            raise TableError(
                f"{table.source} is {kind}, which workers cannot read in pieces. Write it as "
                "Parquet, or leave the scheduler out."
            )
        super().__init__(prepared)
        self.client = client
        # All that a task needs to read one part.
        tables = [replace(table, parts=(part,)) for part in table.parts]
        self.alone = [FileRows(replace(prepared, table=each)) for each in tables]

    def _survey(self, entropy: int, size: int, limit: float = math.inf) -> Survey | Unread:
        """Pass over all rows on the workers."""

        def surveys(limit: float) -> list[Any]:
            survey = dask.delayed(FileRows._survey)
            return [survey(rows, entropy, size, limit) for rows in self.alone]

        return _ask(surveys, self.table.n_rows or 0, size)

    def results(
        self, function: Callable, state: Any, others: Sequence[str] = ()
    ) -> Generator[Found, None, None]:
        """Apply `function(state, X, known)` on the workers; results come in order, a few at a time.

        Other columns are read here, and put beside them.
        """
        # As a task of its own it travels once to each worker, and is made anew if lost.
        shared = self.client.submit(lambda same: same, state, pure=False)
        ahead = 2 + 2 * sum(self.client.nthreads().values())
        waiting: deque[Any] = deque()
        coming = iter(self.alone)
        for rows in self.alone:
            for each in islice(coming, ahead - len(waiting)):
                task = self.client.submit(FileRows.arrays, each, function, shared, pure=False)
                waiting.append(task)
            results = waiting.popleft().result()
            if not others:
                yield Found(None, rows.table.parts[0].start, results)
                continue
            for batch in rows.table.batches(others, batch_rows(len(others))):
                row = batch.start - rows.table.parts[0].start
                mine = slice(row, row + batch.table.data.num_rows)
                yield Found(batch.table, batch.start, tuple(array[mine] for array in results))


@contextmanager
def connected(address: str) -> Iterator[Callable[[Prepared], ClusterRows]]:
    """Let the workers of a scheduler read rows, and do joblib's work, within the context."""
    from distributed import Client

    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"There is no Dask scheduler at {address!r}: {error}") from None
    with client, parallel_config(backend="dask"):
        yield partial(ClusterRows, client=client)


def _ask(surveys: Callable[[float], list[Any]], n_rows: int, size: int) -> Any:
    """Compute surveys whose keys are below a limit, a higher one if too few rows were found."""
    limit = _MARGIN * size / max(n_rows, 1)
    while True:
        tasks, parts = surveys(limit), []
        for first in range(0, len(tasks), _AT_ONCE):
            parts += dask.compute(*tasks[first : first + _AT_ONCE])
            unread = [part for part in parts if isinstance(part, Unread)]
            if unread:
                return unread[0]
            parts = [add(parts, size)]
        (found,) = parts
        if len(found.keys) >= min(size, found.n_filled):
            return found
        # Many rows are empty: ask again, now knowing how many are not.
        limit = max(2 * limit, _MARGIN * size / found.n_filled)


def _split(known: Any, starts: list[int]) -> list[Any]:
    """Cut the known groups of rows into blocks; `starts` are where these begin, and the end."""
    if not is_blocked(known):
        return np.split(read_known(known, starts[-1]), starts[1:-1])
    if isinstance(known, da.Array) and known.shape == (starts[-1],):
        known = known.rechunk((tuple(np.diff(starts).tolist()),))
    blocks = known.to_delayed()
    blocks = blocks if isinstance(blocks, list) else blocks.ravel().tolist()
    if len(blocks) != len(starts) - 1:
        raise ValueError(
            f"X comes in {len(starts) - 1} blocks and known in {len(blocks)}. Divide both alike."
        )
    return blocks


def _survey(
    values: Any, known: Any, template: Any, number: int, start: int, *drawing: Any
) -> Survey:
    """Survey a block, on a worker; an infinite entry is an error that says where it is."""
    X, known = _read(values, known, template, f"block {number}")
    infinite = np.isinf(X)
    if infinite.any():
        row, column = (int(i) for i in np.argwhere(infinite)[0])
        names = getattr(template, "columns", range(X.shape[1]))
        raise ValueError(
            f"Column {names[column]!r} holds {X[row, column]} in row {start + row:,} (block "
            f"{number}, row {row:,} of it). Replace it by NaN to treat it as missing."
        )
    return survey_block(X, known, start, *drawing)


def _apply(
    function: Callable, state: Any, values: Any, known: Any, template: Any, place: str
) -> tuple[Any, ...]:
    """Apply a function to a block, on a worker."""
    return function(state, *_read(values, known, template, place))


def _read(
    values: Any, known: Any, template: Any, place: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """Convert a block to numbers, its columns as in `template`; an error says which block.

    Returned with the names of its rows' groups, None where none are known.
    """
    try:
        X = block_values(_aligned(values, template))
        return X, None if known is None else read_known(known, len(X))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error} ({place})") from None


def _aligned(values: Any, template: Any) -> Any:
    """Put the columns of a block into the order of `template`; raise if they are others."""
    if not hasattr(template, "columns"):
        if values.shape[1] != template.shape[1]:
            raise ValueError(
                f"A block holds {values.shape[1]} columns where {template.shape[1]} are expected."
            )
        return values
    found, expected = list(values.columns), list(template.columns)
    if found == expected:
        return values
    lacking = [name for name in expected if name not in found]
    further = [name for name in found if name not in expected]
    if lacking:
        instead = f" and holds {further[0]!r} instead" if further else ""
        raise ValueError(f"A block lacks column {lacking[0]!r}{instead}.")
    if further:
        raise ValueError(f"A block holds column {further[0]!r}, which is not in the dataframe.")
    return values[expected]
