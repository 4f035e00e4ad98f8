"""Answers of a survey that are none: refused, don't know, not stated."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief, list_first
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.missing_words import is_no_answer
from pckid.frontends.options import Fix, take_as_missing, take_as_value
from pckid.frontends.questions.question import Answer, Question, Seen
from pckid.frontends.tables.missing import split_token


class NoAnswer(Question):
    """Are they answers?"""

    code = "no answer"
    evidence = "{listed}: taken as categories like the other answers."
    advice = "If that means missing: {fix}. If not: {keep}."
    scope = "table"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for such texts among others in columns of categories."""
        if seen.known is not None:
            return
        told = [split_token(token, seen.table.names) for token in seen.options.not_missing]
        found = dict[str, dict[str, int]]()
        for name, counts in seen.columns.counts.items():
            kept = {text for column, text in told if column in ("", name)}
            texts = {t: n for t, n in counts.items() if is_no_answer(t) and t not in kept}
            if texts and len(counts) - len(texts) > 1:
                found[name] = texts
        if found:
            different = dict.fromkeys(text for texts in found.values() for text in texts)
            fix = [take_as_missing(text) for text in different]
            yield self.doubt(next(iter(found)), {"columns": [*found], "texts": found}, fix)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Write which column holds what, and how often."""
        told = []
        for name, texts in doubt.data["texts"].items():
            cells = [f"'{brief(text, 30)}' ({n:,})" for text, n in texts.items()]
            told.append(f"'{brief(name, 40)}' holds {list_first(cells, 3)}")
        return {"listed": list_first(told, 4)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write what keeps them as answers."""
        return {"keep": words.write(_keep(doubt))}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both."""
        return [("Treat as missing", doubt.fix), ("They are answers", _keep(doubt))]


def _keep(doubt: Doubt) -> tuple[Fix, ...]:
    """Take the texts as answers, in the columns that hold them."""
    pairs = ((name, text) for name, texts in doubt.data["texts"].items() for text in texts)
    return tuple(take_as_value(text, name) for name, text in pairs)


NO_ANSWER = NoAnswer()
