"""Dates of which nobody can tell the day from the month."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import read_as
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out


class AmbiguousDates(Question):
    """Which comes first, the day or the month?"""

    code = "ambiguous dates"
    evidence = "{column} holds dates in which day and month could be either way round."
    advice = "Say which: {first}, or {second}."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns whose dates fit both orders."""
        for name, reading in seen.used():
            if reading.doubt == "order":
                ways = tuple(read_as(name, way) for way in ("day-first", "month-first"))
                yield self.doubt(name, {"ways": ways}, stops=True)

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write both ways."""
        first, second = doubt.data["ways"]
        return {"first": words.write([first]), "second": words.write([second])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both ways."""
        first, second = doubt.data["ways"]
        return [("Day first", (first,)), ("Month first", (second,)), leave_out(doubt.column)]


AMBIGUOUS_DATES = AmbiguousDates()
