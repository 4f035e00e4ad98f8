"""How columns of numbers are distributed: long tails, and pairs that put rows in one order."""

from collections.abc import Iterator, Mapping

import numpy as np

from pckid.frontends.tables.findings import Doubt

# Half of the range between the 5 % of lowest and of highest numbers lies in this share of it, or
# less: so it is in logarithmic normal numbers whose 5 % and 95 % are a factor of 40 apart.
_TAIL = 6.0
_MIN_ROWS, _MIN_VALUES = 20, 10
_SAME = 0.995  # the rank correlation of columns that say the same
_NEARLY = 0.95  # of ranks among the rows of each column, before those of both are ranked
_MAX_ROWS, _MAX_COLUMNS = 2000, 500


def find_shapes(columns: Mapping[str, np.ndarray]) -> Iterator[Doubt]:
    """Report columns (n_rows,) with long tails, and pairs that say the same twice.

    Pairs are compared in at most 2,000 rows, spread over the table, of the first 500 columns.
    """
    names = list(columns)
    if not names:
        return
    tails = [name for name in names if has_long_tail(columns[name])]
    if tails:
        yield Doubt("long tails", tails[0], (), {"columns": tails})
    n_rows = len(columns[names[0]])
    some = np.linspace(0, n_rows - 1, min(n_rows, _MAX_ROWS)).astype(int)
    sample = [columns[name][some] for name in names[:_MAX_COLUMNS]]
    pairs = [(names[i], names[j], r) for i, j, r in find_twins(np.array(sample).T)]
    if pairs:
        yield Doubt("same order", pairs[0][1], (), {"pairs": pairs})


def has_long_tail(column: np.ndarray) -> bool:
    """Return whether numbers (n_rows,), none negative, have a far longer tail above than below.

    From the median to 95 % of them it is more than six times as far as from 5 % to the median.
    """
    seen = column[np.isfinite(column)]
    if len(seen) < _MIN_ROWS or seen.min() < 0 or len(np.unique(seen)) < _MIN_VALUES:
        return False
    low, median, high = np.quantile(seen, [0.05, 0.5, 0.95])
    return bool(median > low and high / 2 - median / 2 > _TAIL * (median / 2 - low / 2))


def find_twins(X: np.ndarray) -> list[tuple[int, int, float]]:
    """Find pairs of columns (n_rows, n_columns) whose rank correlation is beyond ±0.995.

    By the rows that have both, of columns that take three values or more.
    """
    X = np.where(np.isfinite(X), X, np.nan)
    used = [j for j in range(X.shape[1]) if len(np.unique(X[~np.isnan(X[:, j]), j])) > 2]
    scores = np.column_stack([_scores(X[:, j]) for j in used] or [np.empty((len(X), 0))])
    seen = (scores != 0).astype(float)
    norms = np.sqrt((scores**2).T @ seen)
    near = np.abs(scores.T @ scores) >= _NEARLY * np.maximum(norms * norms.T, 1e-12)
    found = []
    for a, b in np.argwhere(np.triu(near, 1)).tolist():
        i, j = used[a], used[b]
        both = ~np.isnan(X[:, [i, j]]).any(axis=1)
        ranks = np.column_stack([_rank(X[both, i]), _rank(X[both, j])])
        if both.sum() >= _MIN_ROWS and (np.ptp(ranks, axis=0) > 0).all():
            correlation = float(np.corrcoef(ranks.T)[0, 1])
            if abs(correlation) > _SAME:
                found.append((i, j, correlation))
    return found


def _scores(column: np.ndarray) -> np.ndarray:
    """Rank the numbers of a column (n_rows,) around 0; exactly 0 where missing, never elsewhere."""
    seen = ~np.isnan(column)
    ranks = _rank(column[seen])
    scores = np.zeros(len(column))
    centred = ranks - ranks.mean()
    scores[seen] = np.where(centred == 0, 1e-9, centred)
    return scores


def _rank(values: np.ndarray) -> np.ndarray:
    """Rank numbers (n,) from 1; equal ones share the mean of their ranks."""
    # As `scipy.stats.rankdata` does, whose import takes longer than a small table.
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[index]
