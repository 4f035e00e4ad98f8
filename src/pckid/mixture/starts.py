"""Where EM starts: the paper's way for the mixtures of an ensemble, four for a single mixture.

A single mixture starts in scikit-learn's ways, on what is observed: distances count the observed
values of a row, centres are means of observed values. A partition of the rows becomes parameters by
one M-step, in which a missing value counts as the mean of its part, with the part's variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    clip,
    device_of,
    namespace,
    take_along,
    times_transposed,
    to_numpy,
)
from pckid.input.table import StandardisedRows
from pckid.input.weights import canonical_order, draw_rows
from pckid.mixture.em import CovarianceType, best_start, weights_of

WAYS = ("kmeans", "k-means++", "random", "random_from_data")
_MAX_STEPS = 300
# k-means is cheap beside EM, and one seeding in six ends badly on Fisher's irises.
_SEEDINGS = 5
# Means, in standardised units, whose order rounding does not decide.
_DIGITS = 4


class Rows(NamedTuple):
    """The rows of a fit, and the order in which they are drawn."""

    values: Array  # (n_samples, n_features), zero where missing
    seen: Array  # (n_samples, n_features), 1 where observed
    weights: Array | None  # (n_samples,), of mean 1
    order: np.ndarray  # (n_samples,), the same in whatever order the rows came
    counts: np.ndarray | None  # (n_samples,), the weights as they were given

    @classmethod
    def of(cls, table: StandardisedRows, counts: np.ndarray | None, weights: Array | None) -> Rows:
        """Take the rows of a table."""
        seen = namespace(table.values).astype(table.observed, table.values.dtype)
        return cls(table.values, seen, weights, canonical_order(table, counts), counts)

    def weighted(self, resp: Array) -> Array:
        """Multiply responsibilities (g, n_samples) by the weights of the rows."""
        return resp if self.weights is None else resp * self.weights


class Partition(NamedTuple):
    """A partition of the rows, and what it costs."""

    resp: Array  # (g, n_samples)
    cost: float


def make_start(
    way: str,
    family: CovarianceType,
    stats: Any,
    rows: Rows,
    n_components: int,
    floor: float,
    rng: np.random.RandomState,
) -> Any:
    """Compute the parameters that EM starts from, in one of the `WAYS`."""
    if way == "random_from_data":
        chosen = draw_rows(rows.order, rows.counts, n_components, rng)
        first = asarray_like(chosen[None, :], rows.values)
        return start_from_rows(family, stats, first, floor, rows.weights)
    if way == "random":
        drawn = np.empty((n_components, len(rows.order)))
        drawn[:, rows.order] = rng.uniform(size=(len(rows.order), n_components)).T
        resp = asarray_like(drawn / drawn.sum(axis=0), rows.values)
    elif way == "k-means++":
        resp = _sorted(rows, _nearest(rows, _seeds(rows, n_components, rng)))
    else:
        tries = [lloyd_observed(rows, _seeds(rows, n_components, rng)) for _ in range(_SEEDINGS)]
        best = best_start([-each.cost for each in tries], rows.values.dtype)
        resp = _sorted(rows, tries[best].resp)
    return start_from_partition(family, stats, rows, resp, floor)


def start_from_rows(
    family: CovarianceType,
    stats: Any,
    chosen: Array,
    floor: float,
    weights: Array | None = None,
    assign: Callable[[Array], Array] | None = None,
) -> Any:
    """Start from random rows, one k-means step and the empirical moments, as the paper does.

    Missing values count as the feature's observed mean, here and only here. Of a stack of m
    mixtures, the rows `chosen` (m, g) of each are its first centres. Rows may have `weights`, (n,)
    or (m, 1, n), of mean 1. `assign` takes scores of rows, highest for the nearest centre, to
    responsibilities, both (m, g, n); None gives each row to the nearest.
    """
    X = family.filled(stats)
    centers = _gather(X, chosen)
    squares = namespace(X).sum(centers**2, axis=-1)
    resp = (assign or winner)(times_transposed(centers, X) - 0.5 * squares[..., None])
    resp = resp if weights is None else resp * weights
    return family.constrain(family.start(stats, resp, centers), floor)


def _gather(rows: Array, chosen: Array) -> Array:
    """Pick rows `chosen` (m, g) of a stack (m, n, d), or of rows (1, n, d) that all share."""
    xp = namespace(rows)
    m, n, d = rows.shape
    offset = n * xp.arange(m, dtype=chosen.dtype, device=device_of(rows))
    flat = xp.reshape(chosen + offset[:, None], (-1,))
    picked = take_along(xp.reshape(rows, (m * n, d)), flat)
    return xp.reshape(picked, (chosen.shape[0], -1, d))


def winner(scores: Array) -> Array:
    """Give each row wholly to its highest score (m, g, n), the first of equal ones."""
    xp = namespace(scores)
    if isinstance(scores, np.ndarray):
        highest = scores == np.max(scores, axis=1, keepdims=True)
        # Equal ones are rare, and looking for the first takes several times as long.
        if np.count_nonzero(highest) == scores.shape[0] * scores.shape[2]:
            return highest.astype(scores.dtype)
    best = xp.argmax(scores, axis=1, keepdims=True)
    index = xp.arange(scores.shape[1], dtype=best.dtype, device=device_of(scores))
    return xp.astype(best == index[None, :, None], scores.dtype)


def start_from_partition(
    family: CovarianceType, stats: Any, rows: Rows, resp: Array, floor: float
) -> Any:
    """Turn a partition of the rows, `resp` of shape (g, n_samples), into parameters."""
    weighted = rows.weighted(resp)
    centers, variances = _moments(rows, weighted)
    params = family.start(stats, weighted[None, ...], centers[None, ...])
    spread = clip(variances, floor)
    if family.MATRICES:
        xp = namespace(spread)
        spread = spread[..., None] * xp.eye(
            spread.shape[-1], dtype=spread.dtype, device=device_of(spread)
        )
    params = params._replace(means=centers[None, ...], covariances=spread[None, ...])
    sums = family.expect(stats, params, lambda _, some: weights_of(some, weighted)[None, ...])
    return family.constrain(family.update(stats, params, sums), floor)


def lloyd_observed(rows: Rows, centers: Array) -> Partition:
    """Take k-means steps from `centers` (g, d) until no row moves."""
    xp = namespace(centers)
    resp = _nearest(rows, centers)
    for _ in range(_MAX_STEPS):
        centers = _moments(rows, rows.weighted(resp), centers)[0]
        previous, resp = resp, _nearest(rows, centers)
        if bool(xp.all(resp == previous)):
            break
    # Squared distances, up to what is the same for every partition.
    cost = -2 * float(xp.sum(_closeness(rows, centers) * rows.weighted(resp)))
    return Partition(resp, cost / len(rows.order))


def _seeds(rows: Rows, n_components: int, rng: np.random.RandomState) -> Array:
    """Draw centres (g, d) by the greedy k-means++ of Arthur and Vassilvitskii (2007).

    What is missing of a centre is zero, the mean of the column.
    """
    n_trials = 2 + int(math.log(n_components))
    each = np.ones(len(rows.order)) if rows.counts is None else rows.counts / rows.counts.max()
    chosen = [_draw_centers(each, rows.order, 1, rng)[0]]
    closest = _distances(rows, chosen)[0]
    while len(chosen) < n_components:
        candidates = _draw_centers(each * closest, rows.order, n_trials, rng)
        trials = np.minimum(closest, _distances(rows, candidates))
        best = int(np.argmin(trials @ each))
        chosen.append(candidates[best])
        closest = trials[best]
    return take_along(rows.values, np.array(chosen))


def _draw_centers(
    chances: np.ndarray, order: np.ndarray, size: int, rng: np.random.RandomState
) -> list[int]:
    """Draw rows with chances in proportion to `chances` (n_samples,), however the rows come."""
    chances = chances[order] if chances.any() else np.ones(len(order))
    heights = np.cumsum(chances)
    found = np.searchsorted(heights, rng.uniform(size=size) * heights[-1], side="right")
    return order[np.minimum(found, len(order) - 1)].tolist()


def _distances(rows: Rows, chosen: list[int]) -> np.ndarray:
    """Compute squared distances to rows `chosen` over what is observed, on the host (g, n)."""
    squares = namespace(rows.values).sum(rows.values**2, axis=1)
    centers = take_along(rows.values, np.array(chosen))
    found = to_numpy(squares - 2 * _closeness(rows, centers)).astype(np.float64)
    # What rounding leaves of the distance to itself must not be drawn.
    found[np.arange(len(chosen)), chosen] = 0.0
    return np.maximum(found, 0.0)


def _closeness(rows: Rows, centers: Array) -> Array:
    """Score rows by how near they are to centres (g, d) in what is observed: highest is nearest."""
    xp = namespace(centers)
    values, seen = xp.matrix_transpose(rows.values), xp.matrix_transpose(rows.seen)
    return centers @ values - 0.5 * (centers**2 @ seen)


def _nearest(rows: Rows, centers: Array) -> Array:
    """Give each row to its nearest centre (g, n_samples)."""
    return winner(_closeness(rows, centers)[None, ...])[0, ...]


def _sorted(rows: Rows, resp: Array) -> Array:
    """Number the parts of a partition (g, n_samples) by their means, first column first.

    So it does not depend on the seed to which part the first of `precisions_init` belongs.
    """
    centers = np.round(to_numpy(_moments(rows, rows.weighted(resp))[0]), _DIGITS)
    return take_along(resp, np.lexsort(centers.T[::-1]))


def _moments(rows: Rows, weighted: Array, before: Array | None = None) -> tuple[Array, Array]:
    """Compute means and variances (g, d) of what is observed in each part of the rows.

    Where a part has nothing observed in a column its mean is as `before`, or that of all rows; its
    variance is that of all rows.
    """
    xp = namespace(weighted)
    counts = weighted @ rows.seen
    some = counts > 0
    safe = xp.where(some, counts, 1.0)
    centers = weighted @ rows.values / safe
    squares = weighted @ rows.values**2 / safe
    if before is not None:
        centers = xp.where(some, centers, before)
    return centers, xp.where(some, squares - centers**2, 1.0)
