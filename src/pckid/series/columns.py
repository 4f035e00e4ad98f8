"""Columns of frames of pandas, polars or Arrow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief, counted, list_first
from pckid.input.cells import is_missing
from pckid.input.validation import block_values, refuse_twins
from pckid.series.times import LineError

# A column that changes within at most this share of cases is static, but for slips.
_SLIPS = 0.1


class StaticColumn(NamedTuple):
    """A column that is the same in all lines of a case."""

    values: Any  # (n_cases,)
    n_changed: int = 0  # cases in which it is not; they have their commonest value

    def describe(self, name: str, then: str = "the commonest value is taken.") -> list[str]:
        """Say within how many cases it changes, if in any, and what follows."""
        within = f"{self.n_changed:,} of {counted(len(self.values), 'case')}"
        return [f"{name} changes within {within}: {then}"] * bool(self.n_changed)


def column_names_of(frame: Any, needed: Sequence[str] = ()) -> list[str]:
    """List the names of a frame's columns; raises if one that is needed is absent."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    if names is None:
        raise TypeError(
            f"Expected a dataframe of pandas, polars or Arrow, got {type(frame).__name__}."
        )
    refuse_twins(frame, "The table")
    absent = [repr(name) for name in needed if name not in set(names)]
    if absent:
        raise ValueError(
            f"The table has no column {', '.join(absent)}. Its columns are: "
            f"{list_first([brief(str(name)) for name in names], 12)}."
        )
    return list(names)


def read_floats(frame: Any, names: list[str]) -> np.ndarray:
    """Read columns as floats (n_rows, n_names), NaN where missing; raises where one holds text."""
    return block_values(frame.select(names) if hasattr(frame, "select") else frame[names])


def number_cells(frame: Any, name: str) -> tuple[np.ndarray, list[Any]]:
    """Number the different cells of a column (n_rows,) as they come, and list them; missing: -1."""
    values = np.asarray(frame[name])
    if values.dtype.kind in "iu":
        distinct, first, codes = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return np.argsort(order)[codes], distinct[order].tolist()
    column = frame[name]
    cells = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    kept = [cell for cell in dict.fromkeys(cells) if not is_missing(cell)]
    number = {cell: code for code, cell in enumerate(kept)}
    return np.fromiter((number.get(cell, -1) for cell in cells), np.int64, len(cells)), kept


def read_static(frame: Any, name: str, rows: np.ndarray, *, given: bool) -> StaticColumn | None:
    """Read a column that is the same in all lines of a case, by the case of each line (n_lines,).

    It may change within a tenth of the cases, and within one if it was `given` as static. One that
    changes within more raises if it was given; otherwise None is returned for it, and for what no
    case has twice.
    """
    texts: list[Any] = []
    try:
        values = read_floats(frame, [name])[:, 0]
    except ValueError:
        codes, texts = number_cells(frame, name)
        values = np.where(codes < 0, np.nan, codes)
    seen = np.flatnonzero(~np.isnan(values))
    first = np.full(rows.max(initial=-1) + 1, np.nan)
    first[rows[seen[::-1]]] = values[seen[::-1]]
    differs = seen[values[seen] != first[rows[seen]]]
    changed = np.unique(rows[differs])
    n_repeated = np.count_nonzero(np.bincount(rows[seen]) > 1)
    if len(changed) > max(_SLIPS * n_repeated, 1 if given else 0):
        if not given:
            return None
        raise LineError(
            f"Column {name!r} is to be static, but changes within {len(changed):,} of "
            f"{counted(len(first), 'case')}, first in ", int(differs[0]),
            ". Take it out of the static columns, or give each case one value.",
        )  # fmt: skip
    if not given and not n_repeated:
        return None
    counts: dict[int, Counter[float]] = defaultdict(Counter)
    for line in seen[np.isin(rows[seen], changed)]:
        counts[rows[line]][values[line]] += 1
    for case, count in counts.items():
        first[case] = count.most_common(1)[0][0]
    kept = [None if np.isnan(c) else str(texts[int(c)]) for c in first] if texts else first
    return StaticColumn(kept, len(changed))
