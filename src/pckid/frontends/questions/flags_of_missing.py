"""Columns that say whether the value of another is missing: what was measured, not found."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid._utils.text import brief, list_first
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
# A flag may disagree with what it tells of in so small a share of the rarer of its two values, and
# of the rows that have or lack the other value; each of these comes in so many rows.
_MAX_ERRORS, _MIN_ROWS = 0.02, 8
_FILLED = 0.98  # of its own cells


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
    X = seen.columns.X[some][:, [seen.places[name] for name in names]]
    missing = np.isnan(X)
    n_missing = missing.sum(axis=0)
    holed = np.flatnonzero(np.minimum(n_missing, len(some) - n_missing) >= _MIN_ROWS)
    found: dict[str, str] = {}
    for j, name in enumerate(names) if len(holed) else ():
        x, is_seen = X[:, j], ~missing[:, j]
        low, high = np.fmin.reduce(x, initial=np.inf), np.fmax.reduce(x, initial=-np.inf)
        two = np.isfinite([low, high]).all() and bool(np.isin(x[is_seen], (low, high)).all())
        few = is_seen.sum() < _FILLED * len(some)
        if not two or low == high or few or name in seen.rules.kept:
            continue
        flag, lacking = x[is_seen] == high, missing[np.ix_(is_seen, holed)]
        errors = (flag[:, None] != lacking).sum(axis=0)
        rarer = np.minimum(lacking.sum(axis=0), (~lacking).sum(axis=0))
        rarer = np.minimum(rarer, min(flag.sum(), (~flag).sum()))
        wrong = np.minimum(errors, len(flag) - errors)
        told = np.flatnonzero((rarer >= _MIN_ROWS) & (wrong <= _MAX_ERRORS * rarer))
        if len(told):
            found[name] = names[holed[told[np.argmin(wrong[told])]]]
    return found


FLAGS_OF_MISSING = FlagsOfMissing()
