"""Columns of cases and times: which lines are of one case, and when each of them was."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

# A time has so many values, and cases have so many; a pair of case and time is hardly ever there
# twice, and a case has two lines or more.
_MIN_TIMES, _MIN_CASES, _SINGLE, _LINES = 8, 5, 0.99, 2
# Times are equally far apart but for so many times the shortest step, and within cases, most lines
# are followed by the next of them.
_WIDEST_STEP, _FOLLOWING = 1.5, 0.75
_MAX_COLUMNS = 50
# Of the lines, so many are of another case and time.
_DISTINCT = 0.9
_REPEATS = 7.0  # that chance would give on average: the probability of none is then below 0.001


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
    `dates` are those of the times that hold dates. Numbers are times only where the lines of a case
    follow each other in the table, time by time; where they have many values without a gap between
    them, in the table and within cases; or where every case has each of a few. Of several pairs the
    first of these is taken, and else the one of most times.
    """
    found: list[tuple[tuple[bool, int], CaseAndTime]] = []
    moments: dict[str, np.ndarray] = {}
    for time, x in times.items():
        rank = _rank(x)  # Cases share numbers that are times.
        if rank is not None and (dates.get(time) or _LINES * rank.max(initial=0) < len(rank)):
            moments[time] = rank
    for time, when in list(moments.items())[:_MAX_COLUMNS]:
        n_times, is_date = int(when.max(initial=0)) + 1, dates.get(time, False)
        # Numbers have several values, with equal steps between them.
        steps = np.diff(np.unique(times[time]))
        regular = is_date or (len(steps) > 1 and steps.max() <= _WIDEST_STEP * steps.min())
        for case, values in list(cases.items())[:_MAX_COLUMNS]:
            which = None if case == time else _rank(values)
            if which is None:
                continue
            n_cases, n_lines = int(which.max(initial=0)) + 1, len(which)
            few = n_cases < _MIN_CASES or n_lines < _LINES * n_cases
            if few or n_cases * n_times < _DISTINCT * n_lines:
                continue
            in_order = _follow_each_other(which, when)
            # A few times are enough where every case has each of them.
            scarce = n_times < _MIN_TIMES and not is_date and n_cases * n_times != n_lines
            if not in_order and (scarce or not regular):
                continue
            pairs = np.unique(which * n_times + when)
            # The next line of the same case is the next moment.
            follows = (np.diff(pairs) == 1) & (np.diff(pairs // n_times) == 0)
            follow = is_date or follows.sum() >= _FOLLOWING * (n_lines - n_cases)
            if in_order or (follow and len(pairs) >= _SINGLE * n_lines):
                found.append(((in_order, n_times), CaseAndTime(case, time, n_cases)))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _follow_each_other(which: np.ndarray, when: np.ndarray) -> bool:
    """Whether the lines of each case (n_rows,) are together and their times (n_rows,) ascend.

    That is no order by chance where a case would have some times twice.
    """
    n_lines, n_cases, n_times = len(which), int(which.max()) + 1, int(when.max()) + 1
    same = np.diff(which) == 0
    if same.sum() != n_lines - n_cases or not bool((np.diff(when)[same] > 0).all()):
        return False
    return n_lines * (n_lines - 1) / (2 * n_cases * n_times) > _REPEATS


def _rank(values: np.ndarray) -> np.ndarray | None:
    """Number different values (n_rows,) in ascending order; None where one is missing."""
    return None if np.isnan(values).any() else np.unique(values, return_inverse=True)[1]
