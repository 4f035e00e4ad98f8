"""What a fit learns from: rows, how much each of them counts, and what is known of the others.

Every row has a random key that depends on the seed and the row's number alone, and the rows of
smallest keys are learnt from. So they can be drawn from a table in memory, in one pass over a file,
or block by block on many machines. The other rows are then placed as new rows are.
"""

from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, namespace, place, take_along, to_numpy
from pckid._utils.seeds import Stream, sequence
from pckid._utils.text import counted
from pckid.columns.log_number import find_shifts
from pckid.columns.one_hot import join_one_hot
from pckid.factors.fit import Asked
from pckid.input.arrangement import Arrangement
from pckid.input.column_groups import ColumnRoles
from pckid.input.known import KnownMembers, find_known
from pckid.input.table import (
    Scaling,
    StandardisedRows,
    fit_scaling,
    place_scaling,
    standardise,
    take,
    usable_rows,
    with_block_scales,
    with_patterns,
)
from pckid.input.validation import check_columns_vary
from pckid.input.weights import canonical_order
from pckid.input.wide import find_factors, score_own_rows

# Mixtures train on some hundred rows each, the eigenvectors come from 3,000: plenty for both.
_POOL_ROWS = 100_000
# Of wide tables fewer rows are learnt from, so that their memory stays bounded: 2^24 numbers.
_POOL_NUMBERS = 1 << 24
# Tables of up to this many rows are searched for rows that are the same. Beyond, the eigenvectors
# come from random rows anyway, so that repeated rows and weights could only agree on average.
MAX_COMPARED = 3_000
# Tables with at most this many entries are computed in float64, which takes half as long again.
_SMALL_TABLE = 4_000
# Beside rows of mean weight 1, less than this is nothing in float32.
_MIN_WEIGHT = 1e-7


class RowsInMemory(NamedTuple):
    """A table in memory that was checked."""

    X: Array  # (n_samples, n_features), float64, categories as numbers from 0
    weights: np.ndarray | None  # (n_samples,), as given
    categorical: np.ndarray  # (n_features,), bool
    known: np.ndarray | None = None  # (n_samples,), names of groups, "" where not known
    arrangement: Arrangement | None = None  # of the rows


class Sampling(NamedTuple):
    """How the rows that a fit learns from are drawn and measured."""

    size: int  # how many rows a larger table is learnt from
    n_clusters: int  # how many rows there must be at least
    least_distinct: int  # equal rows are merged if at least so many are left
    entropy: int  # the seed that `random_state` gave
    dtype: str  # "auto": float64 for small tables, float32 for large ones
    roles: ColumnRoles  # what columns share, and how they count
    device: str | None = None  # where blocks are computed
    skipped: tuple[int, ...] = ()  # columns that are not used
    factors: Asked | None = None  # by which rows of a wide table are scored
    jobs: int = 1


class _Measured(NamedTuple):
    """The rows to learn from, and what the whole table says of its columns."""

    X: Array  # (n_chosen, n_features)
    weights: np.ndarray | None  # (n_chosen,)
    scaling: Scaling
    n_usable: int
    n_rows: int
    n_empty: int
    chosen: np.ndarray | None = None  # (n_chosen,), which rows of a table in memory they are
    known: np.ndarray | None = None  # (n_chosen,), names of groups, "" where not known
    members: KnownMembers | None = None  # the rows whose group is known
    arrangement: Arrangement | None = None  # of the rows of `X`


