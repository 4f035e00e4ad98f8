"""Centre and spread of each column from blocks of rows: measure a block, add up, scale once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pckid.input.table import Margins, Scaling, frequencies, shares_of_higher, unit_for


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
    return Moments(
        count,
        low,
        high,
        magnitude,
        a.mean * shrink_a + delta * share,
        a.squares * shrink_a**2 + b.squares * shrink_b**2 + delta**2 * a.n_seen * share,
        extreme,
    )


def scaling(found: Moments, categories: Mapping[int, np.ndarray] = MappingProxyType({})) -> Scaling:
    """Turn moments into centres and spreads of the columns that vary.

    `categories` are the columns of categories, and how often each of these occurs.
    """
    kept = np.setdiff1d(np.flatnonzero(found.high > found.low), list(categories))
    spread = np.sqrt(found.squares[kept] / found.n_seen[kept])
    magnitude = found.magnitude[kept]
    unit = unit_for(magnitude)
    if unit is not None:
        magnitude = magnitude * unit
    useful = {j: counts for j, counts in sorted(categories.items()) if len(counts) > 1}
    center, margins = found.mean[kept] * magnitude, _margins(found, kept, list(useful.values()))
    chosen = np.array(list(useful), dtype=np.int64)
    return Scaling(center, spread * magnitude, kept, chosen, margins, unit)


def _margins(found: Moments, kept: np.ndarray, counts: list[np.ndarray]) -> Margins:
    """Compute the shares of categories, and of the higher value in columns that take two."""
    none, magnitude = np.zeros(0), found.magnitude[kept]
    low, high = found.low[kept] / magnitude, found.high[kept] / magnitude
    higher = shares_of_higher(low, high, found.mean[kept], found.extreme[kept])
    column = np.repeat(np.arange(len(counts)), list(map(len, counts)))
    shares = np.concatenate([none, *map(frequencies, counts)])
    return Margins(column, shares, none, higher, none, none)


def _not_zero(magnitude: np.ndarray) -> np.ndarray:
    """Replace zeros by ones, to divide by."""
    return np.where(magnitude > 0, magnitude, 1.0)
