"""What is written: rows with new columns beside their own, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import TextFormat

Sheets = Mapping[str, Sequence[Sequence[Any]]]
"""Further sheets by name: rows of cells, the first of them the header; a share is a `Share`."""


class Share(float):
    """A number that is shown in percent."""


class Writing(NamedTuple):
    """How a table is written."""

    ending: str = ".csv"  # of the file, without that of a compression
    escape_formulas: bool = False  # whether text that a spreadsheet would run gets an apostrophe
    origin: str | None = None  # JSON on what made the new columns, kept where a file has a place
    sheets: Sheets = MappingProxyType({})  # beside the table, in a workbook
    table: str = "clusters"  # the name of the table, in a database


class NewRows:
    """Some rows, and new columns beside their own."""

    def __init__(
        self,
        kept: Any,
        new: Mapping[str, np.ndarray],
        text: TextFormat | None,
        held: Mapping[str, np.ndarray],
        origin: Source | None = None,
        about_rows: frozenset[str] = frozenset(),
    ) -> None:
        self.kept = kept  # pyarrow.Table: the columns as they came
        self.new = new  # by name, (n_rows,) each
        self.text = text  # how their file writes cells
        self.held = held  # (n_rows,), of columns of text that numbers hold
        self.origin = origin  # the file whose rows they are, all of them and in its order
        self.about_rows = about_rows  # columns that are no variables of the rows

    @cached_property
    def data(self) -> Any:
        """The columns with the types that they are stored by, and the new ones after them."""
        columns = {**self.held, **self.new}
        new = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
        arrays = dict(zip(self.kept.column_names, self.kept.columns, strict=True)) | new
        fields = {field.name: field for field in self.kept.schema}
        fields |= {name: pa.field(name, array.type) for name, array in new.items()}
        schema = pa.schema(list(fields.values()), self.kept.schema.metadata)
        return pa.Table.from_arrays(list(arrays.values()), schema=schema)


class Writer(ExitStack):
    """Writes rows part by part, all of the same columns; to be used with `with`."""

    takes_texts = False  # whether texts are written as they came, those of numbers among them
    has_typed_cells = False  # whether each cell has a type of its own, not its column

    def write(self, rows: NewRows) -> None:
        """Write some rows."""
        raise NotImplementedError


class ColumnWriter(Writer):
    """Writes columns of one type each, by a writer of pyarrow."""

    def __init__(self, file: BinaryIO, how: Writing, opened: Callable[..., Any]) -> None:
        super().__init__()
        self._file, self._how, self._opened = file, how, opened
        self._sink: Any = None

    def write(self, rows: NewRows) -> None:
        """Write some rows, with their origin as the schema's metadata "pckid"."""
        data = rows.data
        if self._how.origin is not None:
            told = {**(data.schema.metadata or {}), b"pckid": self._how.origin.encode()}
            data = data.replace_schema_metadata(told)
        if self._sink is None:
            self._sink = self.enter_context(self._opened(self._file, data.schema))
        self._sink.write_table(data)


def list_values(column: Any) -> list[Any]:
    """List the values of a column; times of nanoseconds, which Python lacks, to the microsecond."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if pa.types.is_duration(column.type) and column.type.unit == "ns":
        column = column.cast(pa.duration("us"), safe=False)
    return column.to_pylist()
