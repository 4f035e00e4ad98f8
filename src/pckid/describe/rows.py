"""The rows that an estimator was fitted on: their labels, values and columns."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import to_numpy
from pckid._utils.parallel import n_threads
from pckid.cubes import as_table
from pckid.ensemble.feature_map import project
from pckid.input.column_groups import plain_table
from pckid.input.columns import as_frame, is_blocked
from pckid.input.table import StandardisedRows, standardise_on_model_device
from pckid.input.validation import validate_table
from pckid.input.warnings import FeatureNamesWarning, ignore_warnings

# A table is that of the fit if so many of its rows lie where they did in the embedding: equal up to
# rounding, except for a share of rows that may have been changed since.
_ROWS_COMPARED = 200
_ROUNDING = 1e-3
_MAX_MOVED = 0.1


def sample_by_cluster(labels: np.ndarray, max_rows: int, random_state: int = 0) -> np.ndarray:
    """Choose about `max_rows` rows at random by labels (n_samples,), ordered by cluster.

    Each cluster in proportion but none left out; rows with a negative label are never chosen.
    """
    clustered = np.flatnonzero(labels >= 0)
    rng = np.random.default_rng(random_state)
    share = min(1.0, max_rows / max(len(clustered), 1))
    chosen = []
    for cluster in np.unique(labels[clustered]):
        inside = np.flatnonzero(labels == cluster)
        size = min(len(inside), max(1, int(len(inside) * share)))
        chosen.append(np.sort(rng.choice(inside, size, replace=False)))
    return np.concatenate(chosen) if chosen else clustered


def read_rows(estimator: Any, X: Any) -> np.ndarray:
    """Turn rows in memory, seen in a fit or new, into floats; categories are numbers from 0.

    X and the result have the shape (n_samples, n_features), NaN where missing.
    """
    check_is_fitted(estimator)
    if is_blocked(X):
        raise ValueError("X comes in blocks, but rows in memory are needed. Give them one by one.")
    values = validate_table(estimator, plain_table(as_table(X, estimator)), reset=False)
    return to_numpy(values).astype(np.float64)


def list_row_names(X: Any, n_rows: int) -> list[Any]:
    """Name rows by the index of a pandas frame, or the cases of series; else by their numbers."""
    frame = as_frame(plain_table(X))
    if frame is not None and frame.implementation.is_pandas():
        return list(frame.to_native().index.tolist())
    return list(getattr(X, "cases", range(n_rows)))


def keeps_labels(estimator: Any) -> bool:
    """Return whether an estimator has the labels of its rows in memory."""
    return hasattr(estimator, "labels_") and not is_blocked(estimator.labels_)


def own_labels(estimator: Any) -> np.ndarray:
    """Labels of the rows that an estimator was fitted on, of shape (n_samples,)."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "labels_"):
        raise ValueError(
            f"This {type(estimator).__name__} keeps no labels of the rows it was fitted on, as a "
            "model from a file keeps none. Fit it again with fit(X); a pickle keeps them."
        )
    if not keeps_labels(estimator):
        raise ValueError(
            f"This {type(estimator).__name__} was fitted on blocks, and its labels are computed "
            "when they are asked for. Fit it again with rows in memory, such as a sample of them."
        )
    return to_numpy(estimator.labels_)


def to_matrix(estimator: Any, X: Any) -> np.ndarray:
    """Turn the table that an estimator was fitted on into floats, NaN where missing.

    X and the result have the shape (n_samples, n_features).
    """
    labels = own_labels(estimator)
    # The numbers alone will do: names are checked where both sides have them.
    with ignore_warnings(FeatureNamesWarning):
        values = read_rows(estimator, X)
    if len(values) != len(labels):
        raise ValueError(
            f"X has {len(values)} rows, but the estimator was fitted on {len(labels)}. Give the "
            "table that it was fitted on."
        )
    # Some rows must lie where the fit placed them.
    rows = np.flatnonzero(labels >= 0)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ROWS_COMPARED)).astype(np.int64)]
    then = to_numpy(estimator.embedding_)[rows]
    state, table = estimator.state_, standardised_rows(estimator, values[rows])
    projection, jobs = state.clusters.projection, n_threads(estimator.n_jobs)
    now = to_numpy(project(state.kernel, projection, table, jobs))
    moved = (np.abs(now - then) > _ROUNDING * np.abs(then).max(initial=0)).any(axis=1)
    if moved.mean() > _MAX_MOVED:
        raise ValueError(
            f"X does not hold the rows that the estimator was fitted on, or not in their order: "
            f"{int(moved.sum())} of {len(rows)} rows compared differ. Give the table as it was "
            "given to fit, or fit again."
        )
    return values


def used_columns(estimator: Any) -> np.ndarray:
    """Indices of the columns that a fitted estimator did not drop, ascending."""
    return np.sort(estimator.state_.kernel.scaling.used)


def standardised_rows(estimator: Any, values: np.ndarray) -> StandardisedRows:
    """Standardise rows (n_rows, n_features) as an estimator's kernel wants them."""
    kernel = estimator.state_.kernel
    return standardise_on_model_device(values, kernel.scaling, kernel.dtype)
