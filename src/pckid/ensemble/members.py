"""The ensemble: mixtures of many sizes, each from several starts, each on its own random rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, groupby, pairwise
from numbers import Integral
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    device_of,
    exponential,
    is_host,
    namespace,
    take_along,
)
from pckid._utils.parallel import is_remote, run_in_threads, run_remote
from pckid._utils.progress import Advance
from pckid._utils.seeds import Stream, generator
from pckid.input.table import Table, take
from pckid.mixture import em, initialise
from pckid.mixture.families import FAMILIES

# Statistics of the mixtures trained in one call: small stacks stay in the cache of a CPU core,
# large ones fill a GPU.
_STACK_BYTES_HOST = 1 << 22
_STACK_BYTES_DEVICE = 1 << 30
# A GPU computes all rows of a table for every mixture if each learns from at least this share of
# them: so the table is read once for all mixtures, and products are large.
_SHARED_FROM = 0.25
# Posteriors, or coefficients of components, that a GPU computes at once: 2^26 numbers.
_RUN_CELLS = 1 << 26
_MAX_COMPONENTS = 60
_MAX_ROWS = 500


class Plan(NamedTuple):
    """What to train: the paper's Q, G and the rest, resolved for a table."""

    n_inits: int
    sizes: tuple[int, ...]  # the numbers of components, ascending; in the paper 2 … G
    n_rows: int
    max_iter: int
    covariance_type: str
    floor: float
    entropy: int


class Member(NamedTuple):
    """One mixture: its number of components, and which start it is."""

    size: int
    init: int


class Posteriors(Protocol):
    """Computes the rows' posteriors under some stacks, of shape (n_columns, n_samples).

    They are multiplied by `scales`, one for each stack, and written into `out`, where these are
    given.
    """

    def __call__(
        self,
        stacks: Sequence[int],
        scales: Sequence[float] | None = None,
        out: Array | None = None,
    ) -> Array: ...


# What is trained in one call.
Task = tuple[Member, ...]


class Subsamples(NamedTuple):
    """The rows of the m members of a task; the first of each are its first centres."""

    rows: np.ndarray  # (m, n_rows), in the table
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
        """The width of the feature map, C = Q (2 + … + G) in the paper."""
        return sum(self.widths)


def largest_size(max_components: int | str, n_samples: int) -> int:
    """Resolve `max_components`: "auto" grows with the root of the rows, up to a point."""
    if isinstance(max_components, Integral):
        return int(max_components)
    return min(max(2, round(1.5 * math.sqrt(n_samples))), _MAX_COMPONENTS)


def spread_sizes(largest: int, n_sizes: int | None) -> tuple[int, ...]:
    """Spread at most `n_sizes` numbers of components evenly from 2 to the largest; None: all."""
    count = largest - 1 if n_sizes is None else min(n_sizes, largest - 1)
    return tuple(np.linspace(largest, 2, count).round().astype(int)[::-1].tolist())


def subsample_size(max_samples: float | str, n_samples: int) -> int:
    """Resolve `max_samples`, a share (float) or a number (int) of rows; "auto" is half, up to 500.

    More rows cost time and did not improve the labels, see `docs/method-notes.md`.
    """
    if isinstance(max_samples, Integral):
        return min(int(max_samples), n_samples)
    if isinstance(max_samples, str):
        return min(subsample_size(0.5, n_samples), _MAX_ROWS)
    return min(max(2, round(max_samples * n_samples)), n_samples)


def automatic_floor(largest: int, n_columns: float) -> float:
    """Return the floor of the variances that "auto" stands for, 0.4 G^(−2/d).

    G components that tile d columns are each about G^(−1/d) of a column wide. Much narrower ones
    come from columns of few values, and decide by such a column alone.
    """
    return 0.4 * largest ** (-2 / max(n_columns, 1))


def draw_members(plan: Plan, n_samples: int, size: int) -> np.ndarray:
    """Draw the rows of all members of a size, of shape (n_inits, n_rows), in random order.

    The first `size` of a member's rows are its first centres. The seed depends on the size alone:
    neither order, nor threads, nor device change what is drawn.
    """
    rng = generator(plan.entropy, Stream.MEMBERS, size)
    drawn = [rng.choice(n_samples, plan.n_rows, replace=False) for _ in range(plan.n_inits)]
    return np.stack(drawn)


def schedule(table: Table, plan: Plan) -> list[Task]:
    """Cut the plan into tasks: on a CPU stacks of one size, on a GPU of sizes not far apart."""
    n_alike = _stack_size(table, plan)
    # A few large stacks: a GPU waits for the host more than it computes for components of no use.
    # Up to 15 components are alike, then up to 63, and so on.
    similar = lambda size: max(1, int(math.log2(size) / 2))  # noqa: E731
    key = (lambda size: size) if is_host(table.values) else similar
    tasks = []
    for _, alike in groupby(plan.sizes, key=key):
        members = [Member(size, init) for size in alike for init in range(plan.n_inits)]
        tasks += [tuple(members[i : i + n_alike]) for i in range(0, len(members), n_alike)]
    # The largest first: while a GPU works on it, the host draws the rows of the next.
    return tasks if is_host(table.values) else tasks[::-1]


