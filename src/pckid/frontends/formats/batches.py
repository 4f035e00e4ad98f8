"""Rows of a file in batches: which formats can, whether a table is large, and rows read anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from pckid.frontends.formats.cells import as_types, join_types
from pckid.frontends.formats.isolation import read_apart
from pckid.frontends.formats.opening import format_of
from pckid.frontends.formats.registry import PARQUET, Format
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import TextFormat

_SHARE = 1 / 4  # of the memory
_MAX_ROWS = 1 << 14


class TextPlan(NamedTuple):
    """How the columns of a text are read in batches, as its first rows show."""

    text: TextFormat
    types: Mapping[str, Any]  # Arrow's type of each column, by name, in order
    missing: Sequence[str]  # contents of cells that mean missing


Plan = Callable[[Source], TextPlan]
"""Makes the plan for a text from its beginning; for formats whose files have no types."""


class RowSource(Protocol):
    """Rows of a file, which can be read several times; so can a data set of pyarrow."""

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""

    def count_rows(self) -> int:
        """Count the rows."""


class FileRows:
    """Rows that a reader of a file yields as tables, in another process and anew for each pass.

    The first table of a reader whose columns are typed is empty and has the types. Else these are
    such that they hold all cells, for which all rows are read once.
    """

    def __init__(
        self, read: Callable[..., Iterator[Any]], source: Source, *, is_typed: bool, **how: Any
    ) -> None:
        self._read, self.source, self._how = read, source, how
        self._n_rows: int | None = None
        with closing(self._tables()) as tables:
            if is_typed:
                self.schema = next(tables).schema
            else:
                found = [(table.schema, table.num_rows) for table in tables]
                self.schema = join_types(schema for schema, _ in found)
                self._n_rows = sum(n_rows for _, n_rows in found)

    def count_rows(self) -> int:
        """Count the rows."""
        if self._n_rows is None:
            first = self.schema.names[:1]
            self._n_rows = sum(batch.num_rows for batch in self.scan(first, _MAX_ROWS))
        return self._n_rows

    def scan(self, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Yield columns in batches of up to `n_rows`; to be closed by whoever stops early."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        with closing(self._tables(tuple(columns))) as tables:
            for table in tables:
                yield from as_types(table, schema).to_batches(max_chunksize=n_rows)

    def _tables(self, columns: Sequence[str] | None = None) -> Any:
        started: Any = read_apart(self._read, self.source, columns=columns, **self._how)
        with closing(started) as found:
            yield from (each for each in found if isinstance(each, pa.Table))


def find_batched(path: str) -> Format | None:
    """Find the format by which a file or folder can be read in batches; None: it is read whole."""
    if path == "-" or not os.path.exists(path) or Path(path).is_fifo():
        return None
    if os.path.isdir(path):
        return PARQUET
    source = Source(path)
    form = format_of(source)
    packed = source.unpacker is not None and not form.is_unpacked
    return None if form.only_whole or packed else form


def is_large(path: str) -> bool:
    """Return whether a table would take more than a quarter of the memory if it were read whole."""
    form = find_batched(path)
    if form is None:
        return False
    try:
        most = _SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return False  # Nothing is known of this machine's memory.
    if form == PARQUET:
        return PARQUET.functions.takes_more(path, most)
    return form.growth * os.path.getsize(path) > most
