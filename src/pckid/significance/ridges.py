"""Whether rows lead from one cluster to another round the valley between them.

Along the direction in which two clusters differ, a ring or an arc has few rows half-way: it runs
across there, and its ends lie along the line of sight. So rows are looked at in a plane, of that
direction and one in which the rows half-way lie off it, on one side or on both. Where there is a
gap, each way from the densest place on one side to that on the other leads over places where rows
are few. On a ring there is a ridge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import label

from pckid.significance.placing import measure_difference

HIGH = 0.5  # a ridge is at least so high, by the lower of the two places; chosen on other clouds
_WIDTH = 0.15  # rows are half-way, or at a centre, so far on either side
_MIN_ROWS = 3  # half-way
_MAX_ROWS = 300  # by which directions are found
_N_WIDEST = 5  # directions of the rows half-way among which is the one that they are wider in
_N_CELLS = 40  # of the plane, in each direction
_MIN_SEEN = 0.5  # of a direction, in a row that counts
_N_HALVINGS = 8  # of the interval that holds a height
_TINY = np.finfo(np.float64).tiny


class _Places(NamedTuple):
    """Rows along the direction in which two clusters differ, and what lies off it."""

    along: np.ndarray  # (n_rows,), 0 at one centre, 1 at the other
    rest: np.ndarray  # (n_rows, n_columns), in spreads within clusters; 0 where missing
    seen: np.ndarray  # (n_rows, n_columns), bool
    axis: np.ndarray  # (n_columns,), of length 1


def measure_ridge(X: np.ndarray, second: np.ndarray) -> float:
    """Measure how high the highest way between two clusters is, by the lower of their peaks.

    Of the rows (n_rows, n_columns), NaN where missing, `second` (n_rows,) are those of the second.
    From 0 to 1, the larger in two planes; 0 where hardly any row is half-way.
    """
    places = _place(X, second)
    middle, ends = (
        np.flatnonzero(np.min([np.abs(places.along - at) for at in some], axis=0) <= _WIDTH)
        for some in ((0.5,), (0.0, 1.0))
    )
    if X.shape[1] < 2 or min(len(middle), len(ends)) < _MIN_ROWS:
        return 0.0
    heights = []
    for direction in _find_directions(places, middle[:_MAX_ROWS], ends[:_MAX_ROWS]):
        share = places.seen @ direction**2
        across = (places.rest @ direction) / np.maximum(share, _TINY)
        some = (share >= _MIN_SEEN) & ~np.isnan(places.along)
        heights.append(find_pass(places.along[some], across[some], second[some]))
    return max(heights, default=0.0)


def _place(X: np.ndarray, second: np.ndarray) -> _Places:
    """Place rows (n_rows, n_columns) along the direction in which two clusters differ."""
    found = measure_difference(X, second, np.ones(len(X), dtype=bool))
    seen, spread = ~np.isnan(X), np.sqrt(np.maximum(found.within, _TINY))
    apart = found.difference / spread
    observed = seen @ apart**2
    Z = np.where(seen, (X - found.first) / spread, 0.0)
    enough = observed >= _MIN_SEEN * max(float(apart @ apart), _TINY)
    along = np.where(enough, Z @ apart / np.maximum(observed, _TINY), np.nan)
    rest = np.where(seen, Z - np.nan_to_num(along, nan=0.5)[:, None] * apart, 0.0)
    return _Places(along, rest, seen, apart / max(float(np.linalg.norm(apart)), _TINY))


def _find_directions(places: _Places, middle: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
    """Find how rows half-way lie off those at both ends: on one side, and on both (n_columns,)."""
    rest, seen = places.rest, places.seen
    means = [
        rest[some].sum(axis=0) / np.maximum(seen[some].sum(axis=0), 1) for some in (middle, ends)
    ]
    off = means[0] - means[1]
    off -= places.axis * (off @ places.axis)
    basis = np.linalg.svd(rest[middle], full_matrices=False)[2][:_N_WIDEST]
    squares = [
        (rest[some] @ basis.T).T @ (rest[some] @ basis.T) / len(some) for some in (middle, ends)
    ]
    widest = basis.T @ np.linalg.eigh(squares[0] - squares[1])[1][:, -1]
    lengths = [float(np.linalg.norm(each)) for each in (off, widest)]
    return [
        each / length for each, length in zip((off, widest), lengths, strict=True) if length > 0
    ]


def find_pass(along: np.ndarray, across: np.ndarray, second: np.ndarray) -> float:
    """Find how high one must go at least between the peaks on both sides of 0.5, by the lower one.

    The height is the density of rows at places `along` and `across` (n_rows,), by Gaussian kernels
    as wide as n^(−1/6) of the spread within the clusters, of which `second` (n_rows,) is one.
    """
    grids, weights = [], []
    if min(second.sum(), (~second).sum()) < _MIN_ROWS:
        return 0.0
    for values in (along, across):
        within = np.sqrt((values[second].var() + values[~second].var()) / 2)
        width = max(float(within), _TINY) * len(values) ** (-1 / 6)
        low, high = np.quantile(values, [0.01, 0.99])
        grids.append(np.linspace(low - width, high + width, _N_CELLS))
        weights.append(np.exp(-0.5 * ((grids[-1][:, None] - values) / width) ** 2))
    density, below = weights[0] @ weights[1].T, grids[0] <= 0.5
    if below.all() or not below.any():
        return 0.0
    peaks = [
        np.unravel_index(int(np.where(side[:, None], density, -1.0).argmax()), density.shape)
        for side in (below, ~below)
    ]
    lower, low, high = min(density[peak] for peak in peaks), 0.0, 1.0
    for _ in range(_N_HALVINGS):
        height = (low + high) / 2
        parts = label(density >= height * lower, structure=np.ones((3, 3)))[0]
        low, high = (height, high) if parts[peaks[0]] == parts[peaks[1]] else (low, height)
    return low
