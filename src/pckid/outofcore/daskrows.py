"""Dask arrays and dataframes: the one file that knows dask.

Blocks are loaded by the tasks that need them, from where the collection has them, and what comes
back is small. A worker that is lost costs the blocks it was at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np

from pckid._checks import block_values
from pckid.outofcore.rows import Block, BlockedRows, Kind, Survey, add, survey_block

# How many more rows than needed the first pass asks the workers for, in case some are empty.
_MARGIN = 1.3


class DaskRows(BlockedRows):
    """The rows of a dask array or dataframe, of shape (n_samples, n_features)."""

    lazy = True

    def __init__(self, X: Any) -> None:
        if hasattr(X, "columns") and hasattr(X, "to_delayed"):
            self.template = X._meta
            self.blocks = list(X.to_delayed())
            self.lengths = [math.nan] * len(self.blocks)
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

    def survey(self, entropy: int, size: int) -> Survey:
        """Pass over all rows; choose `size` of them."""
        if any(math.isnan(length) for length in self.lengths):
            self.lengths = list(dask.compute(*[dask.delayed(len)(block) for block in self.blocks]))
        limit = _MARGIN * size / max(sum(self.lengths), 1)
        while True:
            found = add(dask.compute(*self._surveys(entropy, size, limit)), size)
            if len(found.keys) >= min(size, found.n_filled):
                return found
            # Many rows are empty: ask again, now knowing how many are not.
            limit = max(2 * limit, _MARGIN * size / found.n_filled)

    def _surveys(self, entropy: int, size: int, limit: float) -> list[Any]:
        """List the tasks that survey the blocks."""
        starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(int).tolist()
        names = self.names
        return [
            dask.delayed(_survey)(
                block, Block(starts[i], f"block {i}", names), entropy, size, limit
            )
            for i, block in enumerate(self.blocks)
        ]

    def arrays(self, function: Callable, state: Any, kinds: tuple[Kind, ...]) -> tuple[Any, ...]:
        """Apply `function(state, X)` to each block X lazily; return dask arrays."""
        # In the graph, not scattered: it must survive the worker that first received it.
        shared = dask.delayed(state, traverse=False)
        results = [
            dask.delayed(_apply, nout=len(kinds))(function, shared, block, f"block {i}")
            for i, block in enumerate(self.blocks)
        ]
        return tuple(
            da.concatenate(
                [
                    da.from_delayed(result[j], shape=kind.shape(length), dtype=kind.dtype)
                    for result, length in zip(results, self.lengths, strict=True)
                ]
            )
            for j, kind in enumerate(kinds)
        )


def _survey(values: Any, block: Block, entropy: int, size: int, limit: float) -> Survey:
    """Survey a block, on a worker."""
    return survey_block(_read(values, block.place), block, entropy, size, limit)


def _apply(function: Callable, state: Any, values: Any, place: str) -> tuple[Any, ...]:
    """Apply a function to a block, on a worker."""
    return function(state, _read(values, place))


def _read(values: Any, place: str) -> np.ndarray:
    """Convert a block to numbers; an error says which block."""
    try:
        return block_values(values)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error} ({place})") from None
