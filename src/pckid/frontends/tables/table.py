"""A table as it was read, and where in its files its rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief
from pckid.frontends.tables.sources import Source
from pckid.frontends.tables.text import TextFormat

_MANY_ROWS = 100_000


class Sheet(NamedTuple):
    """A sheet, and its number of the first row of the table, counted from 1."""

    name: str
    first: int


class Part(NamedTuple):
    """Rows of a file, a row group or a sheet."""

    source: Source
    start: int  # number of the first row in the whole table
    # Of each row (n_rows,), as notes give it: the line in which it begins, the sheet's own number.
    numbers: Sequence[int]
    n_below: int = 0  # rows at the end of a text or sheet that are left out
    sheet: Sheet | None = None
    row_group: int | None = None  # of a Parquet file
    unit: str = "row"  # what is numbered: a "line" of a text


class FileTable(NamedTuple):
    """Rows of a table that were read, with each cell as it is in the file."""

    data: Any  # pyarrow.Table of shape (n_rows, n_columns)
    text: TextFormat | None = None  # how the text file writes cells; None for others
    parts: Sequence[Part] = ()  # where the rows come from, for errors

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.data.column_names)

    @property
    def decimal(self) -> str:
        """The separator of a number's whole part and its fraction."""
        return self.text.decimal if self.text else "."


def name_row(parts: Sequence[Part], row: int) -> str:
    """Name the place of a row, counted from 1 in the whole table: by its line, sheet or group."""
    part = next((each for each in reversed(parts) if each.start < row), None)
    if part is None:
        return f"row {row:,}"
    number = part.numbers[row - part.start - 1]
    if part.sheet is not None:
        which = f"sheet '{brief(part.sheet.name)}'" if len(parts) > 1 else "the sheet"
        return f"row {number:,} of {which}"
    if part.row_group is not None:
        group = f"{part.source.name}, row group {part.row_group}"
        return f"row {row:,} ({group}, row {row - part.start:,} of it)"
    return f"{part.unit} {number:,}"


def release_memory(table: FileTable) -> None:
    """Give back what reading a long column of a table took, before the next one is read."""
    if len(table.data) > _MANY_ROWS:
        pa.default_memory_pool().release_unused()


def null_where(mask: Any, column: Any) -> Any:
    """Make the cells of a column of texts null where a mask is true."""
    # With a scalar in place of the nulls, Arrow before version 24 mixes up the texts of a slice.
    return pc.if_else(mask, pa.nulls(len(column), column.type), column)


def count_different(cells: Any) -> tuple[Any, np.ndarray]:
    """List the different texts (n_texts,) of an Arrow column, and how many cells hold each."""
    found = pc.value_counts(cells.drop_null())
    return found.field("values"), found.field("counts").to_numpy()


def read_each_once(
    cells: Any, read: Callable[[Any], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Read texts, null where missing, by what `read` makes of the different ones among them.

    Returns values (n_rows,), NaN where a cell is missing or cannot be read, and whether it cannot
    be read (n_rows,).
    """
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    coded = cells.dictionary_encode()
    values, wrong = read(coded.dictionary)
    index = coded.indices.fill_null(len(values)).to_numpy()
    return np.append(values, np.nan)[index], np.append(wrong, False)[index]


def as_whole(column: Any) -> Any:
    """Make a column of numbers one of whole numbers if all of them are; else it stays as it is.

    Whole numbers are often codes or names: they are written as they are read.
    """
    if not pa.types.is_floating(column.type):
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column
