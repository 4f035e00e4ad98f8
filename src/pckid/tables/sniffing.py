"""Find out how a text table is written: its delimiter and its decimal sign."""

import csv
import io
import re
from collections import Counter
from typing import NamedTuple

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_RECORDS = 200
_SAMPLE_CHARACTERS = 1 << 20
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_NUMBER = re.compile(r"[+-]?[$€£]? ?[\d.,' ]*\d[\d.,' ]*([eE][+-]?\d+)? ?[%€$£]?")
_YEAR = re.compile(r"(18|19|20|21)\d\d")
_MOST_TITLES, _NEARLY_ALL, _LONGEST_NUMBER = 20, 0.8, 40
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


class TextFormat(NamedTuple):
    """How a text table separates cells and writes numbers, and how many lines stand above it."""

    delimiter: str
    decimal: str
    n_columns: int
    n_above: int = 0


def sniff(
    text: str,
    delimiter: str | None = None,
    decimal: str | None = None,
    *,
    header: bool = True,
    skip_first: int | None = None,
) -> TextFormat:
    """Find the delimiter and the decimal sign of a text table, and where it begins.

    Parameters
    ----------
    text : str
        The table, or its beginning.
    delimiter, decimal : str, optional
        Taken as they are where given.
    header : bool, default=True
        Whether the table begins with names; titles above them are found only then.
    skip_first : int, optional
        Lines above the table; found out by default.

    Returns
    -------
    text_format : TextFormat
    """
    body = after_lines(text, skip_first or 0)
    sample = body[:_SAMPLE_CHARACTERS]
    begins = {}
    for sign in _DELIMITERS if delimiter is None else [delimiter]:
        records = _records(sample, sign)
        titled = header and skip_first is None
        begins[sign] = records, _first_of_table([cells for _, cells in records]) if titled else 0
    chosen = max(begins, key=lambda sign: _score_delimiter(*begins[sign]))
    records, first = begins[chosen]
    if decimal is None:
        cells = [cell.strip() for record in _cells_from(records, first + 1) for cell in record]
        decimal = _decimal_sign(cells)
    # The record counts whole, however long it is.
    line, names = _records(body, chosen, first + 1)[first]
    return TextFormat(chosen, decimal, len(names), (skip_first or 0) + line)


def after_lines(text: str, n_lines: int) -> str:
    """Leave out the first lines of a text."""
    lines = io.StringIO(text, newline="")
    for _ in range(n_lines):
        lines.readline()
    return lines.read()


def first_record(text: str, kind: TextFormat) -> list[str]:
    """Split the first record of a table into cells; it counts whole, however long it is."""
    return _records(after_lines(text, kind.n_above), kind.delimiter, 1)[0][1]


def _cells_from(records: list[tuple[int, list[str]]], first: int) -> list[list[str]]:
    """Take the cells of the records from one on."""
    return [cells for _, cells in records[first:]]


def _first_of_table(records: list[list[str]]) -> int:
    """Find the header below titles; the first record where it is not clear that there are any.

    A header is a full record of texts, followed by records as long, with numbers in some column.
    """
    width, _ = max(Counter(map(len, records)).items(), key=lambda item: (item[1], item[0]))
    first = 0
    while first < min(_MOST_TITLES, len(records) - 1) and _is_title(records[first], width):
        # A line that begins with # may hold the names, unless they come below it.
        full = len(records[first]) == width and _is_header(records[first])
        if full and not _is_header(records[first + 1]):
            break
        first += 1
    body = records[first + 1 :]
    fits = sum(len(record) == width for record in body) >= _NEARLY_ALL * max(len(body), 1)
    if not (width > 1 and body and fits and len(records[first]) == width):
        return 0
    columns = zip(*(record for record in body if len(record) == width), strict=True)
    return first if _is_header(records[first]) and any(map(_are_numbers, columns)) else 0


def _is_title(record: list[str], width: int) -> bool:
    """Tell whether a record may stand above a table of `width` columns: it is short, or sparse."""
    filled = sum(bool(cell.strip()) for cell in record)
    return len(record) < width or 2 * filled <= width or record[0].lstrip().startswith("#")


def _is_header(record: list[str]) -> bool:
    """Tell whether a record may hold names: nearly full, of texts, or of years beside a text."""
    cells = [cell.strip() for cell in record if cell.strip()]
    numbers = [cell for cell in cells if _reads_as_number(cell)]
    years = all(_YEAR.fullmatch(cell) for cell in numbers) and len(numbers) < len(cells)
    return years and len(cells) >= _NEARLY_ALL * len(record)


def _are_numbers(cells: tuple[str, ...]) -> bool:
    """Tell whether most cells that are not empty are numbers."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return 2 * sum(map(_reads_as_number, filled)) > len(filled)


def _reads_as_number(cell: str) -> bool:
    """Tell whether a cell is a number, however it is written."""
    return len(cell) < _LONGEST_NUMBER and _NUMBER.fullmatch(cell) is not None


def _records(
    text: str, delimiter: str, n_records: int = _SAMPLE_RECORDS
) -> list[tuple[int, list[str]]]:
    """Split the first records into cells, each with the number of lines above it.

    Quotes are respected, blank lines left out.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    # A cell may be longer than the limit of the whole process, which is not ours to change.
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    found: list[tuple[int, list[str]]] = []
    try:
        n_lines = 0
        for record in reader:
            if record:
                found.append((n_lines, record))
            if len(found) == n_records:
                break
            n_lines = reader.line_num
        return found or [(0, [""])]
    finally:
        csv.field_size_limit(limit)


def _score_delimiter(records: list[tuple[int, list[str]]], first: int) -> tuple[float, bool, int]:
    """Score a delimiter: rows as long as the first, of several cells; no titles; then cells."""
    widths = [len(cells) for cells in _cells_from(records, first)]
    if widths[0] < 2:
        return 0.0, True, 1
    # The last record may be cut off by the sample.
    body = widths[:-1] or widths
    return body.count(widths[0]) / len(body), first == 0, widths[0]


def _decimal_sign(cells: list[str]) -> str:
    """Tell a decimal comma from a point; a point unless only commas are seen."""
    commas = [cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)]
    if not commas or any(_POINT_NUMBER.fullmatch(cell) for cell in cells):
        return "."
    return "." if all(_THOUSANDS.fullmatch(cell) for cell in commas) else ","
