"""Names of a workbook's sheets, read in another process: a damaged file may crash the reader."""

import pyarrow as pa

from pckid.exceptions import TableError
from pckid.tables import Source
from pckid.tables.isolation import Read, read_apart


def list_sheets(source: Source) -> list[str]:
    """List the sheets that a reader of a workbook sees; none if it cannot be read."""
    try:
        return read_apart(parse_names, source).data["name"].to_pylist()
    except TableError:  # Whoever reads the table says why.
        return []


def parse_names(source: Source) -> Read:
    """List the sheets in this process."""
    import python_calamine

    with source.open() as file:
        sheets = python_calamine.load_workbook(file).sheets_metadata
    sheets = [each for each in sheets if each.typ == python_calamine.SheetTypeEnum.WorkSheet]
    visible = [each for each in sheets if each.visible == python_calamine.SheetVisibleEnum.Visible]
    return Read(pa.table({"name": pa.array([s.name for s in visible or sheets], pa.string())}))
