"""Formulas of an .xlsx sheet that have no stored result, which its reader gives as empty cells."""

import posixpath
import re
import zipfile
from typing import BinaryIO
from xml.etree import ElementTree

_PIECE = 1 << 20
_FORMULA = re.compile(
    rb"<c\b([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)


def count_unsolved(file: BinaryIO, sheet: str) -> int:
    """Count the formulas of a sheet without a result; 0 in files of other formats."""
    if not zipfile.is_zipfile(file):
        return 0
    n_unsolved, rest = 0, b""
    with zipfile.ZipFile(file) as archive:
        member = _find_member(archive, sheet)
        if member is None:
            return 0
        with archive.open(member) as stream:
            while piece := stream.read(_PIECE):
                text = rest + piece
                end = text.rfind(b"</row>")
                text, rest = text[:end], text[end:]
                # An empty text is a result.
                cells = (cell[1] for cell in _FORMULA.finditer(text)) if b"<f" in text else ()
                n_unsolved += sum(b't="str"' not in cell for cell in cells)
    return n_unsolved


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
