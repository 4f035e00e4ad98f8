"""The ensemble: every number of components, each from many starts, each on rows of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from pckid._arrays import Array, is_host, like, namespace
from pckid._parallel import run
from pckid._progress import Advance
from pckid.mixture import em, initialise
from pckid.mixture.families import FAMILIES
from pckid.mixture.table import Table

# Statistics of the mixtures trained in one call: small stacks stay in the cache of a CPU core,
# large ones fill a GPU.
_STACK_BYTES_HOST = 1 << 21
_STACK_BYTES_DEVICE = 1 << 30


class Plan(NamedTuple):
    """What to train: the paper's Q, G and the rest, resolved for a table."""

    n_inits: int
    max_components: int
    n_rows: int
    max_iter: int
    covariance_type: str
    floor: float
    entropy: int

    @property
    def components(self) -> range:
        """The numbers of components, g = 2 … G."""
        return range(2, self.max_components + 1)


class Task(NamedTuple):
    """Mixtures that are trained in one call."""

    n_components: int
    inits: range


class Ensemble(NamedTuple):
    """Trained mixtures, one stack of n_inits for each number of components."""

    covariance_type: str
    stacks: tuple[Any, ...]

    @property
    def n_mixtures(self) -> int:
        return sum(stack.log_weights.shape[0] for stack in self.stacks)

    @property
    def n_columns(self) -> int:
        """The width of the feature map, C = Q (2 + … + G)."""
        return sum(math.prod(stack.log_weights.shape) for stack in self.stacks)


def subsample_size(max_samples: float, n_samples: int) -> int:
    """Resolve `max_samples`, a share (float) or a number (int) of rows."""
    if isinstance(max_samples, Integral):
        return min(int(max_samples), n_samples)
    return min(max(2, round(max_samples * n_samples)), n_samples)


def draw(plan: Plan, n_samples: int, n_components: int, init: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows of one mixture, and which of them are its first centres.

    The seed depends on the member alone, so neither order, nor threads, nor device, nor the other
    members change it.

    Returns
    -------
    rows : array of shape (n_rows,)
    chosen : array of shape (n_components,), positions in `rows`
    """
    seed = np.random.SeedSequence(plan.entropy, spawn_key=(n_components, init))
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n_samples, size=plan.n_rows, replace=False))
    return rows, rng.choice(plan.n_rows, size=n_components, replace=False)


def schedule(table: Table, plan: Plan) -> list[Task]:
    """Cut the plan into tasks, the longest first, so that threads end together."""
    size = _stack_size(table, plan)
    return [
        Task(n_components, range(first, min(first + size, plan.n_inits)))
        for n_components in reversed(plan.components)
        for first in range(0, plan.n_inits, size)
    ]


def train(
    table: Table, plan: Plan, tasks: list[Task], n_threads: int, advance: Advance
) -> Ensemble:
    """Train all mixtures of the plan on the table."""
    parts: dict[int, list[Any]] = {n_components: [] for n_components in plan.components}
    workers = n_threads if is_host(table.values) else 1
    trained = run(_train_stack, [(table, plan, *task) for task in tasks], workers)
    for task, params in zip(tasks, trained, strict=True):
        parts[task.n_components].append(params)
        advance(len(task.inits))
    return Ensemble(plan.covariance_type, tuple(_join(parts[g]) for g in plan.components))


def posteriors(ensemble: Ensemble, table: Table) -> Iterator[Array]:
    """Yield the rows' posteriors under each stack, of shape (n_inits · g, n_samples).

    Stacked, scaled by 1/√Z and transposed they are the feature map Φ.
    """
    family = FAMILIES[ensemble.covariance_type]
    stats = family.statistics(table)
    xp = namespace(table.values)
    for stack in ensemble.stacks:
        resp, _ = em.responsibilities(family.log_joint(stats, stack))
        yield xp.reshape(resp, (-1, resp.shape[-1]))


def _train_stack(table: Table, plan: Plan, n_components: int, inits: range) -> Any:
    """Train some mixtures with the same number of components, each on its own rows."""
    family = FAMILIES[plan.covariance_type]
    draws = [draw(plan, table.n_samples, n_components, init) for init in inits]
    int64 = namespace(table.values).int64
    rows = like(np.stack([rows for rows, _ in draws]), table.values, dtype=int64)
    chosen = like(np.stack([chosen for _, chosen in draws]), table.values, dtype=int64)
    stats = family.statistics(table, rows)
    params = initialise.from_rows(family, stats, chosen, plan.floor)
    return em.iterate(family, stats, params, plan.max_iter, plan.floor)


def _stack_size(table: Table, plan: Plan) -> int:
    """Decide how many mixtures share a call."""
    if not FAMILIES[plan.covariance_type].STACKABLE:
        return 1
    budget = _STACK_BYTES_HOST if is_host(table.values) else _STACK_BYTES_DEVICE
    itemsize = 4 if "32" in str(table.values.dtype) else 8
    each = plan.n_rows * (3 * table.n_features + plan.max_components) * itemsize
    return min(max(1, budget // each), plan.n_inits)


def _join(parts: list[Any]) -> Any:
    """Put stacks with the same number of components into one."""
    xp = namespace(parts[0].means)
    return type(parts[0])(*(xp.concat(arrays, axis=0) for arrays in zip(*parts, strict=True)))
