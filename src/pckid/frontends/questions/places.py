"""Columns that say where rows lie: row and col, x and y, latitude and longitude."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid._utils.text import brief
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column, take_as_place
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen

# Names in small letters, without signs between them.
_PAIRS = (
    ("row", "col"), ("row", "column"), ("line", "sample"), ("y", "x"), ("lat", "lon"),
    ("lat", "lng"), ("lat", "long"), ("latitude", "longitude"), ("northing", "easting"),
    ("north", "east"), ("utmy", "utmx"), ("ycoord", "xcoord"), ("coordy", "coordx"),
    ("posy", "posx"), ("ypos", "xpos"), ("decimallatitude", "decimallongitude"),
    ("centroidy", "centroidx"),
)  # fmt: skip
# Names that stand for anything, unless they number pixels.
_VAGUE = (("line", "sample"), ("y", "x"), ("north", "east"))
# Hardly two rows lie in one place; many lie in one row of a grid.
_DISTINCT, _IN_LINE = 0.9, 3


class Places(Question):
    """Do two columns say where rows lie, or what they are?"""

    code = "places"
    evidence = (
        "{listed} may say where each row lies rather than what it is: clusters are then pieces of "
        "a map."
    )
    advice = "If so, say so: {places}. Or leave them out: {drops}."
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for two columns of numbers with such names, beside others.

        It is advised to take them as that where they number the pixels of an image.
        """
        if seen.is_settled or len(seen.columns.readings) < 3:
            return
        names = {re.sub(r"[\W_]", "", name.lower()): name for name in seen.numbers}
        for pair in _PAIRS:
            if {*pair} <= names.keys():
                columns = [names[each] for each in pair]
                X = np.stack([seen.values(name) for name in columns], axis=1)
                on_grid = lie_on_grid(X)
                if on_grid or (pair not in _VAGUE and lie_apart(X)):
                    fix = [take_as_place(name) for name in columns] if on_grid else []
                    yield self.doubt(columns[0], {"columns": columns}, fix)
                    return

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Name both columns."""
        first, second = (f"'{brief(name, 40)}'" for name in doubt.data["columns"])
        return {"listed": f"Columns {first} and {second}"}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how both are taken as places, and how they are left out."""
        ways = {"places": take_as_place, "drops": drop_column}
        names = doubt.data["columns"]
        return {key: words.write([way(name) for name in names]) for key, way in ways.items()}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to take both as places, or to leave them out."""
        place = "Where rows are", tuple(map(take_as_place, doubt.data["columns"]))
        drop = "Leave both out", tuple(map(drop_column, doubt.data["columns"]))
        return [place, drop, (AS_IT_IS, ())] if doubt.fix else [(AS_IT_IS, ()), place, drop]


def lie_apart(X: np.ndarray) -> bool:
    """Whether hardly two of the places (n_rows, 2) are the same."""
    known = X[~np.isnan(X).any(axis=1)]
    return len(known) > 2 and len(np.unique(known, axis=0)) >= _DISTINCT * len(X)


def lie_on_grid(X: np.ndarray) -> bool:
    """Whether places (n_rows, 2) are those of pixels: no two the same, in equal steps, in lines."""
    if np.isnan(X).any() or len(np.unique(X, axis=0)) < len(X):
        return False
    for values in X.T:
        steps = np.diff(np.unique(values))
        if len(steps) < 2 or _IN_LINE * (len(steps) + 1) > len(X):
            return False
        multiples = steps / steps.min()
        if (np.abs(multiples - np.round(multiples)) > 1e-6).any():
            return False
    return True


PLACES = Places()
