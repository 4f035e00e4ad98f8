"""Dates, times and durations: found in texts and in Arrow's types, and turned into numbers."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.arrow import to_floats
from pckid.frontends.formats.table import null_where, read_each_once

_TIME = (
    r"(?:(?:T| +|, *)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?"
    r" *(?P<half>[AaPp]\.?[Mm]\.?)?"
    r" *(?P<utc>Z|(?:UTC|GMT)?(?:(?P<zone>[+-]\d{1,2})(?::?(?P<past>\d{2}))?)?)?)?"
)
_PATTERNS = {
    "year-month-day": rf"^(?P<a>\d{{4}})[-/.](?P<b>\d{{1,2}})[-/.](?P<c>\d{{1,2}}){_TIME}$",
    "year-month": rf"^(?P<a>(?:19|20)\d\d)-(?P<b>0[1-9]|1[0-2])(?P<c>){_TIME}$",
    "day-month-year": rf"^(?P<c>\d{{1,2}})[-/.](?P<b>\d{{1,2}})[-/.](?P<a>\d{{4}}|\d{{2}}){_TIME}$",
    "month-day-year": rf"^(?P<b>\d{{1,2}})[-/](?P<c>\d{{1,2}})[-/](?P<a>\d{{4}}|\d{{2}}){_TIME}$",
    # Days as pandas and Python write them: "-1 days +23:00:00" is an hour before.
    "hours:minutes": r"^(?:(?P<day>-?\d+) days?,? )?(?P<sign>[+-]?)(?P<hour>\d+)"
    r":(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d+)?))?$",
}
LAYOUTS = tuple(_PATTERNS)
EITHER_ORDER = "day-month-year or month-day-year"
# Years of two digits from here on are of the last century, as in spreadsheets.
_FIRST_SHORT_YEAR = 30


class DateFormat(NamedTuple):
    """How a column writes dates, and what number becomes of one; a duration is hours."""

    # One of LAYOUTS, or several with " or " between, or letters of strptime such as "%d %b %Y"; ""
    # for Arrow's types.
    layout: str = ""
    # "days" since 1970 began, in UTC where an offset from it is written; or the "month" from 1 to
    # 12, or the "hour" of the day, as written
    part: str = "days"


def is_temporal(kind: Any) -> bool:
    """Return whether an Arrow type is a date, a time or a duration."""
    return pa.types.is_temporal(kind) and not pa.types.is_interval(kind)


def is_duration(kind: Any) -> bool:
    """Return whether an Arrow type is a duration or a time of the day."""
    return pa.types.is_duration(kind) or pa.types.is_time(kind)


def count_dates(texts: Any, counts: np.ndarray) -> Counter[str]:
    """Count the cells that are dates, or durations, in each layout, by their texts (n_texts,).

    Those that are dates with the day or with the month first are counted besides.
    """
    found: Counter[str] = Counter(dict.fromkeys((*LAYOUTS, EITHER_ORDER), 0))
    if not pc.any(pc.match_substring_regex(texts, r"\d[-/. :]")).as_py():
        return found
    like = [n for n in LAYOUTS if pc.any(pc.match_substring_regex(texts, _PATTERNS[n])).as_py()]
    either = [EITHER_ORDER] if set(like) & set(EITHER_ORDER.split(" or ")) else []
    for layout in like + either:
        values, _ = _read_different(texts, DateFormat(layout))
        found[layout] = int(counts[~np.isnan(values)].sum())
    return found


def read_dates(cells: Any, form: DateFormat) -> tuple[np.ndarray, np.ndarray]:
    """Read texts as dates or durations; returns as `read_each_once` does."""
    return read_each_once(cells, lambda texts: _read_different(texts, form))


def _read_different(cells: Any, form: DateFormat) -> tuple[np.ndarray, np.ndarray]:
    first, _, others = form.layout.partition(" or ")
    if others:
        values, wrong = _read_different(cells, form._replace(layout=first))
        more, still_wrong = _read_different(cells, form._replace(layout=others))
        return np.where(wrong, more, values), wrong & still_wrong
    observed = pc.is_valid(cells).to_numpy(zero_copy_only=False)
    if "%" in form.layout:
        days = read_temporal(pc.strptime(cells, form.layout, "s", error_is_null=True), form.part)
        return days, observed & np.isnan(days)
    parts = pc.extract_regex(cells, _PATTERNS[form.layout])
    hours = _part(parts, "hour", 0) + _part(parts, "minute", 0) / 60
    hours += _part(parts, "second", 0) / 3600
    matched = pc.is_valid(parts).to_numpy(zero_copy_only=False)
    if form.layout == "hours:minutes":
        negative = pc.fill_null(pc.equal(pc.struct_field(parts, "sign"), "-"), False)
        hours = np.where(negative.to_numpy(zero_copy_only=False), -hours, hours)
        hours += 24 * _part(parts, "day", 0)
        return np.where(matched, hours, np.nan), observed & ~matched
    half = pc.fill_null(pc.utf8_lower(pc.struct_field(parts, "half")), "")
    late = pc.starts_with(half, "p").to_numpy(zero_copy_only=False)
    twelve = pc.not_equal(half, "").to_numpy(zero_copy_only=False) & (hours >= 12) & (hours < 13)
    hours = hours - 12 * twelve + 12 * late
    days, month = _days(parts)
    valid = matched & ~np.isnan(days) & (hours < 24)
    ahead = _part(parts, "zone", np.nan)
    past = np.copysign(_part(parts, "past", 0) / 60, ahead)
    ahead = np.where(np.isnan(ahead), 0.0, ahead + past)
    written = (pc.fill_null(pc.struct_field(parts, name), "") for name in ("utc", "hour"))
    zoned, timed = (pc.not_equal(each, "").to_numpy(zero_copy_only=False) for each in written)
    zoned, timed = zoned & valid, timed & valid
    if form.part == "days" and zoned.any():
        if hours[valid].any():  # times with an offset from UTC and without: the fewer are wrong
            naive = timed & ~zoned
            valid &= ~(naive if zoned.sum() >= naive.sum() else zoned)
        else:  # local midnights are days of the calendar, whatever the clock was changed to
            ahead = np.zeros_like(ahead)
    values = {"days": days + (hours - ahead) / 24, "month": month, "hour": hours}[form.part]
    return np.where(valid, values, np.nan), observed & ~valid


def read_temporal(column: Any, part: str) -> np.ndarray:
    """Read a column of one of Arrow's types of dates, times or durations, of shape (n_rows,)."""
    kind = column.type
    if is_duration(kind):
        per_hour = 3600 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        whole = column.cast(pa.int32()) if kind.bit_width == 32 else column
        return to_floats(whole.cast(pa.int64())) / per_hour
    stamps = column.cast(pa.timestamp("us"), safe=False)  # nanoseconds count for nothing
    if part == "days":
        return to_floats(stamps.cast(pa.int64())) / 86_400e6
    return to_floats(pc.month(stamps) if part == "month" else pc.hour(stamps))


def _days(parts: Any) -> tuple[np.ndarray, np.ndarray]:
    """Count the days since 1970 began, and give the month; NaN for what is no date."""
    year, day = _part(parts, "a", np.nan), _part(parts, "c", 1)
    short = pc.equal(pc.utf8_length(pc.struct_field(parts, "a")), 2)
    short = pc.fill_null(short, False).to_numpy(zero_copy_only=False)
    year = np.where(short, year + np.where(year < _FIRST_SHORT_YEAR, 2000, 1900), year)
    month = _part(parts, "b", np.nan)
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype(np.int64)
    first = months.astype("M8[M]").astype("M8[D]")
    length = ((months + 1).astype("M8[M]").astype("M8[D]") - first).astype(np.int64)
    valid &= day <= length
    return np.where(valid, first.astype(np.int64) + day - 1, np.nan), np.where(valid, month, np.nan)


def _part(parts: Any, name: str, absent: float) -> np.ndarray:
    texts = pc.replace_substring(pc.struct_field(parts, name), ",", ".")
    texts = null_where(pc.equal(texts, ""), texts)
    return pc.fill_null(texts.cast(pa.float64()), absent).to_numpy(zero_copy_only=False)
