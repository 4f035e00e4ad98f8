"""Numbers with a long tail: a few are far above all others."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid.frontends.dialect import Dialect, fill
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.columns_are_rows import COLUMNS_ARE_ROWS
from pckid.frontends.questions.names import IDS, split_name
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen

# Half of the range between the 5 % of lowest and of highest numbers lies in this share of it, or
# less: so it is in logarithmic normal numbers whose 5 % and 95 % are a factor of 40 apart.
_TAIL = 6.0
_MIN_ROWS, _MIN_VALUES = 20, 10
# Columns of intensities: so many, of levels so many times apart, and most of them with a longer
# tail above than below, as logarithmic normal numbers of a standard deviation of 0.25 have.
_MIN_ALIKE, _LEVELS_APART, _LEAN = 50, 10.0, 1.5
ALL = "all"
"""Stands for all columns, where logarithms are asked for."""


_SOME = (
    "{columns!l} {columns:holds|hold} a few numbers far above all others, which decide where "
    "clusters lie."
)
_ALL = (
    "All {n_columns:,} columns hold amounts with long tails, around levels that are far apart, as "
    "intensities and concentrations do."
)


class LongTails(Question):
    """Do ratios rather than differences tell rows apart?"""

    code = "long tails"
    evidence = "{told}"
    advice = "If ratios rather than differences tell rows apart, take logarithms: {log}."
    scope = "table"
    refines = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns of numbers with a long tail, but for those with another doubt."""
        if seen.is_settled:
            return
        if seen.first(COLUMNS_ARE_ROWS.code):
            return
        if len(seen.numbers) == len(seen.columns.readings) and hold_intensities(seen.columns.X):
            yield self.doubt(next(iter(seen.numbers)), {"columns": [*seen.numbers], "all": True})
            return
        aside = {name for doubt in seen.doubts for name in doubt.columns} | seen.of_kinds
        # An id has no ratios.
        names = [n for n in seen.numbers if n not in aside and IDS.isdisjoint(split_name(n))]
        tails = [name for name in names if has_long_tail(seen.values(name))]
        if tails:
            yield self.doubt(tails[0], {"columns": tails})

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say what a few columns hold, or all."""
        return {
            "told": fill(
                _ALL if doubt.data.get("all") else _SOME,
                {**doubt.data, "n_columns": len(doubt.data["columns"])},
            )
        }

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how logarithms are taken."""
        return {"log": words.log([ALL] if doubt.data.get("all") else doubt.data["columns"])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it as it is."""
        return [(AS_IT_IS, ())]


def hold_intensities(X: np.ndarray) -> bool:
    """Whether many columns (n_rows, n_columns) hold amounts on one scale: none negative, and most
    with a longer tail above than below, around levels that are far apart."""
    X = X[:, np.isfinite(X).sum(axis=0) >= _MIN_VALUES]
    if X.shape[1] < _MIN_ALIKE or len(X) < _MIN_VALUES or not np.nanmin(X) >= 0:
        return False
    low, median, high = np.nanquantile(X, [0.05, 0.5, 0.95], axis=0)
    level, varies = median[median > 0], median > low
    if not len(level) or not varies.any():
        return False
    few, many = np.quantile(level, [0.05, 0.95])
    lean = np.median(((high - median) / np.where(varies, median - low, np.inf))[varies])
    return bool(many >= _LEVELS_APART * few and lean > _LEAN)


def has_long_tail(column: np.ndarray) -> bool:
    """Return whether numbers (n_rows,), none negative, have a far longer tail above than below.

    From the median to 95 % of them it is more than six times as far as from 5 % to the median.
    """
    seen = column[np.isfinite(column)]
    if len(seen) < _MIN_ROWS or seen.min() < 0 or len(np.unique(seen)) < _MIN_VALUES:
        return False
    low, median, high = np.quantile(seen, [0.05, 0.5, 0.95])
    return bool(median > low and high / 2 - median / 2 > _TAIL * (median / 2 - low / 2))


LONG_TAILS = LongTails()
