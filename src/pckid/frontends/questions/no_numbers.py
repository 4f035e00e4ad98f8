"""Columns of a type that holds no numbers, such as lists."""

from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.cells_of_text import list_cells
from pckid.frontends.questions.question import Answer, Question, Seen, as_category, leave_out


class NoNumbers(Question):
    """What becomes of such a column?"""

    code = "no numbers"
    evidence = "{column} holds {example}."
    advice = (
        "Write what tells rows apart as columns of numbers, leave it out ({drop}), or take it as "
        "categories ({category})."
    )
    advice_if_kept = "Numbers are expected there."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns whose type says so."""
        for cells in list_cells(seen):
            if cells.found.by_type:
                yield self.doubt(cells.name, cells.data, [drop_column(cells.name)], stops=True)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to leave it out, or to take it as categories."""
        return [leave_out(doubt.column), as_category(doubt.column)]


NO_NUMBERS = NoNumbers()
