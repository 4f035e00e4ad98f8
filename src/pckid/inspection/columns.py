"""What a table's columns hold, and where its holes are."""

from typing import NamedTuple

import numpy as np


class ColumnSummary(NamedTuple):
    """One column's counts and quartiles; NaN where nothing is observed."""

    name: str
    n_observed: int
    n_missing: int
    n_distinct: int
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float

    @property
    def share_missing(self) -> float:
        """Share of the rows without a value."""
        return self.n_missing / max(self.n_observed + self.n_missing, 1)


class Patterns(NamedTuple):
    """Which sets of columns are observed together.

    Attributes
    ----------
    observed : ndarray of shape (n_patterns, n_features), bool
        The patterns, the commonest first.
    counts : ndarray of shape (n_patterns,)
        How many rows have each.
    row_pattern : ndarray of shape (n_samples,)
        Index of each row's pattern.
    """

    observed: np.ndarray
    counts: np.ndarray
    row_pattern: np.ndarray


def summarise_column(name: str, values: np.ndarray) -> ColumnSummary:
    """Count and summarise the observed values of a column (n_samples,), NaN where missing."""
    seen = values[np.isfinite(values)]
    quartiles = np.quantile(seen, [0, 0.25, 0.5, 0.75, 1]) if len(seen) else np.full(5, np.nan)
    n_missing = int(np.isnan(values).sum())
    n_distinct = len(np.unique(seen))
    return ColumnSummary(name, len(values) - n_missing, n_missing, n_distinct, *quartiles.tolist())


def missing_patterns(observed: np.ndarray) -> Patterns:
    """Find the distinct patterns of observed cells (n_samples, n_features)."""
    _, first, index, counts = np.unique(
        np.packbits(observed, axis=1),
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    # Ties go to the pattern that comes first in the table.
    order = np.lexsort((first, -counts))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Patterns(observed[first[order]], counts[order], rank[index.reshape(-1)])


def observed_bands(observed: np.ndarray, max_bands: int = 200) -> np.ndarray:
    """Average neighbouring rows, so that a long table's holes fit into one picture.

    Gives the share of observed cells (n_samples, n_features) in each band (n_bands, n_features).
    """
    n_bands = min(len(observed), max_bands)
    starts = np.linspace(0, len(observed), n_bands + 1)[:-1].astype(int)
    sums = np.add.reduceat(observed, starts, axis=0, dtype=float)
    return sums / np.diff(np.append(starts, len(observed)))[:, None]


def find_outlier(values: np.ndarray) -> float | None:
    """Find the value that lies so far out that the column's other values seem all alike.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        NaN where a value is missing.

    Returns
    -------
    value : float or None
        The farthest value, if it lies more than 100,000 times as far from the median as the middle
        half of the values spreads.
    """
    seen = values[np.isfinite(values)]
    if len(seen) < 5:
        return None
    low, median, high = np.quantile(seen, [0.25, 0.5, 0.75])
    # Halves, because the difference of two huge numbers of opposite sign would overflow.
    distance = np.abs(seen / 2 - median / 2)
    farthest = int(np.argmax(distance))
    return float(seen[farthest]) if distance[farthest] / 1e5 > high / 2 - low / 2 > 0 else None


def looks_like_identifier(values: np.ndarray) -> bool:
    """Whether a column names the rows: it counts them, or many hold a whole number each of its own.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        NaN where a value is missing.
    """
    if len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1)):
        return True
    whole = bool(np.all(values == np.round(values)))  # False for a column with NaN
    return whole and len(values) >= 50 and len(np.unique(values)) == len(values)
