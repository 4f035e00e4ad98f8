"""Input checks: tables of any kind become float arrays with NaN, or an error that helps."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import wraps
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from pckid._utils.arrays import Array, asarray_like, detach, is_foreign, namespace, to_numpy
from pckid._utils.sklearn_compat import Interval, InvalidParameterError, check_n_features
from pckid.columns.log_number import NO_LOG
from pckid.input import categories, ordinal
from pckid.input.arrangement import without_columns
from pckid.input.cells import numbers
from pckid.input.column_groups import plain_table
from pckid.input.columns import (
    Column,
    as_frame,
    as_objects,
    cells_of,
    convert_columns,
    frame_columns,
    is_blocked,
)
from pckid.input.fitted_columns import FittedColumns
from pckid.input.warnings import FeatureNamesWarning, ignores

_ALL_WHOLE = 2.0**53  # up to here floats hold every whole number


def validate_table(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Turn a table into a float array (n_samples, n_features), NaN where a value is missing.

    It is an array-like, a dataframe, a SeriesTable or an array of the Array API; NaN, None, pd.NA,
    NaT, nulls and masked entries are missing. With `reset`, as in `fit`, the estimator gets
    `n_features_in_`, `feature_names_in_` and the categories of the columns that its
    `categorical_features` stands for; else `X` must match them. Categories are numbered from 0; one
    that `fit` did not see is missing.
    """
    X = plain_table(X)
    if not reset:
        X = without_columns(X, getattr(estimator, "_position_columns", ()))
    _refuse_other_things(X)
    if is_blocked(X):
        raise TypeError(
            "X comes in blocks, which only PCKID takes, to fit and to predict. Give X.compute() if "
            "it fits in memory."
        )
    frame = as_frame(X)
    columns = None if frame is None else list(frame.iter_columns())
    labels = [] if frame is None else list(frame.columns)
    if frame is not None:
        # Before any column is read, so that columns out of order are what the error is about.
        try:
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        except ValueError as error:
            if reset:
                raise
            raise ValueError(f"{error}{_advise_columns(estimator, labels)}") from None
    _check_labels(estimator, labels, reset)
    coded = _categories(estimator, X, columns, reset)
    if is_foreign(X):
        values = _foreign(X, coded)
    elif columns is not None:
        values = convert_columns(columns, coded)
    else:
        values = _array(estimator, X, coded)
    if columns is None and not reset and ignores(FeatureNamesWarning):
        check_n_features(estimator, values, reset=False)
    elif columns is None:
        validate_data(estimator, values, reset=reset, skip_check_array=True)
    xp = namespace(values)
    infinite = xp.isinf(values)
    if bool(xp.any(infinite)):
        row, column = (int(i) for i in np.argwhere(to_numpy(infinite))[0])
        raise ValueError(
            f"Column {column_name(estimator, column)} holds {float(values[row, column])} in row "
            f"{row} (input X contains infinity). Replace it by NaN to treat it as missing."
        )
    scaling = getattr(getattr(estimator, "_kernel", None), "scaling", None)
    if not reset and scaling is not None:
        _refuse_beyond(estimator, values, scaling)
    return values


def block_values(X: Any) -> np.ndarray:
    """Turn one block of a larger table (n_samples, n_features) into floats; it may have no rows."""
    if X.shape[0] == 0:
        return np.empty(X.shape, dtype=np.float64)
    columns = frame_columns(X)
    values = _array(None, X) if columns is None else convert_columns(columns)
    return values.astype(np.float64, copy=False)


def column_name(estimator: Any, index: int) -> str:
    """Name a column as the user knows it."""
    names = column_names(estimator)
    return f"{index}" if names is None else repr(names[index])


def dropped_features(estimator: Any, kept: np.ndarray) -> list[Any]:
    """List the columns that are not `kept`, by name if the table had names."""
    dropped = np.setdiff1d(np.arange(estimator.n_features_in_), kept).tolist()
    names = column_names(estimator)
    return dropped if names is None else [names[j] for j in dropped]


