"""Write a table back, with new columns beside its own."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from pckid._utils.text import brief
from pckid.exceptions import OptionError, TableError
from pckid.frontends.tables.numbers import MISSING_TEXTS
from pckid.frontends.tables.sources import require_library
from pckid.frontends.tables.table import FileTable
from pckid.frontends.tables.text import TextFormat
from pckid.frontends.tables.workbook_writing import (
    Sheets,
    WorkbookWriter,
    list_values,
    refuse_many_rows,
)

_BLOCK_ROWS = 8192
_SUFFIXES = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".xlsx": "xlsx",
}  # fmt: skip
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
_FORMULA = re.compile(r"[=+\-@\t\r\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
                      r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]")  # fmt: skip
_DIGITS = r"[0-9.,][0-9.,'’\s\x{a0}\x{2009}\x{202f}]*(?:[eE][+-]?[0-9]+)?"
# A number without a unit, for Arrow; and one that a spreadsheet takes for no formula.
_PLAIN = rf"^[\s(+\-−–]*{_DIGITS}[\s)\-−–]*$"
_NUMBER = re.compile(r"[+-]?\s?[$€£¥]?\s?[0-9.,][0-9.,'’\s]*([eE][+-]?\d+)?\s?[%‰$€£¥]?", re.ASCII)
_LEADING_ZERO = r"^[^0-9]*0[0-9]"
_MAX_WHOLE = 2.0**53


def table_format(path: str, n_rows: int | None = None) -> tuple[str, str | None]:
    """Return the format and the compression that a file's name asks for.

    `n_rows` are refused if they do not fit the format.
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    codec = _CODECS.get(suffixes[-1]) if suffixes else None
    if codec:
        suffixes.pop()
    kind = _SUFFIXES.get(suffixes[-1] if suffixes else "")
    if kind is None or (codec and kind not in ("csv", "tsv")):
        known = ", ".join(sorted(_SUFFIXES))
        raise OptionError(f"{path!r} has no known ending. End it in one of {known}.", "out")
    if kind == "xlsx":
        require_library("xlsxwriter", "Writing .xlsx", "excel")
        refuse_many_rows(n_rows or 0)
    return kind, codec


class TableWriter(ExitStack):
    """Write a table part by part, its columns as they came and new ones after them.

    To be used with `with`. The kind is "csv", "tsv", "parquet", "arrow" or "xlsx", the codec that
    of a text file. Formulas are escaped by an apostrophe before text that a spreadsheet would run.
    `origin` is JSON on what made the new columns, kept as the schema's metadata "pckid" in Parquet
    and Arrow, and as the comment of a workbook, which `sheets` are added to.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        kind: str = "csv",
        codec: str | None = None,
        escape_formulas: bool = False,
        origin: str | None = None,
        sheets: Sheets | None = None,
    ) -> None:
        self.file, self.kind, self.codec = file, kind, codec
        self.escape_formulas, self.origin, self.sheets = escape_formulas, origin, sheets or {}
        self._sink: Any = None
        self._as_text: set[str] = set()
        super().__init__()

    def write(
        self,
        table: FileTable,
        new: Mapping[str, np.ndarray],
        numbers: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Write some rows with new columns (n_rows,), which replace those of the same names.

        All parts have the same columns. Columns of text that are `numbers` (n_rows,) are stored as
        such in Parquet, Arrow and .xlsx, but for one with a text that a number does not hold, such
        as "007", "1.5M" or a whole number of 17 digits.
        """
        kept = table.data.select([name for name in table.names if name not in new])
        columns = list(kept.columns)
        kept = pa.Table.from_arrays(columns, schema=kept.schema) if columns else kept
        if self.kind in ("csv", "tsv"):
            text = table.text or TextFormat(",", ".", 0)
            delimiter = "\t" if self.kind == "tsv" else text.delimiter
            decimal = text.decimal if delimiter != "," else "."
            blocks = _text_blocks(kept, new, delimiter, decimal, self.escape_formulas)
            header = next(blocks)
            if self._sink is None:
                self._sink = self.enter_context(_compressor(self.file, self.codec))
                self._sink.write(header.encode("utf-8"))
            for block in blocks:
                self._sink.write(block.encode("utf-8"))
            return
        held = {
            name: values
            for name, values in (numbers or {}).items()
            if name not in new and self._holds(name, kept.column(name), values)
        }
        data = _with_columns(kept, {**held, **new})
        if self.kind != "xlsx":
            self._write_binary(data)
            return
        if self._sink is None:
            writer = WorkbookWriter(self.file, self.sheets, self.origin)
            self._sink = self.enter_context(writer)
        self._sink.write_table(data, {name: kept.column(name) for name in held})

    def _holds(self, name: str, texts: Any, values: np.ndarray) -> bool:
        """Return whether a column is stored as numbers: they hold all that its texts do."""
        wrong = None if name in self._as_text else _first_unheld(texts, values)
        if wrong is None:
            return name not in self._as_text
        # Cells of a workbook have types of their own.
        if self._sink is None or self.kind == "xlsx":
            self._as_text.add(name)
            return False
        raise TableError(
            f"Column '{brief(name)}' holds '{brief(wrong)}', which a number does not hold as it is "
            "written, but rows before it were stored as numbers. Write .csv, or read the column as "
            "categories."
        )

    def _write_binary(self, data: Any) -> None:
        if self.origin is not None:
            told = {**(data.schema.metadata or {}), b"pckid": self.origin.encode()}
            data = data.replace_schema_metadata(told)
        if self._sink is None:
            parquet = self.kind == "parquet"
            opened = pyarrow.parquet.ParquetWriter if parquet else pyarrow.ipc.new_file
            self._sink = self.enter_context(opened(self.file, data.schema))
        self._sink.write_table(data)


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


