"""What is found about a table, as data: facts, problems, and fixes; front ends have the words."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args


class Drop(NamedTuple):
    """Leave a column out."""

    column: str


class Missing(NamedTuple):
    """Take cells of this content as missing: in one column, or in all of them."""

    text: str
    column: str = ""


class ReadAs(NamedTuple):
    """Read a column as "category", as numbers written like "1.234,56", or as dates ("use")."""

    column: str
    way: str


class SetOption(NamedTuple):
    """Set an option, such as "skip_last" of `ReadOptions` to 2 rows; None is any other value."""

    name: str
    value: Any = None


Fix = Drop | Missing | ReadAs | SetOption
FIXES: dict[str, Any] = {kind.__name__: kind for kind in get_args(Fix)}


class Fact(NamedTuple):
    """Something that was decided about a table, and might have been decided otherwise."""

    code: str  # `pckid.wording` has a sentence for each
    data: Mapping[str, Any]


class Problem(NamedTuple):
    """Something wrong or doubtful about a table."""

    code: str  # `pckid.wording` has a sentence for each
    column: str  # or the first of several
    rows: tuple[int, ...] = ()  # that show it, counted from 1; often the first alone, or none
    data: Mapping[str, Any] = {}
    fix: tuple[Fix, ...] = ()  # none where only the owner of the table can tell
    stops: bool = False  # whether the table cannot be clustered before it is fixed


def advice(problems: Sequence[Problem]) -> list[Fix]:
    """List the fixes of problems, each once."""
    return list(dict.fromkeys(fix for problem in problems for fix in problem.fix))
