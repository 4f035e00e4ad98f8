"""Tables from files: read them, find their numbers, write them back with new columns."""

from pckid.tables.numbers import MISSING_TOKENS, MissingTokens, numeric_matrix, try_numbers
from pckid.tables.reading import Table, read_table
from pckid.tables.writing import table_format, write_table

__all__ = [
    "MISSING_TOKENS",
    "MissingTokens",
    "Table",
    "numeric_matrix",
    "read_table",
    "table_format",
    "try_numbers",
    "write_table",
]
