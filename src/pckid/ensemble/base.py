"""What the kernel and the clusterer share: reading a table, and training the ensemble on it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from pckid._utils.arrays import Array, like, namespace, place, restorer, to_numpy
from pckid._utils.parallel import n_threads
from pckid._utils.progress import CallbackSupportMixin, progress
from pckid.ensemble.feature_map import WEIGHTINGS, Kernel, kernel_matrix
from pckid.ensemble.members import (
    Plan,
    largest_size,
    schedule,
    smallest_variance,
    spread_sizes,
    subsample_size,
    train,
)
from pckid.ensemble.memory import describe, needed_bytes
from pckid.input.categories import forget
from pckid.input.learning_rows import keys, pool_size, smallest
from pckid.input.reading import measure_training, read_new, usable_rows
from pckid.input.sample import MOST_COMPARED, Sample, merge_duplicates, relative
from pckid.input.table import Scaling, Table, standardise, with_one_scale
from pckid.input.table import smallest_variance as at_least_rounding
from pckid.input.validation import (
    IncompleteInputMixin,
    categorical_mask,
    dropped_features,
    read_table,
    refuse_no_column,
    refuse_too_few,
)
from pckid.input.warnings import warn_empty_rows
from pckid.input.weights import checked_weights
from pckid.mixture.families import FAMILIES
from pckid.outofcore import BlockedRows
from pckid.outofcore.moments import scaling as scaling_of

# Tables with at most this many entries are computed in float64: it costs nothing noticeable.
_SMALL_TABLE = 10_000


class Drawn(NamedTuple):
    """A table that was read, and what a fit learns from it."""

    X: Array  # (n_samples, n_features), numbers; of a table in blocks, the rows to learn from
    weights: np.ndarray | None  # (n_samples,), as given
    sample: Sample


class EnsembleEstimator(CallbackSupportMixin, IncompleteInputMixin, BaseEstimator):
    """What the kernel and the clusterer share: the ensemble's parameters and its training."""

    _categories: dict[int, list[Any]]
    categories_: dict[Any, list[Any]]

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
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "missingness": [StrOptions({"ignorable", "informative"})],
        "dtype": [StrOptions({"auto", "float32", "float64"})],
        "device": [str, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

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

    def _draw_sample(self, X: Any, n_clusters: int = 1, sample_weight: Any = None) -> Drawn:
        """Read a table that has rows for `n_clusters` clusters, and draw the rows to learn from."""
        X = as_double(place(read_table(self, X, reset=True), self.device))
        self._check_shape()
        given = weights = checked_weights(sample_weight, X.shape[0])
        counted = X
        if weights is not None:
            kept = np.flatnonzero(weights)
            X = self._forget_categories(X, kept)
            counted, weights = take_rows(X, kept), weights[kept]
        scaling = self._measure(counted, weights)
        usable = usable_rows(self, counted, scaling)
        self._check_rows(usable.shape[0], n_clusters)
        entropy = self._entropy()
        rows = to_numpy(self._pool(counted, usable, entropy))
        weights = None if weights is None else weights[rows]
        pool = counted if len(rows) == counted.shape[0] else take_rows(counted, rows)
        return Drawn(X, given, self._sample(pool, weights, scaling, usable.shape[0], entropy))

    def _sample(
        self, X: Array, weights: np.ndarray | None, scaling: Scaling, n_usable: int, entropy: int
    ) -> Sample:
        """Make a sample of rows X that stand for `n_usable` ones; small tables of distinct rows.

        The columns are measured by the distinct rows anew: so weights and repeated rows give the
        same to the last digit, and no tie is decided by rounding in two ways.
        """
        if X.shape[0] == n_usable <= MOST_COMPARED:
            table = standardise(X, scaling, "float64")
            found = merge_duplicates(table, weights, self._least_distinct)
            X, weights, n_usable = take_rows(X, found.rows), found.weights, len(found.rows)
            scaling = self._measure(X, weights)
        dtype = self._resolve_dtype((n_usable, X.shape[1]))
        table = standardise(X, scaling, dtype)
        return Sample(table, scaling, dtype, n_usable, entropy, relative(weights))

    def _measure(self, X: Array, weights: np.ndarray | None) -> Scaling:
        """Measure the columns of rows that count alike or by weights."""
        weights = relative(weights)
        return measure_training(
            self,
            X,
            categorical_mask(self),
            one_scale=self._one_scale,
            weights=None if weights is None else like(weights, X),
        )

    def _forget_categories(self, X: Array, rows: np.ndarray) -> Array:
        """Forget categories that none of `rows` holds: in the others they are unknown."""
        if not self._categories or len(rows) == X.shape[0]:
            return X
        values = np.array(to_numpy(X))
        names = getattr(self, "feature_names_in_", None)
        for j, known in self._categories.items():
            known, values[:, j] = forget(known, values[:, j], rows)
            self._categories[j] = self.categories_[j if names is None else str(names[j])] = known
        return like(values, X, dtype=X.dtype)

    @property
    def _one_scale(self) -> bool:
        """Whether all columns of numbers are divided by the same number."""
        return self.scaling == "common"

    @property
    def _least_distinct(self) -> int:
        """How many rows must be left where rows that are the same are joined."""
        return 2

    def _draw_from_blocks(self, rows: BlockedRows, n_clusters: int = 1) -> Drawn:
        """Pass over a table that comes in blocks, and keep the rows to learn from."""
        self._check_blocks()
        validate_data(self, rows.template, reset=True, skip_check_array=True)
        entropy = self._entropy()
        found = rows.survey(entropy, self._pool_size(rows.n_features))
        shape = (found.n_rows, rows.n_features)
        scaling = scaling_of(found.moments)
        scaling = with_one_scale(scaling) if self._one_scale else scaling
        refuse_no_column(len(scaling.kept), shape)
        self.dropped_features_ = dropped_features(self, scaling.kept)
        warn_empty_rows(found.n_rows - found.n_filled, found.n_rows)
        X = place(found.rows, self.device)
        scaling = scaling._replace(center=like(scaling.center, X), scale=like(scaling.scale, X))
        observed = ~np.isnan(found.rows[:, scaling.kept])
        usable = np.flatnonzero(observed.any(axis=1))
        n_usable = round(found.n_filled * len(usable) / max(X.shape[0], 1))
        self._check_rows(n_usable, n_clusters)
        X = X if len(usable) == X.shape[0] else take_rows(X, usable)
        return Drawn(X, None, self._sample(X, None, scaling, n_usable, entropy))

    def _train(self, sample: Sample) -> None:
        """Train the ensemble on a sample."""
        plan = self._plan(sample)
        tasks = schedule(sample.table, plan)
        if self.verbose:
            print(f"[{type(self).__name__}] {self._outlook(sample, plan)}")
        with progress(self, len(tasks), "mixtures", self.verbose) as advance:
            jobs = n_threads(self.n_jobs)
            ensemble = train(sample.table, plan, tasks, jobs, advance, sample.weights)
        self._kernel = Kernel(sample.scaling, ensemble, sample.dtype, self.weighting)
        self.n_iter_ = self.max_iter

    def _outlook(self, sample: Sample, plan: Plan) -> str:
        """Say what a fit is about to do, and how much memory it will take."""
        shape = (sample.n_usable, sample.table.n_features)
        itemsize = 4 if sample.dtype == "float32" else 8
        landmarks = self._n_landmarks(sample.table.n_samples)
        jobs, embedding = n_threads(self.n_jobs), getattr(self, "embedding", None)
        n_bytes = needed_bytes(plan, shape, itemsize, landmarks, jobs, embedding)
        return describe(plan, shape, n_bytes)

    def _n_landmarks(self, n_samples: int) -> int:
        """Say of how many rows the features are held at once."""
        return 0

    def _entropy(self) -> int:
        """Draw the seed of everything from `random_state`."""
        return int(check_random_state(self.random_state).randint(2**31))

    def _check_rows(self, n_usable: int, n_clusters: int) -> None:
        """Raise if there are too few rows with an observed value."""
        refuse_too_few(n_usable, 2, "the ensemble")
        refuse_too_few(n_usable, n_clusters, f"n_clusters={n_clusters}")

    def _check_shape(self) -> None:
        """Raise if components have a shape that knows numbers alone."""
        asked = "missingness='informative'" if self.missingness == "informative" else ""
        asked = "categorical_features" if self._categories else asked
        if asked and not FAMILIES[self.covariance_type].MIXED:
            raise ValueError(
                f"covariance_type={self.covariance_type!r} takes numbers alone, but {asked} was "
                "given. Use covariance_type='diag'."
            )

    def _check_blocks(self) -> None:
        """Raise if more is asked for than one pass over blocks of numbers can find out."""
        self._categories, self.categories_ = {}, {}
        informative = self.missingness == "informative"
        if informative or self.categorical_features is not None:
            asked = "missingness='informative'" if informative else "categorical_features"
            raise ValueError(
                f"{asked} needs a table in memory, but X comes in blocks. Fit on a sample of its "
                "rows in memory, then predict the others."
            )

    def _pool_size(self, n_features: int) -> int:
        """Decide how many rows to learn from, where there are more."""
        is_share = isinstance(self.max_samples, float)
        return pool_size(
            n_features, 0 if is_share else 2 * subsample_size(self.max_samples, 10**18)
        )

    def _pool(self, X: Array, usable: Array, entropy: int) -> Array:
        """Choose the rows to learn from, of shape (n_pool,): the `usable` ones, if not too many.

        What a row's place in the pool depends on can be told from the row alone, without knowing
        which columns vary: that is why unusable rows may take a place and leave it empty.
        """
        size = self._pool_size(X.shape[1])
        if X.shape[0] <= size:
            return usable
        xp = namespace(X)
        filled = np.flatnonzero(to_numpy(xp.any(~xp.isnan(X), axis=1)))
        chosen = filled[smallest(keys(entropy, 0, X.shape[0])[filled], size)]
        return like(np.intersect1d(chosen, to_numpy(usable)), X, dtype=xp.int64)

    def _plan(self, sample: Sample) -> Plan:
        """Resolve the parameters for a table: no mixture has more components than rows."""
        n_rows = min(subsample_size(self.max_samples, sample.n_usable), sample.table.n_samples)
        largest = min(largest_size(self.max_components, sample.n_usable), n_rows)
        reg_covar = self.reg_covar
        if isinstance(reg_covar, str):
            reg_covar = smallest_variance(largest, sample.table.observed.shape[1])
        return Plan(
            n_inits=self.n_inits,
            sizes=spread_sizes(largest, self.n_sizes),
            n_rows=n_rows,
            max_iter=self.max_iter,
            covariance_type=self.covariance_type,
            floor=at_least_rounding(reg_covar, sample.dtype),
            entropy=sample.entropy,
        )

    def _read(self, X: Any) -> Table:
        """Standardise rows for the fitted kernel."""
        return read_new(self, X, self._kernel.scaling, self._kernel.dtype)

    def _resolve_dtype(self, shape: tuple[int, int]) -> str:
        """Compute small tables in float64 and large ones in float32, unless told.

        The determinant of a covariance matrix near its floor has no digit left in float32.
        """
        if FAMILIES[self.covariance_type].MATRICES:
            return "float64"
        if self.dtype != "auto":
            return self.dtype
        return "float64" if shape[0] * shape[1] <= _SMALL_TABLE else "float32"


def as_double(X: Array) -> Array:
    """Give the numbers of a table in the precision in which columns are measured."""
    return namespace(X).astype(X, namespace(X).float64, copy=False)


def take_rows(X: Array, rows: np.ndarray) -> Array:
    """Gather rows by indices on the host."""
    return namespace(X).take(X, like(rows, X, dtype=namespace(X).int64), axis=0)


def check_no_weights(sample_weight: Any) -> None:
    """Raise if weights come with a table in blocks."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight needs a table in memory, but X comes in blocks. Draw rows with chances "
            "in proportion to their weights, fit on these without weights, then predict the others."
        )
