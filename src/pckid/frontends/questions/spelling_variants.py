"""Categories that may be one, written in different ways."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen
from pckid.frontends.tables.kinds import fold_text


class SpellingVariants(Question):
    """Do the texts mean the same?"""

    code = "spelling variants"
    evidence = (
        "{column} holds {listed}, which may be one category written in different ways: they count "
        "as different categories."
    )
    advice = "If they mean the same, {join}."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for texts that differ in capitals and blanks, or one that is another's initial."""
        for name, _ in seen.used():
            counts = seen.columns.counts.get(name)
            if counts is None or len(counts) == counts.total():
                continue
            alike: dict[str, list[tuple[str, int]]] = {}
            for text, count in counts.most_common():
                alike.setdefault(fold_text(text), []).append((text, count))
            for initial in [key for key in alike if len(key) == 1]:
                longer = [key for key in alike if key.startswith(initial) and key != initial]
                if len(longer) == 1 and len(longer[0]) > 2 and longer[0].isalpha():
                    alike[longer[0]] += alike.pop(initial)
            variants = [texts for texts in alike.values() if len(texts) > 1]
            keys = [[fold_text(text) for text, _ in texts] for texts in variants]
            joins = any(len(set(some)) < len(some) for some in keys)
            if variants:
                yield self.doubt(
                    name, {"variants": variants}, [Fix("ignore_case")] if joins else []
                )

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Write the first two, and how many more there are."""
        variants = doubt.data["variants"]
        n_more = sum(map(len, variants)) - 2
        listed = " and ".join(f"'{brief(text, 40)}' ({n:,})" for text, n in variants[0][:2])
        return {"listed": listed + (f", and {n_more} more such" if n_more else "")}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Say how they are joined, if they can be."""
        return {"join": f"join them: {words.write(doubt.fix)}" if doubt.fix else "write them alike"}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to join them."""
        return [*([("Take as one", doubt.fix)] if doubt.fix else []), (AS_IT_IS, ())]


SPELLING_VARIANTS = SpellingVariants()
