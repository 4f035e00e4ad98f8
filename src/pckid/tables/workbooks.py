"""Spreadsheets (.xlsx, .xls, .ods): one sheet as a table, its cells typed as they are stored.

Nothing in a workbook is run or followed: of a formula the value is taken that was stored with it,
macros and links to other files are not looked at.
"""

import datetime
import importlib.util
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.tables.facts import Fact
from pckid.tables.headers import Range, cell_text, find_header
from pckid.tables.isolation import read_apart
from pckid.tables.sources import Source, refuse_large, refuse_wide
from pckid.tables.table import SheetRows, as_whole

ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_ROWS_AT_ONCE = 1 << 15
_HEADER_ROWS = 100
_MOST_NOTES = 5
_FEWEST_TEXT_ROWS = 5
_NUMBERS = {int, float}
_DATES = {datetime.date, datetime.datetime}
_SPANS = {datetime.time, datetime.timedelta}


class SheetTable(NamedTuple):
    """The table of a sheet.

    Attributes
    ----------
    data : pyarrow.Table of shape (n_rows, n_columns)
    rows : SheetRows
    n_below : int
        Rows below the table that were left out.
    facts : tuple of Fact
    """

    data: Any
    rows: SheetRows
    n_below: int
    facts: tuple[Fact, ...] = ()


def read_sheet(
    source: Source,
    sheet: str | None = None,
    header: bool = True,
    skip_first: int | None = None,
    skip_last: int = 0,
) -> SheetTable:
    """Read a sheet of a spreadsheet.

    Parameters
    ----------
    source : Source
    sheet : str, optional
        Its name, or its number from 1; by default the first that is visible and holds a table.
    header : bool, default=True
        Whether a row holds the names of the columns.
    skip_first : int, optional
        Rows of the sheet above the table; by default those above the names.
    skip_last : int, default=0
        Rows below the table, notes among them, blank ones not counted.
    """
    _check_installed()
    how = {"sheet": sheet, "header": header, "skip_first": skip_first, "skip_last": skip_last}
    told, *tables = read_apart(parse_workbook, source, **how)
    rows = SheetRows(told["first"], tuple(told["blank"]))
    facts = tuple(Fact(*fact) for fact in told["facts"])
    return SheetTable(pa.concat_tables(tables), rows, told["n_below"], facts)


def find_sheets(source: Source) -> tuple[list[str], int]:
    """List the sheets that a reader of a workbook sees, and the place of the one with the table."""
    _check_installed()
    [(names, place)] = read_apart(parse_sheet_names, source)
    return names, place


def parse_sheet_names(source: Source) -> Iterator[Any]:
    """Yield what `find_sheets` gives."""
    workbook = open_workbook(source)
    found, _, _ = choose_sheet(workbook, None, source.name)
    names = sheet_names(workbook)[1]
    yield names, names.index(found)


def parse_workbook(
    source: Source, sheet: str | None, header: bool, skip_first: int | None, skip_last: int
) -> Iterator[Any]:
    """Yield how a sheet was read, then its table."""
    read = _read_workbook(source, sheet, header, skip_first, skip_last)
    refuse_wide(read.data.num_columns, source.name)
    first, blank = read.rows
    yield {"first": first, "blank": blank, "n_below": read.n_below, "facts": read.facts}
    yield read.data


