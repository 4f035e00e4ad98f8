"""Whether there is a valley between two clusters: fewer rows half-way than at either centre.

A dip of all rows does not see few or wide rows beside many. So rows are counted where they matter:
near 0 and 1, the centres of the two clusters, and where they are fewest between. Each row is placed
by the rows of other folds, in several random divisions into folds, and counts are means over these.

In a cloud without a gap the fewest rows between two centres are no fewer than at the sparser
centre, but for chance: of the rows at both places a half or more are between, which a binomial
distribution tests. A bent cloud is denser where it ends than where it
bends away from the chord; how much denser is estimated by how far its middle lies off the chord,
and allowed for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from pckid.significance.placing import Ties, place_between

MIN_ROWS = 12  # of a cluster
_N_FOLDS, _N_DIVISIONS = 5, 4
_WIDTH = 0.15  # rows are counted so far on either side of a place
_PLACES = np.r_[0.0, 1.0, np.arange(0.35, 0.66, 0.05)]
_N_WIDEST = 3  # directions in which a bend is looked for
_LARGEST_BEND = 1.4  # radians; a bend of π / 2 has no end


class Valley(NamedTuple):
    """How many rows there are at the sparser of two centres, and where they are fewest between."""

    peak: float
    lowest: float
    bend: float  # how much denser a cloud bent so far is at its ends than in its middle

    @property
    def p_value(self) -> float:
        """How likely a cloud without a gap has so few rows between, or fewer."""
        if self.peak <= 0:
            return 1.0
        share = self.bend / (1 + self.bend)
        return float(min(1.0, 2 * betainc(self.peak, self.lowest + 1, share)))


def find_valley(
    ties: Ties, categorical: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> Valley:
    """Measure the valley between two clusters, `second` (n_rows,) being rows of the second.

    Units (n_units,) may be `categorical`.
    """
    places = np.stack([_place_all(ties, categorical, second, rng) for _ in range(_N_DIVISIONS)])
    with np.errstate(invalid="ignore"):
        near = np.abs(places[:, :, None] - _PLACES) <= _WIDTH
        counts = near.sum(axis=1).mean(axis=0)
        weights = [(np.abs(places - place) <= _WIDTH).mean(axis=0) for place in (0.0, 0.5, 1.0)]
    bend = _estimate_bend(ties.values[:, ~categorical], np.array(weights), second, rng)
    return Valley(float(counts[:2].min()), float(counts[2:].min()), bend)


def _place_all(
    ties: Ties, categorical: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Place each row by the rows of the other folds (n_rows,); NaN where too little is known."""
    X, fold, found = ties.draw(rng), np.empty(len(second), dtype=int), np.empty(len(second))
    for part in (np.flatnonzero(~second), np.flatnonzero(second)):
        fold[rng.permutation(part)] = np.arange(len(part)) % _N_FOLDS
    for number in range(_N_FOLDS):
        learn = fold != number
        found[~learn] = place_between(X, categorical, ties.are_tied, second, learn, rng)[0]
    return found


def _estimate_bend(
    X: np.ndarray, weights: np.ndarray, second: np.ndarray, rng: np.random.Generator
) -> float:
    """Estimate how much denser the ends of a bent cloud are than its middle; 1 if it is straight.

    Rows (n_rows, n_columns) at the first centre, half-way and at the second have `weights`
    (3, n_rows). With c the length of the chord between the two centres, in spreads of the columns,
    and h how far the rows half-way lie off it, or how much farther on both sides of it than rows at
    the centres do, the ends of a piece of a circle are denser by 1 / cos(2 atan(2 h / c)).
    """
    if X.shape[1] == 0 or weights.sum(axis=1).min() < 2:
        return 1.0
    seen, spread = ~np.isnan(X), np.nanstd(X, axis=0)
    Z = np.where(seen, (X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1.0), 0.0)
    axis = Z[second].mean(axis=0) - Z[~second].mean(axis=0)
    axis /= max(float(np.linalg.norm(axis)), np.finfo(np.float64).tiny)
    count = np.maximum(weights @ seen, np.finfo(np.float64).tiny)
    means = weights @ Z / count
    squares = [
        w @ np.where(seen, (Z - mean) ** 2, 0.0) for w, mean in zip(weights, means, strict=True)
    ]
    errors = np.array(squares) / np.maximum(count - 1, 1) / np.maximum(count, 1)
    chord = abs(float((means[2] - means[0]) @ axis))
    off = means[1] - (means[0] + means[2]) / 2
    off = off - axis * (off @ axis)
    error = errors[1] + (errors[0] + errors[2]) / 4
    height = np.sqrt(max(float(off @ off - error.sum() + error @ axis**2), 0.0))
    rest = np.where(seen, Z - (means[0] + means[2]) / 2, 0.0)
    height = max(height, _widen(rest - np.outer(rest @ axis, axis), weights, rng))
    angle = min(2 * np.arctan2(2 * height, chord), _LARGEST_BEND)
    return float(1 / np.cos(angle))


def _widen(rest: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> float:
    """Measure how much wider rows half-way lie than those at the centres, in one direction.

    Of `rest` (n_rows, n_columns), what lies off the chord, the widest directions are taken.
    """
    basis = rng.standard_normal((rest.shape[1], min(_N_WIDEST, rest.shape[1])))
    for _ in range(4):
        basis = np.linalg.qr(rest.T @ (rest @ basis))[0]
    along = rest @ basis
    first, middle, last = ((along * w[:, None]).T @ along / w.sum() for w in weights)
    widest = np.linalg.eigh(middle - (first + last) / 2)[1][:, -1]
    sizes = [np.sqrt(max(float(widest @ each @ widest), 0.0)) for each in (first, middle, last)]
    return float(sizes[1] - max(sizes[0], sizes[2]))
