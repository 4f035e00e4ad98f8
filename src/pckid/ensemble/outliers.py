"""How unusual rows are: how far their values lie from what the mixtures of an ensemble expect."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    clip,
    device_of,
    gather,
    is_host,
    namespace,
    take_along,
    to_numpy,
)
from pckid._utils.parallel import run_in_threads
from pckid.columns import kinds
from pckid.columns.base import Numbers
from pckid.ensemble.feature_map import (
    HOST_BLOCK,
    Kernel,
    Projection,
    apply_functionals,
    column_scales,
    coordinates_from,
    for_row_blocks,
    functionals_of,
    mixture_scales,
)
from pckid.ensemble.members import Posteriors
from pckid.ensemble.row_values import Piece, cut_columns, merge_columns
from pckid.ensemble.score_scale import ScoreScale
from pckid.input.table import StandardisedRows, block

# What is taken of posteriors is three numbers a column: of a wide table, few rows or columns of
# them are held at a time.
_NUMBERS_AT_ONCE = 1 << 19
# A GPU has the memory for more of them, and waits for the host with less.
_NUMBERS_AT_ONCE_DEVICE = 1 << 26
# So many rows say what deviation is usual in each column; of the largest tenth nothing counts, and
# the mean of all columns counts as much as the second number of rows.
MAX_USUAL, _SHRINK = 128, 5
_TRIM = 0.9
# Deviations are at most this, lest their squares overflow in float32, and their mean square at
# least the second.
_FARTHEST, _NEAREST = 1e15, 1e-4


def deviation(
    kernel: Kernel, usual: np.ndarray | None, table: StandardisedRows, jobs: int
) -> Array:
    """Compute how far the values of rows are from what the mixtures expect, as a logarithm.

    Of an observed value the deviation D is the mean over mixtures, weighted as in the kernel, of
    Σ_g γ_g D_g. Of a number D_g is (x − μ)² / σ², of a category 1 − 2 log p − 2 H, with H the
    entropy of the column in the component, and so on, see `columns`: each is 1 on average where the
    component is right. Of covariance matrices the variances count.
    With u what is `usual` of the value (n_values,), a row with n observed values has
    log √(Σ (D / u)² / n): squares, so that one value far off tells as much in a row of many as in
    one of few. Of shape (n_samples,), NaN if nothing is observed.
    """
    table = table.modelled
    return _take_logarithm(_pass_mixtures(kernel, usual, table, jobs)[1], table)


def outlier_score(kernel: Kernel, scale: ScoreScale, table: StandardisedRows, jobs: int) -> Array:
    """Compute how unlike all components rows are, in standard deviations (n_samples,).

    It is `deviation` on a `scale` that rows of the fit gave, each by mixtures that did not learn
    from it. NaN for a row with nothing observed.
    """
    return scale.standardise(deviation(kernel, scale.usual, table, jobs))


def project_and_score(
    kernel: Kernel, projection: Projection, scale: ScoreScale, table: StandardisedRows, jobs: int
) -> tuple[Array, Array]:
    """Compute coordinates as `project` does, and `outlier_score`, in one pass over the rows."""
    more, table = functionals_of(projection), table.modelled
    taken, squares = _pass_mixtures(kernel, scale.usual, table, jobs, more)
    scores = scale.standardise(_take_logarithm(squares, table))
    return coordinates_from(taken, projection), scores


class FeatureScorer:
    """Computes the deviations of rows whose features are at hand.

    Parameters
    ----------
    kernel : Kernel
    table : StandardisedRows
        Rows in the columns of those to be scored.
    """

    def __init__(self, kernel: Kernel, table: StandardisedRows) -> None:
        self._kernel, self._table = kernel, table.modelled
        self._scales = column_scales(kernel, table.values)
        # Of a wide table the coefficients of some columns at a time: all are more than the
        # features. Of others they are computed once.
        numbers = _NUMBERS_AT_ONCE if is_host(table.values) else _NUMBERS_AT_ONCE_DEVICE
        width = max(1, numbers // (3 * kernel.ensemble.n_columns))
        self._pieces = list(cut_columns(kernel.scaling, width))
        self._kept: tuple[slice, Array] | None = None

    def deviation(
        self,
        features: Array,
        usual: np.ndarray | None,
        rows: StandardisedRows,
        jobs: int,
        unseen: np.ndarray | None = None,
    ) -> Array:
        """Compute `deviation` of rows from their features, by all mixtures or some.

        A mixture fits its own rows more closely than others, so that new rows compare with rows of
        a fit by the mixtures that did not learn from them.

        Parameters
        ----------
        features : array of shape (n_columns, n_rows)
            Φᵀ of the rows.
        usual : ndarray of shape (n_values,) or None
            The usual deviation of each value, as from `usual_deviations`; None: 1.
        rows : StandardisedRows
        jobs : int
        unseen : ndarray of shape (n_mixtures, n_rows), default=None
            Which mixtures count for a row: those that did not learn from it. A row that all learnt
            from has the deviation by all of them. None: all count for each row.

        Returns
        -------
        deviations : array of shape (n_rows,)
        """
        rows = rows.modelled

        def compute(start: int, stop: int, jobs: int = 1) -> Array:
            mine, part = block(rows, start, stop), features[:, start:stop]
            if unseen is not None:
                part = self._weigh_features(part, unseen[:, start:stop])
            total: Any = 0.0
            for values, found in self._deviations(part, mine, jobs):
                total = total + _sum_squares(found, usual, values)
            return total

        if len(self._pieces) > 1 and is_host(features):
            # Coefficients are many more numbers than the rows: threads share columns, not rows.
            squares = compute(0, rows.n_samples, jobs)
        else:
            parts = for_row_blocks(compute, self._kernel, rows, jobs)
            squares = namespace(features).concat(parts, axis=0)
        return _take_logarithm(squares, rows)

    def usual_deviations(
        self, features: Array, rows: StandardisedRows, unseen: np.ndarray, jobs: int
    ) -> np.ndarray:
        """Compute the usual deviation of each value (n_values,) from some rows of a fit.

        Components have a least variance, and columns whose values lie in narrow clusters deviate
        less from them than others. The parameters are those of `deviation`.
        """
        weighed, rows = self._weigh_features(features, unseen), rows.modelled
        found = [to_numpy(part) for _, part in self._deviations(weighed, rows, jobs)]
        seen, first = to_numpy(rows.observed).T, [piece.first_columns for piece in self._pieces]
        n_categorical = rows.codes.shape[1]
        places = [*first, np.arange(n_categorical) + self._table.n_features]
        return _trimmed_means(np.concatenate(found), seen[np.concatenate(places)])

    def _weigh_features(self, features: Array, unseen: np.ndarray) -> Array:
        """Let only `unseen` mixtures (n_mixtures, n) count for rows, in all as much as all do.

        Their features are (n_columns, n).
        """
        xp = namespace(features)
        counts, sizes = zip(
            *(s.log_weights.shape for s in self._kernel.ensemble.stacks), strict=True
        )
        each = np.repeat(np.square(mixture_scales(self._kernel)), counts)
        there = asarray_like(unseen | ~unseen.any(axis=0), features, dtype=xp.bool)
        weights = xp.astype(there, xp.float64)
        weights /= asarray_like(each, features, dtype=xp.float64) @ weights
        weights = xp.astype(weights, features.dtype, copy=False)
        mixture_of = np.repeat(np.arange(len(each)), np.repeat(sizes, counts))
        return features * take_along(weights, mixture_of)

    def _deviations(
        self, features: Array, rows: StandardisedRows, jobs: int
    ) -> list[tuple[slice, Array]]:
        """List the numbers of some values, and how far rows deviate there (n_values, n)."""

        def deviate(piece: Piece) -> tuple[slice, Array]:
            found = self._weigh(piece.columns) @ features
            each = _number_deviations(found, rows, piece.columns)
            return piece.values, merge_columns(each, piece.cells)

        found = run_in_threads(deviate, zip(self._pieces, strict=True), jobs)
        if n_categorical := rows.codes.shape[1]:
            weighed = _category_functionals(self._kernel.ensemble.stacks, rows) * self._scales
            last = found[-1][0].stop if found else 0
            each = _category_deviations(weighed @ features, rows)
            found.append((slice(last, last + n_categorical), each))
        return found

    def _weigh(self, columns: slice) -> Array:
        """Compute the coefficients of features in the deviations of columns of numbers."""
        kept = self._kept
        if kept is None or kept[0] != columns:
            found = _number_functionals(self._kernel.ensemble.stacks, self._table, columns)
            kept = self._kept = columns, found * self._scales
        return kept[1]


def _take_logarithm(squares: Array, table: StandardisedRows) -> Array:
    """Turn squared deviations of rows, added up (n,), into `deviation`; NaN if there are none."""
    xp, count = namespace(squares), table.observed_values
    if table.unexplained is not None:
        squares, count = squares + table.unexplained[:, 0], count + table.unexplained[:, 1]
    seen = count > 0
    mean = clip(squares / xp.where(seen, count, 1.0), _NEAREST)
    return xp.where(seen, xp.log(mean) / 2, xp.nan)


def _sum_squares(deviations: Array, usual: np.ndarray | None, values: slice) -> Array:
    """Add up the squared deviations (d, n) of some `values` of rows (n,), in units of the usual."""
    xp = namespace(deviations)
    if usual is not None:
        each = asarray_like(1 / usual[values], deviations, dtype=deviations.dtype)
        deviations = deviations * each[:, None]
    kept = clip(deviations, 0.0, _FARTHEST)
    return xp.sum(kept * kept, axis=0)


def _trimmed_means(deviations: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Average the deviations (d, n) of observed values without the largest tenth (d,)."""
    each = np.where(seen, np.maximum(deviations, 0.0), np.inf)
    place = _TRIM * np.maximum(seen.sum(axis=1, keepdims=True) - 1, 0)
    below = place.astype(np.int64)
    ends = np.take_along_axis(
        np.sort(each, axis=1), np.hstack([below, np.ceil(place).astype(np.int64)]), axis=1
    )
    ends = np.where(np.isfinite(ends), ends, 0.0)
    limits = ends[:, :1] + (place - below) * (ends[:, 1:] - ends[:, :1])
    kept = seen & (each <= limits)
    counts = kept.sum(axis=1)
    found = np.where(kept, each, 0.0).sum(axis=1) / np.maximum(counts, 1)
    overall = found[counts > 0].mean() if counts.any() else 0.0
    if overall <= 0:
        return np.ones(len(found))
    return (counts * found + _SHRINK * overall) / (counts + _SHRINK)


