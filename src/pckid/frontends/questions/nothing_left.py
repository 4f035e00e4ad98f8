"""A table none of whose columns is used."""

from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.question import Answer, Question, Seen


class NothingLeft(Question):
    """Which columns should be used, after all?"""

    code = "nothing left"
    evidence = "No column is left to cluster: all hold dates, free text or names of rows."
    advice = "Take some of them: {say[dates]} or {say[columns]}."
    scope = "table"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """See whether a column but that of times is used."""
        if not seen.columns.readings.keys() - {*seen.options.times}:
            yield self.doubt(next(iter(seen.readings)), stops=True)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer nothing: the table of columns has ticks."""
        return []


NOTHING_LEFT = NothingLeft()
