"""What is found about a table, as data: facts and doubts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pckid.frontends.options import Fix


class Fact(NamedTuple):
    """Something that was decided about a table, and might have been decided otherwise."""

    code: str  # `frontends.wording` has a sentence for each
    data: Mapping[str, Any]


class Doubt(NamedTuple):
    """Something wrong or doubtful about a table, and what settles it."""

    code: str  # of one of `frontends.questions`
    column: str  # or the first of several
    rows: tuple[int, ...] = ()  # that show it, counted from 1; often the first alone, or none
    data: Mapping[str, Any] = {}
    fix: tuple[Fix, ...] = ()  # none where only the owner of the table can tell
    stops: bool = False  # whether the table cannot be clustered before it is fixed

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it is about."""
        return tuple(self.data.get("columns", (self.column,)))


def advice(doubts: Sequence[Doubt]) -> list[Fix]:
    """List the fixes of doubts, each once."""
    return list(dict.fromkeys(fix for doubt in doubts for fix in doubt.fix))
