"""Rows that come in blocks, and what one pass over them must find out before a fit.

A survey of a block is small and adds up: counts, moments, and the rows of the smallest keys. Those
of all blocks together are what a fit learns from, in whatever order and on whatever machine they
were made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pckid.columns.base import Measured
from pckid.columns.log_number import NO_LOG, take_logs
from pckid.input.known import KnownMembers, find_known, join_known
from pckid.input.sample import keys, smallest
from pckid.input.table import (
    NONE_ASKED,
    Scaling,
    find_varying,
    make_scaling,
    pick_shifts,
    place_asked,
)


class Survey(NamedTuple):
    """What a pass over rows found."""

    n_rows: int
    n_filled: int  # rows with at least one observed value
    moments: Moments
    rows: np.ndarray  # (n_chosen, n_features), those of smallest keys among the filled ones
    keys: np.ndarray  # (n_chosen,)
    known: np.ndarray | None = None  # (n_chosen,), names of groups, "" where not known
    members: KnownMembers | None = None  # the rows whose group is known, chosen or not
    categories: Mapping[int, np.ndarray] = {}  # how often each occurs, by column, in all rows
    # Of columns whose logarithms may be taken, the moments of log x and of log(1 + x)
    logs: Mapping[int, tuple[Moments, Moments]] = {}

    def scaling(
        self,
        shifts: np.ndarray | None = None,
        asked: Mapping[str, Mapping[int, str]] = NONE_ASKED,
    ) -> Scaling:
        """Measure the columns that vary, some by their logarithms: see `logarithms`."""
        found = Moments(*(part.copy() for part in self.moments))
        for j, both in self.logs.items():
            if shifts is not None and shifts[j] != NO_LOG:
                for whole, part in zip(found, both[int(shifts[j])], strict=True):
                    whole[j] = part[0]
        measured = scaling(found, self.categories, asked)
        return measured._replace(shifts=pick_shifts(shifts, measured.kept))

    def without(self, columns: list[int]) -> Survey:
        """Forget what columns hold, so that they are left out."""
        low, high, rows = self.moments.low.copy(), self.moments.high.copy(), self.rows.copy()
        low[columns], high[columns], rows[:, columns] = np.inf, -np.inf, np.nan
        return self._replace(rows=rows, moments=self.moments._replace(low=low, high=high))

    def sample(self, size: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Take at most `size` of the chosen rows (n_taken, n_features), and their known groups."""
        taken = smallest(self.keys, size)
        return self.rows[taken], None if self.known is None else self.known[taken]


class BlockedRows(ABC):
    """A table that is read block by block."""

    template: Any  # a table of the same columns and no rows
    lazy: bool  # whether `arrays` computes nothing before it is asked to
    categories: Mapping[int, list[Any]] = MappingProxyType({})  # of the columns that hold some

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.template.shape[1]

    @property
    def categorical(self) -> np.ndarray:
        """Which columns hold categories (n_features,), bool."""
        return np.isin(np.arange(self.n_features), list(self.categories))

    def with_categories(self, categories: Mapping[int, Sequence[Any]]) -> BlockedRows:
        """Give categories the numbers that a model knows them by; others become missing."""
        if categories:
            raise ValueError(
                "The model knows columns of categories, but X comes in blocks, which hold numbers "
                "alone. Give the blocks one by one, as tables in memory."
            )
        return self

    @abstractmethod
    def survey(self, entropy: int, size: int, logs: tuple[int, ...] = ()) -> Survey:
        """Pass over all rows; choose `size` of them, and measure the `logs` of some columns."""

    @abstractmethod
    def arrays(self, function: Callable, state: Any) -> tuple[Any, ...]:
        """Apply `function(state, X, known)` to blocks X; join each of the arrays it returns.

        `known` are the names of the rows' groups, as from `read_known`, or None.
        """


def survey_block(
    X: np.ndarray,
    known: np.ndarray | None,
    start: int,
    entropy: int,
    size: int,
    limit: float,
    logs: tuple[int, ...] = (),
) -> Survey:
    """Survey rows (n_samples, n_features) from `start` on, choosing among keys below `limit`.

    `known` (n_samples,) are the names of their groups, as from `read_known`; `logs` are columns
    whose logarithms are measured, too.
    """
    filled = (~np.isnan(X)).any(axis=1)
    mine = keys(entropy, start, start + len(X))
    candidates = np.flatnonzero(filled & (mine < limit))
    chosen = candidates[smallest(mine[candidates], size)]
    n_filled = int(filled.sum())
    of_logs = {j: (_log_moments(X[:, [j]], 0.0), _log_moments(X[:, [j]], 1.0)) for j in logs}
    found = Survey(len(X), n_filled, moments(X), X[chosen], mine[chosen], logs=of_logs)
    if known is None:
        return found
    return found._replace(known=known[chosen], members=find_known(X, known, mine, start))


