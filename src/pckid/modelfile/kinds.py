"""What can be saved, class by class: which facts and arrays make up a fitted state.

To save more of an estimator, return it from its `pack` function and take it back, checked, in its
`unpack` function. A file that lacks what is new must still load: test for its presence, or add a
step to `older`. Raise `FORMAT` in the package when an older version would misread the new file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pckid._arrays import to_numpy
from pckid.cluster import PCKID
from pckid.embedding import Projection
from pckid.ensemble import Ensemble
from pckid.exceptions import PckidModelError
from pckid.featuremap import Kernel
from pckid.kernel import EnsembleEstimator, ProbabilisticClusterKernel
from pckid.mixture import IncompleteGaussianMixture, full, product
from pckid.mixture.table import Scaling
from pckid.modelfile import checking
from pckid.modelfile.checking import Shelf

Facts = dict[str, Any]
Named = dict[str, Any]
_PARAMETERS: dict[str, Any] = {"diag": product.Parameters, "full": full.Parameters}
_FLOATS = ("float32", "float64")


class Kind(NamedTuple):
    """A class that can be saved."""

    estimator: type
    pack: Callable[[Any], tuple[Facts, Named]]  # facts for JSON, and arrays by name
    unpack: Callable[[Any, Facts, Shelf], None]  # sets the fitted state of an estimator
    is_fitted: str  # an attribute that a fit leaves behind


def _pack_kernel(estimator: EnsembleEstimator) -> tuple[Facts, Named]:
    """Name the arrays of an ensemble."""
    kernel = estimator._kernel
    named = _fields("scaling", kernel.scaling)
    for index, stack in enumerate(kernel.ensemble.stacks):
        named |= _fields(f"stack{index}", stack)
    return {"dtype": kernel.dtype, "n_stacks": len(kernel.ensemble.stacks)}, named


def _unpack_kernel(estimator: EnsembleEstimator, facts: Facts, shelf: Shelf) -> None:
    """Restore an ensemble: stack i holds mixtures of i + 2 components."""
    scaling = _scaling(shelf, estimator.n_features_in_)
    dtype = checking.choice(facts, "dtype", _FLOATS)
    n_stacks = checking.integer(facts, "n_stacks", 1, estimator.max_components - 1)
    stacks = []
    for index in range(n_stacks):
        size = (estimator.n_inits, index + 2)
        kind = estimator.covariance_type
        stacks.append(_mixtures(shelf, f"stack{index}", kind, size, len(scaling.kept), dtype))
    ensemble = Ensemble(estimator.covariance_type, tuple(stacks))
    estimator._kernel = Kernel(scaling, ensemble, dtype)
    estimator._n_features_out = ensemble.n_columns
    estimator.n_iter_ = estimator.max_iter


def _pack_clusters(estimator: PCKID) -> tuple[Facts, Named]:
    """Name the arrays of a clustering: the ensemble's, the embedding's and the centres."""
    facts, named = _pack_kernel(estimator)
    named |= _fields("projection", estimator._projection) | {"centers": estimator._centers}
    return facts | {"inertia": float(estimator.inertia_)}, named


def _unpack_clusters(estimator: PCKID, facts: Facts, shelf: Shelf) -> None:
    """Restore a clustering."""
    _unpack_kernel(estimator, facts, shelf)
    k, n_columns = estimator.n_clusters, estimator._kernel.ensemble.n_columns
    basis = shelf.floats("projection.basis", (n_columns, k))
    degree = None
    if estimator.embedding == "random_walk":
        degree = shelf.floats("projection.degree", (n_columns,), low=0.0, high=np.inf)
        if not 0 < degree.sum() < np.inf:
            raise PckidModelError("the rows of its embedding have no degree.")
    eigenvalues = shelf.floats("projection.eigenvalues", (k,))
    estimator._projection = Projection(basis, degree, eigenvalues)
    estimator._centers = estimator.cluster_centers_ = shelf.floats("centers", (k, k))
    estimator.eigenvalues_ = eigenvalues
    estimator.inertia_ = checking.number(facts, "inertia")
    estimator._n_features_out = k


def _pack_mixture(estimator: IncompleteGaussianMixture) -> tuple[Facts, Named]:
    """Name the arrays of one mixture."""
    named = _fields("scaling", estimator._scaling) | _fields("mixture", estimator._params)
    # Of columns that vary, these hold the smallest value seen: that is nobody else's to know.
    constants = np.array(estimator._constants, dtype=np.float64)
    constants[estimator._scaling.kept] = np.nan
    facts = {
        "dtype": estimator._dtype,
        "converged": bool(estimator.converged_),
        "n_iter": int(estimator.n_iter_),
        "lower_bound": float(estimator.lower_bound_),
    }
    return facts, named | {"constants": constants}


def _unpack_mixture(estimator: IncompleteGaussianMixture, facts: Facts, shelf: Shelf) -> None:
    """Restore one mixture."""
    estimator._scaling = scaling = _scaling(shelf, estimator.n_features_in_)
    estimator._dtype = dtype = checking.choice(facts, "dtype", _FLOATS)
    size = (1, estimator.n_components)
    kind, n_kept = estimator.covariance_type, len(scaling.kept)
    estimator._params = _mixtures(shelf, "mixture", kind, size, n_kept, dtype)
    constants = shelf.take("constants", (estimator.n_features_in_,), "float64")
    if np.isinf(constants).any():
        raise PckidModelError("the array constants holds values out of range.")
    estimator._constants = constants
    estimator._publish(to_numpy)
    estimator.converged_ = bool(facts["converged"])
    estimator.n_iter_ = checking.integer(facts, "n_iter", 0, 2**31)
    estimator.lower_bound_ = checking.number(facts, "lower_bound")


KINDS = {
    "PCKID": Kind(PCKID, _pack_clusters, _unpack_clusters, "_projection"),
    "ProbabilisticClusterKernel": Kind(
        ProbabilisticClusterKernel, _pack_kernel, _unpack_kernel, "_kernel"
    ),
    "IncompleteGaussianMixture": Kind(
        IncompleteGaussianMixture, _pack_mixture, _unpack_mixture, "_params"
    ),
}
"""Classes by the name that a file gives them; no other class is ever made from a file."""


def _fields(prefix: str, state: Any) -> Named:
    """Name the fields of a tuple of arrays; what is None is not stored."""
    return {f"{prefix}.{key}": v for key, v in state._asdict().items() if v is not None}


def _scaling(shelf: Shelf, n_features: int) -> Scaling:
    """Take the scaling of the columns used."""
    n_kept = shelf.length("scaling.kept")
    kept = shelf.take("scaling.kept", (n_kept,), "int64")
    if not n_kept or kept[0] < 0 or kept[-1] >= n_features or (np.diff(kept) <= 0).any():
        raise PckidModelError("the list of used columns does not fit the columns.")
    largest, smallest = np.finfo(np.float64).max, np.finfo(np.float64).smallest_subnormal
    center = shelf.floats("scaling.center", (n_kept,), "float64", low=-largest, high=largest)
    scale = shelf.floats("scaling.scale", (n_kept,), "float64", low=smallest, high=largest)
    return Scaling(center, scale, kept)


def _mixtures(
    shelf: Shelf, prefix: str, kind: str, size: tuple[int, int], n_kept: int, dtype: str
) -> Any:
    """Take the parameters of a stack of mixtures, `size` = (n_mixtures, n_components)."""
    spread = (n_kept, n_kept) if kind == "full" else (n_kept,)
    return _PARAMETERS[kind](
        checking.log_weights(shelf, f"{prefix}.log_weights", size, dtype),
        shelf.floats(f"{prefix}.means", (*size, n_kept), dtype),
        checking.covariances(shelf, f"{prefix}.covariances", (*size, *spread), dtype),
    )
