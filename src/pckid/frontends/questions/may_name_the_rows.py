"""Whole numbers that count the rows, or are all different."""

from collections.abc import Iterator

import numpy as np

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import Answer, Question, Seen


class MayNameTheRows(Question):
    """Does the column name the rows, or describe them?"""

    code = "may name the rows"
    evidence = (
        "{column} holds a whole number in every row, no two alike: it may name the rows rather "
        "than describe them."
    )
    advice = "If so, leave it out: {aside_or_drop}."
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for such columns of plain numbers; those with zeros before them may be codes."""
        for name, reading in seen.used():
            plain = name in seen.numbers and not reading.choice and not reading.has_zeros
            if plain and looks_like_identifier(seen.values(name)):
                yield self.doubt(name)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both."""
        named = Fix("row_names", doubt.column, doubt.column)
        return [("It names the rows", (named,)), ("It is a number", ())]


def looks_like_identifier(values: np.ndarray) -> bool:
    """Whether numbers (n_rows,) count the rows, or many rows hold a whole one each of its own."""
    if len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1)):
        return True
    whole = bool(np.all(values == np.round(values)))  # False for a column with NaN
    return whole and len(values) >= 50 and len(np.unique(values)) == len(values)


MAY_NAME_THE_ROWS = MayNameTheRows()
