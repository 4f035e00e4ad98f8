"""Rows whose group is known before the fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, take_along, to_numpy
from pckid.input.sample import RowsInBlocks, RowsInMemory, Sample
from pckid.input.table import Table, standardise, take

_UNKNOWN = ("", "-1", "None", "nan", "NaN", "NaT", "<NA>")
# So many groups are too many if most have one row, and a table has not ten times as many rows.
_MANY = 20


class KnownMembers(NamedTuple):
    """Which rows have a known group."""

    rows: np.ndarray  # (n_known,), ascending
    groups: np.ndarray  # (n_known,), from 0
    names: list[str]  # of the groups

    def standardise(self, X: Array, sample: Sample) -> tuple[Table, np.ndarray]:
        """Standardise the known rows that have something observed; returned with their groups."""
        table = standardise(take_along(X, self.rows), sample.scaling, sample.dtype)
        seen = np.flatnonzero(to_numpy(table.observed).any(axis=1))
        lacking = np.setdiff1d(np.arange(len(self.names)), self.groups[seen])
        if len(lacking):
            raise ValueError(
                f"No known row of group {self.names[lacking[0]]!r} has a value in a column that "
                "is used. Name another row of this group."
            )
        return take(table, seen), self.groups[seen]


def read_known(
    known: Any, rows: RowsInMemory | RowsInBlocks, n_clusters: int | str
) -> KnownMembers:
    """Read the known groups of rows (n_samples,), names or numbers; no more than clusters.

    Unknown are −1, None, NaN, and an empty text.
    """
    if not isinstance(rows, RowsInMemory):
        raise ValueError(
            "known needs a table in memory, but X comes in blocks. Fit on rows in memory, the "
            "known ones among them, then predict the others."
        )
    cells = np.asarray(to_numpy(known) if hasattr(known, "__dlpack__") else known, dtype=object)
    n_samples = rows.X.shape[0]
    if cells.shape != (n_samples,):
        raise ValueError(
            f"known must hold one group for each of the {n_samples} rows, and None where it is not "
            f"known; got an array of shape {cells.shape}."
        )
    texts = np.array([_as_text(cell) for cell in cells.tolist()], dtype=object)
    named = np.flatnonzero(~np.isin(texts, _UNKNOWN))
    if not len(named):
        raise ValueError(
            "known holds no group of any row. Name the group of some rows, or omit it."
        )
    names, groups, counts = np.unique(
        texts[named].astype(str), return_inverse=True, return_counts=True
    )
    if len(names) > max(_MANY, n_samples / 10) and (counts == 1).mean() > 0.5:
        raise ValueError(
            f"known names {len(names)} groups in {n_samples} rows, most of them of a single row: "
            "it seems to name the rows. Give the groups of some rows."
        )
    if not isinstance(n_clusters, str) and len(names) > n_clusters:
        raise ValueError(
            f"known names {len(names)} groups, but n_clusters={n_clusters}. Ask for at least as "
            'many clusters, or n_clusters="auto".'
        )
    return KnownMembers(named, groups.reshape(-1), names.tolist())


def _as_text(cell: Any) -> str:
    """Write a group's name; whole numbers have no decimals, whatever type holds them."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()
