"""Limits among numbers, such as <0.5 or 90+."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import number_hint
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix
from pckid.frontends.questions.cells_of_text import EVIDENCE, CellsOfText, list_cells
from pckid.frontends.questions.question import Answer, Question, Seen


class Limits(Question):
    """What becomes of limits?"""

    code = "limits"
    evidence = EVIDENCE
    advice = (
        "Read limits as the numbers that they name: {value}; “half” halves those with “<”, "
        "“missing” treats them as missing.{rest}"
    )

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns whose texts are limits, and perhaps a few words."""
        for cells in list_cells(seen):
            if are_limits(cells):
                fix = (Fix("limits", "value"), *cells.codes)
                rows = (cells.found.row,)
                yield self.doubt(cells.name, cells.data, fix, rows=rows, stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say what the first text is."""
        return {"hint": number_hint(doubt.data["example"])}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write the ways to read a limit, and how other text is missing."""
        codes = [fix for fix in doubt.fix if fix.option == "na_values"]
        rest = f" If other text means missing: {words.write(codes)}." if codes else ""
        return {"value": words.write([Fix("limits", "value")]), "rest": rest}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer the three ways to read a limit."""
        rest = tuple(fix for fix in doubt.fix if fix.option != "limits")
        limits = {text.strip("<>=≤≥+ ") for text, _ in doubt.data["texts"]}
        value = f"Read as {limits.pop() if len(limits) == 1 else 'the limit'}"
        ways = {"value": value, "half": "Half", "missing": "Missing"}
        return [(label, (Fix("limits", way), *rest)) for way, label in ways.items()]


def are_limits(cells: CellsOfText) -> bool:
    """Whether some of the texts are limits, and all are known."""
    return cells.n_limits > 0 and cells.plain and cells.found.all_texts


LIMITS = Limits()
