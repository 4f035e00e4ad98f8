"""Columns that an earlier result added."""

from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out

NEW_COLUMNS = ("cluster", "confidence", "outlier_score", "missing_instability")
"""What a clustering adds to a table."""
NAME_COLUMN = "cluster_name"
"""What it adds where clusters have names."""
GROUP_COLUMN = "group"
"""What it adds where groups with gaps between them are of several clusters."""


class EarlierResult(Question):
    """Should a column named as the result's own are be used?"""

    code = "earlier result"
    evidence = "The table already has a column '{name}', as an earlier result would."
    advice = "Leave it out ({drop}); the new result then takes its place."
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns of these names."""
        for name, _ in seen.used():
            if name in (*NEW_COLUMNS, NAME_COLUMN):
                yield self.doubt(name, fix=[drop_column(name)], stops=True)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it out: there is no other way."""
        return [leave_out(doubt.column)]


EARLIER_RESULT = EarlierResult()
