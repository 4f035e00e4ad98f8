"""Numbers such as -9999 or 99 that look like codes for "missing"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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
_HIGHEST_STEP = 11.0  # of a scale of answers, 0 to 10 or 1 to 11
_FEWEST_CODED, _MOST_CODES = 3, 5
_HIGHEST_ALONE = -7.0  # of negative codes that need no other column; -1 may well be a change
_SHARED = 3  # columns that make a code of a number that one of them leaves in doubt
_ABOVE_COUNTS = 4
_NAMED = 5


class Sentinel(NamedTuple):
    """A value that looks like a code for "missing"."""

    value: float
    n_cells: int


def find_sentinels(values: np.ndarray) -> list[Sentinel]:
    """Find numbers of one column that look like codes for "missing", such as -9999 or 98 and 99.

    One or several known codes count when they are the lowest or the highest of the values (n,),
    occur at least twice, and lie further from the other values than these spread; or, from -7 down,
    when they alone are negative, one of them in three rows, and lie further off than the values of
    the lower half do from each other. Once is enough for a code that is hardly ever a measurement,
    if it lies ten times as far as the others spread. A 9 beside a complete scale from 1 up to 5 at
    most, or beside 0 and 1, counts where it lies as far as the scale is long, in three rows: if it
    were a count, some rows would hold a number between.
    `find_codes` does the same for a table, whose columns confirm each other.
    """
    distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    found: list[Sentinel] = []
    while True:
        for from_top in (False, True):
            n = _count_codes(distinct, counts, from_top)
            if n:
                break
        else:
            # Two values alone, 0 and -1 or 1 and 99, say nothing on what is usual; yes and no do.
            many = sum(code.n_cells for code in found) >= _FEWEST_CODED
            answers = _is_yes_no(distinct) and many and all(code.value != -1 for code in found)
            return found if len(distinct) > 2 or answers else []
        taken = slice(-n, None) if from_top else slice(0, n)
        found += map(Sentinel, distinct[taken].tolist(), counts[taken].tolist())
        kept = slice(0, -n) if from_top else slice(n, None)
        distinct, counts = distinct[kept], counts[kept]


def _count_codes(distinct: np.ndarray, counts: np.ndarray, from_top: bool) -> int:
    """Count the codes at one end of sorted values: as many as lie apart from the rest together."""
    if from_top:
        distinct, counts = -distinct[::-1], counts[::-1]
    sign = -1.0 if from_top else 1.0
    best = 0
    for n in range(1, min(_MOST_CODES, len(distinct) - 1) + 1):
        code, rest = sign * distinct[n - 1], distinct[n:]
        if code not in _ENDS:
            break
        gap, spread = float(rest[0] - distinct[n - 1]), float(np.ptp(rest))
        if code in _SCALE_CODES:
            nine = from_top and distinct[0] == -9
            apart = nine and counts[:n].sum() >= _FEWEST_CODED and gap >= spread
            apart = apart and (_is_scale(-rest[::-1]) or _is_yes_no(-rest[::-1]))
        elif counts[:n].sum() > 1:
            alone = not from_top and counts[:n].max() >= _FEWEST_CODED
            apart = gap > spread or (alone and _is_alone_negative(distinct[:n], rest))
        else:
            apart = abs(code) >= 888 and gap > 10 * spread
        best = n if apart else best
    return best


def _is_scale(steps: np.ndarray) -> bool:
    """Return whether sorted values are all steps of a scale from 1 up to 3, 4 or 5."""
    return 3 <= len(steps) <= 5 and bool(np.array_equal(steps, np.arange(1.0, len(steps) + 1)))


def _is_yes_no(steps: np.ndarray) -> bool:
    """Return whether sorted values are the two answers of a question: 0 and 1, or 1 and 2."""
    return steps.tolist() in ([0.0, 1.0], [1.0, 2.0])


def _is_alone_negative(codes: np.ndarray, rest: np.ndarray) -> bool:
    """Return whether codes below -1 are the only negative ones of sorted values, and apart."""
    if codes[-1] > _HIGHEST_ALONE or rest[0] < 0 or len(rest) < 3:
        return False
    lower = rest[: len(rest) // 2 + 1]
    return bool(rest[0] - codes[-1] > np.diff(lower).max())


def find_codes(X: np.ndarray, columns: Sequence[int] | None = None) -> dict[int, list[Sentinel]]:
    """Find numbers of a table that look like codes for "missing".

    Besides those that `find_sentinels` sees in single columns: a number beside the steps of a scale
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
    found = {int(j): find_sentinels(X[:, j]) for j in suspects}
    possible = {int(j): _possible_codes(X[:, j]) for j in suspects}
    sure = {code.value for codes in found.values() for code in codes}
    for value in {code.value for codes in possible.values() for code in codes}:
        shared = [j for j, codes in possible.items() if value in {code.value for code in codes}]
        if value not in sure and not _is_shared(X, value, shared):
            continue
        for j in shared:
            if value not in {code.value for code in found[j]}:
                found[j] += [code for code in possible[j] if code.value == value]
    sure = {code.value for codes in found.values() for code in codes if code.value < 0}
    for j in suspects.tolist() if sure else ():
        held = {code.value for code in found[j]}
        found[j] += [
            code
            for code in _only_negatives(X[:, j])
            if code.value not in held
            and (code.value in sure or (code.value >= -9 and any(each >= -9 for each in sure)))
        ]
    return {j: sorted(codes) for j, codes in found.items() if codes}


