"""What a fit learns from: rows, how much each of them counts, and what is known of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, like, namespace, to_numpy
from pckid.input.table import Scaling, Table, take
from pckid.input.weights import canonical_order

# Tables of up to this many rows are searched for rows that are the same. Beyond, the eigenvectors
# come from random rows anyway, so that repeated rows and weights could only agree on average.
MOST_COMPARED = 3_000
# Beside rows of mean weight 1, no less than this can be told from nothing in float32.
_LEAST_WEIGHT = 1e-7


class Sample(NamedTuple):
    """The rows that a fit learns from, and what it must know of the others."""

    table: Table  # standardised, each row with an observed value
    scaling: Scaling  # from all rows
    dtype: str  # of the arithmetic
    n_usable: int  # how many rows it stands for
    entropy: int  # the seed that `random_state` gave
    weights: np.ndarray | None = None  # (n_samples,), of mean 1; None: all alike

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


class UniqueRows(NamedTuple):
    """Rows that all differ, in an order that depends on their values alone."""

    rows: np.ndarray  # (n_rows,), in the table
    weights: np.ndarray  # (n_rows,), how much each counts


def merge_duplicates(table: Table, weights: np.ndarray | None, least: int) -> UniqueRows:
    """Merge rows that are the same, and sort them by their values.

    So a row that comes three times and one of weight 3 are the same to all that follows, in
    whatever order the rows came.

    Parameters
    ----------
    table : Table
    weights : array of shape (n_samples,) or None
    least : int
        Rows are merged only if at least this many are left.
    """
    each = np.ones(table.n_samples) if weights is None else weights
    order = canonical_order(table, each)
    each = each[order]
    index = like(order, table.values, dtype=namespace(table.values).int64)
    first = np.flatnonzero(_differs(take(table, index)))
    if least <= len(first) < table.n_samples:
        order, each = order[first], np.add.reduceat(each, first)
    return UniqueRows(order, each)


def relative(weights: np.ndarray | None) -> np.ndarray | None:
    """Divide weights (n,) by their mean, since they only say how rows compare; None: all alike."""
    if weights is None or weights.min() == weights.max():
        return None
    shares = weights / weights.max()
    return np.maximum(shares / shares.mean(), _LEAST_WEIGHT)


def _differs(table: Table) -> np.ndarray:
    """Tell which rows differ from the row before, of shape (n_samples,)."""

    def changes(part: Array) -> np.ndarray:
        return to_numpy(namespace(part).any(part[1:, :] != part[:-1, :], axis=1))

    different = changes(table.values) | changes(table.observed) | changes(table.codes)
    return np.concatenate([[True], different])
