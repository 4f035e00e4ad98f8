"""Wide tables: columns whose names are a series, such as t1 to t24."""

import re
from collections.abc import Iterable

import numpy as np

_DATE = r"\d{4}[-_.]?[01]\d[-_.]?[0-3]\d|(?:19|20)\d\d[-_][01]\d"
_TIME = re.compile(rf"(?P<stem>.*?)(?P<sign>[\s_.:-]*)(?P<time>{_DATE}|\d+(?:\.\d+)?)", re.DOTALL)
# Two or three numbered columns are often anything else.
_MIN_TIMES = 4


def find_series(columns: Iterable[str]) -> dict[str, list[str]]:
    """Find columns whose names are a series: ``ndvi_2019-01-05``, ``t1`` to ``t24``, ``1990``.

    At least four columns with the same words before a date, a month or a number count. Whether
    they are one, only their user knows: the items of a questionnaire look the same.

    Parameters
    ----------
    columns : iterable of str
        Names of columns.

    Returns
    -------
    series : dict of str to list of str
        The columns of each variable, in the order of time.

    Examples
    --------
    >>> from pckid.series import find_series
    >>> find_series(["elevation", "t10", "t1", "t2", "t3"])
    {'t': ['t1', 't2', 't3', 't10']}
    """
    found: dict[str, dict[str, tuple[bool, float]]] = {}
    for name in columns:
        match = _TIME.fullmatch(str(name))
        if match:
            found.setdefault(match["stem"] or "value", {})[name] = _read(match["time"])
    return {
        stem: sorted(times, key=times.__getitem__)
        for stem, times in found.items()
        if len(times) >= _MIN_TIMES
        and len(set(times.values())) == len(times)
        and len({dates for dates, _ in times.values()}) == 1
    }


def _read(text: str) -> tuple[bool, float]:
    """Read the time in a name: whether it can be a date, and its number."""
    digits = re.sub(r"[-_.]", "", text)
    if re.fullmatch(_DATE, text):
        try:
            day = np.datetime64("-".join(filter(None, (digits[:4], digits[4:6], digits[6:]))), "D")
            return True, float(day.astype(int))
        except ValueError:
            return False, float(digits)
    return False, float(text)