def _pass_mixtures(
    kernel: Kernel,
    usual: np.ndarray | None,
    table: StandardisedRows,
    jobs: int,
    more: Array | None = None,
) -> tuple[Array, Array]:
    """Take rows through the mixtures: `more` of their features (.., n), and deviations (n,).

    The deviations of their values, in units of the `usual` (n_values,), are squared and added up.
    """
    functionals = _deviation_functionals(kernel, table, more)
    width = 0 if more is None else more.shape[0]
    pieces = list(cut_columns(kernel.scaling))
    posteriors = Posteriors(kernel.ensemble, table)

    def compute(start: int, stop: int) -> tuple[Array, Array]:
        found = apply_functionals(posteriors, functionals, table, start, stop)
        squares = _combine(found[width:, :], usual, block(table, start, stop), pieces)
        # A new array: a view would keep all that was found of the rows.
        return 1.0 * found[:width, :], squares

    most = min(HOST_BLOCK, max(1, _NUMBERS_AT_ONCE // max(table.width, 1)))
    parts = zip(*for_row_blocks(compute, kernel, table, jobs, most), strict=True)
    taken, squares = (namespace(table.values).concat(part, axis=-1) for part in parts)
    return taken, squares


def _deviation_functionals(kernel: Kernel, table: StandardisedRows, more: Array | None) -> Array:
    """Take posteriors to `more` of the features, and to the means of what deviations consist of.

    Of shape (width, n_columns), with `more` of shape (.., n_columns). Laid out stack by stack: for
    a wide table they are more numbers than the mixtures.
    """
    xp, home = namespace(table.values), table.values
    n_categories, n_categorical = table.column_model.column.shape[0], table.codes.shape[1]
    width = 3 * table.n_features + n_categories + n_categorical
    shape = (width + (0 if more is None else more.shape[0]), kernel.ensemble.n_columns)
    out = xp.empty(shape, dtype=home.dtype, device=device_of(home))
    scales, stops = column_scales(kernel, home), [0, *accumulate(kernel.ensemble.widths)]
    for stack, start, stop in zip(kernel.ensemble.stacks, stops, stops[1:], strict=False):
        scale = scales[start:stop]
        parts = [] if more is None else [more[:, start:stop] * scale]
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


def _number_functionals(stacks: Sequence[Any], table: StandardisedRows, columns: slice) -> Array:
    """Compute what deviations in some columns of numbers d consist of (3 d, n_columns)."""
    variances = [stack.covariances for stack in stacks]
    variances = [namespace(v).linalg.diagonal(v) if v.ndim == 4 else v for v in variances]
    means = _flat([stack.means[..., columns] for stack in stacks])
    numbers = Numbers(means, _flat([v[..., columns] for v in variances]))
    return namespace(means).concat(
        kinds.number_deviations(table.column_model, columns, numbers), axis=0
    )


def _category_functionals(stacks: Sequence[Any], table: StandardisedRows) -> Array:
    """Compute what deviations consist of in categories, then in their columns (.., n_columns)."""
    chances = _flat([stack.categories for stack in stacks])
    parts = kinds.category_deviations(table.column_model, table.codes.shape[1], chances)
    return namespace(chances).concat(parts, axis=0)


def _combine(
    found: Array, usual: np.ndarray | None, rows: StandardisedRows, pieces: Sequence[Piece]
) -> Array:
    """Add the squared deviations of each row (n,) up from all functionals (width, n)."""
    width, total, last = 3 * rows.n_features, 0.0 * found[0, :], 0
    deviations = _number_deviations(found[:width, :], rows, slice(0, rows.n_features))
    for piece in pieces:
        mine = merge_columns(deviations[piece.columns, :], piece.cells)
        total, last = total + _sum_squares(mine, usual, piece.values), piece.values.stop
    if n_categorical := rows.codes.shape[1]:
        mine = _category_deviations(found[width:, :], rows)
        total = total + _sum_squares(mine, usual, slice(last, last + n_categorical))
    return total


def _number_deviations(found: Array, rows: StandardisedRows, columns: slice) -> Array:
    """Compute the deviations of rows (d, n) in columns of numbers from functionals (3 d, n)."""
    xp = namespace(found)
    x, seen = (xp.matrix_transpose(part[:, columns]) for part in (rows.values, rows.observed))
    d = x.shape[0]
    squares = x * (x * found[:d, :] - 2 * found[d : 2 * d, :])
    return squares + xp.where(seen, found[2 * d :, :], 0.0)


def _category_deviations(found: Array, rows: StandardisedRows) -> Array:
    """Compute the deviations of rows (n_categorical, n) in their categories."""
    xp, n_categories = namespace(found), rows.column_model.column.shape[0]
    found = xp.matrix_transpose(found)
    own = gather(found[:, :n_categories], xp.where(rows.codes < 0, 0, rows.codes))
    deviations = 1 - 2 * own - 2 * found[:, n_categories:]
    seen = rows.observed[:, rows.n_features :]
    return xp.matrix_transpose(xp.where(seen, deviations, 0.0))
