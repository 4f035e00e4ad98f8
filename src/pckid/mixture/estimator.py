"""IncompleteGaussianMixture: a Gaussian mixture fitted to rows with missing values."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from pckid._utils.arrays import Array, asarray_like, namespace, take_along, to_numpy
from pckid._utils.sklearn_compat import Interval, StrOptions, fit_context
from pckid.input.column_groups import plain_table
from pckid.input.table import (
    StandardisedRows,
    fit_scaling,
    standardise,
    take,
    usable_rows,
    variance_floor,
)
from pckid.input.validation import (
    all_or_nothing,
    check_columns_vary,
    column_name,
    dropped_features,
    validate_table,
)
from pckid.input.warnings import (
    warn_caller,
    warn_empty_rows,
    warn_identifiers,
    warn_sentinels,
    warn_unpaired,
)
from pckid.input.weights import checked_weights
from pckid.mixture import starts, units
from pckid.mixture.convergence import FittedMixtures, Steps, converge
from pckid.mixture.covariance_types import COVARIANCE_TYPES
from pckid.mixture.em import best_start
from pckid.mixture.fitted import FittedMixture
from pckid.mixture.given import Given


class IncompleteGaussianMixture(FittedMixture):
    """Gaussian mixture for rows with missing values, by EM on what is observed.

    Nothing is imputed: the E-step conditions on the observed part of each row, the M-step adds
    the expectation and the conditional covariance of the missing part (Algorithm 1 of Løkse et
    al. 2017, after Ghahramani and Jordan 1994 and Lin et al. 2006). It assumes that values are
    missing at random. With nothing missing it is the ordinary Gaussian mixture, with the interface
    of :class:`sklearn.mixture.GaussianMixture`.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "tied_diag", "spherical"}, default="full"
        "full" gives each component a covariance matrix of its own, "tied" the same one to all;
        "diag" each a vector of variances, "tied_diag" the same one to all; "spherical" gives each
        component one variance for all features.
    tol : float, default=1e-3
        EM stops when a step gains less than this in the mean log-likelihood of the observed part
        and, where values are missing, little is left to gain given the responsibilities: about
        ten times this in the log-likelihood of the whole table. With 0 all iterations are plain
        steps of EM.
    reg_covar : float, default=1e-6
        The smallest variance in any direction, in units of the features' observed variances. With
        0, it is an error if EM converges to a component that has no extent in some direction.
    max_iter : int, default=100
        Most EM iterations, each an E-step and an M-step. With 0 the mixture is what EM would have
        started from.
    n_init : int, default=1
        Number of starts; the fit of highest likelihood is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Where EM starts. "kmeans" runs k-means on the standardised rows, with distances over what
        is observed, from five seedings, and starts from the best partition; "k-means++" gives
        each row to the nearest of its seeds; "random" draws responsibilities; "random_from_data"
        draws rows as centres and takes one k-means step on mean-imputed rows, as the paper does.
        The first two number the components by their means at the start, first column first.
    weights_init : array-like of shape (n_components,), default=None
        Weights to start from, which sum to 1.
    means_init : array-like of shape (n_components, n_features), default=None
        Means to start from.
    precisions_init : array-like, default=None
        Inverses of the covariances to start from, shaped like `precisions_`.
    covariances_init : array-like, default=None
        Covariances to start from, shaped like `covariances_`. Give these or `precisions_init`.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call.
    warm_start : bool, default=False
        Whether a fit starts from what the one before found; `n_init` is ignored then.
    verbose : int, default=0
        1 prints starts and iterations, 2 also their time and what they gained.
    verbose_interval : int, default=10
        Number of iterations from one line to the next.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Weights of the components.
    means_ : array of shape (n_components, n_features)
        Means of the components. A column that never varies has its one value here, and NaN if it
        was never observed.
    covariances_ : array
        Of shape (n_components, n_features, n_features) for "full", (n_features, n_features) for
        "tied", (n_components, n_features) for "diag", (n_features,) for "tied_diag" and
        (n_components,) for "spherical". Zero for columns that never vary.
    precisions_ : array
        Inverses of the covariances, in their shape. Infinite for columns that never vary.
    precisions_cholesky_ : array
        Factors P of the precisions, P Pᵀ, upper triangular, or the roots of precisions that are no
        matrices.
    converged_ : bool
        Whether the best fit reached `tol`.
    n_iter_ : int
        Iterations of the best fit.
    lower_bound_ : float
        Mean log-likelihood of the observed part of a row.
    lower_bounds_ : list of float
        The same after each iteration of the best fit, or a bound below it where responsibilities
        were held.
    dropped_features_ : list
        Names, or indices, of columns left out because they are empty or constant.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, if all are strings.

    See Also
    --------
    PCKID : Clusters by many such mixtures together.
    sklearn.mixture.GaussianMixture : The same for complete rows.

    Notes
    -----
    With nothing missing EM stops as in scikit-learn. Where much is missing its steps are many and
    small, and one that gains little says nothing of how much is left. So the responsibilities are
    then held, and the parameters brought to their maximum given these by an accelerated EM
    (Varadhan and Roland 2008), before the mixture counts as converged. On small tables of which
    half is missing, covariance matrices at the maximum of the likelihood may fit the rows too
    closely: a larger `reg_covar`, or "diag", then describes new rows better.

    Rows in float32 are computed in float32 where covariances are diagonal or spherical, and so is
    what comes out. Covariance matrices ("full", "tied") are always computed in float64: near their
    floor, a determinant has no digit left in float32.

    References
    ----------
    S. Løkse, F. M. Bianchi, A.-B. Salberg, R. Jenssen. Spectral Clustering using PCKID, a
    Probabilistic Cluster Kernel for Incomplete Data. SCIA 2017.

    Z. Ghahramani, M. I. Jordan. Supervised learning from incomplete data via an EM approach.
    NIPS 6, 1994.

    R. Varadhan, C. Roland. Simple and globally convergent methods for accelerating the convergence
    of any EM algorithm. Scandinavian Journal of Statistics 35, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import IncompleteGaussianMixture
    >>> X = np.array([[1.0, 2.0], [1.2, np.nan], [0.8, 1.7], [8.0, 9.0], [np.nan, 9.2], [8.3, 8.9]])
    >>> mixture = IncompleteGaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    >>> float(np.round(mixture.impute(X)[4, 0]))
    8.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init_params": [StrOptions(set(starts.WAYS))],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "covariances_init": ["array-like", None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
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
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        covariances_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.covariances_init = covariances_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    @all_or_nothing
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IncompleteGaussianMixture:
        """Fit the mixture by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. A row with nothing observed is left out.
        y : Ignored
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts: 2 as two such rows, 0 as none. None counts all alike. A Series
            of pandas whose labels are those of the rows of `X` is put in their order.

        Returns
        -------
        self : object
            The fitted mixture.
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
            Not used, present for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        labels : array of shape (n_samples,)
            −1 for a row with nothing observed.
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def _fit(self, X: Any, sample_weight: Any) -> None:
        # With `warm_start`, what an earlier fit found.
        before = None
        if self.warm_start and hasattr(self, "converged_"):
            before = Given(self.weights_, self.means_, None, self.covariances_)
        values = validate_table(self, X, reset=True)
        warn_identifiers(plain_table(X), values, lambda j: column_name(self, j))
        xp = namespace(values)
        weights: Any = checked_weights(sample_weight, values.shape[0], X)
        if weights is not None:
            counted = np.flatnonzero(weights)
            values = take_along(values, counted)
            weights = asarray_like(weights[counted], values, dtype=xp.float64)
        # The determinant of a covariance matrix near its floor has no digit left in float32.
        family = COVARIANCE_TYPES[self.covariance_type]
        single = values.dtype == xp.float32 and not family.MATRICES
        self._dtype = "float32" if single else "float64"
        X = xp.astype(values, xp.float64, copy=False)
        # One variance holds for all columns of a sphere, so they have one scale.
        one_block = np.zeros(X.shape[1]) if family.SPHERICAL else None
        self._scaling = fit_scaling(X, column_blocks=one_block, weights=weights)
        check_columns_vary(len(self._scaling.used), X.shape, X=X)
        self.dropped_features_ = dropped_features(self, self._scaling.used)
        usable = xp.nonzero(usable_rows(X, self._scaling))[0]
        warn_empty_rows(X.shape[0] - usable.shape[0], X.shape[0])
        if isinstance(X, np.ndarray):
            warn_sentinels(X, lambda j: column_name(self, j))
        table = standardise(X, self._scaling, self._dtype)
        n_samples, needed = usable.shape[0], max(2, self.n_components)
        if n_samples < needed:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {n_samples} with at least one observed value. Give at least "
                f"{needed} rows, or ask for fewer components."
            )
        if n_samples < table.n_samples:
            table = take(table, usable)
            weights = None if weights is None else take_along(weights, usable)
        if family.MATRICES:
            names = [column_name(self, j) for j in self._scaling.used]
            warn_unpaired(to_numpy(table.observed), names)
        fit = self._best(table, weights, before)
        self._keep(fit, table, weights, units.only_values(to_numpy(values)))

    def _best(
        self, table: StandardisedRows, weights: Array | None, before: Given | None
    ) -> FittedMixtures:
        """Run EM from every start and keep the fit of highest likelihood."""
        counts = None if weights is None else to_numpy(weights)
        if weights is not None:
            mean = namespace(weights).mean(weights)
            weights = namespace(weights).astype(weights / mean, table.values.dtype)
        rows = starts.Rows.of(table, counts, weights)
        family = COVARIANCE_TYPES[self.covariance_type]
        stats = family.statistics(table)
        complete = bool(namespace(table.values).all(table.observed))
        rng = check_random_state(self.random_state)
        floor = variance_floor(self.reg_covar, self._dtype)
        chosen = before or Given(
            self.weights_init, self.means_init, self.precisions_init, self.covariances_init
        )
        # A start of which nothing will be left is the one that costs least.
        way = "random_from_data" if chosen.is_all else self.init_params
        fits = []
        for number in range(1 if before else self.n_init):
            start = starts.make_start(way, family, stats, rows, self.n_components, floor, rng)
            start = chosen.put_into(start, self.covariance_type, self._scaling, self.n_features_in_)
            report = _Report(self.verbose, self.verbose_interval, number)
            fits.append(
                converge(
                    Steps(family, stats, floor, weights),
                    start,
                    max_iter=self.max_iter,
                    tol=self.tol,
                    complete=complete,
                    tell=report.iteration,
                )
            )
            report.end(fits[-1])
        scores = [fit.log_likelihood for fit in fits]
        best = fits[best_start(scores, table.values.dtype)]
        if self.reg_covar == 0 and best.converged:
            _refuse_collapsed(best.params.covariances[0, ...], floor)
        if not best.converged and self.tol > 0 and self.max_iter > 0:
            warn_caller(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data.",
                ConvergenceWarning,
            )
        return best

    def _keep(
        self,
        fit: FittedMixtures,
        table: StandardisedRows,
        weights: Array | None,
        constants: np.ndarray,
    ) -> None:
        """Store the fit."""
        self._forget()
        self._params, self._constants = fit.params, constants
        self.weights_ = namespace(fit.params.means).exp(fit.params.log_weights[0, :])
        self.converged_, self.n_iter_ = fit.converged, fit.n_iter
        volumes = to_numpy(units.log_volume(table.observed, self._scaling))
        shift = float(np.average(volumes, weights=None if weights is None else to_numpy(weights)))
        self.lower_bound_ = fit.log_likelihood - shift
        self.lower_bounds_ = [each - shift for each in fit.log_likelihoods]


def _refuse_collapsed(covariances: Array, floor: float) -> None:
    """Raise if variances (g, d) or covariances (g, d, d) lie at the floor of the arithmetic."""
    if covariances.ndim == 3:
        covariances = namespace(covariances).linalg.eigvalsh(covariances)
    if float(namespace(covariances).min(covariances)) < 2 * floor:
        raise ValueError(
            "Fitting the mixture model failed because some components have ill-defined empirical "
            "covariance (for instance caused by singleton or collapsed samples). Try to decrease "
            "the number of components, increase reg_covar, or scale the input data."
        )


class _Report:
    """Prints how EM goes, as scikit-learn's mixtures do."""

    def __init__(self, verbose: int, interval: int, number: int) -> None:
        self.verbose, self.interval = verbose, interval
        self.begin = self.last = time.perf_counter()
        if verbose:
            print(f"Initialization {number}")

    def iteration(self, n_iter: int, gain: float) -> None:
        """Print an iteration, if `verbose_interval` asks for it."""
        if not self.verbose or n_iter % self.interval:
            return
        now = time.perf_counter()
        more = f"\t time lapse {now - self.last:.5f}s\t ll change {gain:.5f}"
        print(f"  Iteration {n_iter}{more if self.verbose > 1 else ''}")
        self.last = now

    def end(self, fit: FittedMixtures) -> None:
        """Print how a start ended."""
        if not self.verbose:
            return
        seconds = time.perf_counter() - self.begin
        more = f" time lapse {seconds:.5f}s\t lower bound {fit.log_likelihood:.5f}."
        ended = "converged" if fit.converged else "did not converge"
        print(f"Initialization {ended}.{more if self.verbose > 1 else ''}")
