"""Inverses of many small matrices at once, on any array namespace.

The matrices lie along the last axes, so that every step of the elimination is one operation on long
vectors: for matrices of ten rows that is far faster than a call of LAPACK for each of them.
"""

from __future__ import annotations

from typing import NamedTuple

from pckid._utils.arrays import Array, namespace


class Solved(NamedTuple):
    """What the elimination finds of a batch of matrices A (s, s, ...)."""

    inverse: Array  # (s, s, ...), A⁻¹
    solutions: Array  # (s, r, ...), A⁻¹ B
    log_det: Array  # (...), log|A|


def solve(matrices: Array, right: Array) -> Solved:
    """Invert positive definite matrices by Gauss–Jordan elimination.

    No pivots are searched for: on positive definite matrices the elimination is stable without
    (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 14.4).

    Parameters
    ----------
    matrices : array of shape (s, s, ...)
        A, positive definite.
    right : array of shape (s, r, ...)
        B, the right-hand sides.
    """
    xp = namespace(matrices)
    s = matrices.shape[0]
    work = xp.concat([matrices, right], axis=1)
    log_det = xp.zeros_like(work[0, 0, ...]) if s else xp.sum(matrices, axis=(0, 1))
    for k in range(s):
        column = xp.asarray(work[:, k, ...], copy=True)
        pivot = xp.asarray(column[k, ...], copy=True)
        log_det = log_det + xp.log(pivot)
        # With the unit vector in place of column k and one less at the pivot, a single rank-one
        # update leaves the row divided by the pivot, and the inverse where the column was.
        work[:, k, ...] = 0.0
        work[k, k, ...] = 1.0
        row = work[k, ...] / pivot
        column[k, ...] -= 1.0
        work -= column[:, None, ...] * row
    return Solved(work[:, :s, ...], work[:, s:, ...], log_det)