def add(surveys: Iterable[Survey], size: int) -> Survey:
    """Add up surveys of blocks that follow each other, and keep the `size` smallest keys."""
    n_rows, n_filled, found, rows, every, known, members, _, logs = zip(*surveys, strict=True)
    joined = np.concatenate(every)
    chosen = smallest(joined, size)
    kept = np.concatenate(rows)[chosen], joined[chosen]
    of_logs = {
        j: tuple(reduce(combine, parts) for parts in zip(*(each[j] for each in logs), strict=True))
        for j in logs[0]
    }
    total = Survey(sum(n_rows), sum(n_filled), reduce(combine, found), *kept, logs=of_logs)
    if known[0] is None:
        return total
    return total._replace(known=np.concatenate(known)[chosen], members=join_known(members))


class Moments(NamedTuple):
    """What is known of each column after some rows, all of shape (n_features,).

    Means and sums of squares are in units of the largest magnitude, so that squares of 1e300 stay
    finite.
    """

    n_seen: np.ndarray  # observed values
    low: np.ndarray
    high: np.ndarray
    magnitude: np.ndarray  # the largest, 0 where nothing was observed
    mean: np.ndarray
    squares: np.ndarray  # sum of squared distances to the mean
    extreme: np.ndarray  # bool: whether every value is the lowest or the highest


def moments(X: np.ndarray) -> Moments:
    """Measure the columns of a block of rows (n_samples, n_features), NaN where missing."""
    observed = ~np.isnan(X)
    count = observed.sum(axis=0).astype(np.float64)
    low = np.min(X, axis=0, initial=np.inf, where=observed)
    high = np.max(X, axis=0, initial=-np.inf, where=observed)
    magnitude = np.where(count > 0, np.maximum(np.abs(low), np.abs(high)), 0.0)
    Z = np.where(observed, X / _not_zero(magnitude), 0.0)
    mean = Z.sum(axis=0) / np.maximum(count, 1)
    squares = np.where(observed, (Z - mean) ** 2, 0.0).sum(axis=0)
    extreme = ((low == X) | (high == X) | ~observed).all(axis=0)
    return Moments(count, low, high, magnitude, mean, squares, extreme)


def _log_moments(column: np.ndarray, shift: float) -> Moments:
    """Measure the logarithms of a column (n_samples, 1); numbers without one do not count."""
    logs = take_logs(column, np.array([shift]))
    return moments(np.where(np.isinf(logs), np.nan, logs))


def combine(a: Moments, b: Moments) -> Moments:
    """Put the moments of two blocks together (Chan, Golub and LeVeque 1983)."""
    magnitude = np.maximum(a.magnitude, b.magnitude)
    shrink_a, shrink_b = (part.magnitude / _not_zero(magnitude) for part in (a, b))
    count = a.n_seen + b.n_seen
    share = b.n_seen / np.maximum(count, 1)
    delta = b.mean * shrink_b - a.mean * shrink_a
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    extreme = a.extreme & b.extreme
    for part in (a, b):
        for end in (part.low, part.high):
            extreme &= (end == low) | (end == high) | (part.n_seen == 0)
    mean = a.mean * shrink_a + delta * share
    squares = a.squares * shrink_a**2 + b.squares * shrink_b**2 + delta**2 * a.n_seen * share
    return Moments(count, low, high, magnitude, mean, squares, extreme)


def scaling(
    found: Moments,
    categories: Mapping[int, np.ndarray] = MappingProxyType({}),
    asked: Mapping[str, Mapping[int, str]] = NONE_ASKED,
) -> Scaling:
    """Turn moments into centres and spreads of the columns that vary.

    `categories` are the columns of categories, and how often each of these occurs; columns are
    `asked` to be of a kind by its name.
    """
    categorical = np.isin(np.arange(len(found.low)), list(categories))
    kept = find_varying(found.low, found.high, categorical)
    spread = np.sqrt(found.squares[kept] / found.n_seen[kept])
    magnitude = found.magnitude[kept]
    low, high = found.low[kept] / magnitude, found.high[kept] / magnitude
    useful = {j: counts for j, counts in sorted(categories.items()) if len(counts) > 1}
    chosen = np.array(list(useful), dtype=np.int64)
    measured = Measured(
        low, high, found.mean[kept], found.extreme[kept], list(useful.values()), magnitude, spread,
        place_asked(asked, np.concatenate([kept, chosen])),
    )  # fmt: skip
    return make_scaling(measured, kept, chosen)


def _not_zero(magnitude: np.ndarray) -> np.ndarray:
    return np.where(magnitude > 0, magnitude, 1.0)
