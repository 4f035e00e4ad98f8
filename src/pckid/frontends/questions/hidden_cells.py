"""Rows and columns that a sheet hides, by a filter or otherwise: they are read like all others."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import counted, list_first
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, drop_column
from pckid.frontends.questions.question import Answer, Question, Seen


class HiddenCells(Question):
    """Should what a sheet hides be used?"""

    code = "hidden cells"
    evidence = "The sheet hides {told}; they are used like all others."
    advice = "To leave them out: {fix}."
    scope = "rows"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for hidden rows, and for hidden columns that are used."""
        readings, table = seen.columns.readings, seen.table
        n_rows = int(table.is_hidden.sum())
        # A model has settled which columns are used.
        columns = [n for n in table.hidden_columns if n in readings and seen.known is None]
        if n_rows or columns:
            data = {"n_rows": n_rows, "columns": columns}
            yield self.doubt(next(iter(readings), ""), data)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say how many rows, and which columns."""
        n_rows, columns = doubt.data["n_rows"], doubt.data["columns"]
        told = [counted(n_rows, "row")] * (n_rows > 0)
        told += [f"{counted(len(columns), 'column')} ({list_first(columns)})"] * bool(columns)
        return {"told": " and ".join(told)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write what leaves them out, which is not advised: who hid them, and why, is not known."""
        return {"fix": words.write(_leave_out(doubt))}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Use them, or leave them out."""
        return [("Use them", ()), ("Leave them out", _leave_out(doubt))]


def _leave_out(doubt: Doubt) -> tuple[Fix, ...]:
    rows = [Fix("visible_rows")] * (doubt.data["n_rows"] > 0)
    return (*rows, *map(drop_column, doubt.data["columns"]))


HIDDEN_CELLS = HiddenCells()
