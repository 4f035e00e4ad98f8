"""Tables from files: open them, prepare their columns, write them back with new columns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pckid.tables.categories import Columns, read_columns
    from pckid.tables.facts import Fact
    from pckid.tables.fixes import Drop, Fix, Missing, ReadAs, SetOption, SkipFirst, SkipLast
    from pckid.tables.formats import NumberFormat
    from pckid.tables.kinds import Reading, ReadingRules, find_readings, numbers_in_text
    from pckid.tables.numbers import MissingTokens
    from pckid.tables.options import ColumnOptions, ReadOptions, option_of, pick_options
    from pckid.tables.problems import Problem, advice, find_problems
    from pckid.tables.scanning import (
        Scan,
        leave_out_last,
        read_source,
        read_whole,
        row_numbers,
        scan_table,
    )
    from pckid.tables.service import Known, OpenTable, Prepared, Unread, open_table, prepare
    from pckid.tables.sources import Source
    from pckid.tables.table import FileTable
    from pckid.tables.workbook_writing import Share, Sheets
    from pckid.tables.writing import TableWriter, table_format, write_table

__all__ = [
    "ColumnOptions",
    "Columns",
    "Drop",
    "Fact",
    "FileTable",
    "Fix",
    "Known",
    "Missing",
    "MissingTokens",
    "NumberFormat",
    "OpenTable",
    "Prepared",
    "Problem",
    "ReadAs",
    "ReadOptions",
    "Reading",
    "ReadingRules",
    "Scan",
    "SetOption",
    "Share",
    "Sheets",
    "SkipFirst",
    "SkipLast",
    "Source",
    "TableWriter",
    "Unread",
    "advice",
    "find_problems",
    "find_readings",
    "leave_out_last",
    "numbers_in_text",
    "open_table",
    "option_of",
    "pick_options",
    "prepare",
    "read_columns",
    "read_source",
    "read_whole",
    "row_numbers",
    "scan_table",
    "table_format",
    "write_table",
]

# Imported when they are first used: the process that reads binary files needs few of them.
_HOMES = {
    "categories": (
        "Columns",
        "read_columns",
    ),
    "facts": ("Fact",),
    "fixes": (
        "Drop",
        "Fix",
        "Missing",
        "ReadAs",
        "SetOption",
        "SkipFirst",
        "SkipLast",
    ),
    "formats": ("NumberFormat",),
    "kinds": (
        "Reading",
        "ReadingRules",
        "find_readings",
        "numbers_in_text",
    ),
    "numbers": ("MissingTokens",),
    "options": (
        "ColumnOptions",
        "ReadOptions",
        "option_of",
        "pick_options",
    ),
    "problems": (
        "Problem",
        "advice",
        "find_problems",
    ),
    "scanning": (
        "Scan",
        "leave_out_last",
        "read_source",
        "read_whole",
        "row_numbers",
        "scan_table",
    ),
    "service": (
        "Known",
        "Prepared",
        "OpenTable",
        "Unread",
        "open_table",
        "prepare",
    ),
    "sources": ("Source",),
    "table": ("FileTable",),
    "workbook_writing": (
        "Share",
        "Sheets",
    ),
    "writing": (
        "TableWriter",
        "table_format",
        "write_table",
    ),
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a module."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'pckid.tables' has no attribute {name!r}")
    return getattr(import_module(f"pckid.tables.{home}"), name)
