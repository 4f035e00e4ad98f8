"""What can be saved, class by class: which facts and arrays make up a fitted state.

To save more of an estimator, return it from its `pack` function, say in `FACTS` or `ARRAYS` what it
must be, and take it back in its `unpack` function. A file that lacks what is new must still load:
test for its presence. Raise `FORMAT` in the package when an older version would misread the new
file.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid.columns import kinds
from pckid.columns.base import Stored
from pckid.columns.log_number import NO_LOG
from pckid.columns.model import from_file, to_file
from pckid.describe.row_summary import N_BINS, RowSummary
from pckid.ensemble.base import EnsembleEstimator, restore_kernel
from pckid.ensemble.feature_map import Kernel, Projection
from pckid.ensemble.members import Ensemble, largest_size
from pckid.ensemble.row_values import count_values
from pckid.ensemble.score_scale import ScoreScale
from pckid.ensemble.settings import EnsembleSettings
from pckid.ensemble.state import KernelState
from pckid.estimator import PCKID, restore_clusters
from pckid.factors.fit import asked_of
from pckid.factors.scores import WideFactors, informative_columns
from pckid.input.columns import is_blocked
from pckid.input.fitted_columns import FittedColumns
from pckid.input.table import Scaling, model_of_scores
from pckid.input.validation import column_name
from pckid.kernel import ProbabilisticClusterKernel
from pckid.mixture import IncompleteGaussianMixture
from pckid.mixture.covariance_types import COVARIANCE_TYPES
from pckid.mixture.fitted import MixtureState, restore_mixture
from pckid.modelfile.checking import (
    CATEGORY_TYPES,
    ArrayReader,
    Spec,
    check_covariances,
    check_shares,
    require,
    take_fact,
)
from pckid.spectral.assignment import FittedClusters
from pckid.spectral.state import ClusterState
from pckid.spectral.steadiness import MAX_TIMES

Facts = dict[str, Any]
Named = dict[str, Any]
_FLOAT64 = ("float64",)
_MAX_FLOAT, _MIN_NORMAL = float(np.finfo(np.float64).max), float(np.finfo(np.float64).tiny)
_MIN_SCALE = float(np.finfo(np.float64).smallest_subnormal)
_MIN_VARIANCE, _MAX_VARIANCE = 1e-16, 1e20

_ANY = Spec("", _FLOAT64, -_MAX_FLOAT, _MAX_FLOAT)
_INDEX = Spec("", ("int64",), 0)
_COUNT = Spec("", _FLOAT64, 0.0)
_SHARE = Spec("", _FLOAT64, 0.0, 1.0)
_POSITIVE = Spec("", _FLOAT64, _MIN_NORMAL, _MAX_FLOAT)
_MATRICES = Spec("mixtures components numbers numbers", low=-_MAX_VARIANCE, high=_MAX_VARIANCE)


def _of_column(each: Stored) -> Spec:
    """Turn what a kind of column says of an array into what is checked."""
    types = ("int64",) if each.integer else _FLOAT64
    return Spec(each.sizes, types, each.low, each.high, each.optional)


ARRAYS: dict[str, dict[str, Spec]] = {
    "scaling": {
        "kept": _INDEX.of("kept"),
        "categorical": _INDEX.of("categorical"),
        "center": _ANY.of("kept"),
        "scale": Spec("kept", _FLOAT64, _MIN_SCALE, _MAX_FLOAT),
        "shifts": Spec("kept", _FLOAT64, NO_LOG, 1.0, optional=True),
    },
    "margins": {
        **{name: _of_column(each) for name, each in kinds.stored().items()},
        "observed": _SHARE.of("columns", optional=True),
        "weights": _POSITIVE.of("columns", optional=True),
    },
    "factors": {
        "weights": _ANY.of("cells factors"),
        "noise": _POSITIVE.of("cells"),
        "precision": _COUNT.of("cells"),
        "scale": _COUNT.of("factors"),
    },
    "mixture": {
        "log_weights": Spec("mixtures components", low=-np.inf, high=1e-3),
        "means": Spec("mixtures components numbers"),
        "covariances": Spec("mixtures components numbers", low=_MIN_VARIANCE, high=_MAX_VARIANCE),
        "categories": Spec("mixtures components categories", low=_MIN_NORMAL, high=1.001),
        "observed": Spec("mixtures components observed", low=0.0, high=1.001),
    },
    "projection": {
        "basis": Spec("features clusters"),
        "degree": Spec("features", low=0.0, high=np.inf, optional=True),
        "eigenvalues": Spec("clusters"),
    },
    "score_scale": {"usual": _POSITIVE.of("values", optional=True)},
    "summary": {
        "n_rows": _COUNT.of("one"),
        "observed": _COUNT.of("columns"),
        "means": Spec("kept", _FLOAT64),
        "spreads": _COUNT.of("kept"),
        "deciles": Spec("kept deciles", _FLOAT64),
        "counts": _COUNT.of("kept bins"),
        "categories": _COUNT.of("categories"),
        "clusters": _COUNT.of("clusters"),
        "scored": _COUNT.of("two"),
    },
}
"""What the arrays of each part of a model must be: shapes by the names of sizes, types, ranges."""


class ModelKind(NamedTuple):
    """A class that can be saved."""

    estimator: type[Any]
    pack: Callable[[Any], tuple[Facts, Named]]  # facts for JSON, and arrays by name
    unpack: Callable[[Any, Facts, ArrayReader], None]  # sets the fitted state of an estimator


def _pack_kernel(estimator: EnsembleEstimator) -> tuple[Facts, Named]:
    state = estimator.state_
    kernel, categories = state.kernel, state.columns.categories
    named, sizes = _scaling_fields(kernel.scaling), []
    for index, stack in enumerate(kernel.ensemble.stacks):
        named |= _fields(f"stack{index}", stack)
        sizes.append(stack.log_weights.shape[1])
    facts: Facts = {"dtype": kernel.dtype, "sizes": sizes}
    if kernel.weighting != estimator.weighting:
        # What was fitted, where another weighting was set since.
        facts["weighting"] = kernel.weighting
    if isinstance(estimator.n_inits, str):
        facts["starts"] = [kernel.ensemble.n_inits]
    for j, known in categories.items():
        if not all(type(value) in CATEGORY_TYPES for value in known):
            raise TypeError(
                f"The categories of column {column_name(estimator, j)} are neither texts, "
                "numbers nor booleans, so they cannot be saved. Turn them into texts before fit."
            )
    if categories:
        facts["categories"] = {str(j): list(known) for j, known in categories.items()}
    if state.columns.sets:
        facts["column_groups"] = dict(state.columns.sets)
    return facts, named


def _unpack_kernel(estimator: EnsembleEstimator, facts: Facts, reader: ArrayReader) -> None:
    """Restore a kernel."""
    restore_kernel(estimator, _read_kernel(estimator, facts, reader))


def _read_kernel(estimator: EnsembleEstimator, facts: Facts, reader: ArrayReader) -> KernelState:
    """Take an ensemble: one stack for each number of components, ascending."""
    n_features, categories = estimator.n_features_in_, {}
    for key, known in take_fact(facts, "categories", {}).items():
        require(0 <= int(key) < n_features, f"there is no column {key[:20]}.")
        require(len(set(known)) == len(known), f"column {key} lists a category twice.")
        categories[int(key)] = known
    groups = take_fact(facts, "column_groups", {})
    inside = all(max(columns, default=0) < n_features for columns in groups.values())
    require(inside, "its groups have other columns.")
    scaling = _read_scaling(reader, n_features, categories)
    scaling = scaling._replace(factors=_read_factors(reader, scaling))
    settings = EnsembleSettings.of(estimator)
    fit = (scaling.column_model.observed is not None) == settings.is_informative
    require(fit, "its shares of observed cells do not fit its missingness.")
    sizes, largest = take_fact(facts, "sizes"), largest_size(estimator.max_components, 2**62)
    ascend = bool(sizes) and sizes == sorted(set(sizes)) and 2 <= sizes[0] <= sizes[-1] <= largest
    require(ascend, "its numbers of components do not ascend from 2.")
    least = n_inits = settings.n_starts
    if isinstance(estimator.n_inits, str):
        starts = take_fact(facts, "starts")
        fit = len(starts) == 1 and least <= starts[0] <= MAX_TIMES * least
        require(fit, "its number of starts does not fit.")
        n_inits = starts[0]
    kind, dtype = estimator.covariance_type, take_fact(facts, "dtype")
    stacks = tuple(
        _read_mixtures(reader, f"stack{index}", kind, (n_inits, size), scaling, dtype)
        for index, size in enumerate(sizes)
    )
    weighting = take_fact(facts, "weighting", estimator.weighting)
    kernel = Kernel(scaling, Ensemble(kind, stacks), dtype, weighting)
    ordinal = _find_ordinal(estimator, scaling)
    columns = FittedColumns(n_features, None, categories, ordinal, groups)
    return KernelState(kernel, columns, asked_of(scaling.factors))


def _find_ordinal(estimator: EnsembleEstimator, scaling: Scaling) -> dict[int, str]:
    """Find the columns whose categories have an order."""
    levels = scaling.column_model.levels
    if levels is None:
        return {}
    places = np.unique(scaling.column_model.column[levels > 0])
    return {j: column_name(estimator, j) for j in scaling.categorical[places].tolist()}


def _pack_clusters(estimator: PCKID) -> tuple[Facts, Named]:
    facts, named = _pack_kernel(estimator)
    state = estimator.state_
    clusters = state.clusters
    named |= _fields("projection", clusters.projection) | {"centers": clusters.centers}
    facts["inertia"] = float(estimator.inertia_)
    facts["sharpness"] = float(clusters.inverse_temperature)  # its name in files
    facts["score_scale"] = list(clusters.score_scale[:2])
    if clusters.score_scale.usual is not None:
        named["score_scale.usual"] = clusters.score_scale.usual
    summary: Any = state.summary
    named |= _fields("summary", summary._replace(n_rows=np.array([summary.n_rows])))
    if (sizes := cluster_sizes(estimator)) is not None:
        facts["cluster_sizes"] = sizes
    if any(names := estimator.cluster_names_):
        facts["cluster_names"] = names
    if positions := state.columns.positions:
        facts["position_columns"] = list(positions)
    return facts, named


def cluster_sizes(estimator: PCKID) -> list[int] | None:
    """Count the rows of each cluster; None where not all rows have been labelled.

    Of a table that comes in blocks, the profiles know only the rows that the fit learned from.
    """
    labels = getattr(estimator, "labels_", None)
    if labels is not None and not is_blocked(labels):
        return estimator.cluster_profiles_.n_rows.tolist()
    return estimator.state_.cluster_sizes


def _unpack_clusters(estimator: PCKID, facts: Facts, reader: ArrayReader) -> None:
    found = _read_kernel(estimator, facts, reader)
    kernel, k = found.kernel, estimator.n_clusters
    if isinstance(k, str):
        k = reader.length("centers")
        require(k > 0, "it has no clusters.")
    reader.sizes |= {"features": kernel.ensemble.n_columns, "clusters": k}
    reader.sizes["values"] = count_values(kernel.scaling)
    projection: Any = Projection(**reader.take_all("projection", ARRAYS["projection"]))
    has_degree = projection.degree is None or 0 < projection.degree.sum() < np.inf
    require(has_degree, "the rows of its embedding have no degree.")
    centers = reader.take("centers", Spec("clusters clusters"))
    estimator.inertia_ = float(take_fact(facts, "inertia"))
    sharpness, scale = float(take_fact(facts, "sharpness")), ScoreScale()
    if "score_scale" in facts:
        usual = reader.take("score_scale.usual", ARRAYS["score_scale"]["usual"])
        middle, spread = map(float, take_fact(facts, "score_scale"))
        require(spread > 0, "its outlier scores have no spread.")
        scale = ScoreScale(middle, spread, usual)
    summary = reader.take_all("summary", ARRAYS["summary"])
    sizes = take_fact(facts, "cluster_sizes") if "cluster_sizes" in facts else None
    require(sizes is None or len(sizes) == k, "it has other clusters than their sizes.")
    positions = tuple(take_fact(facts, "position_columns", []))
    state = ClusterState(
        *found._replace(columns=found.columns._replace(positions=positions)),
        FittedClusters(kernel, projection, centers, sharpness, scale),
        RowSummary(**summary | {"n_rows": float(summary["n_rows"][0])}),
        cluster_sizes=sizes,
    )
    restore_clusters(estimator, state)
    if "cluster_names" in facts:
        estimator.cluster_names_ = take_fact(facts, "cluster_names")


def _pack_mixture(estimator: IncompleteGaussianMixture) -> tuple[Facts, Named]:
    state = estimator.state_
    named = _scaling_fields(state.scaling) | _fields("mixture", state.params)
    # Of columns that vary, these hold the smallest value seen: that is nobody else's to know.
    constants = np.array(state.constants, dtype=np.float64)
    constants[state.scaling.kept] = np.nan
    facts = {
        "dtype": state.dtype,
        "converged": bool(estimator.converged_),
        "n_iter": int(estimator.n_iter_),
        "lower_bound": float(estimator.lower_bound_),
    }
    return facts, named | {"constants": constants}


def _unpack_mixture(
    estimator: IncompleteGaussianMixture, facts: Facts, reader: ArrayReader
) -> None:
    scaling = _read_scaling(reader, estimator.n_features_in_, {})
    dtype = take_fact(facts, "dtype")
    size, kind = (1, estimator.n_components), estimator.covariance_type
    params = _read_mixtures(reader, "mixture", kind, size, scaling, dtype)
    # NaN for columns that vary.
    constants = reader.take("constants", Spec("all", _FLOAT64, low=None))
    require(not np.isinf(constants).any(), "the array constants holds values out of range.")
    restore_mixture(estimator, MixtureState(params, scaling, constants, dtype))
    estimator.converged_ = take_fact(facts, "converged")
    estimator.n_iter_ = take_fact(facts, "n_iter")
    estimator.lower_bound_ = float(take_fact(facts, "lower_bound"))


KINDS = {
    kind.estimator.__name__: kind
    for kind in (
        ModelKind(PCKID, _pack_clusters, _unpack_clusters),
        ModelKind(ProbabilisticClusterKernel, _pack_kernel, _unpack_kernel),
        ModelKind(IncompleteGaussianMixture, _pack_mixture, _unpack_mixture),
    )
}
"""Classes by the name that a file gives them; no other class is ever made from a file."""


def _fields(prefix: str, state: Any) -> Named:
    """Name the arrays of a tuple; what is None, or holds nothing, is not stored."""
    return _name(prefix, state._asdict())


def _name(prefix: str, arrays: Named) -> Named:
    """Name arrays; what is no array, or holds nothing, is not stored."""
    return {f"{prefix}.{k}": v for k, v in arrays.items() if 0 not in getattr(v, "shape", (0,))}


def _scaling_fields(scaling: Scaling) -> Named:
    found = _fields("scaling", scaling) | _name("margins", to_file(scaling.column_model))
    return found if scaling.factors is None else found | _fields("factors", scaling.factors)


def _read_scaling(
    reader: ArrayReader, n_features: int, categories: dict[int, list[Any]]
) -> Scaling:
    """Take the scaling of the columns used; `categories` are those of its columns."""
    n_kept, n_categorical = reader.length("scaling.kept"), reader.length("scaling.categorical")
    fixed = {"one": 1, "two": 2, "bins": N_BINS, "deciles": N_BINS - 1}
    reader.sizes |= fixed | {"all": n_features, "kept": n_kept, "categorical": n_categorical}
    found = reader.take_all("scaling", ARRAYS["scaling"])
    whole = found["shifts"] is None or bool(np.isin(found["shifts"], (NO_LOG, 0.0, 1.0)).all())
    require(whole, "the array scaling.shifts holds values out of range.")
    kept, categorical = found["kept"], found["categorical"]
    named = np.array([*categories], np.int64)
    ascend = all((np.diff(part) > 0).all() for part in (kept, categorical))
    inside = max(kept.max(initial=0), categorical.max(initial=0)) < n_features
    fit = inside and ascend and n_kept + n_categorical > 0 and not np.isin(kept, named).any()
    require(fit, "the list of used columns does not fit the columns.")
    require(bool(np.isin(categorical, named).all()), "a column of categories lacks its categories.")
    sizes = [len(categories[j]) for j in categorical.tolist()]
    reader.sizes |= {"columns": n_kept + n_categorical, "categories": sum(sizes)}
    model: Any = from_file(reader.take_all("margins", ARRAYS["margins"]))
    column = np.repeat(np.arange(len(sizes)), sizes)
    require(np.array_equal(model.column, column), "its categories do not fit its columns.")
    check_shares(model.frequencies[None, :], column, "margins.frequencies")
    reader.sizes["numbers"] = n_kept
    return Scaling(**found, column_model=model)


def _read_factors(reader: ArrayReader, scaling: Scaling) -> WideFactors | None:
    """Take what rows of a wide table are scored by; None of others."""
    n_factors = reader.length("factors.scale")
    if n_factors == 0:
        return None
    # Beside columns of numbers, where those are missing that are so for a reason.
    n_kept, observed = len(scaling.kept), scaling.column_model.observed
    shares = np.ones(n_kept) if observed is None else observed[:n_kept]
    n_cells = n_kept + len(informative_columns(shares))
    reader.sizes |= {"factors": n_factors, "numbers": n_factors, "cells": n_cells}
    found = WideFactors(**reader.take_all("factors", ARRAYS["factors"]))
    require(bool((found.precision > 0).any()), "no column tells of its factors.")
    return found


def _read_mixtures(
    reader: ArrayReader, prefix: str, kind: str, size: tuple[int, int], scaling: Scaling, dtype: str
) -> Any:
    """Take the parameters of a stack of mixtures, `size` = (n_mixtures, n_components)."""
    model, family = scaling.column_model, COVARIANCE_TYPES[kind]
    seen = model.observed
    if scaling.factors is not None:
        seen = model_of_scores(model, len(scaling.kept), scaling.n_numbers).observed
    reader.sizes |= {
        "mixtures": size[0],
        "components": size[1],
        "observed": 0 if seen is None else seen.shape[0],
    }
    schema = {key: ARRAYS["mixture"][key] for key in family.Parameters._fields}
    if family.MATRICES:
        schema["covariances"] = _MATRICES
    exact = {key: spec._replace(dtypes=(dtype,)) for key, spec in schema.items()}
    found = family.Parameters(**reader.take_all(prefix, exact))
    # Row by row: a copy of all would take more memory than the file.
    totals = [np.exp(row, dtype=np.float64).sum() for row in found.log_weights]
    add_up = np.allclose(totals, 1, rtol=0, atol=1e-3)
    require(add_up, f"the array {prefix}.log_weights holds no weights.")
    if family.MATRICES:
        check_covariances(found.covariances, f"{prefix}.covariances")
    column = to_numpy(model.column)
    if family.MIXED and len(column):
        chances = found.categories.reshape(-1, len(column))
        check_shares(chances, column, f"{prefix}.categories")
    return found
