"""From checked rows to a trained kernel: draw the rows to learn from, train the mixtures on them.

Nothing here knows an estimator. `draw_input(rows, roles, settings)` gives a `Sample`, and
`train(sample, settings)` the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from pckid._utils.progress import NOBODY, Hearer
from pckid.blocks import BlockedRows
from pckid.columns.count import Count
from pckid.ensemble.feature_map import Kernel
from pckid.ensemble.members import (
    Plan,
    automatic_floor,
    draw_subsamples,
    largest_size,
    likeness,
    schedule,
    spread_sizes,
    subsample_size,
    train_alike,
    train_batches,
)
from pckid.ensemble.settings import EnsembleSettings
from pckid.factors.fit import Asked
from pckid.input.column_groups import ColumnRoles
from pckid.input.sample import RowsInMemory, Sample, Sampling, draw_sample, pool_size
from pckid.input.table import variance_floor
from pckid.mixture.covariance_types import COVARIANCE_TYPES


class Minimums(NamedTuple):
    """What a sample must have at least."""

    n_clusters: int = 1  # rows
    n_landmarks: int = 0  # rows that are kept of a large table
    least_distinct: int = 2  # equal rows are merged if at least so many are left


class FitInput(NamedTuple):
    """The checked table of a fit, and the sample that it learns from."""

    rows: RowsInMemory | BlockedRows
    sample: Sample
    sampling: Sampling

    def without(self, columns: Sequence[int]) -> FitInput:
        """Draw again, without columns of the table."""
        skipped = (*self.sampling.skipped, *columns)
        sampling = self.sampling._replace(skipped=skipped)
        sample = draw_sample(self.rows, sampling)._replace(entropy=self.sample.entropy)
        return FitInput(self.rows, sample, sampling)

    def by_seed(self, entropy: int) -> FitInput:
        """Take the same rows, with another seed for all that is random from here on."""
        return self._replace(sample=self.sample._replace(entropy=entropy))


class Training(NamedTuple):
    """A trained kernel, and what it was trained on."""

    kernel: Kernel
    sample: Sample
    subsamples: Callable[[int], np.ndarray]  # `draw_subsamples` of a size, each drawn once

    def first(self, n_inits: int) -> Training:
        """Take the mixtures of the first starts."""
        ensemble = self.kernel.ensemble.first(n_inits)
        return self._replace(kernel=self.kernel._replace(ensemble=ensemble))

    def find_unseen(self, rows: np.ndarray) -> np.ndarray:
        """Find which mixtures did not learn from rows (n,) of the sample (n_mixtures, n)."""
        stacks, n_samples = self.kernel.ensemble.stacks, self.sample.table.n_samples
        shapes = [stack.log_weights.shape for stack in stacks]
        learnt = np.concatenate([self.subsamples(size)[:n] for n, size in shapes])
        unseen = np.ones((len(learnt), n_samples), dtype=bool)
        np.put_along_axis(unseen, learnt, False, axis=1)
        return unseen.take(rows, axis=1)


def draw_input(
    rows: RowsInMemory | BlockedRows,
    roles: ColumnRoles,
    settings: EnsembleSettings,
    least: Minimums,
    factors: Asked | None,
) -> FitInput:
    """Draw the rows to learn from; `factors` are those that rows of a wide table are scored by."""
    n_features = rows.n_features if isinstance(rows, BlockedRows) else rows.X.shape[1]
    # A share of the rows needs no more of them.
    is_share = isinstance(settings.max_samples, float)
    n_needed = 0 if is_share else 2 * subsample_size(settings.max_samples, 10**18)
    # The determinant of a covariance matrix near its floor has no digit left in float32.
    matrices = COVARIANCE_TYPES[settings.covariance_type].MATRICES
    sampling = Sampling(
        size=pool_size(n_features, n_needed, least.n_landmarks, least.n_clusters),
        n_clusters=least.n_clusters,
        least_distinct=least.least_distinct,
        entropy=int(check_random_state(settings.random_state).randint(2**31)),
        dtype="float64" if matrices else settings.dtype,
        roles=roles,
        device=settings.device,
        jobs=settings.jobs,
        factors=factors,
    )
    return FitInput(rows, draw_sample(rows, sampling), sampling)


def asked_factors(settings: EnsembleSettings, n_clusters: int, roles: ColumnRoles) -> Asked | None:
    """Return which factors rows of a wide table are scored by; k groups span k − 1 of them.

    Those of a group of columns, such as the dates of a series, all tell: they have no factors
    unless some are asked for. Counts never have any.
    """
    counts, asked = roles.kinds[Count.name], settings.n_factors
    if asked is None or (asked == "auto" and (roles.column_sets or counts)):
        return None
    if counts:
        raise ValueError(
            f"n_factors={asked} takes all columns of numbers as Gaussian ones, but "
            f"count_columns names column {next(iter(counts.values()))}. Give log_columns "
            "in place of count_columns, or leave out n_factors."
        )
    number = None if isinstance(asked, str) else int(asked)
    return Asked(number, least=max(n_clusters - 1, 1))


def train(
    sample: Sample,
    settings: EnsembleSettings,
    n_inits: int | None = None,
    before: Training | None = None,
    hearer: Hearer = NOBODY,
) -> Training:
    """Train the ensemble on a sample; `hearer` hears what it is and how far.

    With `n_inits` starts in place of those of the settings; the first of them are those of
    `before`, which was trained on the same sample.
    """
    modelled, plan = sample.table.modelled, plan_ensemble(sample, settings)
    plan = plan._replace(n_inits=n_inits or plan.n_inits)
    old = None if before is None else before.kernel.ensemble
    n_new = plan.n_inits - (0 if old is None else old.n_inits)
    hearer.say(
        f"{sample.n_usable:,} rows × {sample.table.n_features:,} columns, "
        f"{n_new * len(plan.sizes):,} mixtures with "
        f"{n_new * sum(plan.sizes):,} components on {plan.n_rows:,} rows each"
    )
    subsamples = cache(partial(draw_subsamples, plan, sample.table.n_samples))
    jobs = settings.jobs
    batches = schedule(modelled, plan, plan.n_inits - n_new, jobs)
    how = modelled, plan, subsamples, batches, jobs
    with hearer.phase(len(batches), "mixtures") as advance:
        ensemble = train_batches(*how, advance, sample.weights, old)
    kernel = Kernel(sample.scaling, ensemble, sample.dtype, settings.weighting)
    return Training(kernel, sample, subsamples)


def train_together(samples: Sequence[Sample], settings: Sequence[EnsembleSettings]) -> list[Kernel]:
    """Train an ensemble on each of some samples; the kernels that `train` gives, on one thread.

    Mixtures on samples that are alike share their calls: most of what a small one takes is the
    interpreter's time, which does not depend on how many there are in a call.
    """
    tables = [sample.table.modelled for sample in samples]
    plans = [plan_ensemble(*each) for each in zip(samples, settings, strict=True)]
    weights = [sample.weights for sample in samples]
    alike: dict[Hashable, list[int]] = {}
    for place, each in enumerate(zip(tables, plans, weights, strict=True)):
        alike.setdefault(likeness(*each), []).append(place)
    kernels: dict[int, Kernel] = {}
    for kind, places in alike.items():
        if kind is None:
            kernels |= {i: train(samples[i], settings[i]).kernel for i in places}
            continue
        ensembles = train_alike(
            [tables[i] for i in places], [plans[i] for i in places], [weights[i] for i in places]
        )
        for i, ensemble in zip(places, ensembles, strict=True):
            known = samples[i].scaling, ensemble, samples[i].dtype, settings[i].weighting
            kernels[i] = Kernel(*known)
    return [kernels[i] for i in range(len(samples))]


def plan_ensemble(sample: Sample, settings: EnsembleSettings) -> Plan:
    """Resolve the settings for a table: no mixture has more components than rows.

    Repeated rows fill no more components than they would once.
    """
    n_rows = subsample_size(settings.max_samples, sample.n_usable)
    n_rows = min(n_rows, sample.table.n_samples)
    largest = min(largest_size(settings.max_components, sample.n_distinct), n_rows)
    reg_covar = settings.reg_covar
    if isinstance(reg_covar, str):
        reg_covar = automatic_floor(largest, sample.table.modelled.n_values)
    return Plan(
        n_inits=settings.n_starts,
        sizes=spread_sizes(largest, settings.n_sizes),
        n_rows=n_rows,
        max_iter=settings.max_iter,
        covariance_type=settings.covariance_type,
        floor=variance_floor(reg_covar, sample.dtype),
        entropy=sample.entropy,
    )
