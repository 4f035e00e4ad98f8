"""What the kernel and the clusterer share: reading a table, and training the ensemble on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pckid._utils.arrays import Array, asarray_like, namespace, place, restorer, to_numpy
from pckid._utils.parallel import n_threads
from pckid._utils.progress import training_progress
from pckid._utils.sklearn_compat import CallbackSupportMixin, Interval, RealNotInt, StrOptions
from pckid.blocks import BlockedRows, blocked
from pckid.columns.count import Count
from pckid.cubes import as_table
from pckid.ensemble.feature_map import WEIGHTINGS, Kernel, kernel_matrix
from pckid.ensemble.imputation import Imputation, expected_values, fill_in
from pckid.ensemble.members import (
    Plan,
    automatic_floor,
    draw_subsamples,
    largest_size,
    schedule,
    spread_sizes,
    subsample_size,
    train,
)
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
from pckid.input.sample import RowsInMemory, Sample, Sampling, draw_sample, pool_size
from pckid.input.table import StandardisedRows, standardise_on_model_device
from pckid.input.table import variance_floor as at_least_rounding
from pckid.input.validation import (
    IncompleteInputMixin,
    categorical_mask,
    column_name,
    column_names,
    dropped_features,
    validate_table,
)
from pckid.input.warnings import warn_empty_rows, warn_identifiers, warn_sentinels
from pckid.input.weights import checked_weights
from pckid.mixture.families import FAMILIES

N_INITS = 10  # starts of each number of components; more did not improve the labels


class FitInput(NamedTuple):
    """The checked table of a fit, and the sample that it learns from."""

    rows: RowsInMemory | BlockedRows
    sample: Sample
    sampling: Sampling

    def without(self, columns: Sequence[int]) -> FitInput:
        """Draw again, without columns of the table."""
        skipped = (*self.sampling.skipped, *columns)
        sampling = self.sampling._replace(skipped=skipped)
        sample = draw_sample(self.rows, sampling)._replace(entropy=self.sample.entropy)
        return FitInput(self.rows, sample, sampling)

    def by_seed(self, entropy: int) -> FitInput:
        """Take the same rows, with another seed for all that is random from here on."""
        return self._replace(sample=self.sample._replace(entropy=entropy))


class Training(NamedTuple):
    """A trained kernel, and what it was trained on."""

    kernel: Kernel
    drawn: FitInput
    subsamples: Callable[[int], np.ndarray]  # `draw_subsamples` of a size, each drawn once

    def first(self, n_inits: int) -> Training:
        """Take the mixtures of the first starts."""
        ensemble = self.kernel.ensemble.first(n_inits)
        return self._replace(kernel=self.kernel._replace(ensemble=ensemble))

    def find_unseen(self, rows: np.ndarray) -> np.ndarray:
        """Find which mixtures did not learn from rows (n,) of the sample (n_mixtures, n)."""
        stacks, n_samples = self.kernel.ensemble.stacks, self.drawn.sample.table.n_samples
        shapes = [stack.log_weights.shape for stack in stacks]
        learnt = np.concatenate([self.subsamples(size)[:n] for n, size in shapes])
        unseen = np.ones((len(learnt), n_samples), dtype=bool)
        np.put_along_axis(unseen, learnt, False, axis=1)
        return unseen.take(rows, axis=1)


class EnsembleEstimator(
    CallbackSupportMixin,
    IncompleteInputMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """What the kernel and the clusterer share: the ensemble's parameters and its training."""

    _categories: dict[int, list[Any]]
    categories_: dict[Any, list[Any]]
    _ordinal: dict[int, str]
    _column_groups: Mapping[str, list[int]]
    _scoring: Asked | None
    _scoring_given: Asked | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_inits": [Interval(Integral, 1, None, closed="left")],
        "max_components": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "n_sizes": [Interval(Integral, 1, None, closed="left"), None],
        "max_samples": [
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(FAMILIES))],
        "reg_covar": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "weighting": [StrOptions(set(WEIGHTINGS))],
        "scaling": [StrOptions({"each", "common"})],
        "column_groups": [Mapping, None],
        "group_weights": [StrOptions({"equal"}), Mapping, None],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "missingness": [StrOptions({"ignorable", "informative"}), "array-like"],
        "log_columns": ["array-like", str, None],
        "count_columns": ["array-like", str, None],
        "ordinal_columns": ["array-like", Mapping, str, None],
        "n_factors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "dtype": [StrOptions({"auto", "float32", "float64"})],
        "device": [str, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_inits: int | str = N_INITS,
        max_components: int | str = "auto",
        n_sizes: int | None = 8,
        max_samples: float | str = "auto",
        max_iter: int = 5,
        covariance_type: str = "diag",
        reg_covar: float | str = "auto",
        weighting: str = "fine",
        scaling: str = "each",
        column_groups: Any = None,
        group_weights: Any = None,
        categorical_features: Any = None,
        missingness: Any = "ignorable",
        log_columns: Any = None,
        count_columns: Any = None,
        ordinal_columns: Any = None,
        n_factors: int | str | None = "auto",
        dtype: str = "auto",
        device: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_inits = n_inits
        self.max_components = max_components
        self.n_sizes = n_sizes
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.weighting = weighting
        self.scaling = scaling
        self.column_groups = column_groups
        self.group_weights = group_weights
        self.categorical_features = categorical_features
        self.missingness = missingness
        self.log_columns = log_columns
        self.count_columns = count_columns
        self.ordinal_columns = ordinal_columns
        self.n_factors = n_factors
        self.dtype = dtype
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        n_clusters: int = 1,
        n_landmarks: int = 0,
        least_distinct: int = 2,
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
        n_clusters : int, default=1
            How many rows there must be at least.
        n_landmarks : int, default=0
            How many rows must be kept of a large table.
        least_distinct : int, default=2
            Equal rows are merged if at least so many are left.
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
        roles = self._find_column_roles(X)
        matrices = FAMILIES[self.covariance_type].MATRICES
        # A share of the rows needs no more of them.
        is_share = isinstance(self.max_samples, float)
        n_needed = 0 if is_share else 2 * subsample_size(self.max_samples, 10**18)
        sampling = Sampling(
            size=pool_size(self.n_features_in_, n_needed, n_landmarks, n_clusters),
            n_clusters=n_clusters,
            least_distinct=least_distinct,
            entropy=int(check_random_state(self.random_state).randint(2**31)),
            # The determinant of a covariance matrix near its floor has no digit left in float32.
            dtype="float64" if matrices else self.dtype,
            roles=roles,
            device=self.device,
            jobs=n_threads(self.n_jobs),
            factors=self._asked_factors(n_clusters, roles),
        )
        sample = draw_sample(rows, sampling)
        self._scoring = asked_of(sample.scaling.factors)
        self.dropped_features_ = dropped_features(self, sample.scaling.used)
        warn_empty_rows(sample.n_empty, sample.n_rows, known=sample.members is not None)
        seen = rows.X if isinstance(rows, RowsInMemory) else sample.X
        if isinstance(seen, np.ndarray):
            warn_sentinels(seen, lambda j: column_name(self, j))
        if isinstance(rows, RowsInMemory):
            warn_identifiers(plain_table(X), rows.X, lambda j: column_name(self, j))
        return FitInput(rows, sample, sampling)

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
        roles = find_roles(self, groups, names)
        self._column_groups = roles.column_sets
        self.column_groups_ = list_group_columns(roles.column_sets, names)
        return roles

    def _asked_factors(self, n_clusters: int, roles: ColumnRoles) -> Asked | None:
        """Return which factors rows of a wide table are scored by; k groups span k − 1 of them.

        Those of a group of columns, such as the dates of a series, all tell: they have no factors
        unless some are asked for. Counts never have any.
        """
        if "_scoring_given" in self.__dict__:
            return self._scoring_given
        counts = roles.kinds[Count.name]
        if self.n_factors is None or (self.n_factors == "auto" and (roles.column_sets or counts)):
            return None
        if counts:
            raise ValueError(
                f"n_factors={self.n_factors} takes all columns of numbers as Gaussian ones, but "
                f"count_columns names column {next(iter(counts.values()))}. Give log_columns "
                "in place of count_columns, or leave out n_factors."
            )
        number = None if isinstance(self.n_factors, str) else int(self.n_factors)
        return Asked(number, least=max(n_clusters - 1, 1))

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

    @property
    def _informative(self) -> bool:
        """Whether the missingness of any column carries information."""
        if isinstance(self.missingness, str):
            return self.missingness == "informative"
        return len(self.missingness) > 0

    def _check_family(self) -> None:
        """Raise if more is asked for than Gaussians, and the mixtures take numbers alone."""
        more = f"missingness={self.missingness!r} was given" if self._informative else ""
        if self.group_weights is not None:
            more = "group_weights were given"
        if self._categories:
            more = f"column {column_name(self, min(self._categories))} holds categories"
        if more and not FAMILIES[self.covariance_type].MIXED:
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
        informative = self._informative
        if informative or (self.categorical_features is not None and not rows.categories):
            asked = f"missingness={self.missingness!r}" if informative else "categorical_features"
            raise ValueError(
                f"{asked} needs a table in memory, but X comes in blocks. Fit on a sample of its "
                "rows in memory, then predict the others."
            )
        validate_data(self, rows.template, reset=True, skip_check_array=True)
        self._check_family()
        return rows

    @property
    def _n_starts(self) -> int:
        """How many starts there are, or to begin with."""
        return N_INITS if isinstance(self.n_inits, str) else self.n_inits

    def _train(
        self, drawn: FitInput, n_inits: int | None = None, before: Training | None = None
    ) -> Training:
        """Train the ensemble on a sample; `verbose` prints what it is and how far.

        With `n_inits` starts in place of the estimator's own; the first of them are those of
        `before`, which was trained on the same sample.
        """
        sample = drawn.sample
        modelled = sample.table.modelled
        plan = self._plan(sample)
        plan = plan._replace(n_inits=n_inits or plan.n_inits)
        old = None if before is None else before.kernel.ensemble
        n_new = plan.n_inits - (0 if old is None else old.n_inits)
        if self.verbose:
            print(
                f"[{type(self).__name__}] {sample.n_usable:,} rows × {sample.table.n_features:,} "
                f"columns, {n_new * len(plan.sizes):,} mixtures with "
                f"{n_new * sum(plan.sizes):,} components on {plan.n_rows:,} rows each"
            )
        subsamples = cache(partial(draw_subsamples, plan, sample.table.n_samples))
        jobs = n_threads(self.n_jobs)
        batches = schedule(modelled, plan, plan.n_inits - n_new, jobs)
        how = modelled, plan, subsamples, batches, jobs
        with training_progress(self, len(batches), "mixtures") as advance:
            ensemble = train(*how, advance, sample.weights, old)
        kernel = Kernel(sample.scaling, ensemble, sample.dtype, self.weighting)
        return Training(kernel, drawn, subsamples)

    def _plan(self, sample: Sample) -> Plan:
        """Resolve the parameters for a table: no mixture has more components than rows.

        Repeated rows fill no more components than they would once.
        """
        n_rows = min(subsample_size(self.max_samples, sample.n_usable), sample.table.n_samples)
        largest = min(largest_size(self.max_components, sample.n_distinct), n_rows)
        reg_covar = self.reg_covar
        if isinstance(reg_covar, str):
            reg_covar = automatic_floor(largest, sample.table.modelled.n_values)
        return Plan(
            n_inits=self._n_starts,
            sizes=spread_sizes(largest, self.n_sizes),
            n_rows=n_rows,
            max_iter=self.max_iter,
            covariance_type=self.covariance_type,
            floor=at_least_rounding(reg_covar, sample.dtype),
            entropy=sample.entropy,
        )

    def _read(self, X: Any) -> StandardisedRows:
        """Standardise rows for the fitted kernel."""
        X = validate_table(self, X, reset=False)
        return standardise_on_model_device(X, self._kernel.scaling, self._kernel.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
