"""Spreadsheets (.xlsx, .xls, .ods): one sheet as a table, its cells typed as they are stored.

Nothing in a workbook is run or followed: of a formula the value is taken that was stored with it,
macros and links to other files are not looked at.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.headers import Range, cell_text, find_header, unique_names
from pckid.frontends.formats.isolation import read_apart
from pckid.frontends.formats.sources import Source, refuse_large, refuse_wide, require_library
from pckid.frontends.formats.table import FileTable, Part, Sheet, as_whole
from pckid.frontends.formats.workbook_writing import WorkbookWriter, refuse_many_rows
from pckid.frontends.formats.written import Writing

if TYPE_CHECKING:  # The process that reads workbooks needs no more.
    from pckid.frontends.options import ReadOptions

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_ROWS_AT_ONCE = 1 << 15
_HEADER_ROWS = 100
_MAX_NOTES = 5
_MAX_ROWS, _MAX_COLUMNS = 1 << 20, 1 << 14  # of a sheet
_MAX_ALIKE = 20  # other sheets that are looked at
_MARK = "\0"  # of numbers among texts, until they are written; no cell of a sheet holds it
_COMMA = r"^[^,\d]{0,12}\d[\d.' ]*,\d+[^,\d]{0,12}$"  # in a number
_MAX_EXACT = 2.0**53  # larger whole numbers lose digits in a sheet
_MIN_TEXT_ROWS = 5
_OPTIONS = ("sheet", "header", "skip_first", "skip_last")
_PIECE = 1 << 20
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_HIDDEN_ROW = re.compile(rb'<row\b(?=[^>]*\bhidden="(?:1|true)")[^>]*?\br="(\d+)"')
_HIDDEN_COLUMNS = re.compile(rb'<col\b(?=[^>]*\bhidden="(?:1|true)")[^>]*>')
_COLUMN_ENDS = re.compile(rb'\b(?:min|max)="(\d+)"')
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 "
_NUMBERS = {int, float}
_DATES = {datetime.date, datetime.datetime}
_SPANS = {datetime.time, datetime.timedelta}
_combine = datetime.datetime.combine
_PROTECTED = (
    " is protected by a password. Open it, save it without one (File, Info, Protect Workbook), and "
    "give that file."
)


class SheetTable(NamedTuple):
    """The table of a sheet."""

    data: Any  # pyarrow.Table of shape (n_rows, n_columns)
    sheet: Sheet
    numbers: Any  # of its rows (n_rows,)
    n_below: int  # rows below the table that were left out
    facts: list[Fact]
    columns: list[int]  # which of the sheet its columns are, counted from 1


class StoredSheet(NamedTuple):
    """What a sheet's file says beyond the values of its cells."""

    n_unsolved: int = 0  # formulas without a result, which are read as empty cells
    hidden_rows: frozenset[int] = frozenset()  # their numbers
    hidden_columns: frozenset[int] = frozenset()  # counted from 1


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a sheet of a spreadsheet, or several of the same columns: a part for each sheet."""
    require_library("python_calamine", "Reading spreadsheets", "excel")
    how = {key: getattr(given, key) for key in _OPTIONS}
    told, *tables = read_apart(parse_workbook, source, **how)
    parts: list[Part] = []
    for numbers, n_below, sheet, hidden in told["sheets"]:
        start = sum(len(part.numbers) for part in parts)
        parts.append(Part(source, start, numbers, n_below, sheet, hidden=hidden))
    names, renamed = unique_names(tables[0].column_names)
    data = pa.concat_tables(tables).rename_columns(names)
    notes, hidden = (*told["facts"], *renamed), tuple(names[j] for j in told["hidden_columns"])
    return FileTable(data, None, tuple(parts), source.name, notes, hidden_columns=hidden)


def list_choices(source: Source) -> tuple[list[str], int]:
    """List the sheets that a reader of a workbook sees, and the place of the one with the table."""
    require_library("python_calamine", "Reading spreadsheets", "excel")
    [(names, place)] = read_apart(parse_sheet_names, source)
    return names, place


def check_output(path: str, how: Writing, n_rows: int, names: Sequence[str]) -> None:
    """Refuse a table that does not fit a sheet, or that cannot be written here."""
    require_library("xlsxwriter", "Writing .xlsx", "excel")
    refuse_many_rows(n_rows)


def open_writer(file: BinaryIO, how: Writing) -> WorkbookWriter:
    """Write a workbook."""
    return WorkbookWriter(file, how)


def parse_sheet_names(source: Source) -> Iterator[tuple[list[str], int]]:
    """Yield what `list_choices` gives."""
    workbook = open_workbook(source)
    names = sheet_names(workbook)[1]
    yield names, names.index(choose_sheet(workbook, None, source.name)[0])


def parse_workbook(source: Source, sheet: str | None = None, **how: Any) -> Iterator[Any]:
    """Yield how sheets were read, then their table."""
    workbook = open_workbook(source)
    every = sheet == "all" and "all" not in workbook.sheet_names
    name, cells, others = choose_sheet(workbook, None if every else sheet, source.name)
    found, alike = [_parse_sheet(cells, **how)], _find_alike(workbook, cells, others)
    if every:
        found += [_parse_sheet(workbook.get_sheet_by_name(other), **how) for other in alike]
    facts = [] if every else found[0].facts
    with _open_content(source) as file:
        stored = [_look_into(file, read.sheet.name) for read in found]
    if n_unsolved := sum(each.n_unsolved for each in stored):
        facts.append(Fact("formulas_without_results", {"n_cells": n_unsolved}))
    if alike and not every:
        facts.insert(0, Fact("same_columns", {"sheet": name, "others": alike}))
    rest = [other for other in others if other not in alike]
    if rest:
        facts.insert(0, Fact("other_sheets", {"sheet": name, "others": rest}))
    data = found[0].data
    if len(found) > 1:
        parts = zip(*(read.data.columns for read in found), strict=True)
        columns = [_join([part.combine_chunks() for part in each]) for each in parts]
        data = pa.Table.from_arrays(columns, names=data.column_names)
    refuse_wide(data.num_columns, source.name)
    data, inexact = _write_numbers(data)
    facts += [Fact("digits_lost", {"column": name}) for name in inexact]
    yield {
        "sheets": [
            (read.numbers, read.n_below, read.sheet, each.hidden_rows)
            for read, each in zip(found, stored, strict=True)
        ],
        "hidden_columns": [
            j for j, place in enumerate(found[0].columns) if place in stored[0].hidden_columns
        ],
        "facts": facts,
    }
    yield data


def _find_alike(workbook: Any, cells: Any, others: Sequence[str]) -> list[str]:
    """Find sheets with the columns of a first one, among the next ones."""
    alike, names = [], find_header(_first_rows(cells)).names
    for other in others[:_MAX_ALIKE]:
        more = workbook.get_sheet_by_name(other)
        if more.height and _holds_table(more) and find_header(_first_rows(more)).names == names:
            alike.append(other)
    return alike


def _first_rows(cells: Any) -> list[list[Any]]:
    return list(islice(cells.iter_rows(), cells.start[0], cells.start[0] + _HEADER_ROWS))


def _parse_sheet(
    cells: Any,
    header: bool = True,
    skip_first: int | None = None,
    skip_last: int = 0,
) -> SheetTable:
    # The reader gives blank rows above the first cell, and no blank columns left of it.
    (first_row, left), above = cells.start, skip_first or 0
    top = max(first_row, above)
    rows: Iterator[list[Any]] = islice(cells.iter_rows(), top, None)
    # Merged ranges, too, are counted from the first cell that holds something.
    merged: Any = [
        [(max(row - top, 0), max(column - left, 0)) for row, column in corners]
        for corners in cells.merged_cell_ranges or ()
        if corners[1][0] >= top
    ]
    names, offset = None, 0
    facts = []
    if header:
        first = list(islice(rows, _HEADER_ROWS))
        if not first:
            raise TableError(f"Sheet '{brief(cells.name)}' has no row {top + 1}.")
        found = find_header(first, merged, titled=skip_first is None)
        names, offset, rows = found.names, found.end, chain(first[found.end :], rows)
        if any(row.count("") < len(row) for row in first[: found.first]):
            facts.append(Fact("rows_above", {"sheet": cells.name, "row": top + found.first + 1}))
        if found.is_data:
            row = top + found.first + 1
            facts.append(Fact("header_in_doubt", {"row": row, "unit": "row"}))
    begin = top + offset + 1
    filled = _fill_down(rows, merged, offset)
    data, blank, n_notes, shown = _read_rows(filled, names, cells.width, begin)
    if n_notes > skip_last:
        facts.append(Fact("notes_below", {"n_rows": n_notes}))
    data = data.slice(0, max(data.num_rows - max(skip_last - n_notes, 0), 0))
    numbers = np.setdiff1d(np.arange(data.num_rows + len(blank)) + begin, blank)
    sheet, n_below = Sheet(cells.name, begin), max(skip_last, n_notes)
    columns = [left + j + 1 for j in shown]
    return SheetTable(data, sheet, numbers[: data.num_rows], n_below, facts, columns)


def open_workbook(source: Source) -> Any:
    """Open a workbook, or say why it is none."""
    import python_calamine

    with _open_content(source) as file:
        _check_archive(file, source)
        file.seek(0)
        try:
            return python_calamine.load_workbook(file)
        except python_calamine.PasswordError:
            raise TableError(source.name + _PROTECTED) from None


def _open_content(source: Source) -> BinaryIO:
    """Open the bytes of a workbook, unpacked if they are compressed once more."""
    return source.open() if source.unpacker is None else io.BytesIO(b"".join(source.pieces()))


def _check_archive(file: BinaryIO, source: Source) -> None:
    """Refuse what is no spreadsheet, or says itself that it takes too much memory."""
    if file.read(8) == _OLE:
        if "EncryptedPackage".encode("utf-16-le") in file.read():
            raise TableError(source.name + _PROTECTED)
        return
    with zipfile.ZipFile(file) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
        refuse_large(n_bytes, source.name, source.max_bytes)
        members = archive.namelist()
    if "xl/workbook.bin" in members:
        raise TableError(f"{source.name} is a binary workbook (.xlsb). Save it as .xlsx.")
    if not any(name.startswith("xl/") or name == "content.xml" for name in members):
        raise TableError(f"{source.name} is a zip archive, not a table. Unpack it first.")


def choose_sheet(workbook: Any, wanted: str | None, name: str) -> tuple[str, Any, list[str]]:
    """Find a sheet by its name or number; give its name, its cells and the other sheets' names."""
    names, visible = sheet_names(workbook)
    chosen = visible if wanted is None else [_find_sheet(names, wanted, name)]
    filled = {}
    for candidate in chosen:
        cells = workbook.get_sheet_by_name(candidate)
        if cells.height:
            filled[candidate] = cells
        if cells.height and (wanted or _holds_table(cells)):
            break
    if not filled:
        where = f"Sheet '{brief(chosen[0])}' of {name}" if chosen else name
        raise TableError(f"{where} is empty. Give a table with a header and at least one row.")
    found = candidate if candidate in filled and _holds_table(cells) else next(iter(filled))
    others = [] if wanted else [other for other in visible if other != found]
    return found, filled[found], others


