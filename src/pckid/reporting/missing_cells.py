"""Whether the clusters follow the missing cells of the table."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from pckid._utils.text import counted
from pckid.describe.columns import missing_patterns
from pckid.describe.missingness import MissingnessLink, find_followed_missingness

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


def write_instability(shares: np.ndarray, n_partial: int | None = None) -> str:
    """Write how many rows would change cluster if their missing values were known.

    `shares` are as from `PCKID.missing_instability`, of all rows or of a sample; `n_partial` is the
    number of rows that lack some values, where it is a sample.
    """
    seen = shares[~np.isnan(shares)]
    expected, likely = float(seen.sum()), int((seen > 0.5).sum())
    if n_partial is not None:
        factor = n_partial / max(len(seen), 1)
        expected, likely = factor * expected, round(factor * likely)
    if expected < 0.5:
        return "No row would be expected to change cluster if its missing values were known."
    many = counted(max(round(expected), 1), "row")
    return (
        f"About {many} would change cluster if {'its' if many == '1 row' else 'their'} missing "
        f"values were known; for {counted(likely, 'row')} that is more likely than not."
    )
