"""Whether there are groups at all, and whether other rows would show the same clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import to_numpy
from pckid._utils.parallel import n_threads
from pckid._utils.progress import Advance
from pckid._utils.text import counted, join_words, write_p
from pckid.describe.missingness import find_followed_missingness
from pckid.describe.rows import keeps_labels, own_labels, to_matrix, used_columns
from pckid.input.sentinels import describe_codes, find_codes
from pckid.input.validation import categorical_mask, column_name, validate_table
from pckid.significance.comparison import (
    ALPHA,
    MIN_ROWS,
    Comparison,
    NullComparison,
    rows_to_compare,
)
from pckid.significance.ensemble import kernel_maker, quick
from pckid.significance.stability import Stability, measure_stability, resample_clusters

MAX_JUDGED = 3000
"""The stability of so many rows is judged."""

N_NULL, N_RESAMPLES = 49, 20
"""Null tables and resamples of a verdict."""

FEW_ROWS = 10
"""Clusters of fewer rows than this are named."""

CLEAR = 0.8
"""Clusters that are found again in this share of the resamples count as clearly separated."""

MANY_ALIKE = 0.1
"""Up to this share of null tables as clear, the verdict "no groups" is a close one."""


@dataclass(frozen=True)
class Assessment:
    """What `assess` found.

    Attributes
    ----------
    n_clusters : int
        Of the model.
    n_rows : int
        Rows that belong to a cluster.
    n_distinct : int
        How many of them differ.
    statistic : float
        How clearly the table falls into groups, in standard deviations of tables without: how high
        the leading eigenvalues of the random walk on the kernel are, which counts half, how large a
        share they have in the sum, and how far the first three eigenvectors are from unimodal. It
        does not depend on the model's number of clusters. NaN where there are too few rows.
    null_statistics : ndarray of shape (n_null,)
        The same for each table without groups, compared with the others.
    p_value : float or None
        How likely a table without groups reaches the statistic, by Student's t; None where there
        are too few rows to tell, or no more different rows than clusters.
    cluster_stability : ndarray of shape (n_clusters,) or None
        How far each cluster is found again in random halves of the rows: the mean of its highest
        Jaccard index with one of theirs. None for a single cluster and for too few rows.
    cluster_recovery : ndarray of shape (n_clusters,) or None
        The share of the halves in which that index is 0.75 or more.
    row_stability : ndarray of shape (n_samples,) or None
        The share of the halves that put a row into the same cluster; NaN for a row without a
        cluster and, in tables of more than 3,000 rows, for those that were not judged.
    small : list of int
        Clusters of fewer than 10 rows.
    codes : list of str
        Codes for missing values that seem to be left in the table, in words.
    follows : list of str
        Columns whose missing cells the clusters follow: closely, more than by chance, and among
        rows of like values too.
    chosen : bool
        Whether the model chose its number of clusters.
    n_table : int or None
        Rows with a value in the table of which a sample was judged; None if it was no sample, or is
        not known.
    fewer : int or None
        The best number of clusters below the model's, from 2 on, where the model chose its own.
    """

    n_clusters: int
    n_rows: int
    n_distinct: int
    statistic: float
    null_statistics: np.ndarray
    p_value: float | None
    cluster_stability: np.ndarray | None = None
    cluster_recovery: np.ndarray | None = None
    row_stability: np.ndarray | None = field(default=None, repr=False)
    small: list[int] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    follows: list[str] = field(default_factory=list)
    chosen: bool = False
    n_table: int | None = None
    fewer: int | None = None

    @property
    def has_groups(self) -> bool | None:
        """Whether the table falls into groups more clearly than tables without; None: unknown."""
        return None if self.p_value is None else self.p_value <= ALPHA

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        if self.p_value is None:
            few = counted(self.n_rows, "row")
            if self.n_rows >= MIN_ROWS:
                few = counted(self.n_distinct, "different row")
            return f"Only {few}: too few to tell whether there are groups."
        n_null = len(self.null_statistics)
        n_alike = int((self.null_statistics >= self.statistic).sum())
        if not self.has_groups and n_alike <= MANY_ALIKE * n_null:
            most = "all" if n_alike == 0 else f"{n_null - n_alike} of"
            return (
                f"No clear groups: the clusters are clearer than those of {most} {n_null} tables "
                f"without groups, but not by enough to be sure ({write_p(self.p_value)})."
            )
        if not self.has_groups:
            return (
                f"No clear groups: {n_alike} of {n_null} tables without groups fall into clusters "
                "as clearly."
            )
        nulls = f"{n_alike or 'none'} of {n_null} tables without groups looked like this"
        if self.n_clusters == 1:
            return f"There may be groups, though all rows are in one cluster: {nulls}."
        if self.cluster_recovery is None:
            return f"There are groups: {nulls}."
        least = self.cluster_recovery.min()
        if least >= CLEAR:
            return (
                f"{self.n_clusters} groups, clearly separated: {nulls}; each is found again in "
                f"{_share_of_resamples(least)}."
            )
        worst = int(self.cluster_recovery.argmin())
        return (
            f"There are groups, but not surely these {self.n_clusters}: {nulls}, but cluster "
            f"{worst} is found again in only {least:.0%} of resamples."
        )

    @property
    def notes(self) -> list[str]:
        """What else to know: clusters without groups, small ones, codes for missing values, …"""
        notes = []
        if self.has_groups is False and self.n_clusters > 1:
            notes.append(self._why_clusters())
        if self.has_groups and self.n_clusters > 2 and self._is_unsure:
            such = f", such as {self.fewer}" if self.fewer else ""
            instead = "" if self.chosen else ", or let their number be chosen from the table"
            notes.append(f"Try fewer clusters{such}{instead}.")
        if self.small:
            listed = join_words(list(map(str, self.small)))
            some = f"Cluster {listed} has" if len(self.small) == 1 else f"Clusters {listed} have"
            notes.append(f"{some} fewer than {FEW_ROWS} rows: too few to describe a group.")
        notes += self.codes
        if self.follows:
            listed, them = ", ".join(self.follows[:3]), "it" if len(self.follows) == 1 else "them"
            notes.append(
                f"The clusters follow which cells are missing, most of all in {listed}, and rows "
                "of like values show it too: they may tell how the table was collected. Find out "
                f"why cells are missing there, or leave {them} out and see which clusters stay."
            )
        if self.n_table is not None:
            notes.append(f"Judged on {self.n_rows:,} of {self.n_table:,} rows.")
        return notes

    @property
    def _is_unsure(self) -> bool:
        """Whether some cluster is not found again in most resamples."""
        return self.cluster_recovery is not None and self.cluster_recovery.min() < CLEAR

    def _why_clusters(self) -> str:
        """Explain the clusters of a table without clear groups."""
        clusters = f"{self.n_clusters} clusters"
        least = 0.0 if self.cluster_recovery is None else self.cluster_recovery.min()
        if least >= CLEAR:
            return (
                f"Yet each of the {clusters} is found again in {_share_of_resamples(least)}: a "
                "stable division of a continuum, or groups that this test misses."
            )
        if self.chosen:
            return (
                f"A close call: a quicker test found groups, so {clusters} were chosen; this test "
                "does not confirm them."
            )
        return (
            f"The rows are divided into {clusters} because that number was given; do not read them "
            "as groups."
        )

    def __repr__(self) -> str:
        tested = "" if self.p_value is None else f" {write_p(self.p_value)}"
        return f"<Assessment: {self.sentence}{tested}>"


def _share_of_resamples(share: float) -> str:
    """Say in how many resamples every cluster is found again."""
    return "every resample" if share == 1 else f"at least {share:.0%} of resamples"


def assess(
    estimator: Any,
    X: Any,
    *,
    n_null: int = N_NULL,
    n_resamples: int = N_RESAMPLES,
    random_state: Any = None,
    n_jobs: int | None = None,
    advance: Advance = lambda count: None,
) -> Assessment:
    """Test whether there are groups at all, and whether other rows show the same clusters.

    Clusters are compared with those of null tables, which have no groups: the same size, the same
    missing cells, the same correlations, and columns that are distributed alike but have one mode;
    discrete columns keep their distribution. And random halves of the rows are clustered anew.
    Both with few mixtures and on samples of rows, so that it takes seconds.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are assessed.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. Every row counts alike. For an estimator that keeps no
        labels in memory, as `cluster_file`, `load` and a fit to Dask blocks give, a random sample
        of its rows will do, such as 3,000; their labels are predicted, and `notes` says how many
        rows were judged.
    n_null : int, default=49
        The number of null tables; at least 5.
    n_resamples : int, default=20
        How many random halves of the rows are clustered; 0 for none.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call. None takes that of the estimator if it is an
        int: the verdict, too, is then the same for a seed, and the null tables are those that
        `n_clusters="auto"` looked at.
    n_jobs : int, default=None
        Threads, as in `PCKID`.
    advance : callable, default=None
        Called with 1 whenever a null table or a resample is done, for a progress bar.

    Returns
    -------
    assessment : Assessment
        `sentence` says it in words.

    References
    ----------
    E. Toffalini et al. Clusters that are not there. 2024.

    C. Hennig. Cluster-wise assessment of cluster stability. Computational Statistics & Data
    Analysis 52(1), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, assess
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> X[::7, 1] = np.nan
    >>> model = PCKID(2, random_state=0).fit(X)
    >>> found = assess(model, X, n_null=9, n_resamples=5, random_state=0)
    >>> found.sentence.partition(":")[0]
    '2 groups, clearly separated'
    """
    if n_null < 5 or n_resamples < 0:
        raise ValueError(
            f"n_null={n_null} and n_resamples={n_resamples} were given, but at least 5 null tables "
            "are needed, and 0 resamples."
        )
    values, labels = _labelled_rows(estimator, X)
    return assess_rows(
        estimator, values, labels, n_null, n_resamples, random_state, n_jobs, advance
    )


def assess_rows(
    estimator: Any,
    values: np.ndarray,
    labels: np.ndarray,
    n_null: int,
    n_resamples: int,
    random_state: Any,
    n_jobs: int | None,
    advance: Advance,
) -> Assessment:
    """Assess as `assess` does, by rows (n_samples, n_features) whose labels (n_samples,) are known.

    Categories are numbers in these rows.
    """
    rows = np.flatnonzero(labels >= 0)
    n_clusters, n_rows = len(estimator.cluster_centers_), len(rows)
    n_filled = getattr(estimator, "_n_filled", None)
    whole = keeps_labels(estimator) or n_rows == n_filled
    n_distinct = len(np.unique(np.nan_to_num(values[rows], nan=np.inf), axis=0))
    tested = n_rows >= MIN_ROWS and n_distinct > n_clusters
    small, codes, follows = find_caveats(estimator, values, labels, whole=whole)
    compared, stability = Comparison(float("nan"), np.empty(0)), None
    if tested:
        if random_state is None and isinstance(estimator.random_state, Integral):
            random_state = estimator.random_state
        entropy, jobs = int(check_random_state(random_state).randint(2**31)), n_threads(n_jobs)
        with warnings.catch_warnings():
            # The model's own fit has told them.
            warnings.simplefilter("ignore")
            compared = _compare_rows(estimator, values[rows], n_null, entropy, jobs, advance)
            stability = _resample(
                estimator, values[rows], labels[rows], n_resamples, entropy, jobs, advance
            )
    each = None
    if stability is not None:
        each = np.full(len(labels), np.nan)
        each[rows] = stability.rows
    return Assessment(
        n_clusters=n_clusters,
        n_rows=n_rows,
        n_distinct=n_distinct,
        statistic=compared.statistic,
        null_statistics=compared.null_statistics,
        p_value=compared.p_value if tested else None,
        cluster_stability=None if stability is None else stability.clusters,
        cluster_recovery=None if stability is None else stability.recovery,
        row_stability=each,
        small=small,
        codes=codes,
        follows=follows,
        chosen=hasattr(estimator, "choice_"),
        n_table=None if whole else n_filled,
        fewer=_best_below(estimator, n_clusters),
    )


def _best_below(estimator: Any, n_clusters: int) -> int | None:
    """Find the best number of clusters below the one that an estimator chose, from 2 on."""
    ranked = estimator.choice_.ranked.tolist() if hasattr(estimator, "choice_") else []
    return next((number for number in ranked if 1 < number < n_clusters), None)


def _labelled_rows(estimator: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give rows as floats (n_samples, n_features), and their clusters (n_samples,).

    Those of the fit, or predicted ones where the estimator keeps none.
    """
    check_is_fitted(estimator)
    if keeps_labels(estimator):
        return to_matrix(estimator, X), own_labels(estimator)
    with warnings.catch_warnings():
        # The numbers alone will do: names are checked where both sides have them.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        values = to_numpy(validate_table(estimator, X, reset=False)).astype(np.float64)
        return values, to_numpy(estimator.predict(X))