def sheet_names(workbook: Any) -> tuple[list[str], list[str]]:
    """List all sheets with cells, and those that a reader sees; all where none is visible."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    every = [s for s in workbook.sheets_metadata if s.typ == SheetTypeEnum.WorkSheet]
    names = [s.name for s in every]
    return names, [s.name for s in every if s.visible == SheetVisibleEnum.Visible] or names


def _holds_table(cells: Any) -> bool:
    """Return whether a sheet holds a table, not a cover or a legend.

    A table has rows below a header, with numbers or many cells.
    """
    rows, width = _first_rows(cells), cells.width
    header = find_header(rows)
    body = [row for row in rows[header.end :] if row.count("") < width]
    if len(body) < 2 or width < 2:
        return False
    full = sum(2 * row.count("") <= width for row in body) >= len(body) / 2
    filled = [[cell for cell in column if cell != ""] for column in zip(*body, strict=True)]
    has_numbers = any(
        2 * sum(type(cell) in _NUMBERS for cell in column) > len(column) for column in filled
    )
    return full and (has_numbers or (width > 2 and len(body) >= _MIN_TEXT_ROWS))


def _find_sheet(names: list[str], wanted: str, source: str) -> str:
    """Find the sheet that --sheet means: by its name, or its number from 1."""
    if wanted in names:
        return wanted
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    alike = [name for name in names if name.strip().casefold() == wanted.strip().casefold()]
    if alike:
        return alike[0]
    listed = ", ".join(f"{i} '{brief(name)}'" for i, name in enumerate(names[:12], 1))
    raise TableError(f"{source} has no sheet '{brief(wanted)}'. Its sheets are: {listed}.")


def _fill_down(rows: Iterable[list[Any]], merged: Sequence[Range], start: int) -> Iterator[Any]:
    """Give every row that a merged cell covers the content of that cell."""
    begins: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, _) in merged:
        if bottom > top:
            begins.setdefault(top, []).append((left, bottom))
    if not begins:
        yield from rows
        return
    running: dict[int, tuple[Any, int]] = {}
    for number, row in enumerate(rows, start):
        for column, (cell, last) in list(running.items()):
            if number > last:
                del running[column]
            else:
                row[column] = cell
        for column, last in begins.get(number, ()):
            running[column] = row[column], last
        yield row


def _read_rows(
    rows: Iterator[list[Any]], names: list[str] | None, width: int, first: int
) -> tuple[Any, list[int], int, list[int]]:
    """Read rows, the first of which is the sheet's row `first`; blank ones are left out.

    So are notes, the last rows if these are single texts apart from the table: after a blank row.
    Gives the table, the blank rows, how many notes there are, and which columns it has.
    """
    blocks: list[list[Any]] = []
    block: list[list[Any]] = []
    notes: list[list[Any]] = []
    blank: list[int] = []
    after_blank = False

    def finish() -> None:
        columns = [_sheet_column(cells) for cells in zip(*block, strict=True)]
        blocks.append(columns or [pa.nulls(0)] * width)
        block.clear()

    for number, row in enumerate(rows, first):
        filled = width - row.count("")
        if not filled:
            after_blank = True
            blank.append(number)
            continue
        alone = after_blank and filled == 1 < width - 1 and len(notes) < _MAX_NOTES
        if alone and any(isinstance(cell, str) and cell for cell in row):
            notes.append(row)
            continue
        block += [*notes, row]
        notes, after_blank = [], False
        if len(block) >= _ROWS_AT_ONCE:
            finish()
    finish()
    columns = [_join(parts) for parts in zip(*blocks, strict=True)]
    named = names or [""] * width
    shown = [j for j in range(width) if named[j] or columns[j].null_count < len(columns[j])]
    labels = [named[j] or f"column {place}" for place, j in enumerate(shown, 1)]
    data = pa.Table.from_arrays([columns[j] for j in shown], names=labels)
    return data, blank, len(notes), shown


def _sheet_column(cells: Sequence[Any]) -> Any:
    """Make a column of some cells: of numbers, truth values, dates or spans, otherwise of text."""
    found, midnight = [None if cell == "" else cell for cell in cells], datetime.time.min
    kinds = set(map(type, found)) - {type(None)}
    if not kinds:
        return pa.nulls(len(found))
    if kinds <= _NUMBERS:
        return pa.array(found, pa.float64())
    if kinds in ({bool}, {datetime.date}):
        return pa.array(found)
    if kinds <= _DATES:
        moments = [_combine(c, midnight) if type(c) is datetime.date else c for c in found]
        return pa.array(moments, pa.timestamp("us"))
    if kinds <= _SPANS:
        first, start = datetime.date.min, datetime.datetime.min
        spans = [_combine(first, c) - start if isinstance(c, datetime.time) else c for c in found]
        return pa.array(spans, pa.duration("us"))
    return _mark_numbers(found)


def _join(parts: Sequence[Any]) -> Any:
    """Put the parts of a column together; where their kinds differ, as text."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)} or {pa.null()}
    if kinds == {pa.date32(), pa.timestamp("us")}:
        kinds.remove(pa.date32())
    if len(kinds) > 1:
        kinds, parts = {pa.string()}, [_mark_numbers(part.to_pylist()) for part in parts]
    kind = kinds.pop()
    return as_whole(pa.chunked_array([part.cast(kind) for part in parts], kind))


