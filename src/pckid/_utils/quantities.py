"""Numbers, dates and times of the day as a reader expects them."""

import math

import numpy as np

DATE_KINDS = ("date", "datetime", "time")
"""Days since 1970 began as a date, or as one with a time of the day; hours as hours:minutes."""

_FARTHEST = 3_000_000  # days: dates from about the year -6000 to 10000


def write_quantity(value: float, kind: str | None = None) -> str:
    """Write a value of a column.

    Parameters
    ----------
    value : float
    kind : {"date", "datetime", "time"} or None
        What the column holds; None for plain numbers.

    Returns
    -------
    text : str
        "2024-03-01", "2024-03-01 13:30", "13:30", or a number with four figures that count; a dash
        for what is no number.
    """
    if not math.isfinite(value):
        return "–"
    if kind == "time":
        minutes = round(abs(value) * 60)
        return f"{'-' * (value < 0 < minutes)}{minutes // 60}:{minutes % 60:02d}"
    if kind in ("date", "datetime") and abs(value) < _FARTHEST:
        if kind == "date":
            return str(np.datetime64(math.floor(value), "D"))
        return str(np.datetime64(round(value * 1440), "m")).replace("T", " ")
    return write_number(value)


def write_number(value: float) -> str:
    """Write a number with four figures that count, without an exponent up to 15 digits."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