def feature_names(estimator: Any) -> list[str]:
    """Name the columns that an estimator was fitted on; by numbers where they had no names."""
    names = column_names(estimator)
    return names or [f"feature {index}" for index in range(estimator.n_features_in_)]


def column_names(estimator: Any) -> list[str] | None:
    """Names of the columns that an estimator was fitted on, as texts; None where they had none."""
    labels = getattr(estimator, "feature_names_in_", getattr(estimator, "_labels_in", None))
    return None if labels is None else list(map(str, labels))


def fitted_columns(estimator: Any) -> FittedColumns:
    """Collect what an estimator that has checked a table knows of its columns."""
    return FittedColumns(
        estimator.n_features_in_,
        column_names(estimator),
        getattr(estimator, "_categories", {}),
        getattr(estimator, "_ordinal", {}),
        getattr(estimator, "_column_groups", {}),
        getattr(estimator, "_position_columns", ()),
    )


def checked_blocks(estimator: Any, rows: Any) -> Any:
    """Check that blocks, as `BlockedRows`, hold the columns of the fit."""
    validate_data(estimator, rows.template, reset=False, skip_check_array=True)
    return rows.with_categories(fitted_columns(estimator).categories)


def all_or_nothing(fit: Callable) -> Callable:
    """Make a fit that raises leave the estimator as it was, fitted before or not."""

    @wraps(fit)
    def fit_or_restore(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(estimator))
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return fit_or_restore


class IncompleteInputMixin:
    """What all estimators here have in common: X may lack values, and True is no number."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def _validate_params(self) -> None:
        """Raise also if a truth value stands where a number is wanted; Python takes True for 1."""
        for name, constraints in self._parameter_constraints.items():
            value = getattr(self, name)
            numbers = any(isinstance(c, Interval) or c is Integral for c in constraints)
            if isinstance(value, (bool, np.bool_)) and numbers:
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number. Got "
                    f"{value!r} instead."
                )
        super()._validate_params()  # type: ignore[misc]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle; parameters that an earlier version did not have take their defaults."""
        given = signature(type(self)).parameters.values()
        defaults = {each.name: each.default for each in given if each.default is not each.empty}
        super().__setstate__(defaults | state)  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


def check_columns_vary(
    n_kept: int, shape: tuple[int, ...], *, categories: bool = False, X: Array | None = None
) -> None:
    """Raise if no column varies, or holds some category twice where there are such columns.

    If the rows `X` (n_samples, n_features) hold numbers so large that floats skip whole numbers
    there, this is said.
    """
    if n_kept:
        return
    if shape[0] == 1:
        raise ValueError(
            "There is only 1 sample (row), so there is nothing to cluster by. Give more rows."
        )
    largest, lost = 0.0, ""
    if X is not None:
        xp = namespace(X)
        largest = float(xp.max(xp.where(xp.isnan(X), 0.0, xp.abs(X))))
    if largest >= _ALL_WHOLE:
        lost = (
            f" Numbers as large as {largest:.3g} are held in steps of {np.spacing(largest):,.4g}, "
            "so smaller differences are lost: subtract what they have in common before they "
            "become floats."
        )
    or_agree = ", nor holds two categories of which one comes twice" if categories else ""
    what = f"None of the {shape[1]} columns takes" if shape[1] > 1 else "The only column takes no"
    raise ValueError(
        f"{what} two different observed values in {shape[0]:,} rows{or_agree}, so there is "
        f"nothing to cluster by.{lost} Check that the right columns were given."
    )


def categorical_mask(estimator: Any) -> np.ndarray:
    """Find which columns of a fitted estimator hold categories, of shape (n_features,)."""
    return fitted_columns(estimator).categorical


