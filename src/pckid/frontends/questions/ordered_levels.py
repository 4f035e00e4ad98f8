"""Categories with an order: answers from never to always, and ranges such as <=20, 20-50, >50."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief, list_first
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, read_as
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen
from pckid.frontends.tables.ranges import are_ranges
from pckid.input.answers import find_order

_MIN_LEVELS = 3  # two have no middle that an order could tell of


class OrderedLevels(Question):
    """Do neighbours in the order resemble each other?"""

    code = "ordered levels"
    evidence = "{listed}: each level counts as a category of its own, whatever its neighbours are."
    advice = "If levels that follow each other are alike, say that they have an order: {ordinal}."
    scope = "table"
    refines = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for texts that are answers of a known scale, or ranges of numbers."""
        if seen.is_settled:
            return
        told = seen.rules.categorical | seen.rules.kept
        orders = dict[str, list[str]]()
        for name, counts in seen.columns.counts.items():
            order = None if name in told or len(counts) < _MIN_LEVELS else find_order([*counts])
            plain = not any(sign.isdigit() for text in counts for sign in text)
            if order and (plain or are_ranges(counts)):
                orders[name] = order
        if orders:
            yield self.doubt(next(iter(orders)), {"columns": [*orders], "orders": orders})

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Write the lowest and the highest level of each column."""
        told = [
            f"'{brief(name, 40)}' goes from '{brief(order[0], 30)}' to '{brief(order[-1], 30)}'"
            for name, order in doubt.data["orders"].items()
        ]
        return {"listed": list_first(told, 4)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how they are taken as ordered."""
        return {"ordinal": words.write(_take_as_ordered(doubt))}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both: on real tables neither is better as a rule."""
        categories = tuple(read_as(name, "category") for name in doubt.columns)
        return [
            (AS_IT_IS, ()),
            ("They have an order", _take_as_ordered(doubt)),
            ("Categories without an order", categories),
        ]


def _take_as_ordered(doubt: Doubt) -> tuple[Fix, ...]:
    return tuple(Fix("ordinal", name, name) for name in doubt.columns)


ORDERED_LEVELS = OrderedLevels()
