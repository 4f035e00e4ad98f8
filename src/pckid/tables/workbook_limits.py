"""Measure what a spreadsheet takes in memory before a reader opens it.

Readers lay a sheet out as a rectangle, so that a file of a few kilobytes with a cell in its last
row and column takes gigabytes. Everything that is unpacked here is counted and not kept.
"""

import codecs
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.parsers import expat

import numpy as np

from pckid.exceptions import TableError
from pckid.tables.sources import refuse_large

_CELL_BYTES = 80  # of a cell while calamine reads it, measured
_PIECE = 1 << 20
_LONGEST_TAG = 1 << 24
_TAG_OR_PLACE = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])|[\s\"']r\s*=\s*[\"']\s*([A-Za-z]*)(\d+)")
_PREFIXED = (b":row", b":c ", b":c>", b":c/", b":c\t", b":c\r", b":c\n")
_ROW, _CELL = b'<row r="', b'<c r="'
_LONGEST_PLACE = 11
_BLANKS = np.frombuffer(b" \t\r\n", dtype=np.uint8)
_ENDS_NAME = np.frombuffer(b" \t\r\n/>", dtype=np.uint8)
_BEFORE_NAME = np.frombuffer(b" \t\r\n\"'", dtype=np.uint8)
# Records of .xls that begin with the row and the column of a cell; the last two hold many cells.
_CELLS = {0x02, 0x03, 0x04, 0x05, 0x06, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205, 0x206, 0x27E,
          0x406, 0xBD, 0xBE}  # fmt: skip
_SHEET_BEGINS = {0x09, 0x209, 0x409, 0x809}


def check_archive(file: BinaryIO, name: str, max_bytes: int) -> None:
    """Raise if an .xlsx or .ods file takes more than `max_bytes` unpacked, or in memory."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        refuse_large(sum(member.file_size for member in members), name, max_bytes)
        n_bytes = 0
        for member in members:
            # The directory may lie: the stream is read to its own end, or beyond the limit.
            member.file_size = max_bytes + 2 * _PIECE
            with archive.open(member) as stream:
                if member.filename == "content.xml":
                    n_bytes += _measure_ods(stream, name, max_bytes)
                else:
                    n_bytes += _measure_part(stream, name, max_bytes - n_bytes, max_bytes)


def _zip_members(stream: Any, name: str, left: int, max_bytes: int) -> Iterator[bytes]:
    """Yield what is unpacked, as long as no more than `left` bytes come."""
    while piece := stream.read(_PIECE):
        left -= len(piece)
        if left < 0:
            refuse_large(max_bytes + 1, name, max_bytes)
        yield piece


def _measure_part(stream: Any, name: str, left: int, max_bytes: int) -> int:
    """Count the bytes of a part of an .xlsx file; refuse a sheet that is too large a rectangle."""
    extent = _XlsxExtent()
    n_bytes, rest = 0, b""
    for piece in _zip_members(stream, name, left, max_bytes):
        if n_bytes == 0 and piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise zipfile.BadZipFile("XML in UTF-16")
        is_xml = n_bytes > 0 or piece.lstrip(codecs.BOM_UTF8 + b" \t\r\n").startswith(b"<")
        n_bytes += len(piece)
        if not is_xml:
            return n_bytes + sum(map(len, _zip_members(stream, name, left - n_bytes, max_bytes)))
        # A tag that goes on in the next piece is looked at with it.
        text = rest + piece
        end = text.rfind(b"<")
        extent.add(text[:end])
        rest = text[end:]
        refuse_large(extent.n_cells * _CELL_BYTES, name, max_bytes)
        if len(rest) > _LONGEST_TAG:
            raise zipfile.BadZipFile("a cell of more than 16 MB")
    extent.add(rest)
    refuse_large(extent.n_cells * _CELL_BYTES, name, max_bytes)
    return n_bytes


class _XlsxExtent:
    """Follow the rows and cells of a sheet, whose places are written with them or follow."""

    def __init__(self) -> None:
        self.n_rows = self.n_columns = self.n_tags = 0

    @property
    def n_cells(self) -> int:
        """Cells of the rectangle, or as they are written where more are: a place can recur."""
        return max(self.n_rows * self.n_columns, self.n_tags)

    def add(self, text: bytes) -> None:
        """Look at a piece of whole tags."""
        self.n_tags += text.count(b"<si")
        signs = np.frombuffer(text + bytes(len(_ROW) + _LONGEST_PLACE), dtype=np.uint8)
        tags = np.flatnonzero(signs == ord("<"))
        cells = tags[(signs[tags + 1] == ord("c")) & ~_goes_on(signs[tags + 2])]
        rows = tags[(signs[tags + 1] == ord("r")) & (signs[tags + 2] == ord("o"))]
        rows = rows[(signs[rows + 3] == ord("w")) & ~_goes_on(signs[rows + 4])]
        as_usual = _begin(signs, cells, _CELL) and _begin(signs, rows, _ROW)
        places = np.concatenate([cells + len(_CELL), rows + len(_ROW)])
        as_usual &= len(places) == _count_places(signs)
        prefixed = any(sign in text for sign in _PREFIXED)
        if prefixed or not as_usual or not self._read_places(signs, places):
            self._follow(text)

    def _read_places(self, signs: np.ndarray, places: np.ndarray) -> bool:
        """Read places such as AB12 that begin at `places`; False if one is written otherwise."""
        row, column = np.zeros((2, len(places)), dtype=np.int64)
        for step in range(_LONGEST_PLACE):
            sign = signs[places + step].astype(np.int64)
            is_digit, is_letter = (sign >= 48) & (sign <= 57), (sign >= 65) & (sign <= 90)
            if ((row > 0) & is_letter).any() or not (is_digit | is_letter | (sign == 34)).all():
                return False
            row = np.where(is_digit, 10 * row + sign - 48, row)
            column = np.where(is_letter, 26 * column + sign - 64, column)
            places = np.where(sign == 34, places - 1, places)
        if (sign != 34).any():
            return False
        self.n_tags += len(places)
        self.n_rows = max(self.n_rows, int(row.max(initial=0)))
        self.n_columns = max(self.n_columns, int(column.max(initial=0)))
        return True

    def _follow(self, text: bytes) -> None:
        """Count tag by tag: one without a place comes after the last, wherever that is."""
        row, column, unplaced = self.n_rows, self.n_columns, b""
        for tag, letters, digits in [*_TAG_OR_PLACE.findall(text), (b"end", b"", b"")]:
            if digits:
                row, column = int(digits), _column_number(letters.upper()) or column
                unplaced = b""
            else:
                row += unplaced == b"row"
                column = column + 1 if unplaced == b"c" else 0 if tag == b"row" else column
                unplaced = tag
                self.n_tags += tag != b"end"
            self.n_rows, self.n_columns = max(self.n_rows, row), max(self.n_columns, column)


def _count_places(signs: np.ndarray) -> int:
    """Count attributes that are called r; -1 where an equals sign has a blank before it."""
    equals = np.flatnonzero(signs == ord("="))
    equals = equals[equals > 1]
    if np.isin(signs[equals - 1], _BLANKS).any():
        return -1
    ends = equals[signs[equals - 1] == ord("r")]
    return int(np.isin(signs[ends - 2], _BEFORE_NAME).sum())


def _begin(signs: np.ndarray, places: np.ndarray, text: bytes) -> bool:
    """Tell whether a text stands at all places."""
    return all((signs[places + i] == sign).all() for i, sign in enumerate(text))


def _goes_on(signs: np.ndarray) -> np.ndarray:
    """Tell which signs belong to a name rather than end it."""
    return ~np.isin(signs, _ENDS_NAME)


def _column_number(letters: bytes) -> int:
    """Number a column by its letters, A being 1; none are 0."""
    number = 0
    for letter in letters[:8]:
        number = 26 * number + letter - 64
    return number


def _measure_ods(stream: Any, name: str, max_bytes: int) -> int:
    """Count the bytes of an .ods file's content; refuse sheets that are too large together."""
    extent = _OdsExtent(name, max_bytes)
    n_bytes = 0
    for piece in _zip_members(stream, name, max_bytes, max_bytes):
        n_bytes += len(piece)
        extent.parser.Parse(piece, False)
    extent.parser.Parse(b"", True)
    return n_bytes


