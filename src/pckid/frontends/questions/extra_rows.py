"""Totals below the rows: the last rows are the sums or the means of those above."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

import numpy as np

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import LEAVE_OUT, Answer, Question, Seen

_MAX_TOTALS = 3
_MIN_ABOVE, _MIN_COLUMNS = 3, 2
# Sums and means are exact but for the rounding of their terms, or rounded to the digits they are
# written with. Where these are few beside the standard deviation, data agree with them by chance.
_OFF_EXACT, _OFF_ROUNDED = 1e-9, 0.01


class ExtraRows(Question):
    """Are the last rows totals?"""

    code = "extra rows"
    evidence = (
        "The last {n_rows:row is|{n_rows:,} rows are} the sum or the mean of those above in two "
        "columns or more: totals, not data?"
    )
    advice = "If so, leave {n_rows:it|them} out: {fix}."
    scope = "rows"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look at the last rows; text among the numbers there stops a run."""
        columns, table = seen.columns, seen.table
        numbers = {name: columns.X[:, j] for name, j in seen.numbers.items()}
        n_rows, end = count_totals(numbers, table)
        if n_rows:
            n_data = len(columns.X) - n_rows
            stops = any(
                columns.wrong[name].row > n_data for name, _ in seen.used() if name in columns.wrong
            )
            fix = Fix("skip_last", table.parts[-1].n_below + n_rows)
            yield self.doubt(
                next(iter(numbers)), {"n_rows": n_rows}, [fix], rows=(end,), stops=stops
            )

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave them out."""
        return [(LEAVE_OUT if doubt.data["n_rows"] == 1 else "Leave them out", doubt.fix)]


def count_totals(columns: Mapping[str, np.ndarray], table: FileTable) -> tuple[int, int]:
    """Count the totals below a text file or sheet, by its columns of numbers (n_rows,).

    In two columns or more, and in half of those that vary and have a number there, each of the
    last rows is the sum or the mean of the rows above them. Rows below these that hold no number
    are no data, either. Returns the number of rows that are no data, and the last total.
    """
    if not columns or (table.text is None and table.parts[0].sheet is None):
        return 0, 0
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
            return table.n_rows - end + n_rows, end
    return 0, 0


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


EXTRA_ROWS = ExtraRows()
