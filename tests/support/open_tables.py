"""Open and write tables at once, with options by their names, for tests."""

from pckid.frontends.options import ReadOptions
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.tables.writing import TableWriter


def scan_table(source, *, max_bytes=None, **options):
    """Open a table and leave it in its file."""
    if max_bytes is not None:
        options["max_unpacked"] = max_bytes / 2**30
    return open_table(source, ReadOptions(**options), at_most=0)


def read_source(source, **options):
    """Read a table whole."""
    return scan_table(source, **options).read().whole


def write_table(file, table, new, *, numbers=None, **options):
    """Write a table at once."""
    with TableWriter(file, **options) as writer:
        writer.write(table, new, numbers)
