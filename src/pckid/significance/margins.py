"""Distributions of the columns of null tables: discrete ones as they are, others unimodal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri

# A column of so few distinct values, each of which comes twice on average, is discrete.
FEW_LEVELS = 10
N_HERMITE = 24  # how many Hermite polynomials describe how a column was cut from a Gaussian

_N_MODES = 25
# Between two values; slopes stay finite.
_MIN_WIDTH = 1e-300


class Margin(NamedTuple):
    """The distribution of a column by its quantile function, and how its values show a Gaussian."""

    levels: np.ndarray  # (n_levels,), values, ascending
    cumulative: np.ndarray  # (n_levels,), the probability up to each level
    discrete: bool  # whether the levels are all that there is; else quantiles lie between them too
    # (n_samples,), the expected value of the standard Gaussian that a row's value was cut from, of
    # mean 0 and variance 1 over the rows; NaN where missing
    scores: np.ndarray
    level_scores: np.ndarray  # (n_distinct,), the score of each distinct value, ascending
    # (24,), coefficients of the scores as a function of that Gaussian, in Hermite polynomials of
    # degrees 1, 2, …
    hermite: np.ndarray

    def quantile(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the values at probabilities (n,)."""
        if self.discrete:
            # The last level reaches to 1, also where the shares do not quite add up to it.
            return self.levels[np.searchsorted(self.cumulative[:-1], probabilities)]
        return np.interp(probabilities, self.cumulative, self.levels)

    def score(self, gaussian: np.ndarray) -> np.ndarray:
        """Return the scores of the values that standard Gaussian ones (n,) are cut to."""
        if not self.discrete:
            return gaussian
        return self.level_scores[np.searchsorted(self.cumulative[:-1], ndtr(gaussian))]


def fit_margin(column: np.ndarray, order: np.ndarray | None = None) -> Margin:
    """Fit the distribution of a column (n_samples,) without groups, NaN where a value is missing.

    It has at least two distinct values. Of a column of categories, `order` (n_levels,) has these
    from first to last.
    """
    observed = ~np.isnan(column)
    levels, place, counts = np.unique(column[observed], return_inverse=True, return_counts=True)
    if order is not None:
        position = np.argsort(order)
        levels, place = order, position[place]
        counts = np.bincount(place, minlength=len(order))
    shares = counts / counts.sum()
    means, variance, hermite = gaussian_scores(shares)
    scores, each = np.full(len(column), np.nan), means / np.sqrt(variance)
    scores[observed] = each[place]
    few = len(levels) <= FEW_LEVELS and 2 * len(levels) <= counts.sum()
    if few or order is not None:
        return Margin(levels, np.cumsum(shares), True, scores, each, hermite)
    return Margin(*unimodal(levels, shares)[:2], False, scores, each, hermite)


