"""Numbers such as -9999 that look like codes for "missing"."""

from typing import NamedTuple

import numpy as np

# Codes that people write for "no value". Those that are plausible measurements count only when they
# stand far outside everything else in the column.
SENTINELS = (
    -99999, -32768, -9999, -999, -99, -9, -8888, -888, -88, -1,
    99, 888, 999, 8888, 9999, 32767, 65535, 99999, 999999, 1e20, 1e30, -1e20, -1e30,
)  # fmt: skip


class Sentinel(NamedTuple):
    """A value that looks like a code for "missing"."""

    value: float
    n_cells: int


def find_sentinels(values: np.ndarray) -> list[Sentinel]:
    """Find numbers that look like codes for "missing", such as -9999 or 999.

    A known code counts when it is the lowest or the highest value of the column, occurs at least
    twice, and lies further from the other values than these spread. Once is enough for a code that
    is hardly ever a measurement, if it lies ten times as far.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)

    Returns
    -------
    sentinels : list of Sentinel
    """
    distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    found = []
    while len(distinct) > 1:
        gap, place = _widest_end(distinct)
        rest = np.delete(distinct, place)
        if not _is_code(distinct[place], counts[place], gap, float(np.ptp(rest))):
            break
        found.append(Sentinel(float(distinct[place]), int(counts[place])))
        distinct, counts = rest, np.delete(counts, place)
    # Two values alone, 0 and -1 or 1 and 99, say nothing on what is usual.
    return found if len(distinct) > 2 else []


def _is_code(value: float, count: int, gap: float, spread: float) -> bool:
    """Tell whether a value, `gap` away from others that span `spread`, is a code for missing."""
    if count > 1:
        return value in SENTINELS and gap > spread
    return value in SENTINELS and abs(value) >= 888 and gap > 10 * spread


def _widest_end(distinct: np.ndarray) -> tuple[float, int]:
    """Tell which end of sorted values stands further from its neighbour, and how far."""
    low, high = distinct[1] - distinct[0], distinct[-1] - distinct[-2]
    return (float(low), 0) if low >= high else (float(high), len(distinct) - 1)
