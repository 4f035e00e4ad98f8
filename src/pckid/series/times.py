"""Times of series: read from cells of any kind, put into bins, written as names of columns."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from pckid._utils.commands import as_argument
from pckid._utils.text import brief, counted, list_first
from pckid.input.cells import is_missing, is_number_text

_ISO = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?)?")
_DAY = np.timedelta64(1, "D")
# Up to so many distinct times, of which a typical case has this share, each is a column by itself.
_MAX_BINS, _SHARE_SEEN = 50, 0.5
_MAX_ADVISED = 8


class LineError(ValueError):
    """Something wrong with lines: texts, and between them rows, counted from 0."""

    def __init__(self, *parts: str | int) -> None:
        self.parts = parts
        super().__init__(self.write(lambda row: f"row {row}"))

    def write(self, name_row: Callable[[int], str]) -> str:
        """Write the message, with rows named in another way."""
        return "".join(part if isinstance(part, str) else name_row(part) for part in self.parts)


class TimeBins(NamedTuple):
    """The times that the columns of a series stand for."""

    # The times themselves if `exact`; otherwise bin k holds the times from edge k up to, and not
    # including, edge k + 1; the last bin includes its end.
    edges: tuple[float, ...]
    exact: bool
    dates: bool  # whether times are dates: their edges are days since 1970 began

    def locate(self, times: np.ndarray) -> np.ndarray:
        """Find the bin of each time (n,); -1 where there is none."""
        edges = np.asarray(self.edges)
        last = len(edges) - 1
        if self.exact:
            nearest = np.searchsorted((edges[:-1] + edges[1:]) / 2, times)
            distances = np.abs(edges[nearest] - times)
            return np.where(distances <= _rounding(edges, self.dates), nearest, -1)
        found = np.searchsorted(edges, times, side="right") - 1
        found[times == edges[-1]] = last - 1
        return np.where(found < last, found, -1)

    @property
    def names(self) -> list[str]:
        """How each bin is written: "3", "2019-01-05", "0 to 6", or "6 and later"."""
        return self._write(" to ")

    @property
    def ranges(self) -> list[str]:
        """The same in short, for readers: "0–6"; dates and numbers below 0 as in `names`."""
        return self._write(" to " if self.dates or self.edges[0] < 0 else "–")

    def _write(self, to: str) -> list[str]:
        """Write each bin, with a sign between its ends."""
        texts = write_times(self.edges, self.dates)
        if self.exact:
            return texts
        open_ended = {"-inf": f"before {texts[1]}", "inf": f"{texts[-2]} and later"}
        if texts == ["-inf", "inf"]:
            return ["all times"]
        return [
            open_ended.get(low) or open_ended.get(high) or f"{low}{to}{high}"
            for low, high in pairwise(texts)
        ]

    @property
    def positions(self) -> np.ndarray:
        """Where each bin is drawn (n_bins,): its time, or its middle; dates as datetime64."""
        edges = np.asarray(self.edges)
        if not self.exact:
            finite = edges[np.isfinite(edges)]
            edges = np.clip(edges, finite[0], finite[-1]) if len(finite) else np.zeros(2)
            edges = (edges[:-1] + edges[1:]) / 2
        return np.asarray(edges * 86_400_000).astype("M8[ms]") if self.dates else edges


def _rounding(times: np.ndarray, dates: bool) -> float:
    """Compute how far equal times may be apart: 0.1 + 0.2 is not 0.3. Whole numbers are exact."""
    if dates or (np.isinf(times) | (times == np.round(times))).all():
        return 0.0
    return 1e-14 * float(np.abs(times).max(initial=0.0))


def choose_bins(times: np.ndarray, typical: float, bins: Any, dates: bool) -> TimeBins:
    """Make the bins that `from_long` documents, of times (n,); the median case has `typical`."""
    if isinstance(bins, TimeBins):
        if bins.dates != dates:
            kinds = ("dates", "numbers") if bins.dates else ("numbers", "dates")
            raise ValueError(f"The times of the series are {kinds[0]}, and these are {kinds[1]}.")
        return bins
    distinct = np.unique(times)
    distinct = distinct[np.diff(distinct, prepend=-np.inf) > _rounding(distinct, dates)]
    if isinstance(bins, str) and bins == "auto":
        few = len(distinct) <= _MAX_BINS and typical >= _SHARE_SEEN * len(distinct)
        bins = "each" if few else int(np.clip(round(typical), 2, _MAX_BINS))
    is_number = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool) and bins > 0
    if is_number and bins >= len(distinct):
        bins = "each"
    if isinstance(bins, str) and bins == "each":
        return TimeBins(tuple(distinct.tolist()), True, dates)
    if is_number:
        edges = np.unique(np.quantile(times, np.linspace(0, 1, bins + 1), method="nearest"))
        return TimeBins(tuple(edges.tolist()), len(edges) == 1, dates)
    if isinstance(bins, str) or not hasattr(bins, "__len__") or len(bins) < 2:
        raise ValueError(
            f"bins is {bins!r}. Give 'auto', 'each' (every time is a column), a number of bins, or "
            "their edges in ascending order."
        )
    return TimeBins(tuple(_read_edges(list(bins), dates).tolist()), False, dates)


def _read_edges(bins: list[Any], dates: bool) -> np.ndarray:
    """Read the edges of bins (n_bins + 1,): times, and perhaps infinity at the ends."""
    from_ever, for_ever = str(bins[0]) == "-inf", str(bins[-1]) == "inf"
    inner = bins[from_ever : len(bins) - for_ever]
    try:
        times, are_dates = read_times(inner, "bins") if inner else (np.empty(0), dates)
        edges = np.concatenate([[-np.inf] * from_ever, times, [np.inf] * for_ever])
        if are_dates == dates and (np.diff(edges) > 0).all():
            return edges
    except ValueError:
        pass
    what = "dates" if dates else "numbers"
    raise ValueError(f"The edges of bins must be {what} in ascending order, as the times are.")


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
    if len(inner) > _MAX_ADVISED:
        inner = inner[np.linspace(0, len(inner) - 1, _MAX_ADVISED).round().astype(int)]
    times = write_times(inner, bins.dates)
    edges = as_argument("bins", ",".join(["-inf", *times, "inf"]))
    listed = ", ".join(map(repr, times) if bins.dates else times)
    ends = ['float("-inf")', *filter(None, [listed]), 'float("inf")']
    ways = f"{edges} (in Python bins=[{', '.join(ends)}])"
    if not bins.dates:
        return ways
    return f"--from-first (from_first=True: days from the first line of each case), or with {ways}"


def read_times(cells: Any, name: str) -> tuple[np.ndarray, bool]:
    """Read times as floats (n,), dates as days since 1970, and tell whether they are dates."""
    values = np.asarray(cells)
    if isinstance(cells, nw.Series) and getattr(cells.dtype, "time_zone", None):
        # Local midnights are days of the calendar, whatever the clock was changed to.
        local = cells.dt.replace_time_zone(None).to_numpy()
        by_day = (np.isnat(local) | (local == local.astype("M8[D]"))).all()
        values = local if by_day else values
    if values.dtype.kind == "m":
        values = values / _DAY
    if values.dtype.kind not in "biufM":
        values = _read_objects(values.astype(object).tolist(), name)
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
    if dates:
        whole = (values == np.floor(values)).all()
        days = np.where(np.isinf(values), 0, values)
        stamps = np.round(days * 86_400).astype("M8[s]")
        if len(np.unique(stamps)) < len(np.unique(days)):
            stamps = np.round(days * 86_400_000).astype("M8[ms]")
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
    distinct = [cell for cell in dict.fromkeys(cells) if not is_missing(cell)]
    moments = [cell for cell in distinct if isinstance(cell, datetime)]
    zoned = [cell for cell in moments if cell.tzinfo is not None]
    if zoned and len(zoned) < len(moments):
        naive = next(cell for cell in moments if cell.tzinfo is None)
        raise LineError(
            f"Column {name!r} holds {brief(str(zoned[0]))} in ", cells.index(zoned[0]),
            f" and {brief(str(naive))} in ", cells.index(naive),
            ": with an offset from UTC and without. Write all of them in one way.",
        )  # fmt: skip
    # Local midnights are days of the calendar, whatever the clock was changed to.
    by_day = bool(zoned) and all(cell.time() == time.min for cell in zoned)
    read = {
        cell: _read_cell(cell.replace(tzinfo=None) if by_day and cell in moments else cell)
        for cell in distinct
    }
    first = {type(time): cell for cell, time in reversed(read.items())}
    if len(first) == 1 and str not in first:
        dates = np.datetime64 in first
        gap = np.datetime64("NaT", "us") if dates else np.nan
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


def _read_cell(cell: Any) -> float | np.datetime64 | str:
    """Read a number, or a date (in UTC; the first of a period); what is neither stays a text."""
    if type(cell).__name__ == "Period":
        cell = cell.to_timestamp()
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    text = cell.strip() if isinstance(cell, str) else None
    if isinstance(cell, (int, float, np.number)) or (text and is_number_text(text)):
        return float(cell)
    try:
        if isinstance(cell, (date, np.datetime64)) or (text and _ISO.fullmatch(text)):
            return np.datetime64(cell if text is None else text, "us")
    except ValueError:
        pass
    return str(cell)


def as_dates(days: np.ndarray) -> np.ndarray:
    """Make dates of days since 1970 began (n,), to the millisecond; NaT of NaN."""
    times = np.full(len(days), np.datetime64("NaT", "ms"))
    seen = ~np.isnan(days)
    times[seen] = np.round(days[seen] * 86_400_000).astype("M8[ms]")
    return times
