"""Tables in which each column is a sample, and each row something measured."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.transposing import COLUMN
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import Answer, Question, Seen

_MIN_COLUMNS, _MIN_ROWS = 6, 20
_MAX_TEXTS = 3  # beside the numbers: a name, a description, a group
# By far the most of how ranks of cells vary lies between rows, hardly any between columns.
_BETWEEN_ROWS, _BETWEEN_COLUMNS = 0.75, 0.1
_MAX_CELLS = 500_000
_DATED = re.compile(r"(?<!\d)(19|20)\d\d(?!\d)")


class ColumnsAreRows(Question):
    """Is each column a sample, and each row something measured of it?"""

    code = "columns are rows"
    evidence = (
        "{n_columns} columns of numbers are alike, while rows, which {named!q} names, differ in "
        "level: each column may be a sample, and each row something measured."
    )
    advice = "If so, say so: {transpose}."
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look at how cells differ between rows and columns; names of years are those of times."""
        table, n_rows = seen.table, len(seen.columns.X)
        named = [name for name, each in seen.readings.items() if each.kind == "row name"]
        texts = len(seen.readings) - len(seen.numbers)
        if (
            seen.is_settled
            or table.parts[0].unit == COLUMN
            or not named
            or named[0] in seen.numbers
            or texts > _MAX_TEXTS
            or len(seen.numbers) < _MIN_COLUMNS
            or n_rows < _MIN_ROWS
        ):
            return
        dated = sum(bool(_DATED.search(name)) for name in seen.numbers)
        step = max(1, n_rows * len(seen.numbers) // _MAX_CELLS)
        X = seen.columns.X[::step, list(seen.numbers.values())]
        if 2 * dated < len(seen.numbers) and are_columns_alike(X):
            yield self.doubt(
                next(iter(seen.numbers)), {"n_columns": len(seen.numbers), "named": named[0]}
            )

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how columns become rows."""
        return {"transpose": words.write([Fix("transpose")])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both."""
        return [("A row is a sample", ()), ("A column is a sample", (Fix("transpose"),))]


def are_columns_alike(X: np.ndarray) -> bool:
    """Whether cells (n_rows, n_columns) vary between rows, and hardly between columns.

    Shares of the variance of their ranks, less what as many groups of cells without any difference
    have.
    """
    seen = np.isfinite(X)
    if seen.sum(axis=1).min(initial=0) == 0:
        X, seen = X[seen.any(axis=1)], seen[seen.any(axis=1)]
    if not seen.any(axis=0).all() or len(X) < _MIN_ROWS:
        return False
    ranks = np.zeros(X.shape)
    ranks[seen] = rankdata(X[seen])
    ranks[seen] -= ranks[seen].mean()
    total, n = float((ranks**2).sum()), int(seen.sum())
    shares = []
    for axis in (1, 0):
        counts = seen.sum(axis=axis)
        between = float((ranks.sum(axis=axis) ** 2 / counts).sum())
        free = len(counts) - 1
        shares.append(1 - (total - between) / max(n - 1 - free, 1) / (total / (n - 1)))
    return shares[0] > _BETWEEN_ROWS and shares[1] < _BETWEEN_COLUMNS


COLUMNS_ARE_ROWS = ColumnsAreRows()
