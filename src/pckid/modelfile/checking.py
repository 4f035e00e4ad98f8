"""Checks on what a file claims: each fact, and every array's type, shape and range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        inside = (
            spec.low is None or spec.low <= float(array.min()) <= float(array.max()) <= spec.high
        )
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


def is_count(value: Any) -> bool:
    """Return whether a value of JSON is a whole number from 0 on."""
    return type(value) is int and 0 <= value < 2**62


def is_finite_number(value: Any) -> bool:
    """Return whether a value of JSON is a finite number."""
    return type(value) in (int, float) and bool(np.isfinite(value))


def _is_list(value: Any, test: Callable[[Any], bool]) -> bool:
    return type(value) is list and all(map(test, value))


def _are_lists(value: Any, test: Callable[[Any], bool]) -> bool:
    return type(value) is dict and all(_is_list(each, test) for each in value.values())


_COUNTS = ("list of counts", lambda value: _is_list(value, is_count))
_NUMBER = ("number", is_finite_number)
FACTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "dtype": ("type of floats", lambda value: value in FLOATS),
    "sizes": _COUNTS,
    "starts": _COUNTS,
    "cluster_sizes": _COUNTS,
    "categories": (
        "lists of values",
        lambda value: _are_lists(value, lambda each: type(each) in CATEGORY_TYPES),
    ),
    "column_groups": ("lists of columns", lambda value: _are_lists(value, is_count)),
    "cluster_names": (
        "list of texts",
        lambda value: _is_list(value, lambda name: name is None or type(name) is str),
    ),
    "score_scale": (
        "middle and a positive spread",
        lambda value: _is_list(value, is_finite_number) and len(value) == 2 and value[1] > 0,
    ),
    "sharpness": ("positive number", lambda value: is_finite_number(value) and value > 0),
    "inertia": _NUMBER,
    "lower_bound": _NUMBER,
    "converged": ("truth value", lambda value: type(value) is bool),
    "n_iter": ("count", is_count),
}
"""What the facts of a model must be, in words and as a test."""


def check_facts(facts: dict[str, Any]) -> None:
    """Refuse a file in which a fact is not what it must be; it may lack facts, or have others."""
    for key, (what, test) in FACTS.items():
        require(key not in facts or test(facts[key]), f"{key} is no {what}.")


def check_shares(shares: np.ndarray, column: np.ndarray, name: str) -> None:
    """Raise unless shares (n, n_categories) add up to 1 within each `column` of categories."""
    for mine in np.split(shares, np.flatnonzero(np.diff(column)) + 1, axis=1):
        total = mine.sum(axis=1, dtype=np.float64) if mine.size else np.ones(1)
        adds_up = bool((np.abs(total - 1) <= 1e-3).all())
        require(adds_up, f"the array {name} holds no probabilities.")


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
