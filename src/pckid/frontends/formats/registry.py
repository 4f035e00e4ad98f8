"""The formats of tables: a row for each, whose functions are in the file of the same name.

The file of a format has

- `read(source, given)`: read a file whole, as a `FileTable`;
- `open_rows(path, given, plan)`: open its rows in batches, unless it is only read whole;
- `open_writer(file, how)`: make a `Writer`, unless nothing is written in this format;
- `list_choices(source)`: name its tables, if there may be several, and the place of the usual one;
- `check_output(path, how, n_rows, names)` and `add_table(path, how)`, if the row says so.

What a format does not do, its row says, and why. Nothing is imported before it is used: the help of
commands needs this file, and none of the libraries.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pckid._utils.text import join_words
from pckid.exceptions import OptionError

TEXT_PLACE = -1
"""The place of a sign within a text: below a byte-order mark, whatever blanks there are."""
_CHOICES = ("sheet", "table", "layer")
_ROWS = frozenset({"skip_first", "skip_below", "skip_last", "drop_rows"})


class Format(NamedTuple):
    """What is known of a format before any of its libraries is loaded."""

    name: str  # of the file here that has its functions
    title: str  # as people call it
    endings: tuple[str, ...]  # of files that are read
    signs: tuple[tuple[int, bytes], ...] = ()  # how its files begin: at a place, some bytes
    options: frozenset[str] = frozenset()  # fields of `ReadOptions` that not all formats have
    written: tuple[str, ...] = ()  # endings of files that are written
    growth: float = 1.0  # bytes of memory for each byte of a file, read whole
    only_whole: str = ""  # why it is not read in batches
    not_written: str = ""  # why nothing is written in it
    is_unpacked: bool = False  # whether a compressed file is read in batches, too
    is_packed: bool = False  # whether what is written may be compressed as a whole
    is_checked: bool = False  # whether it says before the work what cannot be written
    is_added_to: bool = False  # whether a file that is there gets a further table
    keeps_origin: bool = False  # whether a file says what made it

    @property
    def functions(self) -> Any:
        """The module with the functions of the format."""
        return import_module(f"{__package__}.{self.name}")

    @property
    def choice(self) -> str | None:
        """The option that chooses one of several tables of a file."""
        return next((name for name in _CHOICES if name in self.options), None)


PARQUET = Format(
    "parquet", "Parquet", (".parquet", ".pq"), ((0, b"PAR1"),),
    written=(".parquet", ".pq"), keeps_origin=True,
)  # fmt: skip
"""Of folders, too."""
ARROW = Format(
    "arrow", "Arrow", (".arrow", ".feather"),
    ((0, b"ARROW1"), (0, b"FEA1"), (0, b"\xff\xff\xff\xff")),
    written=(".arrow", ".feather"), keeps_origin=True,
)  # fmt: skip
WORKBOOKS = Format(
    "workbooks", "Excel, OpenDocument", (".xlsx", ".xls", ".ods"),
    ((0, b"PK\x03\x04"), (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")),
    _ROWS | {"sheet", "header", "visible_rows"},
    written=(".xlsx",), only_whole="a sheet is unpacked whole", is_checked=True, keeps_origin=True,
)  # fmt: skip
STATISTICS = Format(
    "statistics", "Stata, SPSS, SAS", (".dta", ".sav", ".zsav", ".sas7bdat", ".xpt"),
    (
        (0, b"<stata_dta>"),
        *((0, bytes([version, order])) for version in range(104, 116) for order in (1, 2)),
        (0, b"$FL2"), (0, b"$FL3"),
        (0, bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")),
        (0, b"HEADER RECORD*******LIBRARY"), (0, b"HEADER RECORD*******LIBV8"),
    ),
    only_whole="its labels count where every value has one",
    not_written="statistics programs read .csv",
)  # fmt: skip
TEXT = Format(
    "text", "CSV", (".csv", ".tsv", ".txt", ".tab"),
    options=_ROWS | {"delimiter", "decimal", "encoding", "header"},
    written=(".csv", ".tsv", ".txt", ".tab"), growth=2.5, is_packed=True,
)  # fmt: skip
"""What begins as no other format does."""
JSON_LINES = Format(
    "jsonlines", "JSON lines", (".jsonl", ".ndjson"), ((TEXT_PLACE, b'{"'), (TEXT_PLACE, b"{}")),
    written=(".jsonl", ".ndjson"), growth=1.5, is_unpacked=True, is_packed=True,
)  # fmt: skip
SQLITE = Format(
    "sqlite", "SQLite", (".sqlite", ".sqlite3", ".db"), ((0, b"SQLite format 3\0"),),
    frozenset({"table"}), written=(".sqlite", ".sqlite3", ".db"), growth=3.0,
    is_checked=True, is_added_to=True,
)  # fmt: skip
DUCKDB = Format(
    "duckdb", "DuckDB", (".duckdb", ".ddb"), ((8, b"DUCK"),), frozenset({"table"}),
    written=(".duckdb", ".ddb"), growth=10.0, is_checked=True, is_added_to=True,
)  # fmt: skip
H5AD = Format(
    "h5ad", "AnnData", (".h5ad",), ((0, b"\x89HDF\r\n\x1a\n"),), frozenset({"layer"}),
    written=(".h5ad",), growth=4.0, only_whole="its matrix is read whole", is_checked=True,
)  # fmt: skip
FORMATS = (TEXT, WORKBOOKS, STATISTICS, PARQUET, ARROW, JSON_LINES, SQLITE, DUCKDB, H5AD)
CODECS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
"""Compressions that are written, by the ending that they add to a name."""
MORE_CODECS = (".zst", ".lz4")
"""Compressions that are read only."""


def find_format(start: bytes) -> Format:
    """Find the format of a file by its first bytes, unpacked."""
    text = b"".join(start.removeprefix(BOM_UTF8).split())
    for each in FORMATS:
        for place, sign in each.signs:
            begins = text if place == TEXT_PLACE else start[place:]
            if begins.startswith(sign):
                return each
    return TEXT


def list_formats(*, batched: bool = False) -> str:
    """List the formats that are read, or those that are read in batches: "CSV, Excel or SQLite"."""
    titles = [each.title for each in FORMATS if not (batched and each.only_whole)]
    return join_words(titles, last="or")


def find_output(path: str) -> tuple[Format, str, str | None]:
    """Find the format that a file's name asks for, its ending, and the compression, if any."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    codec = CODECS.get(suffixes[-1]) if suffixes else None
    if codec:
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    form = next((each for each in FORMATS if ending in each.written), None)
    if form is None or (codec and not form.is_packed):
        known = ", ".join(sorted(ending for each in FORMATS for ending in each.written))
        raise OptionError(f"{path!r} has no known ending. End it in one of {known}.", "out")
    return form, ending, codec
