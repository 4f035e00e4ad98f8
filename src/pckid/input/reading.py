"""From what the user gives to standardised rows, for training and for new rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, device_of, like, namespace, to_numpy
from pckid.input.table import Scaling, Table, measure, standardise, with_one_scale
from pckid.input.validation import column_name, dropped_features, read_table, refuse_no_column
from pckid.input.warnings import warn_empty_rows, warn_sentinels


class Training(NamedTuple):
    """The rows of a fit."""

    table: Table  # all rows
    usable: Array  # (n_usable,), indices of rows with a value in a column that varies
    scaling: Scaling


def measure_training(
    estimator: Any,
    X: Array,
    categorical: np.ndarray | None = None,
    *,
    one_scale: bool = False,
    weights: Array | None = None,
) -> Scaling:
    """Measure the columns of a fit and name those left out; parameters as in `read_training`."""
    informative = getattr(estimator, "missingness", "ignorable") == "informative"
    scaling = measure(X, categorical, informative=informative, weights=weights)
    some = categorical is not None and bool(categorical.any())
    refuse_no_column(len(scaling.used), X.shape, categories=some)
    estimator.dropped_features_ = dropped_features(estimator, scaling.used)
    return with_one_scale(scaling) if one_scale else scaling


def usable_rows(estimator: Any, X: Array, scaling: Scaling) -> Array:
    """Find the rows with a value in a column that is used; warn of the others, and of codes."""
    xp = namespace(X)
    observed = xp.take(~xp.isnan(X), like(scaling.used, X, dtype=xp.int64), axis=1)
    usable = xp.nonzero(xp.any(observed, axis=1))[0]
    warn_empty_rows(X.shape[0] - usable.shape[0], X.shape[0])
    if isinstance(X, np.ndarray):
        warn_sentinels(X, lambda j: column_name(estimator, j))
    return usable


def read_training(
    estimator: Any,
    X: Array,
    dtype: str,
    categorical: np.ndarray | None = None,
    *,
    one_scale: bool = False,
    weights: Array | None = None,
) -> Training:
    """Measure and standardise the rows of a fit; name the columns left out.

    Parameters
    ----------
    estimator : estimator
        Gets `dropped_features_`.
    X : array of shape (n_samples, n_features)
        As from `read_table`, where it is to be computed.
    dtype : str
        Of the standardised values.
    categorical : array of shape (n_features,), bool, default=None
        The columns of categories.
    one_scale : bool, default=False
        Divide all features by the same number, as where one variance is to hold for all of them.
    weights : array of shape (n_samples,), default=None
        How much each row counts.
    """
    xp = namespace(X)
    X = xp.astype(X, xp.float64, copy=False)
    scaling = measure_training(estimator, X, categorical, one_scale=one_scale, weights=weights)
    usable = usable_rows(estimator, X, scaling)
    return Training(standardise(X, scaling, dtype), usable, scaling)


def read_new(estimator: Any, X: Any, scaling: Scaling, dtype: str) -> Table:
    """Check rows against a fitted estimator and standardise them, where its arrays lie."""
    return standardise_at_home(read_table(estimator, X, reset=False), scaling, dtype)


def standardise_at_home(X: Array, scaling: Scaling, dtype: str) -> Table:
    """Standardise rows as from `read_table`, moved to where the scaling lies."""
    home = scaling.center
    if namespace(X) is not namespace(home) or device_of(X) != device_of(home):
        X = like(to_numpy(X), home)
    return standardise(namespace(X).astype(X, home.dtype, copy=False), scaling, dtype)