def _possible_codes(values: np.ndarray) -> list[Sentinel]:
    """List known codes at either end, far from the rest, or apart from a scale of answers."""
    distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    is_code = np.isin(distinct, _ENDS)
    found: list[Sentinel] = []
    for n in range(1, min(_MOST_CODES, len(distinct) - 2) + 1):
        for codes, rest in (
            (slice(0, n), distinct[n:]),
            (slice(len(distinct) - n, None), distinct[:-n]),
        ):
            gap = np.abs(distinct[codes][:, None] - rest).min()
            steps = bool(np.all(rest == np.round(rest))) and rest[0] >= 0
            steps = steps and rest[-1] <= _HIGHEST_STEP and gap >= 2
            far = gap > np.ptp(rest) and not np.isin(distinct[codes], _SCALE_CODES).any()
            if is_code[codes].all() and (steps or far):
                found = list(map(Sentinel, distinct[codes].tolist(), counts[codes].tolist()))
    return found


def _only_negatives(values: np.ndarray) -> list[Sentinel]:
    """List the negative numbers of a column if all of them are known codes, and few."""
    distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    n = int(np.count_nonzero(distinct < 0))
    if not 0 < n <= _MOST_CODES or len(distinct) - n < 2 or not np.isin(distinct[:n], _ENDS).all():
        return []
    return list(map(Sentinel, distinct[:n].tolist(), counts[:n].tolist()))


def _is_shared(X: np.ndarray, value: float, columns: Sequence[int]) -> bool:
    """Return whether a number stands apart in several columns, and in most that hold it."""
    if len(columns) < _SHARED:
        return False
    n_holding = np.count_nonzero(np.isin(X, value).any(axis=0))
    if len(columns) < 0.8 * n_holding:
        return False
    return value not in _SCALE_CODES or not _is_count(X, value, columns)


def _is_count(X: np.ndarray, value: float, columns: Sequence[int]) -> bool:
    """Return whether a number beside 0, 1, 2... may be the highest of some rare counts.

    Columns in which 0 is commoner than 1 may count; an answer that no question offers stands at
    least four above all steps of these `columns`, and no other column that may count has a
    number between.
    """
    may_count = np.flatnonzero(
        (np.fmin.reduce(X, axis=0) == 0) & ((X == 0).sum(axis=0) >= (X == 1).sum(axis=0))
    )
    if np.setdiff1d(columns, may_count).size >= _SHARED:
        return False
    own, all_steps = (
        np.max(part, where=(part < value) & ~np.isin(part, _SCALE_CODES), initial=0)
        for part in (X[:, columns], X[:, may_count])
    )
    return bool(all_steps > own or value - own < _ABOVE_COUNTS)


def describe_codes(codes: Mapping[int, Sequence[Sentinel]], name: Callable[[int], str]) -> str:
    """Write in one clause which columns, as `name` calls them, hold which codes, and how often.

    Such as "Column q3 holds 99 in 41 rows", or "Columns q1, q2 and q3 hold 98 in 12 cells and 99 in
    41".
    """
    totals: dict[float, int] = {}
    for value, n_cells in (code for found in codes.values() for code in found):
        totals[value] = totals.get(value, 0) + n_cells
    (first, n_first), *others = sorted(totals.items())
    one = len(codes) == 1
    held = [f"{first:g} in {counted(n_first, 'row' if one else 'cell')}"]
    held += [f"{value:g} in {n:,}" for value, n in others]
    named = join_words([name(j) for j in codes], _NAMED)
    return f"Column{'s' * (not one)} {named} hold{'s' * one} {join_words(held)}"
