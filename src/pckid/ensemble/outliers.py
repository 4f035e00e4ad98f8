"""How unusual rows are: how far their values lie from what the mixtures of an ensemble expect."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    clip_min,
    device_of,
    gather,
    is_host,
    namespace,
    take_along,
)
from pckid.ensemble.feature_map import (
    HOST_BLOCK,
    Kernel,
    Projection,
    apply_functionals,
    column_scales,
    for_row_blocks,
    mixture_scales,
)
from pckid.input.table import Margins, Table, block

# What is taken of posteriors is three numbers a column: of a wide table, few rows or columns of
# them are held at a time.
_NUMBERS_AT_ONCE = 1 << 21
# A GPU has the memory for more of them, and waits for the host with less.
_NUMBERS_AT_ONCE_DEVICE = 1 << 26


def outlier_score(kernel: Kernel, table: Table, jobs: int) -> Array:
    """Compute how unlike all components rows are, in standard deviations.

    How far the n observed values of a row are from what the mixtures expect is s, the mean over
    mixtures, weighted as in the kernel, of Σ_g γ_g D_g / n. D_g sums (x − μ)² / σ² over its numbers
    and 1 − 2 log p − 2 H over its categories, H the entropy of the column in the component: each is
    1 on average where the component is right. Numbers that take two values count as categories. Of
    covariance matrices the variances count.

    Where the mixtures are right, s is about χ²(n) / n, and the score, (s^⅓ − 1 + c) / √c with
    c = 2 / (9 n), about standard normal (Wilson and Hilferty 1931), whatever n is. Of shape
    (n_samples,), NaN for a row with nothing observed.
    """
    return _score(_pass(kernel, table, jobs)[1], table)


def project_and_score(
    kernel: Kernel, projection: Projection, table: Table, jobs: int
) -> tuple[Array, Array]:
    """Compute coordinates as `project` does, and `outlier_score`, in one pass over the rows."""
    k, degree = projection.basis.shape[1], projection.degree
    more = [projection.basis] if degree is None else [projection.basis, degree[:, None]]
    taken, deviations = _pass(kernel, table, jobs, more)
    points = taken[:k, :] if degree is None else taken[:k, :] / taken[k:, :]
    return namespace(points).matrix_transpose(points), _score(deviations, table)


class FeatureScorer:
    """Computes the outlier scores of rows whose features are at hand.

    Parameters
    ----------
    kernel : Kernel
    table : Table
        Rows in the columns of those to be scored.
    """

    def __init__(self, kernel: Kernel, table: Table) -> None:
        self._kernel, self._table = kernel, table
        self._scales = column_scales(kernel, table.values)
        # Of a wide table the coefficients of some columns at a time: all are more than the
        # features. Of others they are computed once.
        numbers = _NUMBERS_AT_ONCE if is_host(table.values) else _NUMBERS_AT_ONCE_DEVICE
        self._width = max(1, numbers // (3 * kernel.ensemble.n_columns))
        self._kept: tuple[slice, Array] | None = None

    def score(self, features: Array, rows: Table, jobs: int) -> Array:
        """Compute scores as `outlier_score` does (n_samples,), from Φᵀ (n_columns, n_samples)."""
        n_features = self._table.n_features

        def compute(start: int, stop: int) -> Array:
            mine, part = block(rows, start, stop), features[:, start:stop]
            total: Any = 0.0
            for first in range(0, max(n_features, 1), self._width):
                columns = slice(first, min(first + self._width, n_features))
                total = total + _number_deviations(self._weigh(columns) @ part, mine, columns)
            if rows.codes.shape[1]:
                weighed = _category_functionals(self._kernel.ensemble.stacks, rows) * self._scales
                total = clip_min(total, 0.0) + _category_deviations(weighed @ part, mine)
            return _score(total, mine)

        found = for_row_blocks(compute, self._kernel, rows, jobs)
        return namespace(features).concat(found, axis=0)

    def score_held_out(self, features: Array, unseen: np.ndarray, rows: Table) -> Array:
        """Compute scores of rows of a fit by the mixtures that did not learn from them.

        A mixture fits its own rows more closely than others, so that new rows compare with these.

        Parameters
        ----------
        features : array of shape (n_columns, n_rows)
            Φᵀ of the rows; overwritten.
        unseen : ndarray of shape (n_mixtures, n_rows)
            Which mixtures did not learn from a row.
        rows : Table

        Returns
        -------
        scores : array of shape (n_rows,)
            NaN for a row that all mixtures learnt from.
        """
        shapes = [stack.log_weights.shape for stack in self._kernel.ensemble.stacks]
        n_mixtures, n_components = zip(*shapes, strict=True)
        xp = namespace(features)
        shares = np.repeat(np.square(mixture_scales(self._kernel)), n_mixtures)
        weights = xp.astype(asarray_like(unseen, features), features.dtype)
        counted = asarray_like(shares, features) @ weights
        weights /= xp.where(counted > 0, counted, xp.nan)
        mixture = np.repeat(np.arange(unseen.shape[0]), np.repeat(n_components, n_mixtures))
        features *= take_along(weights, mixture)
        return self.score(features, rows, 1)

    def _weigh(self, columns: slice) -> Array:
        """Compute the coefficients of features in the deviations of columns of numbers."""
        kept = self._kept
        if kept is None or kept[0] != columns:
            found = _number_functionals(self._kernel.ensemble.stacks, self._table, columns)
            kept = self._kept = columns, found * self._scales
        return kept[1]


def _score(deviations: Array, table: Table) -> Array:
    """Turn deviations of rows, added up (n,), into standard deviations; NaN if there are none."""
    xp, count = namespace(deviations), table.observed_values
    seen = count > 0
    n = xp.where(seen, count, 1.0)
    c = 2 / (9 * n)
    score = ((clip_min(deviations, 0.0) / n) ** (1 / 3) - 1 + c) / xp.sqrt(c)
    return xp.where(seen, score, xp.nan)


def _pass(
    kernel: Kernel, table: Table, jobs: int, more: Sequence[Array] = ()
) -> tuple[Array, Array]:
    """Take rows through the mixtures: `more` of their features (.., n), and deviations (n,)."""
    functionals = _deviation_functionals(kernel, table, more)
    width = sum(basis.shape[1] for basis in more)

    def compute(start: int, stop: int) -> tuple[Array, Array]:
        rows = block(table, start, stop)
        found = apply_functionals(kernel, functionals, rows)
        # A new array: a view would keep all that was found of the rows.
        return 1.0 * found[:width, :], _combine(found[width:, :], rows)

    most = min(HOST_BLOCK, max(1, _NUMBERS_AT_ONCE // max(table.width, 1)))
    parts = zip(*for_row_blocks(compute, kernel, table, jobs, most), strict=True)
    taken, deviations = (namespace(table.values).concat(part, axis=-1) for part in parts)
    return taken, deviations


def _deviation_functionals(kernel: Kernel, table: Table, more: Sequence[Array]) -> Array:
    """Take posteriors to `more` of the features, and to the means of what deviations consist of.

    Of shape (width, n_columns), with `more` as arrays (n_columns, ..). Laid out stack by stack: for
    a wide table they are more numbers than the mixtures.
    """
    xp, home = namespace(table.values), table.values
    n_categories, n_categorical = table.margins.column.shape[0], table.codes.shape[1]
    width = sum(basis.shape[1] for basis in more) + 3 * table.n_features
    shape = (width + n_categories + n_categorical, kernel.ensemble.n_columns)
    out = xp.empty(shape, dtype=home.dtype, device=device_of(home))
    scales, stops = column_scales(kernel, home), [0, *accumulate(kernel.ensemble.widths)]
    for stack, start, stop in zip(kernel.ensemble.stacks, stops, stops[1:], strict=False):
        scale = scales[start:stop]
        parts = [xp.matrix_transpose(basis[start:stop, :]) * scale for basis in more]
        # The posteriors count with the weights of their mixtures, the squares of the scales.
        parts.append(_number_functionals([stack], table, slice(0, table.n_features)) * scale**2)
        if n_categorical:
            parts.append(_category_functionals([stack], table) * scale**2)
        out[:, start:stop] = xp.concat(parts, axis=0)
    return out


def _flat(parts: list[Array]) -> Array:
    """Lay arrays (m, g, width) of stacks out as the columns of one (width, n_columns)."""
    xp = namespace(parts[0])
    shapes = [(part.shape[0] * part.shape[1], part.shape[2]) for part in parts]
    flat = [xp.reshape(p, s) for p, s in zip(parts, shapes, strict=True)]
    return xp.matrix_transpose(xp.concat(flat, axis=0) if len(flat) > 1 else flat[0])


def _number_functionals(stacks: Sequence[Any], table: Table, columns: slice) -> Array:
    """Compute 1 / σ², μ / σ² and μ² / σ² of some columns of numbers d (3 d, n_columns)."""
    variances = [stack.covariances for stack in stacks]
    variances = [namespace(v).linalg.diagonal(v) if v.ndim == 4 else v for v in variances]
    means = _flat([stack.means[..., columns] for stack in stacks])
    precisions = 1 / _flat([v[..., columns] for v in variances])
    scaled = means * precisions
    parts = [precisions, scaled, means * scaled]
    if table.margins.higher.shape[0]:
        parts = _deviations_of_two_values(means, table.margins, columns, parts)
    return namespace(means).concat(parts, axis=0)


def _category_functionals(stacks: Sequence[Any], table: Table) -> Array:
    """Compute log p of each category, then H of each column of categories (.., n_columns)."""
    column, chances = table.margins.column, _flat([stack.categories for stack in stacks])
    xp = namespace(chances)
    logs = xp.log(chances)
    columns = xp.arange(table.codes.shape[1], dtype=column.dtype, device=device_of(chances))
    own = xp.astype(columns[:, None] == column, chances.dtype)
    return xp.concat([logs, -own @ (chances * logs)], axis=0)


def _deviations_of_two_values(
    means: Array, margins: Margins, columns: slice, others: list[Array]
) -> list[Array]:
    """Replace the coefficients of x², −2 x and m (d, n_columns) in columns that take two values.

    These deviate as categories do. With q the share of the higher value and r = √(q (1 − q)), a
    component of mean μ has it with probability p = q + r μ. The logarithm of a value's probability
    is linear in x with slope s = r log(p / (1 − p)), so that 1 − 2 log p − 2 H is 1 − 2 s (x − μ).
    Of columns that hold one category together only the one of the higher value counts: s = r log p,
    and their squared weights add up to the 1.
    """
    xp = namespace(means)
    higher = margins.higher[columns][:, None]
    two = higher > 0
    share = xp.where(two, higher, 0.5)
    root = xp.sqrt(share * (1 - share))
    eps = float(xp.finfo(means.dtype).eps)
    chance = xp.clip(share + means * root, eps, 1 - eps)
    lower, count = 1 - chance, xp.ones_like(higher)
    if margins.one_hot.shape[0]:
        lower = xp.where(margins.one_hot[columns][:, None] > 0, 1.0, lower)
        count = margins.counts[columns][:, None]
    slope = root * xp.log(chance / lower)
    mine = (xp.zeros_like(means), slope, count + 2 * slope * means)
    return [xp.where(two, new, old) for new, old in zip(mine, others, strict=True)]


def _combine(found: Array, rows: Table) -> Array:
    """Add the deviations of each row (n,) up from all functionals (width, n)."""
    width = 3 * rows.n_features
    total = _number_deviations(found[:width, :], rows, slice(0, rows.n_features))
    if rows.codes.shape[1]:
        total = clip_min(total, 0.0) + _category_deviations(found[width:, :], rows)
    return total


def _number_deviations(found: Array, rows: Table, columns: slice) -> Array:
    """Add up the deviations of each row (n,) in columns of numbers from functionals (3 d, n)."""
    xp = namespace(found)
    x, seen = (xp.matrix_transpose(part[:, columns]) for part in (rows.values, rows.observed))
    d = x.shape[0]
    squares = x * (x * found[:d, :] - 2 * found[d : 2 * d, :])
    return xp.sum(squares + xp.where(seen, found[2 * d :, :], 0.0), axis=0)


def _category_deviations(found: Array, rows: Table) -> Array:
    """Add up the deviations of each row (n,) in its categories."""
    xp, n_categories = namespace(found), rows.margins.column.shape[0]
    found = xp.matrix_transpose(found)
    own = gather(found[:, :n_categories], xp.where(rows.codes < 0, 0, rows.codes))
    deviations = 1 - 2 * own - 2 * found[:, n_categories:]
    return xp.sum(xp.where(rows.observed[:, rows.n_features :], deviations, 0.0), axis=1)
