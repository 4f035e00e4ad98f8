"""What a fit learns from: rows, how much each of them counts, and what is known of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._arrays import Array, like, namespace, to_numpy
from pckid._parallel import blas_threads
from pckid.mixture.table import Scaling, Table, take
from pckid.mixture.weighting import Places, canonical_order

# Tables of up to this many rows are searched for rows that are the same. Beyond, the eigenvectors
# come from random rows anyway, so that repeated rows and weights could only agree on average.
_MOST_COMPARED = 3_000
# With fewer rows there is nothing to choose from.
_FEWEST = 10


class Sample(NamedTuple):
    """The rows that a fit learns from, and what it must know of the others."""

    table: Table  # standardised, each row with an observed value
    scaling: Scaling  # from all rows
    dtype: str  # of the arithmetic
    n_usable: int  # how many rows it stands for
    entropy: int  # the seed that `random_state` gave
    weights: np.ndarray | None = None  # (n_samples,), how many rows each counts for; None: one

    @property
    def places(self) -> Places | None:
        """Where rows stand that count more than once."""
        return None if self.weights is None else Places.of(self.weights)

    @property
    def n_places(self) -> int:
        """How many rows can be drawn, those that count more than once as often."""
        return self.table.n_samples if self.weights is None else Places.of(self.weights).total

    @property
    def repeated(self) -> Table:
        """The rows, each as often as it counts; for whole weights."""
        counts = np.ones(self.table.n_samples) if self.weights is None else self.weights
        return _take(self.table, np.repeat(np.arange(len(counts)), counts.astype(np.int64)))

    def draw(self, size: int, rng: np.random.Generator) -> tuple[Array, Array | None]:
        """Draw rows at random if there are more than `size`.

        Rows of unequal weights are drawn by priority sampling (Duffield, Lund and Thorup 2007):
        heavy ones surely and with their own weight, the others all with the same one, so that
        sums over the rows drawn are right on average.

        Returns
        -------
        rows : array of shape (n_drawn,), ascending
        weights : array of shape (n_drawn,), or None
            How many rows each counts for.
        """
        n_samples, weights = self.table.n_samples, self.weights
        rows = np.arange(n_samples)
        if size < n_samples and weights is None:
            rows = np.sort(rng.choice(n_samples, size=size, replace=False))
        elif size < n_samples and weights is not None:
            priorities = weights / (1 - rng.random(n_samples))
            order = np.argsort(-priorities, kind="stable")
            rows = np.sort(order[:size])
            weights = np.maximum(weights[rows], priorities[order[size]])
        home = self.table.values
        found = like(rows, home, dtype=namespace(home).int64)
        return found, None if weights is None else like(weights, home)

    def draw_repeated(self, size: int, rng: np.random.Generator) -> Table:
        """Draw at most `size` rows, each as often as its weight says, for what takes no weights."""
        places = self.places or Places(np.arange(self.table.n_samples) + 1, None)
        chosen = np.arange(places.total)
        if size < places.total:
            chosen = np.sort(rng.choice(places.total, size=size, replace=False))
        rows = places.rows(chosen)
        if places.shares is not None:
            kept = rows[rng.random(len(rows)) < places.shares[rows]]
            rows = kept if len(kept) > _FEWEST else rows
        return _take(self.table, rows)


class Counted(NamedTuple):
    """Rows that stand for others, in an order of their own."""

    rows: np.ndarray  # (n_rows,), in the table
    weights: np.ndarray  # (n_rows,), how many rows each counts for


def count(table: Table, weights: np.ndarray | None, needed: int) -> Counted | None:
    """Join rows that are the same, and put rows that count unequally into an order of their own.

    So a row that comes three times and one of weight 3 are the same to all that follows, in
    whatever order the rows came.

    Parameters
    ----------
    table : Table
    weights : array of shape (n_samples,) or None
    needed : int
        Rows are joined only if at least this many are left.

    Returns
    -------
    counted : Counted or None
        None where all rows count one and differ.
    """
    if weights is None and not (table.n_samples <= _MOST_COMPARED and _may_repeat(table)):
        return None
    each = np.ones(table.n_samples) if weights is None else weights
    order = canonical_order(table, each)
    each = each[order]
    first = np.flatnonzero(_differs(_take(table, order)))
    if needed <= len(first) < table.n_samples:
        order, each = order[first], np.add.reduceat(each, first)
    return None if np.all(each == 1) else Counted(order, each)


def _take(table: Table, rows: np.ndarray) -> Table:
    """Gather rows by indices on the host."""
    return take(table, like(rows, table.values, dtype=namespace(table.values).int64))


def _differs(table: Table) -> np.ndarray:
    """Tell which rows differ from the row before, of shape (n_samples,)."""

    def changes(part: Array) -> np.ndarray:
        return to_numpy(namespace(part).any(part[1:, :] != part[:-1, :], axis=1))

    different = changes(table.values) | changes(table.observed) | changes(table.codes)
    return np.concatenate([[True], different])


def _may_repeat(table: Table) -> bool:
    """Tell whether two rows have the same random projection, which only equal ones do."""
    xp, rng = namespace(table.values), np.random.default_rng(0)
    key: Array = 0.0
    # A second thread of OpenBLAS would turn idle for an eighth of a second, into the training.
    with blas_threads(1):
        for part in (table.values, table.observed, table.codes):
            numbers = xp.astype(part, xp.float64)
            key = key + numbers @ like(rng.standard_normal(part.shape[1]), numbers)
    ordered = np.sort(to_numpy(key))
    return bool(np.any(np.diff(ordered) <= 1e-12 * np.abs(ordered).max(initial=1.0)))
