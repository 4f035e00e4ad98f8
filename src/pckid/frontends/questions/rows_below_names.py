"""Rows below the names of the columns that are no data: units, or the questions of a survey."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, take_as_missing
from pckid.frontends.questions.question import LEAVE_OUT, Answer, Question, Seen
from pckid.frontends.questions.text_among_numbers import TEXT_AMONG_NUMBERS

# Two rows of questions, and one of what Qualtrics calls them.
_MAX_BELOW = 3


class RowsBelowNames(Question):
    """Are the first rows data?"""

    code = "rows below names"
    evidence = (
        "{n_columns} columns of numbers hold text in {where}{more}, such as {texts!q}: units, or "
        "the questions of a survey?"
    )
    advice = "If so, leave it out: {fix}."
    scope = "rows"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Take text in the first rows of several columns of numbers for one doubt."""
        texts = [d for d in seen.doubts if d.code == TEXT_AMONG_NUMBERS.code and d.rows == (1,)]
        n_rows = _count_rows_of_text(texts, seen) if len(texts) > 1 else 0
        if n_rows:
            data = {
                "texts": [doubt.data["example"] for doubt in texts],
                # What stands in the rows, column by column.
                "cells": [(d.column, text) for d in texts for text, _ in d.data["texts"]],
                "n_columns": len(texts),
                "where": texts[0].data["where"],
                "n_rows": n_rows,
            }
            skip = Fix("skip_below", seen.table.n_skipped + n_rows)
            yield self.doubt(texts[0].column, data, [skip], rows=(1,), stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say how many rows more there are."""
        n_rows = doubt.data["n_rows"]
        rows = "row" if n_rows == 2 else f"{n_rows - 1} rows"
        return {"more": f" and the {rows} below" * (n_rows > 1)}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave them out, or take what they say as missing: no number can be read there."""
        one = doubt.data["n_rows"] == 1
        return [
            (LEAVE_OUT if one else "Leave them out", doubt.fix),
            (
                f"{'It is' if one else 'They are'} data: take the text as missing",
                tuple(take_as_missing(text, name) for name, text in doubt.data["cells"]),
            ),
        ]


def _count_rows_of_text(texts: list[Doubt], seen: Seen) -> int:
    """Count the first rows without a number where columns hold text in these alone."""
    table, columns = seen.table, seen.columns
    first = table.data.select([doubt.column for doubt in texts]).slice(0, _MAX_BELOW)
    few = []  # columns of so few texts that all of these are known
    for column, doubt in zip(first.columns, texts, strict=True):
        if doubt.data["n_cells"] <= _MAX_BELOW:
            cells = [str(cell or "").strip() for cell in column.to_pylist()]
            few.append((cells, dict(doubt.data["texts"])))
    numeric = [reading.kind == "number" for reading in columns.readings.values()]
    for n_rows in range(_MAX_BELOW - table.n_skipped, 0, -1):
        n_alike = sum(Counter(cells[:n_rows]) == known for cells, known in few)
        others = any(set(cells[:n_rows]) - known.keys() - {""} for cells, known in few)
        if n_alike > 1 and not others and not np.isfinite(columns.X[:n_rows, numeric]).any():
            return n_rows
    return 0


ROWS_BELOW_NAMES = RowsBelowNames()
