"""What the XML of an .xlsx file says that its reader does not: hidden rows, unsolved formulas."""

import posixpath
import re
import zipfile
from typing import BinaryIO, NamedTuple
from xml.etree import ElementTree

_PIECE = 1 << 20
_ROW = re.compile(rb"<row\b([^>]*)>")
_HIDDEN, _NUMBER = re.compile(rb"\bhidden=\"(?:1|true)\""), re.compile(rb"\br=\"(\d+)\"")
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)


class StoredSheet(NamedTuple):
    """What is stored of a sheet."""

    hidden: tuple[int, ...] = ()  # numbers of rows, from 1, that are not shown
    n_unsolved: int = 0  # formulas that have no result


class StoredSheets:
    """The sheets of an .xlsx file; of other files nothing is known."""

    def __init__(self, file: BinaryIO) -> None:
        self._archive = zipfile.ZipFile(file) if zipfile.is_zipfile(file) else None
        self._members = {} if self._archive is None else _find_members(self._archive)

    def size(self, sheet: str) -> int:
        """Count the bytes of a sheet's XML; 0 where it is not read by itself."""
        return self._members[sheet].file_size if sheet in self._members else 0

    def look_at(self, sheet: str) -> StoredSheet:
        """Go through a sheet, some rows at a time."""
        if self._archive is None or sheet not in self._members:
            return StoredSheet()
        hidden: list[int] = []
        n_unsolved, rest = 0, b""
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
        return StoredSheet(tuple(hidden), n_unsolved)


def _find_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Find the XML of each sheet by the sheet's name."""
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
