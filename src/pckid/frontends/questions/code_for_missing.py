"""Numbers that look like codes for missing values, such as -999: one question for all columns."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, take_as_missing, take_as_value
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen
from pckid.frontends.tables.missing import as_number, split_token
from pckid.input.sentinels import Sentinel, describe_codes, find_codes


class CodeForMissing(Question):
    """Do the numbers mean missing?"""

    code = "code for missing"
    evidence = "{clause}, unlike {their} other values."
    advice = "If {n:that means|these mean} missing: {fix}. If not: {keep}."
    advice_if_kept = "If that means missing, leave such cells empty."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for known codes far from the other values.

        New rows of a model are placed with a word on it; another table waits for the answer.
        """
        X, measured = seen.columns.X, [*seen.numbers.values()]
        names = {seen.places[name]: name for name, _ in seen.used()}
        codes = {j: some for j, some in find_codes(X, measured).items() if j in names}
        n_coded = Counter(code.value for some in codes.values() for code in some)
        n_holding = {code: (X[:, measured] == code).any(axis=0).sum() for code in n_coded}
        found, fixes = dict[str, list[Sentinel]](), []
        for j in sorted(codes):
            asked = [code for code in codes[j] if not _is_value(code.value, names[j], seen)]
            if asked:
                found[names[j]] = asked
            # Other columns may hold it as a plain value.
            elsewhere = any(n_holding[code.value] > n_coded[code.value] for code in asked)
            fixes += [take_as_missing(f"{c.value:g}", names[j] if elsewhere else "") for c in asked]
        if found:
            data = {"columns": [*found], "codes": found}
            fix = list(dict.fromkeys(fixes))
            yield self.doubt(next(iter(found)), data, fix, stops=seen.known is None)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Write the codes, and how often each is there."""
        codes, names = doubt.data["codes"], [f"'{brief(name, 40)}'" for name in doubt.columns]
        clause = describe_codes(dict(enumerate(codes.values())), lambda place: names[place])
        return {"clause": clause, "their": "its" if len(names) == 1 else "their"}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write what takes them as values."""
        return {"keep": words.write(_keep(doubt)), "n": len(doubt.fix)}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to take them as missing, if that can be chosen, or as values."""
        if not doubt.fix:
            return [(AS_IT_IS, ())]
        label = "It is a value" if len(doubt.fix) == 1 else "They are values"
        return [("Treat as missing", doubt.fix), (label, _keep(doubt))]


def _keep(doubt: Doubt) -> tuple[Fix, ...]:
    """Take the codes as values, in the columns that hold them."""
    return tuple(
        take_as_value(f"{code.value:g}", name)
        for name, codes in doubt.data["codes"].items()
        for code in codes
    )


def _is_value(code: float, name: str, seen: Seen) -> bool:
    """Whether options say that a number is a value of a column."""
    told = (split_token(token, seen.table.names) for token in seen.options.not_missing)
    return any(column in ("", name) and as_number(text) == code for column, text in told)


CODE_FOR_MISSING = CodeForMissing()
