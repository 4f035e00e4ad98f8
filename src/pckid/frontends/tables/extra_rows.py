"""Rows at the end of a table that are no data: totals and averages, found by arithmetic."""

from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from pckid.frontends.options import set_option
from pckid.frontends.tables.findings import Doubt
from pckid.frontends.tables.scanning import OpenTable

_MAX_ROWS = 3
_MIN_ABOVE, _MIN_COLUMNS = 3, 2
# Sums and means are exact but for the rounding of their terms, or rounded to the digits they are
# written with. Where these are few beside the standard deviation, data agree with them by chance.
_OFF_EXACT, _OFF_ROUNDED = 1e-9, 0.01


def find_totals(columns: Mapping[str, np.ndarray], table: OpenTable) -> Doubt | None:
    """Find totals below the rows of a text file or sheet, by its columns of numbers (n_rows,).

    In two columns or more, and in half of those that vary and have a number there, each of the
    last rows is the sum or the mean of the rows above them. Rows below these that hold no number
    are no data, either.
    """
    if not columns or (table.text is None and table.parts[0].sheet is None):
        return None
    last = [np.flatnonzero(~np.isnan(values[-100:])) for values in columns.values()]
    n_last = min(table.n_rows, 100)
    n_below = min((n_last - 1 - each[-1] for each in last if len(each)), default=0)
    end = table.n_rows - int(n_below)
    for n_rows in range(1, _MAX_ROWS + 1):
        if end < _MIN_ABOVE + n_rows:
            break
        kinds = [_compare(values[:end], n_rows) for values in columns.values()]
        told = np.array([kind for kind in kinds if kind is not None]).reshape(-1, n_rows, 3)
        sums, means, seen = told.sum(axis=0).T
        if (np.maximum(sums, means) >= np.maximum(_MIN_COLUMNS, seen / 2)).all():
            n_all = table.n_rows - end + n_rows
            fix = set_option("skip_last", table.parts[-1].n_below + n_all)
            return Doubt("extra rows", next(iter(columns)), (end,), {"n_rows": n_all}, (fix,))
    return None


def _compare(values: np.ndarray, n_rows: int) -> list[tuple[bool, bool, bool]] | None:
    """Tell of each of the last rows of a column (n,) whether it is the sum, or the mean, of others.

    And whether there is a number at all. None for a column that is constant or holds an infinity.
    """
    above, last = values[:-n_rows], values[-n_rows:]
    seen = above[~np.isnan(above)]
    if len(seen) == 0 or seen.min() == seen.max() or not np.isfinite(seen).all():
        return None
    total, size, mean = seen.sum(), np.abs(seen).sum(), seen.mean()
    exact, rounded = _OFF_EXACT * size, _OFF_ROUNDED * seen.std()
    return [
        (
            abs(x - total) <= max(exact, min(rounded, _half_unit(x))),
            abs(x - mean) <= max(exact / len(seen), min(rounded, _half_unit(x))),
            True,
        )
        if x and np.isfinite(x)
        else (False, False, x == x)
        for x in last.tolist()
    ]


def _half_unit(x: float) -> float:
    """Compute half a unit of the last digit that a number is written with."""
    exponent = Decimal(repr(x)).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)
