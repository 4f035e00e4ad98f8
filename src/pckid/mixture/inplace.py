"""EM of the product family on a CPU: the steps of `product`, in place and block by block.

A processor multiplies matrices faster than it reads them, so that what costs time beside the
products is every array that passes through the cache once more. Here the arrays are allocated once
for all iterations. They are transposed, columns of F × components: so both products run about as
fast as those of square matrices, and x∘x, x and m are whole blocks of memory.

The posteriors of trained mixtures are computed likewise, straight into the feature map.

For NumPy arrays of numbers alone, without categories and with ignorable missingness; `product` has
the formulas, and serves all else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pckid._arrays import exponential
from pckid.mixture import product
from pckid.mixture.mass import holds_rows, log_weights
from pckid.mixture.product import Parameters
from pckid.mixture.table import Table
from pckid.mixture.workspace import WIDE, Block, Columns, Part, Room, aligned, furnish

# Takes the scores of a block to responsibilities, in place; not the stacks' `segments.Share`.
_Share = Callable[[Block], None]


def columns(table: Table) -> Columns:
    """Lay out the statistics of a table of numbers."""
    stats = product.statistics(table)
    F, d = np.ascontiguousarray(stats.rows[0].T), stats.n_features
    F[:d] *= -0.5
    if stats.link is None:
        F[2 * d : -1] *= -0.5
    return Columns(F, stats.link, d)


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
    room = furnish(data, rows, weights, sizes, floor)
    total = _start(room, chosen, floor)
    if n_iter:
        _write_coefficients(room, total)
    for left in reversed(range(n_iter)):
        _sum_up(room, room.coefficients, slice(None), _posterior)
        total = _update(room, then_write=left > 0)
    means, variances = (np.ascontiguousarray(a.T)[None] for a in (room.means, room.variances))
    logs = log_weights(total, len(rows))[None]
    return Parameters(logs, means, variances, means[..., :0], means[..., :0])


def write_posteriors(data: Columns, params: Parameters, scale: float, out: np.ndarray) -> None:
    """Write the posteriors of all rows under a stack of mixtures, times `scale`.

    Parameters
    ----------
    data : Columns
    params : Parameters
        Of m mixtures with g components each.
    scale : float
    out : array of shape (m · g, n_samples)
    """
    m, g = params.log_weights.shape
    # Few mixtures at once, whose coefficients and posteriors stay in the cache.
    size = max(1, min(m, WIDE // g))
    B = aligned((size * g, len(data.F)), data.F.dtype)
    top = aligned((size, data.F.shape[1]), data.F.dtype)
    for first in range(0, m, size):
        some = slice(first, min(first + size, m))
        count = some.stop - first
        target = out[first * g : some.stop * g]
        _write_rows(data, Parameters(*(array[some] for array in params)), B[: count * g])
        np.matmul(B[: count * g], data.F, out=target)
        _normalise(target.reshape(count, g, -1), top[:count], scale)


def _write_rows(data: Columns, params: Parameters, B: np.ndarray) -> None:
    """Write the coefficients (m · g, n_columns) of a stack, so that B F is its log-joint.

    That is up to a constant of each row.
    """
    d, link = data.n_features, data.link
    means, variances = (a.reshape(-1, d) for a in (params.means, params.covariances))
    logs = params.log_weights.reshape(-1, 1)
    scaled = B[:, d : 2 * d]
    np.multiply(means, np.divide(1, variances, out=B[:, :d]), out=scaled)
    seen = np.log(variances)
    seen += means * scaled
    if link is None:
        B[:, 2 * d : -1], B[:, -1:] = seen, logs
    else:
        np.add(logs, seen @ (-0.5 * link[:, :-1].T), out=B[:, 2 * d :])


def _normalise(joint: np.ndarray, top: np.ndarray, scale: float) -> None:
    """Turn the log-joint (m, g, n) of m mixtures into posteriors times `scale`.

    `top` (m, n) is room for what is one number for each mixture and row.
    """
    np.maximum.reduce(joint, axis=1, out=top)
    joint -= top[:, None, :]
    exponential(joint)
    np.add.reduce(joint, axis=1, out=top)
    joint *= np.divide(scale, top, out=top)[:, None, :]


def _start(room: Room, chosen: np.ndarray, floor: float) -> np.ndarray:
    """Take one k-means iteration and the empirical moments of the mean-imputed rows.

    That is a step with responsibilities of 0 and 1, from means and second moments of zero. A
    component that won no rows stays at its centre, with the variances of the whole table.
    """
    d = len(room.means)
    centers = np.take(room.F[d : 2 * d], chosen, axis=1)
    offset = 0.5 * np.einsum("dg,dg->g", centers, centers)[:, None]

    def assign(block: Block) -> None:
        np.subtract(block.scores, offset, out=block.scores)
        _give_to_winners(block)

    room.means[...], room.squares[...] = 0, 0
    _sum_up(room, centers, slice(d, 2 * d), assign)
    total = _update(room, then_write=False)
    if (empty := total <= 0).any():
        spread = max(1.0, floor)
        room.means[:, empty], room.variances[:, empty] = centers[:, empty], spread
        room.squares[:, empty] = centers[:, empty] ** 2 + spread
    return total


def _sum_up(room: Room, B: np.ndarray, which: slice, share: _Share) -> None:
    """Sum all columns of F weighted by what `share` makes of Bᵀ F, over blocks of rows.

    B has coefficients for some columns of F only, those that `which` says.
    """
    for i, block in enumerate(room.blocks):
        np.matmul(B.T, block.F[which], out=block.scores)
        share(block)
        if i == 0:
            np.matmul(block.F, block.scores.T, out=room.sums)
        else:
            np.add(room.sums, block.F @ block.scores.T, out=room.sums)


def _posterior(block: Block) -> None:
    """Normalise the log-joint over the components of each mixture."""
    for mine, top, _ in block.mixtures:
        np.maximum.reduce(mine, axis=0, out=top)
    np.subtract(block.scores, block.spread_out(), out=block.scores)
    exponential(block.scores)
    for mine, top, ones in block.mixtures:
        np.dot(ones, mine, out=top)
    np.divide(1 if block.weights is None else block.weights, block.top, out=block.top)
    np.multiply(block.scores, block.spread_out(), out=block.scores)


def _give_to_winners(block: Block) -> None:
    """Give each row wholly to the first of its highest scores, in each mixture."""
    for mine, top, _ in block.mixtures:
        np.maximum.reduce(mine, axis=0, out=top)
        best = mine == top
        if np.count_nonzero(best) > len(top):
            best = np.arange(len(mine))[:, None] == np.argmax(mine, axis=0)
        mine[...] = best
    if block.weights is not None:
        np.multiply(block.scores, block.weights, out=block.scores)


def _update(room: Room, then_write: bool) -> np.ndarray:
    """Turn the sums into means, variances and second moments, and these into coefficients.

    Both in one go over the parts, while they are in the cache.

    Returns
    -------
    total : array of shape (n_components,)
        The sums of the responsibilities.
    """
    d, link = len(room.means), room.link
    tail = room.sums[2 * d :]
    total = tail[-1].copy() if link is None else link[:, -1] @ tail
    alive = holds_rows(total)
    share = np.where(alive, 1 / np.where(alive, total, 1), 0)
    # With patterns, one product gives what is unseen, 1 − Σ r m / Σ r.
    unseen = None if link is None else np.concatenate([tail * -share, np.ones_like(tail[:1])])
    if then_write:
        _write_constants(room, total)
    for part in room.parts:
        _update_part(part, share, unseen)
        if then_write:
            _write_part(part, room)
    return total


def _update_part(part: Part, share: np.ndarray, unseen: np.ndarray | None) -> None:
    """Turn the sums of some features into means, variances and second moments."""
    means, squares, variances, missed, squared = (
        part.means, part.squares, part.precisions, part.work, part.spare,
    )  # fmt: skip
    if unseen is None:
        np.multiply(part.seen, 2 * share, out=missed)
        missed += 1
    else:
        np.matmul(part.seen, unseen, out=missed)
    means *= missed
    means += np.multiply(part.sums, share, out=squared)
    squares *= missed
    squares += np.multiply(part.sums_of_squares, -2 * share, out=squared)
    np.multiply(means, means, out=squared)
    np.subtract(squares, squared, out=variances)
    np.maximum(variances, part.floor, out=variances)
    np.add(variances, squared, out=squares)


def _write_coefficients(room: Room, total: np.ndarray) -> None:
    """Write B, so that Bᵀ F is the log-joint up to a constant of each row."""
    _write_constants(room, total)
    for part in room.parts:
        _write_part(part, room)


def _write_constants(room: Room, total: np.ndarray) -> None:
    """Write the coefficients of 1, or of the patterns as far as they do not depend on features."""
    last = room.coefficients[-1:] if room.link is None else _tail(room)
    last[...] = log_weights(total, room.F.shape[1])


def _write_part(part: Part, room: Room) -> None:
    """Write the coefficients of some features, in place of their variances."""
    seen = part.constants if room.link is None else part.work
    np.log(part.precisions, out=seen)
    np.divide(1, part.precisions, out=part.precisions)
    np.multiply(part.means, part.precisions, out=part.scaled)
    seen += np.multiply(part.means, part.scaled, out=part.spare)
    if room.link is not None:
        tail = _tail(room)
        tail += part.constants @ seen


def _tail(room: Room) -> np.ndarray:
    """Return the coefficients of the patterns (n_patterns, g)."""
    return room.coefficients[2 * len(room.means) :]
