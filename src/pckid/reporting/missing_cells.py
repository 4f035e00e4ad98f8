"""Whether the clusters follow the missing cells of the table."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from pckid.describe.missingness import MissingnessLink, find_followed_missingness
from pckid.inspection.columns import missing_patterns

MAX_PATTERNS = 10
MAX_LINKS = 5


class PatternRow(NamedTuple):
    """One pattern of missing cells: which columns, its rows, and those in each cluster."""

    missing: list[str]
    n_rows: int
    counts: list[int]


class MissingCells(NamedTuple):
    """Patterns of missing cells against clusters."""

    n_patterns: int
    patterns: list[PatternRow]  # the commonest
    links: list[tuple[str, MissingnessLink]]  # columns whose missing cells follow the clusters
    together: list[str]  # those that do so more than by chance
    follow: list[str]  # those for which the values do not explain it, which a reader is warned of


def summarise_missing_cells(
    values: np.ndarray, labels: np.ndarray, names: list[str], categorical: Collection[int] = ()
) -> MissingCells:
    """Set patterns of missing cells against clusters.

    Of rows (n_samples, n_features) with NaN where missing, the labels (n_samples,), the names of
    the columns, and which of them hold `categorical` numbers.
    """
    patterns = missing_patterns(~np.isnan(values))
    n_clusters = int(labels.max(initial=-1)) + 1
    rows = []
    for index, n_rows in enumerate(patterns.counts[:MAX_PATTERNS].tolist()):
        missing = [names[j] for j in np.flatnonzero(~patterns.observed[index])]
        inside = labels[(patterns.row_pattern == index) & (labels >= 0)]
        rows.append(PatternRow(missing, n_rows, np.bincount(inside, minlength=n_clusters).tolist()))
    found = find_followed_missingness(values, labels, categorical)
    shown = [(names[link.feature], link) for link in found.links[:MAX_LINKS] if link.strength > 0]
    together, follow = ([names[j] for j in part] for part in (found.together, found.followed))
    return MissingCells(len(patterns.counts), rows, shown, together, follow)
