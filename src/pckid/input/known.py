"""Rows whose group is known before the fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy

_UNKNOWN = ("", "-1", "None", "nan", "NaN", "NaT", "<NA>")


class KnownMembers(NamedTuple):
    """Which rows have a known group."""

    rows: np.ndarray  # (n_known,), ascending
    groups: np.ndarray  # (n_known,), from 0
    names: list[str]  # of the groups


def read_known(known: Any, n_samples: int) -> KnownMembers:
    """Read the known groups of rows (n_samples,), names or numbers.

    Unknown are −1, None, NaN, and an empty text.
    """
    values = to_numpy(known) if hasattr(known, "__dlpack__") else known
    cells = np.asarray(values, dtype=object)
    if cells.ndim != 1 or len(cells) != n_samples:
        raise ValueError(
            f"known must hold one group for each of the {n_samples} rows, and None where it is not "
            f"known; got an array of shape {cells.shape}."
        )
    texts = np.array([_as_text(cell) for cell in cells.tolist()], dtype=object)
    rows = np.flatnonzero(~np.isin(texts, _UNKNOWN))
    if not len(rows):
        raise ValueError(
            "known holds no group of any row. Name the group of some rows, or omit it."
        )
    names, groups = np.unique(texts[rows].astype(str), return_inverse=True)
    return KnownMembers(rows, groups.reshape(-1), names.tolist())


def _as_text(cell: Any) -> str:
    """Write a group's name; whole numbers have no decimals, whatever type holds them."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()
