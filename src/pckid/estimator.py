"""PCKID: spectral clustering of rows with missing values."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import Array, asarray_like, namespace, restorer, take_along, to_numpy
from pckid._utils.parallel import n_threads
from pckid._utils.progress import CHOOSING, CLUSTERING, TRAINING, Hearer, part
from pckid._utils.sklearn_compat import fit_context, with_callbacks
from pckid.blocks import BlockedRows, blocked
from pckid.cubes import as_table, flatten, own_positions, restore_shape
from pckid.describe.cluster_names import check_cluster_names
from pckid.describe.merging import MergedClusters
from pckid.describe.profiles import profile_clusters
from pckid.describe.row_summary import count_outliers, summarise_rows
from pckid.ensemble.base import EnsembleEstimator, restore_kernel
from pckid.ensemble.feature_map import project
from pckid.ensemble.outliers import project_and_score
from pckid.ensemble.score_scale import recall_scores
from pckid.ensemble.state import KernelState
from pckid.ensemble.training import FitInput, Training, train
from pckid.input.arrangement import Arrangement, split_arrangement
from pckid.input.column_groups import plain_table
from pckid.input.known import KnownMembers, check_known
from pckid.input.sample import RowsInMemory, Sample
from pckid.input.table import Scaling, StandardisedRows, logs_as_scaled, standardise, take
from pckid.input.validation import (
    all_or_nothing,
    checked_blocks,
    column_name,
    feature_names,
    validate_table,
)
from pckid.input.warnings import (
    ignore_warnings,
    warn_cluster_limit,
    warn_empty_clusters,
    warn_ignored,
)
from pckid.matching import follow_model
from pckid.n_clusters import MAX_CLUSTERS, Choice
from pckid.runs import DecisionPlan, decide_by_runs
from pckid.say.notebook import ClusterReprMixin
from pckid.say.progress import shows_progress
from pckid.significance.ensemble import draw_matrix, of_fitted
from pckid.significance.new_rows import warn_of_shift
from pckid.spectral.assignment import (
    QUANTITIES,
    Assignment,
    FittedClusters,
    assign,
    compute_blocks,
)
from pckid.spectral.clustering import ClusteredSample, cluster_sample, recluster
from pckid.spectral.conflicts import find_conflicts
from pckid.spectral.instability import instability_of_missing
from pckid.spectral.settings import ClusterParameters, ClusterSettings
from pckid.spectral.state import ClusterState
from pckid.spectral.steadiness import grow_until_steady

_N_STARTS = 20  # of k-means, where a kernel has no number of its own

# What a fit finds of its own rows; not every fit finds all of it.
_OF_OWN_ROWS = (
    "labels_", "confidence_", "embedding_", "outlier_score_", "_cluster_sizes", "_cluster_names",
    "known_groups_", "known_conflicts_", "_own_scores", "matches_", "_arrangement",
)  # fmt: skip


PAPER_SETTING: Mapping[str, Any] = MappingProxyType(
    {
        "n_inits": 30,
        "max_components": 30,
        "n_sizes": None,
        "max_samples": 0.5,
        "max_iter": 10,
        "reg_covar": 0.01,
        "weighting": "equal",
        "scaling": "common",
        "embedding": "kernel_pca",
        "n_factors": None,
    }
)
"""The paper's parameters where they differ from the defaults."""


