"""What columns of numbers show: totals below them, long tails, pairs that put rows in one order."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np

from pckid.frontends.options import Fix
from pckid.frontends.tables.findings import Doubt
from pckid.frontends.tables.kinds import Columns
from pckid.frontends.tables.table import FileTable

# Half of the range between the 5 % of lowest and of highest numbers lies in this share of it, or
# less: so it is in logarithmic normal numbers whose 5 % and 95 % are a factor of 40 apart.
_TAIL = 6.0
_MIN_ROWS, _MIN_VALUES = 20, 10
_SAME = 0.995  # the rank correlation of columns that say the same
_NEARLY = 0.95  # of ranks among the rows of each column, before those of both are ranked
_SAMPLE_ROWS, _MAX_COLUMNS = 2000, 500
_MAX_TOTALS = 3
_MIN_ABOVE, _MIN_COLUMNS = 3, 2
# Sums and means are exact but for the rounding of their terms, or rounded to the digits they are
# written with. Where these are few beside the standard deviation, data agree with them by chance.
_OFF_EXACT, _OFF_ROUNDED = 1e-9, 0.01


def find_shapes(found: Columns, problems: Sequence[Doubt]) -> list[Doubt]:
    """Report columns of numbers with long tails, and pairs that say the same twice.

    Those with another problem are left aside. Pairs are compared in at most 2,000 rows, spread
    over the table, of the first 500 columns.
    """
    aside = {problem.column for problem in problems} | {*found.wrong, *found.counts}
    columns = {
        name: values
        for (name, reading), values in zip(found.readings.items(), found.X.T, strict=True)
        if reading.kind == "number" and name not in aside
    }
    names, doubts = list(columns), []
    tails = [name for name in names if has_long_tail(columns[name])]
    if tails:
        doubts.append(Doubt("long tails", tails[0], (), {"columns": tails}))
    n_rows = len(found.X)
    some = np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE_ROWS)).astype(int)
    sample = [columns[name][some] for name in names[:_MAX_COLUMNS]]
    pairs = [(names[i], names[j], r) for i, j, r in find_twins(np.array(sample).T)] if names else []
    if pairs:
        doubts.append(Doubt("same order", pairs[0][1], (), {"pairs": pairs}))
    return doubts


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
    # Ranks around 0, which is also where a number is missing
    seen = ~np.isnan(X[:, used])
    scores = np.zeros(seen.shape)
    for k, j in enumerate(used):
        ranks = _rank(X[seen[:, k], j])
        scores[seen[:, k], k] = ranks - ranks.mean()
    norms = np.sqrt((scores**2).T @ seen.astype(float))
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


def _rank(values: np.ndarray) -> np.ndarray:
    """Rank numbers (n,) from 1; equal ones share the mean of their ranks."""
    # As `scipy.stats.rankdata` does, whose import takes longer than a small table.
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[index]


def find_totals(columns: Mapping[str, np.ndarray], table: FileTable) -> Doubt | None:
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
    for n_rows in range(1, _MAX_TOTALS + 1):
        if end < _MIN_ABOVE + n_rows:
            break
        kinds = [_compare(values[:end], n_rows) for values in columns.values()]
        told = np.array([kind for kind in kinds if kind is not None]).reshape(-1, n_rows, 3)
        sums, means, seen = told.sum(axis=0).T
        if (np.maximum(sums, means) >= np.maximum(_MIN_COLUMNS, seen / 2)).all():
            n_all = table.n_rows - end + n_rows
            fix = Fix("skip_last", table.parts[-1].n_below + n_all)
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
    found = []
    for x in last.tolist():
        # Half a unit of the last digit that it is written with
        off = 0.5 * 10.0 ** int(Decimal(repr(x)).as_tuple().exponent) if np.isfinite(x) else 0.0
        is_sum = x and abs(x - total) <= max(exact, min(rounded, off))
        is_mean = x and abs(x - mean) <= max(exact / len(seen), min(rounded, off))
        found.append((bool(is_sum), bool(is_mean), x == x))
    return found
