"""Tables from files: read them, find their numbers, write them back with new columns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pckid.tables.categories import Columns, read_columns, refuse_unread
    from pckid.tables.formats import NumberFormat
    from pckid.tables.kinds import (
        Reading,
        ReadingRules,
        find_readings,
        numbers_in_text,
        parse_rules,
    )
    from pckid.tables.numbers import MissingTokens
    from pckid.tables.scanning import (
        Scan,
        leave_out_last,
        read_source,
        read_whole,
        row_numbers,
        scan_table,
    )
    from pckid.tables.sources import Source
    from pckid.tables.table import FileTable
    from pckid.tables.workbook_writing import Share, Sheets
    from pckid.tables.writing import TableWriter, table_format, write_table

__all__ = [
    "Columns",
    "FileTable",
    "MissingTokens",
    "NumberFormat",
    "Reading",
    "ReadingRules",
    "Scan",
    "Share",
    "Sheets",
    "Source",
    "TableWriter",
    "find_readings",
    "leave_out_last",
    "numbers_in_text",
    "parse_rules",
    "read_columns",
    "read_source",
    "read_whole",
    "refuse_unread",
    "row_numbers",
    "scan_table",
    "table_format",
    "write_table",
]

# Imported when they are first used: the process that reads binary files needs few of them.
_HOMES = {
    "categories": ("Columns", "read_columns", "refuse_unread"),
    "formats": ("NumberFormat",),
    "kinds": ("Reading", "ReadingRules", "find_readings", "numbers_in_text", "parse_rules"),
    "numbers": ("MissingTokens",),
    "scanning": (
        "Scan",
        "leave_out_last",
        "read_source",
        "read_whole",
        "row_numbers",
        "scan_table",
    ),
    "sources": ("Source",),
    "table": ("FileTable",),
    "workbook_writing": ("Share", "Sheets"),
    "writing": ("TableWriter", "table_format", "write_table"),
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a module."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'pckid.tables' has no attribute {name!r}")
    return getattr(import_module(f"pckid.tables.{home}"), name)
