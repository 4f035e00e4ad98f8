"""What databases in files share: one of several tables, queries, a new table beside the others."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from pckid._utils.text import brief, counted
from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.cells import join_tables
from pckid.frontends.formats.headers import unique_names
from pckid.frontends.formats.isolation import read_apart
from pckid.frontends.formats.opening import format_of
from pckid.frontends.formats.registry import Format
from pckid.frontends.formats.sources import Source, refuse_large
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.written import NewRows, Writer, Writing

ROWS_AT_ONCE = 1 << 14
_QUERY = re.compile(r"\s*(select|with|values|from)\b", re.IGNORECASE)
_MAX_LISTED = 12


def quote(name: str) -> str:
    """Write the name of a table or a column so that nothing else is meant by it."""
    return '"' + name.replace('"', '""') + '"'


def choose_table(names: Sequence[str], wanted: str | None, source: str) -> str | None:
    """Find the table that is wanted, or the only one; None where a query is wanted."""
    if not names:
        raise TableError(f"{source} has no tables.")
    listed = ", ".join(f"'{brief(name)}'" for name in names[:_MAX_LISTED])
    listed += ", …" * (len(names) > _MAX_LISTED)
    if wanted is None and len(names) > 1:
        told = f"there are {counted(len(names), 'table')}: {listed}. Choose one of them."
        raise OptionError(told, "table")
    if wanted is None or wanted in names:
        return wanted or names[0]
    alike = [name for name in names if name.casefold() == wanted.casefold()]
    if len(alike) == 1:
        return alike[0]
    if _QUERY.match(wanted):
        return None
    told = f"there is no table '{brief(wanted)}'. There are {listed}; or give a query: select …"
    raise OptionError(told, "table")


def read_database(
    parse: Callable[..., Iterator[Any]], source: Source, table: str | None
) -> FileTable:
    """Read a table whole, or what a query selects."""
    names, *found = read_apart(parse, source, table=table)
    parts, n_bytes = [], 0
    for part in found:
        n_bytes += part.nbytes
        refuse_large(n_bytes, source.name, source.max_bytes)
        parts.append(part)
    _, facts = unique_names(names)
    return FileTable(join_tables(parts), None, (), source.name, facts)


def list_tables(parse: Callable[..., Iterator[Any]], source: Source) -> list[str]:
    """List the tables and views of a database."""
    [names] = read_apart(parse, source)
    return names


def refuse_taken(form: Format, path: str, how: Writing, names: Sequence[str]) -> None:
    """Refuse a file of another kind, a table that is there, and columns that are alike."""
    refuse_alike(names, form.title)
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    if format_of(Source(path)) != form:
        told = f"{path!r} is there, and is no {form.title} database. Give another name."
        raise OptionError(told, "out")
    there = form.functions.list_choices(Source(path))[0]
    if how.table.casefold() in (name.casefold() for name in there):
        told = f"{path!r} has a table '{how.table}', which is never overwritten. Give another name."
        raise OptionError(told, "out_table")


def refuse_alike(names: Iterable[str], title: str) -> None:
    """Refuse columns whose names differ in capitals only."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise TableError(
                f"{title} takes the columns '{brief(other)}' and '{brief(name)}' for one. Rename "
                "one, or write .csv or .parquet."
            )


class DatabaseWriter(Writer):
    """Builds a database of one table beside the file where it goes, and then copies it there."""

    title = ""

    def __init__(self, file: BinaryIO, how: Writing) -> None:
        super().__init__()
        self._file, self._table, self._opened = file, how.table, False
        beside = os.path.dirname(file.name) if isinstance(getattr(file, "name", 0), str) else None
        folder = tempfile.TemporaryDirectory(prefix=".pckid-", suffix=".tmp", dir=beside)
        self._path = os.path.join(self.enter_context(folder), "built")

    def __exit__(self, *error: Any) -> None:
        try:
            if self._opened:
                self.close_built()
            if self._opened and error[0] is None:
                with open(self._path, "rb") as built:
                    shutil.copyfileobj(built, self._file)
        finally:
            super().__exit__(*error)

    def write(self, rows: NewRows) -> None:
        """Write some rows."""
        if not self._opened:
            refuse_alike(rows.data.column_names, self.title)
            self.create(self._path, self._table, rows.data.schema)
            self._opened = True
        self.insert(rows.data)

    def create(self, path: str, table: str, schema: Any) -> None:
        """Create a database with an empty table."""
        raise NotImplementedError

    def insert(self, data: Any) -> None:
        """Insert some rows."""
        raise NotImplementedError

    def close_built(self) -> None:
        """Close the database, so that its file is whole."""
        raise NotImplementedError


@contextmanager
def built_beside(path: str) -> Iterator[BinaryIO]:
    """Open a file beside a database for another one, which is removed in the end."""
    folder, name = os.path.split(os.path.abspath(path))
    built = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(built, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            yield file
    finally:
        if os.path.exists(built):
            os.unlink(built)
