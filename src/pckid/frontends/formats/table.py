"""A table as it was read, and where in its files its rows are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief
from pckid.exceptions import OptionError
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.sources import Source
from pckid.frontends.options import Fix, ReadOptions, pairs_of

_MANY_ROWS = 100_000


class TextFormat(NamedTuple):
    """How a text table separates cells and writes numbers, and how many lines stand above it."""

    delimiter: str
    decimal: str
    n_columns: int
    n_above: int = 0
    is_data: bool = False  # whether the names may be data
    encoding: str = "utf-8"
    row_names: bool = False  # whether each line begins with a name that the header has no cell for


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
    hidden: frozenset[int] = frozenset()  # the numbers of rows that a sheet hides


@dataclass(frozen=True)
class FileTable:
    """A table that was read, with each cell as it is in its file."""

    data: Any  # pyarrow.Table of shape (n_rows, n_columns)
    text: TextFormat | None = None  # how the text file writes cells; None for others
    parts: tuple[Part, ...] = ()  # where the rows come from
    source: str = ""  # the file's name, "standard input" for a stream
    notes: tuple[Fact, ...] = ()  # what was decided and might have been decided otherwise
    n_skipped: int = 0  # rows below the names that are left out
    reading: ReadOptions = field(default_factory=ReadOptions)  # how it was to be opened
    added: frozenset[str] = frozenset()  # columns without a value that its file does not have
    hidden_columns: tuple[str, ...] = ()  # that a sheet hides
    about_rows: frozenset[str] = frozenset()  # columns that are used only where they are named
    row_names: str | None = None  # the one of them that names the rows

    @property
    def names(self) -> list[str]:
        """All columns, in order."""
        return list(self.data.column_names)

    @property
    def decimal(self) -> str:
        """The separator of a number's whole part and its fraction."""
        return self.text.decimal if self.text else "."

    @property
    def own_names(self) -> tuple[str, ...]:
        """The columns that its file has."""
        return tuple(name for name in self.names if name not in self.added)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.data.num_rows

    @property
    def n_left_out(self) -> int:
        """Rows of a text file or of sheets, below the names or at the end, that do not count."""
        return self.n_skipped * len(self.parts) + sum(part.n_below for part in self.parts)

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes as they are stored; those of a folder's files one after the other."""
        digest = hashlib.sha256()
        for source in dict.fromkeys(part.source for part in self.parts):
            with source.open() as file:
                hashlib.file_digest(file, lambda: digest)  # type: ignore[arg-type]
        return digest.hexdigest()

    def with_fixes(self, fixes: Iterable[Fix]) -> FileTable:
        """Leave rows out as fixes say."""
        table = self
        for option, value in pairs_of(fixes):
            table = table.without_last(value) if option == "skip_last" else table
            table = table.without_first(value) if option == "skip_below" else table
            table = table.without_rows([str(value)]) if option == "drop_rows" else table
            table = table.without_hidden() if option == "visible_rows" else table
        return table

    def without_last(self, n_rows: int) -> FileTable:
        """Leave out the last rows of a text file or sheet; those left out already count."""
        more = max(n_rows - self.parts[-1].n_below, 0)
        kept = self._without(np.arange(self.n_rows) >= self.n_rows - more)
        *before, last = kept.parts
        return replace(kept, parts=(*before, last._replace(n_below=last.n_below + more)))

    def without_first(self, n_rows: int) -> FileTable:
        """Leave out the rows below the names of a text file, or of each sheet.

        Those left out already count.
        """
        more = n_rows - self.n_skipped
        if more <= 0:
            return self
        is_out = np.zeros(self.n_rows, dtype=bool)
        for part in self.parts:
            is_out[part.start : part.start + min(more, len(part.numbers))] = True
        kept = self._without(is_out)
        parts = tuple(
            part._replace(sheet=part.sheet and Sheet(part.sheet.name, part.sheet.first + more))
            for part in kept.parts
        )
        return replace(kept, n_skipped=n_rows, parts=parts)

    def without_rows(self, given: Sequence[str]) -> FileTable:
        """Leave out rows of a text file by their lines, or of a sheet by their numbers."""
        numbers = [part.strip() for each in given for part in each.split(",")]
        if not all(number.isdecimal() for number in numbers):
            raise OptionError(
                f"{', '.join(given)!r} does not list rows as 17,401 does.", "drop_rows"
            )
        if len(self.parts) > 1:
            raise OptionError("rows of several sheets have no numbers of their own.", "drop_rows")
        wanted, here = set(map(int, numbers)), self.parts[0].numbers
        absent = sorted(wanted.difference(here))
        if absent:
            raise OptionError(f"the table has no {self.parts[0].unit} {absent[0]:,}.", "drop_rows")
        return self._without(np.isin(here, list(wanted)))

    @property
    def is_hidden(self) -> np.ndarray:
        """Which rows (n_rows,) a sheet hides."""
        found = [np.isin(np.asarray(part.numbers), [*part.hidden]) for part in self.parts]
        return np.concatenate(found) if found else np.zeros(self.n_rows, dtype=bool)

    def without_hidden(self) -> FileTable:
        """Leave out the rows that a sheet hides, by a filter or otherwise."""
        return self._without(self.is_hidden)

    def _without(self, is_out: np.ndarray) -> FileTable:
        parts: list[Part] = []
        start = 0
        for part in self.parts:
            kept = ~is_out[part.start : part.start + len(part.numbers)]
            parts.append(part._replace(start=start, numbers=np.asarray(part.numbers)[kept]))
            start += int(kept.sum())
        data = self.data.filter(pa.array(~is_out))
        return replace(self, parts=tuple(parts), data=data)

    def with_empty(self, names: Sequence[str]) -> FileTable:
        """Add columns without a value."""
        data = self.data
        for name in names:
            data = data.append_column(name, pa.nulls(data.num_rows, pa.string()))
        return replace(self, data=data, added=frozenset(names))


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