class Sample(NamedTuple):
    """The rows that a fit learns from, and what it must know of the others."""

    table: StandardisedRows  # standardised, each row with an observed value
    scaling: Scaling  # from all rows
    dtype: str  # of the arithmetic
    n_usable: int  # how many rows it stands for
    entropy: int  # the seed that `random_state` gave
    weights: np.ndarray | None = None  # (n_samples,), of mean 1; None: all alike
    X: Any = None  # (n_chosen, n_features), as given, before equal rows were merged
    n_rows: int = 0  # of the whole table, that count
    n_empty: int = 0  # those of them with nothing observed in a column that is used
    places: Any = None  # (n_chosen,), which row of `table` each row of `X` is
    is_whole: bool = True  # False where `X` is a part of a table in memory
    # (n_samples,), a row of the whole table that each row of `table` is; None for rows in blocks
    origin: np.ndarray | None = None
    known: np.ndarray | None = None  # (n_chosen,), known groups of the rows of `X`, "" if unknown
    members: KnownMembers | None = None  # of all rows those whose group is known
    given_weights: np.ndarray | None = None  # (n_chosen,), of the rows of `X`; None: all alike
    arrangement: Arrangement | None = None  # of the rows of `X`

    @property
    def n_distinct(self) -> int:
        """How many different rows there are; in larger tables, among 3,000 of them."""
        n_samples = self.table.n_samples
        if n_samples <= MAX_COMPARED:
            return self.n_usable
        rows = np.linspace(0, n_samples - 1, MAX_COMPARED).astype(np.int64)
        some = take(self.table, asarray_like(rows, self.table.values))
        return len(merge_duplicates(some, None, least=1).rows)

    def draw(self, size: int, rng: np.random.Generator) -> tuple[np.ndarray, Array | None]:
        """Draw rows at random if there are more than `size`.

        Rows of unequal weights are drawn by priority sampling (Duffield, Lund and Thorup 2007):
        heavy ones surely and with their own weight, the others all with the same one, so that
        sums over the rows drawn are right on average. Returns the rows (n_drawn,), ascending, and
        how many rows each counts for.
        """
        n_samples, weights = self.table.n_samples, self.weights
        rows = np.arange(n_samples)
        if size < n_samples and weights is None:
            rows = np.sort(rng.choice(n_samples, size=size, replace=False))
        elif size < n_samples and weights is not None:
            priorities = weights / (1 - rng.random(n_samples))
            order = np.argsort(-priorities, kind="stable")
            rows = np.sort(order[:size])
            weights = np.maximum(weights[rows], priorities[order[size]])
        return rows, None if weights is None else asarray_like(weights, self.table.values)


