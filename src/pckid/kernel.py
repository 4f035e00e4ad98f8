"""The probabilistic cluster kernel for incomplete data, as a scikit-learn transformer."""

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import Array, namespace, restorer
from pckid._utils.parallel import n_threads
from pckid._utils.progress import TRAINING, Hearer, part
from pckid._utils.sklearn_compat import fit_context, with_callbacks
from pckid.ensemble.base import EnsembleEstimator
from pckid.ensemble.feature_map import feature_matrix
from pckid.ensemble.settings import EnsembleSettings
from pckid.ensemble.training import train
from pckid.input.validation import all_or_nothing
from pckid.say.progress import shows_progress


class ProbabilisticClusterKernel(EnsembleEstimator):
    """Learn a kernel between rows with missing values, with no width to tune.

    Rows are alike if many Gaussian mixtures, coarse and fine, put them into the same components:

        κ(x, x') = (1/Z) Σ_q Σ_g w_g γ(x; q, g)ᵀ γ(x'; q, g),    Z = Q Σ_g w_g

    with γ(x; q, g) the posterior over g components, from random start q, given what is observed
    of x, and w_g the weight of a mixture, g² or, in the paper, 1. `transform` gives the explicit
    feature map Φ, so that κ(x, x') = Φ(x)·Φ(x').

    Parameters
    ----------
    n_inits : int, default=10
        Random starts for each number of components; the paper's Q, there 30.
    max_components, n_sizes, max_samples, max_iter : as in PCKID
        The sizes of the mixtures, the rows that each is trained on, and its iterations.
    covariance_type, reg_covar, weighting : as in PCKID
        The shape of the components, their smallest variance, and what a mixture counts.
    scaling, column_groups, group_weights : as in PCKID
        What columns of numbers are divided by, and columns that belong together.
    categorical_features, missingness : as in PCKID
        Columns of categories, and missingness that carries information.
    log_columns, count_columns, ordinal_columns : as in PCKID
        Columns whose logarithm is taken, of counts, and of ordered categories.
    n_factors : int, "auto" or None, default="auto"
        The factors that rows of wide tables are scored by, as in PCKID; "auto" finds their number.
    dtype, device, random_state, n_jobs, verbose : as in PCKID
        Arithmetic, where to compute, the seed, threads, and what is printed.

    Attributes
    ----------
    n_iter_ : int
        EM iterations that each mixture ran.
    categories_ : dict
        The sorted categories of each column of categories, by its name or index.
    column_groups_ : dict
        The columns of each group, by their names or indices.
    n_factors_ : int
        The number of factors that rows are scored by; 0 where mixtures see the columns themselves.
    telling_features_ : list
        Names, or indices, of the columns that have these factors; all that are used where there are
        none.
    dropped_features_ : list
        Names, or indices, of columns left out because they are empty or constant.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, if all are strings.

    See Also
    --------
    PCKID : Spectral clustering with this kernel.
    IncompleteGaussianMixture : One mixture of the ensemble's kind.
    sklearn.kernel_approximation.Nystroem : Feature maps of other kernels, for complete rows.

    References
    ----------
    S. Løkse, F. M. Bianchi, A.-B. Salberg, R. Jenssen. Spectral Clustering using PCKID, a
    Probabilistic Cluster Kernel for Incomplete Data. SCIA 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import ProbabilisticClusterKernel
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [5.0, 5.1], [np.nan, 5.2]])
    >>> kernel = ProbabilisticClusterKernel(n_inits=20, max_samples=1.0, random_state=0).fit(X)
    >>> K = kernel.kernel(X)
    >>> bool(K[0, 1] > K[0, 2])
    True
    """

    @all_or_nothing
    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    @shows_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the ensemble of mixtures.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. A dask array or dataframe is surveyed block by
            block.
        y : Ignored
            Not used, present here for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; only ratios matter, since weights are divided by their mean.
            In tables of up to 3,000 rows, weights of 2 equal rows that come twice, and rows of
            weight 0 count as none. None counts all alike.

        Returns
        -------
        self : ProbabilisticClusterKernel
            The fitted estimator.
        """
        with part(1.0, TRAINING):
            sample, hearer = self._draw(X, sample_weight).sample, Hearer(self, self.verbose)
            self._kernel = train(sample, EnsembleSettings.of(self), hearer=hearer).kernel
        self.n_iter_ = self.max_iter
        self._n_features_out = self._kernel.ensemble.n_columns
        return self

    def transform(self, X: Any) -> Array:
        """Map rows to the posteriors of all mixtures.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. A row with nothing observed gets the weights
            of the components, which is what is known of it.

        Returns
        -------
        features : array of shape (n_samples, n_columns)
            Φ, with n_columns = Q (2 + … + G); its scalar products are the kernel.
        """
        check_is_fitted(self)
        table = self._read(X)
        features = feature_matrix(self._kernel, table, n_threads(self.n_jobs))
        return restorer(X)(namespace(features).matrix_transpose(features))
