"""What the cells of a column tell: numbers or texts, names of the rows, free text, or categories.

One place for all that reads tables: arrays and dataframes, files, and data sets.
"""

import numpy as np

MAX_CATEGORIES = 255
"""As many as a column may hold; more texts name rows."""
_MIN_ROWS = 10
# As many different texts or fewer may well be categories.
_FEW_TEXTS = 20
# A few rows of an export, such as its totals, have no number of their own.
_MAX_MISSING = 0.1
# Repeats that chance would give on average: the probability of none is then below 0.001.
_REPEATS = 7.0
# Of fewer rows, measurements may well be all different.
MIN_DIFFERENT = 50


def holds_mostly(n_cells: int, n_observed: int) -> bool:
    """Return whether most of a column's observed cells are `n_cells`: numbers, dates or texts.

    So a column of texts is one of numbers if more than half of them are numbers; the others are
    mistakes in it, or codes for "missing".
    """
    return 2 * n_cells > n_observed


def tells_rows_apart(n_distinct: int, n_observed: int) -> bool:
    """Return whether categories tell groups of rows: not all cells are alike, and some two are.

    Where every one differs they name the rows.
    """
    return 1 < n_distinct < n_observed


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


def numbers_may_name_rows(values: np.ndarray) -> bool:
    """Return whether the numbers of a column (n_rows,) may name the rows, which is to be asked.

    They count the rows, or each of many rows holds a whole one of its own.
    """
    if len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1)):
        return True
    whole = bool(np.all(values == np.round(values)))  # False for a column with NaN
    return whole and len(values) >= MIN_DIFFERENT and len(np.unique(values)) == len(values)


def kind_of_texts(n_rows: int, n_observed: int, n_distinct: int) -> str:
    """Tell categories from texts that name the rows, each its own, and from names and remarks.

    Names and remarks are mostly different, and too many for categories.
    """
    if n_rows == n_observed == n_distinct > 1:
        return "row name"
    is_free = n_distinct > _FEW_TEXTS and 2 * n_distinct > n_observed
    return "free text" if is_free else "category"
