"""Open and write tables at once, with options by their names, for tests."""

from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.sources import find_source
from pckid.frontends.formats.writing import TableWriter
from pckid.frontends.options import ReadOptions


def scan_table(source, *, max_bytes=None, **options):
    """Open a table, which may take so many bytes."""
    if max_bytes is not None:
        source = find_source(source, max_bytes)
    return open_table(source, ReadOptions(**options))


def read_source(source, **options):
    """Read the rows of a table."""
    return scan_table(source, **options)


def write_table(file, table, new, *, numbers=None, **options):
    """Write a table at once."""
    with TableWriter(file, **options) as writer:
        writer.write(table, new, numbers)
