"""A column with a few values in few rows, which may hold known groups of these."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import Answer, Question, Seen, as_category

# A column is filled in a smaller share of the rows, with so many different values, each so many
# times.
_SPARSE, _MAX_GROUPS, _MIN_IN_GROUP = 0.2, 15, 3


class SparseGroups(Question):
    """Are these groups of some rows that are known?"""

    code = "known groups"
    evidence = (
        "{column} is filled in {n_observed} of {n_rows:+row}, with {n_distinct} different values: "
        "known groups of these rows?"
    )
    advice = (
        "If so, {groups}. If not, take it as categories ({category}), or leave it out ({drop})."
    )
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for the only column that is as sparse: of texts, or numbers that count from 0 or 1.

        In a table with other such columns, such as questions asked of few people, there is none.
        """
        if seen.is_settled or seen.options.known:
            return
        columns, n_rows, sparse = seen.columns, len(seen.columns.X), dict[str, np.ndarray]()
        for name, x in zip(columns.readings, columns.X.T, strict=True):
            filled = np.isfinite(x)
            few = name not in columns.wrong and filled.sum() < _SPARSE * n_rows
            if few and len(np.unique(x[filled])) > 1:
                sparse[name] = x[filled]
        name = next(iter(sparse), "")
        if len(sparse) != 1 or name in seen.rules.categorical | seen.rules.kept:
            return
        distinct, counts = np.unique(sparse[name], return_counts=True)
        if len(distinct) > _MAX_GROUPS or counts.min() < _MIN_IN_GROUP:
            return
        is_text, reading = name in columns.counts, columns.readings[name]
        counted = np.array_equal(distinct, distinct[0] + np.arange(len(distinct)))
        plain = reading.is_plain and not reading.has_zeros
        if is_text or (plain and distinct[0] in (0, 1) and counted):
            data = {"n_observed": int(counts.sum()), "n_rows": n_rows}
            yield self.doubt(name, data | {"n_distinct": len(distinct), "is_text": is_text})

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write what keeps the groups, or compares them."""
        return {"groups": words.groups(doubt.column)}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to keep them, to compare them, or to use the column."""
        name = doubt.column
        ways = {"Keep them": "known", "Compare only": "labels"}
        keep: list[Answer] = [(label, (Fix(way, name, name),)) for label, way in ways.items()]
        number: list[Answer] = [] if doubt.data["is_text"] else [("It is a number", ())]
        return [*keep, as_category(name), *number]


KNOWN_GROUPS = SparseGroups()
