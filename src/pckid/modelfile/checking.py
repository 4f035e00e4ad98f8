"""Checks on what a file claims: every array's type, shape and range, before any is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from pckid.exceptions import PckidModelError
from pckid.modelfile.container import Arrays

FLOATS = ("float32", "float64")

CATEGORY_TYPES = (str, bool, int, float)  # what a category may be in a file
# Standardised values are clipped at 1e9; nothing computed from them lies beyond this.
_FARTHEST = 1e10
_ROWS = 64


class Spec(NamedTuple):
    """What an array of a file must be."""

    sizes: str  # of its axes, by their names, such as "kept bins"
    dtypes: tuple[str, ...] = FLOATS
    low: float | None = -_FARTHEST  # both bounds are included; NaN is never between. None: neither
    high: float = _FARTHEST
    optional: bool = False

    def of(self, sizes: str, optional: bool = False) -> Spec:
        """Return the same of other sizes."""
        return self._replace(sizes=sizes, optional=optional)


def require(condition: bool, problem: str) -> None:
    """Refuse a file unless a condition holds."""
    if not condition:
        raise PckidModelError(problem)


class ArrayReader:
    """The arrays of a file. Each is taken once and checked; none may be left over."""

    def __init__(self, arrays: Arrays) -> None:
        self._left = dict(arrays)
        self.sizes: dict[str, int] = {}  # what is known of the model, by the names in `Spec`

    def take(self, name: str, spec: Spec) -> Any:
        """Take an array; None if it is not there and need not be. No file stores an empty one."""
        if spec.optional and name not in self._left:
            return None
        shape = tuple(self.sizes[size] for size in spec.sizes.split())
        if 0 in shape:
            return np.zeros(shape, spec.dtypes[0])
        require(name in self._left, f"the array {name} is missing.")
        array = self._left.pop(name)
        require(
            array.shape == shape and str(array.dtype) in spec.dtypes,
            f"the array {name} is {array.dtype} of shape {array.shape}, expected "
            f"{' or '.join(spec.dtypes)} of {shape}.",
        )
        inside = spec.low is None or (spec.low <= array.min() and array.max() <= spec.high)
        require(inside, f"the array {name} holds values out of range.")
        return array

    def take_all(self, prefix: str, schema: Mapping[str, Spec]) -> dict[str, Any]:
        """Take the arrays of a part of the model, by their names within it."""
        return {key: self.take(f"{prefix}.{key}", spec) for key, spec in schema.items()}

    def length(self, name: str) -> int:
        """Return how long an array is along its first axis; 0 if it is not there."""
        array = self._left.get(name)
        return 0 if array is None or array.ndim == 0 else array.shape[0]

    def refuse_rest(self) -> None:
        """Raise if an array was not asked for."""
        require(not self._left, f"it holds unknown arrays ({min(self._left, default='')[:40]}).")


def integer(value: Any, name: str, low: int, high: int) -> int:
    """Check a whole number between two bounds, both included."""
    is_inside = type(value) is int and low <= value <= high
    require(is_inside, f"{name} is no whole number from {low} to {high}.")
    return value


def counts(facts: dict[str, Any], key: str, length: int | None = None) -> list[int]:
    """Read a list of counts, of so many if `length` says so."""
    found = facts[key]
    is_list = type(found) is list and length in (None, len(found))
    require(is_list, f"{key} is no list of {length or 'all its'} numbers.")
    return [integer(value, key, 0, 2**62) for value in found]


def number(facts: dict[str, Any], key: str) -> float:
    """Read a finite number."""
    is_number = type(facts[key]) in (int, float) and bool(np.isfinite(facts[key]))
    require(is_number, f"{key} is no number.")
    return float(facts[key])


def categories(facts: dict[str, Any], n_features: int) -> dict[int, list[Any]]:
    """Read the categories of columns, by the index of the column."""
    found = {}
    for key, known in facts.get("categories", {}).items():
        column = integer(int(key), "column", 0, n_features - 1)
        is_list = type(known) is list and all(type(value) in CATEGORY_TYPES for value in known)
        require(is_list, f"the categories of column {column} are no list of values.")
        require(len(set(known)) == len(known), f"column {column} lists a category twice.")
        found[column] = known
    return found


def column_groups(facts: dict[str, Any], n_features: int) -> dict[str, list[int]]:
    """Read the columns of each group, by its name."""
    groups = facts.get("column_groups", {})
    are_lists = type(groups) is dict and all(type(columns) is list for columns in groups.values())
    require(are_lists, "its groups of columns are no lists.")
    for column in (column for columns in groups.values() for column in columns):
        integer(column, "column", 0, n_features - 1)
    return groups


def check_shares(shares: np.ndarray, sizes: list[int], name: str) -> None:
    """Raise unless shares (n, sum(sizes)) add up to 1 within each column of categories."""
    first = 0
    for size in sizes:
        total = shares[:, first : first + size].sum(axis=1, dtype=np.float64)
        require(
            bool((np.abs(total - 1) <= 1e-3).all()), f"the array {name} holds no probabilities."
        )
        first += size


def check_covariances(values: np.ndarray, name: str) -> None:
    """Raise unless matrices (…, d, d) are covariances, up to rounding.

    With one copy of one matrix at a time, and in blocks of rows: reading is bounded in memory.
    """
    d, eps = values.shape[-1], float(np.finfo(values.dtype).eps)
    for matrix in values.reshape(-1, d, d):
        slack = max(1e-5, 4 * d * eps) * np.abs(np.diag(matrix)).max(initial=0.0)
        valid = all(
            (np.abs(matrix[i : i + _ROWS] - matrix[:, i : i + _ROWS].T) <= slack).all()
            for i in range(0, d, _ROWS)
        )
        copy = np.array(matrix)
        copy[np.diag_indices(d)] += slack
        try:
            # The transpose has LAPACK's order, so that it is overwritten and not copied again.
            cholesky(copy.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            valid = False
        require(valid, f"the array {name} holds a matrix that is no covariance.")
