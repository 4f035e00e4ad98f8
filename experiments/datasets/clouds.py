"""Clouds of rows without a gap, of many shapes, and groups of unequal size and spread with one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CLOUDS = (
    "Gaussian",
    "uniform",
    "scale mixture",
    "Student t, 3 degrees",
    "lognormal",
    "gamma",
    "exponential factor",
    "Pareto factor",
    "banana",
    "arc",
    "ring",
    "funnel",
    "cut",
    "composition",
    "rounded",
    "saddle",
)
"""Shapes without a gap: even, heavy-tailed, skewed, curved, cut off, and of few values."""


class Design(NamedTuple):
    """Two groups: what share of the rows is in the second, how much wider and how far it is."""

    n_rows: int
    share: float
    width: float  # standard deviations of the second group, in those of the first
    distance: float  # of the centres, in standard deviations of the first

    @property
    def name(self) -> str:
        """What the design is called."""
        wide = f", {self.width:g} times as wide" if self.width > 1 else ""
        return f"{self.share:.0%} of {self.n_rows:,}{wide}, {self.distance:g} sd"


DESIGNS = (
    Design(600, 0.20, 1, 5),
    Design(600, 0.10, 1, 6),
    Design(600, 0.06, 1, 7),
    Design(600, 0.03, 1, 8),
    Design(600, 0.20, 3, 12),
    Design(600, 0.35, 3, 9),
    Design(3000, 0.03, 1, 6),
    Design(600, 0.35, 2, 6),
    Design(250, 0.20, 1, 6),
    Design(250, 0.50, 1, 4),
    Design(250, 0.50, 1, 6),
)
"""Groups that users have and a dip of all rows does not show, and some of equal size."""


DAY_SHARES = (0.02, 0.06, 0.12, 0.3)
"""Of the cells of a table of days, so many are missing."""

MANY = (20, 30)
"""Numbers of groups of 40 rows each."""


def draw_cloud(shape: str, n_rows: int, rng: np.random.Generator) -> NDArray:
    """Draw a table without a gap, of 3 to 10 columns (n_rows, n_columns)."""
    d = int(rng.integers(3, 11))
    noise = _correlated(n_rows, d, rng)
    if shape == "uniform":
        return rng.uniform(size=(n_rows, d)) @ _stretch(d, rng)
    if shape == "scale mixture":
        wide = rng.random((n_rows, 1)) < rng.uniform(0.1, 0.5)
        return noise * np.where(wide, rng.uniform(2, 5), 1.0)
    if shape == "Student t, 3 degrees":
        return noise / np.sqrt(rng.chisquare(3, size=(n_rows, 1)) / 3)
    if shape == "lognormal":
        return np.exp(noise * rng.uniform(0.4, 1.2))
    if shape == "gamma":
        return rng.gamma(rng.uniform(0.5, 3), size=(n_rows, d)) @ _stretch(d, rng)
    if shape in ("exponential factor", "Pareto factor"):
        factor = rng.exponential(size=(n_rows, 1))
        if shape == "Pareto factor":
            factor = np.exp(factor / rng.uniform(2.5, 5))
        factor = (factor - factor.mean()) / factor.std()
        return rng.uniform(0.5, 2, size=d) * factor + 0.5 * rng.normal(size=(n_rows, d))
    if shape in ("banana", "arc", "ring", "saddle"):
        return _curve(shape, n_rows, d, rng)
    if shape == "funnel":
        along = rng.normal(size=(n_rows, 1))
        rest = np.exp(rng.uniform(0.3, 0.8) * along) * rng.normal(size=(n_rows, d - 1))
        return np.column_stack([2 * along, rest])
    if shape == "cut":
        low, high = rng.uniform(-1.5, -0.3, size=d), rng.uniform(0.3, 2.5, size=d)
        return np.clip(noise, low, high if rng.random() < 0.5 else np.inf)
    if shape == "composition":
        parts = np.exp(noise * rng.uniform(0.5, 1.2))
        return parts / parts.sum(axis=1, keepdims=True)
    if shape == "rounded":
        return np.round(noise * rng.uniform(0.7, 3, size=d))
    return noise


def draw_design(design: Design, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw two Gaussian groups in six columns, 10 to 15 % missing at random, and their labels."""
    n_second = round(design.share * design.n_rows)
    y = rng.permutation(np.arange(design.n_rows) < n_second).astype(int)
    direction = rng.normal(size=6)
    direction *= design.distance / np.linalg.norm(direction)
    spread = np.where(y == 1, design.width, 1.0)[:, None]
    X = spread * rng.normal(size=(design.n_rows, 6)) + y[:, None] * direction
    return remove_some(X, rng.uniform(0.1, 0.15), rng), y


