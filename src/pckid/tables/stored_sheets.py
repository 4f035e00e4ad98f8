"""What the XML of an .xlsx file says that its reader does not.

Hidden rows, formulas without results, and whether cells are shown in percent or in a currency.
"""

import posixpath
import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple
from xml.etree import ElementTree

import numpy as np

from pckid.tables.formats import CURRENCIES

_PIECE = 1 << 20
_ROW = re.compile(rb"<row\b([^>]*)>")
_HIDDEN, _NUMBER = re.compile(rb"\bhidden=\"(?:1|true)\""), re.compile(rb"\br=\"(\d+)\"")
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_STYLED = rb"<c\s(?=[^>]*\bs=\"(%s)\")[^>]*?\br=\"([A-Z]{1,3})(\d{1,7})\""
_MOST_ROWS = 1 << 20
# Number formats that every workbook has.
_PERCENT = {"9": "0%", "10": "0.00%"}
_LITERAL = re.compile(r"\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|\"([^\"]*)\"|\\(.)|[_*].")
_CURRENCY = re.compile("|".join(re.escape(text) for text in CURRENCIES if not text.isalnum()))


class StoredSheet(NamedTuple):
    """What is stored of a sheet."""

    hidden: tuple[int, ...] = ()  # numbers of rows, from 1, that are not shown
    n_unsolved: int = 0  # formulas that have no result
    # By column, from 0: for each row, from 0, the place among `signs` of what it is shown with.
    shown: Mapping[int, bytearray] = {}
    signs: tuple[str, ...] = ("",)

    def signs_of(self, column: int, rows: np.ndarray) -> np.ndarray:
        """Return what cells of a column, from 0, are shown with; rows (n,) are counted from 1."""
        codes = np.frombuffer(self.shown[column], np.uint8)
        codes = np.append(codes, np.uint8(0))[np.minimum(rows - 1, len(codes))]
        return np.array(self.signs)[codes]


class StoredSheets:
    """The sheets of an .xlsx file; of other files nothing is known."""

    def __init__(self, file: BinaryIO) -> None:
        self._archive = zipfile.ZipFile(file) if zipfile.is_zipfile(file) else None
        self._members = {} if self._archive is None else _find_members(self._archive)
        self._styles = {} if self._archive is None else _find_styles(self._archive)

    def size(self, sheet: str) -> int:
        """Count the bytes of a sheet's XML; 0 where it is not read by itself."""
        return self._members[sheet].file_size if sheet in self._members else 0

    def look_at(self, sheet: str) -> StoredSheet:
        """Go through a sheet, some rows at a time."""
        if self._archive is None or sheet not in self._members:
            return StoredSheet()
        hidden: list[int] = []
        n_unsolved, rest = 0, b""
        signs = ("", *dict.fromkeys(self._styles.values()))
        codes = {style: signs.index(sign) for style, sign in self._styles.items()}
        shown = defaultdict[bytes, bytearray](bytearray)
        styled = re.compile(_STYLED % b"|".join(codes))
        with self._archive.open(self._members[sheet]) as stream:
            while piece := stream.read(_PIECE):
                text = rest + piece
                end = text.rfind(b"</row>")
                text, rest = text[:end], text[end:]
                if b"hidden=" in text:
                    rows = (row[1] for row in _ROW.finditer(text) if _HIDDEN.search(row[1]))
                    hidden += [int(found[1]) for row in rows if (found := _NUMBER.search(row))]
                if b"<f" in text:
                    # An empty text is a result.
                    cells = (cell[1] for cell in _FORMULA.finditer(text))
                    n_unsolved += sum(b't="str"' not in cell for cell in cells)
                for style, letters, number in styled.findall(text) if codes else ():
                    column, row = shown[letters], int(number)
                    if row > len(column):
                        column.extend(bytes(min(row, _MOST_ROWS) - len(column)))
                    if 0 < row <= _MOST_ROWS:
                        column[row - 1] = codes[style]
        by_number = {_column_number(letters): column for letters, column in shown.items()}
        return StoredSheet(tuple(hidden), n_unsolved, by_number, signs)


def _find_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return {}
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    members = {member.filename: member for member in archive.infolist()}
    found = {}
    for sheet in book.findall("{*}sheets/{*}sheet"):
        link = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), None)
        path = posixpath.normpath(posixpath.join("/xl", targets.get(link, ""))).lstrip("/")
        if path in members:
            found[sheet.get("name", "")] = members[path]
    return found


def _find_styles(archive: zipfile.ZipFile) -> dict[bytes, str]:
    """Find the styles of cells that show numbers in percent, or in a currency, by their numbers."""
    try:
        styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    except (KeyError, ElementTree.ParseError):
        return {}
    own = styles.findall("{*}numFmts/{*}numFmt")
    codes = _PERCENT | {each.get("numFmtId", ""): each.get("formatCode", "") for each in own}
    used = [each.get("numFmtId", "") for each in styles.findall("{*}cellXfs/{*}xf")]
    signs = {b"%d" % place: find_sign(codes.get(each, "")) for place, each in enumerate(used)}
    return {style: sign for style, sign in signs.items() if sign}


def find_sign(code: str) -> str:
    """Find what a number format shows with positive numbers: "%", or the sign of a currency."""
    positive = code.partition(";")[0]
    rest = _LITERAL.sub(" ", positive)
    if "%" in rest:
        return "%"
    texts = [text for found in _LITERAL.findall(positive) for text in found]
    texts += _CURRENCY.findall(rest)
    return next((CURRENCIES[t] for text in texts if (t := text.strip().lower()) in CURRENCIES), "")


def _column_number(letters: bytes) -> int:
    """Read the name of a column: 0 for A, 26 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1
