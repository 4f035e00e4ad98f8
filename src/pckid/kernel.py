"""The probabilistic cluster kernel for incomplete data, as a scikit-learn transformer."""

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import Array, namespace, restorer
from pckid._utils.parallel import n_threads
from pckid._utils.sklearn_compat import fit_context, with_callbacks
from pckid.ensemble.base import EnsembleEstimator
from pckid.ensemble.feature_map import feature_matrix
from pckid.input.validation import all_or_nothing


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
    max_components : int or "auto", default="auto"
        The largest number of components of a mixture; the paper's G, there 30. "auto" takes
        1.5 √n for n different rows, at most 60. Never more than there are rows in a subsample.
    n_sizes : int or None, default=8
        How many numbers of components there are, spread evenly from 2 to `max_components`. None
        takes all of them, as the paper does.
    max_samples : float, int or "auto", default="auto"
        The share (float) or number (int) of rows that each mixture is trained on, drawn at random
        for each. "auto" is half of the rows, at most 500; larger subsamples did not improve the
        labels.
    max_iter : int, default=5
        EM iterations for each mixture.
    covariance_type : {"diag", "tied_diag", "spherical", "full", "tied"}, default="diag"
        The shape of the components: variances ("diag"), the same variances in all components of a
        mixture ("tied_diag"), one variance for all features, in units of their observed variances
        ("spherical"), a covariance matrix ("full"), or the same one in all components ("tied").
    reg_covar : float or "auto", default="auto"
        The smallest variance of a component, in units of the feature's observed variance, or of
        their mean with scaling="common". "auto" takes 0.4 G^(−2/d) for d columns and mixtures of
        up to G components: G components that tile d columns are each about G^(−1/d) of a column
        wide. The paper names none.
    weighting : {"fine", "equal"}, default="fine"
        What a mixture counts in the kernel: "fine" takes the square of its number of components,
        "equal" is the paper's.
    scaling : {"each", "common"}, default="each"
        What columns of numbers are divided by before anything else: "each" by its own spread, so
        that units make no difference; "common" all by one, the root mean square of their spreads,
        so that columns that vary more tell more. That is the paper's, and serves columns in one
        and the same unit: pixels, bands, dates of a series, answers on one scale. With "each", a
        column that takes only two values counts as one of two categories, and neighbouring ones
        of which each row has exactly one, as one-hot encoders make them, as one category.
    column_groups : mapping of str to array-like of str or int, default=None
        Columns that belong together, by a name of the group: the dates of a series, the items of
        a questionnaire, the bands of an image. Those of a group are divided by one scale, as
        all columns are with scaling="common", count as numbers, and have one variance in each
        component. Columns of no group, and categories, stand each alone. None takes the groups
        that come with `X`, as with series.
    group_weights : None, "equal" or mapping of str to float, default=None
        How many times the log-density of each group counts in the mixtures, its missingness
        included where that is informative; groups that are not named count once. "equal" gives
        each group, and each column of no group, as much say as the smallest of them has: then a
        group of 200 columns does not drown one of 5. Not with covariance_type "full" or "tied".
    categorical_features : None, "from_dtype" or array-like of str, int or bool, default=None
        The columns of categories: their names, their indices, or a mask. None takes the columns
        of a dataframe whose type is category, and those of text unless most of it is numbers; an
        empty list takes none. "from_dtype" takes columns of booleans and all of text, and the
        columns of an array of objects that hold text. In each component a category has a
        probability; a missing one is left out, as numbers are. A column in which no two rows
        agree is left out.
        At most 255 categories; not with covariance_type "full" or "tied".
    missingness : {"ignorable", "informative"} or array-like of str or int, default="ignorable"
        Whether missingness itself carries information about the clusters. "informative" gives each
        component a probability for each column to be observed, for values that are missing because
        of what they are, or tests that were not made; names or indices of columns, or names of
        groups, do so for these alone. Not with covariance_type "full" or "tied".
    log_columns : array-like of str or int, default=None
        Columns whose logarithm is taken, by their names or indices: amounts, weights and counts
        over several powers of ten, of which ratios rather than differences tell rows apart. log x
        where all numbers of the fit are above 0, and log(1 + x) where some are 0; negative ones are
        refused.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Arithmetic. "auto" is float64 for tables of at most 4,000 entries, float32 above.
        Covariance matrices ("full", "tied") are always computed in float64.
    device : str, default=None
        Where to compute, as torch names it ("cuda"); None computes where the data are.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call.
    n_jobs : int, default=None
        Threads. None is as many as the BLAS library would use. The feature map does not depend on
        it; kernel values may differ in their last digits, since sums are taken in another order.
    verbose : int, default=0
        1 prints what is trained, and progress; 2 more of it.

    Attributes
    ----------
    n_iter_ : int
        EM iterations that each mixture ran.
    categories_ : dict
        The sorted categories of each column of categories, by its name or index.
    column_groups_ : dict
        The columns of each group, by their names or indices.
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
        self._kernel = self._train(self._draw(X, sample_weight)).kernel
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
