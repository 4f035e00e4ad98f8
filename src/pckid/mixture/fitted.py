"""A fitted mixture: its parameters in the user's units, and what it says of rows."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import Array, asarray_like, namespace, restorer, to_numpy
from pckid.input.columns import fill_table
from pckid.input.table import Scaling, StandardisedRows, block, standardise_on_model_device
from pckid.input.validation import IncompleteInputMixin, validate_table
from pckid.mixture import em, units
from pckid.mixture.covariance_types import COVARIANCE_TYPES

_BLOCK = 4096


class MixtureState(NamedTuple):
    """A fitted mixture in standardised units."""

    params: Any
    scaling: Scaling
    constants: np.ndarray  # (n_features_in,), each column's smallest value
    dtype: str


class FittedMixture(DensityMixin, IncompleteInputMixin, BaseEstimator):
    """What `IncompleteGaussianMixture` can do once it is fitted."""

    n_components: int
    covariance_type: str
    random_state: Any
    weights_: Array
    _params: Any  # of one mixture, standardised
    _scaling: Scaling
    _constants: np.ndarray  # (n_features_in,), each column's smallest value
    _dtype: str

    # Made when they are asked for: where columns were left out they may be far larger than what
    # the fit holds, or than the file that a model was read from.
    @cached_property
    def means_(self) -> Array:
        means = self._fitted_params("means_").means[0, ...]
        return asarray_like(units.means_out(means, self._scaling, self._constants), means)

    @cached_property
    def covariances_(self) -> Array:
        inside = self._fitted_params("covariances_").covariances[0, ...]
        return self._public(units.covariances_out(inside, self._scaling, len(self._constants)))

    @cached_property
    def precisions_(self) -> Array:
        return self._public(units.precisions_of(self._factors("precisions_"), self._scaling))

    @cached_property
    def precisions_cholesky_(self) -> Array:
        return self._public(self._factors("precisions_cholesky_"))

    def predict(self, X: Any) -> Array:
        """Find the most probable component of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        labels : array of shape (n_samples,)
            −1 for a row with nothing observed.
        """
        resp, _, table = self._score(X)
        xp = namespace(resp)
        labels = xp.argmax(resp, axis=0)
        return restorer(X)(xp.where(xp.any(table.observed, axis=1), labels, -1))

    def predict_proba(self, X: Any) -> Array:
        """Compute each row's posterior over the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        resp : array of shape (n_samples, n_components)
            Posteriors γ; a row with nothing observed gets the weights.
        """
        resp, _, _ = self._score(X)
        return restorer(X)(namespace(resp).matrix_transpose(resp))

    def score_samples(self, X: Any) -> Array:
        """Compute the log-density of what is observed of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        log_density : array of shape (n_samples,)
            Log-densities; 0 for a row with nothing observed.
        """
        _, log_density, table = self._score(X)
        return restorer(X)(log_density - units.log_volume(table.observed, self._scaling))

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the mean log-density of what is observed of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        score : float
            Mean of what `score_samples` gives.
        """
        return float(np.mean(to_numpy(self.score_samples(X))))

    def bic(self, X: Any) -> float:
        """Compute the Bayesian information criterion; lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        bic : float
            −2 log L + p log n, with p free parameters and n rows that have a value in a column
            that varies.
        """
        _, log_density, table = self._score(X)
        scores = log_density - units.log_volume(table.observed, self._scaling)
        n_samples = int(to_numpy(table.observed).any(axis=1).sum())
        penalty = self._n_parameters() * math.log(max(n_samples, 1))
        return float(-2 * np.sum(to_numpy(scores)) + penalty)

    def aic(self, X: Any) -> float:
        """Compute the Akaike information criterion; lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        aic : float
            −2 log L + 2 p, with p free parameters.
        """
        scores = to_numpy(self.score_samples(X))
        return float(-2 * np.sum(scores) + 2 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw complete rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.

        Returns
        -------
        X : array of shape (n_samples, n_features)
            Rows, of the kind and on the device that `fit` was given.
        y : array of shape (n_samples,)
            The component each row came from.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples}. The sampling requires at least one "
                "sample."
            )
        rng = check_random_state(self.random_state)
        weights, means = to_numpy(self.weights_), to_numpy(self._params.means)[0]
        counts = rng.multinomial(n_samples, weights / weights.sum())
        labels = np.repeat(np.arange(len(counts)), counts)
        rows = rng.standard_normal((n_samples, means.shape[1]))
        # Drawn in standardised units: in the user's, the square of 1e300 would be infinite.
        _spread(rows, labels, to_numpy(self._params.covariances)[0])
        rows = units.means_out(rows + means[labels], self._scaling, self._constants)
        return asarray_like(rows, self.means_), asarray_like(
            labels, self.means_, dtype=namespace(self.means_).int64
        )

    def impute(self, X: Any) -> Array:
        """Fill in the conditional expectation of every missing value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        X : array or dataframe of shape (n_samples, n_features)
            Of the kind that was given, with observed values as they were. A column that was never
            observed in `fit` stays NaN.
        """
        check_is_fitted(self)
        given = validate_table(self, X, reset=False)
        table = standardise_on_model_device(given, self._scaling, self._dtype)
        values = to_numpy(given).astype(np.float64)
        blocks = (block(table, s.start, s.stop) for s in gen_batches(len(values), _BLOCK))
        completed = np.concatenate([self._impute_block(each) for each in blocks])
        missing = np.isnan(values)
        replaced = np.flatnonzero(missing.any(axis=0)).tolist()
        return fill_table(X, np.where(missing, completed, values), replaced, ())

    def _forget(self) -> None:
        """Forget the attributes that are made when they are asked for."""
        for name, member in vars(FittedMixture).items():
            if isinstance(member, cached_property):
                self.__dict__.pop(name, None)

    @property
    def state_(self) -> MixtureState:
        """What other functions of pckid read of the fit; it may change with any version."""
        return MixtureState(self._params, self._scaling, self._constants, self._dtype)

    def _fitted_params(self, name: str) -> Any:
        """Return the parameters that the public attribute `name` is made of."""
        if "_params" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self._params

    def _factors(self, name: str) -> np.ndarray:
        """Factor the precisions of all components, (g, d) or (g, d, d)."""
        inside = self._fitted_params(name).covariances[0, ...]
        return units.factors_out(inside, self._scaling, len(self._constants))

    def _public(self, each: np.ndarray) -> Array:
        """Give what each component has the public shape, where the fitted parameters lie."""
        shape = units.as_public(each, COVARIANCE_TYPES[self.covariance_type], self._scaling)
        return asarray_like(shape, self._params.means)

    def _score(self, X: Any) -> tuple[Array, Array, StandardisedRows]:
        """Compute posteriors (g, n), log-densities (n,) in standardised units, and the table."""
        check_is_fitted(self)
        family = COVARIANCE_TYPES[self.covariance_type]
        X = validate_table(self, X, reset=False)
        table = standardise_on_model_device(X, self._scaling, self._dtype)
        joint = family.log_joint(family.statistics(table), self._params)
        resp, log_density = em.responsibilities(joint)
        return resp[0, ...], log_density[0, :], table

    def _impute_block(self, table: StandardisedRows) -> np.ndarray:
        """Average the completed rows over the components, in the user's units."""
        family = COVARIANCE_TYPES[self.covariance_type]
        stats = family.statistics(table)
        resp, _ = em.responsibilities(family.log_joint(stats, self._params))
        xp = namespace(resp)
        completed = family.conditional_means(stats, self._params)
        mean = xp.sum(completed * resp[0, :, :, None], axis=0)
        return units.means_out(mean, self._scaling, self._constants)

    def _n_parameters(self) -> int:
        """Count the free parameters, those of varying columns only."""
        family = COVARIANCE_TYPES[self.covariance_type]
        return family.n_parameters(self.n_components, len(self._scaling.kept))


def _spread(noise: np.ndarray, labels: np.ndarray, covariances: np.ndarray) -> None:
    """Give standard normal rows (n, d) the variances (g, d) or covariances (g, d, d) of a label."""
    if covariances.ndim == 2:
        noise *= np.sqrt(covariances)[labels]
        return
    values, vectors = np.linalg.eigh(covariances)
    for k, root in enumerate(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]):
        noise[labels == k] = noise[labels == k] @ root.T


def restore_mixture(estimator: Any, state: MixtureState) -> None:
    """Give an estimator the fitted state of a mixture, as from a file."""
    estimator._params, estimator._scaling = state.params, state.scaling
    estimator._constants, estimator._dtype = state.constants, state.dtype
    estimator.weights_ = np.exp(state.params.log_weights[0])
