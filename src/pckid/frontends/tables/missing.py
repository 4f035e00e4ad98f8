"""What counts as missing: the usual words, and what people name besides, in all columns or one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from pckid.frontends.missing_words import MISSING_TEXTS, MISSING_TOKENS, WORDS
from pckid.frontends.tables.formats import NumberFormat, read_numbers
from pckid.input.cells import MissingMarks


class MissingTokens(NamedTuple):
    """What counts as missing: texts in lower case, and numbers."""

    texts: frozenset[str]
    numbers: tuple[float, ...]
    words: frozenset[str] = frozenset()  # of the texts, missing only among numbers
    columns: Mapping[str, "MissingTokens"] = {}  # columns that have codes of their own
    limits: str = ""  # "<0.5" among numbers is its "value", "half" of it, or "missing"

    @classmethod
    def with_defaults(
        cls,
        extra: Iterable[str] = (),
        not_missing: Iterable[str] = (),
        names: Sequence[str] = (),
        limits: str = "",
    ) -> "MissingTokens":
        """Add tokens to the default list, and take some from it.

        One that reads as a number matches by value; "age=-9" is a token of column `age` alone, if
        there is such a column among `names`.
        """
        given: dict[str, tuple[list[str], list[str]]] = {"": ([], [])}
        for place, tokens in enumerate((extra, not_missing)):
            for name, text in (split_token(token, names) for token in tokens):
                given.setdefault(name, ([], []))[place].append(text)
        base = cls(MISSING_TEXTS, (), frozenset(WORDS), {}, limits)._with(*given.pop(""))
        return base._replace(columns={name: base._with(*some) for name, some in given.items()})

    def _with(self, extra: Sequence[str], not_missing: Sequence[str]) -> "MissingTokens":
        """Add tokens, and take others away."""
        added, taken = ({text.strip().lower() for text in some} for some in (extra, not_missing))
        numbers = *self.numbers, *filter(math.isfinite, map(as_number, extra))
        texts, words = (self.texts - taken) | added, self.words - taken - added
        return self._replace(texts=texts, numbers=numbers, words=words)

    def of(self, name: str) -> "MissingTokens":
        """Give what counts as missing in one column."""
        return self.columns.get(name, self)

    @property
    def spellings(self) -> frozenset[str]:
        """The texts, and those of the usual words as they are written most often."""
        return self.texts | {token for token in MISSING_TOKENS if token.lower() in self.texts}

    @property
    def among_texts(self) -> "MissingTokens":
        """Give what counts as missing in a column of texts."""
        return self._replace(texts=self.texts - self.words, limits="")

    @property
    def in_datasets(self) -> MissingMarks:
        """Give what counts as missing in a column of a data set: its texts are categories."""
        return MissingMarks(self.among_texts.texts, self.numbers)


def split_token(token: str, names: Sequence[str]) -> tuple[str, str]:
    """Split a token such as "age=-9" into its column, "" for all of them, and its text."""
    name, _, text = token.rpartition("=")
    return (name, text) if name in names else ("", token)


def as_number(token: str) -> float:
    """Read a token as a cell with a decimal point is read; NaN where it is no number."""
    return float(read_numbers(pa.array([token.strip()]), NumberFormat())[0][0])
