"""EM of the product family on a CPU: the steps of `product`, in place and block by block.

A processor multiplies matrices faster than it reads them, so that what costs time beside the
products is every array that passes through the cache once more. Here the arrays are allocated once
for all iterations. They are transposed, columns of F × components: so both products run about as
fast as those of square matrices, and x∘x, x and m are whole blocks of memory.

For NumPy arrays of numbers alone, without categories and with ignorable missingness; `product` has
the formulas, and serves all else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pckid._arrays import exponential
from pckid.mixture import product
from pckid.mixture.mass import holds_rows, log_weights
from pckid.mixture.product import Parameters
from pckid.mixture.segments import slices
from pckid.mixture.table import Table

_CACHE_LINE = 64
_BLOCK_BYTES = 1 << 19
_PART_BYTES = 1 << 18
_LOG_2PI = math.log(2 * math.pi)

# Takes scores of some rows (g, n) to their responsibilities; not the stacks' `segments.Share`.
_Share = Callable[[np.ndarray], np.ndarray]


class Columns(NamedTuple):
    """The statistics of all rows, transposed, and the values times −2.

    So the log-density is a x∘x + a μ (−2 x) + a μ∘μ, up to its constant, with a = −½ / σ².
    """

    F: np.ndarray  # (n_columns, n_samples), [x∘x, −2 x, m, 1] or with patterns in place of [m, 1]
    link: np.ndarray | None  # (n_patterns, n_features + 1); None: the last columns are [m, 1]
    n_features: int


class _Room(NamedTuple):
    """The arrays of one run, for c columns of F, n rows, d features and g components."""

    F: np.ndarray  # (c, n)
    weights: np.ndarray | None  # (n,)
    coefficients: np.ndarray  # (c, g), B
    sums: np.ndarray  # (c, g), F Rᵀ
    means: np.ndarray  # (d, g)
    variances: np.ndarray  # (d, g)
    squares: np.ndarray  # (d, g), second moments
    work: np.ndarray  # (some of d, g)
    spare: np.ndarray  # (some of d, g)


class _Mixtures(NamedTuple):
    """Which components each of the mixtures side by side owns."""

    slices: list[slice]
    owned: np.ndarray  # (n_mixtures, g), 1 or 0

    @classmethod
    def of(cls, sizes: tuple[int, ...], dtype: np.dtype) -> _Mixtures:
        return cls(slices(sizes), np.repeat(np.eye(len(sizes), dtype=dtype), sizes, axis=1))

    def highest(self, scores: np.ndarray) -> np.ndarray:
        """Find the highest score of each row in each mixture, (n_mixtures, n) from (g, n)."""
        top = np.empty((len(self.slices), scores.shape[1]), dtype=scores.dtype)
        for row, mine in zip(top, self.slices, strict=True):
            np.maximum.reduce(scores[mine], axis=0, out=row)
        return top


def columns(table: Table) -> Columns:
    """Lay out the statistics of a table of numbers."""
    stats = product.statistics(table)
    F = np.ascontiguousarray(stats.rows[0].T)
    F[stats.n_features : 2 * stats.n_features] *= -2
    return Columns(F, stats.link, stats.n_features)


def train(
    data: Columns,
    rows: np.ndarray,
    chosen: np.ndarray,
    sizes: tuple[int, ...],
    *,
    n_iter: int,
    floor: float,
    weights: np.ndarray | None = None,
) -> Parameters:
    """Train the mixtures of one subsample: the paper's start, then a fixed number of steps.

    Parameters
    ----------
    data : Columns
    rows : array of shape (n_rows,)
        The subsample.
    chosen : array of shape (n_components,)
        Which of these rows are the first centres.
    sizes : tuple of int
        The numbers of components of the mixtures, whose sum is n_components.
    n_iter : int
    floor : float
        The smallest variance.
    weights : array of shape (n_rows,), default=None
        Weights of the rows, of mean 1.
    """
    mixtures = _Mixtures.of(sizes, data.F.dtype)
    room = _furnish(data, rows, weights, len(chosen))
    total = _start(room, data, chosen, mixtures, floor)
    for _ in range(n_iter):
        _write_coefficients(room, data, total)
        _sum_up(room, room.coefficients, room.F, lambda joint: _posterior(joint, mixtures))
        total = _update(room, data, floor)
    means, variances = (np.ascontiguousarray(a.T)[None] for a in (room.means, room.variances))
    logs = log_weights(total, len(rows))[None]
    return Parameters(logs, means, variances, means[..., :0], means[..., :0])


def _furnish(data: Columns, rows: np.ndarray, weights: np.ndarray | None, g: int) -> _Room:
    """Allocate the arrays, each from the start of a cache line, and gather the rows."""
    c, d = len(data.F), data.n_features
    some = math.ceil(d / math.ceil(d * g * data.F.itemsize / _PART_BYTES))
    shapes = [(c, g), (c, g), (d, g), (d, g), (d, g), (some, g), (some, g)]
    arrays = (_aligned(shape, data.F.dtype) for shape in shapes)
    return _Room(np.take(data.F, rows, axis=1), weights, *arrays)


def _aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Allocate an array whose first entry begins a cache line."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + _CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + size].view(dtype).reshape(shape)


def _start(
    room: _Room, data: Columns, chosen: np.ndarray, mixtures: _Mixtures, floor: float
) -> np.ndarray:
    """Take one k-means iteration and the empirical moments of the mean-imputed rows.

    That is a step with responsibilities of 0 and 1, from means and second moments of zero. A
    component that won no rows stays at its centre, with the variances of the whole table.
    """
    x = room.F[data.n_features : 2 * data.n_features]
    centers = x[:, chosen] / -2
    offset = np.sum(centers * centers, axis=0)[:, None]

    def assign(scores: np.ndarray) -> np.ndarray:
        scores -= offset
        return _winner(scores, mixtures)

    room.means[...], room.squares[...] = 0, 0
    _sum_up(room, -centers, x, assign)
    total = _update(room, data, floor)
    empty = total <= 0
    room.means[:, empty], room.variances[:, empty] = centers[:, empty], max(1.0, floor)
    room.squares[:, empty] = centers[:, empty] ** 2 + max(1.0, floor)
    return total


def _write_coefficients(room: _Room, data: Columns, total: np.ndarray) -> None:
    """Write B, so that Bᵀ F is the log-joint."""
    B, d, link = room.coefficients, data.n_features, data.link
    tail = B[-1:] if link is None else B[2 * d :]
    tail[...] = log_weights(total, room.F.shape[1])
    for part in _parts(room):
        means, variances = room.means[part], room.variances[part]
        seen, squared = room.work[: len(means)], room.spare[: len(means)]
        scaled = np.multiply(
            means, np.divide(-0.5, variances, out=B[:d][part]), out=B[d : 2 * d][part]
        )
        np.log(variances, out=seen)
        seen += _LOG_2PI
        seen *= -0.5
        seen += np.multiply(means, scaled, out=squared)
        if link is None:
            B[2 * d : -1][part] = seen
        else:
            tail += link[:, part] @ seen


def _sum_up(room: _Room, B: np.ndarray, F: np.ndarray, share: _Share) -> None:
    """Sum all columns of F weighted by what `share` makes of Bᵀ F, over blocks of rows."""
    n, g = F.shape[1], B.shape[1]
    size = math.ceil(n / math.ceil(n * g * F.itemsize / _BLOCK_BYTES))
    for start in range(0, n, size):
        block = slice(start, start + size)
        resp = share(B.T @ F[:, block])
        if room.weights is not None:
            resp *= room.weights[block]
        if start == 0:
            np.matmul(room.F[:, block], resp.T, out=room.sums)
        else:
            np.add(room.sums, room.F[:, block] @ resp.T, out=room.sums)


def _posterior(joint: np.ndarray, mixtures: _Mixtures) -> np.ndarray:
    """Normalise the log-joint (g, n) over the components of each mixture, into itself."""
    joint -= mixtures.owned.T @ mixtures.highest(joint)
    resp = exponential(joint)
    total = mixtures.owned @ resp
    resp *= mixtures.owned.T @ np.divide(1, total, out=total)
    return resp


def _winner(scores: np.ndarray, mixtures: _Mixtures) -> np.ndarray:
    """Give each row wholly to the first of its highest scores (g, n), in each mixture."""
    for mixture, top in zip(mixtures.slices, mixtures.highest(scores), strict=True):
        mine = scores[mixture]
        best = mine == top
        if np.count_nonzero(best) > scores.shape[1]:
            best = np.arange(len(mine))[:, None] == np.argmax(mine, axis=0)
        scores[mixture] = best
    return scores


def _update(room: _Room, data: Columns, floor: float) -> np.ndarray:
    """Turn the sums into means, variances and second moments.

    Returns
    -------
    total : array of shape (n_components,)
        The sums of the responsibilities.
    """
    sums, d, link = room.sums, data.n_features, data.link
    tail = sums[2 * d :]
    total = tail[-1].copy() if link is None else link[:, -1] @ tail
    alive = holds_rows(total)
    share = np.where(alive, 1 / np.where(alive, total, 1), 0)
    tail *= share
    for part in _parts(room):
        means, variances, squares = room.means[part], room.variances[part], room.squares[part]
        unseen, squared = room.work[: len(means)], room.spare[: len(means)]
        np.subtract(1, tail[part] if link is None else link[:, part].T @ tail, out=unseen)
        means *= unseen
        means += np.multiply(sums[d : 2 * d][part], -0.5 * share, out=squared)
        squares *= unseen
        squares += np.multiply(sums[:d][part], share, out=squared)
        np.multiply(means, means, out=squared)
        np.subtract(squares, squared, out=variances)
        np.maximum(variances, floor, out=variances)
        np.add(variances, squared, out=squares)
    return total


def _parts(room: _Room) -> list[slice]:
    """Cut the features into parts of which all arrays stay in the cache."""
    d, size = len(room.means), len(room.work)
    return [slice(start, min(start + size, d)) for start in range(0, d, size)]
