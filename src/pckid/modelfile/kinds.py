"""What can be saved, class by class: which facts and arrays make up a fitted state.

To save more of an estimator, return it from its `pack` function and take it back, checked, in its
`unpack` function. A file that lacks what is new must still load: test for its presence. Raise
`FORMAT` in the package when an older version would misread the new file.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid.cluster import PCKID
from pckid.describe.row_summary import N_BINS, RowSummary
from pckid.ensemble.base import EnsembleEstimator
from pckid.ensemble.feature_map import Kernel, Projection
from pckid.ensemble.members import Ensemble, largest_size
from pckid.exceptions import PckidModelError
from pckid.input.table import Margins, Scaling
from pckid.input.validation import column_name, is_blocked
from pckid.kernel import ProbabilisticClusterKernel
from pckid.mixture import IncompleteGaussianMixture
from pckid.mixture.families import FAMILIES
from pckid.modelfile import checking
from pckid.modelfile.checking import ArrayReader

Facts = dict[str, Any]
Named = dict[str, Any]
_FLOATS = ("float32", "float64")
_LIMITS = np.finfo(np.float64)


class ModelKind(NamedTuple):
    """A class that can be saved."""

    estimator: type
    pack: Callable[[Any], tuple[Facts, Named]]  # facts for JSON, and arrays by name
    unpack: Callable[[Any, Facts, ArrayReader], None]  # sets the fitted state of an estimator
    is_fitted: str  # an attribute that a fit leaves behind


def _pack_kernel(estimator: EnsembleEstimator) -> tuple[Facts, Named]:
    """Name the arrays of an ensemble."""
    kernel = estimator._kernel
    named = _scaling_fields(kernel.scaling)
    for index, stack in enumerate(kernel.ensemble.stacks):
        named |= _fields(f"stack{index}", stack)
    sizes = [stack.log_weights.shape[1] for stack in kernel.ensemble.stacks]
    facts = {"dtype": kernel.dtype, "sizes": sizes} | _category_facts(estimator)
    if estimator._groups:
        facts["column_groups"] = dict(estimator._groups)
    return facts, named


def _unpack_kernel(estimator: EnsembleEstimator, facts: Facts, reader: ArrayReader) -> None:
    """Restore an ensemble: one stack for each number of components, ascending."""
    estimator._categories = checking.categories(facts, estimator.n_features_in_)
    estimator._groups = checking.column_groups(facts, estimator.n_features_in_)
    scaling = _scaling(reader, estimator.n_features_in_, estimator._categories)
    has_shares = scaling.margins is not None and scaling.margins.observed.shape[0] > 0
    if has_shares != estimator._informative:
        raise PckidModelError("its shares of observed cells do not fit its missingness.")
    dtype = checking.choice(facts, "dtype", _FLOATS)
    stacks, kind = [], estimator.covariance_type
    for index, n_components in enumerate(_read_sizes(estimator, facts)):
        size = (estimator.n_inits, n_components)
        stacks.append(_mixtures(reader, f"stack{index}", kind, size, scaling, dtype))
    ensemble = Ensemble(estimator.covariance_type, tuple(stacks))
    estimator._kernel = Kernel(scaling, ensemble, dtype, estimator.weighting)
    estimator._n_features_out = ensemble.n_columns
    estimator.n_iter_ = estimator.max_iter


def _read_sizes(estimator: EnsembleEstimator, facts: Facts) -> list[int]:
    """Read the numbers of components of the stacks."""
    sizes = checking.counts(facts, "sizes")
    largest = largest_size(estimator.max_components, 2**62)
    if not sizes or sizes[0] < 2 or sizes[-1] > largest or any(a >= b for a, b in pairwise(sizes)):
        raise PckidModelError("its numbers of components do not ascend from 2.")
    return sizes


def _pack_clusters(estimator: PCKID) -> tuple[Facts, Named]:
    """Name the arrays of a clustering: the ensemble's, the embedding's and the centres."""
    facts, named = _pack_kernel(estimator)
    named |= _fields("projection", estimator._projection) | {"centers": estimator._centers}
    facts["inertia"] = float(estimator.inertia_)
    facts["sharpness"] = float(estimator._sharpness)
    if (summary := getattr(estimator, "_summary", None)) is not None:
        named |= _fields("summary", summary._replace(n_rows=np.array([summary.n_rows])))
    if (sizes := cluster_sizes(estimator)) is not None:
        facts["cluster_sizes"] = sizes
    if any(names := estimator.cluster_names_):
        facts["cluster_names"] = names
    return facts, named


def cluster_sizes(estimator: PCKID) -> list[int] | None:
    """Count the rows of each cluster; None where not all rows have been labelled.

    Of a table that comes in blocks, the profiles know only the rows that the fit learned from.
    """
    labels = getattr(estimator, "labels_", None)
    if labels is not None and not is_blocked(labels):
        return estimator.cluster_profiles_.n_rows.tolist()
    return getattr(estimator, "_cluster_sizes", None)


def _unpack_clusters(estimator: PCKID, facts: Facts, reader: ArrayReader) -> None:
    """Restore a clustering."""
    _unpack_kernel(estimator, facts, reader)
    k, n_columns = _count_clusters(estimator, reader), estimator._kernel.ensemble.n_columns
    basis = reader.floats("projection.basis", (n_columns, k))
    degree = None
    if "projection.degree" in reader:
        degree = reader.floats("projection.degree", (n_columns,), low=0.0, high=np.inf)
        if not 0 < degree.sum() < np.inf:
            raise PckidModelError("the rows of its embedding have no degree.")
    eigenvalues = reader.floats("projection.eigenvalues", (k,))
    estimator._projection = Projection(basis, degree, eigenvalues)
    estimator._centers = estimator.cluster_centers_ = reader.floats("centers", (k, k))
    estimator.eigenvalues_ = eigenvalues
    estimator.inertia_ = checking.number(facts, "inertia")
    estimator._sharpness = checking.number(facts, "sharpness")
    if not 0 < estimator._sharpness < np.inf:
        raise PckidModelError("the sharpness of its memberships is not positive.")
    estimator.n_clusters_ = estimator._n_features_out = k
    if "summary.n_rows" in reader:
        estimator._summary = _read_summary(reader, estimator._kernel.scaling, k)
    if "cluster_sizes" in facts:
        estimator._cluster_sizes = checking.counts(facts, "cluster_sizes", k)
    if "cluster_names" in facts:
        estimator.cluster_names_ = checking.texts(facts, "cluster_names")


def _read_summary(reader: ArrayReader, scaling: Scaling, n_clusters: int) -> RowSummary:
    """Take the summary of the rows of a fit."""
    d, c = len(scaling.kept), len(scaling.categorical)
    n_categories = 0 if scaling.margins is None else scaling.margins.column.shape[0]
    shapes: list[tuple[int, ...]] = [
        (1,), (d + c,), (d,), (d,), (d, N_BINS - 1), (d, N_BINS), (n_categories,), (n_clusters,),
        (2,),
    ]  # fmt: skip
    found: dict[str, Any] = {
        key: reader.floats(f"summary.{key}", shape, "float64")
        for key, shape in zip(RowSummary._fields, shapes, strict=True)
    }
    if any((found[key] < 0).any() for key in found if key not in ("means", "deciles")):
        raise PckidModelError("the summary of its rows holds negative counts.")
    return RowSummary(**found | {"n_rows": float(found["n_rows"][0])})


def _count_clusters(estimator: PCKID, reader: ArrayReader) -> int:
    """Return the number of clusters: that asked for, or that of the centres."""
    if not isinstance(estimator.n_clusters, str):
        return estimator.n_clusters
    if (found := reader.length("centers")) < 1:
        raise PckidModelError("it has no clusters.")
    return found


def _pack_mixture(estimator: IncompleteGaussianMixture) -> tuple[Facts, Named]:
    """Name the arrays of one mixture."""
    named = _scaling_fields(estimator._scaling) | _fields("mixture", estimator._params)
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


def _unpack_mixture(
    estimator: IncompleteGaussianMixture, facts: Facts, reader: ArrayReader
) -> None:
    """Restore one mixture."""
    estimator._scaling = scaling = _scaling(reader, estimator.n_features_in_)
    estimator._dtype = dtype = checking.choice(facts, "dtype", _FLOATS)
    size = (1, estimator.n_components)
    kind = estimator.covariance_type
    estimator._params = _mixtures(reader, "mixture", kind, size, scaling, dtype)
    constants = reader.take("constants", (estimator.n_features_in_,), "float64")
    if np.isinf(constants).any():
        raise PckidModelError("the array constants holds values out of range.")
    estimator._constants = constants
    estimator.weights_ = np.exp(estimator._params.log_weights[0])
    estimator.converged_ = bool(facts["converged"])
    estimator.n_iter_ = checking.integer(facts, "n_iter", 0, 2**31)
    estimator.lower_bound_ = checking.number(facts, "lower_bound")


KINDS = {
    "PCKID": ModelKind(PCKID, _pack_clusters, _unpack_clusters, "_projection"),
    "ProbabilisticClusterKernel": ModelKind(
        ProbabilisticClusterKernel, _pack_kernel, _unpack_kernel, "_kernel"
    ),
    "IncompleteGaussianMixture": ModelKind(
        IncompleteGaussianMixture, _pack_mixture, _unpack_mixture, "_params"
    ),
}
"""Classes by the name that a file gives them; no other class is ever made from a file."""


def _fields(prefix: str, state: Any) -> Named:
    """Name the fields of a tuple of arrays; what is None or holds nothing is not stored."""
    return {
        f"{prefix}.{key}": v
        for key, v in state._asdict().items()
        if v is not None and 0 not in v.shape
    }


def _scaling_fields(scaling: Scaling) -> Named:
    """Name the arrays of a scaling."""
    named = _fields("scaling", scaling._replace(margins=None))
    if scaling.margins is not None:
        named |= _fields("margins", scaling.margins)
    return named


def _category_facts(estimator: EnsembleEstimator) -> Facts:
    """Write down the categories of each column, by its index."""
    facts = {str(j): list(known) for j, known in estimator._categories.items()}
    for j, known in facts.items():
        if not all(type(value) in checking.CATEGORY_TYPES for value in known):
            raise TypeError(
                f"The categories of column {column_name(estimator, int(j))} are neither texts, "
                "numbers nor booleans, so they cannot be saved. Turn them into texts before fit."
            )
    return {"categories": facts} if facts else {}


def _scaling(
    reader: ArrayReader, n_features: int, known: dict[int, list[Any]] | None = None
) -> Scaling:
    """Take the scaling of the columns used; `known` are the categories of columns."""
    n_kept, n_categorical = reader.length("scaling.kept"), reader.length("scaling.categorical")
    kept = _indices(reader, "scaling.kept", n_kept, n_features)
    categorical = _indices(reader, "scaling.categorical", n_categorical, n_features)
    named = np.array(sorted(known or ()), dtype=np.int64)
    if not n_kept + n_categorical or np.isin(kept, named).any():
        raise PckidModelError("the list of used columns does not fit the columns.")
    if not np.isin(categorical, named).all():
        raise PckidModelError("a column of categories lacks its categories.")
    largest, smallest = _LIMITS.max, _LIMITS.smallest_subnormal
    center = reader.floats("scaling.center", (n_kept,), "float64", low=-largest, high=largest)
    scale = reader.floats("scaling.scale", (n_kept,), "float64", low=smallest, high=largest)
    sizes = [len((known or {})[j]) for j in categorical]
    unit = None
    if "scaling.unit" in reader:
        unit = reader.floats("scaling.unit", (n_kept,), "float64", low=1.0, high=2.0**1022)
    return Scaling(center, scale, kept, categorical, _read_margins(reader, sizes, n_kept), unit)


def _indices(reader: ArrayReader, name: str, length: int, n_features: int) -> np.ndarray:
    """Take ascending indices of columns."""
    indices = reader.take(name, (length,), "int64")
    outside = (indices < 0) | (indices >= n_features)
    if outside.any() or (np.diff(indices) <= 0).any():
        raise PckidModelError("the list of used columns does not fit the columns.")
    return indices


def _read_margins(reader: ArrayReader, sizes: list[int], n_kept: int) -> Margins:
    """Take the shares of categories and of observed cells over all rows."""
    column = np.repeat(np.arange(len(sizes)), sizes)
    if len(column) and (reader.take("margins.column", column.shape, "int64") != column).any():
        raise PckidModelError("its categories do not fit its columns.")
    share, positive = {"low": 0.0, "high": 1.0}, {"low": _LIMITS.tiny, "high": _LIMITS.max}
    frequencies = reader.floats("margins.frequencies", column.shape, "float64", **share)
    checking.add_up(frequencies[None, :], sizes, "margins.frequencies")
    n_columns = n_kept + len(sizes)
    return Margins(
        column,
        frequencies,
        reader.optional("margins.observed", n_columns, **share),
        reader.optional("margins.higher", n_kept, **share),
        reader.optional("margins.one_hot", n_kept, **share),
        reader.optional("margins.weights", n_columns, **positive),
    )


def _mixtures(
    reader: ArrayReader, prefix: str, kind: str, size: tuple[int, int], scaling: Scaling, dtype: str
) -> Any:
    """Take the parameters of a stack of mixtures, `size` = (n_mixtures, n_components)."""
    n_kept, family = len(scaling.kept), FAMILIES[kind]
    spread = (n_kept, n_kept) if family.MATRICES else (n_kept,)
    parts = [
        checking.check_log_weights(reader, f"{prefix}.log_weights", size, dtype),
        reader.floats(f"{prefix}.means", (*size, n_kept), dtype),
        checking.covariances(reader, f"{prefix}.covariances", (*size, *spread), dtype),
    ]
    if family.MIXED:
        parts += _probabilities(reader, prefix, size, scaling.margins, dtype)
    return family.Parameters(*parts)


def _probabilities(
    reader: ArrayReader, prefix: str, size: tuple[int, int], margins: Margins | None, dtype: str
) -> list[np.ndarray]:
    """Take the probabilities of categories, and those of being observed."""
    n_categories = 0 if margins is None else margins.column.shape[0]
    n_observed = 0 if margins is None else margins.observed.shape[0]
    least = float(np.finfo(dtype).smallest_normal)
    name = f"{prefix}.categories"
    chances = reader.floats(name, (*size, n_categories), dtype, low=least, high=1.001)
    if margins is not None and n_categories:
        sizes = np.bincount(to_numpy(margins.column)).tolist()
        checking.add_up(chances.reshape(-1, n_categories), sizes, name)
    name = f"{prefix}.observed"
    return [chances, reader.floats(name, (*size, n_observed), dtype, low=0.0, high=1.001)]
