"""Find out how a text table is written: its delimiter and its decimal sign."""

import csv
import re
from typing import NamedTuple

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 200
_SAMPLE_CHARACTERS = 1 << 20
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


class TextFormat(NamedTuple):
    """How a text table separates cells and writes numbers."""

    delimiter: str
    decimal: str
    n_columns: int


def sniff(text: str, delimiter: str | None = None, decimal: str | None = None) -> TextFormat:
    """Find the delimiter and the decimal sign of a text table.

    Parameters
    ----------
    text : str
        The table, or its beginning.
    delimiter, decimal : str, optional
        Taken as they are where given.

    Returns
    -------
    text_format : TextFormat
    """
    lines = text[:_SAMPLE_CHARACTERS].splitlines(keepends=True)[:_SAMPLE_LINES]
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda sign: _fit(_records(lines, sign)))
    records = _records(lines, delimiter)
    if decimal is None:
        decimal = _decimal_sign([cell.strip() for record in records[1:] for cell in record])
    return TextFormat(delimiter, decimal, len(records[0]))


def _records(lines: list[str], delimiter: str) -> list[list[str]]:
    """Split sample lines into cells, quotes respected, blank lines left out."""
    # A cell of the sample may be longer than the module's default limit.
    csv.field_size_limit(max(csv.field_size_limit(), _SAMPLE_CHARACTERS))
    return [record for record in csv.reader(lines, delimiter=delimiter) if record] or [[""]]


def _fit(records: list[list[str]]) -> tuple[float, int]:
    """Score a delimiter: rows that agree with the first on more than one cell, then cells."""
    width = len(records[0])
    if width < 2:
        return 0.0, 1
    # The last record may be cut off by the sample.
    body = records[:-1] or records
    return sum(len(record) == width for record in body) / len(body), width


def _decimal_sign(cells: list[str]) -> str:
    """Tell a decimal comma from a point; a point unless only commas are seen."""
    commas = [cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)]
    if not commas or any(_POINT_NUMBER.fullmatch(cell) for cell in cells):
        return "."
    return "." if all(_THOUSANDS.fullmatch(cell) for cell in commas) else ","