def unordered_mask(estimator: Any) -> np.ndarray:
    """Find which columns hold categories without an order, of shape (n_features,)."""
    return fitted_columns(estimator).unordered


def _categories(
    estimator: Any, X: Any, columns: Sequence[Column | np.ndarray] | None, reset: bool
) -> dict[int, np.ndarray]:
    """Number the cells of the columns of categories, learning the categories if `reset`."""
    learns = reset and hasattr(estimator, "categorical_features")
    if not learns and not getattr(estimator, "_categories", None):
        return {}
    if columns is None:
        # An array that nobody asked categories of has none, and may stay where it is.
        parameters = ("categorical_features", "ordinal_columns")
        asked = not learns or any(getattr(estimator, name) is not None for name in parameters)
        columns = list(as_objects(X).T) if asked else []
    if learns:
        estimator._categories, estimator.categories_, estimator._ordinal = {}, {}, {}
        names = column_names(estimator)
        chosen = categories.chosen_columns(estimator.categorical_features, names, columns)
        levels = ordinal.chosen_levels(estimator.ordinal_columns, names, columns, chosen)
        for j in sorted({*chosen, *levels}):
            name = j if names is None else names[j]
            known = categories.learn(cells_of(columns[j]), repr(name))
            if known and j in levels:
                known = ordinal.in_order(known, levels[j], repr(name))
                estimator._ordinal[j] = repr(name)
            estimator._categories[j] = estimator.categories_[name] = known
    found, unseen = {}, {}
    for j, known in estimator._categories.items():
        if j < len(columns):
            found[j], others = categories.encode(cells_of(columns[j]), known)
            if others:
                unseen[column_name(estimator, j)] = others
    if unseen:
        categories.warn_unseen(unseen)
    return found


