"""Times of series: read from cells of any kind, put into bins, written as names of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.commands import as_argument
from pckid._utils.text import brief, counted, list_first
from pckid.input.cells import is_missing, is_number_text
from pckid.series.frames import LineError

_ISO = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?)?")
_DAY = np.timedelta64(1, "D")
# Up to so many distinct times, of which a typical case has this share, each is a column by itself.
_MOST_BINS, _SHARE_SEEN = 50, 0.5
_MOST_ADVISED = 8


class TimeBins(NamedTuple):
    """The times that the columns of a series stand for.

    Attributes
    ----------
    edges : tuple of float
        The times themselves if `exact`; otherwise bin k holds the times from edge k up to, and not
        including, edge k + 1; the last bin includes its end.
    exact : bool
    dates : bool
        Whether times are dates: their edges are days since 1970 began.
    """

    edges: tuple[float, ...]
    exact: bool
    dates: bool

    def locate(self, times: np.ndarray) -> np.ndarray:
        """Find the bin of each time (n,); -1 where there is none."""
        edges = np.asarray(self.edges)
        last = len(edges) - 1
        if self.exact:
            found = np.minimum(np.searchsorted(edges, times), last)
            return np.where(edges[found] == times, found, -1)
        found = np.searchsorted(edges, times, side="right") - 1
        found[times == edges[-1]] = last - 1
        return np.where(found < last, found, -1)

    @property
    def names(self) -> list[str]:
        """How each bin is written: "3", "2019-01-05", "0 to 6", or "6 and later"."""
        texts = write_times(self.edges, self.dates)
        if self.exact:
            return texts
        return [_write_bin(low, high) for low, high in pairwise(texts)]

    @property
    def positions(self) -> np.ndarray:
        """Where each bin is drawn (n_bins,): its time, or its middle; dates as datetime64."""
        edges = np.asarray(self.edges)
        if not self.exact:
            low, high = edges[:-1], edges[1:]
            if np.isinf(edges).all():
                low, high = np.zeros(1), np.zeros(1)
            low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
            edges = (low + high) / 2
        return np.asarray(edges * 86_400_000).astype("M8[ms]") if self.dates else edges


def _write_bin(low: str, high: str) -> str:
    """Write a bin by its edges; "-inf" and "inf" are none."""
    if low == "-inf":
        return "all times" if high == "inf" else f"before {high}"
    return f"{low} and later" if high == "inf" else f"{low} to {high}"


def choose_bins(times: np.ndarray, typical: float, bins: Any, dates: bool) -> TimeBins:
    """Make the bins that `from_long` documents, of times (n,); the median case has `typical`."""
    if isinstance(bins, TimeBins):
        if bins.dates != dates:
            kinds = ("dates", "numbers") if bins.dates else ("numbers", "dates")
            raise ValueError(f"The times of the series are {kinds[0]}, and these are {kinds[1]}.")
        return bins
    distinct = np.unique(times)
    if isinstance(bins, str) and bins == "auto":
        few = len(distinct) <= _MOST_BINS and typical >= _SHARE_SEEN * len(distinct)
        bins = "each" if few else int(np.clip(round(typical), 2, _MOST_BINS))
    if isinstance(bins, str) and bins == "each":
        return TimeBins(tuple(distinct.tolist()), True, dates)
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool) and bins > 0:
        edges = np.unique(np.quantile(times, np.linspace(0, 1, bins + 1), method="nearest"))
        return TimeBins(tuple(edges.tolist()), len(edges) == 1, dates)
    if isinstance(bins, (str, int, np.integer)) or len(bins) < 2:
        raise ValueError(
            f"bins is {bins!r}. Give 'auto', 'each' (every time is a column), a number of bins, or "
            "their edges in ascending order."
        )
    texts = [str(edge) for edge in bins]
    inner = [edge for edge, text in zip(bins, texts, strict=True) if text not in ("-inf", "inf")]
    try:
        finite, are_dates = read_times(inner, "bins") if inner else (np.empty(0), dates)
    except ValueError:
        finite, are_dates = np.empty(0), dates
    edges = np.concatenate(
        [[-np.inf] * (texts[0] == "-inf"), finite, [np.inf] * (texts[-1] == "inf")]
    )
    if len(edges) < len(texts) or are_dates != dates or (np.diff(edges) <= 0).any():
        what = "dates" if dates else "numbers"
        raise ValueError(f"The edges of bins must be {what} in ascending order, as the times are.")
    return TimeBins(tuple(edges.tolist()), False, dates)


def locate_times(bins: TimeBins, times: np.ndarray) -> np.ndarray:
    """Find the bin of each time (n,), and raise if some have none."""
    found = bins.locate(times)
    outside = times[found < 0]
    if len(outside):
        texts = write_times(bins.edges, bins.dates)
        have = f"are {list_first(texts)}" if bins.exact else f"lie from {texts[0]} to {texts[-1]}"
        others = list_first(write_times(np.unique(outside), bins.dates))
        raise ValueError(
            f"Times of the series {have}; {counted(len(outside), 'line')} of this table "
            f"{'has another' if len(outside) == 1 else 'have others'}: {others}. Leave "
            f"{'it' if len(outside) == 1 else 'them'} out, or make the series and its model with "
            f"{_advise_bins(bins)}."
        )
    return found


def _advise_bins(bins: TimeBins) -> str:
    """Write options by which every time has a bin: those given, open at both ends."""
    inner = np.asarray(bins.edges[1:] if bins.exact else bins.edges[1:-1])
    if len(inner) > _MOST_ADVISED:
        inner = inner[np.linspace(0, len(inner) - 1, _MOST_ADVISED).round().astype(int)]
    edges = ["-inf", *write_times(inner, bins.dates), "inf"]
    ways = f"{as_argument('bins', ','.join(edges))} (in Python bins={edges})"
    if not bins.dates:
        return ways
    return f"--from-first (from_first=True: days from the first line of each case), or with {ways}"


def read_times(cells: Any, name: str) -> tuple[np.ndarray, bool]:
    """Read times as floats (n,), dates as days since 1970, and tell whether they are dates."""
    values = np.asarray(cells)
    if values.dtype.kind == "m":
        values = values / _DAY
    if values.dtype.kind not in "biufMO":
        values = values.astype(object)
    if values.dtype.kind == "O":
        values = _read_objects(values.tolist(), name)
    dates = values.dtype.kind == "M"
    missing = np.isnat(values) if dates else ~np.isfinite(values)
    if missing.any():
        raise LineError(
            f"Column {name!r} has no time in {counted(int(missing.sum()), 'row')}, first in ",
            int(np.argmax(missing)),
            ". Give every line its time, or leave these lines out.",
        )
    if dates:
        return (values - np.datetime64(0, "s")) / _DAY, True
    return values.astype(np.float64), False


def write_times(times: Sequence[float] | np.ndarray, dates: bool) -> list[str]:
    """Write dates as in ISO 8601, numbers with four digits or as many as tell them apart."""
    values = np.asarray(times, dtype=np.float64)
    whole = (values == np.floor(values)).all()
    if dates:
        stamps = np.round(np.where(np.isinf(values), 0, values) * 86_400).astype("M8[s]")
        written = (stamps.astype("M8[D]") if whole else stamps).astype(str)
        return np.where(np.isinf(values), values.astype(str), written).tolist()
    texts: list[str] = []
    for digits in range(4, 18):
        texts = [f"{v:.0f}" if v % 1 == 0 else f"{v:.{digits}g}" for v in values.tolist()]
        if len(set(texts)) == len(texts):
            break
    return texts


def _read_objects(cells: list[Any], name: str) -> np.ndarray:
    """Read cells of any type as numbers or as datetime64, all in one way."""
    kinds = {cell: _kind(cell) for cell in dict.fromkeys(cells) if not is_missing(cell)}
    first = {kind: cell for cell, kind in reversed(kinds.items())}
    if len(first) == 1 and "text" not in first:
        dates = "date" in first
        read = {cell: _read_date(cell) if dates else float(cell) for cell in kinds}
        gap = np.datetime64("NaT") if dates else np.nan
        return np.array([read.get(c, gap) for c in cells], "M8[us]" if dates else np.float64)
    shown: list[str | int] = []
    for cell in first.values():
        shown += [" and " * bool(shown) + f"{brief(repr(cell))} in ", cells.index(cell)]
    two_ways = "Its times are written in two ways. " if len(first) > 1 else ""
    raise LineError(
        f"Column {name!r} holds ", *(shown or ["nothing"]),
        f", where a time should be. {two_ways}Give numbers, or dates, in texts as 2024-03-31; "
        "`pandas.to_datetime` reads other ways of writing them.",
    )  # fmt: skip


def _kind(cell: Any) -> str:
    """Tell whether a cell is a number, a date, or neither."""
    if isinstance(cell, str) and _ISO.fullmatch(cell.strip()):
        try:
            return "date" if _read_date(cell) else "text"
        except ValueError:
            return "text"
    if isinstance(cell, str):
        return "number" if is_number_text(cell) else "text"
    if isinstance(cell, (date, np.datetime64)):
        return "date"
    return "number" if isinstance(cell, (int, float, np.number)) else "text"


def _read_date(cell: Any) -> np.datetime64:
    """Read one date; where a time zone is given, as it is in UTC."""
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(cell.strip() if isinstance(cell, str) else cell, "us")
