"""Numbers of one column in different units."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out
from pckid.frontends.tables.formats import FormatChoice


class MixedUnits(Question):
    """What becomes of a column in several units?"""

    code = "mixed units"
    evidence = "{column} holds numbers in different units: {listed}."
    advice = "Convert them to one unit, or leave the column out: {drop}."
    advice_if_kept = "Convert them to one unit."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns whose cells have several units, and fractions among percentages."""
        for name, reading in seen.used():
            choice, units = reading.choice, dict[str, int]()
            if choice is None:
                continue
            if reading.doubt == "units":
                units = {choice.spell(unit): count for unit, count in choice.units.items()}
            elif not reading.doubt and lacks_sign(choice) and are_fractions(seen, name):
                units = {"%": choice.n_fitting - choice.n_bare}
            if units:
                data = {"units": units, "n_bare": choice.n_bare}
                yield self.doubt(name, data, [drop_column(name)], stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """List the units."""
        listed = [f"'{unit}' in {n:,}" for unit, n in doubt.data["units"].items()]
        listed += [f"none in {doubt.data['n_bare']:,}"] if doubt.data["n_bare"] else []
        return {"listed": ", ".join(listed)}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it out, if there is something to choose."""
        return [leave_out(doubt.column)] if doubt.fix else []


def lacks_sign(choice: FormatChoice) -> bool:
    """Whether some of the cells of percentages lack their sign."""
    return choice.n_bare > 0 and [*map(choice.spell, choice.units)][:1] == ["%"]


def are_fractions(seen: Seen, name: str) -> bool:
    """Whether bare numbers of at most 1 stand beside percentages: fractions, another unit."""
    values, cells = seen.values(name), seen.table.data.column(name)
    has_sign = pc.fill_null(pc.match_substring(cells, "%"), False).to_numpy()
    bare, signed = values[~has_sign], values[has_sign]
    return bool(np.nanmax(bare, initial=0) <= 1 < np.nanmax(signed, initial=0))


MIXED_UNITS = MixedUnits()