def _refuse_other_things(X: Any) -> None:
    """Raise for what is no table, or none yet."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which holds no values yet. Give X.collect().")
    if str(getattr(X, "layout", "")).startswith("torch.sparse"):
        raise TypeError(
            "X is a sparse tensor. Give X.to_dense(), with NaN where a value is missing."
        )
    if isinstance(X, (str, bytes, os.PathLike)):
        raise TypeError(
            f"X is {str(X)[:80]!r}, not a table. Read the file first with pckid.read_table, "
            "or use the command `pckid cluster FILE`."
        )
    # Some sparse matrices are mappings; scikit-learn's own sentence is for them.
    is_other = isinstance(X, (Mapping, Set, Iterator)) and not hasattr(X, "shape")
    holds_others = isinstance(X, list) and X and isinstance(X[0], (dict, str))
    if X is None or is_other or holds_others:
        of = f" of {type(X[0]).__name__}" if holds_others else ""
        raise TypeError(
            f"Expected 2D array, got {type(X).__name__}{of}. Give rows and columns: an array, a "
            "list of rows or a dataframe."
        )


def _advise_columns(estimator: Any, labels: list[Any]) -> str:
    """Describe how a frame with these columns gets those of the fit, where it has some."""
    expected = set(getattr(estimator, "feature_names_in_", ()))
    names = "list(model.feature_names_in_)"
    if expected.isdisjoint(labels):
        return ""
    if expected.issubset(labels):
        return f"X[{names}] has the columns of the fit alone, in its order."
    return f"X.reindex(columns={names}) in pandas takes columns that X lacks as missing."


def _check_labels(estimator: Any, labels: list[Any], reset: bool) -> None:
    """Keep the labels of a pandas frame's columns that are not texts, or compare them with fit's.

    scikit-learn keeps texts alone; years or labels of several levels tell as much. Labels that only
    number the columns are none.
    """
    if labels == list(range(len(labels))) or isinstance(labels[0], str):
        labels = []
    if reset:
        estimator._labels_in = labels or None
    seen = getattr(estimator, "_labels_in", None)
    if labels and seen and labels != seen:
        now, then = next(pair for pair in zip(labels, seen, strict=False) if pair[0] != pair[1])
        raise ValueError(
            f"X has a column {now!r} where fit had {then!r}. Give the columns of fit, in their "
            "order."
        )


def _array(estimator: Any, X: Any, coded: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
    """Check lists, NumPy arrays and masked arrays; `coded` columns are numbers already."""
    if coded:
        X = as_objects(X).astype(object)
        for j, codes in coded.items():
            X[:, j] = codes
    if isinstance(X, np.ma.MaskedArray):
        is_numeric = X.dtype.kind in "biuf"
        X = np.ma.filled(X.astype(np.float64), np.nan) if is_numeric else as_objects(X)
    elif not hasattr(X, "dtype") and isinstance(X, (list, tuple)):
        X = _from_rows(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "Mm":
        raise ValueError(
            "X holds dates or durations. Convert them to numbers first, for example days since "
            "a fixed date."
        )
    if isinstance(X, np.ndarray) and X.dtype.kind == "V":
        raise ValueError(
            "X is a structured array. Give a plain array, for example by "
            "numpy.lib.recfunctions.structured_to_unstructured(X)."
        )
    if isinstance(X, np.ndarray) and X.ndim == 3:
        raise ValueError(
            f"Found array with dim 3, of shape {X.shape}. Where it holds series, "
            "pckid.series.from_array(X, axes=...) makes a table of it; say which axis is what, as "
            "in 'case time variable'."
        )
    if isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2:
        columns = [numbers(X[:, j].tolist(), f"{j}") for j in range(X.shape[1])]
        X = np.stack(columns, axis=1) if columns else np.empty(X.shape)
    return check_array(
        X,
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )


def _from_rows(X: Any) -> Any:
    """Make an array of nested lists; rows of unequal length get a sentence of their own."""
    try:
        return np.asarray(X)
    except ValueError:
        lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        odd = next((i for i, n in enumerate(lengths) if n != lengths[0]), 0)
        raise ValueError(
            f"Row {odd} holds {lengths[odd]} values where row 0 holds {lengths[0]}. "
            "All rows of X must have the same number of values."
        ) from None


def _foreign(X: Array, coded: Mapping[int, np.ndarray]) -> Array:
    """Check an Array API array that stays where it is."""
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got an array of shape {tuple(X.shape)}. Rows go along the first "
            "axis and features along the second."
        )
    if 0 in X.shape:
        raise ValueError(
            f"Found array of shape {tuple(X.shape)}; at least 1 row and column needed."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(
            "Complex data not supported. Give the real and imaginary parts as columns."
        )
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float64)
    X = detach(X)
    if coded:
        values = np.array(to_numpy(X))
        for j, codes in coded.items():
            values[:, j] = codes
        X = asarray_like(values, X, dtype=X.dtype)
    return X


def _refuse_beyond(estimator: Any, X: Array, scaling: Any) -> None:
    """Raise if a new row holds a number of which there is no logarithm, or that is no count."""
    xp, counts = namespace(X), scaling.column_model.count_scale
    if scaling.shifts is None and counts is None:
        return
    for place, column in enumerate(scaling.kept.tolist()):
        shift = NO_LOG if scaling.shifts is None else float(scaling.shifts[place])
        is_count = counts is not None and float(counts[place]) > 0
        if shift == NO_LOG and not is_count:
            continue
        numbers = X[:, column]
        if bool(xp.any(numbers < 0 if is_count else numbers <= -shift)):
            low = float(xp.min(xp.where(xp.isnan(numbers), xp.inf, numbers)))
            why = (
                "which is no count: count_columns names it"
                if is_count
                else f"of which there is no logarithm: log_columns names it, and all numbers of "
                f"the fit were above {-shift:g}"
            )
            raise ValueError(
                f"Column {column_name(estimator, column)} holds {low:.6g}, {why}. Replace such "
                "cells by NaN to treat them as missing, or fit again."
            )
