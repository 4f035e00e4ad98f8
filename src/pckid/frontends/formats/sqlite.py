"""SQLite: a table or a view of a database, or what a query selects; and a new table."""

from __future__ import annotations

import datetime
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from typing import Any, BinaryIO
from urllib.parse import quote as quote_path

import pyarrow as pa

from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.batches import FileRows, Plan, RowSource
from pckid.frontends.formats.cells import column_of
from pckid.frontends.formats.databases import (
    ROWS_AT_ONCE,
    DatabaseWriter,
    built_beside,
    choose_table,
    list_tables,
    quote,
    read_database,
    refuse_taken,
)
from pckid.frontends.formats.headers import unique_names
from pckid.frontends.formats.registry import SQLITE
from pckid.frontends.formats.sources import Source, refuse_wide
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.written import Writing, list_values
from pckid.frontends.options import ReadOptions

_MAX_COLUMNS = 2000
# All that a query may do.
_ALLOWED = {
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
}  # fmt: skip
_REFUSED = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
# How the header of a file says that changes are kept beside it; there is no such file in memory.
_JOURNAL, _IN_FILE = slice(18, 20), b"\x01\x01"


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a table whole."""
    return read_database(_parse_table, source, given.table)


def open_rows(path: str, given: ReadOptions, plan: Plan) -> RowSource:
    """Open a table in batches."""
    return FileRows(_parse_table, Source(path), is_typed=False, table=given.table)


def list_choices(source: Source) -> tuple[list[str], int]:
    """List the tables and views."""
    return list_tables(_parse_names, source), 0


def check_output(path: str, how: Writing, n_rows: int, names: Sequence[str]) -> None:
    """Refuse a table that is there, and more columns than a table has."""
    if len(names) > _MAX_COLUMNS:
        raise TableError(
            f"A table of SQLite takes {_MAX_COLUMNS:,} columns, and the table has {len(names):,}. "
            "Write .csv or .parquet."
        )
    refuse_taken(SQLITE, path, how, names)


def open_writer(file: BinaryIO, how: Writing) -> DatabaseWriter:
    """Write a database with one table."""
    return _SqliteWriter(file, how)


@contextmanager
def add_table(path: str, how: Writing) -> Iterator[BinaryIO]:
    """Open a file for a database with a new table, which is then added to another one."""
    name = quote(how.table)
    with built_beside(path) as file:
        yield file
        file.flush()
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("ATTACH ? AS built", (file.name,))
            [(created,)] = database.execute("SELECT sql FROM built.sqlite_schema").fetchall()
            database.execute("BEGIN IMMEDIATE")
            try:
                database.execute(created)
                database.execute(f"INSERT INTO main.{name} SELECT * FROM built.{name}")
                database.execute("COMMIT")
            except sqlite3.Error as error:
                raise OptionError(f"{path!r}: {error}.", "out_table") from None


def _parse_names(source: Source) -> Iterator[list[str]]:
    """Yield the names of the tables."""
    with _opened(source) as database:
        yield _list_names(database)


def _parse_table(
    source: Source, columns: Sequence[str] | None = None, table: str | None = None
) -> Iterator[Any]:
    """Yield the names of the columns, and the rows in parts, the first of them without any."""
    with _opened(source) as database:
        name = choose_table(_list_names(database), table, source.name)
        database.set_authorizer(_authorize)
        query = f"SELECT * FROM {quote(name)}" if name is not None else str(table)
        try:
            cursor = database.execute(query)
            if cursor.description is None:
                raise OptionError("the query selects nothing.", "table")
            names = [each[0] for each in cursor.description]
            refuse_wide(len(names), source.name)
            unique, _ = unique_names(names)
            wanted = [(key, j) for j, key in enumerate(unique) if columns is None or key in columns]
            yield names
            yield pa.table({key: pa.nulls(0) for key, _ in wanted})
            while rows := cursor.fetchmany(ROWS_AT_ONCE):
                yield pa.table({key: column_of([row[j] for row in rows]) for key, j in wanted})
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise OptionError(f"{error}.", "table") from None


def _list_names(database: sqlite3.Connection) -> list[str]:
    found = database.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    return [name for (name,) in found]


@contextmanager
def _opened(source: Source) -> Iterator[sqlite3.Connection]:
    """Open a database to be read, by a schema that is not trusted."""
    in_file = source.stored is None and source.unpacker is None
    path = f"file:{quote_path(os.path.abspath(source.name))}?mode=ro" if in_file else ":memory:"
    with closing(sqlite3.connect(path, uri=in_file)) as database:
        if not in_file:
            content = bytearray(b"".join(source.pieces()))
            content[_JOURNAL] = _IN_FILE
            database.deserialize(bytes(content))
        for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
            database.execute(f"PRAGMA {setting}")
        yield database


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Allow to read what the database holds, and nothing else."""
    if action not in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and second in _REFUSED):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


class _SqliteWriter(DatabaseWriter):
    """Builds a database of one table."""

    title = "SQLite"

    def create(self, path: str, table: str, schema: Any) -> None:
        """Create a database with an empty table."""
        self._database = sqlite3.connect(path, isolation_level=None)
        for setting in ("journal_mode = OFF", "synchronous = OFF"):
            self._database.execute(f"PRAGMA {setting}")
        columns = ", ".join(f"{quote(field.name)} {_type_name(field.type)}" for field in schema)
        self._database.execute("BEGIN")
        self._database.execute(f"CREATE TABLE {quote(table)} ({columns})")
        self._insert = f"INSERT INTO {quote(table)} VALUES ({', '.join('?' * len(schema))})"

    def insert(self, data: Any) -> None:
        """Insert some rows."""
        columns = [[_as_cell(cell) for cell in list_values(each)] for each in data.columns]
        self._database.executemany(self._insert, zip(*columns, strict=True))

    def close_built(self) -> None:
        """Close the database."""
        with closing(self._database):
            self._database.execute("COMMIT")


def _type_name(kind: Any) -> str:
    """Name the type of a column."""
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return "INTEGER"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "REAL"
    return "BLOB" if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) else "TEXT"


def _as_cell(cell: Any) -> Any:
    """Give a cell as SQLite has it: a number, a text or bytes; NaN is null there."""
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return float(cell)
    is_small = not isinstance(cell, int) or -(2**63) <= cell < 2**63
    return cell if isinstance(cell, int | float | str | bytes | None) and is_small else str(cell)
