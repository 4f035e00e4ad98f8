"""Numbers of which some lack the unit of the others."""

from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.mixed_units import are_fractions, lacks_sign
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen
from pckid.frontends.tables.formats import CURRENCIES


class UnitLeftOut(Question):
    """Are numbers without a unit in that of the others?"""

    code = "unit left out"
    evidence = (
        "{column} has no {unit} in {n_bare} of {n_cells} cells; they are taken as {unit} too."
    )
    advice = "Check them."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns with a unit in most cells."""
        for name, reading in seen.used():
            choice = reading.choice
            if reading.doubt or not choice or not choice.n_bare:
                continue
            has_currency = not CURRENCIES.keys().isdisjoint(choice.units)
            if has_currency or (lacks_sign(choice) and are_fractions(seen, name)):
                continue
            data = {"unit": choice.spell(next(iter(choice.units))), "n_bare": choice.n_bare}
            yield self.doubt(name, data | {"n_cells": choice.n_fitting})

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it as it is: only the table's owner can check."""
        return [(AS_IT_IS, ())]


UNIT_LEFT_OUT = UnitLeftOut()
