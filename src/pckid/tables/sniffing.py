"""Find out how a text table is written: its delimiter and its decimal sign."""

import csv
import io
import re
from itertools import islice
from typing import NamedTuple

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_RECORDS = 200
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
    sample = text[:_SAMPLE_CHARACTERS]
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda sign: _score_delimiter(_records(sample, sign)))
    if decimal is None:
        body = _records(sample, delimiter)[1:]
        decimal = _decimal_sign([cell.strip() for record in body for cell in record])
    return TextFormat(delimiter, decimal, len(first_record(text, delimiter)))


def first_record(text: str, delimiter: str) -> list[str]:
    """Split the first record into cells; it counts whole, however long it is."""
    return _records(text, delimiter, 1)[0]


def _records(text: str, delimiter: str, n_records: int = _SAMPLE_RECORDS) -> list[list[str]]:
    """Split the first records into cells, quotes respected, blank lines left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    # A cell may be longer than the limit of the whole process, which is not ours to change.
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        return list(islice(filter(None, reader), n_records)) or [[""]]
    finally:
        csv.field_size_limit(limit)


def _score_delimiter(records: list[list[str]]) -> tuple[float, int]:
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