def _read_workbook(
    source: Source, sheet: str | None, header: bool, skip_first: int | None, skip_last: int
) -> SheetTable:
    """Read a sheet in this process."""
    workbook = open_workbook(source)
    name, cells, others = choose_sheet(workbook, sheet, source.name)
    # The reader gives blank rows above the first cell, and no blank columns left of it.
    (first_row, left), above = cells.start, skip_first or 0
    top = max(first_row, above)
    rows: Iterator[list[Any]] = islice(cells.iter_rows(), top, None)
    merged = [_shifted(r, top, left) for r in cells.merged_cell_ranges or () if r[1][0] >= top]
    names, offset = None, 0
    facts = [Fact("other_sheets", {"sheet": name, "others": others})] if others else []
    if header:
        first = list(islice(rows, _HEADER_ROWS))
        if not first:
            raise TableError(f"Sheet '{brief(name)}' of {source.name} has no row {top + 1}.")
        found = find_header(first, merged)
        names, offset, rows = found.names, found.end, chain(first[found.end :], rows)
        if any(row.count("") < len(row) for row in first[: found.first]):
            facts.append(Fact("rows_above", {"sheet": name, "row": top + found.first + 1}))
        if found.rival is not None:
            doubt = {"row": top + found.first + 1, "rival": top + found.rival + 1, "unit": "row"}
            facts.append(Fact("header_in_doubt", doubt))
    read = _read_rows(_fill_down(rows, merged, offset), names, cells.width, top + offset + 1)
    if read.n_below > skip_last:
        facts.append(Fact("notes_below", {"n_rows": read.n_below}))
    more = max(skip_last - read.n_below, 0)
    data = read.data.slice(0, max(read.data.num_rows - more, 0))
    return read._replace(data=data, facts=tuple(facts), n_below=read.n_below + more)


def _check_installed() -> None:
    """Say what is missing before any work is done."""
    if importlib.util.find_spec("python_calamine") is None:
        raise ImportError(
            "Reading spreadsheets needs python_calamine: python -m pip install 'pckid[excel]'"
        )


def open_workbook(source: Source) -> Any:
    """Open a workbook, or say why it is none."""
    import python_calamine

    # Compressed once more, it is unpacked first.
    packed = source.unpacker is not None
    with io.BytesIO(b"".join(source.pieces())) if packed else source.open() as file:
        _check_archive(file, source)
        file.seek(0)
        try:
            return python_calamine.load_workbook(file)
        except python_calamine.PasswordError:
            raise TableError(_protected(source.name)) from None


def _check_archive(file: BinaryIO, source: Source) -> None:
    """Refuse what is no spreadsheet, or says itself that it takes too much memory."""
    if file.read(8) == OLE:
        entries = file.read()
        if "EncryptedPackage".encode("utf-16-le") in entries:
            raise TableError(_protected(source.name))
        return
    with zipfile.ZipFile(file) as archive:
        refuse_large(
            sum(member.file_size for member in archive.infolist()), source.name, source.max_bytes
        )
        members = archive.namelist()
    if "xl/workbook.bin" in members:
        raise TableError(f"{source.name} is a binary workbook (.xlsb). Save it as .xlsx.")
    if not any(name.startswith("xl/") or name == "content.xml" for name in members):
        raise TableError(f"{source.name} is a zip archive, not a table. Unpack it first.")


def _protected(name: str) -> str:
    """Say that a spreadsheet asks for a password."""
    return (
        f"{name} is protected by a password. Open it, save it without one (File, Info, Protect "
        "Workbook), and give that file."
    )


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
    import python_calamine

    kinds = python_calamine.SheetTypeEnum, python_calamine.SheetVisibleEnum
    every = [s for s in workbook.sheets_metadata if s.typ == kinds[0].WorkSheet]
    names = [s.name for s in every]
    return names, [s.name for s in every if s.visible == kinds[1].Visible] or names


def _holds_table(cells: Any) -> bool:
    """Tell a table from a cover or a legend: rows below a header, with numbers or many cells."""
    rows = list(islice(cells.iter_rows(), cells.start[0], cells.start[0] + _HEADER_ROWS))
    width = cells.width
    header = find_header(rows)
    body = [row for row in rows[header.end :] if row.count("") < width]
    if len(body) < 2 or width < 2:
        return False
    full = sum(2 * row.count("") <= width for row in body) >= len(body) / 2
    filled = [[cell for cell in column if cell != ""] for column in zip(*body, strict=True)]
    has_numbers = any(
        2 * sum(type(cell) in _NUMBERS for cell in column) > len(column) for column in filled
    )
    return full and (has_numbers or (width > 2 and len(body) >= _FEWEST_TEXT_ROWS))


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


