"""What a table's columns hold, and where cells are missing."""

from typing import NamedTuple

import numpy as np

from pckid._utils.quantities import quantiles
from pckid.input.table import find_patterns


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
    """Which sets of columns are observed together."""

    observed: np.ndarray  # (n_patterns, n_features), bool: the patterns, the commonest first
    counts: np.ndarray  # (n_patterns,), how many rows have each
    row_pattern: np.ndarray  # (n_samples,), index of each row's pattern


def summarise_column(name: str, values: np.ndarray) -> ColumnSummary:
    """Count and summarise the observed values of a column (n_samples,), NaN where missing."""
    seen = values[np.isfinite(values)]
    quartiles = quantiles(seen, [0, 0.25, 0.5, 0.75, 1])
    n_missing = int(np.isnan(values).sum())
    n_distinct = len(np.unique(seen))
    return ColumnSummary(name, len(values) - n_missing, n_missing, n_distinct, *quartiles.tolist())


def missing_patterns(observed: np.ndarray) -> Patterns:
    """Find the distinct patterns of observed cells (n_samples, n_features)."""
    patterns, index = find_patterns(observed)
    _, first, counts = np.unique(index, return_index=True, return_counts=True)
    # Ties go to the pattern that comes first in the table.
    order = np.lexsort((first, -counts))
    return Patterns(patterns[order], counts[order], np.argsort(order)[index])


def observed_bands(observed: np.ndarray, max_bands: int = 200) -> np.ndarray:
    """Average neighbouring rows, so that the missing cells of a long table fit into one picture.

    Gives the share of observed cells (n_samples, n_features) in each band (n_bands, n_features).
    """
    n_bands = min(len(observed), max_bands)
    starts = np.linspace(0, len(observed), n_bands + 1)[:-1].astype(int)
    sums = np.add.reduceat(observed, starts, axis=0, dtype=float)
    return sums / np.diff(np.append(starts, len(observed)))[:, None]