def train(
    table: Table,
    plan: Plan,
    tasks: list[Task],
    n_threads: int,
    advance: Advance,
    weights: np.ndarray | None = None,
) -> Ensemble:
    """Train all mixtures of the plan on the table, whose rows may have `weights` (n_samples,)."""
    stacks = _Stacks(plan.n_inits)
    draw = cache(partial(draw_members, plan, table.n_samples))

    def train_one(*task: Member) -> int:
        subsamples = _draw_subsamples(draw, task, weights)
        stacks.put(task, _train_task(table, plan, task, subsamples))
        return len(task)

    if is_host(table.values) and is_remote():
        packed = (
            _pack_task(table, plan, task, _draw_subsamples(draw, task, weights)) for task in tasks
        )
        for task, params in zip(tasks, run_remote(_train_task, packed), strict=True):
            stacks.put(task, params)
            advance(len(task))
    else:
        run_in_threads(train_one, tasks, n_threads if is_host(table.values) else 1, advance)
    return Ensemble(plan.covariance_type, tuple(stacks.found[g] for g in plan.sizes))


def posteriors(ensemble: Ensemble, table: Table) -> Posteriors:
    """Return a function that computes the rows' posteriors under each stack, or under several.

    Stacked, scaled by 1/√Z and transposed they are the feature map Φ.
    """
    family = FAMILIES[ensemble.covariance_type]
    stats = family.statistics(table)
    xp = namespace(table.values)

    def compute(
        stacks: Sequence[int], scales: Sequence[float] | None = None, out: Array | None = None
    ) -> Array:
        chosen = [ensemble.stacks[i] for i in stacks]
        if len(chosen) == 1:
            resp = em.posterior(family.log_joint(stats, chosen[0]))
            resp = xp.reshape(resp, (-1, resp.shape[-1]))
            if scales is not None and scales[0] != 1:
                resp *= scales[0]
        else:
            joint = family.log_joint(stats, side_by_side(chosen))[0, ...]
            resp = _posteriors_of_each(joint, chosen, scales)
        if out is None:
            return resp
        out[...] = resp
        return out

    return compute


def runs_of_stacks(ensemble: Ensemble, table: Table) -> list[range]:
    """Say which stacks `posteriors` takes at once: on a CPU one, on a GPU as many as memory allows.

    A GPU waits for the host while this launches the operations for a single stack.
    """
    widths = ensemble.widths
    if is_host(table.values) or FAMILIES[ensemble.covariance_type].MATRICES:
        return [range(i, i + 1) for i in range(len(widths))]
    most = _RUN_CELLS // max(table.n_samples, table.width)
    runs: list[range] = []
    held = 0
    for i, width in enumerate(widths):
        if not runs or held + width > most:
            runs.append(range(i, i + 1))
            held = width
        else:
            runs[-1] = range(runs[-1].start, i + 1)
            held += width
    return runs


def side_by_side(stacks: Sequence[Any]) -> Any:
    """Lay the components of stacks side by side, as if they were those of one mixture."""
    xp = namespace(stacks[0].means)

    def flat(array: Array) -> Array:
        return xp.reshape(array, (1, array.shape[0] * array.shape[1], *array.shape[2:]))

    return type(stacks[0])(
        *(
            xp.concat([flat(array) for array in arrays], axis=1)
            for arrays in zip(*stacks, strict=True)
        )
    )


def _posteriors_of_each(
    joint: Array, stacks: Sequence[Any], scales: Sequence[float] | None
) -> Array:
    """Normalise the log-joint (n_columns, n) of stacks side by side, which is overwritten.

    As `em.posterior` does, with few operations for all of them.
    """
    xp = namespace(joint)
    shapes = [stack.log_weights.shape for stack in stacks]
    stops = list(accumulate((m * g for m, g in shapes), initial=0))

    def of_each(reduce: Callable, X: Array) -> Array:
        parts = [X[a:b, :] for a, b in pairwise(stops)]
        return xp.concat(
            [
                reduce(xp.reshape(part, (*shape, -1)), axis=1)
                for part, shape in zip(parts, shapes, strict=True)
            ]
        )

    sizes = np.repeat([g for _, g in shapes], [m for m, _ in shapes])
    owner = asarray_like(np.repeat(np.arange(len(sizes)), sizes), joint, dtype=xp.int64)
    joint -= take_along(of_each(xp.max, joint), owner)
    resp = exponential(joint)
    share = 1 / of_each(xp.sum, resp)
    if scales is not None:
        share *= asarray_like(np.repeat(scales, [m for m, _ in shapes])[:, None], joint)
    resp *= take_along(share, owner)
    return resp


