"""The sheets of a workbook, read in another process: a damaged file may crash the reader."""

import pyarrow as pa

from pckid.exceptions import TableError
from pckid.tables import Source
from pckid.tables.isolation import Read, read_apart
from pckid.tables.workbooks import choose_sheet, open_workbook, sheet_names


def list_sheets(source: Source) -> tuple[list[str], int]:
    """List the sheets that a reader of a workbook sees, and the place of the one with the table.

    None are listed if it cannot be read.
    """
    try:
        sheets = read_apart(parse_sheets, source).data
    except TableError:  # Whoever reads the table says why.
        return [], 0
    return sheets["name"].to_pylist(), sheets["holds_table"].to_pylist().index(True)


def parse_sheets(source: Source) -> Read:
    """List the sheets in this process."""
    workbook = open_workbook(source)
    found, _, _ = choose_sheet(workbook, None, source.name)
    _, names = sheet_names(workbook)
    chosen = [name == found for name in names]
    return Read(pa.table({"name": pa.array(names, pa.string()), "holds_table": chosen}))
