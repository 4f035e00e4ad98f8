"""Infinite numbers."""

from collections.abc import Iterator

import numpy as np

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.table import name_row
from pckid.frontends.options import drop_column, take_as_missing
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out


class InfiniteNumbers(Question):
    """What becomes of a number without a size?"""

    code = "infinite numbers"
    evidence = "{column} holds an infinite number in {where}."
    advice = "Replace it, or leave the cell empty to treat it as missing, as with {fix}."
    advice_if_kept = "Correct such cells."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for them."""
        for name, _ in seen.used():
            infinite = np.flatnonzero(np.isinf(seen.values(name)))
            if len(infinite):
                row = int(infinite[0])
                cell = seen.table.data.column(name)[row].as_py()
                is_text = isinstance(cell, str)
                fix = take_as_missing(cell.strip()) if is_text else drop_column(name)
                data = {"where": name_row(seen.table.parts, row + 1)}
                yield self.doubt(name, data, [fix], rows=(row + 1,), stops=True)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to take it as missing; a number of a typed file can only go with its column."""
        if doubt.fix and doubt.fix[0].option == "na_values":
            return [("Treat as missing", doubt.fix), ("It is a value", ())]
        return [leave_out(doubt.column)] if doubt.fix else []


INFINITE_NUMBERS = InfiniteNumbers()
