"""Columns of categories that others determine: one by another, or by two others together."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from pckid._utils.text import brief, list_first
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.names import CASES, IDS, split_name
from pckid.frontends.questions.question import (
    Answer,
    Question,
    Seen,
    advise_leaving_out,
    leave_out_or_use,
)

# Of the rows that are not in a column's commonest category, others say it wrongly for so few; and
# there are so many of them. Each combination of the others' categories has as many rows on average.
_MAX_WRONG, _MIN_RARER, _MIN_ROWS = 0.02, 10, 10
_MAX_LEVELS, _MAX_COLUMNS, _SAMPLE_ROWS = 12, 60, 5000
_FILLED = 0.5  # of the rows, all of them have a value there


class Determined(Question):
    """Do the columns say the same by definition?"""

    code = "determined"
    evidence = "{told}: what such columns say counts twice, and alone it makes clusters."
    advice = (
        "If {n:it follows|they follow} by definition, leave {n:it|them} out: {drops}. "
        "If not: {as_is}."
    )
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns of few values that one or two others determine, but for a few rows."""
        if seen.is_settled:
            return
        aside = {name for doubt in seen.doubts for name in doubt.columns}
        columns = {n: x for n, x in _few_valued(seen).items() if n not in aside}
        found = find_determined(columns)
        if found:
            data = {"columns": [*found], "by": found}
            yield self.doubt(next(iter(found)), data, [*map(drop_column, found)])

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say which column follows from which."""
        told = []
        for name, by in doubt.data["by"].items():
            others = " and ".join([f"'{brief(each, 40)}'" for each in by])
            told.append(f"'{brief(name, 40)}' follows from {others}")
        return {"told": list_first(told, 4)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how they are left out, or used."""
        return advise_leaving_out(doubt, words)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to leave them out, or to use them."""
        return leave_out_or_use(doubt)


def _few_valued(seen: Seen) -> dict[str, np.ndarray]:
    """Give the columns of categories, or of few whole numbers, as numbers (n_rows,)."""
    found: dict[str, np.ndarray] = {}
    n_rows = len(seen.columns.X)
    some = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE_ROWS)).astype(int))
    for name, _ in seen.used():
        if name in seen.columns.wrong or name in seen.rules.kept or len(found) == _MAX_COLUMNS:
            continue
        values = seen.values(name)[some]
        levels = np.unique(values[np.isfinite(values)])
        # What is known of a case follows from which one it is.
        if not (IDS | CASES).isdisjoint(split_name(name)):
            continue
        whole = name in seen.columns.counts or bool(np.all(levels == np.round(levels)))
        if 1 < len(levels) <= _MAX_LEVELS and whole:
            found[name] = values
    return found


def find_determined(columns: Mapping[str, np.ndarray]) -> dict[str, tuple[str, ...]]:
    """Find the columns (n_rows,) that one or two others determine, and these.

    Of two that determine each other the later one; what was found determines nothing more.
    """
    codes = {name: _number(values) for name, values in columns.items()}
    found: dict[str, tuple[str, ...]] = {}
    names = [*codes]
    for name in reversed(names):
        others = [other for other in names if other != name and other not in found]
        ones = [(other,) for other in others if codes[other].max() >= codes[name].max()]
        twos = combinations([o for o in others if codes[o].max() < _MIN_ROWS], 2)
        for by in (*ones, *twos):
            if _determines([codes[each] for each in by], codes[name]):
                found[name] = by
                break
    return {name: found[name] for name in names if name in found}


def _number(values: np.ndarray) -> np.ndarray:
    """Number the different values (n_rows,) from 0; −1 where one is missing."""
    codes = np.full(len(values), -1)
    known = np.isfinite(values)
    codes[known] = np.unique(values[known], return_inverse=True)[1]
    return codes


def _determines(by: list[np.ndarray], codes: np.ndarray) -> bool:
    """Whether columns of codes (n_rows,) together determine another one, but for a few rows."""
    known = (codes >= 0) & np.all([each >= 0 for each in by], axis=0)
    if known.sum() < max(_FILLED * len(codes), 4 * _MIN_ROWS):
        return False
    cell = np.zeros(int(known.sum()), dtype=np.int64)
    for each in by:
        cell = cell * (int(each.max()) + 1) + each[known]
    n_cells = len(np.unique(cell))
    n_levels, y = int(codes.max()) + 1, codes[known]
    counts = np.bincount(y, minlength=n_levels)
    n_rarer = len(y) - counts.max()
    if n_rarer < _MIN_RARER or len(y) < _MIN_ROWS * n_cells:
        return False
    table = np.bincount(cell * n_levels + y, minlength=n_levels * (int(cell.max()) + 1))
    n_wrong = len(y) - table.reshape(-1, n_levels).max(axis=1).sum()
    return bool(n_wrong <= _MAX_WRONG * n_rarer)


DETERMINED = Determined()
