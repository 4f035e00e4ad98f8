"""What is known of rows before a fit: the labels of some, and which belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, take_along, to_numpy
from pckid._utils.text import brief, counted, list_first
from pckid.exceptions import OptionError
from pckid.input.cells import as_text, is_missing
from pckid.input.column_groups import plain_table
from pckid.input.columns import as_array
from pckid.input.table import Scaling, StandardisedRows, standardise, take

_UNKNOWN = ("", "-1", "None", "nan", "NaN", "NaT", "<NA>")
# So many groups are too many if most have one row, and a table has not ten times as many rows.
_MANY = 20
# Of more known rows some are kept: a few thousand fix the centre of a cluster.
MAX_KNOWN = 10_000


class KnownMembers(NamedTuple):
    """Rows whose group is known: at most 10,000 of them, and how many there are."""

    X: Array  # (n_kept, n_features), as given
    rows: np.ndarray  # (n_kept,), their places in the whole table, ascending
    keys: np.ndarray  # (n_kept,), the smallest of each group, see `sample.keys`
    known: np.ndarray  # (n_kept,), the names of their groups
    counts: Counter[str]  # of all known rows, by group

    @property
    def names(self) -> list[str]:
        """The names of the groups, sorted."""
        return sorted(self.counts)

    @property
    def labels(self) -> np.ndarray:
        """The number of each row's label among `names` (n_kept,)."""
        return np.searchsorted(self.names, self.known.astype(str))

    def standardise(self, scaling: Scaling, dtype: str) -> tuple[StandardisedRows, KnownMembers]:
        """Standardise the rows that have something observed; returned with these."""
        table = standardise(self.X, scaling, dtype)
        seen = np.flatnonzero(to_numpy(table.observed).any(axis=1))
        lacking = sorted(self.counts.keys() - set(self.known[seen]))
        if lacking:
            raise ValueError(
                f"No known row of group {lacking[0]!r} has a value in a column that is used. Name "
                "another row of this group."
            )
        return take(table, seen), self.take(seen)

    def take(self, kept: np.ndarray) -> KnownMembers:
        """Keep some of the rows."""
        rows, keys, known = self.rows[kept], self.keys[kept], self.known[kept]
        return KnownMembers(take_along(self.X, kept), rows, keys, known, self.counts)


def in_order_of(X: Any, series: Any, name: str = "known") -> Any:
    """Put a Series of pandas, of all rows or some, in the order of `X` by the labels of rows.

    It goes by position if its labels are those of `X` in the same order, or only number the rows
    and `X` has labels of its own. What fits neither way raises.
    """
    X = plain_table(X)
    if not (hasattr(X, "reindex") and hasattr(series, "reindex") and hasattr(series, "index")):
        return series
    if series.index.equals(X.index):
        return series
    known, n_rows, twice = series.index.isin(X.index), len(X), series.index.duplicated()
    is_numbered = np.array_equal(series.index, np.arange(len(series)))
    if known.all() and not twice.any() and (len(series) == n_rows or not is_numbered):
        return series.reindex(X.index)
    # Labels that only number the rows are none; nor do labels that repeat tell rows apart.
    if is_numbered and (len(series) != n_rows or not known.any() or not X.index.is_unique):
        return series
    if known.all():
        told = f"labels that repeat, first {brief(repr(series.index[twice].tolist()[0]))}"
        remedy = "Give each row a label of its own"
    else:
        strange = counted(int((~known).sum()), "label")
        first = brief(repr(series.index[~known].tolist()[0]))
        told = f"{strange} that X does not have, first {first}"
        remedy = f"Give {name}.reindex(X.index)"
    raise ValueError(
        f"{name} has {told}. {remedy}, or {name}.to_numpy() if it is in the order of the rows."
    )


