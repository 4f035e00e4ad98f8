"""Write a table back, with new columns beside its own, in the format that a name asks for."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.files import atomic_file
from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.formats.registry import Format, find_output
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.written import NewRows, Sheets, Writer, Writing

_DIGITS = r"[0-9.,][0-9.,'’\s\x{a0}\x{2009}\x{202f}]*(?:[eE][+-]?[0-9]+)?"
# A number without a unit, for Arrow
_PLAIN = rf"^[\s(+\-−–]*{_DIGITS}[\s)\-−–]*$"
_LEADING_ZERO = r"^[^0-9]*0[0-9]"
_MAX_WHOLE = 2.0**53


class TableWriter(ExitStack):
    """Write a table part by part, its columns as they came and new ones after them.

    To be used with `with`. The ending is that of a file, such as ".csv", and the codec compresses
    it. Formulas are escaped by an apostrophe before text that a spreadsheet would run. `origin` is
    JSON on what made the new columns, kept as the schema's metadata "pckid" in Parquet and Arrow,
    and as the comment of a workbook, which `sheets` are added to. A database gets one `table`.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        ending: str = ".csv",
        codec: str | None = None,
        escape_formulas: bool = False,
        origin: str | None = None,
        sheets: Sheets = MappingProxyType({}),
        table: str = "clusters",
    ) -> None:
        super().__init__()
        self._file, self._codec = file, codec
        self._how = Writing(ending, escape_formulas, origin, sheets, table)
        self._sink: Writer | None = None
        self._as_text: set[str] = set()

    def write(
        self,
        table: FileTable,
        new: Mapping[str, np.ndarray],
        numbers: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Write some rows with new columns (n_rows,), which replace those of the same names.

        All parts have the same columns. Columns of text that are `numbers` (n_rows,) are stored as
        such, but for one with a text that a number does not hold, such as "007", "1.5M" or a whole
        number of 17 digits; in text all cells are as they came.
        """
        kept = table.data.select([name for name in table.names if name not in new])
        columns = list(kept.columns)
        kept = pa.Table.from_arrays(columns, schema=kept.schema) if columns else kept
        is_first = self._sink is None
        if self._sink is None:
            form, *_ = find_output(f"t{self._how.ending}")
            file = self.enter_context(_compressor(self._file, self._codec))
            self._sink = self.enter_context(form.functions.open_writer(file, self._how))
        sink = self._sink
        can_be_text = is_first or sink.has_typed_cells
        held = {
            name: values
            for name, values in ({} if sink.takes_texts else numbers or {}).items()
            if name not in new and self._holds(name, kept.column(name), values, can_be_text)
        }
        is_whole = len(table.parts) == 1 and table.parts[0].unit == "row" and not table.n_left_out
        origin = table.parts[0].source if is_whole else None
        sink.write(NewRows(kept, new, table.text, held, origin, table.about_rows))

    def _holds(self, name: str, texts: Any, values: np.ndarray, can_be_text: bool) -> bool:
        """Return whether a column is stored as numbers: they hold all that its texts do."""
        wrong = None if name in self._as_text else _first_unheld(texts, values)
        if wrong is None:
            return name not in self._as_text
        if can_be_text:
            self._as_text.add(name)
            return False
        raise TableError(
            f"Column '{brief(name)}' holds '{brief(wrong)}', which a number does not hold as it is "
            "written, but rows before it were stored as numbers. Write .csv, or read the column as "
            "categories."
        )


def _first_unheld(texts: Any, values: np.ndarray) -> str | None:
    """Find a text that its number does not hold: with a unit, leading zeros, or too many digits.

    Where there is no number, the cell is missing.
    """
    found = texts.filter(pa.array(~np.isnan(values)))
    seen = values[~np.isnan(values)]
    is_plain = pc.match_substring_regex(found, _PLAIN).to_numpy()
    has_zeros = pc.match_substring_regex(found, _LEADING_ZERO).to_numpy()
    is_rounded = np.abs(seen) >= _MAX_WHOLE
    is_rounded &= ~pc.match_substring(found, "e", ignore_case=True).to_numpy().astype(bool)
    wrong = np.flatnonzero(~is_plain.astype(bool) | has_zeros.astype(bool) | is_rounded)
    return found[int(wrong[0])].as_py() if len(wrong) else None


def _compressor(file: BinaryIO, codec: str | None) -> AbstractContextManager[Any]:
    """Compress what is written, or pass it on; the file itself stays open."""
    if codec is None:
        return nullcontext(file)
    if codec == "gzip":
        # No time of writing inside: the same table gives the same bytes.
        return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
    return bz2.BZ2File(file, "wb") if codec == "bz2" else lzma.LZMAFile(file, "wb")


def check_output(
    path: str, n_rows: int = 0, names: Sequence[str] = (), *, table: str = "clusters"
) -> Format:
    """Find the format that a file's name asks for; refuse what cannot be written, before the work.

    That are rows and columns that do not fit, a library that is missing, and a database that has a
    table of the new one's name.
    """
    form, ending, _ = find_output(path)
    if form.is_checked:
        form.functions.check_output(path, Writing(ending, table=table), n_rows, names)
    return form


@contextmanager
def open_output(path: str, *, table: str = "clusters", **how: Any) -> Iterator[TableWriter]:
    """Open where rows go: a file that appears when it is complete, or a new table of a database."""
    form, ending, codec = find_output(path)
    if form.is_added_to and os.path.isfile(path) and os.path.getsize(path):
        target = form.functions.add_table(path, Writing(ending, table=table))
    else:
        target = atomic_file(path)
    with (
        target as file,
        TableWriter(file, ending=ending, codec=codec, table=table, **how) as writer,
    ):
        yield writer
