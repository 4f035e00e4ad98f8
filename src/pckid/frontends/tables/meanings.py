"""What the cells of a column tell: names of the rows, free text, the cases and times of lines."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

_MIN_ROWS = 10
# As many different texts or fewer may well be categories.
_FEW_TEXTS = 20
# A few rows of an export, such as its totals, have no number of their own.
_MAX_MISSING = 0.1
# Repeats that chance would give on average: the probability of none is then below 0.001.
_REPEATS = 7.0
# A time has so many values, and cases have so many; a pair of case and time is hardly ever there
# twice, and a case has two lines or more.
_MIN_TIMES, _MIN_CASES, _SINGLE, _LINES = 8, 5, 0.99, 2
# Times are equally far apart but for so many times the shortest step, and within cases, most lines
# are followed by the next of them.
_WIDEST_STEP, _FOLLOWING = 1.5, 0.75
_MAX_COLUMNS = 50


def numbers_name_rows(values: np.ndarray) -> bool:
    """Return whether the numbers of a column name the rows.

    All are whole and different, at most a tenth are missing, and they would not all be different by
    chance: n draws from a range R repeat n (n - 1) / 2R times. Values (n_rows,) are NaN where
    missing.
    """
    seen = values[~np.isnan(values)]
    n = len(seen)
    if n < _MIN_ROWS or len(values) - n > _MAX_MISSING * len(values):
        return False
    if not bool(np.all(seen == np.round(seen))) or len(np.unique(seen)) < n:
        return False
    return n * (n - 1) / (2 * (float(np.ptp(seen)) + 1)) > _REPEATS


def kind_of_texts(n_rows: int, n_observed: int, n_distinct: int) -> str:
    """Tell categories from texts that name the rows, each its own, and from names and remarks.

    Names and remarks are mostly different, and too many for categories.
    """
    if n_rows == n_observed == n_distinct > 1:
        return "row name"
    is_free = n_distinct > _FEW_TEXTS and 2 * n_distinct > n_observed
    return "free text" if is_free else "category"


def looks_like_identifier(values: np.ndarray) -> bool:
    """Whether numbers (n_rows,) count the rows, or many rows hold a whole one each of its own."""
    if len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1)):
        return True
    whole = bool(np.all(values == np.round(values)))  # False for a column with NaN
    return whole and len(values) >= 50 and len(np.unique(values)) == len(values)


class CaseAndTime(NamedTuple):
    """The columns that say which lines are of one case, and when each of them was."""

    case: str
    time: str
    n_cases: int


def find_case_and_time(
    cases: Mapping[str, np.ndarray], times: Mapping[str, np.ndarray], dates: Mapping[str, bool]
) -> CaseAndTime | None:
    """Find a column of cases and one of times: cases repeat, and a case has each time once.

    `cases` and `times` are the columns that may be either, as numbers (n_rows,), NaN where missing;
    `dates` are those of the times that hold dates. Numbers are times only where they have many
    values without a gap between them, in the table and within cases, or where every case has each
    of a few. Of several pairs the one of most times is taken.
    """
    found: list[tuple[int, CaseAndTime]] = []
    moments: dict[str, np.ndarray] = {}
    for name, x in times.items():
        rank = _rank(x) if dates.get(name) or _is_regular(x) else None
        if rank is not None and (dates.get(name) or _LINES * rank.max() < len(rank)):
            moments[name] = rank
    for time, when in list(moments.items())[:_MAX_COLUMNS]:
        n_times = int(when.max(initial=0)) + 1
        for case, values in list(cases.items())[:_MAX_COLUMNS]:
            which = None if case == time else _rank(values)
            if which is None:
                continue
            n_cases, n_lines = int(which.max(initial=0)) + 1, len(which)
            few = n_cases < _MIN_CASES or n_lines < _LINES * n_cases
            # A few times are enough where every case has each of them.
            scarce = n_times < _MIN_TIMES and not dates.get(time)
            few = few or (scarce and n_cases * n_times != n_lines)
            if few or n_cases * n_times < _SINGLE * n_lines:
                continue
            pairs = np.unique(which * n_times + when)
            # The next line of the same case is the next moment.
            follows = (np.diff(pairs) == 1) & (np.diff(pairs // n_times) == 0)
            regular = dates.get(time) or follows.sum() >= _FOLLOWING * (n_lines - n_cases)
            if regular and len(pairs) >= _SINGLE * n_lines:
                found.append((n_times, CaseAndTime(case, time, n_cases)))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _rank(values: np.ndarray) -> np.ndarray | None:
    """Number different values (n_rows,) in ascending order; None where one is missing."""
    return None if np.isnan(values).any() else np.unique(values, return_inverse=True)[1]


def _is_regular(values: np.ndarray) -> bool:
    """Whether numbers (n_rows,) have several values, with equal steps between them."""
    steps = np.diff(np.unique(values))
    return len(steps) > 1 and bool(steps.max() <= _WIDEST_STEP * steps.min())
