"""From what the user gives to standardised rows, for training and for new rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, take_along, to_numpy
from pckid.input.table import Scaling, Table, measure, standardise
from pckid.input.validation import check_columns_vary, validate_table


def measure_columns(
    X: Array,
    categorical: np.ndarray | None = None,
    *,
    one_scale: bool = False,
    informative: bool = False,
    two_values: bool = False,
    weights: Array | None = None,
) -> Scaling:
    """Measure the columns of the rows of a fit.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        As from `validate_table`, in float64, where it is to be computed.
    categorical : array of shape (n_features,), bool, default=None
        The columns of categories.
    one_scale : bool, default=False
        Divide all features by the same number, as where one variance is to hold for all of them.
    informative : bool, default=False
        Whether missingness itself carries information about the clusters.
    two_values : bool, default=False
        Whether columns of numbers that take only two values are counted like categories.
    weights : array of shape (n_samples,), default=None
        How much each row counts.
    """
    scaling = measure(
        X,
        categorical,
        informative=informative,
        two_values=two_values,
        one_scale=one_scale,
        weights=weights,
    )
    some = categorical is not None and bool(categorical.any())
    check_columns_vary(len(scaling.used), X.shape, categories=some)
    return scaling


def usable_rows(X: Array, scaling: Scaling) -> Array:
    """Find which rows have a value in a column that is used, of shape (n_samples,)."""
    xp = namespace(X)
    observed = take_along(~xp.isnan(X), scaling.used, axis=1)
    return xp.any(observed, axis=1)


def read_new(estimator: Any, X: Any, scaling: Scaling, dtype: str) -> Table:
    """Check rows against a fitted estimator and standardise them, where its arrays lie."""
    return standardise_at_home(validate_table(estimator, X, reset=False), scaling, dtype)


def standardise_at_home(X: Array, scaling: Scaling, dtype: str) -> Table:
    """Standardise rows as from `validate_table`, moved to where the scaling lies."""
    home = scaling.center
    if namespace(X) is not namespace(home) or device_of(X) != device_of(home):
        X = asarray_like(to_numpy(X), home)
    return standardise(namespace(X).astype(X, home.dtype, copy=False), scaling, dtype)
