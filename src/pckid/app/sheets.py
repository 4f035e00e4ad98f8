"""The sheets of a workbook."""

from pckid.exceptions import TableError
from pckid.tables import workbooks
from pckid.tables.sources import Source


def list_sheets(source: Source) -> tuple[list[str], int]:
    """List the sheets that a reader of a workbook sees, and the place of the one with the table.

    None are listed if it cannot be read.
    """
    try:
        return workbooks.find_sheets(source)
    except TableError:  # Whoever reads the table says why.
        return [], 0
