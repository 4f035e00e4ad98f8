"""Tables from files: read them, find their numbers, write them back with new columns."""

from pckid.tables.categories import Columns, read_columns, refuse_unread
from pckid.tables.formats import NumberFormat
from pckid.tables.kinds import Reading, ReadingRules, find_readings, numbers_in_text, parse_rules
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
