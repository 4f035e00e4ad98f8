"""Rows that come in blocks, and what one pass over them must find out before a fit.

A survey of a block is small and adds up: counts, moments, and the rows whose keys are small enough
for the pool. Surveys of all blocks together are what a fit learns from, in whatever order and on
whatever machine they were made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pckid.input.learning_rows import keys, smallest
from pckid.input.table import Scaling
from pckid.outofcore.moments import Moments, combine, moments, scaling


class Block(NamedTuple):
    """Where a block of rows comes from."""

    start: int  # the number of its first row in the whole table
    place: str  # for errors: "part-3.parquet, row group 7"
    names: tuple[str, ...]  # of the columns
    row: int = 0  # the number of its first row in that place
    counted_from: int = 0  # what errors call the first row of a table


class Survey(NamedTuple):
    """What a pass over rows found."""

    n_rows: int
    n_filled: int  # rows with at least one observed value
    n_missing: int  # entries
    moments: Moments
    rows: np.ndarray  # (n_chosen, n_features), those of smallest keys among the filled ones
    keys: np.ndarray  # (n_chosen,)
    # Of the columns of categories, how often each occurs; the same for all blocks of a table.
    categories: Mapping[int, np.ndarray] = {}

    @property
    def scaling(self) -> Scaling:
        """Centre and spread of the columns that vary."""
        return scaling(self.moments, self.categories)

    def without(self, columns: list[int]) -> Survey:
        """Forget what columns hold, so that they are left out."""
        low, high, rows = self.moments.low.copy(), self.moments.high.copy(), self.rows.copy()
        low[columns], high[columns], rows[:, columns] = np.inf, -np.inf, np.nan
        return self._replace(rows=rows, moments=self.moments._replace(low=low, high=high))

    def sample(self, size: int) -> np.ndarray:
        """Take at most `size` of the chosen rows, of shape (n_taken, n_features): random ones."""
        return self.rows[smallest(self.keys, size)]


class BlockResult(NamedTuple):
    """What a function gives for the rows of a block."""

    dtype: Any
    width: int | None  # columns; None is one number for each row

    def shape(self, n_rows: Any) -> tuple[Any, ...]:
        """Return the shape for a number of rows."""
        return (n_rows,) if self.width is None else (n_rows, self.width)


class BlockedRows(ABC):
    """A table that is read block by block."""

    template: Any  # a table of the same columns and no rows
    lazy: bool  # whether `arrays` computes nothing before it is asked to
    categories: Mapping[int, list[str]] = MappingProxyType({})  # of the columns that hold some

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.template.shape[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns as errors name them."""
        names = getattr(self.template, "columns", range(self.n_features))
        return tuple(repr(name) for name in names)

    @property
    def categorical(self) -> np.ndarray:
        """Which columns hold categories (n_features,), bool."""
        return np.isin(np.arange(self.n_features), list(self.categories))

    @property
    def bytes_at_once(self) -> int:
        """About how much memory this process reads into at a time; 0 where others read."""
        return 0

    @abstractmethod
    def survey(self, entropy: int, size: int) -> Survey:
        """Pass over all rows; choose `size` of them."""

    @abstractmethod
    def arrays(
        self, function: Callable, state: Any, kinds: tuple[BlockResult, ...]
    ) -> tuple[Any, ...]:
        """Apply `function(state, X)` to each block X, and join each of the arrays it returns."""


def survey_block(
    X: np.ndarray,
    block: Block,
    entropy: int,
    size: int,
    limit: float,
    categories: Mapping[int, np.ndarray],
) -> Survey:
    """Survey a block of rows (n_samples, n_features), choosing among keys below `limit`."""
    check_finite_block(X, block)
    observed = ~np.isnan(X)
    filled = observed.any(axis=1)
    mine = keys(entropy, block.start, block.start + len(X))
    candidates = np.flatnonzero(filled & (mine < limit))
    chosen = candidates[smallest(mine[candidates], size)]
    missing = X.size - int(observed.sum())
    n_filled = int(filled.sum())
    return Survey(len(X), n_filled, missing, moments(X), X[chosen], mine[chosen], categories)


def add(surveys: Iterable[Survey], size: int) -> Survey:
    """Add up surveys of blocks that follow each other, and keep the `size` smallest keys."""
    surveys = list(surveys)
    total = surveys[0].moments
    for other in surveys[1:]:
        total = combine(total, other.moments)
    every = np.concatenate([survey.keys for survey in surveys])
    chosen = smallest(every, size)
    rows = np.concatenate([survey.rows for survey in surveys])[chosen]
    return Survey(
        sum(survey.n_rows for survey in surveys),
        sum(survey.n_filled for survey in surveys),
        sum(survey.n_missing for survey in surveys),
        total,
        rows,
        every[chosen],
        surveys[0].categories,
    )


def check_finite_block(X: np.ndarray, block: Block) -> None:
    """Raise if an entry is infinite, saying where the first one is."""
    infinite = np.isinf(X)
    if infinite.any():
        row, column = (int(i) for i in np.argwhere(infinite)[0])
        value, name = X[row, column], block.names[column]
        row += block.counted_from
        raise ValueError(
            f"Column {name} holds {value} in row {block.start + row:,} ({block.place}, row "
            f"{block.row + row:,} of it). Replace it by NaN to treat it as missing."
        )
