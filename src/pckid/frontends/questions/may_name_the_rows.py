"""Whole numbers that count the rows, or are all different."""

from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import Answer, Question, Seen
from pckid.input.meanings import numbers_may_name_rows


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
            if plain and numbers_may_name_rows(seen.values(name)):
                yield self.doubt(name)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both."""
        named = Fix("row_names", doubt.column, doubt.column)
        return [("It names the rows", (named,)), ("It is a number", ())]


MAY_NAME_THE_ROWS = MayNameTheRows()