def _mark_numbers(cells: Iterable[Any]) -> Any:
    """Make a column of the texts of cells, those of numbers marked as such."""
    marked = [
        cell if cell is None else _MARK * (type(cell) is float) + cell_text(cell) for cell in cells
    ]
    return pa.array(marked, pa.string())


def _write_numbers(data: Any) -> tuple[Any, list[str]]:
    """Write numbers among texts; beside decimal commas as every number format reads them.

    Gives the columns of whole numbers, too, that are too large for a sheet to keep all digits.
    """
    inexact = []
    for j, name in enumerate(data.column_names):
        column = data.column(j)
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            low, high = (end.as_py() or 0 for end in pc.min_max(column).values())
            if pa.types.is_integer(column.type) and max(-low, high) >= _MAX_EXACT:
                inexact.append(name)
        if not pa.types.is_string(column.type) or not pc.any(pc.starts_with(column, _MARK)).as_py():
            continue
        write = _without_point if pc.any(pc.match_substring_regex(column, _COMMA)).as_py() else str
        cells = [
            write(text[1:]) if text and text.startswith(_MARK) else text
            for text in column.to_pylist()
        ]
        data = data.set_column(j, name, pa.array(cells, pa.string()))
    return data, inexact


def _without_point(number: str) -> str:
    """Write a number without a decimal separator: "58e-1" for 5.8."""
    minus, digits, exponent = Decimal(number).as_tuple()
    whole = "-" * minus + "".join(map(str, digits))
    return f"{whole}e{exponent}" if exponent else whole


