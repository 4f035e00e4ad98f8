"""Find out how a text table is written: its delimiter and its decimal separator."""

import csv
import io
import re
from collections import Counter
from typing import NamedTuple

from pckid.frontends.tables.headers import find_names

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_RECORDS = 200
_SAMPLE_CHARACTERS = 1 << 20
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_NEARLY_ALL = 0.8
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


class TextFormat(NamedTuple):
    """How a text table separates cells and writes numbers, and how many lines stand above it."""

    delimiter: str
    decimal: str
    n_columns: int
    n_above: int = 0
    is_data: bool = False  # whether the names may be data
    encoding: str = "utf-8"
    row_names: bool = False  # whether each line begins with a name that the header has no cell for


def sniff(
    text: str,
    delimiter: str | None = None,
    decimal: str | None = None,
    *,
    header: bool = True,
    skip_first: int | None = None,
) -> tuple[TextFormat, list[str]]:
    """Detect the delimiter and the decimal separator of a text table, or its beginning.

    Gives the cells of its first record, too. What is given is taken as it is. Titles are found only
    above names, which the `header` has.
    """
    body = after_lines(text, skip_first or 0)
    sample = body[:_SAMPLE_CHARACTERS]
    begins = {}
    for sign in _DELIMITERS if delimiter is None else [delimiter]:
        records = _records(sample, sign)
        titled = header and skip_first is None
        table = [cells for _, cells in records]
        begins[sign] = records, *(_first_of_table(table) if titled else (0, False))
    chosen = max(begins, key=lambda sign: _score_delimiter(*begins[sign][:2]))
    records, first, is_data = begins[chosen]
    if delimiter is None and header and len(records[first][1]) == 1 and sample.startswith('"'):
        # As R's `write.table` has it by default: quoted names, and spaces between cells.
        spaced = _records(sample, " ")
        if _has_row_names([cells for _, cells in spaced]):
            chosen, records, first, is_data = " ", spaced, 0, False
    if decimal is None:
        decimal = _decimal_sign(
            [cell.strip() for _, cells in records[first + 1 :] for cell in cells]
        )
    # The record counts whole, however long it is.
    line, names = _records(body, chosen, first + 1)[first]
    row_names = header and _has_row_names([cells for _, cells in records[first:]])
    if row_names:
        names = ["row names" if "row" in names else "row", *names]
    n_above = (skip_first or 0) + line
    return TextFormat(chosen, decimal, len(names), n_above, is_data, row_names=row_names), names


def after_lines(text: str, n_lines: int) -> str:
    """Leave out the first lines of a text."""
    lines = io.StringIO(text, newline="")
    for _ in range(n_lines):
        lines.readline()
    return lines.read()


def _first_of_table(records: list[list[str]]) -> tuple[int, bool]:
    """Find the header, below titles if it is clear that there are any; is it like data?"""
    width, _ = max(Counter(map(len, records)).items(), key=lambda item: (item[1], item[0]))
    # A record of another length counts as one text.
    alike = [cells if len(cells) == width else ["".join(cells), *[""] * width] for cells in records]
    found = find_names([cells[:width] for cells in alike])
    body = records[found.row + 1 :]
    fits = sum(len(record) == width for record in body) >= _NEARLY_ALL * max(len(body), 1)
    clear = width > 1 and body and fits and len(records[found.row]) == width and found.is_sure
    return (found.row, found.is_data) if clear or found.row == 0 else (0, False)


def _has_row_names(records: list[list[str]]) -> bool:
    """Whether the header lacks a cell for the names of the rows, as R's `write.table` has it.

    Names are all different. Where every line ends with a delimiter, the last cell is too many.
    """
    header, *rows = records
    # The last record may be cut off by the sample.
    rows = rows[:-1]
    return (
        len(header) > 1
        and len(rows) > 0
        and all(len(row) == len(header) + 1 for row in rows)
        and len({row[0] for row in rows}) == len(rows)
        and any(row[-1] for row in rows)
    )


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
    widths = [len(cells) for _, cells in records[first:]]
    if widths[0] < 2:
        return 0.0, True, 1
    # The last record may be cut off by the sample.
    body = widths[:-1] or widths
    return body.count(widths[0]) / len(body), first == 0, widths[0]


def _decimal_sign(cells: list[str]) -> str:
    """Return the decimal separator: a point unless only commas are seen."""
    commas = [cell for cell in cells if _COMMA_NUMBER.fullmatch(cell)]
    if not commas or any(_POINT_NUMBER.fullmatch(cell) for cell in cells):
        return "."
    return "." if all(_THOUSANDS.fullmatch(cell) for cell in commas) else ","
