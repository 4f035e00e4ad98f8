"""Columns of frames of any library."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from pckid._utils.text import brief, counted, list_first
from pckid.input.cells import as_text, is_missing
from pckid.input.columns import DATES, as_frame, has_category_type
from pckid.input.validation import block_values
from pckid.series.times import LineError

# A column that changes within at most this share of cases is static, but for slips.
_SLIPS = 0.1


class StaticColumn(NamedTuple):
    """A column that is the same in all lines of a case."""

    values: Any  # (n_cases,)
    n_changed: int = 0  # cases in which it is not; they have their commonest value

    def describe(self, name: str, then: str = "the commonest value is taken.") -> list[str]:
        """Describe within how many cases it changes, if in any, and what follows."""
        within = f"{self.n_changed:,} of {counted(len(self.values), 'case')}"
        return [f"{name} changes within {within}: {then}"] * bool(self.n_changed)


def as_names(labels: Iterable[Any] | None, parameter: str) -> list[str] | None:
    """Write the labels of columns as texts; None stays None."""
    if isinstance(labels, str):
        raise TypeError(f"{parameter} is {labels!r}. Give a list of names.")
    return None if labels is None else list(map(str, labels))


def as_lines(frame: Any, needed: Sequence[str] = ()) -> nw.DataFrame[Any]:
    """Wrap a frame; raises if it is none, or if a column that is needed is absent."""
    lines = as_frame(frame)
    if lines is not None and not all(isinstance(name, str) for name in lines.columns):
        lines = as_frame(frame.set_axis(list(map(str, lines.columns)), axis=1))
    if lines is None:
        library = type(frame).__module__.partition(".")[0]
        raise TypeError(
            "Expected a dataframe of pandas, polars or Arrow, in memory, got "
            f"{library}.{type(frame).__name__}."
        )
    absent = [name for name in needed if name not in lines.columns]
    if absent:
        texts = [name for name in lines.columns if lines[name].dtype == nw.String]
        holder = next((name for name in texts if absent[0] in lines[name]), None)
        held = (
            f"{absent[0]!r} is a value in column {holder!r}: give variable={holder!r}, and value. "
        )
        raise ValueError(
            f"The table has no column {' or '.join(map(repr, absent))}. {held * bool(holder)}Its "
            f"columns are: {list_first([brief(name) for name in lines.columns], 12)}."
        )
    return lines


def read_floats(lines: nw.DataFrame[Any], name: str) -> np.ndarray:
    """Read a column as floats (n_lines,), NaN where missing; raises where it holds text."""
    return block_values(lines.select(name))[:, 0]


def number_cells(lines: nw.DataFrame[Any], name: str) -> tuple[np.ndarray, list[Any]]:
    """Number the cells of a column (n_lines,) as different ones come; list these.

    Those that are missing or blank are -1.
    """
    values = lines[name].to_numpy()
    if values.dtype.kind in "iu":
        distinct, first, codes = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return np.argsort(order)[codes], distinct[order].tolist()
    cells = lines[name].to_list()
    try:
        hash(tuple(cells))
    except TypeError:  # lists and the like
        cells = list(map(repr, cells))
    # pandas may have read an id as 1 in some lines, and as "1" in others.
    kept: dict[str, tuple[int, Any]] = {}
    number: dict[Any, int] = {}
    for cell in dict.fromkeys(cells):
        if not is_missing(cell) and not (isinstance(cell, str) and not cell.strip()):
            number[cell] = kept.setdefault(as_text(cell), (len(kept), cell))[0]
    codes = np.fromiter((number.get(cell, -1) for cell in cells), np.int64, len(cells))
    return codes, [cell for _, cell in kept.values()]


def read_static(
    lines: nw.DataFrame[Any], name: str, rows: np.ndarray, *, given: bool
) -> StaticColumn | None:
    """Read a column that is the same in all lines of a case, by the case of each line (n_lines,).

    It may change within a tenth of the cases, and within one if it was `given` as static. One that
    changes within more raises if it was given; otherwise None is returned for it, and for what no
    case has twice.
    """
    texts: list[Any] = []
    try:
        values = read_floats(lines, name)
        # Codes such as "1" and "2B" stay texts in new lines with numbers alone.
        is_text = lines[name].dtype == nw.String or has_category_type(lines[name])
    except (TypeError, ValueError):
        is_text = True
    if is_text:
        codes, texts = number_cells(lines, name)
        values = np.where(codes < 0, np.nan, codes)
    if texts and isinstance(texts[0], DATES):
        if not given:
            return None
        raise ValueError(
            f"Column {name!r} holds dates or durations, which are no categories. Give numbers in "
            "their place, such as years or days."
        )
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
