"""IncompleteGaussianMixture: a Gaussian mixture fitted to rows with missing values."""

from __future__ import annotations

import math
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from pckid._arrays import Array, like, namespace, restorer, to_numpy
from pckid._checks import IncompleteInputMixin, all_or_nothing, read_table, refuse_too_few
from pckid._warnings import warn_caller
from pckid.mixture import em, given, initialise, units
from pckid.mixture.families import FAMILIES
from pckid.mixture.reading import read_new, read_training, standardise_at_home
from pckid.mixture.segments import Segments
from pckid.mixture.table import Table, block, smallest_variance, take
from pckid.mixture.weighting import canonical_order, draw_rows, weighted_rows

_BLOCK = 4096


class IncompleteGaussianMixture(DensityMixin, IncompleteInputMixin, BaseEstimator):
    """Gaussian mixture for rows with missing values, by EM on what is observed.

    Nothing is imputed: the E-step conditions on the observed part of each row, the M-step adds
    the expectation and the conditional covariance of the missing part (Algorithm 1 of Løkse et
    al. 2017, after Ghahramani and Jordan 1994 and Lin et al. 2006). It assumes that values are
    missing at random. With nothing missing it is the ordinary Gaussian mixture.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "tied_diag", "spherical"}, default="full"
        "full" gives each component a covariance matrix of its own, "tied" the same one to all;
        "diag" each a vector of variances, "tied_diag" the same one to all; "spherical" gives each
        component one variance for all features.
    tol : float, default=1e-3
        EM stops when the mean log-likelihood of the observed part gains less than this.
    reg_covar : float, default=1e-6
        The smallest variance in any direction, in units of the features' observed variances.
    max_iter : int, default=100
        Most EM iterations.
    n_init : int, default=1
        Random starts; the fit of highest likelihood is kept.
    weights_init : array-like of shape (n_components,), default=None
        Weights to start from.
    means_init : array-like of shape (n_components, n_features), default=None
        Means to start from. None draws random rows, runs one k-means iteration on mean-imputed
        rows and starts from the moments of its clusters.
    covariances_init : array-like, default=None
        Covariances to start from, shaped like `covariances_`.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
        A column that never varies has its one value here, and NaN if it was never observed.
    covariances_ : array
        Of shape (n_components, n_features, n_features) for "full", (n_features, n_features) for
        "tied", (n_components, n_features) for "diag", (n_features,) for "tied_diag" and
        (n_components,) for "spherical". Zero for columns that never vary.
    converged_ : bool
    n_iter_ : int
    lower_bound_ : float
        Mean log-likelihood of the observed part of a row.
    dropped_features_ : list
        Names, or indices, of columns left out because they are empty or constant.
    n_features_in_ : int
    feature_names_in_ : array of shape (`n_features_in_`,)

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import IncompleteGaussianMixture
    >>> X = np.array([[1.0, 2.0], [1.2, np.nan], [0.8, 1.7], [8.0, 9.0], [np.nan, 9.2], [8.3, 8.9]])
    >>> mixture = IncompleteGaussianMixture(2, covariance_type="diag", n_init=5, random_state=0)
    >>> float(np.round(mixture.fit(X).impute(X)[4, 0]))
    8.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(FAMILIES))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "covariances_init": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        weights_init: Any = None,
        means_init: Any = None,
        covariances_init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.weights_init = weights_init
        self.means_init = means_init
        self.covariances_init = covariances_init
        self.random_state = random_state

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IncompleteGaussianMixture:
        """Fit the mixture by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. A row with nothing observed is left out.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts: 2 as two such rows, 0 as none. None counts all alike.

        Returns
        -------
        self
        """
        self._fit(X, sample_weight)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and find the most probable component of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        labels : array of shape (n_samples,)
            −1 for a row with nothing observed.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

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
            γ; a row with nothing observed gets the weights.
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
        """
        _, log_density, table = self._score(X)
        return restorer(X)(log_density - self._log_volume(table))

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the mean log-density of what is observed of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.
        y : Ignored

        Returns
        -------
        float
        """
        return float(np.mean(to_numpy(self.score_samples(X))))

    def bic(self, X: Any) -> float:
        """Compute the Bayesian information criterion on `X`; lower is better."""
        scores = to_numpy(self.score_samples(X))
        return float(-2 * np.sum(scores) + self._n_parameters() * math.log(len(scores)))

    def aic(self, X: Any) -> float:
        """Compute the Akaike information criterion on `X`; lower is better."""
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
        return like(rows, self.means_), like(
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
        X : array of shape (n_samples, n_features)
            Observed values as they were. A column that was never observed in `fit` stays NaN.
        """
        check_is_fitted(self)
        given = read_table(self, X, reset=False)
        table = standardise_at_home(given, self._scaling, self._dtype)
        values = to_numpy(given).astype(np.float64)
        completed = np.concatenate(
            [
                self._impute_block(block(table, s.start, s.stop))
                for s in gen_batches(len(values), _BLOCK)
            ]
        )
        return restorer(X)(like(np.where(np.isnan(values), completed, values), table.values))

    def _fit(self, X: Any, sample_weight: Any) -> None:
        values = read_table(self, X, reset=True)
        values, weights = weighted_rows(values, sample_weight)
        # The determinant of a covariance matrix near its floor has no digit left in float32.
        single = values.dtype == namespace(values).float32
        single = single and not FAMILIES[self.covariance_type].MATRICES
        self._dtype = "float32" if single else "float64"
        table, usable, self._scaling = read_training(
            self,
            values,
            self._dtype,
            one_scale=self.covariance_type == "spherical",
            weights=weights,
        )
        needed = max(2, self.n_components)
        refuse_too_few(usable.shape[0], needed, f"n_components={self.n_components}")
        if usable.shape[0] < table.n_samples:
            table = take(table, usable)
            weights = None if weights is None else namespace(values).take(weights, usable, axis=0)
        fit = self._best(table, weights)
        self._keep(fit, table, weights, restorer(X), units.only_values(to_numpy(values)))

    def _best(self, table: Table, weights: Array | None) -> em.Fitted:
        """Run EM from every start and keep the fit of highest likelihood."""
        counts = None if weights is None else to_numpy(weights)
        order = canonical_order(table, counts)
        if weights is not None:
            mean = namespace(weights).mean(weights)
            weights = namespace(weights).astype(weights / mean, table.values.dtype)
        family = FAMILIES[self.covariance_type]
        stats = family.statistics(table)
        rng = check_random_state(self.random_state)
        floor = smallest_variance(self.reg_covar, self._dtype)
        fits = []
        for _ in range(self.n_init):
            chosen = draw_rows(order, counts, self.n_components, rng)
            start = self._start(stats, table, chosen, floor, weights)
            fits.append(
                em.converge(
                    family,
                    stats,
                    start,
                    max_iter=self.max_iter,
                    tol=self.tol,
                    floor=floor,
                    weights=weights,
                )
            )
        best = max(fits, key=lambda fit: fit.log_likelihood)
        if not best.converged and self.tol > 0:
            warn_caller(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data.",
                ConvergenceWarning,
            )
        return best

    def _start(
        self, stats: Any, table: Table, chosen: np.ndarray, floor: float, weights: Array | None
    ) -> Any:
        """Start from rows `chosen`, with the user's own values where they are given."""
        family = FAMILIES[self.covariance_type]
        values = table.values
        first = like(chosen[None, :], values, dtype=namespace(values).int64)
        parts = Segments((self.n_components,))
        start = initialise.from_rows(family, stats, first, parts, floor, weights)
        g, d, kind = self.n_components, self.n_features_in_, self.covariance_type
        if self.means_init is not None:
            means = given.read_array(self.means_init, "means_init", "means", (g, d))
            inside = units.means_in(means, self._scaling, values)[None, ...]
            given.refuse_infinite(to_numpy(inside), "means_init")
            start = start._replace(means=inside)
        if self.covariances_init is not None:
            shape, what = units.public_shape(kind, g, d), f"{kind} covariance"
            spread = given.read_array(self.covariances_init, "covariances_init", what, shape)
            spread = units.for_each(spread, kind, g, d)
            inside = units.covariances_in(spread, self._scaling, values)[None, ...]
            given.refuse_infinite(to_numpy(inside), "covariances_init")
            given.refuse_indefinite(to_numpy(inside)[0], what)
            start = start._replace(covariances=inside)
        if self.weights_init is not None:
            shares = np.maximum(given.read_weights(self.weights_init, g), np.finfo("f4").tiny)
            start = start._replace(log_weights=like(np.log(shares)[None, :], values))
        return start

    def _keep(
        self,
        fit: em.Fitted,
        table: Table,
        weights: Array | None,
        restore: Any,
        constants: np.ndarray,
    ) -> None:
        """Store the fit in the user's units."""
        self._params, self._constants = fit.params, constants
        self._publish(restore)
        self.converged_, self.n_iter_ = fit.converged, fit.n_iter
        volumes = to_numpy(self._log_volume(table))
        shift = np.average(volumes, weights=None if weights is None else to_numpy(weights))
        self.lower_bound_ = fit.log_likelihood - float(shift)

    def _publish(self, restore: Any) -> None:
        """Set the public attributes from the fitted parameters, in the user's units."""
        params = self._params
        self.weights_ = restore(namespace(params.means).exp(params.log_weights[0, :]))
        self.means_ = restore(like(self._public_means(), params.means))
        self.covariances_ = restore(like(self._public_covariances(), params.means))

    # A fit sets these two. A model that was read from a file has them made when they are asked for:
    # where columns were left out they may be far larger than the file.
    @cached_property
    def means_(self) -> Array:
        return self._when_fitted("means_", "_public_means")

    @cached_property
    def covariances_(self) -> Array:
        return self._when_fitted("covariances_", "_public_covariances")

    def _when_fitted(self, name: str, make: str) -> Array:
        """Make a public attribute in the type of the fitted parameters."""
        if "_params" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return like(getattr(self, make)(), self._params.means)

    def _public_means(self) -> np.ndarray:
        """Undo the scaling of the means (g, n_features_in)."""
        return units.means_out(self._params.means[0, ...], self._scaling, self._constants)

    def _public_covariances(self) -> np.ndarray:
        """Undo the scaling of the covariances, in the shape that their kind has."""
        # The square of a spread of 1e300 is inf, which is as near as a float comes.
        with np.errstate(over="ignore"):
            inside = self._params.covariances[0, ...]
            each = units.covariances_out(inside, self._scaling, len(self._constants))
            return units.as_public(each, self.covariance_type, self._scaling)

    def _read(self, X: Any) -> Table:
        """Standardise rows for the fitted mixture."""
        return read_new(self, X, self._scaling, self._dtype)

    def _score(self, X: Any) -> tuple[Array, Array, Table]:
        """Compute posteriors (g, n), log-densities (n,) in standardised units, and the table."""
        check_is_fitted(self)
        family = FAMILIES[self.covariance_type]
        table = self._read(X)
        joint = family.log_joint(family.statistics(table), self._params)
        resp, log_density = em.responsibilities(joint)
        return resp[0, ...], log_density[0, :], table

    def _impute_block(self, table: Table) -> np.ndarray:
        """Average the completed rows over the components, in the user's units."""
        family = FAMILIES[self.covariance_type]
        stats = family.statistics(table)
        resp, _ = em.responsibilities(family.log_joint(stats, self._params))
        xp = namespace(resp)
        completed = family.conditional_means(stats, self._params)
        mean = xp.sum(completed * resp[0, :, :, None], axis=0)
        return units.means_out(mean, self._scaling, self._constants)

    def _log_volume(self, table: Table) -> Array:
        return units.log_volume(table.observed, self._scaling)

    def _n_parameters(self) -> int:
        """Count the free parameters, those of varying columns only."""
        family = FAMILIES[self.covariance_type]
        return family.n_parameters(self.n_components, len(self._scaling.kept))


def _spread(noise: np.ndarray, labels: np.ndarray, covariances: np.ndarray) -> None:
    """Give standard normal rows (n, d) the variances (g, d) or covariances (g, d, d) of a label."""
    if covariances.ndim == 2:
        noise *= np.sqrt(covariances)[labels]
        return
    values, vectors = np.linalg.eigh(covariances)
    for k, root in enumerate(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]):
        noise[labels == k] = noise[labels == k] @ root.T