def read_known(known: Any, n_samples: int) -> np.ndarray:
    """Read the groups of rows (n_samples,), names or numbers, as texts; "" where unknown.

    Unknown are −1, None, NaN, and an empty text.
    """
    cells = as_array(known)
    if cells.shape != (n_samples,):
        raise ValueError(
            f"known must hold one group for each of the {n_samples} rows, and None where it is not "
            f"known; got an array of shape {cells.shape}."
        )
    cells = np.char.decode(cells, "latin-1") if cells.dtype.kind == "S" else cells
    texts = np.array([as_text(cell).strip() for cell in cells.tolist()], dtype=object)
    texts[np.isin(texts, _UNKNOWN)] = ""
    return texts


def read_groups(groups: Any, n_samples: int) -> np.ndarray:
    """Number the groups of rows (n_samples,), names or numbers; a row without one is its own."""
    cells = as_array(groups)
    if cells.shape != (n_samples,):
        raise ValueError(
            f"groups must hold one name or number for each of the {n_samples} rows; got an array "
            f"of shape {cells.shape}."
        )
    own = [
        ("", row) if is_missing(cell) else (as_text(cell), -1)
        for row, cell in enumerate(cells.tolist())
    ]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(own))}
    return np.array([numbers[name] for name in own])


def find_known(X: Array, known: np.ndarray, keys: np.ndarray, start: int = 0) -> KnownMembers:
    """Find the rows of a table, or of a part of it from `start` on, whose group is known.

    `known` (n_samples,) is as from `read_known`, `keys` (n_samples,) as from `sample.keys`.
    """
    rows = np.flatnonzero(known != "")
    counts = Counter(known[rows].tolist())
    rows = rows[_choose(known[rows], keys[rows], counts)]
    return KnownMembers(take_along(X, rows), start + rows, keys[rows], known[rows], counts)


def join_known(parts: Iterable[KnownMembers]) -> KnownMembers:
    """Put the known rows of parts that follow each other together."""
    *columns, counts = zip(*parts, strict=True)
    X, rows, keys, known = map(np.concatenate, columns)
    found = KnownMembers(X, rows, keys, known, sum(counts, Counter()))
    return found.take(_choose(known, keys, found.counts))


def _choose(known: np.ndarray, keys: np.ndarray, counts: Counter[str]) -> np.ndarray:
    """Choose the known rows to keep, ascending: all, or as many of each group, by smallest keys.

    A part of a table has no more groups than the whole, so that a row which is dropped from the
    part would be dropped from the whole, too.
    """
    if len(counts) > MAX_KNOWN:
        raise ValueError(
            f"known names more than {MAX_KNOWN:,} groups: it seems to name the rows. Give the "
            "groups of some rows."
        )
    if counts.total() <= MAX_KNOWN:
        return np.arange(len(known))
    groups = np.unique(known.astype(str), return_inverse=True)[1].reshape(-1)
    order = np.lexsort((keys, groups))
    rank = np.arange(len(order)) - np.searchsorted(groups[order], groups[order])
    return np.sort(order[rank < MAX_KNOWN // len(counts)])


def check_known(members: KnownMembers, n_samples: int, n_clusters: int | str) -> None:
    """Raise if no group is known, or more than there can be clusters."""
    counts = members.counts
    if not counts:
        raise ValueError(
            "known holds no group of any row. Name the group of some rows, or omit it."
        )
    alone = sum(count == 1 for count in counts.values())
    if len(counts) > max(_MANY, n_samples / 10) and alone > len(counts) / 2:
        raise ValueError(
            f"known names {len(counts)} groups in {n_samples} rows, most of them of a single row: "
            "it seems to name the rows. Give the groups of some rows."
        )
    if not isinstance(n_clusters, str) and len(counts) > n_clusters:
        raise OptionError(
            f"known names {len(counts)} groups ({list_first(members.names)}), which {n_clusters} "
            "clusters cannot hold. Ask for at least as many clusters, or let the number be chosen.",
            "known",
            "n_clusters",
        )