class PCKID(ClusterReprMixin, ClusterMixin, ClusterParameters, EnsembleEstimator):
    """Cluster rows with missing values, without imputing and without a kernel width.

    An ensemble of Gaussian mixtures of many sizes is fitted to the rows as they are. Rows that
    many mixtures put together are alike; this is the kernel. Its leading eigenvectors embed the
    rows, and k-means on the embedding gives the clusters.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        The number of clusters k. "auto" chooses among 1 to 40, see `pckid.choose_n_clusters`, and
        goes on as if that number had been given; 1 says that there are no clear groups, and 40,
        with a `ClusterLimitWarning`, that there may be more. Columns that agree with no other are
        then not used, which an `IgnoredColumnsWarning` says. A fit takes ten to thirty times as
        long as with a given number, some 4 s on one core at 1,000 rows: see `n_runs`.
    n_inits : int or "auto", default="auto"
        Random starts for each number of components; the paper's Q, there 30. "auto" takes 10, and
        20 or 40 where two halves of the ensemble find other clusters than each other, so that
        another `random_state` changes them less.
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
        refused. Figures about clusters stay in the units of the table: means become geometric ones,
        and spreads are those of logarithms times the mean.
    count_columns : array-like of str or int, default=None
        Columns of counts, by their names or indices: events, visits, animals, reads. In each
        component they have a negative binomial distribution, with the Poisson as its limit, in
        place of a Gaussian. Numbers below 0 are refused. One that takes two values counts as two
        categories. Not with covariance_type "full" or "tied".
    ordinal_columns : array-like of str or int, or mapping to levels, default=None
        Columns of ordered categories, by their names or indices: answers on a scale, stages, of
        at most 10 levels. They have one parameter in each component where other categories have
        one for each. Whole numbers and well known scales have their order; a mapping of columns to
        levels, the lowest first, or None gives it. None takes the columns of categories whose
        pandas or Arrow type is ordered, an empty list takes none.
    n_factors : int, "auto" or None, default="auto"
        Of a wide table, in which few columns tell the groups, rows are scored by this many factors
        of the columns that tell, and the mixtures see the scores in place of the columns of
        numbers. Factors are found by EM over the observed cells: nothing is imputed. "auto" does
        so for 50 columns of numbers or more, if these outnumber the rows or at most a third of them
        tell, and neither `column_groups` nor `count_columns` are given; how many factors, at least
        one fewer than clusters, and which columns, is what predicts hidden cells best. None never
        does. Not with `count_columns`.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Arithmetic. "auto" is float64 for tables of at most 4,000 entries, float32 above.
        Covariance matrices ("full", "tied") are always computed in float64.
    device : str, default=None
        Where to compute, as torch names it ("cuda"); None computes where the data are.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call.
    n_jobs : int, default=None
        Threads. None is as many as the BLAS library would use. Labels do not depend on it; the
        embedding may differ in its last digits, since sums are taken in another order.
    verbose : int, default=0
        1 shows what is done and how long it will still take, in notebooks as a bar of tqdm, also by
        `assess` and `report`; 2 prints more of it.
    embedding : {"random_walk", "kernel_pca"}, default="random_walk"
        "kernel_pca" is the paper's: Z = E_k Λ_k^½ from the k leading eigenvectors of the kernel K,
        uncentred; `as_in_paper` has the whole of its setting. "random_walk" divides each row's
        degree out first (Shi and Malik's normalised cut on this kernel), which serves clusters of
        unequal size better.
    n_landmarks : int, default=None
        The eigenvectors come from this many random rows and extend to the others exactly as to new
        rows. None uses all rows up to 3,000, and 3,000 random rows above.
    kmeans_n_init : int, default=100
        Starts of k-means; the partition of lowest cost is kept.
    n_runs : int, default=3
        How often "auto" and `assess` decide, each time by other seeds: on columns that do not
        count, on k, on null tables and gaps. Where runs disagree there are 2 n_runs + 1, seven by
        default, and an answer is what at least six of seven find; else it is "undecided". k, the
        columns and the ensemble are those of the run that agrees most with the others. 1 decides
        once, in about half of the time; two seeds then contradict each other on 4 % of tables.

    Attributes
    ----------
    n_clusters_ : int
        The number of clusters, given or chosen.
    choice_ : Choice
        What spoke for each number of clusters; only with `n_clusters="auto"`.
    labels_ : array of shape (n_samples,)
        Cluster of each row, numbered by size from 0, the largest; -1 for a row with nothing
        observed. Above 100,000 rows k-means runs on as many random ones, and it is among these
        that the clusters are ordered by size.
    cluster_names_ : list of str or None
        The name of each cluster, None where it has none. Assign a list to name clusters; names are
        saved with the model, and a new fit forgets them. Known groups name their clusters.
    known_groups_ : list of KnownGroup
        The name, cluster and number of known rows of each known group, and how many of these the
        table puts there, too; only with `known`.
    known_conflicts_ : list of Conflict
        Known rows that the table puts elsewhere: their membership in their own cluster is at most
        0.1 / (n_clusters − 1). Row, group, the cluster it looks like, and its confidence there;
        only with `known`.
    matches_ : ClusterMatches
        What became of the clusters of an earlier model: which stayed, split, merged, vanished or
        are new, and the rows that moved; only with `like`.
    embedding_ : array of shape (n_samples, n_clusters)
        Coordinates of the rows. A row with nothing observed lies where the mixtures' weights alone
        put it.
    eigenvalues_ : array of shape (n_clusters,)
        The leading eigenvalues, of K for "kernel_pca" and of D^-½ K D^-½ for "random_walk".
    confidence_ : array of shape (n_samples,)
        The chance that a row keeps its cluster with another ensemble on resampled rows, if there
        are groups: its largest value in `predict_proba`, from 1 / n_clusters to 1; that of its own
        group for a known row, and 0 for a row with nothing observed.
    outlier_score_ : array of shape (n_samples,)
        How unlike every cluster a row is, in standard deviations: near 0 for a usual row, above 3
        for about one usual row in 500, see `outlier_score`. In tables of up to `n_landmarks` rows
        each is scored by the mixtures that did not learn from it, so that the number means the same
        as for a new row. NaN for a row with nothing observed.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        Centres in the embedding.
    cluster_profiles_ : ClusterProfiles
        Of each column in each cluster, from observed values: centre, spread, count, share missing,
        and how well the column tells the cluster from the others. `ranked(cluster)` lists the
        columns that tell most first, `records()` gives rows for a data frame. Typical and doubtful
        rows, which need the table again, come from `pckid.explain`.
    feature_importances_ : array of shape (`n_features_in_`,)
        The share of each column's variance that lies between clusters, from 0 to 1; 0 for columns
        that were dropped. `pckid.explain` tells which column sets which cluster apart.
    inertia_ : float
        Sum of squared distances to their centres of the rows that k-means ran on.
    n_iter_ : int
        EM iterations that each mixture ran.
    categories_ : dict
        The sorted categories of each column of categories, by its name or index; those of ordered
        ones from the lowest to the highest.
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
    ProbabilisticClusterKernel : The kernel alone, with its feature map.
    IncompleteGaussianMixture : One mixture, with likelihoods and imputed values.
    choose_n_clusters : The score of every number of clusters.
    sklearn.cluster.SpectralClustering : Spectral clustering of complete rows.

    References
    ----------
    S. Løkse, F. M. Bianchi, A.-B. Salberg, R. Jenssen. Spectral Clustering Using PCKID – A
    Probabilistic Cluster Kernel for Incomplete Data. SCIA 2017.

    J. Shi, J. Malik. Normalized Cuts and Image Segmentation. IEEE TPAMI 22(8), 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (50, 4)), rng.normal(4, 1, (50, 4))])
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> model = PCKID(n_clusters=2, random_state=0).fit(X)
    >>> int(sum(model.labels_[:50] == model.labels_[0]))
    50
    """

    @all_or_nothing
    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    @shows_progress
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        known: Any = None,
        groups: Any = None,
        positions: Any = None,
        like: Any = None,
    ) -> Self:
        """Train the ensemble, embed the rows and cluster them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. A dask array or dataframe is surveyed block by
            block, and `labels_`, `confidence_` and `embedding_` are dask arrays, not yet computed.
            An image stack, which is an xarray object over space, is the table of its pixels, row
            by row; `predict` and the like then give maps.
        y : Ignored
            Not used, present here for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; only ratios matter, since weights are divided by their mean.
            In tables of up to 3,000 rows, weights of 2 equal rows that come twice. A row of weight
            0 gets its cluster as a new row would. None counts all alike. It says nothing about how
            much a known row tells of its group. A Series of pandas whose labels are those of the
            rows of `X` is put in their order.
        known : array-like of shape (n_samples,), default=None
            The group of rows for which it is known, a name or a number; −1, None, NaN or an empty
            text for all others. Known rows keep their group in `labels_`, the others follow, and
            clusters carry the groups' names in `cluster_names_`. Clusters beyond the known groups
            are free; `n_clusters="auto"` finds at least as many as groups are known. For a dask
            collection, a dask array or series in blocks alike, or an array in memory. Others follow
            at most 10,000 known rows, as many of each group. A Series of pandas whose labels are
            those of rows of `X`, all or some, is put in their order. Of an image stack, a
            DataArray (y, x).
        groups : array-like of shape (n_samples,) or str, default=None
            Which rows belong together, such as the visits of a patient: an array, or the name of a
            column of a dataframe, which is then no feature. They resemble each other without any
            cluster: `n_clusters="auto"` compares the table with tables without groups whose rows
            depend on each other alike, and `confidence_` is lower, as rows that belong together
            come and go together. For a given number of clusters labels stay the same. A Series of
            pandas is read as for `known`.
        positions : array-like of shape (n_samples,) or (n_samples, n_axes), str or sequence of \
                str, default=None
            Where rows are, in time or space: numbers, dates, coordinates of a map, or names of
            columns of a dataframe, which are then no features; latitude and longitude in degrees by
            such names, as ("lat", "lon"). Rows that are near each other may be alike without any
            cluster, which `n_clusters="auto"` and `assess` then allow for. With `groups`, rows
            depend on those of their group alone: times within persons. A row without a position is
            clustered, but not judged. For a table in memory. Pixels of an image stack have theirs.
        like : fitted PCKID, default=None
            An earlier model, such as that of last year's table. Clusters that match one of its
            clusters get its number and name, and `matches_` says what became of the others. The
            clusters themselves stay what they are without it.

        Returns
        -------
        self : PCKID
            The fitted estimator.
        """
        X = as_table(X)
        known, groups, sample_weight = map(flatten, (known, groups, sample_weight))
        positions = own_positions(X) if positions is None and groups is None else positions
        X, arrangement, self._position_columns = split_arrangement(X, positions, groups)
        settings, hearer = ClusterSettings.of(self), Hearer(self, self.verbose)
        least = settings.minimums
        drawn = self._draw(X, sample_weight, known, arrangement=arrangement, least=least)
        self._weighted = sample_weight is not None
        doing = (0.85, CHOOSING) if self.n_clusters == "auto" else (0.6, TRAINING)
        with part(*doing):
            training, drawn = self._choose_n_clusters(drawn, settings, hearer)
            training = self._grow_if_asked(training, settings, hearer)
        with part(0.8, CLUSTERING):
            clustering, members = self._cluster(training, arrangement)
        followed = None
        if like is not None:
            now = to_numpy(self._compute("placement", X))
            followed = follow_model(self, like, X, now, clustering)
        if followed is not None:
            clustering = followed.clustering
            self._centers = clustering.centers
        # What an earlier fit left is of other rows.
        for name in _OF_OWN_ROWS:
            self.__dict__.pop(name, None)
        if followed is not None:
            self.matches_, self.cluster_names_ = followed.matches, followed.names
        if members is not None:
            self._name_known(members, clustering)
        self._place(drawn, clustering, restorer(plain_table(X)))
        if arrangement is not None:
            self._arrangement = arrangement
        return self

    @classmethod
    def as_in_paper(cls, n_clusters: int | str, **changes: Any) -> Self:
        """Return an estimator with the setting of the paper's experiments.

        Every number of components from 2 to 30, each from 30 starts on a random half of the rows of
        its own, 10 iterations, all mixtures alike, columns in their own units, and the leading
        eigenvectors of the kernel itself. The smallest variance is 0.01, where the paper names
        none.

        Parameters
        ----------
        n_clusters : int
            The number of clusters k.
        **changes
            Parameters that are to differ, such as `random_state`.

        Returns
        -------
        estimator : PCKID
            Not fitted yet.

        Examples
        --------
        >>> from pckid import PCKID
        >>> PCKID.as_in_paper(2, random_state=0).embedding
        'kernel_pca'
        """
        return cls(n_clusters, **{**PAPER_SETTING, **changes})

    def predict(self, X: Any) -> Array:
        """Find the cluster of each row, seen in `fit` or new.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        labels : array of shape (n_samples,)
            −1 for a row with nothing observed.
        """
        return self.assign(X).labels

    def assign(self, X: Any) -> Assignment:
        """Find the cluster of each row, seen in `fit` or new, and how clearly it belongs there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        assignment : Assignment
            With `labels` as from `predict`, and `confidence` as in `confidence_`.
        """
        check_is_fitted(self)
        X = as_table(X, self)
        if (rows := blocked(X, aside=self._position_columns)) is not None:
            found = self._compute_blocks("placement", rows)[:2]
        else:
            table = self._read(X)
            warn_of_shift(self, table)
            assigned = assign(self._project(table), table, self._fitted)
            found = tuple(map(restorer(plain_table(X)), assigned))
        return Assignment(*(restore_shape(X, each) for each in found))

    def predict_proba(self, X: Any) -> Array:
        """Compute the chance that each row, seen in `fit` or new, belongs to each cluster.

        With a the distance in the embedding to the nearest centre and b_j that to centre j, the
        membership in cluster j is in proportion to exp(−β (b_j − a) / (b_j + a)). The inverse
        temperature β is found in `fit`: twice, a random quarter of the mixtures finds clusters by
        itself from a quarter of the rows, and β makes the clusters that rows get there most likely;
        few rows widen it. So where there are groups, of the rows at 0.9 about nine in ten keep
        their cluster with another ensemble on resampled rows, and on other rows nearly as many. It
        says how reproducible a row's cluster is, not that the cluster is real: where there are no
        groups it is far too high for other rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. For a dask array or dataframe the result is a
            dask array, not yet computed.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            Rows add up to 1; that of the cluster from `predict` is the largest. 1 / n_clusters
            each for a row with nothing observed.

        Examples
        --------
        >>> import numpy as np
        >>> from pckid import PCKID
        >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
        >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
        >>> model.predict_proba(X).shape
        (60, 2)
        """
        return self._compute("memberships", X)

    def outlier_score(self, X: Any) -> Array:
        """Compute how unlike every cluster each row is, seen in `fit` or new.

        Of each observed value the squared deviation from the components that the row belongs to, in
        units of their variances, is averaged over all mixtures; rare categories count alike. The
        score is the logarithm of their root mean square, standardised by the rows of the fit, each
        by the mixtures that did not learn from it: 0 for the middle one, 1.64 for the one that a
        twentieth exceed. About one row in 500 exceeds 3, one in 100 where tails are heavy.

        Give new rows: those of the fit score lower here than in `outlier_score_`, since half of the
        mixtures have learnt from each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing. For a dask array or dataframe the result is a
            dask array, not yet computed.

        Returns
        -------
        scores : array of shape (n_samples,)
            NaN for a row with nothing observed.

        Examples
        --------
        >>> import numpy as np
        >>> from pckid import PCKID
        >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
        >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
        >>> bool(model.outlier_score([[-9, 20, 3]])[0] > 3)
        True
        """
        return self._compute("outlier_score", X)

    def missing_instability(self, X: Any, n_draws: int = 40) -> Array:
        """Estimate how likely each row would change cluster if its missing values were known.

        The missing values of a row are drawn from what the ensemble expects of them, given the
        observed ones, and the completed row is placed by the fitted model. `confidence_` says how
        far other rows would change a row's cluster; this is what its own missing values could. It
        holds for values missing at random; those lost because of what they are look like others to
        the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in memory, with NaN where a value is missing, seen in `fit` or new.
        n_draws : int, default=40
            How often the missing values are drawn.

        Returns
        -------
        instability : array of shape (n_samples,)
            The share of draws in which the row gets another cluster than from `predict`; no other
            cluster counts as more likely than that. 0 for a complete row, NaN for one with nothing
            observed. It does not depend on other rows in X.

        Examples
        --------
        >>> import numpy as np
        >>> from pckid import PCKID
        >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
        >>> X[0, :] = [3.0, np.nan, np.nan]
        >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
        >>> found = model.missing_instability(X)
        >>> bool(found[0] > 0), float(found[1])
        (True, 0.0)
        """
        check_is_fitted(self)
        if blocked(X) is not None:
            raise ValueError("missing_instability needs rows in memory. Give blocks one by one.")
        if n_draws < 1:
            raise ValueError(f"n_draws is {n_draws}. Draw at least once.")
        X = as_table(X, self)
        checked = validate_table(self, plain_table(X), reset=False)
        shares = instability_of_missing(self._fitted, checked, n_draws, n_threads(self.n_jobs))
        found = asarray_like(shares, self._centers, dtype=self._centers.dtype)
        return restore_shape(X, restorer(plain_table(X))(found))

    def merge(
        self, groups: Sequence[Sequence[int]], names: Sequence[str | None] | None = None
    ) -> MergedClusters:
        """Join clusters into classes, as of land cover that looks in several ways.

        `pckid.cluster_tree` shows which clusters lie close. The model itself stays as it is.

        Parameters
        ----------
        groups : sequence of sequences of int
            The clusters of each class; a cluster that is in none is a class by itself.
        names : sequence of str or None, default=None
            A name for each class, in the order of their first clusters. None keeps the names of
            clusters, where those of a class agree.

        Returns
        -------
        merged : MergedClusters
            With `predict`, `predict_proba`, `assign`, `labels_` and `cluster_names_` of classes.

        Examples
        --------
        >>> import numpy as np
        >>> from pckid import PCKID
        >>> X = np.random.default_rng(0).normal(size=(90, 3)) + 6 * (np.arange(90) % 3)[:, None]
        >>> model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)
        >>> model.merge([[0, 2]]).groups_
        [[0, 2], [1]]
        """
        check_is_fitted(self)
        return MergedClusters(self, groups, names, self._compute_rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Compute how clearly rows lie in their clusters: a simplified silhouette.

        It lets searches such as :class:`sklearn.model_selection.GridSearchCV` work without
        `scoring`. It compares numbers of clusters, and favours few of them. It is no likelihood
        and knows no truth: a high score says that clusters are apart in their own embedding, not
        that they are the right ones, and scores under different settings of the ensemble are not
        on one scale. To choose the number of clusters, `n_clusters="auto"` is cheaper, since it
        trains one ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing, seen in `fit` or new.
        y : Ignored
            Not used, present here for API consistency by convention.

        Returns
        -------
        score : float
            From 0 to 1, the mean over rows with something observed of 1 − a/b, with a and b the
            distances to the nearest and the second nearest centre. 0 for a single cluster, which
            has no second centre, and NaN if no row has anything observed.
        """
        found = self._compute_rows("silhouettes", as_table(X, self))
        xp = namespace(found)
        seen = ~xp.isnan(found)
        n_rows = float(xp.sum(xp.astype(seen, found.dtype)))
        if n_rows == 0:
            return float("nan")
        return float(xp.sum(xp.where(seen, found, 0.0))) / n_rows if self.n_clusters_ > 1 else 0.0

    def transform(self, X: Any) -> Array:
        """Embed rows, seen in `fit` or new.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.

        Returns
        -------
        embedding : array of shape (n_samples, n_clusters)
            Coordinates, as in `embedding_`.
        """
        return self._compute("embedding", X)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, known: Any = None
    ) -> Array:
        """Fit and return the cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.
        y : Ignored
            Not used, present here for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, as in `fit`.
        known : array-like of shape (n_samples,), default=None
            The groups of rows for which they are known, as in `fit`.

        Returns
        -------
        labels : array of shape (n_samples,)
            Cluster of each row, as in `labels_`.
        """
        return self.fit(X, known=known, sample_weight=sample_weight).labels_

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, known: Any = None
    ) -> Array:
        """Fit and return the coordinates of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with NaN where a value is missing.
        y : Ignored
            Not used, present here for API consistency by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, as in `fit`.
        known : array-like of shape (n_samples,), default=None
            The groups of rows for which they are known, as in `fit`.

        Returns
        -------
        embedding : array of shape (n_samples, n_clusters)
            Coordinates, as in `embedding_`.
        """
        return self.fit(X, known=known, sample_weight=sample_weight).embedding_

    def _compute(self, name: str, X: Any) -> Array:
        """Compute something of rows, in memory or, when it is asked for, of blocks."""
        X = as_table(X, self)
        dim = "component" if name == "embedding" else "cluster"
        return restore_shape(X, self._compute_rows(name, X), dim)

    def _compute_rows(self, name: str, X: Any) -> Array:
        """Compute something of rows as an array, one entry for each."""
        check_is_fitted(self)
        if (rows := blocked(X, aside=self._position_columns)) is not None:
            return self._compute_blocks(name, rows)[0]
        found = QUANTITIES[name](self._fitted, self._read(X), n_threads(self.n_jobs))[0]
        return restorer(plain_table(X))(found)

    def _compute_blocks(self, name: str, rows: BlockedRows) -> tuple[Array, ...]:
        """Compute something of blocks, when it is asked for."""
        return compute_blocks(name, self._fitted, checked_blocks(self, rows))

    @property
    def state_(self) -> ClusterState:
        """What other functions of pckid read of the fit; it may change with any version."""
        known, kernel = vars(self), super().state_
        return ClusterState(
            kernel.kernel,
            kernel.columns,
            kernel.factors,
            self._fitted,
            known.get("_summary"),
            known.get("_own_scores"),
            known.get("_cluster_sizes"),
            known.get("_n_filled"),
            known.get("_arrangement"),
            known.get("_weighted", True),
        )

    @property
    def cluster_names_(self) -> list[str | None]:
        """The name of each cluster (n_clusters,), None where it has none."""
        return list(self.__dict__.get("_cluster_names", [None] * self.n_clusters_))

    @cluster_names_.setter
    def cluster_names_(self, names: Sequence[str | None]) -> None:
        self._cluster_names = check_cluster_names(names, self.n_clusters_)

    @property
    def _fitted(self) -> FittedClusters:
        """All that new rows need to find their clusters."""
        groups = {group.name: group.cluster for group in getattr(self, "known_groups_", ())}
        return FittedClusters(
            self._kernel,
            self._projection,
            self._centers,
            self._inverse_temperature,
            self._score_scale,
            groups,
        )

    def _choose_n_clusters(
        self, drawn: FitInput, settings: ClusterSettings, hearer: Hearer
    ) -> tuple[Training, FitInput]:
        """Take the number of clusters that was given, or choose one and the columns that count.

        Groups that are known to be there are clusters, whatever the table says.
        """
        self.__dict__.pop("choice_", None)
        members, n_empty = drawn.sample.members, drawn.sample.n_empty
        if members is not None:
            check_known(members, drawn.sample.n_rows, self.n_clusters)
        if not isinstance(self.n_clusters, str):
            self.n_clusters_ = int(self.n_clusters)
            return train(drawn.sample, settings, hearer=hearer), drawn
        plan = DecisionPlan(grows=self.n_runs == 1)
        found = decide_by_runs(drawn, settings, self.n_runs, plan, hearer)
        self.choice_ = found.choice
        at_least = 0 if members is None else len(members.counts)
        self.n_clusters_ = max(self.choice_.n_clusters, at_least)
        warn_cluster_limit(self.n_clusters_, MAX_CLUSTERS)
        ignored = [column_name(self, j) for j in self.choice_.ignored]
        warn_ignored(ignored, found.drawn.sample.n_empty - n_empty)
        return found.training, found.drawn

    def _grow_if_asked(
        self, training: Training, settings: ClusterSettings, hearer: Hearer
    ) -> Training:
        """Take as many starts as were asked for; "auto": as many as steady clusters take."""
        if not isinstance(self.n_inits, str):
            return training.first(self.n_inits)
        return grow_until_steady(
            training,
            lambda before, n_inits: train(before.sample, settings, n_inits, before, hearer),
            settings.n_starts,
            self.n_clusters_,
            self.embedding,
            settings.jobs,
        )

    def _cluster(
        self, training: Training, arrangement: Arrangement | None
    ) -> tuple[ClusteredSample, KnownMembers | None]:
        """Embed and cluster the rows to learn from, and keep what places others.

        Returned with the known rows that have something observed.
        """
        self._kernel, sample = training.kernel, training.sample
        self._n_filled = sample.n_rows - sample.n_empty
        members, known = sample.members, None
        if members is not None:
            table, members = members.standardise(sample.scaling, sample.dtype)
            known = table, members.labels
        groups = None if arrangement is None else arrangement.together
        if groups is not None:
            groups = groups[sample.origin]
        found = cluster_sample(
            training,
            self.n_clusters_,
            **ClusterSettings.of(self).clustering(self.n_clusters_),
            known=known,
            groups=groups,
        )
        self._projection, self._centers = found.projection, found.centers
        self._inverse_temperature, self._score_scale = found.inverse_temperature, found.scores.scale
        self.n_iter_, self._n_features_out = self.max_iter, self.n_clusters_
        self.inertia_ = found.inertia
        return found, members

    def _place(
        self, drawn: FitInput, clustering: ClusteredSample, restore: Callable[[Array], Array]
    ) -> None:
        """Find the clusters of rows in memory, or of the sample of blocks, and describe them.

        Those of all rows in blocks are found when they are asked for.
        """
        self.cluster_centers_ = restore(self._centers)
        self.eigenvalues_ = restore(self._projection.eigenvalues)
        rows, sample, _ = drawn
        X, known, weights = sample.X, sample.known, None
        if isinstance(rows, RowsInMemory):
            X, known, weights = rows.X, rows.known, rows.weights
        table, embedding, scores = self._locate(X, sample, clustering)
        found = assign(embedding, table, self._fitted, known, n_threads(self.n_jobs))
        scored = count_outliers(clustering.scores.held_out, clustering.scores.weights)
        self._describe(table, sample.scaling, found.labels, scored, weights)
        if isinstance(rows, RowsInMemory):
            self.labels_, self.confidence_ = map(restore, found)
            self.embedding_, self.outlier_score_ = restore(embedding), restore(scores)
            return
        self._own_scores = clustering.scores.keep_held_out(sample.table)
        if rows.lazy:
            results = self._compute_blocks("placement", rows)
            self.labels_, self.confidence_, self.embedding_ = results
            own = self._fitted._replace(own_scores=self._own_scores), checked_blocks(self, rows)
            (self.outlier_score_,) = compute_blocks("outlier_score", *own)

    def _locate(
        self, X: Array, sample: Sample, clustering: ClusteredSample
    ) -> tuple[StandardisedRows, Array, Array]:
        """Standardise rows, and find their coordinates (n_samples, n_clusters) and outlier scores.

        The rows of a sample that is the whole table have passed the mixtures already.
        """
        own = clustering.scores.own
        if not sample.is_whole or own is None:
            jobs = n_threads(self.n_jobs)
            table = standardise(X, sample.scaling, sample.dtype, jobs=jobs)
            state = self._kernel, self._projection, self._score_scale
            points, scores = project_and_score(*state, table, jobs)
            kept = clustering.scores.keep_held_out(sample.table)
            return table, points, scores if kept is None else recall_scores(kept, table, scores)
        index = asarray_like(sample.places, sample.table.values)
        points, scores = take_along(clustering.points, index), take_along(own, index)
        return take(sample.table, index), points, scores

    def _name_known(self, members: KnownMembers, clustering: ClusteredSample) -> None:
        """Name clusters after their known groups, and compare their rows with the clusters."""
        names, order = members.names, clustering.order
        free: list[str | None] = [None] * (self.n_clusters_ - len(names))
        self.cluster_names_ = [[*names, *free][center] for center in order]
        clusters = np.argsort(order)[: len(names)]
        found = find_conflicts(members, clusters, to_numpy(clustering.known_points), self._fitted)
        self.known_groups_, self.known_conflicts_ = found

    def _describe(
        self,
        table: StandardisedRows,
        scaling: Scaling,
        labels: Array,
        scored: np.ndarray,
        weights: Any,
    ) -> None:
        """Describe the clusters by rows and their labels (n_samples,)."""
        k, names = self.n_clusters_, feature_names(self)
        self.cluster_profiles_ = profile_clusters(
            table, scaling, labels, k, names, weights, self._categories
        )
        n_known = len(getattr(self, "known_groups_", ()))
        warn_empty_clusters(self.cluster_profiles_.n_rows, n_known)
        self._summary = summarise_rows(table, labels, k, scored, weights)
        importances = self.cluster_profiles_.importances
        self.feature_importances_ = np.array([importances.get(name, 0.0) for name in names])

    def _project(self, table: StandardisedRows) -> Array:
        """Compute the rows' coordinates, of shape (n_samples, n_clusters)."""
        return project(self._kernel, self._projection, table, n_threads(self.n_jobs))


def choose_n_clusters(
    estimator: EnsembleEstimator,
    X: Any,
    *,
    max_clusters: int = MAX_CLUSTERS,
    sample_weight: Any = None,
    positions: Any = None,
    groups: Any = None,
) -> Choice:
    """Score every number of clusters by how far the kernel's spectrum drops after it.

    Parameters
    ----------
    estimator : PCKID or ProbabilisticClusterKernel
        Ensembles are trained with its parameters; the estimator stays as it is.
    X : array-like of shape (n_samples, n_features)
        Rows, with NaN where a value is missing. At most 1,000 random rows are compared.
    max_clusters : int, default=40
        The largest candidate; never more than there are rows, less one.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, as in `PCKID.fit`.
    positions, groups : array-like, str or sequence of str, default=None
        Where rows are, and which of them belong together, as in `PCKID.fit`.

    Returns
    -------
    choice : Choice
        `pckid.plots.ChoiceDisplay` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, choose_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 3)) + 6 * np.eye(3)[np.arange(90) % 3]
    >>> X[::7, 1] = np.nan
    >>> found = choose_n_clusters(PCKID(random_state=0), X)
    >>> found.n_clusters
    3
    """
    if max_clusters < 2:
        raise ValueError(f"max_clusters={max_clusters}, but there is no choice below 2.")
    model = clone(estimator)
    X, arrangement, _ = split_arrangement(X, positions, groups)
    drawn = model._draw(X, sample_weight, arrangement=arrangement)
    settings = ClusterSettings.of(model)
    if not isinstance(model, PCKID):
        settings = settings.replace(kmeans_n_init=_N_STARTS)
    plan = DecisionPlan(max_clusters=max_clusters)
    return decide_by_runs(
        drawn, settings, settings.n_runs, plan, Hearer(model, model.verbose)
    ).choice


def cluster_into_others(model: PCKID, X: np.ndarray, numbers: Sequence[int]) -> list[np.ndarray]:
    """Cluster the rows of a fit into other numbers of clusters, by its ensemble.

    Categories are numbers in X (n_samples, n_features), and each row has a cluster; no row may have
    had a weight or a known group, and there are no more rows than a fit learns from. The labels
    (n_samples,) for each of the `numbers`, ascending, are those of a fit with that number and the
    same seed, which is that of the run that was taken.
    """
    seed = model.random_state if isinstance(model.random_state, Integral) else 0
    small, kernel = of_fitted(model), model._kernel
    settings = small.few(seed, dtype=model.dtype)
    with ignore_warnings():  # the fit has raised them
        logs = asarray_like(logs_as_scaled(X, kernel.scaling), kernel.scaling.center)
        drawn = draw_matrix(logs, small, settings, settings.minimums)
    if hasattr(model, "choice_"):
        run = model.choice_.runs[model.choice_.number]
        drawn = drawn.by_seed(run.seed).without(model.choice_.ignored)
    how = ClusterSettings.of(model).clustering(numbers[-1])
    return recluster(kernel, drawn.sample, numbers, **how)


def restore_clusters(model: PCKID, state: ClusterState) -> None:
    """Give an estimator the fitted state of clusters, as from a file."""
    restore_kernel(model, KernelState(state.kernel, state.columns, state.factors))
    clusters, model._position_columns = state.clusters, state.columns.positions
    model._projection, model.eigenvalues_ = clusters.projection, clusters.projection.eigenvalues
    model._centers = model.cluster_centers_ = clusters.centers
    model._inverse_temperature = clusters.inverse_temperature
    model._score_scale, model._summary = clusters.score_scale, state.summary
    model.n_clusters_ = model._n_features_out = clusters.centers.shape[0]
    if state.cluster_sizes is not None:
        keep_cluster_sizes(model, state.cluster_sizes)


def keep_cluster_sizes(model: PCKID, sizes: Sequence[int]) -> None:
    """Keep how many rows each cluster has, where `labels_` does not tell."""
    model._cluster_sizes = list(sizes)
