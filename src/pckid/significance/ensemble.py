"""Small ensembles: those of an estimator with few mixtures, for many small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from pckid._utils.arrays import to_numpy
from pckid.columns.count import Count
from pckid.columns.ordinal import Ordinal
from pckid.ensemble.base import EnsembleEstimator
from pckid.ensemble.feature_map import feature_matrix
from pckid.input.column_groups import find_roles
from pckid.input.table import standardise
from pckid.input.validation import categorical_mask, column_names
from pckid.spectral.clustering import recluster

_N_INITS = 5
# Few rows cost next to nothing, and their mixtures differ more: more starts, up to these.
_MAX_INITS = 20
_CELLS_FOR_INITS, _MIN_COLUMNS = 40_000, 20
_N_SIZES = 4


def with_few_mixtures(estimator: EnsembleEstimator, **changes: Any) -> EnsembleEstimator:
    """Copy a fitted estimator with few mixtures, for a matrix of its columns, on one thread.

    The copy takes no logarithms: the matrix holds them, as from `logs_as_scaled`. `changes` are
    further parameters of the copy.
    """
    # The columns of a matrix have no names.
    roles = find_roles(estimator, estimator._column_groups, column_names(estimator))
    given: dict[str, Any] = {
        "n_inits": min(_N_INITS, estimator._n_starts),
        "n_sizes": _N_SIZES,
        "n_jobs": 1,
        "verbose": 0,
        "device": None,
        "dtype": "float32" if estimator.dtype == "auto" else estimator.dtype,
        "categorical_features": np.flatnonzero(categorical_mask(estimator)),
        "column_groups": roles.column_sets,
        "missingness": np.flatnonzero(roles.informative),
        "log_columns": None,
        "count_columns": list(roles.kinds[Count.name]),
        "ordinal_columns": list(roles.kinds[Ordinal.name]),
    }
    copy = clone(estimator).set_params(**{**given, **changes})
    if hasattr(estimator, "_scoring"):
        copy._scoring_given = estimator._scoring
    if hasattr(copy, "set_callbacks"):
        copy.set_callbacks()
    return copy


def with_whole_levels(estimator: EnsembleEstimator, X: np.ndarray) -> np.ndarray:
    """Round ordered categories of a table (n_samples, n_features), drawn as numbers are."""
    if not estimator._ordinal:
        return X
    return np.where(np.isin(np.arange(X.shape[1]), list(estimator._ordinal)), np.rint(X), X)


def cluster_some(
    estimator: Any, X: np.ndarray, n_clusters: int, drawn: np.ndarray, seed: int
) -> np.ndarray:
    """Cluster the rows `drawn` (n_drawn,) of a table by few mixtures, and label all (n_samples,).

    As fit and predict of a PCKID, without all else that a fit finds. A row that has values only in
    columns that do not vary in the rows drawn gets the label 0.
    """
    model: Any = with_few_mixtures(
        estimator, n_clusters=n_clusters, kmeans_n_init=10, random_state=seed
    )
    X = with_whole_levels(estimator, X)
    training = model._train(model._draw(X[drawn], **model._sampling_minimums()))
    kernel, sample = training.kernel, training.drawn.sample
    table = standardise(X, kernel.scaling, kernel.dtype)
    how = model._clustering(n_clusters)
    labels = recluster(kernel, sample, [n_clusters], **how, others=table)[0]
    return np.where(to_numpy(table.observed).any(axis=1), labels, 0)


def n_starts(n_inits: int, n_rows: int, n_columns: int) -> int:
    """Return how many starts a table is compared by: 20 up to 100 rows, 5 from 400 on.

    Fewer if there are more than 20 columns. An estimator of fewer than 5, `n_inits`, keeps its own.
    """
    if n_inits < _N_INITS:
        return n_inits
    cells = n_rows * max(n_columns, _MIN_COLUMNS)
    return max(_N_INITS, min(_MAX_INITS, _CELLS_FOR_INITS // cells))


def small_kernel(estimator: EnsembleEstimator, X: np.ndarray, seed: int) -> np.ndarray:
    """Train a small ensemble on a table (n, d); the kernel between its rows (n, n)."""
    X, n_inits = with_whole_levels(estimator, X), n_starts(estimator._n_starts, *X.shape)
    model = with_few_mixtures(estimator, random_state=seed, n_inits=n_inits)
    kernel = model._train(model._draw(X)).kernel
    table = standardise(X, kernel.scaling, kernel.dtype)
    features = to_numpy(feature_matrix(kernel, table, 1))
    return features.T @ features
