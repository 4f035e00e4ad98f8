"""Numbers such as -9999 or 99 that look like codes for "missing"."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import counted, join_words

# Codes that people write for "no value", "don't know" and "refused". All are plausible measurements
# somewhere, so they count only where they stand apart from everything else in the column.
SENTINELS = (
    -1e30, -1e20, -99999, -32768, -9999, -9998, -9997, -8888, -7777, -999, -998, -997, -888, -777,
    -99, -98, -97, -96, -95, -88, -77, -66, -9, -8, -7, -1,
    66, 77, 88, 95, 96, 97, 98, 99, 777, 888, 995, 996, 997, 998, 999,
    7777, 8888, 9995, 9996, 9997, 9998, 9999, 32767, 65535, 99997, 99998, 99999, 999999, 1e20, 1e30,
)  # fmt: skip
# Beside a scale such as 1 to 5 only.
_SCALE_CODES = (7.0, 8.0, 9.0)
_ENDS = np.array([*SENTINELS, *_SCALE_CODES])
_YES_NO = [[0.0, 1.0], [1.0, 2.0]]
# Short scales of answers, complete: up to 3 from 0 on, up to 5 from 1 on.
_SCALES = [[0, 1], [0, 1, 2], [0, 1, 2, 3], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
_HIGHEST_STEP = 11.0  # of any scale of answers, 0 to 10 or 1 to 11
_MIN_CODED, _MAX_CODES = 3, 5
_HIGHEST_ALONE = -7.0  # of negative codes that need no other column; -1 may well be a change
_SHARED = 3  # columns that make a code of a number that one of them leaves in doubt
_NAMED = 5


class Sentinel(NamedTuple):
    """A value that looks like a code for "missing"."""

    value: float
    n_cells: int


def find_codes(X: np.ndarray, columns: Sequence[int] | None = None) -> dict[int, list[Sentinel]]:
    """Find numbers of a table that look like codes for "missing", such as -9999 or 98 and 99.

    Besides those that `_find_certain` sees in single columns: a number beside the steps of a scale
    of answers, such as 9 beside 1 to 7 or 99 beside 1 and 2, or one that is far from the others but
    occurs once, if it is a code in another column, or stands so in at least three columns and
    hardly ever otherwise. And negative codes that are the only negative numbers of a column, if
    they are codes in another column; surveys have several from -9 to -1, which tell of each other.
    X (n_samples, n_features) has NaN where a value is missing; only `columns` are looked at, if
    these are given. What is found is listed for each column that has some.
    """
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    suspects = np.flatnonzero(np.isin(low, _ENDS) | np.isin(high, _ENDS))
    if columns is not None:
        suspects = np.intersect1d(suspects, columns)
    values = {int(j): np.unique(X[np.isfinite(X[:, j]), j], return_counts=True) for j in suspects}
    found = {j: _find_certain(*each) for j, each in values.items()}
    possible = {j: _find_possible(*each) for j, each in values.items()}
    certain = set().union(*found.values())
    for code in set().union(*possible.values()):
        shared = [j for j, codes in possible.items() if code in codes]
        # It stands apart in several columns, and in most that hold it.
        if code in certain or (
            len(shared) >= _SHARED
            and len(shared) >= 0.8 * np.count_nonzero(np.isin(X, code).any(axis=0))
        ):
            for j in shared:
                found[j].setdefault(code, possible[j][code])
    negative = {code for codes in found.values() for code in codes if code < 0}
    for j, each in values.items() if negative else ():
        for code, count in _find_negative(*each).items():
            if code in negative or (code >= -9 and max(negative) >= -9):
                found[j].setdefault(code, count)
    return {
        j: list(starmap(Sentinel, sorted(codes.items()))) for j, codes in found.items() if codes
    }


def _find_certain(distinct: np.ndarray, counts: np.ndarray) -> dict[float, int]:
    """Find numbers of one column that look like codes, whatever other columns hold.

    One or several known codes count when they are the lowest or the highest of the values, occur at
    least twice, and lie further from the other values than these spread; or, from -7 down, when
    they alone are negative, one of them in three rows, and lie further off than the values of the
    lower half do from each other. Once is enough for a code that is hardly ever a measurement, if
    it lies ten times as far as the others spread. A 9 beside a complete scale, from 0 up to 3 or
    from 1 up to 5 at most, counts where it lies as far as the scale is long, in three rows and less
    than half of all: if it were a count, some rows would hold a number between.
    """
    first, stop = 0, len(distinct)
    while True:
        kept = slice(first, stop)
        if n := _count_codes(distinct[kept], counts[kept], from_top=False):
            first += n
        elif n := _count_codes(distinct[kept], counts[kept], from_top=True):
            stop -= n
        else:
            break
    codes = _as_codes(distinct, counts, np.r_[:first, stop : len(distinct)])
    # Two values alone, 0 and -1 or 1 and 99, say nothing on what is usual; yes and no do.
    answers = distinct[kept].tolist() in _YES_NO and -1 not in codes
    answers = answers and sum(codes.values()) >= _MIN_CODED
    return codes if stop - first > 2 or answers else {}


def _as_codes(distinct: np.ndarray, counts: np.ndarray, chosen: Any) -> dict[float, int]:
    return dict(zip(distinct[chosen].tolist(), counts[chosen].tolist(), strict=True))


def _count_codes(distinct: np.ndarray, counts: np.ndarray, from_top: bool) -> int:
    """Count the codes at one end of sorted values: as many as lie apart from the rest together."""
    if from_top:
        distinct, counts = -distinct[::-1], counts[::-1]
    sign = -1.0 if from_top else 1.0
    best = 0
    for n in range(1, min(_MAX_CODES, len(distinct) - 1) + 1):
        code, rest = sign * distinct[n - 1], distinct[n:]
        if code not in _ENDS:
            break
        gap, spread = float(rest[0] - distinct[n - 1]), float(np.ptp(rest))
        if code in _SCALE_CODES:
            nine = from_top and distinct[0] == -9
            few = _MIN_CODED <= counts[:n].sum() < counts[n:].sum()
            stands_out = nine and few and gap >= spread
            stands_out = stands_out and (-rest[::-1]).tolist() in _SCALES
        elif counts[:n].sum() > 1:
            alone = not from_top and counts[:n].max() >= _MIN_CODED
            stands_out = gap > spread or (alone and _is_alone_negative(distinct[:n], rest))
        else:
            stands_out = abs(code) >= 888 and gap > 10 * spread
        best = n if stands_out else best
    return best


def _is_alone_negative(codes: np.ndarray, rest: np.ndarray) -> bool:
    """Return whether codes below -1 are the only negative ones of sorted values, and apart."""
    if codes[-1] > _HIGHEST_ALONE or rest[0] < 0 or len(rest) < 3:
        return False
    lower = rest[: len(rest) // 2 + 1]
    return bool(rest[0] - codes[-1] > np.diff(lower).max())


def _find_possible(distinct: np.ndarray, counts: np.ndarray) -> dict[float, int]:
    """Find known codes at either end, far from the rest, or apart from a scale of answers."""
    is_code = np.isin(distinct, _ENDS)
    found: dict[float, int] = {}
    for n in range(1, min(_MAX_CODES, len(distinct) - 2) + 1):
        for codes, others in ((slice(n), slice(n, None)), (slice(-n, None), slice(-n))):
            rest = distinct[others]
            gap = np.abs(distinct[codes][:, None] - rest).min()
            # From 0 on, 7, 8 and 9 may be rare counts.
            digits = np.isin(distinct[codes], _SCALE_CODES).any()
            steps = bool(np.all(rest == np.round(rest))) and rest[0] >= digits
            steps = steps and rest[-1] <= _HIGHEST_STEP and gap >= 2
            # 8 after 2, 4 and 6 is one more step.
            steps = steps and gap > np.diff(rest).max()
            far = gap > np.ptp(rest) and not digits
            if is_code[codes].all() and (steps or far):
                found = _as_codes(distinct, counts, codes)
    return found


def _find_negative(distinct: np.ndarray, counts: np.ndarray) -> dict[float, int]:
    """Find the negative numbers of a column if all of them are known codes, and few."""
    n = int(np.count_nonzero(distinct < 0))
    if n > _MAX_CODES or len(distinct) - n < 2 or not np.isin(distinct[:n], _ENDS).all():
        return {}
    return _as_codes(distinct, counts, slice(n))


def describe_codes(codes: Mapping[int, Sequence[Sentinel]], name: Callable[[int], str]) -> str:
    """Write in one clause which columns, as `name` calls them, hold which codes, and how often.

    Such as "Column q3 holds 99 in 41 rows", or "Columns q1, q2 and q3 hold 98 in 12 cells and 99 in
    41".
    """
    totals: Counter[float] = Counter()
    for found in codes.values():
        totals.update(dict(found))
    (first, n_first), *others = sorted(totals.items())
    one = len(codes) == 1
    held = [f"{first:g} in {counted(n_first, 'row' if one else 'cell')}"]
    held += [f"{value:g} in {n:,}" for value, n in others]
    named = join_words([name(j) for j in codes], _NAMED)
    return f"Column{'s' * (not one)} {named} hold{'s' * one} {join_words(held)}"
