"""How unusual rows are: how far their values lie from what the mixtures of an ensemble expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pckid._utils.arrays import Array, clip_min, device_of, namespace
from pckid.ensemble.feature_map import (
    Kernel,
    Projection,
    column_scales,
    for_row_blocks,
    project,
    project_features,
)
from pckid.input.table import Table, block


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
    return _score(surprise(kernel, table, jobs), table)


def project_and_score(
    kernel: Kernel, projection: Projection, table: Table, jobs: int
) -> tuple[Array, Array]:
    """Compute the rows' coordinates as `project` does, and their outlier scores, in one pass.

    Parameters
    ----------
    kernel : Kernel
    projection : Projection
    table : Table
    jobs : int

    Returns
    -------
    coordinates : array of shape (n_samples, n_components)
    scores : array of shape (n_samples,)
        As from `outlier_score`.
    """
    xp = namespace(table.values)
    degree = [] if projection.degree is None else [projection.degree[:, None]]
    n_taken = projection.basis.shape[1] + len(degree)
    basis = xp.concat(
        [projection.basis, *degree, _deviation_functionals(kernel, table).basis], axis=1
    )

    def compute(start: int, stop: int) -> tuple[Array, Array]:
        rows = block(table, start, stop)
        found = project(kernel, Projection(basis, None, basis[0, :]), rows, 1)
        points = found[:, : projection.basis.shape[1]]
        points = points / found[:, n_taken - 1 : n_taken] if degree else points
        return points, _combine(found[:, n_taken:], rows)

    parts = zip(*for_row_blocks(compute, kernel, table, jobs), strict=True)
    points, surprises = (xp.concat(part, axis=0) for part in parts)
    return points, _score(surprises, table)


def score_features(kernel: Kernel, features: Array, table: Table, jobs: int) -> Array:
    """Compute the outlier scores of rows whose features are at hand.

    Parameters
    ----------
    kernel : Kernel
    features : array of shape (n_columns, n_samples)
        Φᵀ of the rows of the table.
    table : Table
    jobs : int

    Returns
    -------
    scores : array of shape (n_samples,)
        As from `outlier_score`.
    """
    deviations = _deviation_functionals(kernel, table)

    def compute(start: int, stop: int) -> Array:
        found = project_features(features[:, start:stop], deviations)
        return _combine(found, block(table, start, stop))

    parts = for_row_blocks(compute, kernel, table, jobs)
    return _score(namespace(features).concat(parts, axis=0), table)


def _score(surprises: Array, table: Table) -> Array:
    """Turn the surprise of rows (n,) into standard deviations; NaN if nothing is observed."""
    xp = namespace(surprises)
    count = xp.sum(xp.astype(table.observed, surprises.dtype), axis=1)
    c = 2 / (9 * xp.where(count > 0, count, 1.0))
    return xp.where(count > 0, (surprises ** (1 / 3) - 1 + c) / xp.sqrt(c), xp.nan)


def surprise(kernel: Kernel, table: Table, jobs: int) -> Array:
    """Compute how far the observed values of rows are from what the mixtures expect.

    The mean over mixtures, weighted as in the kernel, of Σ_g γ_g D_g / n for a row with n values
    observed. D_g sums (x − μ)² / σ² over its numbers and 1 − 2 log p − 2 H over its categories, H
    the entropy of the column in the component: each is 1 on average where the component is right.
    Numbers that take two values count as categories.
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
    deviations = _deviation_functionals(kernel, table)

    def compute(start: int, stop: int) -> Array:
        rows = block(table, start, stop)
        return _combine(project(kernel, deviations, rows, 1), rows)

    return xp.concat(for_row_blocks(compute, kernel, table, jobs))


def _deviation_functionals(kernel: Kernel, table: Table) -> Projection:
    """Take a row's posteriors to the means over components of what the deviations consist of.

    Side by side: 1 / σ², μ / σ² and μ² / σ² of each column of numbers, log p of each category, and
    H of each column of categories.
    """
    basis = _deviation_coefficients(kernel.ensemble.stacks, table)
    basis *= column_scales(kernel, table.values)[:, None]
    return Projection(basis, None, basis[0, :])


def _deviation_coefficients(stacks: Sequence[Any], table: Table) -> Array:
    """Lay out what `_deviation_functionals` takes of all components (n_columns, width)."""
    xp = namespace(table.values)

    def flat(parts: list[Array]) -> Array:
        shapes = [(part.shape[0] * part.shape[1], part.shape[2]) for part in parts]
        return xp.concat([xp.reshape(p, s) for p, s in zip(parts, shapes, strict=True)], axis=0)

    variances = [stack.covariances for stack in stacks]
    variances = [xp.linalg.diagonal(v) if v.ndim == 4 else v for v in variances]
    means, precisions = flat([stack.means for stack in stacks]), 1 / flat(variances)
    parts = [precisions, means * precisions, means * means * precisions]
    if table.margins.higher.shape[0]:
        parts = _deviations_of_two_values(means, table.margins.higher, parts)
    column = table.margins.column
    if column.shape[0]:
        chances = flat([stack.categories for stack in stacks])
        logs = xp.log(chances)
        columns = xp.arange(table.codes.shape[1], dtype=column.dtype, device=device_of(chances))
        own = xp.astype(column[:, None] == columns, chances.dtype)
        parts += [logs, -(chances * logs) @ own]
    return xp.concat(parts, axis=1)


def _deviations_of_two_values(means: Array, higher: Array, others: list[Array]) -> list[Array]:
    """Replace the coefficients of x², −2 x and m (m · g, d) in columns that take two values.

    These deviate as categories do. With q the share of the higher value and r = √(q (1 − q)), a
    component of mean μ has it with probability p = q + r μ. The logarithm of a value's probability
    is linear in x with slope s = r log(p / (1 − p)), so that 1 − 2 log p − 2 H is 1 − 2 s (x − μ).
    """
    xp, two = namespace(means), higher > 0
    share = xp.where(two, higher, 0.5)
    root = xp.sqrt(share * (1 - share))
    eps = float(xp.finfo(means.dtype).eps)
    chance = xp.clip(share + means * root, eps, 1 - eps)
    slope = root * xp.log(chance / (1 - chance))
    mine = (xp.zeros_like(means), slope, 1 + 2 * slope * means)
    return [xp.where(two, new, old) for new, old in zip(mine, others, strict=True)]


def _combine(found: Array, rows: Table) -> Array:
    """Add the deviations of each row up from the functionals (n, width), per observed value."""
    xp, d, x = namespace(found), rows.n_features, rows.values
    seen = xp.astype(rows.observed, x.dtype)
    squares = x * x * found[:, :d] - 2 * x * found[:, d : 2 * d]
    total = clip_min(xp.sum(squares + seen[:, :d] * found[:, 2 * d : 3 * d], axis=1), 0.0)
    n_categories = rows.margins.column.shape[0]
    if n_categories:
        logs, entropies = found[:, 3 * d : 3 * d + n_categories], found[:, 3 * d + n_categories :]
        codes = rows.codes
        own = xp.take_along_axis(logs, xp.where(codes < 0, 0, codes), axis=1)
        total = total + xp.sum(seen[:, d:] * (1 - 2 * own - 2 * entropies), axis=1)
    count = xp.sum(seen, axis=1)
    return clip_min(total, 0.0) / xp.where(count > 0, count, 1.0)
