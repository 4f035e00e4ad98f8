"""Numbers with zeros before them, as codes have."""

from collections.abc import Iterator

import numpy as np

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column, read_as
from pckid.frontends.questions.question import Answer, Question, Seen, as_category, leave_out
from pckid.input.meanings import MAX_CATEGORIES


class MayBeACode(Question):
    """Is the column a code of categories?"""

    code = "may be a code"
    evidence = "{column} holds numbers with zeros before them, as codes have."
    advice = "If so, take it as categories ({category}), or leave it out ({drop})."
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for such columns; of many different codes none tells much of others."""
        for name, reading in seen.used():
            if name not in seen.numbers or reading.choice or not reading.has_zeros:
                continue
            values = seen.values(name)
            n_distinct = len(np.unique(values[np.isfinite(values)]))
            if n_distinct > 1:
                few = n_distinct <= min(MAX_CATEGORIES, len(values) // 2)
                yield self.doubt(
                    name, fix=[read_as(name, "category") if few else drop_column(name)]
                )

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both, what is advised first."""
        both = [leave_out(doubt.column), as_category(doubt.column)]
        return both if not doubt.fix or doubt.fix[0].option == "drop" else both[::-1]


MAY_BE_A_CODE = MayBeACode()
