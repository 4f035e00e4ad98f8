"""Categories: a probability of each in each component."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pckid._utils.arrays import Array, device_of, namespace, take_along
from pckid.columns.base import PRIOR_ROWS, CategoryKind, Measured, Stored
from pckid.columns.model import RAREST, ColumnModel


class Category(CategoryKind):
    """Columns of categories without an order."""

    name = "category"
    stored: Mapping[str, Stored] = {
        "column": Stored("categories", 0, 1e10, integer=True),
        "frequencies": Stored("categories", 0.0, 1.0),
    }

    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure how common categories are; columns count once each."""
        column = np.repeat(np.arange(len(found.counts)), list(map(len, found.counts)))
        raised = [np.maximum(each / each.sum(), RAREST) for each in found.counts]
        shares = np.concatenate([np.zeros(0), *(each / each.sum() for each in raised)])
        return {"column": column, "frequencies": shares}

    def mine(self, model: ColumnModel) -> Array | None:
        """Find none by themselves: they are what is left."""
        return None

    def distances(
        self, model: ColumnModel, n_columns: int, found: tuple[Array, Any]
    ) -> tuple[Array, Any]:
        """Take shares for what is missing, and 1/√(1 − Σ p²).

        Two rows drawn at random are at a squared distance of 2 on average, as in a standardised
        column of numbers.
        """
        indicators, _ = found
        xp, column, shares = namespace(indicators), model.column, model.frequencies
        belongs = xp.astype(match_columns(model, n_columns), indicators.dtype)
        scale = take_along(1 / xp.sqrt(1 - belongs @ (shares * shares)), column)
        missing = take_along(1 - indicators @ xp.matrix_transpose(belongs), column, axis=-1)
        return indicators + missing * shares, scale

    def coefficients(self, model: ColumnModel, chances: Array) -> Array:
        """Compute log p."""
        return namespace(chances).log(chances)

    def update(self, model: ColumnModel, n_rows: Array, found: Array) -> Array:
        """Share the rows out among the categories, and the prior's part of a row."""
        return (found + PRIOR_ROWS * model.frequencies) / (n_rows + PRIOR_ROWS)

    def variance(self, model: ColumnModel, chances: Array) -> Array:
        """Compute p (1 − p)."""
        return chances * (1 - chances)

    def deviation(self, model: ColumnModel, n_columns: int, chances: Array) -> list[Array]:
        """Compute log p, and the entropy H of each column: 1 − 2 log p − 2 H."""
        xp = namespace(chances)
        logs = xp.log(chances)
        own = xp.astype(match_columns(model, n_columns), chances.dtype)
        return [logs, -own @ (chances * logs)]

    def draw(self, chances: np.ndarray, uniform: Callable[[], np.ndarray]) -> np.ndarray:
        """Draw a category."""
        return pick(chances, uniform())


def pick(chances: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Take a place in each row of chances (n, c), which add up to 1, by a number drawn (n,)."""
    passed = np.cumsum(chances, axis=1) <= drawn[:, None]
    return np.minimum(passed.sum(axis=1), chances.shape[1] - 1)


def match_columns(model: ColumnModel, n_columns: int) -> Array:
    """Find which categories belong to each column (n_columns, n_categories), bool."""
    xp, column = namespace(model.column), model.column
    index = xp.arange(n_columns, dtype=column.dtype, device=device_of(column))
    return index[:, None] == column