def draw_days(share: float, rng: np.random.Generator) -> NDArray:
    """Draw two years of days (730, 11): weekends differ in all columns, and a season is in each.

    Every column also has its part in what days have in common. A share of the cells is missing.
    """
    days = np.arange(730)
    weekend = (days % 7 >= 5)[:, None]
    season = np.sin(2 * np.pi * (days / 365 + rng.random()))[:, None]
    common = rng.normal(size=(730, 1))
    X = weekend * rng.uniform(2.5, 5, size=11) + season * rng.uniform(0.5, 2, size=11)
    X = X + common * rng.uniform(0, 1, size=11) + rng.normal(size=(730, 11))
    return remove_some(X, share, rng)


def draw_many(n_groups: int, rng: np.random.Generator) -> NDArray:
    """Draw Gaussian groups of 40 rows in eight columns, far apart, 10 % missing at random."""
    centres = 6 * rng.normal(size=(n_groups, 8))
    return remove_some(
        np.repeat(centres, 40, axis=0) + rng.normal(size=(40 * n_groups, 8)), 0.1, rng
    )


def remove_some(X: NDArray, share: float, rng: np.random.Generator) -> NDArray:
    """Remove a share of the cells at random; each row keeps two."""
    keys = rng.random(X.shape)
    kept = keys.argsort(axis=1).argsort(axis=1) >= X.shape[1] - 2
    return np.where((keys < share) & ~kept, np.nan, X)


def _correlated(n_rows: int, d: int, rng: np.random.Generator) -> NDArray:
    """Draw Gaussian rows (n_rows, d) with one to three common factors, in every second table."""
    noise = rng.standard_normal((n_rows, d))
    if rng.random() < 0.5:
        return noise
    loadings = rng.normal(size=(int(rng.integers(1, 4)), d))
    strength = rng.uniform(0.2, 0.9, size=d)
    loadings *= np.sqrt(strength / (loadings**2).sum(axis=0))
    factors = rng.standard_normal((n_rows, len(loadings)))
    return factors @ loadings + np.sqrt(1 - strength) * noise


def _stretch(d: int, rng: np.random.Generator) -> NDArray:
    """Draw a matrix (d, d) that stretches one direction, in every second table; else no other."""
    if rng.random() < 0.5:
        return np.eye(d)
    axis = rng.normal(size=d)
    axis /= np.linalg.norm(axis)
    return np.eye(d) + rng.uniform(1, 4) * np.outer(axis, axis)


def _curve(shape: str, n_rows: int, d: int, rng: np.random.Generator) -> NDArray:
    """Draw rows along a curve, or on a saddle, turned at random, with noise around it."""
    if shape in ("banana", "saddle"):
        along, across = rng.normal(size=(2, n_rows))
        bend = along**2 if shape == "banana" else along * across
        flat = np.column_stack([1.5 * along, across, rng.uniform(0.5, 1.5) * bend])
        if shape == "banana":
            flat = flat[:, [0, 2]]
        noise = rng.uniform(0.3, 0.7)
    else:
        turn = 2 * np.pi if shape == "ring" else rng.uniform(1, 1.5) * np.pi
        angle = rng.uniform(0, turn, size=n_rows)
        flat, noise = 3 * np.column_stack([np.cos(angle), np.sin(angle)]), rng.uniform(0.2, 0.6)
    plane = np.linalg.qr(rng.normal(size=(d, flat.shape[1])))[0]
    return flat @ plane.T + noise * rng.normal(size=(n_rows, d))