def _look_into(file: BinaryIO, sheet: str) -> StoredSheet:
    """Find formulas without a result, and what is hidden, in the file of a sheet.

    An .xls tells neither, and an .ods nothing of formulas.
    """
    if not zipfile.is_zipfile(file):
        return StoredSheet()
    with zipfile.ZipFile(file) as archive:
        if "content.xml" in archive.namelist():
            with archive.open("content.xml") as stream:
                return _look_into_ods(stream, sheet)
        member = _find_member(archive, sheet)
        if member is None:
            return StoredSheet()
        with archive.open(member) as stream:
            return _look_into_xlsx(stream)


def _look_into_xlsx(stream: IO[bytes]) -> StoredSheet:
    n_unsolved, rest, rows, columns = 0, b"", set[int](), set[int]()
    while piece := stream.read(_PIECE):
        text = rest + piece
        end = text.rfind(b"</row>")
        text, rest = text[:end], text[end:]
        # An empty text is a result.
        cells = (cell[1] for cell in _FORMULA.finditer(text)) if b"<f" in text else ()
        n_unsolved += sum(b't="str"' not in cell for cell in cells)
        if b"hidden=" in text:
            rows.update(int(found[1]) for found in _HIDDEN_ROW.finditer(text))
            for column in _HIDDEN_COLUMNS.findall(text):
                ends = [min(int(end), _MAX_COLUMNS) for end in _COLUMN_ENDS.findall(column)]
                columns.update(range(min(ends, default=1), max(ends, default=0) + 1))
    return StoredSheet(n_unsolved, frozenset(rows), frozenset(columns))