class Caveats(NamedTuple):
    """What else to know of a clustering, as in `Assessment`."""

    small: list[int]
    codes: list[str]
    follows: list[str]


def find_caveats(
    estimator: Any, values: np.ndarray, labels: np.ndarray, *, whole: bool = True
) -> Caveats:
    """Find small clusters, codes for missing values, and columns whose missing cells matter.

    Parameters
    ----------
    estimator : fitted PCKID
    values : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    whole : bool, default=True
        Whether these are all rows of the table: a sample tells no small clusters.

    Returns
    -------
    caveats : Caveats
    """
    used, categorical = used_columns(estimator), categorical_mask(estimator)
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    found, codes = find_codes(values, used[~categorical[used]]), []
    if found:
        clause = describe_codes(found, lambda j: column_name(estimator, j))
        among = "" if whole else " of those judged"
        codes = [
            f"{clause[0].upper()}{clause[1:]}{among}: if that is a code for missing, replace it by "
            "NaN."
        ]
    places = np.flatnonzero(categorical[used]).tolist()
    followed = find_followed_missingness(values[:, used], labels, places).followed
    follows = [column_name(estimator, used[j]) for j in followed]
    small = np.flatnonzero(sizes < FEW_ROWS).tolist() if whole else []
    return Caveats(small, codes, follows)