def _train_task(table: Table, plan: Plan, task: Task, subsamples: Subsamples) -> Any:
    """Train the mixtures of a task, each on its own rows."""
    family, home = FAMILIES[plan.covariance_type], table.values
    int64 = namespace(home).int64
    shares, sizes = subsamples.weights, [member.size for member in task]
    first = np.tile(np.arange(max(sizes)), (len(sizes), 1))
    if _shares_rows(table, plan):
        stats = family.statistics(table)._replace(n_counted=plan.n_rows)
        first, shares = subsamples.rows[:, : max(sizes)], _in_whole_table(subsamples, table)
    else:
        stats = family.statistics(table, asarray_like(subsamples.rows, home, dtype=int64))
    # Whether a row is in a subsample takes a bit to say, and less time to send than its weight.
    weights = None if shares is None else asarray_like(shares[:, None, :], home)
    if weights is not None:
        weights = namespace(home).astype(weights, home.dtype, copy=False)
    params = initialise.from_rows(
        family,
        stats,
        asarray_like(first, home, dtype=int64),
        plan.floor,
        weights,
        None if min(sizes) == max(sizes) else asarray_like(np.array(sizes), home, dtype=int64),
    )
    return em.iterate(
        family, stats, params, n_iter=plan.max_iter, floor=plan.floor, weights=weights
    )


def _draw_subsamples(
    draw: Callable[[int], np.ndarray], task: Task, weights: np.ndarray | None
) -> Subsamples:
    """Take the rows of the members of a task from those that `draw` draws for their sizes."""
    rows = np.stack([draw(member.size)[member.init] for member in task])
    if weights is None:
        return Subsamples(rows, None)
    mine = weights[rows]
    return Subsamples(rows, mine / mine.mean(axis=1, keepdims=True))


def _shares_rows(table: Table, plan: Plan) -> bool:
    """Tell whether mixtures are computed on all rows of a table, with weights that pick theirs."""
    stackable = FAMILIES[plan.covariance_type].STACKABLE
    many = plan.n_rows >= _SHARED_FROM * table.n_samples
    return stackable and many and not is_host(table.values)


def _in_whole_table(subsamples: Subsamples, table: Table) -> np.ndarray:
    """Give all rows of a table a weight in each subsample (m, n_samples), 0 if they are not in."""
    rows, weights = subsamples
    every = np.zeros((len(rows), table.n_samples), dtype=bool if weights is None else np.float64)
    # Places in all of it at once take half the time of places in each row.
    places = rows + table.n_samples * np.arange(len(rows))[:, None]
    every.reshape(-1)[places.reshape(-1)] = 1 if weights is None else weights.reshape(-1)
    return every


def _pack_task(table: Table, plan: Plan, task: Task, subsamples: Subsamples) -> tuple[Any, ...]:
    """Pack a task for another process: with its own rows, not with all of them."""
    needed, index = np.unique(subsamples.rows, return_inverse=True)
    mine = take(table, asarray_like(needed, table.values, dtype=namespace(table.values).int64))
    return mine, plan, task, subsamples._replace(rows=index.reshape(subsamples.rows.shape))


def _stack_size(table: Table, plan: Plan) -> int:
    """Decide how many members share a call, by the statistics and responsibilities they hold."""
    if not FAMILIES[plan.covariance_type].STACKABLE:
        return 1
    budget = _STACK_BYTES_HOST if is_host(table.values) else _STACK_BYTES_DEVICE
    itemsize = 4 if "32" in str(table.values.dtype) else 8
    if _shares_rows(table, plan):
        return max(1, budget // (table.n_samples * plan.sizes[-1] * itemsize))
    return max(1, budget // (plan.n_rows * (table.width + plan.sizes[-1]) * itemsize))


class _Stacks:
    """Where trained mixtures are put, each into its place in the stack of its size."""

    def __init__(self, n_inits: int) -> None:
        self.found: dict[int, Any] = {}  # the stacks, by numbers of components
        self._n_inits = n_inits
        self._lock = Lock()

    def put(self, task: Task, params: Any) -> None:
        """Copy what a task has trained; threads do so while others train."""
        for size, first, part in _split_by_size(params, task):
            last = first + part.log_weights.shape[0]
            if last - first == self._n_inits:
                # One operation for an array, which leaves behind what padded it.
                self.found[size] = type(part)(*(namespace(array).concat([array]) for array in part))
                continue
            with self._lock:
                stack = self.found.get(size) or self._allocate(size, part)
            for target, array in zip(stack, part, strict=True):
                target[first:last, ...] = array

    def _allocate(self, size: int, part: Any) -> Any:
        """Make a stack for all mixtures of a size."""
        xp, n = namespace(part.means), self._n_inits
        arrays = (xp.empty((n, *a.shape[1:]), dtype=a.dtype, device=device_of(a)) for a in part)
        self.found[size] = type(part)(*arrays)
        return self.found[size]


def _split_by_size(params: Any, task: Task) -> Iterator[tuple[int, int, Any]]:
    """Cut what a task has trained into mixtures of one size, and drop what padded them.

    Yields
    ------
    size : int
    first : int
        The first of the starts, which follow each other.
    part : Parameters
    """
    done = 0
    for size, members in groupby(task, key=lambda member: member.size):
        inits = [member.init for member in members]
        mine = slice(done, done + len(inits))
        yield size, inits[0], type(params)(*(array[mine, :size, ...] for array in params))
        done += len(inits)
