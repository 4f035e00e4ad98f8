"""Columns of more different texts than categories may be."""

from collections import Counter
from collections.abc import Iterator

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.question import Answer, Question, Seen, leave_out
from pckid.input.meanings import MAX_CATEGORIES


class TooManyCategories(Question):
    """Can the column be left out?"""

    code = "too many categories"
    evidence = (
        "{column} holds {n_distinct} different texts in {n_observed} rows, too many for categories "
        f"(at most {MAX_CATEGORIES})."
    )
    advice = "Leave it out: {aside_or_drop}."
    advice_if_kept = "Correct such cells."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Count the texts; those that are all different are left out in any case."""
        for name, _ in seen.used():
            counts = seen.columns.counts.get(name, Counter[str]())
            n_distinct, n_observed = len(counts), counts.total()
            if MAX_CATEGORIES < n_distinct < n_observed:
                data = {"n_distinct": n_distinct, "n_observed": n_observed}
                yield self.doubt(name, data, [drop_column(name)], stops=True)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it out, if there is something to choose."""
        return [leave_out(doubt.column)] if doubt.fix else []


TOO_MANY_CATEGORIES = TooManyCategories()
