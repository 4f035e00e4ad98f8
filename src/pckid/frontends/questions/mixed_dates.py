"""Dates with the day first beside dates with the month first."""

from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out


class MixedDates(Question):
    """What becomes of a column of dates in two orders?"""

    code = "mixed dates"
    evidence = (
        "{column} holds dates with the day first, such as 25/01/2024, and dates with the month "
        "first, such as 01/25/2024."
    )
    advice = "Write all of them in one way, or leave the column out: {drop}."
    advice_if_kept = "Write all of them in one way, such as 2024-03-31."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns where no order fits all cells."""
        for name, reading in seen.used():
            if reading.doubt == "orders":
                yield self.doubt(name, fix=[drop_column(name)], stops=True)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it out, if there is something to choose."""
        return [leave_out(doubt.column)] if doubt.fix else []


MIXED_DATES = MixedDates()
