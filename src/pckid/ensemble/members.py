"""The ensemble: mixtures of many sizes, each from several starts, each on its own random rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    device_of,
    is_host,
    namespace,
    take_along,
    to_numpy,
)
from pckid._utils.parallel import is_remote, run_in_threads, run_remote, threads_for
from pckid._utils.progress import Advance
from pckid._utils.seeds import Stream, generator
from pckid.input.table import StandardisedRows, block, take
from pckid.mixture import em, side_by_side
from pckid.mixture.covariance_types import COVARIANCE_TYPES
from pckid.mixture.product import join
from pckid.mixture.starts import start_from_rows, winner

# Statistics of the mixtures trained in one call: small stacks stay in the cache of a CPU core,
# large ones fill a GPU.
_STACK_BYTES_HOST = 1 << 22
_STACK_BYTES_DEVICE = 1 << 28
# The same for stacks on many small tables, where the interpreter takes more of the time.
_JOINED_BYTES = 1 << 23
# The same, for the responsibilities of mixtures on a CPU that share the rows of a table.
_SHARED_BYTES_HOST = 1 << 21
# Rows are drawn by sorting keys if they are at least this share of all: so many are drawn faster
# than one by one. And then a GPU computes all rows of a table for every mixture, so that the table
# is read once for all mixtures, and products are large.
_MANY = 0.25
# On a CPU this pays if mixtures learn from at least half of the rows, of a table so wide that it is
# the products that take the time.
_MIN_SHARE_ON_HOST, _WIDE = 0.5, 256
# So many posteriors, or coefficients of components, keep a GPU busy while the host launches the
# next operations.
_RUN_CELLS = 1 << 23
# Multiplications that make a thread worth while.
_WORK = 1 << 28
_MAX_COMPONENTS = 60
_MAX_ROWS = 500
# No table has so many rows: a random key times this plus the row's number is another key, of which
# no two are alike. One sort, on any device, gives the same order, and says which rows they are.
_ROWS = 1 << 31


class Plan(NamedTuple):
    """What to train: the paper's Q, G and the rest, resolved for a table."""

    n_inits: int
    sizes: tuple[int, ...]  # the numbers of components, ascending; in the paper 2 … G
    n_rows: int
    max_iter: int
    covariance_type: str
    floor: float
    entropy: int


class Stack(NamedTuple):
    """Mixtures of one size, from starts that follow each other."""

    size: int
    first_start: int
    n_mixtures: int


# What is trained in one call.
Batch = tuple[Stack, ...]


class Subsamples(NamedTuple):
    """The rows of the m mixtures of a stack; the first of each are its first centres."""

    rows: np.ndarray  # (m, n_rows), in the table
    weights: np.ndarray | None  # (m, n_rows), of mean 1 for each mixture; None: all alike


class Ensemble(NamedTuple):
    """Trained mixtures, one stack of n_inits for each number of components."""

    covariance_type: str
    stacks: tuple[Any, ...]

    @property
    def n_inits(self) -> int:
        """How many mixtures there are of each number of components."""
        return self.stacks[0].log_weights.shape[0]

    def first(self, n_inits: int) -> Ensemble:
        """Take the mixtures of the first starts."""
        stacks = (type(stack)(*(array[:n_inits, ...] for array in stack)) for stack in self.stacks)
        return self._replace(stacks=tuple(stacks))

    def columns_of(self, inits: np.ndarray) -> np.ndarray:
        """List the columns of the feature map that come from some starts."""
        places, first = [], 0
        for stack in self.stacks:
            n_inits, size = stack.log_weights.shape
            places.append(first + np.arange(n_inits * size).reshape(n_inits, size)[inits].ravel())
            first += n_inits * size
        return np.concatenate(places)

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


