"""Rows at the end of a table that are no data: totals and averages, found by arithmetic."""

import numpy as np

from pckid.frontends.options import set_option
from pckid.frontends.tables.findings import Doubt
from pckid.frontends.tables.scanning import OpenTable

_MOST_ROWS = 3
_FEWEST_ABOVE, _FEWEST_COLUMNS = 3, 2
# A sum is exact but for rounding of its terms; a mean may be written with fewer digits.
_OFF_SUM, _OFF_MEAN = 1e-9, 1e-3


def find_totals(X: np.ndarray, names: list[str], table: OpenTable) -> Doubt | None:
    """Find totals below the rows of a text file or sheet, by the columns of numbers (n_rows, n).

    In two columns or more, and in half of those that vary, each of the last rows is the sum or the
    mean of the rows above them.
    Rows below these that hold no number are no data, either.
    """
    if table.text is None and table.parts[0].sheet is None:
        return None
    filled = np.flatnonzero((~np.isnan(X)).any(axis=1))
    end = int(filled[-1]) + 1 if len(filled) else 0
    for n_rows in range(1, _MOST_ROWS + 1):
        above, last = X[: end - n_rows], X[end - n_rows : end]
        if end < _FEWEST_ABOVE + n_rows:
            break
        if all(_sums_up(above, row) for row in last):
            n_all = len(X) - end + n_rows
            fix = set_option("skip_last", table.parts[-1].n_below + n_all)
            return Doubt("extra rows", names[0], (end,), {"n_rows": n_all}, (fix,))
    return None


def _sums_up(above: np.ndarray, row: np.ndarray) -> bool:
    """Whether a row (n_columns,) is the sum, or the mean, of those above (n_rows, n_columns)."""
    seen = ~np.isnan(above)
    sums = np.where(seen, above, 0.0).sum(axis=0)
    sizes = np.where(seen, np.abs(above), 0.0).sum(axis=0)
    means = sums / np.maximum(seen.sum(axis=0), 1)
    varies = np.nanmax(above, axis=0, initial=-np.inf) > np.nanmin(above, axis=0, initial=np.inf)
    with np.errstate(invalid="ignore"):
        is_sum = np.abs(row - sums) <= _OFF_SUM * sizes
        is_mean = np.abs(row - means) <= _OFF_MEAN * np.abs(means)
    useful = varies & (row != 0) & np.isfinite(row)
    fewest = max(_FEWEST_COLUMNS, useful.sum() / 2)
    return bool(max((is_sum & useful).sum(), (is_mean & useful).sum()) >= fewest)
