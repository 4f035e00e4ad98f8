"""Whether the mixtures of a wide table see the scores of its rows, or all of its numbers.

Scores serve where few columns tell; where most do, and clusters are no ellipses, as of images, the
numbers themselves do. The kernel decides: it is trained on one half of the rows and on the other,
either way, and the way is taken by which the two are more alike, over all pairs of rows. A kernel of
noise depends on which rows it was trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from pckid._utils.arrays import asarray_like, to_numpy
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.ensemble.feature_map import Kernel, feature_matrix
from pckid.ensemble.members import Plan, draw_subsamples, schedule, train
from pckid.factors.fit import Asked
from pckid.input.sample import Sample
from pckid.input.table import Table, take, with_patterns, with_scores
from pckid.input.wide import find_factors

# Of so many times as many columns as rows, rows are scored whatever the numbers say.
MAX_COLUMNS_PER_ROW = 10
_MAX_ROWS, _MIN_ROWS = 500, 20
PlanOf = Callable[[Table, int], Plan]


def prefers_numbers(sample: Sample, plan_of: PlanOf, weighting: str, jobs: int) -> bool:
    """Return whether the kernel of a sample's numbers is more reproducible than that of its scores.

    Parameters
    ----------
    sample : Sample
        Of a wide table, with scores.
    plan_of : callable
        Takes a table and a seed to the small ensemble to train on it.
    weighting : str
        What a mixture counts.
    jobs : int
    """
    table, factors = sample.table, sample.scaling.factors
    if factors is None or table.n_features > MAX_COLUMNS_PER_ROW * table.n_samples:
        return False
    rng = generator(sample.entropy, Stream.FACTORS, 1)
    rows = rng.permutation(some_rows(np.arange(table.n_samples), _MAX_ROWS, rng))
    if len(rows) < 2 * _MIN_ROWS:
        return False
    numbers = take(table._replace(scores=None), asarray_like(np.sort(rows), table.values))
    order = np.argsort(np.argsort(rows))
    halves = np.sort(order[: len(rows) // 2]), np.sort(order[len(rows) // 2 :])
    asked = Asked(factors.n_factors, len(factors.columns))
    train_on = partial(_kernel_of_half, sample, plan_of, weighting, jobs)
    of_numbers = [train_on(numbers, half, None) for half in halves]
    of_scores = [train_on(numbers, half, asked) for half in halves]
    return _alike(*of_numbers) > _alike(*of_scores)


def without_scores(sample: Sample) -> Sample:
    """Let the mixtures see the numbers of a sample."""
    table = with_patterns(sample.table._replace(scores=None))
    return sample._replace(table=table, scaling=sample.scaling._replace(factors=None))


def _kernel_of_half(
    sample: Sample,
    plan_of: PlanOf,
    weighting: str,
    jobs: int,
    table: Table,
    half: np.ndarray,
    asked: Asked | None,
) -> np.ndarray:
    """Train a small kernel on some rows of a table; its values for all pairs of rows (n_pairs,)."""
    mine = take(table, asarray_like(half, table.values))
    factors = find_factors(mine, None, asked, sample.entropy)
    if factors is not None:
        mine, table = (with_scores(each, factors) for each in (mine, table))
    modelled, whole = (with_patterns(each).modelled for each in (mine, table))
    plan = plan_of(modelled, sample.entropy)
    subsamples, batches = partial(draw_subsamples, plan, len(half)), schedule(modelled, plan)
    ensemble = train(modelled, plan, subsamples, batches, jobs, lambda count: None)
    kernel = Kernel(sample.scaling, ensemble, sample.dtype, weighting)
    features = to_numpy(feature_matrix(kernel, whole, jobs))
    return (features.T @ features)[np.triu_indices(whole.n_samples, 1)]


def _alike(first: np.ndarray, second: np.ndarray) -> float:
    """Correlate the values of two kernels (n_pairs,); 0 where one is constant."""
    if min(first.std(), second.std()) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
