"""The ensemble: every number of components, each from many starts, each on a random subsample.

Mixtures of one start are trained in fours on the same random rows, two coarse and two fine: g,
g + 1, G + 1 − g and G + 2 − g components. Together they have 2 (G + 2), which makes the matrix
products wide enough for the processor. Where G is small and the table large, more than four share
their rows. Against rows of their own for every mixture this costs a few thousandths of accuracy,
if anything; `docs/method-notes.md` has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, groupby, pairwise
from numbers import Integral
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from pckid._arrays import Array, device_of, is_host, like, namespace
from pckid._parallel import is_remote, run, spread
from pckid._progress import Advance
from pckid.mixture import em, initialise, inplace
from pckid.mixture.families import FAMILIES
from pckid.mixture.segments import segments, slices
from pckid.mixture.table import Table, take
from pckid.mixture.weighting import Places
from pckid.mixture.workspace import WIDE, Columns

# Statistics of the mixtures trained in one call: small stacks stay in the cache of a CPU core,
# large ones fill a GPU.
_STACK_BYTES_HOST = 1 << 21
_STACK_BYTES_DEVICE = 1 << 30
# A table of which the statistics of all rows are held at once.
_MOST_COLUMN_BYTES = 1 << 28
_ENOUGH_ROWS = 5_000
_ENOUGH_COMPONENTS = 60
# Starts for tables of up to so many rows, and for larger ones.
_STARTS, _STARTS_OF_LARGE = 20, 10
_LARGE_TABLE = 10_000


class Plan(NamedTuple):
    """What to train: the paper's Q, G and the rest, resolved for a table."""

    n_inits: int
    max_components: int
    n_rows: int
    max_iter: int
    covariance_type: str
    floor: float
    entropy: int
    wide: bool = False  # whether many mixtures share their rows

    @property
    def components(self) -> range:
        """The numbers of components, g = 2 … G."""
        return range(2, self.max_components + 1)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """The numbers of components of mixtures that share their rows, coarsest first.

        For G = 6 these are (2, 6, 3, 5) and (4,). A member's seed is that of its first number, so
        another grouping gives other results.
        """
        total = self.max_components + 2
        pairs: list[tuple[int, ...]] = [(g, total - g) for g in range(2, (total + 1) // 2)]
        middle = [] if total % 2 else [(total // 2,)]
        if not self.wide:
            fours = [pairs[i : i + 2] for i in range(0, len(pairs), 2)]
            return [tuple(chain(*four)) for four in fours] + middle
        n_groups = max(1, round(sum(self.components) / WIDE))
        ends = [len(pairs) * i // n_groups for i in range(n_groups + 1)]
        parts = [pairs[start:stop] for start, stop in pairwise(ends)]
        parts[-1] += middle
        return [tuple(chain(*part)) for part in parts]


class Member(NamedTuple):
    """Mixtures that share a subsample: their numbers of components, and which start they are."""

    sizes: tuple[int, ...]
    init: int


class Posteriors(Protocol):
    """Computes the rows' posteriors (n_inits · g, n_samples) under a stack, times `scale`.

    They are written into `out` where it is given.
    """

    def __call__(self, stack: int, scale: float = 1.0, out: Array | None = None) -> Array: ...


# What is trained in one call.
Task = tuple[Member, ...]


class Draws(NamedTuple):
    """The rows of the m members of a task."""

    rows: np.ndarray  # (m, n_rows), in the table
    chosen: np.ndarray  # (m, sum(sizes)), which of them are the first centres
    weights: np.ndarray | None  # (m, n_rows), of mean 1 for each member; None: all alike


class Ensemble(NamedTuple):
    """Trained mixtures, one stack of n_inits for each number of components."""

    covariance_type: str
    stacks: tuple[Any, ...]

    @property
    def n_mixtures(self) -> int:
        return sum(stack.log_weights.shape[0] for stack in self.stacks)

    @property
    def widths(self) -> list[int]:
        """How many columns of the feature map come from each stack."""
        return [math.prod(stack.log_weights.shape) for stack in self.stacks]

    @property
    def n_columns(self) -> int:
        """The width of the feature map, C = Q (2 + … + G)."""
        return sum(self.widths)


def number_of_starts(n_inits: int | str, n_samples: int) -> int:
    """Resolve `n_inits`: "auto" takes fewer starts for large tables.

    There chance decides less, and every row has to pass through the mixtures of all starts.
    """
    if isinstance(n_inits, Integral):
        return int(n_inits)
    return _STARTS if n_samples <= _LARGE_TABLE else _STARTS_OF_LARGE


def largest_size(max_components: int | str, n_samples: int) -> int:
    """Resolve `max_components`: "auto" grows with the root of the rows, up to a point.

    See `docs/method-notes.md` for what was tried.
    """
    if isinstance(max_components, Integral):
        return int(max_components)
    return min(max(2, round(1.5 * math.sqrt(n_samples))), _ENOUGH_COMPONENTS)


def subsample_size(max_samples: float, n_samples: int = 10**18) -> int:
    """Resolve `max_samples`, a share (float) or a number (int) of rows, of a table or of any table.

    A share stops growing at 5,000 rows: from far fewer on, more of them cost time and did not
    better the labels, see `docs/method-notes.md`.
    """
    if isinstance(max_samples, Integral):
        return min(int(max_samples), n_samples)
    return min(max(2, round(max_samples * n_samples)), n_samples, _ENOUGH_ROWS)


def is_wide(table: Table, n_rows: int, max_components: int) -> bool:
    """Tell whether many mixtures should share their rows, for the sake of wide products.

    That is so for tables large enough that members are trained one at a time, where fours have
    too few components; on small ones it would gain no time, and cost accuracy.
    """
    alone = _numbers(table, n_rows, max_components) > _STACK_BYTES_HOST // 4
    return alone and 4 * (max_components + 2) < WIDE


def draw(plan: Plan, n_samples: int, member: Member) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows of a member, and which of them are the first centres of its mixtures.

    The seed depends on the member alone, so neither order, nor threads, nor device change it.

    Returns
    -------
    rows : array of shape (n_rows,)
    chosen : array of shape (sum(sizes),), positions in `rows`
    """
    seed = np.random.SeedSequence(plan.entropy, spawn_key=(member.sizes[0], member.init))
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n_samples, size=plan.n_rows, replace=False))
    chosen = [rng.choice(plan.n_rows, size=size, replace=False) for size in member.sizes]
    return rows, np.concatenate(chosen)


def schedule(table: Table, plan: Plan) -> list[Task]:
    """Cut the plan into tasks: on a CPU stacks of like sizes, on a GPU all that fits."""
    size = _stack_size(table, plan)
    key = (lambda sizes: sizes) if is_host(table.values) or plan.wide else len
    tasks = []
    for _, alike in groupby(plan.groups, key=key):
        members = [Member(sizes, init) for sizes in alike for init in range(plan.n_inits)]
        tasks += [tuple(members[i : i + size]) for i in range(0, len(members), size)]
    return tasks


def train(
    table: Table,
    plan: Plan,
    tasks: list[Task],
    n_threads: int,
    advance: Advance,
    places: Places | None = None,
) -> Ensemble:
    """Train all mixtures of the plan on the table, whose rows may have several `places`."""
    stacks = _Stacks(plan.n_inits)
    if is_host(table.values) and is_remote():
        parcels = (_parcel(table, plan, task, places) for task in tasks)
        with closing(spread(_train_rows, parcels)) as results:
            for task, params in zip(tasks, results, strict=True):
                advance(stacks.put(task, params))
    else:
        columns = _columns(table, plan)

        def train_one(*task: Member) -> int:
            return stacks.put(task, _train_stack(table, plan, task, places, columns))

        run(train_one, tasks, n_threads if is_host(table.values) else 1, advance)
    return Ensemble(plan.covariance_type, tuple(stacks.found[g] for g in plan.components))


def posteriors(ensemble: Ensemble, table: Table) -> Posteriors:
    """Return a function that computes the rows' posteriors under each stack.

    Stacked, scaled by 1/√Z and transposed they are the feature map Φ.
    """
    if ensemble.covariance_type == "diag" and _is_plain(table):
        return _posteriors_in_place(ensemble, table)
    family = FAMILIES[ensemble.covariance_type]
    stats = family.statistics(table)
    xp = namespace(table.values)

    def compute(stack: int, scale: float = 1.0, out: Array | None = None) -> Array:
        resp = em.posterior(family.log_joint(stats, ensemble.stacks[stack]))
        resp = xp.reshape(resp, (-1, resp.shape[-1]))
        if scale != 1:
            resp *= scale
        if out is None:
            return resp
        out[...] = resp
        return out

    return compute


def _posteriors_in_place(ensemble: Ensemble, table: Table) -> Posteriors:
    """Return the same for NumPy arrays of numbers, where nothing is copied."""
    data = inplace.columns(table)

    def compute(stack: int, scale: float = 1.0, out: Array | None = None) -> Array:
        params = ensemble.stacks[stack]
        if out is None:
            shape = (math.prod(params.log_weights.shape), table.n_samples)
            out = np.empty(shape, dtype=table.values.dtype)
        inplace.write_posteriors(data, params, scale, out)
        return out

    return compute


def _columns(table: Table, plan: Plan) -> Columns | None:
    """Lay the table out for members that are trained in place, unless it is very large."""
    if not _alone_in_place(table, plan):
        return None
    size = table.n_samples * table.width * table.values.itemsize
    return inplace.columns(table) if size <= _MOST_COLUMN_BYTES else None


def _train_stack(
    table: Table, plan: Plan, task: Task, places: Places | None, columns: Columns | None
) -> Any:
    """Train the mixtures of several members, each member on its own rows."""
    return _train_rows(table, plan, task, _draws(table, plan, task, places), columns)


def _train_rows(
    table: Table, plan: Plan, task: Task, draws: Draws, columns: Columns | None = None
) -> Any:
    """Train members on the rows drawn for them; `columns` are those of the table, if at hand."""
    if _alone_in_place(table, plan):
        return _train_in_place(table, plan, task, draws, columns)
    family = FAMILIES[plan.covariance_type]
    int64 = namespace(table.values).int64
    stats = family.statistics(table, like(draws.rows, table.values, dtype=int64))
    parts = segments([member.sizes for member in task], table.values)
    first = like(draws.chosen, table.values, dtype=int64)
    weights = None if draws.weights is None else like(draws.weights[:, None, :], table.values)
    params = initialise.from_rows(family, stats, first, parts, plan.floor, weights)
    return em.iterate(
        family, stats, params, parts, n_iter=plan.max_iter, floor=plan.floor, weights=weights
    )


def _train_in_place(
    table: Table, plan: Plan, task: Task, draws: Draws, columns: Columns | None
) -> Any:
    """Train one member as `_train_rows` does, without a new array for every step."""
    (member,), (rows,), (chosen,) = task, draws.rows, draws.chosen
    weights = None if draws.weights is None else draws.weights[0]
    if columns is None:
        columns, rows = inplace.columns(take(table, rows)), np.arange(len(rows))
    return inplace.train(
        columns, rows, chosen, member.sizes,
        n_iter=plan.max_iter, floor=plan.floor, weights=weights,
    )  # fmt: skip


def _alone_in_place(table: Table, plan: Plan) -> bool:
    """Tell whether each member is trained alone, on a CPU and on numbers only."""
    plain = plan.covariance_type == "diag" and _is_plain(table)
    return plain and _stack_size(table, plan) == 1


def _is_plain(table: Table) -> bool:
    """Tell whether a table has NumPy arrays, no categories and ignorable missingness."""
    margins = table.margins
    numbers = margins.column.shape[0] == 0 and margins.observed.shape[0] == 0
    return isinstance(table.values, np.ndarray) and numbers


def _draws(table: Table, plan: Plan, task: Task, places: Places | None) -> Draws:
    """Draw the rows and first centres of the members of a task: places, where rows have several."""
    total = table.n_samples if places is None else places.total
    rows, chosen = map(np.stack, zip(*(draw(plan, total, member) for member in task), strict=True))
    if places is None:
        return Draws(rows, chosen, None)
    rows = places.rows(rows)
    if places.shares is None:
        return Draws(rows, chosen, None)
    weights = places.shares[rows]
    return Draws(rows, chosen, weights / weights.mean(axis=1, keepdims=True))


def _parcel(table: Table, plan: Plan, task: Task, places: Places | None) -> tuple[Any, ...]:
    """Pack a task for another process: with its own rows, not with all of them."""
    draws = _draws(table, plan, task, places)
    needed, index = np.unique(draws.rows, return_inverse=True)
    mine = take(table, like(needed, table.values, dtype=namespace(table.values).int64))
    return mine, plan, task, draws._replace(rows=index.reshape(draws.rows.shape))


def _stack_size(table: Table, plan: Plan) -> int:
    """Decide how many members share a call."""
    if not FAMILIES[plan.covariance_type].STACKABLE:
        return 1
    budget = _STACK_BYTES_HOST if is_host(table.values) else _STACK_BYTES_DEVICE
    itemsize = 4 if "32" in str(table.values.dtype) else 8
    each = _numbers(table, plan.n_rows, plan.max_components) * itemsize
    return max(1, budget // each)


def _numbers(table: Table, n_rows: int, max_components: int) -> int:
    """Count about what a member has in hand: statistics and responsibilities of its rows."""
    return n_rows * (table.width + max_components)


class _Stacks:
    """Where trained mixtures are put, each into its place in the stack of its size."""

    def __init__(self, n_inits: int) -> None:
        self.found: dict[int, Any] = {}  # the stacks, by numbers of components
        self._n_inits = n_inits
        self._lock = Lock()

    def put(self, task: Task, params: Any) -> int:
        """Copy what a task has trained and count the mixtures; threads do so while others train."""
        for size, first, part in _split(params, task):
            with self._lock:
                stack = self.found.get(size) or self._allocate(size, part)
            last = first + part.log_weights.shape[0]
            for target, array in zip(stack, part, strict=True):
                target[first:last, ...] = array
        return sum(len(member.sizes) for member in task)

    def _allocate(self, size: int, part: Any) -> Any:
        """Make a stack for all mixtures of a size."""
        xp, n = namespace(part.means), self._n_inits
        arrays = (xp.empty((n, *a.shape[1:]), dtype=a.dtype, device=device_of(a)) for a in part)
        self.found[size] = type(part)(*arrays)
        return self.found[size]


def _split(params: Any, task: Task) -> Iterator[tuple[int, int, Any]]:
    """Cut what a task has trained into mixtures of one size and of starts that follow each other.

    Yields
    ------
    size : int
    first : int
        The first of the starts.
    part : Parameters
    """
    done = 0
    for sizes, run_of in groupby(task, key=lambda member: member.sizes):
        members = list(run_of)
        mine = slice(done, done + len(members))
        for size, where in zip(sizes, slices(sizes), strict=True):
            part = type(params)(*(array[mine, where, ...] for array in params))
            yield size, members[0].init, part
        done += len(members)
