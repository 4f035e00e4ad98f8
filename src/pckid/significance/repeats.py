"""Rows that repeat another one exactly, more often than the values of the columns alone explain."""

import numpy as np

# So large a share of the rows repeats another one, in so many times as many pairs as expected.
_MIN_SHARE, _FAR_ABOVE = 0.05, 10


def find_repeats(values: np.ndarray) -> np.ndarray | None:
    """Number the distinct rows (n_samples,) of a table (n_samples, d); None: few rows repeat.

    Two rows of independent columns are equal by chance as often as the product over columns of how
    often two values of one are. Tables of few categories are full of rows that are alike, and this
    product is large there.
    """
    # Missing cells are equal to each other.
    filled = np.nan_to_num(values, nan=np.inf)
    distinct, place, counts = np.unique(filled, axis=0, return_inverse=True, return_counts=True)
    n, m = len(values), len(distinct)
    if n - m < _MIN_SHARE * n or m < 2:
        return None
    pairs = float((counts * (counts - 1.0)).sum())
    expected = n * (n - 1.0) * float(np.prod([_chance_equal(column) for column in distinct.T]))
    return place.reshape(-1) if pairs > _FAR_ABOVE * expected else None


def _chance_equal(column: np.ndarray) -> float:
    """Compute how often two of the values (m,) of a column are equal."""
    counts = np.unique(column, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum()) / (len(column) * (len(column) - 1.0))
