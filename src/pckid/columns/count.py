"""Counts: a negative binomial distribution in each component, with the Poisson as its limit.

A component of mean μ has the variance μ + a μ². The dispersion a is one for each column: a quarter
of what all rows show, since much of that lies between components; 0 makes a Poisson distribution.
With M the mean of all rows and t = μ / M − 1, the log-density of a count x less that of a component
of mean M is linear in x:

    x log(1 + t / (1 + a μ)) − log(1 + a M t / (1 + a M)) / a
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import nbinom, poisson

from pckid._utils.arrays import Array, namespace
from pckid.columns.base import (
    PRIOR_ROWS,
    Coefficients,
    Draws,
    Measured,
    NumberKind,
    Numbers,
    Stored,
)
from pckid.columns.model import ColumnModel

# The dispersion of a component, by that of the column. A half and the whole gain less.
_WITHIN = 0.25
# Less cannot be told from a Poisson distribution.
_MIN_DISPERSION = 1e-6


class Count(NumberKind):
    """Columns of counts, of more than two values."""

    name = "count"
    parameter = "count_columns"
    stored: Mapping[str, Stored] = {
        "count_scale": Stored("kept", 0.0, 1e300, optional=True),
        "count_mean": Stored("kept", 0.0, 1e300, optional=True),
        "count_dispersion": Stored("kept", 0.0, 1e300, optional=True),
    }

    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure means, spreads and dispersions, 0 in other columns."""
        asked = found.asked.get(self.name, {})
        for place, name in asked.items():
            if found.low[place] < 0:
                raise ValueError(
                    f"count_columns names column {name}, which holds "
                    f"{found.low[place] * found.magnitude[place]:.6g}: counts are 0 or more. Leave "
                    "it out of count_columns."
                )
        mine = np.isin(np.arange(len(found.low)), list(asked))
        if found.extreme is not None:
            mine &= ~found.extreme
        if not mine.any():
            return {}
        mean, scale = found.mean * found.magnitude, found.spread * found.magnitude
        beyond = found.spread**2 - found.mean / found.magnitude
        dispersion = _WITHIN * beyond / np.where(mine, found.mean**2, 1.0)
        fields = {
            "count_scale": scale,
            "count_mean": mean,
            "count_dispersion": np.where(dispersion < _MIN_DISPERSION, 0.0, dispersion),
        }
        return {name: np.where(mine, each, 0.0) for name, each in fields.items()}

    def mine(self, model: ColumnModel) -> Array | None:
        """Find the columns that have a scale."""
        return None if model.count_scale is None else model.count_scale > 0

    def distances(self, model: ColumnModel, found: Array) -> Array:
        """Take what has about the same variance whatever the mean, as if rows had one component.

        With α the dispersion of all rows that is 2 / √α asinh √(α x), or 2 √x without any.
        """
        xp, (scale, mean, dispersion) = namespace(found), _measures(model)
        alpha = dispersion / _WITHIN
        root = xp.sqrt(xp.where(alpha > 0, alpha, 1.0))

        def stable(counts: Array) -> Array:
            roots = xp.sqrt(xp.where(counts > 0, counts, 0.0))
            return 2 * xp.where(alpha > 0, xp.asinh(root * roots) / root, roots)

        moved = stable(mean + scale * found) - stable(mean)
        return xp.where(self.mine(model), moved, found)

    def coefficients(
        self, model: ColumnModel, numbers: Numbers, found: Coefficients
    ) -> Coefficients:
        """Compute what a count is multiplied by, in units of its standardised value."""
        xp, (scale, mean, dispersion) = namespace(numbers.means), _measures(model)
        beyond = _beyond(model, numbers.means)
        slope = xp.log1p(beyond / (1 + dispersion * mean * (1 + beyond)))
        over = xp.where(dispersion > 0, dispersion, 1.0)
        curved = xp.log1p(over * mean * beyond / (1 + over * mean)) / over
        constant = -xp.where(dispersion > 0, curved, mean * beyond)
        own = xp.zeros_like(slope), scale * slope, mean * slope + constant
        mine = self.mine(model)
        return Coefficients(*(xp.where(mine, *each) for each in zip(own, found, strict=True)))

    def update(self, model: ColumnModel, n_rows: Array, found: Numbers) -> Numbers:
        """Draw means to the mean of all rows, which the prior's part of a row has."""
        xp = namespace(found.means)
        drawn = found.means * (n_rows / (n_rows + PRIOR_ROWS))
        return found._replace(means=xp.where(self.mine(model), drawn, found.means))

    def variance(self, model: ColumnModel, numbers: Numbers, found: Array) -> Array:
        """Compute μ + a μ², in units of the standardised value."""
        scale, mean, dispersion = _measures(model)
        expected = mean * (1 + _beyond(model, numbers.means))
        own = expected * (1 + dispersion * expected) / scale**2
        return namespace(own).where(self.mine(model), own, found)

    def deviation(self, model: ColumnModel, numbers: Numbers, found: Coefficients) -> Coefficients:
        """Compute what makes (x − μ)² / (μ + a μ²)."""
        xp = namespace(numbers.means)
        precisions = 1 / self.variance(model, numbers, numbers.variances)
        scaled = numbers.means * precisions
        own, mine = (precisions, scaled, numbers.means * scaled), self.mine(model)
        return Coefficients(*(xp.where(mine, *each) for each in zip(own, found, strict=True)))

    def draw(self, model: ColumnModel, column: Any, draws: Draws) -> np.ndarray:
        """Draw a count."""
        scale, mean, dispersion = (float(each[column]) for each in _measures(model))
        means = draws.means[:, column : column + 1]
        beyond = np.maximum(means[:, 0] * scale / mean, np.finfo(np.float64).eps - 1)
        expected = mean * (1 + beyond)
        if dispersion > 0:
            drawn = nbinom.ppf(draws.uniform(), 1 / dispersion, 1 / (1 + dispersion * expected))
        else:
            drawn = poisson.ppf(draws.uniform(), expected)
        return (drawn - mean) / scale


def _measures(model: ColumnModel) -> tuple[Array, Array, Array]:
    """Return scales, means and dispersions of counts (d,), 1 in columns of other kinds."""
    scale: Any = model.count_scale
    parts: Any = scale, model.count_mean, model.count_dispersion
    xp = namespace(scale)
    found = tuple(xp.where(scale > 0, part, 1.0) for part in parts)
    return found[0], found[1], found[2]


def _beyond(model: ColumnModel, means: Array) -> Array:
    """Compute by how much the mean of a component exceeds that of all rows, as a share (..., d)."""
    xp, (scale, mean, _) = namespace(means), _measures(model)
    least = float(xp.finfo(means.dtype).eps) - 1
    found = means * (scale / mean)
    return xp.where(found > least, found, least)
