"""The arrays in which EM runs in place: allocated once for all iterations, cut for the cache.

The rows are cut into blocks, of which the responsibilities stay in the cache, and the features
into parts, of which the parameters do. All views into the arrays are made beforehand too: threads
wait for each other whenever they make one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pckid.mixture.segments import slices

# About so many components side by side make matrix products as fast as they get.
WIDE = 240
_CACHE_LINE = 64
_BLOCK_BYTES = 1 << 19
_PART_BYTES = 1 << 18


class Columns(NamedTuple):
    """The statistics of all rows, transposed, squares and indicators times −½.

    With p = 1 / σ², the log-density is −½ x∘x p + x p μ − ½ m (p μ∘μ + log σ²), up to a constant
    that is the same for all components.
    """

    F: np.ndarray  # (n_columns, n_samples), [−½ x∘x, x, −½ m, 1], or patterns for [−½ m, 1]
    link: np.ndarray | None  # (n_patterns, n_features + 1); None: the last columns are [−½ m, 1]
    n_features: int


class Block(NamedTuple):
    """Some n of the rows, and room for their k mixtures of g components in all."""

    F: np.ndarray  # (c, n)
    weights: np.ndarray | None  # (n,)
    scores: np.ndarray  # (g, n), then the responsibilities
    spread: np.ndarray  # (g, n)
    top: np.ndarray  # (k, n)
    mixtures: list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # scores, row of `top`, ones (g,)
    owner: np.ndarray  # (g,), the mixture of each component

    def spread_out(self) -> np.ndarray:
        """Repeat each mixture's row of `top` for its components, (g, n)."""
        # No index is out of range; "clip" spares the copy that is made in case one is.
        return np.take(self.top, self.owner, axis=0, out=self.spread, mode="clip")


class Part(NamedTuple):
    """Some d of the features, and what the arrays hold of them.

    Where rows have few patterns of missingness, `seen` is instead (d, n_patterns + 1), whether
    each pattern has the feature, and 1; and `constants` is (n_patterns, d), the same times −½.
    """

    means: np.ndarray  # (d, g)
    squares: np.ndarray  # (d, g), second moments
    sums_of_squares: np.ndarray  # (d, g), of −½ x∘x
    sums: np.ndarray  # (d, g), of x
    seen: np.ndarray  # (d, g), sums of −½ m
    precisions: np.ndarray  # (d, g), coefficients of −½ x∘x; variances until they are written
    scaled: np.ndarray  # (d, g), coefficients of x
    constants: np.ndarray  # (d, g), coefficients of −½ m
    floor: np.ndarray  # (d, g), the smallest variance
    work: np.ndarray  # (d, g)
    spare: np.ndarray  # (d, g)


class Room(NamedTuple):
    """The arrays of one run, for c columns of F, n rows, d features and g components."""

    F: np.ndarray  # (c, n)
    coefficients: np.ndarray  # (c, g), B
    sums: np.ndarray  # (c, g), F Rᵀ
    means: np.ndarray  # (d, g)
    squares: np.ndarray  # (d, g)
    link: np.ndarray | None
    blocks: list[Block]
    parts: list[Part]

    @property
    def variances(self) -> np.ndarray:
        """The variances (d, g), in whose place the coefficients are written."""
        return self.coefficients[: len(self.means)]


def furnish(
    data: Columns,
    rows: np.ndarray,
    weights: np.ndarray | None,
    sizes: tuple[int, ...],
    floor: float,
) -> Room:
    """Allocate the arrays, and gather the rows (n,) with their weights (n,)."""
    dtype, g, d = data.F.dtype, sum(sizes), data.n_features
    F = aligned((len(data.F), len(rows)), dtype)
    np.take(data.F, rows, axis=1, out=F, mode="clip")
    shapes = [(len(F), g), (len(F), g), (d, g), (d, g)]
    B, sums, means, squares = (aligned(shape, dtype) for shape in shapes)
    blocks = _blocks(F, weights, sizes)
    parts = _parts(data.link, B, sums, means, squares, floor)
    return Room(F, B, sums, means, squares, data.link, blocks, parts)


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Allocate an array whose first entry begins a cache line."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + _CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + size].view(dtype).reshape(shape)


def _blocks(F: np.ndarray, weights: np.ndarray | None, sizes: tuple[int, ...]) -> list[Block]:
    """Cut the rows into blocks that share their room."""
    n, g, k = F.shape[1], sum(sizes), len(sizes)
    size = math.ceil(n / math.ceil(n * g * F.itemsize / _BLOCK_BYTES))
    memory = [aligned((count * size,), F.dtype) for count in (g, g, k)]
    owner = np.repeat(np.arange(k), sizes)
    ones = [np.ones(count, dtype=F.dtype) for count in sizes]
    blocks = []
    for start in range(0, n, size):
        mine = slice(start, min(start + size, n))
        m = mine.stop - start
        scores, spread, top = (a[: len(a) // size * m].reshape(-1, m) for a in memory)
        mixtures = list(zip((scores[each] for each in slices(sizes)), top, ones, strict=True))
        own = None if weights is None else weights[mine]
        blocks.append(Block(F[:, mine], own, scores, spread, top, mixtures, owner))
    return blocks


def _parts(
    link: np.ndarray | None,
    B: np.ndarray,
    sums: np.ndarray,
    means: np.ndarray,
    squares: np.ndarray,
    floor: float,
) -> list[Part]:
    """Cut the features into parts that share what is not kept of them."""
    d, g = means.shape
    # So many features fill whole cache lines.
    unit = _CACHE_LINE // means.itemsize
    size = min(d, math.ceil(_PART_BYTES / (unit * g * means.itemsize)) * unit)
    work, spare, least = (aligned((size, g), means.dtype) for _ in range(3))
    least[...] = floor
    if link is None:
        seen, constants = sums[2 * d : -1], B[2 * d : -1]
    else:
        seen = np.concatenate([link[:, :-1].T, np.ones((d, 1), dtype=link.dtype)], axis=1)
        constants = -0.5 * link[:, :-1]
    parts = []
    for start in range(0, d, size):
        mine = slice(start, min(start + size, d))
        n = mine.stop - start
        part = Part(
            means=means[mine],
            squares=squares[mine],
            sums_of_squares=sums[:d][mine],
            sums=sums[d : 2 * d][mine],
            seen=seen[mine],
            precisions=B[:d][mine],
            scaled=B[d : 2 * d][mine],
            constants=constants[mine] if link is None else constants[:, mine],
            floor=least[:n],
            work=work[:n],
            spare=spare[:n],
        )
        parts.append(part)
    return parts
