"""Columns that say whether the value of another is missing: what was measured, not found."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid._utils.text import brief, list_first
from pckid.describe.missingness import find_missing_flags
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.question import (
    Answer,
    Question,
    Seen,
    advise_leaving_out,
    leave_out_or_use,
)

_SAMPLE_ROWS = 20_000


class FlagsOfMissing(Question):
    """Are the columns more than a sign of what is missing?"""

    code = "flags of missing"
    evidence = "{told}: clusters may then be of what was measured, not of what was found."
    advice = (
        "Leave {n:it|them} out: {drops}. If {n:it says|they say} more than that, and should count "
        "like other columns: {as_is}."
    )
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Compare columns of two values with the missing cells of all others."""
        if seen.is_settled:
            return
        tells = find_flags(seen)
        if tells:
            data = {"columns": [*tells], "tells": tells}
            yield self.doubt(next(iter(tells)), data, [*map(drop_column, tells)], stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say which column tells of which."""
        pairs = doubt.data["tells"].items()
        told = [f"'{brief(a, 40)}' says which rows lack '{brief(b, 40)}'" for a, b in pairs]
        return {"told": list_first(told, 4)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how they are left out, or used."""
        return advise_leaving_out(doubt, words)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to leave them out, or to use them."""
        return leave_out_or_use(doubt)


def find_flags(seen: Seen) -> dict[str, str]:
    """Find the columns of two values that are the missingness of another, with its name."""
    names = [name for name, _ in seen.used() if name not in seen.columns.wrong]
    n_rows = len(seen.columns.X)
    some = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE_ROWS)).astype(int))
    flags = find_missing_flags(seen.columns.X[some][:, [seen.places[name] for name in names]])
    return {names[j]: names[i] for j, i in flags.items() if names[j] not in seen.rules.kept}


FLAGS_OF_MISSING = FlagsOfMissing()
