"""Ordered categories: a Gaussian in each component, cut into levels where that of all rows is.

All rows come from a standard Gaussian cut into levels of the shares π, whose means within the
levels are s. A component moves it by θ: the density at u becomes exp(θ u − θ²/2) times as large, so
that, taken at s, the probabilities are

    p ∝ π exp(θ s)

A component has one parameter where categories without an order have one for each. Its mean of s is
that of its rows, which the maximum of the likelihood is. Two levels make a column of two values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from pckid._utils.arrays import Array, device_of, is_host, namespace, take_along
from pckid.columns.base import Measured, Stored
from pckid.columns.category import Category, match_columns
from pckid.columns.model import RAREST, ColumnModel

MAX_LEVELS = 10  # more are as good as numbers
_MAX_STEPS, _LARGEST, _ROUNDING = 20, 60.0, 16


class Ordinal(Category):
    """Columns of categories that have an order."""

    name = "ordinal"
    parameter = "ordinal_columns"
    stored: Mapping[str, Stored] = {"levels": Stored("categories", 0.0, 2.0, optional=True)}

    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure where levels lie between the lowest, at 1, and the highest, at 2."""
        asked = {place - len(found.low) for place in found.asked.get(self.name, ())}
        if not asked:
            return {}
        places = []
        for place, counts in enumerate(found.counts):
            means = _means_within(np.maximum(counts / counts.sum(), RAREST))
            one = 1 + (means - means[0]) / (means[-1] - means[0])
            places.append(one if place in asked else np.zeros(len(counts)))
        return {"levels": np.concatenate(places)}

    def mine(self, model: ColumnModel) -> Array | None:
        """Find the categories that are levels (n_categories,), bool; None if there are none."""
        return None if model.levels is None else model.levels > 0

    def distances(
        self, model: ColumnModel, n_columns: int, found: tuple[Array, Any]
    ) -> tuple[Array, Any]:
        """Put standardised places of levels where the indicator of the lowest one is, else 0."""
        filled, scale = found
        xp, column = namespace(filled), model.column
        levels: Any = model.levels
        belongs = xp.astype(match_columns(model, n_columns), filled.dtype)
        weighed = belongs * model.frequencies
        middle = take_along(weighed @ levels, column)
        spread = xp.sqrt(take_along(weighed @ (levels - middle) ** 2, column))
        mine: Any = levels > 0
        same: Any = column[:, None] == column[None, :]
        place = (levels - middle) / xp.where(mine, spread, 1.0)
        lowest = xp.astype(same & (levels == 1)[None, :], filled.dtype)
        plain = xp.eye(levels.shape[0], dtype=filled.dtype, device=device_of(filled))
        moved = xp.where(mine[:, None], place[:, None] * lowest, plain)
        return filled @ moved, xp.where(mine, 1.0, scale)

    def update(self, model: ColumnModel, n_rows: Array, found: Array) -> Array:
        """Find the probabilities whose mean place is that of those found for any categories."""
        xp, column = namespace(found), model.column
        levels: Any = model.levels
        mine = levels > 0
        above = xp.where(mine, levels - 1, 0.5)
        index = xp.arange(int(column[-1]) + 1, dtype=column.dtype, device=device_of(column))
        gather = xp.astype(column[:, None] == index, found.dtype)
        logs = xp.log(model.frequencies)

        def tilt(slope: Array) -> Array:
            raised = xp.exp(logs + take_along(slope, column, axis=-1) * above)
            return raised / take_along(raised @ gather, column, axis=-1)

        def sides(chances: Array) -> tuple[Array, Array]:
            return (chances * above) @ gather, (chances * (1 - above)) @ gather

        high, low = sides(found)
        settled = _ROUNDING * float(xp.finfo(found.dtype).eps)
        goal, slope = xp.log(high / low), xp.zeros_like(high)
        least, most = slope - _LARGEST, slope + _LARGEST
        for _ in range(_MAX_STEPS):
            # In these odds the equation is nearly a line: exactly so for two levels.
            chances = tilt(slope)
            high, low = sides(chances)
            inner = (chances * (above * (1 - above))) @ gather
            gap = goal - xp.log(high / low)
            least, most = xp.where(gap > 0, slope, least), xp.where(gap < 0, slope, most)
            steep = 1 - inner / (high * low)
            newton = slope + gap / xp.where(steep > 1e-3, steep, 1e-3)
            inside = (newton >= least) & (newton <= most)
            slope = xp.where(inside, newton, (least + most) / 2)
            if is_host(slope) and float(xp.max(xp.abs(gap))) < settled:
                break
        return xp.where(mine, tilt(slope), found)


def _means_within(shares: np.ndarray) -> np.ndarray:
    """Compute the means of a standard Gaussian within levels of some shares (n_levels,)."""
    shares = shares / shares.sum()
    cuts = ndtri(np.cumsum(shares)[:-1])
    density = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    return -np.diff(density, prepend=0.0, append=0.0) / shares
