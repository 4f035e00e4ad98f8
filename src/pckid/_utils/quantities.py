"""Numbers, dates and times of the day as a reader expects them."""

import math

import numpy as np

DATE_KINDS = ("date", "datetime", "time")
"""Days since 1970 began as a date, or as one with a time of the day; hours as hours:minutes."""

_BEFORE = "$£¥₹₩₪₱"  # currencies that stand before the number
_FARTHEST = 3_000_000  # days: dates from about the year -6000 to 10000


HUGE = 1e300
"""Differences, sums and squares of larger numbers may be no floats."""


def in_reach(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale columns (n, ...) of huge numbers by a power of two, which loses no digit.

    Returned with what to multiply them by to have them back (...).
    """
    factor = np.where((np.abs(values) > HUGE).any(axis=0), 2.0**30, 1.0)
    return values / factor, factor


def quantiles(values: np.ndarray, q: list[float]) -> np.ndarray:
    """Compute quantiles (len(q),) of numbers (n,); NaN of none."""
    if not len(values):
        return np.full(len(q), np.nan)
    values, factor = in_reach(values)
    return np.quantile(values, q) * factor


def quantiles_of_sorted(values: np.ndarray, q: list[float]) -> np.ndarray:
    """Compute what `quantiles` does, of numbers (n,) that are sorted: two of them for each."""
    if not len(values):
        return np.full(len(q), np.nan)
    places = np.array(q) * (len(values) - 1)
    below = np.floor(places).astype(np.int64)
    both = values[np.stack([below, np.minimum(below + 1, len(values) - 1)])]
    (low, high), factor = in_reach(both)
    share, step = places - below, high - low
    # As NumPy does, from the nearer one.
    return np.where(share < 0.5, low + step * share, high - step * (1 - share)) * factor


def write_quantity(value: float, form: str | None = None) -> str:
    """Write a value of a column, with four figures that count; a dash for what is no number.

    The form is one of `DATE_KINDS`, a unit such as "%" or "$", or None: "2024-03-01",
    "2024-03-01 13:30", "13:30", "96.5 %", "$1,200".
    """
    if not math.isfinite(value):
        return "–"
    if form == "time":
        minutes = round(abs(value) * 60)
        return f"{'-' * (value < 0 < minutes)}{minutes // 60}:{minutes % 60:02d}"
    if form in ("date", "datetime") and abs(value) < _FARTHEST:
        if form == "date":
            return str(np.datetime64(math.floor(value), "D"))
        return str(np.datetime64(round(value * 1440), "m")).replace("T", " ")
    if not form or form in DATE_KINDS:
        return write_number(value)
    if form[-1] in _BEFORE:
        return f"{'-' * (value < 0)}{form}{write_number(abs(value))}"
    return f"{write_number(value)} {form}"


def write_number(value: float, n_figures: int = 4) -> str:
    """Write a number with so many figures that count, without an exponent up to 15 digits."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.{n_figures}g}"
