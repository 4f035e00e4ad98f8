"""DuckDB: a table or a view of a database, or what a query selects; and a new table."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, BinaryIO

import pyarrow as pa

from pckid.exceptions import OptionError
from pckid.frontends.formats.arrow import as_known_types
from pckid.frontends.formats.batches import FileRows, Plan, RowSource
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
from pckid.frontends.formats.isolation import allowed_memory
from pckid.frontends.formats.registry import DUCKDB
from pckid.frontends.formats.sources import Source, refuse_wide, require_library
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.written import Writing
from pckid.frontends.options import ReadOptions

# A query can reach neither files nor the network, and these settings are no longer changed. One
# thread gives rows in the same order at each pass.
_CLOSED = {
    "enable_external_access": "false", "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false", "allow_community_extensions": "false",
    "temp_directory": "", "threads": "1", "lock_configuration": "true",
}  # fmt: skip
_OWN = {"autoload_known_extensions": "false", "autoinstall_known_extensions": "false"}


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read a table whole."""
    _require("Reading")
    return read_database(_parse_table, source, given.table)


def open_rows(path: str, given: ReadOptions, plan: Plan) -> RowSource:
    """Open a table in batches."""
    _require("Reading")
    return FileRows(_parse_table, Source(path), is_typed=True, table=given.table)


def list_choices(source: Source) -> tuple[list[str], int]:
    """List the tables and views."""
    _require("Reading")
    return list_tables(_parse_names, source), 0


def check_output(path: str, how: Writing, n_rows: int, names: Sequence[str]) -> None:
    """Refuse a table that is there, and what cannot be written here."""
    _require("Writing")
    refuse_taken(DUCKDB, path, how, names)


def open_writer(file: BinaryIO, how: Writing) -> DatabaseWriter:
    """Write a database with one table."""
    return _DuckWriter(file, how)


def _require(doing: str) -> None:
    require_library("duckdb", f"{doing} DuckDB files", "duckdb")


@contextmanager
def add_table(path: str, how: Writing) -> Iterator[BinaryIO]:
    """Open a file for a database with a new table, which is then added to another one."""
    import duckdb

    with built_beside(path) as file:
        yield file
        file.flush()
        with closing(duckdb.connect(path, config=_OWN)) as database:
            try:
                built, name = file.name.replace("'", "''"), quote(how.table)
                database.execute(f"ATTACH '{built}' AS built (READ_ONLY)")
                database.execute(f"CREATE TABLE {name} AS SELECT * FROM built.{name}")
            except duckdb.Error as error:
                raise OptionError(f"{path!r}: {_first_line(error)}", "out_table") from None


def _parse_names(source: Source) -> Iterator[list[str]]:
    """Yield the names of the tables."""
    with _opened(source) as database:
        yield list(_list_names(database))


def _parse_table(
    source: Source, columns: Sequence[str] | None = None, table: str | None = None
) -> Iterator[Any]:
    """Yield the names of the columns, and the rows in parts, the first of them without any."""
    import duckdb

    with _opened(source) as database:
        places = _list_names(database)
        name = choose_table(list(places), table, source.name)
        try:
            query = str(table) if name is None else f"SELECT * FROM {places[name]}"
            _refuse_statements(duckdb.extract_statements(query))
            found = database.sql(query)
            unique, _ = unique_names(found.columns)
            refuse_wide(len(unique), source.name)
            wanted = [key for key in unique if columns is None or key in columns]
            yield found.columns
            with closing(found.to_arrow_reader(ROWS_AT_ONCE)) as batches:
                empty = pa.Table.from_batches([], batches.schema)
                yield as_known_types(empty.rename_columns(unique).select(wanted))
                for batch in batches:
                    part = pa.Table.from_batches([batch]).rename_columns(unique)
                    yield as_known_types(part.select(wanted))
        except duckdb.Error as error:
            raise OptionError(_first_line(error), "table") from None


def _refuse_statements(statements: Sequence[Any]) -> None:
    """Refuse all but one query."""
    import duckdb

    if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
        raise OptionError("a query is one that selects rows.", "table")


def _first_line(error: Exception) -> str:
    return f"{str(error).splitlines()[0].rstrip('.')}."


def _list_names(database: Any) -> dict[str, str]:
    """List the tables and views, and how a query names each."""
    found = database.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = current_database() ORDER BY table_schema <> 'main', 1, 2"
    ).fetchall()
    return {
        name if schema == "main" else f"{schema}.{name}": f"{quote(schema)}.{quote(name)}"
        for schema, name in found
    }


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open a database to be read; one in memory is in a file of its own meanwhile."""
    import duckdb

    settings = {**_CLOSED, "memory_limit": f"{allowed_memory(source) // 2 >> 20}MB"}
    with tempfile.TemporaryDirectory(prefix="pckid-") as folder:
        path = os.path.abspath(source.name)
        if source.stored is not None or source.unpacker is not None:
            path = os.path.join(folder, "database")
            with open(path, "xb") as file:
                file.writelines(source.pieces())
        with closing(duckdb.connect(path, read_only=True, config=settings)) as database:
            yield database


class _DuckWriter(DatabaseWriter):
    """Builds a database of one table."""

    title = "DuckDB"

    def create(self, path: str, table: str, schema: Any) -> None:
        """Create a database with an empty table."""
        import duckdb

        self._database = duckdb.connect(path, config=_OWN)
        self._name = quote(table)
        self._database.register("part", schema.empty_table())
        self._database.execute(f"CREATE TABLE {self._name} AS SELECT * FROM part")
        self._database.unregister("part")

    def insert(self, data: Any) -> None:
        """Insert some rows."""
        self._database.register("part", data)
        self._database.execute(f"INSERT INTO {self._name} SELECT * FROM part")
        self._database.unregister("part")

    def close_built(self) -> None:
        """Close the database."""
        self._database.close()