def _look_into_ods(stream: IO[bytes], sheet: str) -> StoredSheet:
    found: dict[str, set[int]] = {"row": set(), "column": set()}
    last, is_here = dict.fromkeys(found, 0), False

    def begin(tag: str, given: dict[str, str]) -> None:
        nonlocal is_here
        if tag == f"{_TABLE}table":
            is_here = given.get(f"{_TABLE}name") == sheet
        kind = tag.removeprefix(f"{_TABLE}table-")
        if is_here and kind in found:
            first = last[kind] + 1
            last[kind] += int(given.get(f"{_TABLE}number-{kind}s-repeated", 1))
            # The end of a sheet is one row that is repeated a million times.
            if given.get(f"{_TABLE}visibility", "visible") != "visible":
                found[kind].update(range(first, min(last[kind], _MAX_ROWS) + 1))

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = begin
    parser.ParseFile(stream)
    return StoredSheet(0, frozenset(found["row"]), frozenset(found["column"]))


def _find_member(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Find the file of a sheet within a workbook."""
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    for each in book.findall("{*}sheets/{*}sheet"):
        link = next((value for key, value in each.attrib.items() if key.endswith("}id")), None)
        path = posixpath.normpath(posixpath.join("/xl", targets.get(link, ""))).lstrip("/")
        if each.get("name") == sheet and path in archive.namelist():
            return path
    return None
