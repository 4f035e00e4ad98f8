"""Rows that count more than others, and draws that depend on the rows but not on their order."""

from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from pckid._utils.arrays import Array, asarray_like, is_host, namespace, to_numpy
from pckid._utils.parallel import blas_threads
from pckid._utils.sklearn_compat import check_sample_weight
from pckid.input.known import in_order_of
from pckid.input.table import StandardisedRows, column_slices

_SYMMETRIC = 1e-6
# What tells rows apart that nothing else does.
_TIE = 1e-9
# Sums in another order agree in so many digits.
_DIGITS = 9
# Whole weights that sum to more are no counts of rows.
_MAX_PLACES = 1 << 40
_HEAVIEST = 1e290
# NumPy's own draw shuffles all places, in memory.
_MAX_SHUFFLED = 1 << 20


def checked_weights(sample_weight: Any, n_samples: int, X: Any = None) -> np.ndarray | None:
    """Check weights (n_samples,) and bring them to the host; None stays None.

    A Series of pandas whose labels are those of the rows of `X` is put in their order.
    """
    if sample_weight is None:
        return None
    if hasattr(sample_weight, "reindex") and len(sample_weight) == n_samples:
        sample_weight = in_order_of(X, sample_weight, "sample_weight")
    given = to_numpy(sample_weight) if hasattr(sample_weight, "__dlpack__") else sample_weight
    rows = np.empty((n_samples, 0))
    weights = check_sample_weight(given, rows, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight is 0 for all rows. Give at least some a positive weight.")
    if weights.max() > _HEAVIEST:
        raise ValueError(f"sample_weight holds {weights.max():g}, too large to add up. Divide it.")
    return weights


def canonical_order(table: StandardisedRows, weights: np.ndarray | None = None) -> np.ndarray:
    """Sort rows by what they hold, of shape (n_samples,): the same in whatever order they came.

    The key is a sum over the columns, each turned so that its longer tail is positive and weighted
    by a number that its distribution gives. So neither the order of the columns, nor their signs
    and units, matter. A fixed random projection decides between rows of the same key, so that equal
    rows lie side by side.
    """
    rng = np.random.default_rng(0)
    d, n = table.n_features, table.n_samples
    each = np.ones(n) if weights is None else weights / weights.sum()
    with blas_threads(1):
        moments = [_sum_powers(_as_doubles(part), each) for part in _blocks(table.values)]
        seen = [_sum_rows(_as_doubles(part), each) for part in _blocks(table.observed)]
    skewness, flatness = np.concatenate(moments, axis=1) / each.sum()
    shares = np.concatenate(seen) / each.sum()
    turn = np.where(np.abs(skewness) > _SYMMETRIC, np.sign(skewness), 1.0)
    by_shape = turn * (2 + np.sin(40 * (np.abs(skewness) + flatness)))
    by_chance = turn * rng.standard_normal(d)
    key, fixed = _weighted_row_sums(
        [table.values, table.observed],
        [by_shape, 2 + np.sin(40 * shares)],
        [by_chance, rng.standard_normal(table.observed.shape[1])],
    )
    if table.codes.shape[1]:
        numbers = _category_numbers(to_numpy(table.codes), key, each, rng)
        key, fixed = key + numbers.sum(axis=1), fixed + numbers.sum(axis=1)
    return np.lexsort((fixed, np.round(key, _DIGITS)))


def _as_doubles(part: Array) -> Any:
    """Turn an array into float64: on the host one of NumPy, else where it lies."""
    if is_host(part):
        return to_numpy(part).astype(np.float64, copy=False)
    return namespace(part).astype(part, namespace(part).float64, copy=False)


def _blocks(part: Array) -> list[Array]:
    """Divide an array (n, d) into blocks of columns, so that what is computed stays small."""
    return [part[:, columns] for columns in column_slices(part)]


def _sum_powers(values: Array, each: np.ndarray) -> np.ndarray:
    """Sum third and fourth powers over weighted rows (n, d), to (2, d) on the host."""
    mine, squares = asarray_like(each, values), values * values
    found = [mine @ part for part in (squares * values, squares * squares)]
    return to_numpy(namespace(values).stack(found))


def _sum_rows(part: Array, each: np.ndarray) -> np.ndarray:
    return to_numpy(asarray_like(each, part) @ part)


def _weighted_row_sums(parts: list[Any], *weights: list[np.ndarray]) -> list[Any]:
    """Sum the columns of parts (n, d) by weights (d,) for each of them, to (n,) on the host.

    Of equal rows they are equal, on a GPU up to rounding, which leaves such rows side by side.
    """
    if is_host(parts[0]):
        # Row by row in one order, unlike a product of matrices.
        return [
            sum(
                np.einsum("ij,j->i", _as_doubles(part[:, columns]), w[columns], optimize=False)
                for part, w in zip(parts, by, strict=True)
                for columns in column_slices(part)
            )
            for by in weights
        ]
    xp = namespace(parts[0])
    rows = xp.concat([_as_doubles(part) for part in parts], axis=1)
    sent = asarray_like(np.stack([np.concatenate(by) for by in weights]), rows)
    sums = [xp.sum(rows * sent[i, :], axis=1) for i in range(len(weights))]
    return list(to_numpy(xp.stack(sums)))


def _category_numbers(
    codes: np.ndarray, key: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Number the categories of rows (n, c) by how common they are, and by the rows' mean key.

    Their names decide only between those that are alike in both; a missing one, −1, has number 0.
    """
    size = int(codes.max(initial=0)) + 2
    places = np.where(codes < 0, size - 1, codes)
    count, keys = (
        np.bincount(places.reshape(-1), np.repeat(each, codes.shape[1]), minlength=size)
        for each in (weights, weights * key)
    )
    numbers = np.sin(40 * count / weights.sum()) + keys / np.maximum(count, _TIE)
    numbers += _TIE * rng.standard_normal(size)
    numbers[-1] = 0.0
    return numbers[places]


def draw_rows(
    order: np.ndarray, weights: np.ndarray | None, size: int, rng: np.random.RandomState
) -> np.ndarray:
    """Draw rows (size,) without replacement, a row of weight w as w rows would be.

    `order` (n_samples,) is as from `canonical_order`. A row of weight w (n_samples,) has ⌈w⌉ places
    there, which are drawn.
    """
    if weights is None:
        return order[rng.choice(len(order), size=size, replace=False)]
    weights = weights[order]
    if weights.sum() > _MAX_PLACES:
        weights = weights / weights.max() * (_MAX_PLACES / len(weights))
    stops = np.cumsum(np.ceil(weights).astype(np.int64))
    total = int(stops[-1])
    if total > _MAX_SHUFFLED:
        places = sample_without_replacement(total, size, random_state=rng)
    else:
        places = rng.choice(total, size=size, replace=False)
    return order[np.searchsorted(stops, places, side="right")]


def draw_together(
    rng: np.random.Generator, n_samples: int, size: int, groups: np.ndarray | None
) -> np.ndarray:
    """Draw `size` of n_samples rows, whole groups (n_samples,) but for the last; ascending."""
    if groups is None:
        return np.sort(rng.choice(n_samples, size, replace=False))
    order = rng.permutation(int(groups.max()) + 1)[groups]
    return np.sort(np.argsort(order, kind="stable")[:size])