def pool_size(n_features: int, *needed: int) -> int:
    """Decide how many rows are learnt from, at least as many as are `needed`; it may be all."""
    return max(min(_POOL_ROWS, _POOL_NUMBERS // max(n_features, 1)), *needed)


def keys(entropy: int, start: int, stop: int) -> np.ndarray:
    """Draw the keys of rows `start` to `stop` of a table, of shape (stop - start,)."""
    bits = np.random.PCG64(sequence(entropy, Stream.LEARNING_ROWS))
    # One number of the stream belongs to each row, wherever the reading begins.
    bits.advance(start)
    return np.random.Generator(bits).random(stop - start)


def smallest(values: np.ndarray, size: int) -> np.ndarray:
    """Find the positions of the `size` smallest values, in ascending order of position."""
    if len(values) <= size:
        return np.arange(len(values))
    return np.sort(np.argpartition(values, size - 1)[:size])


def draw_sample(rows: RowsInMemory | Any, sampling: Sampling) -> Sample:
    """Draw the rows that a fit learns from, in memory or in blocks, as `blocks.BlockedRows`.

    In small tables equal rows are merged, and the columns measured anew by the distinct rows: so
    weights and repeated rows give the same to the last digit, and no tie is decided by rounding in
    two ways.
    """
    in_memory = isinstance(rows, RowsInMemory)
    found = _from_memory(rows, sampling) if in_memory else _from_blocks(rows, sampling)
    X, weights, scaling, n_usable, n_rows, n_empty, *_ = found
    least = max(sampling.n_clusters, 2)
    if n_usable < least:
        few, fewer = n_usable < 2, " or ask for fewer clusters"
        raise ValueError(
            f"Found {counted(n_usable, 'row')} with at least one observed value, but "
            f"{'clustering needs' if few else f'{least:,} clusters need'} at least "
            f"{2 if few else least:,}. Give more rows{'' if few else fewer}."
        )
    places = np.arange(X.shape[0])
    if X.shape[0] == n_usable <= MAX_COMPARED:
        table = standardise(X, scaling, "float64", patterns=False)
        distinct = merge_duplicates(table, weights, sampling.least_distinct)
        if table.n_features == 0 and _only_names_rows(to_numpy(table.codes)[distinct.rows]):
            # Each column would then be dropped as a name of the rows, and none would be left.
            distinct = merge_duplicates(table, weights, n_usable + 1)
        del table  # before its place is taken by another: wide tables are large
        X, weights, n_usable = take_along(X, distinct.rows), distinct.weights, len(distinct.rows)
        scaling, places = _measure(X, weights, rows.categorical, sampling), distinct.places
    scaling, counts = with_one_hot(scaling, X), sampling.roles.weigh(scaling.used)
    if counts is not None:
        model = scaling.column_model._replace(weights=asarray_like(counts, scaling.center))
        scaling = scaling._replace(column_model=model)
    dtype = sampling.dtype
    if dtype == "auto":
        dtype = "float64" if n_usable * X.shape[1] <= _SMALL_TABLE else "float32"
    table = standardise(X, scaling, dtype, patterns=False, jobs=sampling.jobs)
    each = relative(weights)
    factors = find_factors(table, each, sampling.factors, sampling.entropy)
    if factors is not None:
        scaling, table = scaling._replace(factors=factors), score_own_rows(table, factors, each)
    table = with_patterns(table)
    blocks = sampling.roles.indicate(scaling.kept)
    if blocks is not None:
        table = table._replace(column_blocks=asarray_like(blocks, table.values))
    is_whole = not in_memory or found.X.shape[0] == rows.X.shape[0]
    origin = None if found.chosen is None else _origin_of(places, found.chosen, table.n_samples)
    return Sample(
        table, scaling, dtype, n_usable, sampling.entropy, relative(weights), found.X, n_rows,
        n_empty, places, is_whole, origin, found.known, found.members, found.weights,
        found.arrangement,
    )  # fmt: skip


def with_one_hot(scaling: Scaling, X: Array) -> Scaling:
    """Find columns of two values that hold one category together, in rows to learn from.

    `X` (n_samples, n_features_in) has NaN where a value is missing.
    """
    model = scaling.column_model
    if model.two_value_share is None:
        return scaling
    two = np.flatnonzero(to_numpy(model.two_value_share) > 0)
    rows = to_numpy(take_along(X, scaling.kept[two], axis=1))
    return scaling._replace(column_model=join_one_hot(model, two, rows))


def _origin_of(places: np.ndarray, chosen: np.ndarray, n_samples: int) -> np.ndarray:
    """Name one of the `chosen` rows (n_chosen,) for each row of a table (n_samples,).

    `places` (n_chosen,) are theirs; rows that come several times follow the first of them.
    """
    origin = np.full(n_samples, -1)
    origin[places] = chosen
    known = np.maximum.accumulate(np.where(origin >= 0, np.arange(n_samples), 0))
    return origin[known]


def _from_memory(rows: RowsInMemory, sampling: Sampling) -> _Measured:
    """Measure the rows of a table in memory that count, and choose those to learn from."""
    X, weights, xp = rows.X, rows.weights, namespace(rows.X)
    if sampling.skipped:
        skipped = np.isin(np.arange(X.shape[1]), sampling.skipped)
        X = xp.where(asarray_like(skipped, X, dtype=xp.bool)[None, :], xp.nan, X)
    counted = np.arange(X.shape[0])
    if weights is not None:
        counted = np.flatnonzero(weights)
        X, weights = take_along(X, counted), weights[counted]
    scaling = _measure(X, weights, rows.categorical, sampling)
    usable = np.flatnonzero(to_numpy(usable_rows(X, scaling)))
    n_samples = X.shape[0]
    chosen = usable
    if n_samples > sampling.size:
        # A row's place among the chosen ones can be told from the row alone, without knowing which
        # columns vary: that is why unusable rows may take a place and leave it empty.
        filled = np.flatnonzero(to_numpy(xp.any(~xp.isnan(X), axis=1)))
        first = smallest(keys(sampling.entropy, 0, n_samples)[filled], sampling.size)
        chosen = filled[first]
        chosen = chosen[np.isin(chosen, usable, assume_unique=True, kind="table")]
    if len(chosen) < n_samples:
        X, weights = take_along(X, chosen), None if weights is None else weights[chosen]
    n_usable, chosen = len(usable), counted[chosen]
    known, members = rows.known, None
    if known is not None:
        members = find_known(rows.X, known, keys(sampling.entropy, 0, len(known)))
        known = known[chosen]
    n_empty = n_samples - n_usable
    placed = None if rows.arrangement is None else rows.arrangement.take(chosen)
    found = X, weights, scaling, n_usable, n_samples, n_empty, chosen, known, members
    return _Measured(*found, placed)


def _from_blocks(rows: Any, sampling: Sampling) -> _Measured:
    """Pass over a table that comes in blocks, and keep the rows to learn from."""
    found = rows.survey(sampling.entropy, sampling.size, tuple(sampling.roles.logs))
    if sampling.skipped:
        found = found.without(list(sampling.skipped))
    shifts = find_shifts(found.moments.low, sampling.roles.logs) if found.logs else None
    scaling = found.scaling(shifts, sampling.roles.kinds)
    if sampling.roles.scales is not None:
        scaling = with_block_scales(scaling, sampling.roles.scales)
    some = bool(rows.categorical.any())
    check_columns_vary(len(scaling.used), (found.n_rows, found.rows.shape[1]), categories=some)
    usable = np.flatnonzero((~np.isnan(found.rows[:, scaling.used])).any(axis=1))
    n_usable = round(found.n_filled * len(usable) / max(len(found.rows), 1))
    kept = found.rows if len(usable) == len(found.rows) else found.rows[usable]
    X = place(kept, sampling.device)
    n_rows, known, members = found.n_rows, found.known, found.members
    scaling = place_scaling(scaling, X)
    if members is not None:
        known, members = known[usable], members._replace(X=place(members.X, sampling.device))
    n_empty = n_rows - found.n_filled
    return _Measured(X, None, scaling, n_usable, n_rows, n_empty, None, known, members)


def _measure(
    X: Array, weights: np.ndarray | None, categorical: np.ndarray, sampling: Sampling
) -> Scaling:
    """Measure the columns of rows that count alike or by weights; raise if none varies."""
    shares = relative(weights)
    scaling = fit_scaling(
        X,
        categorical,
        column_blocks=sampling.roles.scales,
        informative=sampling.roles.informative,
        logs=sampling.roles.logs,
        asked=sampling.roles.kinds,
        two_values=True,
        weights=None if shares is None else asarray_like(shares, X),
        jobs=sampling.jobs,
    )
    check_columns_vary(len(scaling.used), X.shape, categories=bool(categorical.any()), X=X)
    return scaling


class UniqueRows(NamedTuple):
    """Rows that all differ, or come as often as they count, in an order that their values give."""

    rows: np.ndarray  # (n_rows,), in the table
    weights: np.ndarray  # (n_rows,), how much each counts
    places: np.ndarray  # (n_samples,), which of `rows` each row of the table is the same as


def merge_duplicates(table: StandardisedRows, weights: np.ndarray | None, least: int) -> UniqueRows:
    """Merge rows that are the same, and sort them by their values.

    So a row that comes three times and one of weight 3 are the same to all that follows, in
    whatever order the rows came. Rows are merged only if at least `least` are left. Else those of
    whole weights come as often as these say, if they are no more than tables that are searched.
    """
    each = np.ones(table.n_samples) if weights is None else weights
    order = canonical_order(table, each)
    each = each[order]
    some, xp = take(table, asarray_like(order, table.values)), namespace(table.values)
    values, observed, codes = (
        xp.any(part[1:, :] != part[:-1, :], axis=1)
        for part in (some.values, some.observed, some.codes)
    )
    # Which rows differ from the row before.
    differs = np.concatenate([[True], to_numpy(values | observed | codes)])
    first, places = np.flatnonzero(differs), np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    if least <= len(first) < table.n_samples:
        places[order] = np.cumsum(differs) - 1
        order, each = order[first], np.add.reduceat(each, first)
    elif len(first) < least and each.sum() <= MAX_COMPARED and np.all(each == np.round(each)):
        counts = each.astype(np.int64)
        places[order] = np.cumsum(counts) - counts
        order = np.repeat(order, counts)
        each = np.ones(len(order))
    return UniqueRows(order, each, places)


def relative(weights: np.ndarray | None) -> np.ndarray | None:
    """Divide weights (n,) by their mean, since they only say how rows compare; None: all alike."""
    if weights is None or weights.min() == weights.max():
        return None
    shares = weights / weights.max()
    return np.maximum(shares / shares.mean(), _MIN_WEIGHT)


def _only_names_rows(codes: np.ndarray) -> bool:
    """Return whether no two rows agree in a category (n, c)."""
    seen = (column[column >= 0] for column in codes.T)
    return all(len(np.unique(cells)) == len(cells) for cells in seen)
