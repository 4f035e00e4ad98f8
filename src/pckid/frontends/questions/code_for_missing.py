"""Numbers that look like codes for missing values, such as -999."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import take_as_missing
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen
from pckid.input.sentinels import describe_codes, find_codes


class CodeForMissing(Question):
    """Do the numbers mean missing?"""

    code = "code for missing"
    evidence = "{clause}, unlike its other values."
    advice = "If that means missing, add {fix}"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for known codes far from the other values."""
        X, measured = seen.columns.X, [*seen.numbers.values()]
        codes = find_codes(X, measured)
        n_coded = Counter(code.value for some in codes.values() for code in some)
        n_holding = {code: (X[:, measured] == code).any(axis=0).sum() for code in n_coded}
        for name, _ in seen.used():
            found = codes.get(seen.places[name], ())
            # Other columns may hold it as a plain value.
            elsewhere = any(n_holding[code.value] > n_coded[code.value] for code in found)
            where = name if elsewhere else ""
            fix = [take_as_missing(f"{code.value:g}", where) for code in found]
            if found:
                yield self.doubt(name, {"codes": found}, fix)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Write the codes, and how often each is there."""
        codes = {0: doubt.data["codes"]}
        return {"clause": describe_codes(codes, lambda _: f"'{brief(doubt.column)}'")}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to take them as missing, if that can be chosen."""
        missing: list[Answer] = [("Treat as missing", doubt.fix)] if doubt.fix else []
        return [*missing, ("It is a value" if missing else AS_IT_IS, ())]


CODE_FOR_MISSING = CodeForMissing()
