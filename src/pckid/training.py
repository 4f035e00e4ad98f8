"""What the kernel and the clusterer share: reading a table, and training the ensemble on it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from pckid._arrays import Array, like, namespace, place, restorer, to_numpy
from pckid._categories import forget
from pckid._checks import (
    IncompleteInputMixin,
    categorical_mask,
    dropped_features,
    read_table,
    refuse_no_column,
    refuse_too_few,
)
from pckid._parallel import n_threads
from pckid._progress import CallbackSupportMixin, progress
from pckid._warnings import warn_empty_rows
from pckid.ensemble import (
    Plan,
    is_wide,
    largest_size,
    number_of_starts,
    schedule,
    subsample_size,
    train,
)
from pckid.featuremap import WEIGHTINGS, Kernel, kernel_matrix
from pckid.footprint import describe, needed_bytes
from pckid.mixture.families import FAMILIES
from pckid.mixture.reading import read_new, read_training
from pckid.mixture.table import (
    Table,
    measure,
    smallest_variance,
    standardise,
    take,
    with_one_scale,
)
from pckid.mixture.weighting import Places, as_counts, checked_weights
from pckid.outofcore import BlockedRows
from pckid.outofcore.moments import scaling as scaling_of
from pckid.pool import keys, pool_size, smallest
from pckid.sample import Counted, Sample, count

# Tables with at most this many entries are computed in float64: it costs nothing noticeable.
_SMALL_TABLE = 10_000
# The smallest variance of a component where the number of clusters is not known.
_SMALLEST_VARIANCE = 0.01


class EnsembleEstimator(CallbackSupportMixin, IncompleteInputMixin, BaseEstimator):
    """What the kernel and the clusterer share: the ensemble's parameters and its training."""

    _categories: dict[int, list[Any]]
    categories_: dict[Any, list[Any]]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_inits": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_components": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "max_samples": [
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 2, None, closed="left"),
        ],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(FAMILIES))],
        "reg_covar": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "weighting": [StrOptions({"auto", *WEIGHTINGS})],
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
            κ(x, y) = (1/Z) Σ_q Σ_g w_g γ(x; q, g)ᵀ γ(y; q, g), between 0 and 1.
        """
        check_is_fitted(self)
        left = self._read(X)
        right = left if Y is None else self._read(Y)
        return restorer(X)(kernel_matrix(self._kernel, left, right))

    def _draw_sample(
        self, X: Any, n_clusters: int = 1, sample_weight: Any = None
    ) -> tuple[Table, Sample]:
        """Read a table that has rows for `n_clusters` clusters, and draw the rows to learn from.

        Returns
        -------
        table : Table
            All rows, standardised.
        sample : Sample
        """
        X = place(read_table(self, X, reset=True), self.device)
        self._refuse_shape()
        given = checked_weights(sample_weight, X.shape[0])
        if given is not None:
            return self._draw_weighted(_as_double(X), n_clusters, given)
        dtype = self._resolve_dtype(X.shape)
        table, usable, scaling = read_training(
            self, X, dtype, categorical_mask(self), one_scale=self._one_scale
        )
        self._refuse_too_few(usable.shape[0], n_clusters)
        entropy = self._entropy()
        rows = self._pool(X, usable, entropy)
        pool = table if rows.shape[0] == table.n_samples else take(table, rows)
        sample = Sample(pool, scaling, dtype, usable.shape[0], entropy)
        if (found := count(pool, None, self._least_distinct)) is None:
            return table, sample
        sample = self._learn_once(_as_double(X), rows, found, sample)
        return standardise(_as_double(X), sample.scaling, dtype), sample

    def _draw_weighted(self, X: Array, n_clusters: int, given: np.ndarray) -> tuple[Table, Sample]:
        """Draw the rows to learn from where rows count unequally; those of weight 0 are as new."""
        xp = namespace(X)
        kept = np.flatnonzero(given)
        counts = as_counts(given[kept])
        X = self._forget_categories(X, kept) if len(kept) < len(given) else X
        used = xp.take(X, like(kept, X, dtype=xp.int64), axis=0)
        dtype = self._resolve_dtype((Places.of(counts).total, X.shape[1]))
        table, usable, scaling = read_training(
            self,
            used,
            dtype,
            categorical_mask(self),
            one_scale=self._one_scale,
            weights=like(counts, X),
        )
        self._refuse_too_few(usable.shape[0], n_clusters)
        n_usable, entropy = Places.of(counts[to_numpy(usable)]).total, self._entropy()
        rows = self._pool(used, usable, entropy)
        sample = Sample(take(table, rows), scaling, dtype, n_usable, entropy)
        found = count(sample.table, counts[to_numpy(rows)], self._least_distinct)
        if found is not None and rows.shape[0] == usable.shape[0]:
            sample = self._learn_once(used, rows, found, sample)
        elif found is not None:
            index = like(found.rows, X, dtype=xp.int64)
            sample = sample._replace(table=take(sample.table, index), weights=found.weights)
        return standardise(X, sample.scaling, dtype), sample

    def _learn_once(self, X: Array, rows: Array, found: Counted, sample: Sample) -> Sample:
        """Learn from rows that count for others, `found` among the `rows` of X.

        The columns are measured by them anew: so weights and repeated rows give the same to the
        last digit, and no tie is decided by rounding in two ways.
        """
        xp = namespace(X)
        index = xp.take(rows, like(found.rows, X, dtype=xp.int64), axis=0)
        mine = xp.take(X, index, axis=0)
        scaling = measure(
            mine,
            categorical_mask(self),
            informative=self.missingness == "informative",
            weights=like(found.weights, X),
        )
        scaling = with_one_scale(scaling) if self._one_scale else scaling
        table = standardise(mine, scaling, sample.dtype)
        return sample._replace(table=table, scaling=scaling, weights=found.weights)

    def _forget_categories(self, X: Array, rows: np.ndarray) -> Array:
        """Forget categories that none of `rows` holds: in the others they are unknown."""
        if not self._categories:
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

    def _draw_from_blocks(self, rows: BlockedRows, n_clusters: int = 1) -> Sample:
        """Pass over a table that comes in blocks, and keep the rows to learn from."""
        self._refuse_mixed_blocks()
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
        dtype = self._resolve_dtype(shape)
        table = standardise(X, scaling, dtype)
        usable = namespace(X).nonzero(namespace(X).any(table.observed, axis=1))[0]
        n_usable = round(found.n_filled * usable.shape[0] / max(X.shape[0], 1))
        self._refuse_too_few(n_usable, n_clusters)
        pool = table if usable.shape[0] == table.n_samples else take(table, usable)
        sample = Sample(pool, scaling, dtype, n_usable, entropy)
        if found.n_filled > X.shape[0]:
            return sample
        joined = count(pool, None, self._least_distinct)
        return sample if joined is None else self._learn_once(X, usable, joined, sample)

    def _train(self, sample: Sample) -> None:
        """Train the ensemble on a sample."""
        plan = self._plan(sample)
        tasks = schedule(sample.table, plan)
        if self.verbose:
            print(f"[{type(self).__name__}] {self._outlook(sample, plan)}")
        with progress(self, len(tasks), "mixtures", self.verbose) as advance:
            jobs = n_threads(self.n_jobs)
            ensemble = train(sample.table, plan, tasks, jobs, advance, sample.places)
        weighting = self._weights_of_mixtures()
        self._kernel = Kernel(sample.scaling, ensemble, sample.dtype, weighting)
        self.n_iter_ = self.max_iter

    def _outlook(self, sample: Sample, plan: Plan) -> str:
        """Say what a fit is about to do, and how much memory it will take."""
        n_rows = sample.n_usable if sample.weights is None else sample.table.n_samples
        shape = (n_rows, sample.table.n_features)
        itemsize = 4 if sample.dtype == "float32" else 8
        landmarks = self._n_landmarks(sample.table.n_samples)
        jobs = n_threads(self.n_jobs)
        return describe(plan, shape, needed_bytes(plan, shape, itemsize, landmarks, jobs))

    def _n_landmarks(self, n_samples: int) -> int:
        """Say of how many rows the features are held at once."""
        return 0

    def _entropy(self) -> int:
        """Draw the seed of everything from `random_state`."""
        return int(check_random_state(self.random_state).randint(2**31))

    def _refuse_too_few(self, n_usable: int, n_clusters: int) -> None:
        """Raise if there are too few rows with an observed value."""
        refuse_too_few(n_usable, 2, "the ensemble")
        refuse_too_few(n_usable, n_clusters, f"n_clusters={n_clusters}")

    def _refuse_shape(self) -> None:
        """Raise if components have a shape that knows numbers alone."""
        asked = "missingness='informative'" if self.missingness == "informative" else ""
        asked = "categorical_features" if self._categories else asked
        if asked and not FAMILIES[self.covariance_type].MIXED:
            raise ValueError(
                f"covariance_type={self.covariance_type!r} takes numbers alone, but {asked} was "
                "given. Use covariance_type='diag'."
            )

    def _refuse_mixed_blocks(self) -> None:
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
        return pool_size(n_features, 2 * subsample_size(self.max_samples))

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
        n_rows = min(subsample_size(self.max_samples, sample.n_usable), sample.n_places)
        max_components = min(largest_size(self.max_components, sample.n_usable), n_rows)
        return Plan(
            n_inits=number_of_starts(self.n_inits, sample.n_usable),
            max_components=max_components,
            n_rows=n_rows,
            max_iter=self.max_iter,
            covariance_type=self.covariance_type,
            floor=smallest_variance(self._floor(), sample.dtype),
            entropy=sample.entropy,
            wide=is_wide(sample.table, n_rows, max_components),
        )

    def _floor(self) -> float:
        """Resolve `reg_covar`."""
        return _SMALLEST_VARIANCE if self.reg_covar == "auto" else float(self.reg_covar)

    def _weights_of_mixtures(self) -> str:
        """Resolve `weighting`."""
        return "fine" if self.weighting == "auto" else self.weighting

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


def _as_double(X: Array) -> Array:
    """Give the numbers of a table in the precision in which columns are measured."""
    return namespace(X).astype(X, namespace(X).float64, copy=False)


def refuse_weighted_blocks(sample_weight: Any) -> None:
    """Raise if weights come with a table in blocks."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight needs a table in memory, but X comes in blocks. Draw rows with chances "
            "in proportion to their weights, fit on these without weights, then predict the others."
        )
