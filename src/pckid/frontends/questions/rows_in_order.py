"""Rows that may follow each other in time: a column of times rises, and neighbours are alike."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column, take_as_place
from pckid.frontends.questions.question import AS_IT_IS, LEAVE_OUT, Answer, Question, Seen
from pckid.frontends.tables.numbers import try_numbers
from pckid.significance.row_order import find_alike_neighbours, is_sorted

# Names of columns of numbers that are times, in small letters.
_TIMES = frozenset({
    "time", "t", "date", "day", "hour", "minute", "second", "week", "month", "year", "timestamp",
    "datetime", "step", "epoch", "when",
})  # fmt: skip
_MAX_ROWS = 20_000  # by which it is judged whether neighbours are alike
_DISTINCT = 0.2  # of the rows, so many have a time of their own


class RowsInOrder(Question):
    """Do rows follow each other in time?"""

    code = "rows in order"
    evidence = (
        "{column} rises from row to row, and rows that follow each other are alike "
        "({alike:.2f}): in time that alone makes clusters."
    )
    advice = "If it says when each row was, say so: {place}.{out}"
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for a column of times that rises through a table whose neighbours are alike."""
        if seen.is_settled or seen.options.place or seen.options.row_names:
            return
        if seen.first("repeated ids") or seen.first("places"):
            return
        time = next((name for name in seen.readings if _is_rising_time(seen, name)), None)
        others = [j for name, j in seen.numbers.items() if name != time]
        if time is None or not others:
            return
        alike = find_alike_neighbours(seen.columns.X[:_MAX_ROWS][:, others])
        if alike > 0:
            data = {"alike": alike, "is_used": time in seen.places}
            yield self.doubt(time, data, [take_as_place(time)])

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how the column is taken as times."""
        place, drop = (words.write([way(doubt.column)]) for way in (take_as_place, drop_column))
        # Dates are left out in any case.
        return {"place": place, "out": f" Or leave it out: {drop}." * doubt.data["is_used"]}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to take the column as times, or to leave it out."""
        name = doubt.column
        out: list[Answer] = [(LEAVE_OUT, (drop_column(name),))] if doubt.data["is_used"] else []
        return [("When rows were", (take_as_place(name),)), *out, (AS_IT_IS, ())]


def _is_rising_time(seen: Seen, name: str) -> bool:
    """Whether a column holds times, by its kind or its name, that rise from row to row."""
    reading = seen.readings[name]
    is_date = reading.kind == "date" and not reading.doubt
    is_named = reading.kind in ("number", "row name") and name.strip().lower() in _TIMES
    if not (is_date or is_named):
        return False
    found: Any = None
    if name in seen.places:
        found = seen.values(name)
    else:
        found = try_numbers(seen.table, name, seen.rules.missing, reading.form)
    if not isinstance(found, np.ndarray) or np.isnan(found).any():
        return False
    many = len(np.unique(found)) >= _DISTINCT * len(found)
    return many and bool(found[-1] > found[0]) and is_sorted(found)


ROWS_IN_ORDER = RowsInOrder()