def _shifted(merge: Range, n_rows: int, n_columns: int) -> Range:
    """Count the rows and columns of a merged range from the first cell that holds something."""
    (top, left), (bottom, right) = merge
    first = max(top - n_rows, 0), max(left - n_columns, 0)
    return first, (max(bottom - n_rows, 0), max(right - n_columns, 0))


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
) -> SheetTable:
    """Read rows, the first of which is the sheet's row `first`; blank ones and notes left out."""
    blocks: list[list[Any]] = []
    notes: list[list[Any]] = []
    blank: list[int] = []
    body = _without_notes(enumerate(rows, first), width, notes, blank)
    while block := list(islice(body, _ROWS_AT_ONCE)):
        blocks.append([_sheet_column(cells) for cells in zip(*block, strict=True)])
    columns = [_join(parts) for parts in zip(*blocks, strict=True)] or [pa.nulls(0)] * width
    named = names or [""] * width
    shown = [j for j in range(width) if named[j] or columns[j].null_count < len(columns[j])]
    labels = [named[j] or f"column {place}" for place, j in enumerate(shown, 1)]
    data = pa.Table.from_arrays([columns[j] for j in shown], names=labels)
    return SheetTable(data, SheetRows(first, tuple(blank)), len(notes))


def _without_notes(
    rows: Iterable[tuple[int, list[Any]]], width: int, notes: list[list[Any]], blank: list[int]
) -> Iterator[list[Any]]:
    """Yield the rows that hold something; `notes` gets the last ones, if these are single texts.

    A note stands apart from the table: after a blank row. `blank` gets the numbers of such rows.
    """
    after_blank = False
    for number, row in rows:
        filled = width - row.count("")
        if not filled:
            after_blank = True
            blank.append(number)
        elif (
            after_blank
            and filled == 1 < width - 1
            and len(notes) < _MOST_NOTES
            and any(isinstance(cell, str) and cell for cell in row)
        ):
            notes.append(row)
        else:
            yield from notes
            notes.clear()
            after_blank = False
            yield row


def _sheet_column(cells: Sequence[Any]) -> Any:
    """Make a column of some cells: of numbers, truth values, dates or spans, otherwise of text."""
    found = [None if cell == "" else cell for cell in cells]
    kinds = set(map(type, found)) - {type(None)}
    if not kinds:
        return pa.nulls(len(found))
    if kinds <= _NUMBERS:
        return pa.array(found, pa.float64())
    if kinds == {bool}:
        return pa.array(found, pa.bool_())
    if kinds == {datetime.date}:
        return pa.array(found, pa.date32())
    if kinds <= _DATES:
        return pa.array([_moment(cell) for cell in found], pa.timestamp("us"))
    if kinds <= _SPANS:
        return pa.array([_span(cell) for cell in found], pa.duration("us"))
    return _text_column(found)


def _moment(cell: Any) -> datetime.datetime | None:
    """Take a date as its midnight."""
    if type(cell) is datetime.date:
        return datetime.datetime(cell.year, cell.month, cell.day)
    return cell


def _span(cell: Any) -> datetime.timedelta | None:
    """Take a time of the day as the span since midnight."""
    if isinstance(cell, datetime.time):
        return datetime.datetime.combine(datetime.date.min, cell) - datetime.datetime.min
    return cell


def _join(parts: Sequence[Any]) -> Any:
    """Put the parts of a column together; where their kinds differ, as text."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)} or {pa.null()}
    if kinds == {pa.date32(), pa.timestamp("us")}:
        kinds.remove(pa.date32())
    if len(kinds) > 1:
        kinds, parts = {pa.string()}, [_text_column(part.to_pylist()) for part in parts]
    kind = kinds.pop()
    return as_whole(pa.chunked_array([part.cast(kind) for part in parts], kind))


def _text_column(cells: Sequence[Any]) -> Any:
    """Make a column of the texts of cells."""
    return pa.array([None if cell is None else cell_text(cell) for cell in cells], pa.string())
