"""What questions on text in columns of numbers share: its cells, its rows, codes for missing."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import number_hint
from pckid.frontends.formats.table import name_row
from pckid.frontends.options import Fix, take_as_missing
from pckid.frontends.questions.extra_rows import EXTRA_ROWS
from pckid.frontends.questions.question import Seen
from pckid.frontends.tables.formats import NumberFormat, read_numbers
from pckid.frontends.tables.kinds import NUMERIC
from pckid.frontends.tables.missing import split_token
from pckid.frontends.tables.numbers import LIMIT, NotNumbers

EVIDENCE = (
    "{column} holds text in {n_cells} of {n_observed:+cell}, first {example!q} in {where}. {hint}"
)
_MAX_CODES = 5
_FEW_ROWS = 5
_REPEATED = 5  # rows for each different value of a column of codes


class CellsOfText(NamedTuple):
    """The cells of a column of numbers that hold text."""

    name: str
    found: NotNumbers
    data: dict[str, Any]  # of a doubt
    few: bool  # whether these are few different texts in less than half of the cells
    repeated: bool  # whether the column has few different values, as codes of categories have
    codes: tuple[Fix, ...]  # what takes the texts, limits apart, as missing
    plain: bool  # whether these are few, and none of them nearly is a number
    n_limits: int
    gone: list[int]  # rows, from 1, that are no data, since other columns hold text there, too


def list_cells(seen: Seen) -> list[CellsOfText]:
    """List the columns of numbers with text, but for those that hold it in rows of totals alone."""
    if "cells of text" not in seen.kept:
        seen.kept["cells of text"] = list(_find_cells(seen))
    return seen.kept["cells of text"]


def _find_cells(seen: Seen) -> Iterator[CellsOfText]:
    # Rows of one text or sheet have numbers by which they can be left out.
    table, parts = seen.table, seen.table.parts
    can_go = len(parts) == 1 and bool(table.text or parts[0].sheet)
    text_rows = find_rows_of_text(seen) if can_go else set()
    told = [split_token(token, table.names) for token in seen.options.not_missing]
    extra = seen.first(EXTRA_ROWS.code)
    n_data = len(seen.columns.X) - (extra.data["n_rows"] if extra else 0)
    for name, reading in seen.used():
        found = seen.columns.wrong.get(name)
        if found is None or found.row > n_data:
            continue
        data = found._asdict() | {"where": "" if found.by_type else name_row(parts, found.row)}
        gone = [row for row in found.rows if row in text_rows]
        few_rows = found.rows if can_go and len(found.rows) <= _FEW_ROWS else ()
        data["rows"] = [int(parts[0].numbers[row - 1]) for row in gone or few_rows]
        column = table.data.column(name)
        few = len(found.texts) <= _MAX_CODES and 2 * found.n_cells < found.n_observed
        # Values that come again and again are categories, and so is a word among them.
        n_distinct = 0 if found.by_type else pc.count_distinct(column).as_py()
        repeated = few and _REPEATED * n_distinct <= len(table.data)
        form = reading.number or NumberFormat(table.decimal)
        others = [text for text, _ in found.texts if not _is_limit(text, form)]
        kept = {text for n, text in told if n in ("", name)} & {*others}  # said to be values
        counts = seen.columns.counts.values()
        codes = tuple(
            take_as_missing(text, name if any(text in each for each in counts) else "")
            for text in others
            if text not in kept
        )
        plain = len(others) <= _MAX_CODES and not kept and not any(map(number_hint, others))
        n_limits = len(found.texts) - len(others)
        yield CellsOfText(name, found, data, few, repeated, codes, plain, n_limits, gone)


def find_rows_of_text(seen: Seen) -> set[int]:
    """Find rows, counted from 1, that are no data, such as headings that repeat.

    Most columns of numbers hold text there, and not all the same. A text that is in other rows,
    too, rather means that something is missing.
    """
    columns, table = seen.columns, seen.table
    held = defaultdict[int, dict[str, str]](dict)  # texts among numbers, by row and column
    for name, found in columns.wrong.items():
        cells = table.data.column(name)
        for row in found.rows:
            held[row][name] = str(cells[row - 1]).strip()
    numeric = [reading.kind in NUMERIC for reading in columns.readings.values()]
    rows = set()
    for row, texts in held.items():
        others = (table.data.column(name)[row - 1] for name in columns.wrong.keys() - texts.keys())
        n_numbers = np.isfinite(columns.X[row - 1, numeric]).sum() + sum(c.is_valid for c in others)
        if len(set(texts.values())) > 1 and len(texts) > n_numbers:
            rows.add(row)
    while True:
        single = {text for row in held.keys() - rows for text in held[row].values()}
        text_rows = {row for row in rows if single.isdisjoint(held[row].values())}
        if text_rows == rows:
            return text_rows
        rows = text_rows


def _is_limit(text: str, form: NumberFormat) -> bool:
    """Whether a text is a limit such as "<0.5" or "90+" of a number as others are written."""
    number = re.sub(LIMIT, r"\1\2", text)
    return number != text and not read_numbers(pa.array([number]), form)[1][0]
