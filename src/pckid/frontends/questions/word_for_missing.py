"""A word for missing that may be a category, such as NA beside EU and AS."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.arrow import is_text
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.table import count_different
from pckid.frontends.options import take_as_value
from pckid.frontends.questions.question import Answer, Question, Seen
from pckid.frontends.tables.missing import split_token
from pckid.frontends.tables.numbers import holds_token


class WordForMissing(Question):
    """Is the word a category?"""

    code = "word for missing"
    evidence = (
        "{column} holds {text!q} in {n_cells:+cell}, as often as its categories: taken as missing."
    )
    advice = "If it is one of them, {keep} says so."
    scope = "table"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for words for missing, but those given, as frequent as the categories beside them.

        But for chance; and no other column holds them.
        """
        if seen.known:
            return
        table = seen.table
        given = {split_token(token, table.names)[1] for token in seen.options.na_values}
        for name, counts in seen.columns.counts.items():
            column = table.data.column(name)
            usual = float(np.median([*counts.values()])) if counts else 0.0
            n_missing = len(column) - counts.total()
            if not usual or not is_text(column.type) or not _is_as_frequent(n_missing, usual):
                continue
            texts, n_cells = count_different(pc.utf8_trim_whitespace(column.cast(pa.string())))
            for text, n in zip(texts.to_pylist(), n_cells.tolist(), strict=True):
                is_word = any(map(str.isalpha, text)) and not text.startswith("#")
                is_word = is_word and text not in counts and text not in given
                others = (other for other in table.names if other != name)
                if not is_word or not _is_as_frequent(n, usual):
                    continue
                if not any(holds_token(table, other, text) for other in others):
                    yield self.doubt(name, {"text": text, "n_cells": n})

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write what keeps it."""
        return {"keep": words.write([take_as_value(doubt.data["text"], doubt.column)])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer both."""
        taken = take_as_value(doubt.data["text"], doubt.column)
        return [("It means missing", ()), ("It is a category", (taken,))]


def _is_as_frequent(n_cells: int, usual: float) -> bool:
    """Whether there are as many cells as `usual`, less at most the difference's deviation."""
    return usual - n_cells <= math.sqrt(usual + n_cells)


WORD_FOR_MISSING = WordForMissing()
