"""Write delimited text: cells as they came, and new ones after them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from pckid.frontends.formats.table import TextFormat
from pckid.frontends.formats.written import NewRows, Writer, Writing, list_values
from pckid.frontends.missing_words import MISSING_TEXTS

_BLOCK_ROWS = 8192
_FORMULA = re.compile(r"[=+\-@\t\r\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
                      r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]")  # fmt: skip
_NUMBER = re.compile(r"[+-]?\s?[$€£¥]?\s?[0-9.,][0-9.,'’\s]*([eE][+-]?\d+)?\s?[%‰$€£¥]?", re.ASCII)


class TextWriter(Writer):
    """Writes rows as text; formulas are escaped by an apostrophe if that is asked for."""

    takes_texts = True

    def __init__(self, file: BinaryIO, how: Writing) -> None:
        super().__init__()
        self._file, self._how, self._has_header = file, how, False

    def write(self, rows: NewRows) -> None:
        """Write some rows, separated as their own file has it, or by tabs."""
        text = rows.text or TextFormat(",", ".", 0)
        delimiter = "\t" if self._how.ending in (".tsv", ".tab") else text.delimiter
        decimal = text.decimal if delimiter != "," else "."
        blocks = _text_blocks(rows.kept, rows.new, delimiter, decimal, self._how.escape_formulas)
        header = next(blocks)
        if not self._has_header:
            self._file.write(header.encode("utf-8"))
            self._has_header = True
        for block in blocks:
            self._file.write(block.encode("utf-8"))


def _text_blocks(
    kept: Any, new: Mapping[str, np.ndarray], delimiter: str, decimal: str, escape: bool
) -> Iterator[str]:
    """Yield the text of a table: first the header, then rows in blocks."""
    special = re.compile(rf'[\r\n"{re.escape(delimiter)}]|^\s|\s$')
    suspect = re.compile(rf'[\r\n\s"{re.escape(delimiter)}]')

    def cell(text: str) -> str:
        # A number, or a text that means missing, is no formula, whatever it begins with.
        is_value = _NUMBER.fullmatch(text) or text.strip().lower() in MISSING_TEXTS
        if escape and _FORMULA.match(text) and not is_value:
            text = "'" + text
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    def column(values: list[Any]) -> list[str]:
        texts = ["" if value is None else str(value) for value in values]
        # Most columns are numbers, with nothing to quote: one look at them all is enough.
        plain = not escape and not suspect.search("".join(texts))
        return texts if plain else [cell(text) for text in texts]

    yield delimiter.join(map(cell, [*kept.column_names, *new])) + "\n"
    for start in range(0, kept.num_rows, _BLOCK_ROWS):
        block = kept.slice(start, _BLOCK_ROWS)
        columns = []
        for values in block.columns:
            cells = list_values(values)
            if decimal != "." and pa.types.is_floating(values.type):
                cells = [c if c is None else str(c).replace(".", decimal) for c in cells]
            columns.append(column(cells))
        for added in new.values():
            cells = added[start : start + _BLOCK_ROWS].tolist()
            if added.dtype.kind not in "iuO":  # Floats have four places; NaN is an empty cell.
                cells = ["" if x != x else f"{x:.4f}".replace(".", decimal) for x in cells]
            columns.append(column(cells))
        yield "".join(delimiter.join(row) + "\n" for row in zip(*columns, strict=True))
