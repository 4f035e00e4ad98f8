"""Checks on what a file claims: every array's type, shape and range, before any is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from pckid.exceptions import PckidModelError
from pckid.modelfile.container import Arrays

# Standardised values are clipped at 1e9; nothing computed from them lies beyond these.
_FARTHEST = 1e10
_SMALLEST_VARIANCE = 1e-16
_LARGEST_VARIANCE = 1e20

_ROWS = 64

CATEGORY_TYPES = (str, bool, int, float)
"""What a category may be in a file."""


class ArrayReader:
    """The arrays of a file. Each is taken once and checked; none may be left over.

    Parameters
    ----------
    arrays : dict of name to ndarray
    """

    def __init__(self, arrays: Arrays) -> None:
        self._left = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, shape: tuple[int, ...], *dtypes: str) -> np.ndarray:
        """Take an array of this shape and of one of these types; no file stores an empty one."""
        if 0 in shape:
            return np.zeros(shape, dtypes[0])
        array = self._left.pop(name, None)
        if array is None:
            raise PckidModelError(f"the array {name} is missing.")
        if array.shape != shape or array.dtype not in [np.dtype(dtype) for dtype in dtypes]:
            raise PckidModelError(
                f"the array {name} is {array.dtype} of shape {array.shape}, expected "
                f"{' or '.join(dtypes)} of {shape}."
            )
        return array

    def floats(
        self,
        name: str,
        shape: tuple[int, ...],
        *dtypes: str,
        low: float = -_FARTHEST,
        high: float = _FARTHEST,
    ) -> np.ndarray:
        """Take an array of numbers between two bounds, both included; NaN is never between."""
        array = self.take(name, shape, *(dtypes or ("float32", "float64")))
        if array.size and not (low <= array.min() and array.max() <= high):
            raise PckidModelError(f"the array {name} holds values out of range.")
        return array

    def optional(self, name: str, length: int, **bounds: float) -> np.ndarray:
        """Take a vector of numbers; one of length 0 where the file has none."""
        return self.floats(name, (length if name in self else 0,), "float64", **bounds)

    def length(self, name: str) -> int:
        """Return how long an array is along its first axis; 0 if it is not there."""
        array = self._left.get(name)
        return 0 if array is None or array.ndim == 0 else array.shape[0]

    def refuse_rest(self) -> None:
        """Raise if an array was not asked for."""
        if self._left:
            raise PckidModelError(f"it holds unknown arrays ({min(self._left)[:40]}).")


def integer(facts: dict[str, Any], key: str, low: int, high: int) -> int:
    """Read a whole number between two bounds, both included."""
    value = facts[key]
    if type(value) is not int or not low <= value <= high:
        raise PckidModelError(f"{key} is no whole number from {low} to {high}.")
    return value


def counts(facts: dict[str, Any], key: str, length: int | None = None) -> list[int]:
    """Read a list of counts, of so many if `length` says so."""
    found = facts[key]
    if type(found) is not list or length not in (None, len(found)):
        raise PckidModelError(f"{key} is no list of {length or 'all its'} numbers.")
    return [integer({key: value}, key, 0, 2**62) for value in found]


def texts(facts: dict[str, Any], key: str) -> list[str | None]:
    """Read a list of texts, None among them."""
    found = facts[key]
    if type(found) is not list or not all(value is None or type(value) is str for value in found):
        raise PckidModelError(f"{key} is no list of texts.")
    return found


def number(facts: dict[str, Any], key: str) -> float:
    """Read a finite number."""
    if type(facts[key]) not in (int, float) or not np.isfinite(facts[key]):
        raise PckidModelError(f"{key} is no number.")
    return float(facts[key])


def choice(facts: dict[str, Any], key: str, options: tuple[str, ...]) -> str:
    """Read one of a few words."""
    if facts[key] not in options:
        raise PckidModelError(f"{key} is none of {', '.join(options)}.")
    return facts[key]


def categories(facts: dict[str, Any], n_features: int) -> dict[int, list[Any]]:
    """Read the categories of columns, by the index of the column."""
    found = {}
    for key, known in facts.get("categories", {}).items():
        column = integer({"column": int(key)}, "column", 0, n_features - 1)
        if type(known) is not list or not all(type(v) in CATEGORY_TYPES for v in known):
            raise PckidModelError(f"the categories of column {column} are no list of values.")
        if len(set(known)) != len(known):
            raise PckidModelError(f"column {column} lists a category twice.")
        found[column] = known
    return found


def column_groups(facts: dict[str, Any], n_features: int) -> dict[str, list[int]]:
    """Read the columns of each group, by its name."""
    groups = facts.get("column_groups", {})
    if type(groups) is not dict or not all(type(columns) is list for columns in groups.values()):
        raise PckidModelError("its groups of columns are no lists.")
    for column in (column for columns in groups.values() for column in columns):
        integer({"column": column}, "column", 0, n_features - 1)
    return groups


def add_up(shares: np.ndarray, sizes: list[int], name: str) -> None:
    """Raise unless shares (n, sum(sizes)) add up to 1 within each column of categories."""
    first = 0
    for size in sizes:
        total = shares[:, first : first + size].sum(axis=1, dtype=np.float64)
        if (np.abs(total - 1) > 1e-3).any():
            raise PckidModelError(f"the array {name} holds no probabilities.")
        first += size


def check_log_weights(
    reader: ArrayReader, name: str, shape: tuple[int, int], dtype: str
) -> np.ndarray:
    """Take logs of weights (n_mixtures, g), each mixture's adding up to 1."""
    logs = reader.floats(name, shape, dtype, low=-np.inf, high=1e-3)
    # Row by row: a copy of all would take more memory than the file.
    if any(abs(np.exp(row, dtype=np.float64).sum() - 1) > 1e-3 for row in logs):
        raise PckidModelError(f"the array {name} holds no weights.")
    return logs


def covariances(reader: ArrayReader, name: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Take variances (n, g, d), or covariances (n, g, d, d) which must be positive definite."""
    if len(shape) == 3:
        return reader.floats(name, shape, dtype, low=_SMALLEST_VARIANCE, high=_LARGEST_VARIANCE)
    values = reader.floats(name, shape, dtype, low=-_LARGEST_VARIANCE, high=_LARGEST_VARIANCE)
    for matrix in values.reshape(-1, *shape[-2:]):
        _refuse_indefinite(matrix, name)
    return values


def _refuse_indefinite(matrix: np.ndarray, name: str) -> None:
    """Raise unless a matrix (d, d) is a covariance, up to rounding."""
    d, eps = len(matrix), float(np.finfo(matrix.dtype).eps)
    slack = max(1e-5, 4 * d * eps) * np.abs(np.diag(matrix)).max(initial=0.0)
    symmetric = all(
        (np.abs(matrix[i : i + _ROWS] - matrix[:, i : i + _ROWS].T) <= slack).all()
        for i in range(0, d, _ROWS)
    )
    if not symmetric or not _is_definite(matrix, slack):
        raise PckidModelError(f"the array {name} holds a matrix that is no covariance.")


def _is_definite(matrix: np.ndarray, slack: float) -> bool:
    """Whether a symmetric matrix plus `slack` on its diagonal is positive definite."""
    # The transpose of a copy has LAPACK's order, so that it is overwritten and not copied again.
    copy = np.array(matrix)
    copy[np.diag_indices(len(copy))] += slack
    try:
        cholesky(copy.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
