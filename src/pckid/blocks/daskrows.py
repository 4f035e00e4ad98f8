"""Dask arrays, dataframes and clusters: the one file that knows dask.

Blocks are loaded by the tasks that need them, from where the collection has them, and what comes
back is small. A worker that is lost costs the blocks it was at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import Any

import dask
import dask.array as da
import numpy as np

from pckid.blocks.rows import BlockedRows, Survey, add, survey_block
from pckid.input.known import in_order_of, read_known
from pckid.input.validation import block_values, is_blocked

# How many more rows than needed the first pass asks the workers for, in case some are empty.
_MARGIN = 1.3
# So many blocks are surveyed before the rows kept of them are put together.
_AT_ONCE = 256
# Seconds to wait for a scheduler to answer.
_PATIENCE = 10


class DaskRows(BlockedRows):
    """The rows of a dask array or dataframe, of shape (n_samples, n_features).

    Their groups, where some are known, are a dask array or series, or an array or Series in memory.
    The columns of an array may have names.
    """

    lazy = True

    def __init__(self, X: Any, known: Any = None, names: list[str] | None = None) -> None:
        if hasattr(X, "columns") and X.ndim == 2:
            self.template = X._meta
            self.blocks = list(X.to_delayed())
            self.lengths: list[Any] = [math.nan] * len(self.blocks)
            if hasattr(known, "reindex") and not is_blocked(known):
                known = in_order_of(X[[]].compute(), known)
        elif isinstance(X, da.Array) and X.ndim == 2:
            X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
            self.template = np.empty((0, X.shape[1]))
            self.blocks = list(X.to_delayed().ravel())
            self.lengths = list(X.chunks[0])
            if names is not None:
                make = partial(_name_columns, names)
                self.template = make(self.template)
                self.blocks = [dask.delayed(make)(block) for block in self.blocks]
        else:
            raise ValueError(
                f"Expected 2D array or a dataframe, got a dask collection of type "
                f"{type(X).__name__} with {getattr(X, 'ndim', 'unknown')} dimension(s). Rows go "
                "along the first axis and features along the second."
            )
        self.known, self.known_blocks = known, [None] * len(self.blocks)

    def survey(self, entropy: int, size: int, logs: tuple[int, ...] = ()) -> Survey:
        """Pass over all rows; choose `size` of them."""
        if any(math.isnan(length) for length in self.lengths):
            self.lengths = list(dask.compute(*[dask.delayed(len)(block) for block in self.blocks]))
        starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(int).tolist()
        if self.known is not None:
            self.known_blocks = _split(self.known, starts)
        names = _column_names(self.template)

        def surveys(limit: float) -> list[Any]:
            return self._tasks(
                _survey, [(names, start, entropy, size, limit, logs) for start in starts[:-1]]
            )

        return _ask(surveys, starts[-1], size)

    def _tasks(self, function: Callable, states: Iterable[Any], nout: int | None = None) -> list:
        """Let workers apply `function(state, X, known)` to all blocks, each with its state."""
        apply, names = dask.delayed(_apply, nout=nout), _column_names(self.template)
        blocks = enumerate(zip(states, self.blocks, self.known_blocks, strict=False))
        return [apply(function, *each, names, number) for number, each in blocks]

    def arrays(self, function: Callable, state: Any) -> tuple[Any, ...]:
        """Apply `function(state, X, known)` to blocks X lazily; return dask arrays."""
        kinds = function(state, np.empty((0, self.n_features)), None)
        # In the graph, not scattered: it must survive the worker that first received it.
        shared = dask.delayed(state, traverse=False)
        results = self._tasks(function, repeat(shared), len(kinds))
        return tuple(
            da.concatenate(
                [
                    da.from_delayed(result[j], shape=(length, *kind.shape[1:]), dtype=kind.dtype)
                    for result, length in zip(results, self.lengths, strict=True)
                ]
            )
            for j, kind in enumerate(kinds)
        )


def _ask(surveys: Callable[[float], list[Any]], n_rows: int, size: int) -> Any:
    """Compute surveys whose keys are below a limit, a higher one if too few rows were found."""
    limit = _MARGIN * size / max(n_rows, 1)
    while True:
        tasks, parts = surveys(limit), []
        for first in range(0, len(tasks), _AT_ONCE):
            parts += dask.compute(*tasks[first : first + _AT_ONCE])
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


def _survey(state: Any, X: np.ndarray, known: np.ndarray | None) -> Survey:
    """Survey the rows of a block; an infinite entry is an error that says where it is."""
    names, start, *drawing = state
    infinite = np.isinf(X)
    if infinite.any():
        row, column = (int(i) for i in np.argwhere(infinite)[0])
        raise ValueError(
            f"Column {names[column]!r} holds {X[row, column]} in row {start + row:,}. Replace it "
            "by NaN to treat it as missing."
        )
    return survey_block(X, known, start, *drawing)


def _apply(
    function: Callable, state: Any, values: Any, known: Any, names: list[Any], number: int
) -> Any:
    """Apply `function(state, X, known)` to a block, on a worker; an error says which block."""
    try:
        X = block_values(_aligned(values, names))
        return function(state, X, None if known is None else read_known(known, len(X)))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error} (block {number})") from None


def _aligned(values: Any, names: list[Any]) -> Any:
    """Put the columns of a block into the order of `names`; raise if they are others."""
    found = _column_names(values)
    lacking = [f"lacks column {name!r}" for name in names if name not in found]
    further = [f"holds column {name!r}" for name in found if name not in names]
    if lacking or further:
        raise ValueError(f"A block {' and '.join(lacking[:1] + further[:1])}, unlike the others.")
    return values if found == names else values[names]


def _name_columns(names: list[str], values: np.ndarray) -> Any:
    """Make a frame of a block of an array (n_samples, n_features)."""
    import pandas as pd

    return pd.DataFrame(values, columns=names, copy=False)


def _column_names(values: Any) -> list[Any]:
    """Name the columns of a dataframe, or number those of an array."""
    return list(values.columns if hasattr(values, "columns") else range(values.shape[1]))
