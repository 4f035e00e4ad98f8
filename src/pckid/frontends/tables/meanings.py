"""What the cells of a column tell: whether they name the rows, are free text, or categories."""

import numpy as np

_MIN_ROWS = 10
# As many different texts or fewer may well be categories.
_FEW_TEXTS = 20
# A few rows of an export, such as its totals, have no number of their own.
_MAX_MISSING = 0.1
# Repeats that chance would give on average: the probability of none is then below 0.001.
_REPEATS = 7.0


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
