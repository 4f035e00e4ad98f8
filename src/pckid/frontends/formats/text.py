"""Delimited text: how it is written is found out, then it is read with every cell as text."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from pckid._utils.text import counted, list_first
from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.batches import Plan, RowSource
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.headers import find_names, unique_names
from pckid.frontends.formats.sources import Source, refuse_wide
from pckid.frontends.formats.table import FileTable, Part, TextFormat
from pckid.frontends.formats.text_writing import TextWriter
from pckid.frontends.formats.written import Writing
from pckid.frontends.options import Fix, ReadOptions

# How files begin that are named like tables and are none; in lower case, without spaces.
_NO_TABLES = {
    b"%pdf-": "a PDF document", b"\x89png": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)", b"{\\rtf": "a text document (RTF)",
    b"<!doctypehtml": "a web page (HTML)", b"<html": "a web page (HTML)",
    b"<meta": "a web page (HTML)", b"<head": "a web page (HTML)",
    b"<table": "a web page (HTML)", b"<?xml": "an XML document", b'{"': "a JSON document",
    b"[{": "a JSON document",
}  # fmt: skip
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_RECORDS, _SAMPLE = 200, 1 << 20
_HEAD = 1 << 22  # bytes by which a plan is made
_LINE_END = re.compile(rb"\r\n?|\n")
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_NEARLY_ALL = 0.8
_MAX_RECORD_LENGTH = 1 << 28
# Lines above and below a table are looked for among as many.
_MAX_EXTRA = 10
# Blocks of wide tables are longer, so that a column's part of each is not a few cells.
_BYTES_PER_COLUMN = 1 << 10
_BLOCK = 1 << 22


def read(source: Source, given: ReadOptions) -> FileTable:
    """Find out how a text is written, and read it whole, with every cell as text."""
    if given.decimal not in (None, ".", ","):
        raise OptionError(f"{given.decimal!r} is neither '.' nor ','.", "decimal")
    delimiter, skip_first = given.delimiter, given.skip_first
    if delimiter in ("tab", "\\t"):
        delimiter = "\t"
    elif delimiter is not None and len(delimiter) != 1:
        raise OptionError(f"{delimiter!r} is not one character.", "delimiter")
    elif delimiter and (not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise OptionError(
            f"{delimiter!r} cannot separate cells. Give an ASCII character, no quote or line end.",
            "delimiter",
        )
    content, encoding = _decode(source, given)
    text = content[:_SAMPLE].decode("utf-8", "ignore")
    # The header counts whole, however long its names are.
    if "\n" not in text.lstrip("\r\n") or text.count('"') % 2:
        text = content[: 16 * _SAMPLE].decode("utf-8", "ignore")
    if not _after_lines(text, skip_first or 0).strip():
        raise TableError(
            f"{source.name} is empty. Give a table with a header and at least one row."
        )
    kind, cells = sniff(text, delimiter, given.decimal, header=given.header, skip_first=skip_first)
    refuse_wide(kind.n_columns, source.name)
    named = [(given.header and cell.strip()) or f"column {j}" for j, cell in enumerate(cells, 1)]
    names, notes = unique_names(named)
    above = text[: len(text) - len(_after_lines(text, kind.n_above))]
    if skip_first is None and above.strip():
        notes = Fact("rows_above", {"row": kind.n_above + 1}), *notes
    if kind.row_names:
        notes = *notes, Fact("row_names_unnamed", {"column": names[0]})
    if given.header and kind.is_data:
        notes = *notes, Fact("header_in_doubt", {"row": kind.n_above + 1, "unit": "line"})
    kind = kind._replace(encoding=encoding)
    data, lines = read_text(content, kind, source.name, given.header, given.skip_last)
    data, content = data.rename_columns(names), b""  # No longer needed: it is as large as the file.
    if swallowed := _find_quoted_rows(data, kind.delimiter):
        column, row, n_rows = swallowed
        told = {"column": column, "line": lines[row], "n_rows": n_rows}
        notes = *notes, Fact("quoted_rows", told)
    parts = (Part(source, 0, lines, given.skip_last, unit="line"),)
    return FileTable(data, kind, parts, source.name, notes)


def open_rows(path: str, given: ReadOptions, plan: Plan) -> RowSource:
    """Open a text in batches, its columns as the plan has them."""
    import pyarrow.dataset as ds

    first = b"".join(islice(Source(path).pieces(_HEAD), 1))
    found = plan(Source(path, stored=first[: first.rfind(b"\n") + 1] or first))
    kind, names = found.text, list(found.types)
    form = ds.CsvFileFormat(
        pyarrow.csv.ParseOptions(delimiter=kind.delimiter, newlines_in_values=False),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names, encoding=kind.encoding, skip_rows=kind.n_above + given.header
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=found.types, null_values=found.missing, decimal_point=kind.decimal
        ),
    )
    return ds.dataset(path, schema=pa.schema(list(found.types.items())), format=form)


def open_writer(file: BinaryIO, how: Writing) -> TextWriter:
    """Write delimited text."""
    return TextWriter(file, how)


def _decode(source: Source, given: ReadOptions) -> tuple[bytes, str]:
    """Give a text in UTF-8, without a byte-order mark, and how it was encoded."""
    start = next(source.pieces(64), b"")
    begins = b"".join(start.removeprefix(codecs.BOM_UTF8).lower().split())
    what = next((what for sign, what in _NO_TABLES.items() if begins.startswith(sign)), None)
    if what is not None:
        raise TableError(
            f"{source.name} is {what}, not a table. Open it in the program that it comes from, or "
            "in a spreadsheet program, and save the table as .xlsx or .csv."
        )
    is_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = given.encoding or ("utf-16" if is_utf16 else "utf-8")
    for name in filter(None, (encoding, given.fallback_encoding)):
        try:
            io.TextIOWrapper(io.BytesIO(), name)
        except LookupError:
            raise OptionError(
                f"There is no encoding {name!r}; try utf-8 or cp1252.", "encoding"
            ) from None
    if source.unpacker is not None:  # Unpacked once without being kept, a large one is refused.
        for _ in source.pieces():
            pass
    refused = None
    try:
        return _decode_as(source, encoding), encoding
    except UnicodeError:
        refused = _not_decoded(source, encoding)
    if encoding == "utf-8" and given.fallback_encoding and refused.fixes:  # Else no encoding fits.
        with suppress(UnicodeError):
            return _decode_as(source, given.fallback_encoding), given.fallback_encoding
    raise refused


def _decode_as(source: Source, encoding: str) -> bytes:
    decoder, found = codecs.getincrementaldecoder(encoding)(), io.BytesIO()
    for piece in chain(source.pieces(), [None]):
        text = decoder.decode(piece or b"", final=piece is None).encode("utf-8", "replace")
        if b"\0" in text:
            raise TableError(
                f"{source.name} is not a table: it holds zero bytes. Give CSV, TSV, Parquet or "
                "Arrow."
            )
        found.write(text)
    return found.getvalue().removeprefix(codecs.BOM_UTF8)


def _not_decoded(source: Source, encoding: str) -> TableError:
    """Make the error for a text in another encoding, or in several of them."""
    content = b"".join(source.pieces())
    lines = enumerate(content.splitlines() if encoding == "utf-8" else [], 1)
    beyond = [(number, _is_text(line, encoding)) for number, line in lines if not line.isascii()]
    other = [number for number, fits in beyond if not fits]
    if 0 < len(other) < len(beyond):
        line = next(number for number, fits in beyond if fits)
        listed = list_first([f"{number:d}" for number in other])
        return TableError(
            f"{source.name} is UTF-8 in some lines, such as line {line}, and something else in "
            f"{counted(len(other), 'line')}: {listed}. No encoding fits all of them. Save the "
            "whole file as UTF-8."
        )
    likely = "cp1252" if _is_text(content, "cp1252") else "latin-1"
    where = f" (line {other[0]})" if other else ""
    return TableError(
        f"{source.name} is not {encoding} text{where}. Save it as UTF-8, or say how it is encoded, "
        f"perhaps {likely}.",
        Fix("encoding", likely),
    )


def _is_text(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeError:
        return False
    return True


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
    body = _after_lines(text, skip_first or 0)
    sample = body[:_SAMPLE]
    begins = {}
    for sign in _DELIMITERS if delimiter is None else [delimiter]:
        records = _records(sample, sign)
        titled = header and skip_first is None
        table = [cells for _, cells in records]
        begins[sign] = records, *(_first_of_table(table) if titled else (0, False))

    def score(sign: str) -> tuple[float, bool, int]:
        """Score a delimiter: rows as long as the first, of several cells; no titles; cells."""
        records, first, _ = begins[sign]
        widths = [len(cells) for _, cells in records[first:]]
        body = widths[:-1] or widths  # The last record may be cut off by the sample.
        share = body.count(widths[0]) / len(body) if widths[0] > 1 else 0.0
        return share, first == 0 or not share, widths[0]

    chosen = max(begins, key=score)
    records, first, is_data = begins[chosen]
    if delimiter is None and header and len(records[first][1]) == 1 and sample.startswith('"'):
        # As R's `write.table` has it by default: quoted names, and spaces between cells.
        spaced = _records(sample, " ")
        if _has_row_names([cells for _, cells in spaced]):
            chosen, records, first, is_data = " ", spaced, 0, False
    if decimal is None:  # A point unless only commas are seen
        below = [cell.strip() for _, cells in records[first + 1 :] for cell in cells]
        commas = [cell for cell in below if _COMMA_NUMBER.fullmatch(cell)]
        plain = any(map(_POINT_NUMBER.fullmatch, below)) or all(map(_THOUSANDS.fullmatch, commas))
        decimal = "." if plain else ","
    # The record counts whole, however long it is.
    line, names = _records(body, chosen, first + 1)[first]
    row_names = header and _has_row_names([cells for _, cells in records[first:]])
    if row_names:
        names = ["row names" if "row" in names else "row", *names]
    n_above = (skip_first or 0) + line
    return TextFormat(chosen, decimal, len(names), n_above, is_data, row_names=row_names), names


def _after_lines(text: str, n_lines: int) -> str:
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


def read_text(
    content: bytes, kind: TextFormat, name: str, header: bool, n_below: int = 0
) -> tuple[Any, Sequence[int]]:
    """Read a text as an Arrow table of texts (n_rows, n_columns), whose columns have no names yet.

    Gives the lines, too, in which rows begin. The last `n_below` records are left out, whatever
    their length. A record of another length, and a quote that is not closed, are errors.
    """
    ends = [0, *(found.end() for found in islice(_LINE_END.finditer(content), kind.n_above))]
    above, end = ends[min(kind.n_above, len(ends) - 1)], b""
    if not content.endswith((b"\n", b"\r")):
        end = b"\n"
    if kind.row_names or end:  # The header lacks a cell.
        content = kind.delimiter.encode() * kind.row_names + content[above:] + end
        above = 0
    body = pa.py_buffer(content).slice(above)
    block = max(_BLOCK, _BYTES_PER_COLUMN * kind.n_columns)
    while True:
        try:
            found, bad = _parse(body, kind, block)
            break
        except pa.ArrowInvalid as error:
            block *= 8
            if "straddl" not in str(error) or block > _MAX_RECORD_LENGTH:
                reason = str(error).splitlines()[0]
                raise TableError(f"{name} cannot be read as a table: {reason}") from None
    n_records = found.num_rows + len(bad)
    if bad and bad[0].number <= n_records - n_below:
        raise _wrong_length(bad[0], n_records, kind, name, body)
    rest = found.slice(header, max(n_records - header - n_below, 0))
    lines: Sequence[int] = range(kind.n_above + 1, kind.n_above + n_records + 1)
    if _count_lines(content, above) != n_records:  # Blank lines, or cells of several lines
        lines = _find_lines(kind, body)
    lines = lines[header : header + rest.num_rows]
    last = found.column(kind.n_columns - 1)
    cell = last[-1].as_py() if len(last) else None
    if cell and cell.endswith(("\n", "\r")) and not content.rstrip().endswith(b'"'):
        # A quote runs to the end of the text.
        n_lines = kind.n_above + len(_LINE_END.findall(body)) - len(re.findall(r"\r\n?|\n", cell))
        raise _open_quote(name, n_lines + 1)
    pa.default_memory_pool().release_unused()
    return rest, lines


def _count_lines(content: bytes, above: int) -> int:
    """Count the lines of a text from some place on, but for blank ones at its end."""
    end = len(content)
    while end > above and content[end - 1] in b"\r\n":
        end -= 1
    counts = [content.count(sign, above, end) for sign in (b"\n", b"\r", b"\r\n")]
    return counts[0] + counts[1] - counts[2] + 1


def _parse(body: Any, kind: TextFormat, block: int) -> tuple[Any, list[Any]]:
    """Parse all records; give those as long as they should be, and the others."""
    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "skip"

    keys = [f"f{index}" for index in range(kind.n_columns)]
    reading = pyarrow.csv.ReadOptions(column_names=keys, use_threads=False, block_size=block)
    parsing = pyarrow.csv.ParseOptions(
        delimiter=kind.delimiter, newlines_in_values=True, invalid_row_handler=remember,
        ignore_empty_lines=kind.n_columns > 1,
    )  # fmt: skip
    types = dict.fromkeys(keys, pa.string())
    converting = pyarrow.csv.ConvertOptions(column_types=types, check_utf8=False)
    reader, batches = pyarrow.csv.open_csv(pa.BufferReader(body), reading, parsing, converting), []
    for batch in reader:
        batches.append(batch)
        pa.default_memory_pool().release_unused()  # what parsing took stays between the batches
    return pa.Table.from_batches(batches, reader.schema), bad


def _find_quoted_rows(data: Any, delimiter: str) -> tuple[str, int, int] | None:
    """Find a cell with the line breaks and delimiters of whole rows: its quote is closed too late.

    Gives its column, its row, counted from 0, and how many rows it would hold.
    """
    n_between = data.num_columns - 1
    for name, column in zip(data.column_names, data.columns, strict=True):
        n_breaks = pc.count_substring_regex(column, "\r\n?|\n")
        if n_between and pc.max(n_breaks).as_py():
            n_signs = pc.count_substring(column, delimiter)
            whole = pc.and_(
                pc.greater(n_breaks, 0), pc.equal(n_signs, pc.multiply(n_breaks, n_between))
            )
            row = pc.index(whole, True).as_py()
            if row >= 0:
                return name, row, n_breaks[row].as_py()
    return None


def _open_quote(name: str, line: int) -> TableError:
    return TableError(
        f"{name} opens a quote in line {line} that is not closed as it should be. Close it, or "
        'double a quote that belongs to the text ("").'
    )


def _wrong_length(row: Any, n_records: int, kind: TextFormat, name: str, body: Any) -> TableError:
    """Make the error for a line with a wrong number of cells; where it stands decides the fixes."""
    line, n_cells = _find_lines(kind, body)[row.number - 1], row.actual_columns
    if row.text.count('"') % 2:
        return _open_quote(name, line)
    n_left = n_records - row.number + 1
    sign = {"\t": "tab"}.get(kind.delimiter, kind.delimiter)
    told = (
        f"Line {line} of {name} has {counted(n_cells, 'cell')}, the first has "
        f"{kind.n_columns} (delimiter {sign!r}). Fix the line, or say which character "
        "separates the cells."
    )
    fixes = [Fix("delimiter")]
    if n_cells < kind.n_columns and n_left <= _MAX_EXTRA:
        told += " If it stands below the table, leave it out."
        fixes.append(Fix("skip_last", n_left))
    elif n_cells > kind.n_columns and line <= kind.n_above + _MAX_EXTRA and not kind.row_names:
        told += " If a title stands above the table, leave it out."
        fixes.append(Fix("skip_first", line - 1))
    return TableError(told, *fixes)


def _find_lines(kind: TextFormat, body: Any) -> list[int]:
    """List the lines, counted from 1, in which records begin."""
    text = io.TextIOWrapper(pa.BufferReader(body), "utf-8", newline="")
    reader, limit = csv.reader(text, delimiter=kind.delimiter), csv.field_size_limit()
    csv.field_size_limit(_MAX_RECORD_LENGTH)
    try:
        lines, n_before = [], kind.n_above
        for record in reader:
            if record or kind.n_columns == 1:
                lines.append(n_before + 1)
            n_before = kind.n_above + reader.line_num
        return lines
    finally:
        csv.field_size_limit(limit)
