"""Numbers of one column in different units."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, drop_column, take_as_missing
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out
from pckid.frontends.tables.formats import FormatChoice
from pckid.frontends.tables.numbers import observed_cells

# A unit in so few of the cells, and so many different ones, may be taken as missing.
_FEW, _MAX_TEXTS = 0.1, 5


class MixedUnits(Question):
    """What becomes of a column in several units?"""

    code = "mixed units"
    evidence = "{column} holds numbers in different units: {listed}."
    advice = "Convert them to one unit, {cells}or leave the column out: {drop}."
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
                fix = _take_few_as_missing(seen, name) if len(units) == 1 else []
                yield self.doubt(name, data, fix or [drop_column(name)], stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """List the units."""
        listed = [f"'{unit}' in {n:,}" for unit, n in doubt.data["units"].items()]
        listed += [f"none in {doubt.data['n_bare']:,}"] if doubt.data["n_bare"] else []
        return {"listed": ", ".join(listed)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how few cells with a unit are taken as missing."""
        cells = [fix for fix in doubt.fix if fix.option == "na_values"]
        missing = f"take those with a unit as missing ({words.write(cells)}), "
        return {"cells": missing * bool(cells)}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it out, or the few cells with a unit, if there is something to choose."""
        out = leave_out(doubt.column)
        few = [] if doubt.fix in ((), out[1]) else [("Treat as missing", doubt.fix)]
        return [*few, out] if doubt.fix else []


def _take_few_as_missing(seen: Seen, name: str) -> list[Fix]:
    """Take cells with a unit as missing, where these are few and hardly any cell has one."""
    cells = observed_cells(seen.table.data.column(name), seen.rules.missing.of(name)).drop_null()
    has_unit = pc.match_substring_regex(cells, r"[^0-9.,'+\-\s]")
    texts = pc.filter(cells, has_unit)
    few = len(texts) <= _FEW * len(cells)
    different = texts.unique().to_pylist() if few else []
    return [take_as_missing(t, name) for t in different] if len(different) <= _MAX_TEXTS else []


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