def gaussian_scores(shares: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Cut a standard Gaussian into levels of given shares (n_levels,).

    Returns its means within the levels (n_levels,), their variance over the levels, and the
    coefficients (24,) of the means / √variance in the normalised Hermite polynomials h_m,
    m = 1, 2, …, whose squares add up to 1 but for higher degrees.
    """
    cuts = ndtri(np.clip(np.cumsum(shares)[:-1], 1e-12, 1 - 1e-12))
    density = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    # The integral of h_m φ over (a, b) is (h_{m-1} φ)(a) − (h_{m-1} φ)(b), over √m.
    hermite = [np.ones_like(cuts), cuts]
    for m in range(2, N_HERMITE):
        hermite.append((cuts * hermite[-1] - np.sqrt(m - 1) * hermite[-2]) / np.sqrt(m))
    edge = np.stack([h * density for h in hermite])
    integrals = -np.diff(edge, axis=1, prepend=0.0, append=0.0)
    integrals /= np.sqrt(np.arange(1, N_HERMITE + 1))[:, None]
    means = integrals[0] / shares
    variance = float(means @ integrals[0])
    return means, variance, integrals @ means / np.sqrt(variance)


def unimodal(levels: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Find the unimodal distribution closest to that of a column, as a piecewise linear CDF.

    Left of its mode it is the greatest convex minorant of the empirical distribution function,
    right of it the least concave majorant, as in the dip test (Hartigan and Hartigan 1985); at the
    mode it may jump. Of 25 modes at quantiles of the column, that of the smallest largest
    difference is taken. From distinct values, ascending, and their shares (n_levels,), returns
    values and the probability up to each (n_knots,), and that difference.
    """
    fits = _Fits(levels, shares)
    place, _ = fits.best()
    found = fits.with_mode(fits.modes[place])
    # Of modes that are as good, the first.
    for mode in fits.modes[:place][::-1]:
        before = fits.with_mode(mode)
        if before[2] > found[2]:
            break
        found = before
    return found


def dip(values: np.ndarray) -> float:
    """Measure how far values (n,) are from unimodal: the largest difference between their middle
    empirical distribution function and that of `unimodal`, from 0 to 1/4.
    """
    levels, counts = np.unique(values, return_counts=True)
    return _Fits(levels, counts / len(values)).best()[1]


class _Fits:
    """Unimodal distributions closest to values (n_levels,) of some shares, by their mode."""

    def __init__(self, levels: np.ndarray, shares: np.ndarray) -> None:
        self.levels = levels
        self.after = np.cumsum(shares) / shares.sum()
        self.before = np.concatenate([[0.0], self.after[:-1]])
        self.middle, self.last = (self.before + self.after) / 2, len(levels) - 1
        modes = np.searchsorted(self.after, (np.arange(_N_MODES) + 0.5) / _N_MODES)
        self.modes = np.unique(np.minimum(modes, self.last))
        # Left of the mode the function of values below bends upwards, right of it that of values up
        # to here downwards.
        self.widths = np.maximum(np.diff(levels), _MIN_WIDTH)
        self.rising = np.diff(self.before) / self.widths
        self.falling = np.diff(self.after) / self.widths

    def best(self) -> tuple[int, float]:
        """Find which of the modes has the smallest of the largest differences, and that."""
        place, found = 0, 1.0
        # As the mode moves up, the difference left of it grows, and that right of it falls.
        first, last = 0, len(self.modes) - 1
        while first <= last:
            middle = (first + last) // 2
            below, above = self.errors(self.modes[middle])
            if max(below, above) < found:
                place, found = middle, max(below, above)
            first, last = (first, middle - 1) if below >= above else (middle + 1, last)
        return place, found

    def corners(self, mode: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the levels at which the distribution bends, left and right of a mode."""
        left = _pool(self.rising[:mode], self.widths[:mode])
        right = _pool(self.falling[mode:][::-1], self.widths[mode:][::-1])
        return left, self.last - right[::-1]

    def with_mode(self, mode: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Return values and the probability up to each, and the largest difference."""
        rising, falling = self.corners(mode)
        knots = np.concatenate([self.levels[rising], self.levels[falling]])
        cumulative = np.concatenate([self.before[rising], self.after[falling]])
        error = float(np.abs(np.interp(self.levels, knots, cumulative) - self.middle).max())
        return knots, cumulative, error

    def errors(self, mode: int) -> tuple[float, float]:
        """Return the largest difference left and right of a mode."""
        rising, falling = self.corners(mode)
        x, low, high = self.levels, slice(mode + 1), slice(mode, None)
        below = self.middle[low] - np.interp(x[low], x[rising], self.before[rising])
        above = np.interp(x[high], x[falling], self.after[falling]) - self.middle[high]
        return float(below.max()), float(above.max())


def _pool(slopes: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Find the corners of the greatest convex function under points, by the steps between these.

    Its slopes are the isotonic regression of the steps' slopes (n,), weighted by their widths (n,).
    The corners are numbers of points, from 0 to n.
    """
    if len(slopes) < 2:
        return np.arange(len(slopes) + 1)
    return isotonic_regression(slopes, weights=widths).blocks
