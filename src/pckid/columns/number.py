"""Numbers: a Gaussian in each component. So are all columns of numbers of no other kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid._utils.arrays import Array, namespace
from pckid.columns.base import Coefficients, Draws, Measured, NumberKind, Numbers, Stored
from pckid.columns.model import ColumnModel

_LOG_2PI = math.log(2 * math.pi)


class Number(NumberKind):
    """Columns of numbers that are Gaussian within a component, of a mean μ and a variance σ²."""

    name = "number"
    stored: Mapping[str, Stored] = {}

    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure nothing: centres and scales are those of all columns of numbers."""
        return {}

    def mine(self, model: ColumnModel) -> Array | None:
        """Find none by themselves: they are what is left."""
        return None

    def distances(self, model: ColumnModel, found: Array) -> Array:
        """Take standardised numbers as they are."""
        return found

    def coefficients(
        self, model: ColumnModel, numbers: Numbers, found: Coefficients | None = None
    ) -> Coefficients:
        """Compute −1/(2σ²), μ/σ² and −½ (μ²/σ² + log 2πσ²)."""
        precision = 1 / numbers.variances
        scaled = numbers.means * precision
        logs = namespace(precision).log(precision)
        seen = -0.5 * (numbers.means * scaled - logs + _LOG_2PI)
        return Coefficients(-0.5 * precision, scaled, seen)

    def update(self, model: ColumnModel, n_rows: Array, found: Numbers) -> Numbers:
        """Take the moments."""
        return found

    def variance(self, model: ColumnModel, numbers: Numbers, found: Array | None = None) -> Array:
        """Take the parameter."""
        return numbers.variances

    def deviation(
        self, model: ColumnModel, numbers: Numbers, found: Coefficients | None = None
    ) -> Coefficients:
        """Compute 1/σ², μ/σ² and μ²/σ², which make (x − μ)²/σ²."""
        precisions = 1 / numbers.variances
        scaled = numbers.means * precisions
        return Coefficients(precisions, scaled, numbers.means * scaled)

    def draw(self, model: ColumnModel, column: Any, draws: Draws) -> np.ndarray:
        """Draw from the Gaussian."""
        spread = np.sqrt(draws.variances[:, column])
        return draws.means[:, column] + spread * draws.normal[:, column]
