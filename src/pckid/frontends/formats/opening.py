"""The one way into a table: it is read whole, by the library that knows its format.

A file's format is told by its first bytes, not by its name, so that a pipe works as a file does.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.registry import PARQUET, Format, find_format
from pckid.frontends.formats.sources import Source, find_source
from pckid.frontends.formats.table import FileTable, Part
from pckid.frontends.formats.transposing import transpose
from pckid.frontends.options import ReadOptions

# What is advised with its value where a table cannot be read otherwise. A title above the table may
# be a header with cells too few.
_CLEAR = ("encoding", "skip_last")
_ONLY_SOME = {
    "sheet": "{0} has no sheets: it is not a spreadsheet. Give no sheet.",
    "table": "{0} is no database. Give no table.",
    "layer": "{0} is no .h5ad file. Give no layer.",
    "skip_first": "{0} is neither a text file nor a spreadsheet: no rows can be skipped.",
}
"""What is said where an option is not for the format of a file."""
_ONLY_SOME["visible_rows"] = _ONLY_SOME["sheet"].replace("Give no sheet", "No row is hidden")
_ONLY_SOME |= dict.fromkeys(("skip_below", "skip_last", "drop_rows"), _ONLY_SOME["skip_first"])


def open_table(
    source: str | Source, options: ReadOptions | None = None, *, take_advice: bool = False
) -> FileTable:
    """Read a table.

    `source` is the path of a file or of a folder of Parquet files, or "-" for standard input; or
    the bytes of a file. A TableError says why it cannot be read, and what to do. With advice, that
    is done where it is clear, and noted.
    """
    given = options or ReadOptions()
    if isinstance(source, str) and not os.path.isdir(source):
        source = find_source(source)
    try:
        table = _read(source, given)
    except TableError as error:
        advised = [f for f in error.fixes if f.option in _CLEAR and not getattr(given, f.option)]
        if not (take_advice and advised):
            raise
        table = open_table(source, given.with_fixes(advised), take_advice=True)
        taken = Fact("advice_taken", {"fixes": advised, "told": str(error)})
        return replace(table, notes=(taken, *table.notes))
    if given.transpose:
        table = transpose(table.without_hidden() if given.visible_rows else table)
    table = table.without_first(given.skip_below) if given.skip_below else table
    table = table.without_rows(given.drop_rows) if given.drop_rows else table
    table = table.without_hidden() if given.visible_rows else table
    if not table.names or not table.n_rows:
        raise TableError(
            f"{table.source} has no rows below its header. There is nothing to cluster."
        )
    twice = next((name for name, n in Counter(table.names).items() if n > 1), None)
    if twice is not None:
        raise TableError(
            f"{table.source} has two columns named '{brief(twice)}'. Rename one of them."
        )
    return replace(table, reading=given)


def _read(source: str | Source, given: ReadOptions) -> FileTable:
    """Read a folder of Parquet files, or a file by its format, which its first bytes name."""
    if isinstance(source, str):
        refuse_options(PARQUET, source, given)
        return PARQUET.functions.read_folder(source)
    form = format_of(source)
    refuse_options(form, source.name, given)
    table = form.functions.read(source, given)
    if table.parts:
        return table
    return replace(table, parts=(Part(source, 0, range(1, table.n_rows + 1)),))


def format_of(source: Source) -> Format:
    """Find the format of a file by its first bytes, unpacked."""
    return find_format(next(source.pieces(64), b""))


def refuse_options(form: Format, name: str, given: ReadOptions) -> None:
    """Refuse an option that the format of a file does not have."""
    for option, told in _ONLY_SOME.items():
        if option not in form.options and getattr(given, option) not in (None, 0, (), False):
            raise TableError(told.format(name))
