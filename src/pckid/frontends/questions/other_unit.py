"""Columns in another unit than in the table that a model was fitted on."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen
from pckid.frontends.tables.formats import fold_unit


class OtherUnit(Question):
    """Are the numbers in the unit of the model?"""

    code = "other unit"
    evidence = "{column} is in {here} here, but was in {there} where the model was fitted."
    advice = "If that is not the same, convert it."
    scope = "table"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Compare the units with those that the model knows.

        Numbers without a unit are taken to be in that of the others, except for percentages:
        without their sign they may be fractions.
        """
        if seen.known is None:
            return
        for name, reading in seen.columns.readings.items():
            if reading.kind != "number":
                continue
            unit = reading.choice.unit if reading.choice else ""
            expected = seen.known.units.get(name, "")
            differs = unit and expected and fold_unit(unit) != fold_unit(expected)
            if differs or (unit != expected and {unit, expected} == {"", "%"}):
                yield self.doubt(name, {"unit": unit, "expected": expected})

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Name both units."""
        here, there = (brief(doubt.data[key]) or "no unit" for key in ("unit", "expected"))
        return {"here": here, "there": there}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it as it is: a file of the right unit helps."""
        return [(AS_IT_IS, ())]


OTHER_UNIT = OtherUnit()
