"""Rows sorted by their pattern of missingness, in batches whose matrices have one size.

A pattern is handled on its cheaper side: through the features that are missing or through those
that are observed, whichever are fewer. Patterns with as many features on that side, and about as
many rows, share a batch. All indices are worked out here, once, on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, is_host, namespace, to_numpy
from pckid.input.table import StandardisedRows, find_patterns

# Numbers held at once by the arithmetic of a batch: what the cache of a CPU core takes, and what
# keeps a GPU busy.
_CELLS_HOST = 1 << 18
_CELLS_DEVICE = 1 << 26
# Components that meet a batch in one go.
WIDTH = 64
# A pattern with more rows than this is divided; its matrices are then small work beside its rows.
_MAX_ROWS = 256


class PatternBatch(NamedTuple):
    """Some patterns p with s features on the cheaper side and up to r rows each.

    The rows are laid out as (r, p); where a pattern has fewer than r, its last row is repeated.
    """

    by_missing: bool  # whether the side is that of the missing features
    shape: tuple[int, int, int]  # s, r, p
    features: Array  # (r · p, 2 d), the values, zero where missing, then 1.0 where observed
    n_observed: Array  # (p,)
    rows: Array  # (n_rows,), positions in the table
    real: Array  # (n_rows,), where these lie among the r · p
    copies: Array  # (r · p,), which of the n_rows it is; n_rows for a repeated row
    side: Array  # (s · p,), the features of the side
    pairs: Array  # (s · s · p,), two features of the side as one position in d × d
    entries: Array  # (s · r · p,), a row and a feature of its side as one position in r p × d
    spots: Array  # (r · p, d), where each row's feature lies among the entries; s r p if nowhere
    targets: Array  # (k, d · d), positions in (s · s · p) that belong to two features; s s p: none


def sort_rows(table: StandardisedRows) -> tuple[tuple[PatternBatch, ...], Array]:
    """Divide a table into batches; return also where each row lies in these, laid end to end."""
    patterns, index = find_patterns(to_numpy(table.observed))
    batches = tuple(
        _batch(table, patterns[[pattern for pattern, _ in pieces]], [rows for _, rows in pieces])
        for pieces in _groups(patterns, index, is_host(table.values))
    )
    order = np.concatenate([to_numpy(batch.rows) for batch in batches])
    return batches, asarray_like(np.argsort(order), table.values)


Piece = tuple[int, np.ndarray]  # a pattern and rows that have it


def _groups(patterns: np.ndarray, index: np.ndarray, on_host: bool) -> Iterator[list[Piece]]:
    """Group pieces alike in side, number of features on it, and number of rows up to a factor 2."""
    n_features = patterns.shape[1]
    n_observed = patterns.sum(axis=1)
    groups: dict[tuple[bool, int, int], list[Piece]] = {}
    for pattern, rows in _pieces(index, len(patterns)):
        seen = int(n_observed[pattern])
        by_missing = n_features - seen <= seen
        size = n_features - seen if by_missing else seen
        key = (by_missing, size, (len(rows) - 1).bit_length())
        groups.setdefault(key, []).append((pattern, rows))
    cells = (_CELLS_HOST if on_host else _CELLS_DEVICE) // WIDTH
    for (_, size, level), pieces in sorted(groups.items()):
        longest = 2**level
        each = max(size * (size + longest), longest * n_features)
        at_once = max(1, cells // each)
        yield from (pieces[i : i + at_once] for i in range(0, len(pieces), at_once))


def _pieces(index: np.ndarray, n_patterns: int) -> Iterator[Piece]:
    """Yield each pattern with its rows, divided where there are many."""
    order = np.argsort(index, kind="stable")
    stops = np.cumsum(np.bincount(index, minlength=n_patterns))
    for pattern, rows in enumerate(np.split(order, stops[:-1])):
        for first in range(0, len(rows), _MAX_ROWS):
            yield pattern, rows[first : first + _MAX_ROWS]


def _batch(
    table: StandardisedRows, patterns: np.ndarray, members: list[np.ndarray]
) -> PatternBatch:
    """Arrange the rows of patterns (p, d) of one size and work out the indices."""
    n_patterns, d = patterns.shape
    r = max(len(rows) for rows in members)
    by_missing = bool(patterns[0].sum() * 2 >= d)
    on_side = ~patterns if by_missing else patterns
    s = int(on_side[0].sum())
    side = np.nonzero(on_side)[1].reshape(n_patterns, s).T
    padded = np.stack([np.append(rows, np.full(r - len(rows), rows[-1])) for rows in members], 1)
    fresh = np.stack([np.arange(r) < len(rows) for rows in members], axis=1).reshape(-1)
    entries = (np.arange(r * n_patterns).reshape(r, n_patterns) * d + side[:, None, :]).reshape(-1)
    spots = np.full(r * n_patterns * d, len(entries))
    spots[entries] = np.arange(len(entries))
    pairs = (side[:, None, :] * d + side[None, :, :]).reshape(-1)
    copies = np.where(fresh, np.cumsum(fresh) - 1, fresh.sum())
    xp = namespace(table.values)

    def put(numbers: np.ndarray) -> Array:
        return asarray_like(numbers, table.values)

    flat = put(padded.reshape(-1))
    values, observed = (xp.take(part, flat, axis=0) for part in (table.values, table.observed))
    return PatternBatch(
        by_missing=by_missing,
        shape=(s, r, n_patterns),
        features=xp.concat([values, xp.astype(observed, values.dtype)], axis=1),
        n_observed=asarray_like(patterns.sum(axis=1).astype(np.float64), table.values),
        rows=put(padded.reshape(-1)[fresh]),
        real=put(np.flatnonzero(fresh)),
        copies=put(copies),
        side=put(side.reshape(-1)),
        pairs=put(pairs),
        entries=put(entries),
        spots=put(spots.reshape(-1, d)),
        targets=put(_targets(pairs, d * d).T),
    )


def _targets(pairs: np.ndarray, n_targets: int) -> np.ndarray:
    """List for each target the positions in `pairs` that hold it, padded to one length."""
    counts = np.bincount(pairs, minlength=n_targets)
    order = np.argsort(pairs, kind="stable")
    place = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((n_targets, max(1, counts.max(initial=0))), len(pairs))
    table[pairs[order], place] = order
    return table
