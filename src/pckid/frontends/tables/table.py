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


class SheetRows(NamedTuple):
    """Which rows of a sheet hold the rows of a table."""

    first: int  # the sheet's number of the first row, counted from 1
    blank: tuple[int, ...] = ()  # numbers of rows below it that were left out, ascending
    name: str = ""  # of the sheet

    def number(self, row: int) -> int:
        """Give the sheet's number of a row of the table, counted from 1."""
        found = self.first + row - 1
        for blank in self.blank:
            found += blank <= found
        return found


class Part(NamedTuple):
    """Rows of a file, a row group or a sheet."""

    source: Source
    row_group: int | None  # of a Parquet file; None is all of a text or Arrow file
    start: int  # number of the first row in the whole table
    n_rows: int
    n_below: int = 0  # rows at the end of a text or sheet that are left out
    sheet: SheetRows | None = None
    left_out: tuple[int, ...] = ()  # rows of a text that are left out among others, ascending

    @property
    def numbers(self) -> np.ndarray:
        """The number of each row (n_rows,), as notes give it: of a sheet, the sheet's own."""
        first, absent = (1, self.left_out) if self.sheet is None else self.sheet[:2]
        every = np.arange(first, first + self.n_rows + len(absent))
        return np.setdiff1d(every, absent)[: self.n_rows]

    def without(self, numbers: Sequence[int]) -> Part:
        """Leave out rows by their numbers."""
        if self.sheet is None:
            left_out = tuple(sorted({*self.left_out, *numbers}))
            return self._replace(left_out=left_out, n_rows=self.n_rows - len(numbers))
        blank = tuple(sorted({*self.sheet.blank, *numbers}))
        rows = self.sheet._replace(blank=blank)
        return self._replace(sheet=rows, n_rows=self.n_rows - len(numbers))


class FileTable(NamedTuple):
    """Rows of a table that were read, with each cell as it is in the file."""

    data: Any  # pyarrow.Table of shape (n_rows, n_columns)
    text: TextFormat | None = None  # how the text file writes cells; None for others
    parts: Sequence[Part] = ()  # where the rows come from, for errors
    start: int = 0  # number of the first row in the whole table

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.data.column_names)

    @property
    def decimal(self) -> str:
        """The separator of a number's whole part and its fraction."""
        return self.text.decimal if self.text else "."


def name_row(parts: Sequence[Part], row: int) -> str:
    """Name the place of a row, counted from 1 in the whole table: in a sheet, or a row group."""
    for part in reversed(parts):
        if part.start < row and part.sheet is not None:
            which = f"sheet '{brief(part.sheet.name)}'" if len(parts) > 1 else "the sheet"
            return f"row {part.sheet.number(row - part.start):,} of {which}"
        if part.start < row and part.row_group is not None:
            group = f"{part.source.name}, row group {part.row_group}"
            return f"row {row:,} ({group}, row {row - part.start:,} of it)"
    return f"row {parts[0].numbers[row - 1] if parts and parts[0].left_out else row:,}"


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
