"""How a front end writes options, and how values are filled into sentences."""

from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any, NamedTuple

from pckid._utils.text import brief, counted, list_first
from pckid.frontends.options import Fix


class _Sentences(Formatter):
    """Fills values into sentences; whole numbers have thousands separators.

    `!q` puts a text, or the first of several, into quotes, `!l` lists the first of some names, and
    `!c` texts with how often each is there. `:a|b` is "a" for one thing and "b" for several, and
    `:+row` counts rows.
    """

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Write names and cells."""
        if conversion == "q" and isinstance(value, str):
            return f"'{brief(value)}'"
        if conversion == "q":
            return list_first([f"'{brief(each, 40)}'" for each in value])
        if conversion == "l":
            return list_first([brief(each) for each in value])
        if conversion == "c":
            return list_first([f"'{brief(text, 30)}' ({n:,})" for text, n in value.items()])
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write numbers, and what depends on them."""
        one, _, several = format_spec.partition("|")
        if several:
            return one if (value if isinstance(value, int) else len(value)) == 1 else several
        if one.startswith("+"):
            return counted(value, one[1:])
        return format(value, one or ("," if isinstance(value, int) else ""))


_sentences = _Sentences()


def fill(sentence: str, values: Mapping[str, Any]) -> str:
    """Fill values into a sentence such as "{n_rows:+row} of {source!q}"."""
    return _sentences.vformat(sentence, (), values)


class Dialect(NamedTuple):
    """How a front end writes what can be chosen."""

    write: Callable[[Sequence[Fix]], str]  # writes fixes: "--drop notes", or "drop=['notes']"
    names: Mapping[str, str]  # how single options are written
    lines: Callable[[dict[str, str]], str]  # names the columns of case, time, variable, value
    log: Callable[[Sequence[str]], str]  # takes logarithms of columns
    groups: Callable[[str], str]  # says what keeps the known groups of a column, or compares them
    outcomes: Callable[[Sequence[str]], str]  # says what compares columns between the clusters
    yes: str = ""  # what takes all advice
    row_names: Callable[[str], str] = lambda name: ""  # how a column is named that names the rows
    settled: bool = False  # whether a model has chosen the columns, so that only cells can change
