"""Numbers of which a column takes only two: a probability of the higher one in each component.

With a share q of the higher value, standardised values are −√(q/(1−q)) and √((1−q)/q), at a gap of
1/√(q(1−q)). A component of mean μ has the higher one with probability p = q + μ √(q(1−q)).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
from pckid.columns.model import RAREST, ColumnModel


class TwoValues(NumberKind):
    """Columns of numbers that take two values, which count like categories."""

    name = "two values"
    stored: Mapping[str, Stored] = {"higher": Stored("kept", 0.0, 1.0, optional=True)}

    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure how common the higher value is, 0 in other columns."""
        if found.extreme is None:
            return {}
        shares = (found.mean - found.low) / (found.high - found.low)
        two = found.extreme & (shares > RAREST) & (shares < 1 - RAREST)
        return {"two_value_share": np.where(two, shares, 0.0)} if two.any() else {}

    def mine(self, model: ColumnModel) -> Array | None:
        """Find the columns that have such a share."""
        share = model.two_value_share
        return None if share is None else share > 0

    def distances(self, model: ColumnModel, found: Array) -> Array:
        """Take standardised numbers as they are."""
        return found

    def coefficients(
        self, model: ColumnModel, numbers: Numbers, found: Coefficients
    ) -> Coefficients:
        """Compute a line in x through log (1 − p) at the lower value and log p at the higher.

        Of columns that hold one category together it is 0 at the lower value, see `one_hot`.
        """
        xp = namespace(numbers.means)
        eps = float(xp.finfo(numbers.means.dtype).eps)
        share, gap, chance = _chances(model, numbers.means, eps)
        lower = _unless_one_hot(model, xp.log(1 - chance), 0.0)
        slope = (xp.log(chance) - lower) / gap
        return self._replace(model, found, slope, lower + slope * gap * share)

    def update(self, model: ColumnModel, n_rows: Array, found: Numbers) -> Numbers:
        """Draw means to the mean of all rows, which the prior's part of a row has."""
        xp = namespace(found.means)
        drawn = found.means * (n_rows / (n_rows + PRIOR_ROWS))
        return found._replace(means=xp.where(self.mine(model), drawn, found.means))

    def variance(self, model: ColumnModel, numbers: Numbers, found: Array) -> Array:
        """Compute p (1 − p) times the square of the gap."""
        _, gap, chance = _chances(model, numbers.means, 0.0)
        mine = chance * (1 - chance) * gap**2
        return namespace(chance).where(self.mine(model), mine, found)

    def deviation(self, model: ColumnModel, numbers: Numbers, found: Coefficients) -> Coefficients:
        """Compute what makes 1 − 2 log p(x) − 2 H, with H the entropy in the component.

        The logarithm of a value's probability is linear in x with slope s = √(q(1−q)) log(p/(1−p)),
        so that this is 1 − 2 s (x − μ).
        """
        means, share = numbers.means, _safe_share(model)
        xp = namespace(means)
        root = xp.sqrt(share * (1 - share))
        eps = float(xp.finfo(means.dtype).eps)
        chance = xp.clip(share + means * root, eps, 1 - eps)
        slope = root * xp.log(chance / _unless_one_hot(model, 1 - chance, 1.0))
        held: Any = 1.0 if model.values_held is None else model.values_held
        return self._replace(model, found, slope, held + 2 * slope * means)

    def draw(self, model: ColumnModel, column: Any, draws: Draws) -> np.ndarray:
        """Draw one of the two values."""
        shares: Any = model.two_value_share
        share = shares[column]
        gap = 1 / np.sqrt(share * (1 - share))
        is_higher = draws.uniform() < share + draws.means[:, column] / gap
        return (is_higher - share) * gap

    def _replace(
        self, model: ColumnModel, found: Coefficients, slope: Array, constant: Array
    ) -> Coefficients:
        """Put coefficients of x and m in place of those found, and none of x²."""
        xp, mine = namespace(slope), self.mine(model)
        own = xp.zeros_like(slope), slope, constant
        return Coefficients(*(xp.where(mine, *each) for each in zip(own, found, strict=True)))


def _safe_share(model: ColumnModel) -> Array:
    """Return the shares of the higher value (d,), one half in columns of other kinds."""
    share: Any = model.two_value_share
    return namespace(share).where(share > 0, share, 0.5)


def _chances(model: ColumnModel, means: Array, eps: float) -> tuple[Array, Array, Array]:
    """Compute the share of the higher value (d,), the gap (d,) and its chances (..., d)."""
    xp, share = namespace(means), _safe_share(model)
    gap = 1 / xp.sqrt(share * (1 - share))
    return share, gap, xp.clip(share + means / gap, eps, 1 - eps)


def _unless_one_hot(model: ColumnModel, lower: Array, nothing: float) -> Array:
    """Keep what the lower value tells (..., d), but for columns that hold a category together."""
    weight = model.one_hot_weight
    return lower if weight is None else namespace(lower).where(weight > 0, nothing, lower)
