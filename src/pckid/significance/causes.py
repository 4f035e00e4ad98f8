"""What often makes a table more than tables without groups show, and is no group.

These have the columns' own distributions, made unimodal, and a Gaussian dependence between them.
Some columns depend on each other in another way by what they are: the sine and cosine of an angle
lie on a circle, parts of a whole add up to it, and rows may be far out in many columns at once.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from pckid.significance.null_tables import pairwise_correlations

_MIN_ROWS = 60
_HUGE = 1e100
_MAX_COLUMNS = 200  # further columns are not looked at
_OPPOSITE = -0.98  # correlation of squares that add up to a constant
_CONSTANT = 0.01  # spread of a sum, by its mean
_MIN_PARTS = 3
# How much more squares of normal scores go together than those of a Gaussian, on average: 0 for a
# Gaussian, 0.25 to 0.5 for Student's t with three degrees of freedom.
_MIN_TAILS = 0.1


class CauseKind(StrEnum):
    """What columns are to each other."""

    TAILS = "tails"
    CIRCLE = "circle"
    PARTS = "parts"


class Cause(NamedTuple):
    """A dependence that is not Gaussian, and the columns that show it."""

    kind: CauseKind
    columns: tuple[Any, ...]  # by place, or by name


def find_causes(X: np.ndarray) -> list[Cause]:
    """Find which columns of numbers (n_samples, n_columns) depend otherwise than Gaussian ones."""
    if len(X) < _MIN_ROWS:
        return []
    varies = np.fmin.reduce(X, axis=0) < np.fmax.reduce(X, axis=0)
    columns = np.flatnonzero(varies)[:_MAX_COLUMNS]
    if len(columns) < 2:
        return []
    values = X[:, columns]
    if (largest := np.nanmax(np.abs(values))) > _HUGE:  # whose square is no float
        values = values / largest
    found = [Cause(CauseKind.CIRCLE, pair) for pair in _find_circles(values)]
    if len(parts := _find_parts(values)):
        found.append(Cause(CauseKind.PARTS, tuple(parts.tolist())))
    elif not found and measure_tails(values) > _MIN_TAILS:
        found.append(Cause(CauseKind.TAILS, tuple(range(len(columns)))))
    return [Cause(kind, tuple(columns[list(some)].tolist())) for kind, some in found]


def measure_tails(X: np.ndarray) -> float:
    """Measure how much more squares of normal scores go together than those of a Gaussian.

    Two Gaussian columns of correlation r have squares of correlation r². The mean over all pairs of
    columns (n_samples, n_columns) that are both observed in enough rows.
    """
    seen = ~np.isnan(X)
    ranks = rankdata(X, axis=0, nan_policy="omit")
    scores = np.where(seen, ndtri((ranks - 0.5) / np.maximum(seen.sum(axis=0), 1)), 0.0)
    plain, counts = pairwise_correlations(scores, seen)
    squares, _ = pairwise_correlations(np.where(seen, scores**2, 0.0), seen)
    pairs = np.triu(counts >= _MIN_ROWS, 1)
    return float((squares - plain**2)[pairs].mean()) if pairs.any() else 0.0


def _find_circles(X: np.ndarray) -> list[tuple[int, int]]:
    """Find pairs of columns (n_samples, n_columns) whose squares add up to a constant."""
    seen = ~np.isnan(X)
    squares, counts = pairwise_correlations(np.where(seen, X**2, 0.0), seen)
    opposite = (squares < _OPPOSITE) & (counts >= _MIN_ROWS)
    pairs = np.argwhere(np.triu(opposite, 1)).tolist()
    return [(a, b) for a, b in pairs if _is_angle(X[:, [a, b]])]


def _is_angle(X: np.ndarray) -> bool:
    """Whether two columns (n_samples, 2) lie on a circle, and take both signs."""
    X = X[~np.isnan(X).any(axis=1)]
    radius = (X**2).sum(axis=1)
    both = (X.min(axis=0) < 0) & (X.max(axis=0) > 0)
    return bool(both.all() and radius.std() <= 2 * _CONSTANT * radius.mean())


def _find_parts(X: np.ndarray) -> np.ndarray:
    """Find the columns (n_samples, n_columns) that add up to a constant, if those do that are never
    negative, or those of them up to 1 or 100.
    """
    for most in (np.inf, 100.0, 1.0):
        columns = np.flatnonzero((np.nanmin(X, axis=0) >= 0) & (np.nanmax(X, axis=0) <= most))
        some = X[:, columns][~np.isnan(X[:, columns]).any(axis=1)]
        if len(columns) < _MIN_PARTS or len(some) < _MIN_ROWS:
            continue
        total = some.sum(axis=1)
        if total.std() <= _CONSTANT * total.mean():
            return columns
    return np.arange(0)