class _OdsExtent:
    """Follow the cells of an .ods file, which says of each how often it is repeated."""

    def __init__(self, name: str, max_bytes: int) -> None:
        self.name, self.max_bytes = name, max_bytes
        self.row = self.column = self.next_column = self.n_repeats = 0
        self.last_row = self.last_column = self.cells = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def _refuse_doctype(self, *declaration: Any) -> None:
        raise expat.ExpatError("declares a document type")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(" ")[2]
        told = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        if kind == "table-row":
            self.n_repeats = int(told.get("number-rows-repeated", 1))
            self.row += self.n_repeats
            self.next_column = 0
        elif kind in ("table-cell", "covered-table-cell"):
            self.next_column += int(told.get("number-columns-repeated", 1))
            if "value-type" in told:
                self._see_cell()
        elif kind == "p":
            self._see_cell()

    def _see_cell(self) -> None:
        """A cell that holds something: the rectangle reaches to it."""
        self.last_row = max(self.last_row, self.row)
        self.last_column = max(self.last_column, self.next_column)
        area = self.cells + self.last_row * self.last_column
        refuse_large(area * _CELL_BYTES, self.name, self.max_bytes)

    def _end(self, tag: str) -> None:
        if tag.rpartition(" ")[2] == "table":
            self.cells += self.last_row * self.last_column
            self.row = self.last_row = self.last_column = 0


def check_xls(file: BinaryIO, name: str, max_bytes: int) -> None:
    """Raise if the sheets of an .xls file take more than `max_bytes` in memory, all together."""
    import olefile

    with olefile.OleFileIO(file) as container:
        if container.exists("EncryptedPackage"):
            raise TableError(protected(name))
        streams = [s for s in ("Workbook", "Book") if container.exists(s)]
        if not streams:
            raise TableError(f"{name} is an Office file, but no spreadsheet. Give .xlsx or .ods.")
        for stream in streams:
            area = _xls_cells(container.openstream(stream).read())
            refuse_large(area * _CELL_BYTES, name, max_bytes)


def _xls_cells(records: bytes) -> int:
    """Count the cells of the rectangles that hold the sheets of an .xls file."""
    total = last_row = last_column = place = 0
    while place + 4 <= len(records):
        kind, length = struct.unpack_from("<HH", records, place)
        place += 4
        if kind in _SHEET_BEGINS:
            total += last_row * last_column
            last_row = last_column = 0
        elif kind in _CELLS and length >= 4 and place + length <= len(records):
            row, column = struct.unpack_from("<HH", records, place)
            if kind in (0xBD, 0xBE):
                column = max(column, *struct.unpack_from("<H", records, place + length - 2))
            last_row, last_column = max(last_row, row + 1), max(last_column, column + 1)
        place += length
    return total + last_row * last_column


def protected(name: str) -> str:
    """Say that a spreadsheet asks for a password."""
    return (
        f"{name} is protected by a password. Open it, save it without one (File, Info, Protect "
        "Workbook), and give that file."
    )


DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError,
           expat.ExpatError, struct.error, ValueError)  # fmt: skip
"""What reading a damaged archive raises."""
