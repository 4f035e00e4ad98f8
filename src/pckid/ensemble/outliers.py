"""How unusual rows are: how far their values lie from what the mixtures of an ensemble expect."""

from __future__ import annotations

from typing import Any

from pckid._utils.arrays import Array, at_least, namespace
from pckid.ensemble.feature_map import Kernel, for_row_blocks, mixture_scales
from pckid.input.table import Table, block
from pckid.mixture import em
from pckid.mixture.families import FAMILIES


def outlier_score(kernel: Kernel, table: Table, jobs: int) -> Array:
    """Compute how unlike all components rows are, in standard deviations.

    With s the `surprise` of a row of n observed values, which is about χ²(n) / n where the mixtures
    are right, the score is (s^⅓ − 1 + c) / √c with c = 2 / (9 n): about standard normal (Wilson and
    Hilferty 1931), whatever n is.

    Parameters
    ----------
    kernel : Kernel
    table : Table
    jobs : int

    Returns
    -------
    scores : array of shape (n_samples,)
        NaN for a row with nothing observed.
    """
    xp = namespace(table.values)
    count = xp.sum(xp.astype(table.observed, table.values.dtype), axis=1)
    c = 2 / (9 * xp.where(count > 0, count, 1.0))
    found = (surprise(kernel, table, jobs) ** (1 / 3) - 1 + c) / xp.sqrt(c)
    return xp.where(count > 0, found, xp.nan)


def surprise(kernel: Kernel, table: Table, jobs: int) -> Array:
    """Compute how far the observed values of rows are from what the mixtures expect.

    The mean over mixtures, weighted as in the kernel, of Σ_g γ_g D_g / n for a row with n values
    observed. D_g sums (x − μ)² / σ² over its numbers and 1 − 2 log p − 2 H over its categories, H
    the entropy of the column in the component: each is 1 on average where the component is right.
    Of covariance matrices the variances count.

    Parameters
    ----------
    kernel : Kernel
    table : Table
    jobs : int

    Returns
    -------
    surprise : array of shape (n_samples,)
        0 for a row with nothing observed.
    """
    xp = namespace(table.values)
    family = FAMILIES[kernel.ensemble.covariance_type]

    def compute(start: int, stop: int) -> Array:
        rows = block(table, start, stop)
        stats = family.statistics(rows)
        count = xp.sum(xp.astype(rows.observed, rows.values.dtype), axis=1)
        total: Any = 0.0
        for stack, scale in zip(kernel.ensemble.stacks, mixture_scales(kernel), strict=True):
            resp = em.posterior(family.log_joint(stats, stack))
            resp = xp.reshape(resp, (-1, rows.n_samples))
            total = total + scale**2 * xp.sum(resp * _deviations(stack, rows), axis=0)
        return at_least(total, 0.0) / xp.where(count > 0, count, 1.0)

    return xp.concat(for_row_blocks(compute, kernel, table, jobs))


def _deviations(stack: Any, rows: Table) -> Array:
    """Sum the deviations D of rows from each component of a stack, of shape (m · g, n)."""
    xp, d = namespace(rows.values), rows.n_features
    variances = stack.covariances
    variances = xp.linalg.diagonal(variances) if variances.ndim == 4 else variances
    means, precisions = (xp.reshape(part, (-1, d)) for part in (stack.means, 1 / variances))
    seen = xp.astype(rows.observed, rows.values.dtype)
    x, transposed = rows.values, xp.matrix_transpose
    found = precisions @ transposed(x * x) - 2 * ((means * precisions) @ transposed(x))
    found = at_least(found + (means * means * precisions) @ transposed(seen[:, :d]), 0.0)
    column = rows.margins.column
    if column.shape[0] == 0:
        return found
    chances = xp.reshape(stack.categories, (-1, column.shape[0]))
    logs = xp.log(chances)
    for place in range(rows.codes.shape[1]):
        mine = xp.nonzero(column == place)[0]
        entropy = -xp.sum(xp.take(chances * logs, mine, axis=1), axis=1)
        codes = rows.codes[:, place]
        own = xp.take(logs, xp.where(codes < 0, 0, codes), axis=1)
        found = found + seen[:, d + place] * (1 - 2 * own - 2 * entropy[:, None])
    return found
