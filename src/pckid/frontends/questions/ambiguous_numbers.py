"""Numbers that can be read in two ways, such as 1,234."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import read_as
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out
from pckid.frontends.tables.formats import read_numbers


class AmbiguousNumbers(Question):
    """Is a comma, or a point, that of thousands or of decimals?"""

    code = "ambiguous numbers"
    evidence = "{column}: {example!q} is {told}; all cells can be read either way."
    advice = "Say which: {first} (thousands) or {second} (decimal separator)."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns that two formats fit."""
        for name, reading in seen.used():
            choice = reading.choice
            if reading.doubt != "format" or not choice or not choice.rival:
                continue
            rival = choice.rival._replace(units=choice.format.units)
            both = sorted((choice.format, rival), key=lambda form: not form.thousands)
            ways = tuple(read_as(name, form.name) for form in both)
            cell = pa.array([choice.example])
            numbers = tuple(float(read_numbers(cell, form)[0][0]) for form in both)
            data = {"example": choice.example, "numbers": numbers, "ways": ways}
            yield self.doubt(name, data, stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Write the example in both ways."""
        return {"told": " or ".join(f"{number:,.10g}" for number in doubt.data["numbers"])}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write both ways."""
        first, second = doubt.data["ways"]
        return {"first": words.write([first]), "second": words.write([second])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both ways."""
        labels = [f"Read as {number:,.10g}" for number in doubt.data["numbers"]]
        ways = ((way,) for way in doubt.data["ways"])
        return [*zip(labels, ways, strict=True), leave_out(doubt.column)]


AMBIGUOUS_NUMBERS = AmbiguousNumbers()
