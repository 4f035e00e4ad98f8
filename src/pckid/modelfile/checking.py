"""Checks on what a file claims: the kind of each fact, and each array's type, shape and range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from pckid.ensemble.feature_map import WEIGHTINGS
from pckid.exceptions import PckidModelError
from pckid.modelfile.container import Arrays

FLOATS = ("float32", "float64")
CATEGORY_TYPES = (str, bool, int, float)  # what a category may be in a file
# Standardised values are clipped at 1e9; nothing computed from them lies beyond this.
_FARTHEST = 1e10


def is_count(value: Any) -> bool:
    """Return whether a value of JSON is a whole number from 0 on."""
    return type(value) is int and 0 <= value < 2**62


def is_finite(value: Any) -> bool:
    """Return whether a value of JSON is a finite number."""
    return type(value) in (int, float) and bool(np.isfinite(value))


FACTS: dict[str, Any] = {
    "version": (str,),
    "libraries": (dict,),
    "class": (str,),
    "parameters": (dict,),
    "reading": (dict,),
    "state": (dict,),
    "n_features": is_count,
    "feature_names": [(str,)],
    "dtype": FLOATS.__contains__,
    "weighting": lambda value: isinstance(value, str) and value in WEIGHTINGS,
    "sizes": [is_count],
    "starts": [is_count],
    "cluster_sizes": [is_count],
    "cluster_names": [(str, type(None))],
    "position_columns": [(str,)],
    "categories": {...: [CATEGORY_TYPES]},
    "column_groups": {...: [is_count]},
    "score_scale": [is_finite],
    "sharpness": lambda value: is_finite(value) and value > 0,
    "inertia": is_finite,
    "lower_bound": is_finite,
    "converged": (bool,),
    "n_iter": is_count,
}
"""What the facts of a file must be: of some types, as a test says, or a list or object of such."""


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


def take_fact(facts: Mapping[str, Any], name: str, absent: Any = ...) -> Any:
    """Take a fact that is of its kind in `FACTS`; one that may be absent has a value for that."""
    if name not in facts and absent is not ...:
        return absent
    require(_fits(facts.get(name), FACTS[name]), f"its {name} cannot be that of a model.")
    return facts[name]


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a value of JSON is of a kind as in `FACTS`."""
    if isinstance(kind, list):
        return type(value) is list and all(_fits(each, *kind) for each in value)
    if isinstance(kind, dict):
        return type(value) is dict and all(_fits(each, kind[...]) for each in value.values())
    return type(value) in kind if isinstance(kind, tuple) else kind(value)


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


def check_shares(shares: np.ndarray, column: np.ndarray, name: str) -> None:
    """Raise unless shares (n, n_categories) add up to 1 within each `column` of categories."""
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    totals = np.add.reduceat(shares, starts, axis=1, dtype=np.float64)
    adds_up = bool((np.abs(totals - 1) <= 1e-3).all())
    require(adds_up, f"the array {name} holds no probabilities.")


def check_covariances(values: np.ndarray, name: str) -> None:
    """Raise unless matrices (…, d, d) are symmetric up to rounding, and have a Cholesky factor.

    Densities need one, and the floor of a fit sees to it. With one copy of one matrix at a time:
    reading is bounded in memory.
    """
    d, eps = values.shape[-1], float(np.finfo(values.dtype).eps)
    for matrix in values.reshape(-1, d, d):
        slack = max(1e-5, 4 * d * eps) * np.abs(np.diag(matrix)).max(initial=0.0)
        copy = matrix - matrix.T
        symmetric = np.abs(copy, out=copy).max(initial=0.0) <= slack
        copy[:] = matrix
        try:
            # The transpose has LAPACK's order, so that it is overwritten and not copied again.
            cholesky(copy.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            symmetric = False
        require(bool(symmetric), f"the array {name} holds a matrix that is no covariance.")