def _with_columns(kept: Any, columns: Mapping[str, np.ndarray]) -> Any:
    new = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
    arrays = dict(zip(kept.column_names, kept.columns, strict=True)) | new
    fields = {field.name: field for field in kept.schema}
    fields |= {name: pa.field(name, array.type) for name, array in new.items()}
    schema = pa.schema(list(fields.values()), kept.schema.metadata)
    return pa.Table.from_arrays(list(arrays.values()), schema=schema)


def _text_blocks(
    kept: Any, new: Mapping[str, np.ndarray], delimiter: str, decimal: str, escape: bool
) -> Iterator[str]:
    """Yield the text of a table: first the header, then rows in blocks."""
    special = re.compile(rf'[\r\n"{re.escape(delimiter)}]|^\s|\s$')
    suspect = re.compile(rf'[\r\n\s"{re.escape(delimiter)}]')

    def cell(text: str) -> str:
        # A number, or a text that means missing, is no formula, whatever it begins with.
        is_value = _NUMBER.fullmatch(text) or text.strip().lower() in MISSING_TEXTS
        if escape and _FORMULA.match(text) and not is_value:
            text = "'" + text
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    def column(values: list[Any]) -> list[str]:
        texts = ["" if value is None else str(value) for value in values]
        # Most columns are numbers, with nothing to quote: one look at them all is enough.
        plain = not escape and not suspect.search("".join(texts))
        return texts if plain else [cell(text) for text in texts]

    yield delimiter.join(map(cell, [*kept.column_names, *new])) + "\n"
    for start in range(0, kept.num_rows, _BLOCK_ROWS):
        block = kept.slice(start, _BLOCK_ROWS)
        columns = []
        for values in block.columns:
            cells = list_values(values)
            if decimal != "." and pa.types.is_floating(values.type):
                cells = [c if c is None else str(c).replace(".", decimal) for c in cells]
            columns.append(column(cells))
        for added in new.values():
            cells = added[start : start + _BLOCK_ROWS].tolist()
            if added.dtype.kind not in "iuO":  # Floats have four places; NaN is an empty cell.
                cells = ["" if x != x else f"{x:.4f}".replace(".", decimal) for x in cells]
            columns.append(column(cells))
        yield "".join(delimiter.join(row) + "\n" for row in zip(*columns, strict=True))