def draw_subsamples(plan: Plan, n_samples: int, size: int) -> np.ndarray:
    """Draw the rows of all mixtures of a size, of shape (n_inits, n_rows), in random order.

    The first `size` of a mixture's rows are its first centres. The seed depends on the size alone:
    neither order, nor threads, nor device change what is drawn.
    """
    if plan.n_rows >= _MANY * n_samples:
        order = np.sort(to_numpy(append_rows(draw_keys(plan, n_samples, size))), axis=1)
        return to_numpy(order[:, : plan.n_rows] & (_ROWS - 1))
    rng = generator(plan.entropy, Stream.SUBSAMPLES, size)
    drawn = [rng.choice(n_samples, plan.n_rows, replace=False) for _ in range(plan.n_inits)]
    return np.stack(drawn)


def draw_keys(plan: Plan, n_samples: int, size: int) -> np.ndarray:
    """Draw a random key for each row and mixture of a size, int32 (n_inits, n_samples).

    The rows of a mixture are those of its smallest keys, in their order.
    """
    bits = generator(plan.entropy, Stream.SUBSAMPLES, size).bit_generator
    count = plan.n_inits * n_samples
    drawn = bits.random_raw(-(-count // 2)).view(np.int32)
    return drawn[:count].reshape(plan.n_inits, n_samples)


def append_rows(keys: Array) -> Array:
    """Append its number to each row's key (m, n_samples)."""
    xp = namespace(keys)
    index = xp.arange(keys.shape[1], dtype=xp.int64, device=device_of(keys))
    return xp.astype(keys, xp.int64) * _ROWS + index


def schedule(
    table: StandardisedRows, plan: Plan, first: int = 0, n_threads: int = 1
) -> list[Batch]:
    """Divide the plan, from its `first` start on, into batches, each trained in one call.

    Each is a stack, or stacks of all sizes where mixtures share the rows.
    """
    if not _shares_rows(table, plan):
        # Those in one call hold statistics and responsibilities at once.
        budget = _STACK_BYTES_HOST if is_host(table.values) else _STACK_BYTES_DEVICE
        each = plan.n_rows * (table.width + plan.sizes[-1]) * itemsize(table)
        n_alike = max(1, budget // each) if COVARIANCE_TYPES[plan.covariance_type].STACKABLE else 1
        starts = range(first, plan.n_inits, n_alike)
        return [
            (Stack(size, start, min(n_alike, plan.n_inits - start)),)
            for size in reversed(plan.sizes)  # The largest first, so that threads end together.
            for start in starts
        ]
    batches: list[list[Stack]] = []
    room, each = 0, table.n_samples * itemsize(table)
    most = _STACK_BYTES_DEVICE // each
    if is_host(table.values):
        n_components = (plan.n_inits - first) * sum(plan.sizes)
        most = min(_SHARED_BYTES_HOST // each, -(-n_components // n_threads))
    for size in plan.sizes:
        start = first
        while start < plan.n_inits:
            if room < size:
                batches.append([])
                room = max(most, size)
            count = min(plan.n_inits - start, room // size)
            batches[-1].append(Stack(size, start, count))
            start, room = start + count, room - count * size
    return list(map(tuple, batches))


def train_batches(
    table: StandardisedRows,
    plan: Plan,
    draw: Callable[[int], np.ndarray],
    batches: list[Batch],
    n_threads: int,
    advance: Advance,
    weights: np.ndarray | None = None,
    before: Ensemble | None = None,
) -> Ensemble:
    """Train the mixtures of batches on the table, whose rows may have `weights` (n_samples,).

    `draw` is `draw_subsamples` for the plan and the table, and `before` has the mixtures of the
    starts that come before those of the batches.
    """
    trained: list[tuple[Stack, Any]] = []

    def keep(found: list[tuple[Stack, Any]]) -> None:
        trained.extend(found)
        advance(sum(stack.n_mixtures for stack, _ in found))

    def train_one(*batch: Stack) -> list[tuple[Stack, Any]]:
        if _shares_rows(table, plan):
            return _train_on_shared_rows(table, plan, batch, weights)
        (stack,) = batch
        return [(stack, _train_stack(table, plan, stack, _pick_subsamples(draw, stack, weights)))]

    if is_host(table.values) and is_remote():
        stacks = [stack for batch in batches for stack in batch]
        packed = (
            _pack_stack(table, plan, stack, _pick_subsamples(draw, stack, weights))
            for stack in stacks
        )
        for found in zip(stacks, run_remote(_train_stack, packed), strict=True):
            keep([found])
    else:
        # Multiplications: two products in each iteration, and the start.
        components = float(plan.n_inits * sum(plan.sizes))
        work = 2 * (plan.max_iter + 1) * components * plan.n_rows * (table.width + 20)
        n_threads = threads_for(work, _WORK, n_threads) if is_host(table.values) else 1
        run_in_threads(train_one, batches, n_threads, keep)
    return Ensemble(plan.covariance_type, _join_stacks(plan, trained, before))


def likeness(table: StandardisedRows, plan: Plan, weights: np.ndarray | None) -> Hashable:
    """Describe a table and its plan: tables for which that is equal are trained in one stack.

    None if the table is trained by itself, by `train_batches`. What columns of categories are like
    depends on the table: of those each is like no other.
    """
    family, model = COVARIANCE_TYPES[plan.covariance_type], table.column_model
    if not is_host(table.values) or not family.STACKABLE or _shares_rows(table, plan):
        return None
    parts = model.weights, table.column_blocks
    return (
        plan._replace(entropy=0),
        str(table.values.dtype),
        table.observed.shape[1],
        table.n_features,
        id(table) if table.codes.shape[1] else None,
        None if table.patterns is None else table.patterns.shape[0],
        tuple(part is None for part in model),
        tuple(None if part is None else to_numpy(part).tobytes() for part in parts),
        weights is None,
    )


def train_alike(
    tables: Sequence[StandardisedRows],
    plans: Sequence[Plan],
    weights: Sequence[np.ndarray | None],
) -> list[Ensemble]:
    """Train an ensemble on each of some tables that are alike, the mixtures of a size at once.

    Rows of a table may have weights (n_samples,). The ensembles are those of `train_batches`.
    """
    plan, width = plans[0], tables[0].width
    n, sizes = plan.n_inits, plan.sizes
    each = n * plan.n_rows * (width + sizes[-1]) * itemsize(tables[0])
    at_once = max(1, _JOINED_BYTES // each)
    found = []
    for first in range(0, len(tables), at_once):
        some = slice(first, first + at_once)
        found += _train_joined(tables[some], plans[some], weights[some])
    return found


def _train_joined(
    tables: Sequence[StandardisedRows],
    plans: Sequence[Plan],
    weights: Sequence[np.ndarray | None],
) -> list[Ensemble]:
    """Train an ensemble on each of some tables, as `train_alike`, all in one stack."""
    n, sizes = plans[0].n_inits, plans[0].sizes
    family = COVARIANCE_TYPES[plans[0].covariance_type]
    picked = []
    for table, plan, each in zip(tables, plans, weights, strict=True):
        draw = partial(draw_subsamples, plan, table.n_samples)
        picked.append([_pick_subsamples(draw, Stack(size, 0, n), each) for size in sizes])
    stats = [
        family.statistics(table, np.concatenate([subsamples.rows for subsamples in of_sizes]))
        for table, of_sizes in zip(tables, picked, strict=True)
    ]
    stacks: list[list[Any]] = [[] for _ in tables]
    for number, size in enumerate(sizes):
        shares = None
        if weights[0] is not None:
            shares = np.concatenate([of_sizes[number].weights for of_sizes in picked])
        joined = join(stats, slice(number * n, (number + 1) * n))
        shape = len(tables) * n, size
        params = _fit_stack(joined, tables[0].values, plans[0], shape, shares)
        for place, mine in enumerate(stacks):
            some = slice(place * n, (place + 1) * n)
            mine.append(type(params)(*(array[some, ...] for array in params)))
    return [Ensemble(plans[0].covariance_type, tuple(mine)) for mine in stacks]


class Posteriors:
    """Computes the posteriors of rows of a table under the mixtures of an ensemble.

    What the mixtures contribute is computed once, whatever rows meet them. `runs` are the stacks
    that are taken at once, and `family.statistics` what is needed of some rows.
    """

    def __init__(self, ensemble: Ensemble, table: StandardisedRows) -> None:
        self.ensemble = ensemble
        self.family = COVARIANCE_TYPES[ensemble.covariance_type]
        self.runs = split_stacks(ensemble, table)
        template = self.family.statistics(block(table, 0, 1))
        self._coefficients = {}
        for run in self.runs:
            stacks = ensemble.stacks[run.start : run.stop]
            one = stacks[0] if len(stacks) == 1 else side_by_side.concatenate(stacks)
            self._coefficients[run] = self.family.coefficients(template, one)

    def compute(self, stats: Any, run: range, scales: Sequence[float] | None = None) -> Array:
        """Compute the posteriors of rows under one of the `runs`, from `statistics` of the rows.

        They are of shape (n_columns, n_samples), multiplied by `scales`, one for each stack of the
        ensemble, where these are given. Stacked, scaled by 1/√Z and transposed they are the feature
        map Φ. Without scales tiny ones are not rounded to zero, which makes no difference to sums.
        """
        joint = self.family.log_joint_of(stats, self._coefficients[run])
        if len(run) == 1:
            resp = em.posterior(joint, rounded=scales is not None)
            resp = namespace(resp).reshape(resp, (-1, resp.shape[-1]))
            if scales is not None and scales[run.start] != 1:
                resp *= scales[run.start]
            return resp
        shapes = [self.ensemble.stacks[i].log_weights.shape for i in run]
        resp = side_by_side.SideBySide(shapes, joint).apply(em.posterior, joint[0, ...])
        if scales is not None:
            each = np.repeat([scales[i] for i in run], [math.prod(shape) for shape in shapes])
            resp *= asarray_like(each[:, None], resp)
        return resp


def split_stacks(ensemble: Ensemble, table: StandardisedRows) -> list[range]:
    """Group the stacks that `Posteriors` takes at once: on a CPU one, on a GPU as many as fit.

    A GPU waits for the host while this launches the operations for a single stack.
    """
    widths = ensemble.widths
    if is_host(table.values) or COVARIANCE_TYPES[ensemble.covariance_type].MATRICES:
        return [range(i, i + 1) for i in range(len(widths))]
    most = _RUN_CELLS // max(table.n_samples, table.width)
    ranges: list[range] = []
    held = 0
    for i, width in enumerate(widths):
        if not ranges or held + width > most:
            ranges.append(range(i, i + 1))
            held = width
        else:
            ranges[-1] = range(ranges[-1].start, i + 1)
            held += width
    return ranges


def _train_stack(table: StandardisedRows, plan: Plan, stack: Stack, subsamples: Subsamples) -> Any:
    """Train mixtures of one size, each on its own rows."""
    home = table.values
    stats = COVARIANCE_TYPES[plan.covariance_type].statistics(
        table, asarray_like(subsamples.rows, home)
    )
    return _fit_stack(stats, home, plan, (stack.n_mixtures, stack.size), subsamples.weights)


def _fit_stack(
    stats: Any, home: Array, plan: Plan, shape: tuple[int, int], shares: np.ndarray | None
) -> Any:
    """Fit a stack of a shape (n_mixtures, n_components) to statistics of rows, which lie at home.

    The first rows of each mixture are its first centres; `shares` (n_mixtures, n_rows) are weights.
    """
    family = COVARIANCE_TYPES[plan.covariance_type]
    first = asarray_like(np.tile(np.arange(shape[1]), (shape[0], 1)), home)
    weights = None if shares is None else asarray_like(shares[:, None, :], home)
    params = start_from_rows(family, stats, first, plan.floor, weights)
    return em.iterate(
        family,
        stats,
        params,
        n_iter=plan.max_iter,
        floor=plan.floor,
        resp_of=partial(em.weighted_posterior, weights=weights),
    )


def _train_on_shared_rows(
    table: StandardisedRows, plan: Plan, stacks: Sequence[Stack], row_weights: np.ndarray | None
) -> list[tuple[Stack, Any]]:
    """Train mixtures of any size on all rows of a table, some with weight 0."""
    family, home = COVARIANCE_TYPES[plan.covariance_type], table.values
    xp = namespace(home)
    keys = [
        draw_keys(plan, table.n_samples, stack.size)[stack.first_start :][: stack.n_mixtures]
        for stack in stacks
    ]
    found = append_rows(asarray_like(np.concatenate(keys), home, dtype=xp.int32))
    order = xp.sort(found, axis=1)
    inside = found <= order[:, plan.n_rows - 1 : plan.n_rows]
    weights = xp.astype(inside, home.dtype if row_weights is None else xp.float64)
    if row_weights is not None:
        weights *= asarray_like(row_weights, weights, dtype=xp.float64)
        weights *= plan.n_rows / xp.sum(weights, axis=1, keepdims=True)
        weights = xp.astype(weights, home.dtype, copy=False)
    shapes = [(stack.n_mixtures, stack.size) for stack in stacks]
    layout = side_by_side.SideBySide(shapes, home)
    first = order[:, : max(stack.size for stack in stacks)] & (_ROWS - 1)
    chosen = take_along(xp.reshape(first, (-1,)), layout.slot)
    weights = take_along(weights, layout.owner)

    def assign(closeness: Array) -> Array:
        return (layout.apply(winner, closeness[0, ...]) * weights)[None, ...]

    def resp_of(log_joint: Array, rows: Array | None) -> Array:
        return (layout.apply(em.posterior, log_joint[0, ...]) * weights)[None, ...]

    stats = family.statistics(table)._replace(n_counted=plan.n_rows)
    params = start_from_rows(family, stats, chosen[None, :], plan.floor, assign=assign)
    n_iter, floor = plan.max_iter, plan.floor
    params = em.iterate(family, stats, params, n_iter=n_iter, floor=floor, resp_of=resp_of)
    return list(zip(stacks, side_by_side.split(params, shapes), strict=True))


def _pick_subsamples(
    draw: Callable[[int], np.ndarray], stack: Stack, weights: np.ndarray | None
) -> Subsamples:
    """Take the rows of the mixtures of a stack from those that `draw` draws for their size."""
    rows = draw(stack.size)[stack.first_start :][: stack.n_mixtures]
    if weights is None:
        return Subsamples(rows, None)
    mine = weights[rows]
    return Subsamples(rows, mine / mine.mean(axis=1, keepdims=True))


def _shares_rows(table: StandardisedRows, plan: Plan) -> bool:
    """Return whether mixtures are computed on all rows, with weights that pick their own."""
    family = COVARIANCE_TYPES[plan.covariance_type]
    if not family.STACKABLE or family.TIED:
        return False
    if not is_host(table.values):
        return plan.n_rows >= _MANY * table.n_samples
    n_rows = plan.n_rows + 1  # Half of an odd number of rows was rounded.
    enough = n_rows >= _MIN_SHARE_ON_HOST * table.n_samples
    return enough and table.width >= _WIDE and not is_remote()


def _pack_stack(
    table: StandardisedRows, plan: Plan, stack: Stack, subsamples: Subsamples
) -> tuple[Any, ...]:
    """Pack a stack for another process: with its own rows, not with all of them."""
    needed, index = np.unique(subsamples.rows, return_inverse=True)
    mine = take(table, asarray_like(needed, table.values))
    return mine, plan, stack, subsamples._replace(rows=index.reshape(subsamples.rows.shape))


def itemsize(table: StandardisedRows) -> int:
    """Return how many bytes a number of the table takes."""
    return 4 if "32" in str(table.values.dtype) else 8


def _join_stacks(
    plan: Plan, trained: list[tuple[Stack, Any]], before: Ensemble | None
) -> tuple[Any, ...]:
    """Join the mixtures of each size, in the order of their starts."""
    parts: dict[int, list[Any]] = {size: [] for size in plan.sizes}
    for size, stack in zip(plan.sizes, () if before is None else before.stacks, strict=False):
        parts[size].append(stack)
    for stack, params in sorted(trained, key=lambda each: each[0]):
        parts[stack.size].append(params)
    trained.clear()
    stacks = []
    for size in plan.sizes:
        first, *more = parts.pop(size)
        if more:
            arrays = zip(first, *more, strict=True)
            first = type(first)(*(namespace(each[0]).concat(each, axis=0) for each in arrays))
        stacks.append(first)
    return tuple(stacks)
