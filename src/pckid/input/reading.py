"""From what the user gives to standardised rows, for training and for new rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, take_along, to_numpy
from pckid.input.table import Scaling, Table, measure, standardise
from pckid.input.validation import check_columns_vary, validate_table


def measure_columns(X: Array, categorical: np.ndarray | None = None, **options: Any) -> Scaling:
    """Measure the columns of the rows of a fit; raise if none of them varies.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        As from `validate_table`, in float64, where it is to be computed.
    categorical : array of shape (n_features,), bool, default=None
        The columns of categories.
    **options
        As `table.measure` has them.
    """
    scaling = measure(X, categorical, **options)
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
