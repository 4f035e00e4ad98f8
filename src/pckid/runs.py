"""The whole decision on a table, made several times: columns ignored, k, null tables, gaps.

Each stage has chance in it: another ensemble, other null tables, other halves of the rows. A table
for which that matters gets another answer by another seed, and no stage can see it. So the decision
is made three times by seeds of its own, and seven times where these differ or all just find
nothing; an answer is what at least six of seven come to. `docs/guide/choosing-k.md` tells how often
seeds then disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import asarray_like, is_host, take_along, to_numpy
from pckid._utils.parallel import threads_for_tables
from pckid._utils.progress import NOBODY, Hearer, part, parts
from pckid._utils.seeds import Stream, generator, seed_of_run, some_rows
from pckid.ensemble.training import FitInput, Training
from pckid.input.arrangement import Arrangement
from pckid.input.sample import MAX_COMPARED, Sample
from pckid.input.table import logs_as_scaled, take
from pckid.n_clusters import MAX_CLUSTERS, Choice, choose_or_none
from pckid.significance.agreement import Run, count_further, find_most_agreeing
from pckid.significance.by_scores import Judged, find_judged
from pckid.significance.coarser import Divide, Separation, find_coarser_gaps
from pckid.significance.comparison import MAX_NULL, rows_to_compare
from pckid.significance.dependence import describe_dependence
from pckid.significance.ensemble import Resample, SmallEnsembles, cluster_parts, draw_matrix, of_fit
from pckid.significance.gaps import find_gaps
from pckid.significance.levels import LEVELS, MAX_JUDGED, Levels, find_answer
from pckid.significance.null_gaps import find_null_gaps
from pckid.significance.null_tables import NullModels, find_dependence, fit_null_model
from pckid.significance.units import find_units, near_one
from pckid.spectral.clustering import cluster_by_numbers, recluster
from pckid.spectral.settings import ClusterSettings

# Null tables of a run are no more than these, where there are several runs.
MAX_NULL_OF_RUN = 36


class DecisionPlan(NamedTuple):
    """What is to be decided on a table, the same in all runs."""

    n_clusters: int | None = None  # that is given; None: to be chosen
    max_clusters: int = MAX_CLUSTERS
    n_null: int | None = None
    max_null: int = MAX_NULL
    n_inits: int | None = None
    levels: Levels = LEVELS
    grows: bool = False  # whether the ensemble grows until its halves choose one number
    null_models: NullModels | None = None  # that the runs share


class Decision(NamedTuple):
    """What one run decided, and by which ensemble."""

    run: Run
    choice: Choice
    separation: Separation | None  # None where no gaps were looked for
    training: Training  # of the columns that count
    drawn: FitInput  # what this was trained on
    rows: np.ndarray  # (n_judged,), of the whole table, by which it is compared with other runs
    labels: np.ndarray  # (n_judged,)


# Looks for gaps where a choice is made; None: there is but one cluster.
GapsOf = Callable[[Choice], Separation | None]


def judge_rows(
    small: SmallEnsembles,
    X: np.ndarray,
    seed: int,
    jobs: int,
    n_runs: int,
    plan: DecisionPlan,
    arrangement: Arrangement | None = None,
    gaps_of: GapsOf | None = None,
) -> Decision:
    """Decide on rows as a fit with n_clusters="auto" does, or on a number that was given.

    Parameters
    ----------
    small : SmallEnsembles
        Of a fit.
    X : ndarray of shape (n_samples, n_features)
        Its rows, categories as numbers, logarithms taken.
    seed, jobs, n_runs : int
    plan : DecisionPlan
    arrangement : Arrangement or None
        Of the rows.
    gaps_of : callable or None
        Looks for gaps between the fit's own clusters, which are those of the first run.
    """
    own = {name: getattr(small.settings, name) for name in ("n_inits", "n_sizes", "dtype")}
    settings = small.few(seed, **own, n_clusters="auto", n_jobs=jobs)
    drawn = draw_matrix(X, small, settings, settings.minimums, arrangement)
    plan = plan._replace(n_inits=settings.n_starts)
    return decide_by_runs(drawn, settings, n_runs, plan, gaps_of=gaps_of)


def decide_by_runs(
    drawn: FitInput,
    settings: ClusterSettings,
    n_runs: int,
    plan: DecisionPlan,
    hearer: Hearer = NOBODY,
    gaps_of: GapsOf | None = None,
) -> Decision:
    """Decide `n_runs` times, and more often where runs disagree; take the most agreeing run.

    Where the number of clusters is given, the first run is taken: these clusters are the fit's
    own. The choice has all runs. `hearer` hears of the first run.
    """
    jobs, small = settings.jobs, of_fit(drawn, settings)
    if n_runs > 1:
        plan = plan._replace(max_null=MAX_NULL_OF_RUN, null_models=NullModels())
    quiet = settings

    def decide_one(number: int, own_part: Any) -> Decision:
        with own_part:
            if number:
                return decide(drawn, quiet, small, number, plan)
            return decide(drawn, settings, small, number, plan, hearer, gaps_of)

    n_rows, n_columns = drawn.sample.X.shape
    found: list[Decision] = []
    level = plan.levels.structure
    if drawn.sample.scaling.factors is not None:
        level = plan.levels.in_wide_tables().structure
    while n_further := count_further([each.run for each in found], n_runs, level):
        numbers = range(len(found), len(found) + n_further)
        at_once = threads_for_tables(n_further, min(n_rows, MAX_COMPARED), n_columns, jobs)
        at_once = at_once if is_host(drawn.sample.table.values) else 1
        quiet = settings.replace(n_jobs=max(1, jobs // min(at_once, n_further)))
        # Others are seldom needed.
        each_part = parts(0.9, n_further)
        found += _call_each(decide_one, [*zip(numbers, each_part, strict=True)], at_once)
    runs, taken = tuple(each.run for each in found), 0
    if plan.n_clusters is None:
        clustered = [each.rows for each in found], [each.labels for each in found]
        taken = find_most_agreeing(runs, *clustered)
    best = found[taken]
    return best._replace(choice=best.choice._replace(runs=runs, number=taken))


def _call_each(
    decide_one: Callable[..., Decision], tasks: Sequence[tuple], jobs: int
) -> list[Decision]:
    """Decide once for each task, the first in this thread, where the callbacks of a fit are."""
    if jobs == 1 or len(tasks) == 1:
        return [decide_one(*task) for task in tasks]
    pool = ThreadPoolExecutor(min(jobs, len(tasks)) - 1)
    try:
        others = [pool.submit(copy_context().run, decide_one, *task) for task in tasks[1:]]
        return [decide_one(*tasks[0]), *(each.result() for each in others)]
    finally:
        pool.shutdown(cancel_futures=True)


def decide(
    drawn: FitInput,
    settings: ClusterSettings,
    small: SmallEnsembles,
    number: int,
    plan: DecisionPlan,
    hearer: Hearer = NOBODY,
    gaps_of: GapsOf | None = None,
) -> Decision:
    """Make one whole decision on a table by the seed of a run.

    The first run has the seed of the fit. Gaps are looked for in at most 3,000 rows, which are the
    same in all runs, between clusters of this run or, by `gaps_of`, between those that are given.
    """
    base = drawn.sample.entropy
    drawn = drawn.by_seed(seed_of_run(base, number))
    levels, given = plan.levels, plan.n_clusters
    how = plan.max_clusters, plan.n_null, plan.n_inits, levels
    if drawn.sample.scaling.factors is not None:
        levels = levels.in_wide_tables()
    more: dict[str, Any] = {
        name: getattr(plan, name) for name in ("max_null", "null_models", "grows")
    }
    more["hearer"] = hearer
    with part(0.8):
        choice, training, drawn, whole = choose_or_none(drawn, settings, small, *how, **more)
    by, k = (training, choice.n_clusters) if given is None else (whole, given)
    p_value, separation = _tested(choice), None
    sample = by.sample
    rows = _draw_judged(sample, base)
    labels = np.zeros(len(rows), dtype=np.int64)
    is_clear = p_value is not None and p_value <= levels.structure
    if k > 1 and gaps_of is not None:
        separation = gaps_of(choice)
    elif k > 1 and (is_clear or given is None):
        labels = _label(settings, by, k, rows)
        if is_clear:
            found = rows, labels, k, choice, levels
            separation = _find_gaps_in_sample(settings, small, by, *found)
    run = describe_run(choice, k, separation, sample.entropy, levels)
    ids = rows if sample.origin is None else sample.origin[sample.places[rows]]
    return Decision(run, choice, separation, training, drawn, ids, labels)


def describe_run(
    choice: Choice, n_clusters: int, separation: Separation | None, seed: int, levels: Levels
) -> Run:
    """Describe a run by its choice and the gaps between its clusters."""
    n_separated = 1 if separation is None else separation.n_separated
    return Run(
        find_answer(_tested(choice), n_separated, levels),
        n_clusters,
        n_separated,
        choice.p_value,
        None if separation is None else separation.gaps.p_values,
        choice.ignored,
        seed,
    )


def _tested(choice: Choice) -> float | None:
    """Return the p-value of a choice; None where rows are too few, or depend on each other all."""
    if choice.compared is None or choice.compared.is_endless:
        return None
    return choice.compared.p_value


def _draw_judged(sample: Sample, seed: int) -> np.ndarray:
    """Draw the rows of a sample, as given, that are looked at for gaps: those with a position."""
    rows = np.arange(sample.X.shape[0])
    if sample.arrangement is not None:
        rows = np.flatnonzero(sample.arrangement.are_known)
    if sample.given_weights is not None:
        rows = rows[rows_to_compare(len(rows), seed, sample.given_weights[rows])]
    return some_rows(rows, MAX_JUDGED, seed)


def _label(
    settings: ClusterSettings, training: Training, n_clusters: int, rows: np.ndarray
) -> np.ndarray:
    """Cluster a sample, of a large one only the rows (n_rows,) of it; their labels (n_rows,)."""
    sample = training.sample
    how = settings.clustering(n_clusters) | {"n_landmarks": max(MAX_JUDGED, n_clusters)}
    if sample.table.n_samples <= MAX_COMPARED:
        return recluster(training.kernel, sample, [n_clusters], **how)[0][rows]
    # None of its rows were merged.
    some = asarray_like(rows, sample.table.values)
    weights = None if sample.weights is None else sample.weights[rows]
    few = sample._replace(
        table=take(sample.table, some), weights=weights, places=np.arange(len(rows))
    )
    return recluster(training.kernel, few, [n_clusters], **how)[0]


def _find_gaps_in_sample(
    settings: ClusterSettings,
    small: SmallEnsembles,
    training: Training,
    rows: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    choice: Choice,
    levels: Levels,
) -> Separation:
    """Look for gaps between clusters, `labels` (n_rows,), of some rows of a sample, as given."""
    sample = training.sample
    X = to_numpy(take_along(sample.X, rows)).astype(np.float64)
    X = logs_as_scaled(X, sample.scaling)
    X[:, list(choice.ignored)] = np.nan
    arrangement = None
    if choice.compared is not None and sample.arrangement is not None:
        arrangement = sample.arrangement.take(rows)
        found = choice.compared.correlation, choice.compared.n_effective
        if describe_dependence(*found, arrangement) is None:
            arrangement = None
    jobs = settings.jobs
    some = take(sample.table, asarray_like(sample.places[rows], sample.table.values))
    divide = partial(cluster_by_numbers, training.kernel, settings.embedding, some, jobs=jobs)
    how = n_clusters, sample.entropy, jobs, levels, divide, arrangement
    judged = find_judged(small, sample.scaling, X)
    return find_gaps_between(judged, labels, *how, only_if_separated=True)


def find_gaps_between(
    judged: Judged,
    labels: np.ndarray,
    n_clusters: int,
    seed: int,
    jobs: int,
    levels: Levels,
    divide: Divide | None,
    arrangement: Arrangement | None = None,
    *,
    only_if_separated: bool = False,
) -> Separation:
    """Look for gaps between clusters, `labels` (n_rows,), of rows as they are judged.

    Values are NaN in columns that are ignored. Where there are none, and there is a way to `divide`
    the rows, gaps between fewer clusters are looked for. With the arrangement of rows that depend
    on each other, of which at most 2,000 are looked at, gaps are compared with those of null
    tables. With `only_if_separated`, pairs within a group are not tested if that does not matter.
    """
    X, categorical = near_one(judged.values), judged.categorical
    how = seed, n_clusters, levels
    if arrangement is None:
        units = find_units(X, categorical)
        gaps = find_gaps(units, labels, *how, only_if_separated=only_if_separated)
        coarser = None
        if gaps.n_separated == 1 and divide is not None:
            coarser = find_coarser_gaps(units, labels, divide, *how)
        return Separation(gaps, coarser)
    rows = rows_to_compare(len(X), seed)
    X, labels, arrangement = X[rows], labels[rows], arrangement.take(rows)
    model = fit_null_model(X, categorical)
    dependence = find_dependence(model, arrangement, generator(seed, Stream.DEPENDENCE))
    if dependence is None:
        return Separation(find_gaps(find_units(X, categorical), labels, *how))

    def cluster_tables(tables: Sequence[np.ndarray], seeds: Sequence[int]) -> Iterable[np.ndarray]:
        every = np.arange(len(tables[0]))
        parts = [Resample(X, every, seed) for X, seed in zip(tables, seeds, strict=True)]
        return cluster_parts(judged.small, n_clusters, parts)

    null = find_null_gaps(model, dependence, categorical, cluster_tables, n_clusters, seed, jobs)
    units = find_units(X[dependence.rows], categorical)
    return Separation(find_gaps(units, labels[dependence.rows], *how, null))
