"""What the kernel and the clusterer share as estimators: how they read a table, and impute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pckid._utils.arrays import Array, asarray_like, namespace, place, restorer, to_numpy
from pckid._utils.parallel import n_threads
from pckid._utils.sklearn_compat import CallbackSupportMixin
from pckid.blocks import BlockedRows, blocked
from pckid.cubes import as_table
from pckid.ensemble.feature_map import Kernel, kernel_matrix
from pckid.ensemble.imputation import Imputation, expected_values, fill_in
from pckid.ensemble.settings import EnsembleParameters, EnsembleSettings
from pckid.ensemble.state import KernelState
from pckid.ensemble.training import FitInput, Minimums, asked_factors, draw_input
from pckid.factors.fit import Asked, asked_of
from pckid.input.arrangement import Arrangement, without_columns
from pckid.input.categories import forget
from pckid.input.column_groups import (
    ColumnRoles,
    find_roles,
    has_groups,
    list_group_columns,
    plain_table,
)
from pckid.input.columns import fill_table, keep_categories
from pckid.input.known import in_order_of, read_known
from pckid.input.sample import RowsInMemory
from pckid.input.table import StandardisedRows, standardise_on_model_device
from pckid.input.validation import (
    IncompleteInputMixin,
    categorical_mask,
    column_name,
    column_names,
    dropped_features,
    fitted_columns,
    validate_table,
)
from pckid.input.warnings import warn_empty_rows, warn_identifiers, warn_sentinels
from pckid.input.weights import checked_weights
from pckid.mixture.covariance_types import COVARIANCE_TYPES


class EnsembleEstimator(
    CallbackSupportMixin,
    IncompleteInputMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    EnsembleParameters,
    BaseEstimator,
):
    """What the kernel and the clusterer share: the ensemble's parameters and its training."""

    _categories: dict[int, list[Any]]
    categories_: dict[Any, list[Any]]
    _ordinal: dict[int, str]
    _column_groups: Mapping[str, list[int]]
    _scoring: Asked | None
    _kernel: Kernel
    _n_features_out: int

    @property
    def state_(self) -> Any:
        """What other functions of pckid read of the fit; it may change with any version."""
        return KernelState(self._kernel, fitted_columns(self), self._scoring)

    def kernel(self, X: Any, Y: Any = None) -> Array:
        """Compute the kernel κ between rows.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Rows, with NaN where a value is missing.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Other rows; None compares the rows of `X` with each other.

        Returns
        -------
        K : array of shape (n_samples_X, n_samples_Y)
            Values κ(x, y) = (1/Z) Σ_q Σ_g w_g γ(x; q, g)ᵀ γ(y; q, g), between 0 and 1.
        """
        check_is_fitted(self)
        left = self._read(X)
        right = left if Y is None else self._read(Y)
        return restorer(X)(kernel_matrix(self._kernel, left, right))

    def impute(self, X: Any) -> Imputation:
        """Fill in what the mixtures expect of every missing value, and how far it may be off.

        The mean over the mixtures, weighted as in the kernel, of what each expects given the
        observed values of the row. Clusters need none of it: it is for those who want values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing; a table in memory.

        Returns
        -------
        imputation : Imputation
            With `values`, in the columns of `X`, and their `spread`: the predictive standard
            deviation, within and between the mixtures, or the chance of another category. For a
            dataframe both are dataframes, with its names and index; for an image stack of xarray
            both are such stacks. Where columns are roughly Gaussian, about 68 % of the true values
            lie within one spread.

        Examples
        --------
        >>> import numpy as np
        >>> from pckid import PCKID
        >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
        >>> X[0, 1] = np.nan
        >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
        >>> found = model.impute(X)
        >>> bool(abs(found.values[0, 1]) < 2)
        True
        """
        check_is_fitted(self)
        given_as = as_table(X, self)
        X = without_columns(plain_table(given_as), getattr(self, "_position_columns", ()))
        checked = validate_table(self, X, reset=False)
        table = standardise_on_model_device(checked, self._kernel.scaling, self._kernel.dtype)
        expected = expected_values(self._kernel, table, n_threads(self.n_jobs))
        given = to_numpy(checked).astype(np.float64)
        values, spread = fill_in(given, expected, self._kernel.scaling, self._categories)
        keep_categories(X, values, spread, self._categories)
        changed = np.flatnonzero(np.isnan(given).any(axis=0)).tolist()
        if callable(restore := getattr(given_as, "restore_layers", None)):
            return Imputation(restore(values), restore(spread))
        filled = fill_table(X, values, changed, self._categories)
        return Imputation(filled, fill_table(X, spread, range(given.shape[1]), ()))

    def _draw(
        self,
        X: Any,
        sample_weight: Any = None,
        known: Any = None,
        *,
        arrangement: Arrangement | None = None,
        least: Minimums = Minimums(),
    ) -> FitInput:
        """Check a table, in memory or in blocks, and draw the rows to learn from.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), default=None
        known : array-like of shape (n_samples,), default=None
            Groups of rows, as for `PCKID.fit`.
        arrangement : Arrangement, default=None
            Where rows are, and which belong together.
        least : Minimums
            How many rows there must be.
        """
        blocks = blocked(X, known)
        rows: RowsInMemory | BlockedRows
        if blocks is None:
            rows = self._check_table(X, sample_weight)
            if known is not None:
                rows = rows._replace(known=read_known(in_order_of(X, known), rows.X.shape[0]))
            rows = rows._replace(arrangement=arrangement)
        else:
            rows = self._check_blocks(blocks, sample_weight)
        roles, settings = self._find_column_roles(X), EnsembleSettings.of(self)
        factors = asked_factors(settings, least.n_clusters, roles)
        drawn = draw_input(rows, roles, settings, least, factors)
        sample = drawn.sample
        self._scoring = asked_of(sample.scaling.factors)
        self.dropped_features_ = dropped_features(self, sample.scaling.used)
        warn_empty_rows(sample.n_empty, sample.n_rows, known=sample.members is not None)
        seen = rows.X if isinstance(rows, RowsInMemory) else sample.X
        if isinstance(seen, np.ndarray):
            warn_sentinels(seen, lambda j: column_name(self, j))
        if isinstance(rows, RowsInMemory):
            warn_identifiers(plain_table(X), rows.X, lambda j: column_name(self, j))
        return drawn

    def _check_table(self, X: Any, sample_weight: Any) -> RowsInMemory:
        """Check a table in memory, its categories and its weights."""
        given = X
        X = place(validate_table(self, X, reset=True), self.device)
        X = namespace(X).astype(X, namespace(X).float64, copy=False)
        self._check_family()
        weights = checked_weights(sample_weight, X.shape[0], given)
        if weights is not None:
            X = self._forget_categories(X, np.flatnonzero(weights))
        return RowsInMemory(X, weights, categorical_mask(self))

    def _find_column_roles(self, X: Any) -> ColumnRoles:
        """Find which columns belong together, as the parameters say or else the table."""
        groups, names = self.column_groups, column_names(self)
        if groups is None and has_groups(X):
            groups = X.column_groups
        roles = find_roles(self, fitted_columns(self), groups)
        self._column_groups = roles.column_sets
        self.column_groups_ = list_group_columns(roles.column_sets, names)
        return roles

    @property
    def n_factors_(self) -> int:
        """The number of factors that rows are scored by; 0 where they are not."""
        factors = self._kernel.scaling.factors
        return 0 if factors is None else factors.n_factors

    @property
    def telling_features_(self) -> list[Any]:
        """Names, or indices, of the columns that the mixtures learn from."""
        scaling = self._kernel.scaling
        columns = scaling.used
        if scaling.factors is not None:
            n_kept, telling = len(scaling.kept), scaling.factors.columns
            columns = np.concatenate([scaling.kept[telling[telling < n_kept]], scaling.categorical])
        names = column_names(self)
        return [j if names is None else names[j] for j in np.sort(columns).tolist()]

    def _check_family(self) -> None:
        """Raise if more is asked for than Gaussians, and the mixtures take numbers alone."""
        settings = EnsembleSettings.of(self)
        more = f"missingness={self.missingness!r} was given" if settings.is_informative else ""
        if self.group_weights is not None:
            more = "group_weights were given"
        if self._categories:
            more = f"column {column_name(self, min(self._categories))} holds categories"
        if more and not COVARIANCE_TYPES[self.covariance_type].MIXED:
            raise ValueError(
                f"covariance_type={self.covariance_type!r} takes numbers alone, but {more}. Use "
                "covariance_type='diag'."
            )

    def _forget_categories(self, X: Array, rows: np.ndarray) -> Array:
        """Forget categories that none of `rows` holds: in the others they are unknown."""
        if not self._categories or len(rows) == X.shape[0]:
            return X
        values = np.array(to_numpy(X))
        names = column_names(self)
        for j, categories in self._categories.items():
            categories, values[:, j] = forget(categories, values[:, j], rows)
            self._categories[j] = self.categories_[j if names is None else names[j]] = categories
        return asarray_like(values, X, dtype=X.dtype)

    def _check_blocks(self, rows: BlockedRows, sample_weight: Any) -> BlockedRows:
        """Raise if more is asked for than one pass over blocks can find out."""
        if sample_weight is not None:
            raise ValueError(
                "sample_weight needs a table in memory, but X comes in blocks. Draw rows with "
                "chances in proportion to their weights, fit on these without weights, then "
                "predict the others."
            )
        names = getattr(rows.template, "column_names", None)
        self._categories, self._labels_in, self._ordinal = dict(rows.categories), None, {}
        if self.ordinal_columns is not None:
            raise ValueError(
                "ordinal_columns needs a table in memory, but X comes in blocks. Fit on a sample "
                "of its rows in memory, then predict the others."
            )
        self.categories_ = {names[j] if names else j: each for j, each in rows.categories.items()}
        informative = EnsembleSettings.of(self).is_informative
        if informative or (self.categorical_features is not None and not rows.categories):
            asked = f"missingness={self.missingness!r}" if informative else "categorical_features"
            raise ValueError(
                f"{asked} needs a table in memory, but X comes in blocks. Fit on a sample of its "
                "rows in memory, then predict the others."
            )
        validate_data(self, rows.template, reset=True, skip_check_array=True)
        self._check_family()
        return rows

    def _read(self, X: Any) -> StandardisedRows:
        """Standardise rows for the fitted kernel."""
        X = validate_table(self, X, reset=False)
        return standardise_on_model_device(X, self._kernel.scaling, self._kernel.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def restore_kernel(estimator: EnsembleEstimator, state: KernelState) -> None:
    """Give an estimator the fitted state of a kernel, as from a file."""
    columns = state.columns
    estimator._kernel, estimator._scoring = state.kernel, state.factors
    estimator._categories, estimator._ordinal = dict(columns.categories), dict(columns.ordinal)
    estimator._column_groups = columns.sets
    estimator._n_features_out = state.kernel.ensemble.n_columns
    estimator.n_iter_ = estimator.max_iter