def _compare_rows(
    estimator: Any, values: np.ndarray, n_null: int, entropy: int, jobs: int, advance: Advance
) -> Comparison:
    """Compare a sample of the rows with null tables."""
    values, categorical = values[rows_to_compare(len(values), entropy)], categorical_mask(estimator)
    compared = NullComparison(values, categorical, kernel_maker(estimator), entropy, jobs)
    return compared.extend(n_null, advance)


def _resample(
    estimator: Any,
    values: np.ndarray,
    labels: np.ndarray,
    n_resamples: int,
    entropy: int,
    jobs: int,
    advance: Advance,
) -> Stability | None:
    """Cluster random halves of the rows; None where there is nothing to compare."""
    n_clusters = len(estimator.cluster_centers_)
    if n_resamples == 0 or n_clusters == 1 or len(values) < 4 * n_clusters:
        return None
    judged = np.arange(len(values))
    if len(values) > MAX_JUDGED:
        rng = np.random.default_rng(entropy)
        judged = np.sort(rng.choice(len(values), size=MAX_JUDGED, replace=False))
    values = values[judged]

    def labels_of(rows: np.ndarray, seed: int) -> np.ndarray:
        model = quick(estimator, n_clusters=n_clusters, kmeans_n_init=10, random_state=seed)
        found = np.asarray(model.fit(values[rows]).predict(values))
        # A row with values only in columns that do not vary in the resample.
        return np.maximum(found, 0)

    resamples = resample_clusters(labels_of, len(values), n_resamples, entropy, jobs, advance)
    found = measure_stability(labels[judged], resamples, n_clusters)
    rows = np.full(len(labels), np.nan)
    rows[judged] = found.rows
    return found._replace(rows=rows)
