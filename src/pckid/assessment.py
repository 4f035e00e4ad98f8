"""Whether there are groups at all, and whether other rows would show the same clusters."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import to_numpy
from pckid._utils.parallel import n_threads, threads_for_tables
from pckid._utils.progress import JUDGING, REPEATING, part
from pckid._utils.quantities import in_reach
from pckid._utils.seeds import some_rows
from pckid._utils.sklearn_compat import check_parameters
from pckid.cubes import flatten
from pckid.describe.missingness import (
    find_followed_missingness,
    find_missing_flags,
    find_selected_columns,
)
from pckid.describe.rows import keeps_labels, own_labels, read_rows, to_matrix, used_columns
from pckid.input.arrangement import Arrangement, split_arrangement
from pckid.input.known import in_order_of
from pckid.input.sentinels import describe_codes, find_codes
from pckid.input.table import logs_as_scaled, standardise_on_model_device
from pckid.input.validation import column_name, unordered_mask
from pckid.input.warnings import FeatureNamesWarning, ignore_warnings
from pckid.input.weights import checked_weights
from pckid.n_clusters import Choice
from pckid.runs import DecisionPlan, describe_run, find_gaps_between, judge_rows
from pckid.say.notebook import show_verdict
from pckid.say.notes import write_notes
from pckid.say.progress import showing
from pckid.say.verdict import write_null_p, write_verdict
from pckid.significance.agreement import Run, find_common_answer
from pckid.significance.by_scores import find_judged
from pckid.significance.causes import Cause, find_causes
from pckid.significance.coarser import CoarserGaps, Separation
from pckid.significance.comparison import MIN_ROWS, rows_to_compare
from pckid.significance.dependence import RowDependence, describe_dependence
from pckid.significance.ensemble import label_resamples, of_fitted
from pckid.significance.gaps import Gaps
from pckid.significance.levels import (
    DOUBTFUL,
    FEW_ROWS,
    LEVELS,
    MAX_JUDGED,
    Answer,
    Levels,
    find_answer,
)
from pckid.significance.repeats import find_repeats
from pckid.significance.row_order import find_alike_neighbours
from pckid.significance.stability import measure_stability, resample_clusters
from pckid.spectral.clustering import cluster_by_numbers
from pckid.spectral.membership import match_labels

N_NULL: int | None = None  # null tables of a verdict: as many as a clear answer takes
N_RESAMPLES = 20  # resamples of a verdict
MAX_ROWS = 100_000  # of a larger table so many rows are judged
# Whether rows that follow each other are alike, a larger table shows in stretches of its rows.
_N_STRETCHES, _STRETCH = 20, 1000


@dataclass(frozen=True)
class Assessment:
    """What `assess` found.

    Attributes
    ----------
    n_clusters : int
        Of the model.
    n_rows : int
        Rows that belong to a cluster; of a table of more than 100,000, those that were judged.
    n_distinct : int
        How many of them differ.
    statistic : float
        How clearly the table falls into clusters, in standard deviations of tables without groups:
        how high the leading eigenvalues of the random walk on the kernel are, which counts half,
        how large a share they have in the sum, and how far the first three eigenvectors are from
        unimodal. It does not depend on the model's number of clusters. NaN where there are too few
        rows.
    null_statistics : ndarray of shape (n_null,)
        The same for each table without groups, compared with the others.
    p_value : float or None
        How likely a table without groups reaches the statistic, by Student's t; None where there
        are too few rows to tell, or no more different rows than clusters. Null tables are drawn
        until the answer is clear: above 0.1 it says no more than that, unless `n_null` is given.
    gaps : Gaps or None
        `gaps.p_values` of shape (n_clusters, n_clusters): how likely a cloud without a gap looks
        like each pair of clusters. `gaps.groups` of shape (n_clusters,): a cluster is of the group
        of the closest larger one to which it shows no gap, and joins two that it lies between.
        None for a single cluster and for too few rows.
    coarser : CoarserGaps or None
        Where the clusters show no gap: the division into fewer clusters, `coarser.n_clusters`, that
        shows gaps, `coarser.gaps`, at a fifth of the level. `coarser.groups` of shape
        (n_clusters,): the group in which most rows of each cluster are, and `coarser.share` of
        all rows are in the group of their cluster. From 0.9 on the clusters divide these groups,
        which are then `groups`. None where there is none, or none was needed.
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
    flags : dict of str to str
        Columns that only say whether the value of another is missing, and which other: clusters may
        be of what was measured, not of what was found.
    selected : list of str
        Columns whose cells are missing depending on the values of other columns.
    causes : list of Cause
        What often makes clusters as clear without any groups, and can be seen here: columns on a
        circle ("circle"), parts of a whole ("parts"), or else rows that are far out in several
        columns at once ("tails"). Each has a `kind` and `columns`, by name.
    ignored : list of str
        Columns that agree with no other column about groups: no gap is looked for in them.
    runs : tuple of Run
        What each run of the decision found by its own seeds: its `answer`, `n_clusters`,
        `n_separated`, `p_value` and `gap_p_values`. The answer is what at least six of seven of
        them find, the model's own clusters among these.
    number : int
        Which of the runs has the model's own clusters.
    n_resamples : int
        Into how many random halves the rows were divided.
    chosen : bool
        Whether the model chose its number of clusters.
    n_table : int or None
        Rows with a value in the table of which a sample was judged; None if it was no sample, or is
        not known.
    cluster_names : list of str or None
        Names of the clusters, for the words; None, or an empty list, where they have none.
    n_together : int or None
        How many groups the rows belong to, where `groups` were given.
    dependence : RowDependence or None
        How rows depend on each other, where `positions` or `groups` were given: tables without
        groups depend alike. None where they were not given, or rows do not depend on each other.
    alike_in_order : float
        How much rows are alike that follow each other, where neither `positions` nor `groups` were
        given: such rows were taken as independent. 0 where they are not.
    moved : int
        Rows that known rows moved across a gap: without these, they would be in another group. Of
        at most 3,000 rows.
    repeated : int
        How many of at most 3,000 rows repeat another one exactly, where that is more than the
        values of the columns explain: halves hold all copies of a row, or none. Else 0.
    levels : Levels
        Up to which p-values there is structure, and gaps.
    """

    n_clusters: int
    n_rows: int
    n_distinct: int
    statistic: float = np.nan
    null_statistics: np.ndarray = field(default_factory=lambda: np.empty(0))
    p_value: float | None = None
    gaps: Gaps | None = None
    cluster_stability: np.ndarray | None = None
    cluster_recovery: np.ndarray | None = None
    row_stability: np.ndarray | None = field(default=None, repr=False)
    small: list[int] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    follows: list[str] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)
    selected: list[str] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    runs: tuple[Run, ...] = ()
    number: int = 0
    n_resamples: int = 0
    chosen: bool = False
    n_table: int | None = None
    cluster_names: list[str | None] = field(default_factory=list)
    n_together: int | None = None
    moved: int = 0
    dependence: RowDependence | None = None
    alike_in_order: float = 0.0
    repeated: int = 0
    levels: Levels = LEVELS
    coarser: CoarserGaps | None = None

    @property
    def answer(self) -> Answer:
        """Groups with gaps, structure without gaps, no clear groups, or undecided."""
        is_endless = self.dependence is not None and self.dependence.is_endless
        own = find_answer(None if is_endless else self.p_value, self.n_separated, self.levels)
        if own is Answer.UNKNOWN or len(self.runs) < 2:
            return own
        found = find_common_answer([run.answer for run in self.runs])
        return found if found is own else Answer.UNDECIDED

    @property
    def has_groups(self) -> bool | None:
        """Whether there are more than tables without groups show; None: unknown, or undecided."""
        if self.answer in (Answer.UNKNOWN, Answer.UNDECIDED):
            return None
        return self.answer is not Answer.NONE

    @property
    def answers(self) -> dict[Answer, int]:
        """How many runs come to each answer, the commonest first."""
        return dict(Counter(run.answer for run in self.runs).most_common())

    @property
    def n_separated(self) -> int:
        """The number of groups with gaps between them, each of one cluster or several."""
        if self.coarser is not None and self.coarser.are_divided:
            return self.coarser.gaps.n_separated
        return 1 if self.gaps is None else self.gaps.n_separated

    @property
    def groups(self) -> list[list[int]]:
        """The clusters of each group with gaps around it."""
        of_clusters = self._group_of_each
        return [np.flatnonzero(of_clusters == g).tolist() for g in range(self.n_separated)]

    @property
    def _group_of_each(self) -> np.ndarray:
        """The group of each cluster (n_clusters,), from 0."""
        if self.coarser is not None and self.coarser.are_divided:
            return self.coarser.groups
        return np.zeros(self.n_clusters, dtype=int) if self.gaps is None else self.gaps.groups

    @property
    def doubtful(self) -> list[int]:
        """Clusters that are found again in less than half of the resamples."""
        if self.cluster_recovery is None:
            return []
        return np.flatnonzero(self.cluster_recovery < DOUBTFUL).tolist()

    def without_gap(self, cluster: int) -> list[int]:
        """List the clusters of the same group that have no gap to a cluster."""
        if self.gaps is None:
            return []
        same_group = self._group_of_each == self._group_of_each[cluster]
        near = ~self.gaps.apart[cluster] & same_group
        return [other for other in np.flatnonzero(near).tolist() if other != cluster]

    @property
    def pairs_without_gap(self) -> list[list[int]]:
        """The pairs of clusters of one group that have no gap between them."""
        clusters = range(self.n_clusters)
        return [[a, b] for a in clusters for b in self.without_gap(a) if a < b]

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return write_verdict(self)

    @property
    def notes(self) -> list[str]:
        """What else to know: what clusters are worth, small ones, codes for missing values, …"""
        return write_notes(self)

    def _repr_html_(self) -> str:
        return show_verdict(self)

    def __repr__(self) -> str:
        tested = "" if self.p_value is None else f" {write_null_p(self.p_value)}"
        return f"<Assessment: {self.sentence}{tested}>"


def assess(
    estimator: Any,
    X: Any,
    *,
    groups: Any = None,
    positions: Any = None,
    sample_weight: Any = None,
    n_null: int | None = N_NULL,
    n_resamples: int = N_RESAMPLES,
    random_state: Any = None,
    n_jobs: int | None = None,
    levels: Levels = LEVELS,
    n_runs: int | None = None,
) -> Assessment:
    """Test whether there are groups at all, with gaps between them, and found again in other rows.

    Clusters are compared with those of null tables, which have no groups: the same size, the same
    missing cells, the same correlations, and columns that are distributed alike but have one mode;
    discrete columns keep their distribution. It is the test by which `n_clusters="auto"` decides,
    and a model that chose its number of clusters is not tested again. Each pair of clusters is
    tested for a gap: fewer rows between them than inside. All of this is done several times, each
    with another ensemble, null tables and clusters by seeds of its own: the answer is what nearly
    all of these runs find. And random halves of the rows are clustered anew. All with few mixtures
    and on samples of rows, so that it takes seconds.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are assessed.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. Of more than 100,000 rows so many are drawn at random, and
        `notes` says so. For an estimator that keeps no labels in memory, as `load` and a fit to a
        data set or Dask blocks give, a random sample of its rows will do, such as 3,000; their
        labels are predicted.
    groups : array-like of shape (n_samples,) or str, default=None
        Which rows belong together, such as the members of a household, the visits of a patient or
        the wells of a plate, as in `PCKID.fit`. They resemble each other without any cluster: rows
        of null tables do so, too, and halves are drawn of whole groups. None takes those of the
        fit, if the estimator has its rows in memory.
    positions : array-like of shape (n_samples,) or (n_samples, n_axes), str or sequence of str, \
            default=None
        Where rows are, in time or space, as in `PCKID.fit`. Rows of null tables resemble those near
        them as much as those of the table do, and halves are drawn of whole blocks, as wide as rows
        depend on each other. None takes those of the fit.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, as in `PCKID.fit`: rows are drawn in proportion to it to be
        compared with the null tables and looked at for gaps, as many as the effective number of
        rows, (Σ w)² / Σ w². None counts all alike.
    n_null : int, default=None
        The number of null tables, 5 at least. None draws as many as a clear answer takes, from 9
        to 144.
    n_resamples : int, default=20
        How many random halves of the rows are clustered; 0 for none.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call. None takes that of the estimator if it is an
        int: the verdict, too, is then the same for a seed, and the one that `n_clusters="auto"`
        came to.
    n_jobs : int, default=None
        Threads, as in `PCKID`.
    levels : Levels, default=Levels()
        Up to which p-values there is structure, and gaps between clusters.
    n_runs : int, default=None
        How often the decision is made, as in `PCKID`; None takes that of the estimator. The first
        run, or that which a fit with n_clusters="auto" took, has the model's own clusters.

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
    '2 groups with a gap between them'
    """
    if (n_null is not None and n_null < 5) or n_resamples < 0:
        raise ValueError(
            f"n_null={n_null} and n_resamples={n_resamples} were given, but at least 5 null tables "
            "are needed, and 0 resamples."
        )
    if n_runs is not None and n_runs < 1:
        raise ValueError(f"n_runs is {n_runs}. Decide at least once.")
    check_is_fitted(estimator)
    check_parameters(estimator)
    X, arrangement, _ = split_arrangement(X, positions, groups)
    if keeps_labels(estimator):
        values, labels = to_matrix(estimator, X), own_labels(estimator)
    else:
        # The numbers alone will do: names are checked where both sides have them.
        with ignore_warnings(FeatureNamesWarning):
            values, labels = read_rows(estimator, X), to_numpy(flatten(estimator.predict(X)))
    weights = checked_weights(in_order_of(X, sample_weight, "sample_weight"), len(values))
    how = n_null, n_resamples, random_state, n_jobs, arrangement, weights, levels, n_runs
    with showing(estimator):
        return assess_rows(estimator, values, labels, *how)


def assess_rows(
    estimator: Any,
    values: np.ndarray,
    labels: np.ndarray,
    n_null: int | None,
    n_resamples: int,
    random_state: Any,
    n_jobs: int | None,
    arrangement: Arrangement | None = None,
    weights: np.ndarray | None = None,
    levels: Levels = LEVELS,
    n_runs: int | None = None,
) -> Assessment:
    """Assess as `assess` does, by rows (n_samples, n_features) whose labels (n_samples,) are known.

    Categories are numbers in these rows; weights (n_samples,) say how much each counts. Without an
    arrangement it is that of the fit.
    """
    clustered = np.flatnonzero(labels >= 0)
    rows = some_rows(clustered, MAX_ROWS)
    n_clusters, n_rows = len(estimator.cluster_centers_), len(rows)
    n_filled = estimator.state_.n_filled
    has_all = keeps_labels(estimator) or len(clustered) == n_filled
    whole = has_all and n_rows == len(clustered)
    some, of_some = values[rows], labels[rows]
    n_distinct = len(np.unique(np.nan_to_num(some, nan=np.inf), axis=0))
    evidence: dict[str, Any] = {}
    own = getattr(estimator, "choice_", None)
    if arrangement is not None:
        own = None
    elif keeps_labels(estimator):
        arrangement = estimator.state_.arrangement
    if n_rows >= MIN_ROWS and n_distinct > n_clusters:
        if random_state is None and isinstance(estimator.random_state, Integral):
            random_state = estimator.random_state
        if levels != LEVELS or random_state not in (None, estimator.random_state):
            own = None
        if n_runs not in (None, estimator.n_runs):
            own = None
        seed = random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(random_state).randint(2**31)
        logs = logs_as_scaled(some, estimator.state_.kernel.scaling)
        placed = None if arrangement is None else arrangement.take(rows)
        of_rows = None if weights is None else weights[rows]
        table = _Rows(logs, of_some, rows, len(labels), placed, of_rows)
        how = int(seed), n_threads(n_jobs), levels, n_runs or estimator.n_runs
        effort = _Effort(n_null, n_resamples, *how)
        with ignore_warnings():  # the model's own fit has raised them
            evidence = _gather_evidence(estimator, table, own, effort)
    if estimator.state_.kernel.scaling.factors is not None:
        levels = levels.in_wide_tables()
    groups = None if arrangement is None else arrangement.together
    alike = 0.0
    if arrangement is None and has_all:
        in_order = _draw_stretches(clustered)
        alike = _find_alike(estimator, values[in_order], labels[in_order])
    return Assessment(
        n_clusters=n_clusters,
        n_rows=n_rows,
        n_distinct=n_distinct,
        chosen=hasattr(estimator, "choice_"),
        n_table=None if whole else n_filled,
        cluster_names=list(estimator.cluster_names_),
        n_together=None if groups is None else len(np.unique(groups[rows])),
        alike_in_order=alike,
        levels=levels,
        small=_list_small(labels) if has_all else [],
        **find_caveats(estimator, some, of_some, whole=whole),
        **evidence,
    )


def _list_small(labels: np.ndarray) -> list[int]:
    """List the clusters of labels (n_samples,) that have too few rows to describe a group."""
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    return np.flatnonzero(sizes < FEW_ROWS).tolist()


def _draw_stretches(rows: np.ndarray) -> np.ndarray:
    """Draw rows of a large table (n_rows,) in stretches that follow each other, evenly spread."""
    if len(rows) <= MAX_ROWS:
        return rows
    starts = np.linspace(0, len(rows) - _STRETCH, _N_STRETCHES).astype(np.int64)
    return rows[(starts[:, None] + np.arange(_STRETCH)).ravel()]


def _find_alike(estimator: Any, values: np.ndarray, labels: np.ndarray) -> float:
    """Find how much rows (n, n_features) are alike that follow each other, beyond clusters."""
    used, categorical = used_columns(estimator), unordered_mask(estimator)
    return find_alike_neighbours(in_reach(values[:, used[~categorical[used]]])[0], labels)


class _Rows(NamedTuple):
    """The rows whose clusters are assessed: all that have one, or some of a large table."""

    values: np.ndarray  # (n_rows, n_features), categories as numbers, logarithms taken
    labels: np.ndarray  # (n_rows,)
    numbers: np.ndarray  # (n_rows,), which rows of the table they are
    n_samples: int  # rows of the table
    arrangement: Arrangement | None  # of these rows
    weights: np.ndarray | None  # (n_rows,), how much each counts

    @property
    def every(self) -> np.ndarray:
        """Count the rows (n_rows,), from 0."""
        return np.arange(len(self.labels))

    def draw_compared(self, seed: int) -> np.ndarray:
        """Draw the rows that are compared: those with a position, by their weights."""
        rows = self.every
        if self.arrangement is not None:
            rows = rows[self.arrangement.are_known[rows]]
        if self.weights is not None:
            rows = rows[rows_to_compare(len(rows), seed, self.weights[rows])]
        return rows

    def without(self, rows: np.ndarray, ignored: Sequence[int]) -> np.ndarray:
        """Take rows (n_rows,), with NaN in the columns that are ignored (n_rows, n_features)."""
        values = self.values[rows]
        values[:, list(ignored)] = np.nan
        return values


class _Effort(NamedTuple):
    """How much is drawn for a verdict and how often, by what seed and at which levels."""

    n_null: int | None
    n_resamples: int
    seed: int
    jobs: int
    levels: Levels
    n_runs: int


def _gather_evidence(
    estimator: Any, table: _Rows, choice: Choice | None, effort: _Effort
) -> dict[str, Any]:
    """Decide by several runs, unless a choice did, look for gaps, and cluster resamples.

    The result has fields of `Assessment`; there are none where too few rows differ.
    """
    seed, jobs, n_clusters = effort.seed, effort.jobs, len(estimator.cluster_centers_)
    compared_rows, levels = table.draw_compared(seed), effort.levels
    if estimator.state_.kernel.scaling.factors is not None:
        levels = levels.in_wide_tables()
    find_own = partial(_find_own_gaps, estimator, table, compared_rows, effort)
    if choice is None or choice.compared is None:
        placed = None if table.arrangement is None else table.arrangement.take(compared_rows)
        plan = DecisionPlan(n_clusters, n_null=effort.n_null, levels=effort.levels)
        how = seed, jobs, effort.n_runs, plan, placed
        gaps_of = partial(find_own, seed) if n_clusters > 1 else None
        rows = table.values[compared_rows]
        with part(0.6, JUDGING):
            decision = judge_rows(of_fitted(estimator), rows, *how, gaps_of)
        choice, separation = decision.choice, decision.separation
        runs = choice.runs
    else:
        own = choice.runs[choice.number]
        with part(0.3, JUDGING):
            separation = find_own(own.seed, choice) if n_clusters > 1 else None
        own = describe_run(choice, n_clusters, separation, own.seed, levels)
        runs = (*choice.runs[: choice.number], own, *choice.runs[choice.number + 1 :])
    compared = choice.compared
    if compared is None:
        return {}
    dependence = _describe(choice, table)
    found: dict[str, Any] = {
        "statistic": compared.statistic,
        "null_statistics": compared.null_statistics,
        "p_value": compared.p_value,
        "ignored": [column_name(estimator, j) for j in choice.ignored],
        "dependence": dependence,
        "gaps": None if separation is None else separation.gaps,
        "coarser": None if separation is None else separation.coarser,
        "runs": runs,
        "number": choice.number,
    }
    if n_clusters == 1:
        return found
    judged = some_rows(table.every, MAX_JUDGED, seed)
    of_clusters = None if separation is None else separation.groups
    found["moved"] = _count_moved(estimator, table, judged, of_clusters, jobs)
    if effort.n_resamples == 0 or len(judged) < 4 * n_clusters:
        return found
    with part(1.0, REPEATING):
        return found | _find_again(estimator, table, judged, effort, dependence)


def _describe(choice: Choice, table: _Rows) -> RowDependence | None:
    """Describe how the rows of a table depend on each other; None: they do not."""
    if choice.compared is None:
        return None
    found = choice.compared
    how = found.correlation, found.n_effective, table.arrangement, found.correlogram
    return describe_dependence(*how)


def _find_own_gaps(
    estimator: Any,
    table: _Rows,
    compared: np.ndarray,
    effort: _Effort,
    seed: int,
    choice: Choice,
) -> Separation | None:
    """Look for gaps between the estimator's own clusters, in rows `compared` (n_compared,).

    None where the rows were too few to be compared.
    """
    if choice.compared is None:
        return None
    arrangement, rows = None, some_rows(compared, MAX_JUDGED, effort.seed)
    if table.arrangement is not None and _describe(choice, table) is not None:
        rows, arrangement = compared, table.arrangement.take(compared)
    divide = None
    if (choice.p_value or 0.0) <= effort.levels.structure:
        divide = partial(_cluster_again, estimator, table.values[rows], jobs=effort.jobs)
    X = table.without(rows, choice.ignored)
    judged = find_judged(of_fitted(estimator), estimator.state_.kernel.scaling, X)
    how = len(estimator.cluster_centers_), seed, effort.jobs, effort.levels, divide, arrangement
    return find_gaps_between(judged, table.labels[rows], *how)


def _find_again(
    estimator: Any,
    table: _Rows,
    judged: np.ndarray,
    effort: _Effort,
    dependence: RowDependence | None,
) -> dict[str, Any]:
    """Cluster random halves of rows (n_judged,); fields of `Assessment`.

    Rows that depend on each other are drawn together, and those that repeat each other: a copy in
    the other half would have its cluster found again.
    """
    values, labels = table.values[judged], table.labels[judged]
    n_clusters = len(estimator.cluster_centers_)
    labels_of = partial(label_resamples, of_fitted(estimator), values, n_clusters)
    together = None
    if table.arrangement is not None:
        block, pace = (0.0, 1.0) if dependence is None else (dependence.reach, dependence.pace)
        placed = table.arrangement.take(judged)
        if placed.together is not None or block > 0:
            together = placed.blocks(block, pace)
    repeats = None if together is not None else find_repeats(values[:, used_columns(estimator)])
    if repeats is not None:
        together = repeats
    shape = effort.n_resamples, len(judged), values.shape[1]
    how = effort.n_resamples, effort.seed, threads_for_tables(*shape, effort.jobs), together
    resamples = resample_clusters(labels_of, len(judged), (len(judged) + 1) // 2, *how)
    stability = measure_stability(labels, resamples, n_clusters)
    rows = np.full(table.n_samples, np.nan)
    rows[table.numbers[judged]] = stability.rows
    return {
        "row_stability": rows,
        "cluster_stability": stability.clusters,
        "cluster_recovery": stability.recovery,
        "n_resamples": effort.n_resamples,
        "repeated": 0 if repeats is None else len(repeats) - int(repeats.max()) - 1,
    }


def _count_moved(
    estimator: Any, table: _Rows, rows: np.ndarray, groups: np.ndarray | None, jobs: int
) -> int:
    """Count the rows (n_rows,) that known rows moved across a gap.

    The ensemble knows nothing of known rows: clusters without these come from the same kernel.
    Known rows themselves are not counted where the table puts them elsewhere. Of each cluster there
    is the group, `groups` (n_clusters,).
    """
    if groups is None or not groups.any() or not getattr(estimator, "known_groups_", None):
        return 0
    if keeps_labels(estimator):
        conflicts = [conflict.row for conflict in estimator.known_conflicts_]
        rows = rows[~np.isin(table.numbers[rows], conflicts)]
    k = len(estimator.cluster_centers_)
    free = _cluster_again(estimator, table.values[rows], [k], jobs)[0]
    with_known = table.labels[rows]
    free = match_labels(with_known, free, k)
    return int((groups[free] != groups[with_known]).sum())


def _cluster_again(
    estimator: Any, values: np.ndarray, numbers: Sequence[int], jobs: int
) -> list[np.ndarray]:
    """Cluster rows (n_samples, n_features) into each number of clusters, by the same kernel."""
    kernel = estimator.state_.kernel
    # The rows hold logarithms already.
    scaling = kernel.scaling._replace(shifts=None)
    here = standardise_on_model_device(values, scaling, kernel.dtype)
    return cluster_by_numbers(kernel, estimator.embedding, here, numbers, jobs)


def find_caveats(
    estimator: Any, values: np.ndarray, labels: np.ndarray, *, whole: bool = True
) -> dict[str, Any]:
    """Find codes for missing values, and columns whose missing cells matter.

    Rows (n_samples, n_features) and labels (n_samples,) are those of the `whole` table, or of a
    sample. The result has fields of `Assessment`.
    """
    used, categorical = used_columns(estimator), unordered_mask(estimator)
    found, codes = find_codes(values, used[~categorical[used]]), []
    if found:
        clause = describe_codes(found, lambda j: column_name(estimator, j))
        among = "" if whole else " of those judged"
        codes = [
            f"{clause}{among}: if that is a code for missing, cluster again with it taken as "
            "missing."
        ]
    places = np.flatnonzero(categorical[used]).tolist()
    followed = find_followed_missingness(values[:, used], labels, places).followed
    flags = find_missing_flags(values[some_rows(np.arange(len(values)), MAX_JUDGED)][:, used])
    numbers = used[~categorical[used]]
    selected = find_selected_columns(values[labels >= 0][:, numbers])
    causes = find_causes(values[some_rows(np.flatnonzero(labels >= 0), MAX_JUDGED)][:, numbers])
    names = [column_name(estimator, j) for j in numbers]
    return {
        "codes": codes,
        "follows": [column_name(estimator, used[j]) for j in followed],
        "flags": {
            column_name(estimator, used[j]): column_name(estimator, used[i])
            for j, i in flags.items()
        },
        "selected": [names[j] for j in selected],
        "causes": [Cause(kind, tuple(names[j] for j in some)) for kind, some in causes],
    }
