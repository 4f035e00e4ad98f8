"""Write a table to an .xlsx file, with further sheets beside it."""

from __future__ import annotations

import datetime
import math
import os
import tempfile
import warnings
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, BinaryIO

from pckid.exceptions import TableError
from pckid.frontends.formats.written import NewRows, Share, Writer, Writing, list_values

MAX_ROWS = 1 << 20  # of a sheet, its header among them
MAX_COLUMNS = 1 << 14
_MAX_TEXT_LENGTH = 32_767
_MAX_WHOLE = 2**53
# A table that is written twice gives the same bytes.
_CREATED = datetime.datetime(2000, 1, 1)


def refuse_many_rows(n_rows: int) -> None:
    """Raise if rows do not fit a sheet below its header."""
    if n_rows >= MAX_ROWS:
        raise TableError(
            f"A sheet of .xlsx takes {MAX_ROWS - 1:,} rows, and the table has more. Write .csv or "
            ".parquet."
        )


def _as_it_was(text: Any) -> Any:
    """Give a cell that means missing as it was: a number such as -999, a text, or None if empty."""
    if text is None or not str(text).strip():
        return None
    try:
        number = float(text)
    except ValueError:
        return str(text)
    return number if math.isfinite(number) else str(text)


class WorkbookWriter(Writer):
    """Writes the rows of a table to the first sheet of a workbook, part by part.

    Further sheets are written after it; what made the rows is kept as the workbook's comment.
    """

    has_typed_cells = True

    def __init__(self, file: BinaryIO, how: Writing) -> None:
        super().__init__()
        # Beside the file, in a folder that nobody else may open, removed in the end.
        beside = os.path.dirname(file.name) if isinstance(getattr(file, "name", 0), str) else None
        folder = tempfile.TemporaryDirectory(prefix=".pckid-", suffix=".tmp", dir=beside)
        options = {
            "constant_memory": True,
            "tmpdir": self.enter_context(folder),
            "strings_to_formulas": False,
            "strings_to_numbers": False,
            "strings_to_urls": False,
        }
        import xlsxwriter

        self._book = xlsxwriter.Workbook(file, options)
        self._book.set_properties({"created": _CREATED, "comments": how.origin or ""})
        self._formats = {
            name: self._book.add_format(shown)
            for name, shown in {
                "header": {"bold": True, "bottom": 1},
                "date": {"num_format": "yyyy-mm-dd"},
                "datetime": {"num_format": "yyyy-mm-dd hh:mm:ss"},
                "span": {"num_format": "[h]:mm:ss"},
                "share": {"num_format": "0.0%"},
                "figure": {"num_format": "0.00"},
            }.items()
        }
        self._sheets, self._table, self._n_rows, self._n_cut = how.sheets, None, 0, 0

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None:
                self._finish()
            elif self._table is not None:
                # Where rows wait for the end; nothing is written of them.
                self._table.row_data_fh.close()
        finally:
            super().__exit__(*error)

    def write(self, rows: NewRows) -> None:
        """Write some rows.

        Cells without a number, in a column that numbers hold, are written as they came: "n/a".
        """
        data = rows.data
        if self._table is None:
            self._table = self._add_sheet("table", data.column_names)
        refuse_many_rows(self._n_rows + data.num_rows)
        columns = [list_values(column) for column in data.columns]
        for name in rows.held:
            j, as_read = data.column_names.index(name), rows.kept.column(name).to_pylist()
            columns[j] = [
                _as_it_was(text) if cell is None else cell
                for cell, text in zip(columns[j], as_read, strict=True)
            ]
        kinds = ["figure" if field.name == "confidence" else "" for field in data.schema]
        shown = [self._formats.get(kind) for kind in kinds]
        for row, cells in enumerate(zip(*columns, strict=True), self._n_rows + 1):
            for j, cell in enumerate(cells):
                self._put(self._table, row, j, cell, shown[j])
        self._n_rows += data.num_rows

    def _add_sheet(self, name: str, header: Sequence[str]) -> Any:
        """Begin a sheet with its names, which stay in sight and can be filtered by."""
        if len(header) > MAX_COLUMNS:
            raise TableError(
                f"A sheet of .xlsx takes {MAX_COLUMNS:,} columns, and the table has "
                f"{len(header):,}. Write .csv or .parquet."
            )
        sheet = self._book.add_worksheet(name)
        sheet.freeze_panes(1, 0)
        for j, text in enumerate(header):
            sheet.set_column(j, j, min(max(len(text) + 2, 9), 40))
            sheet.write_string(0, j, text[:_MAX_TEXT_LENGTH], self._formats["header"])
        return sheet

    def _put(self, sheet: Any, i: int, j: int, cell: Any, shown: Any = None) -> None:
        """Write a cell; as text what Excel would round, or what lies before its first day."""
        if cell is None or cell != cell or cell in (math.inf, -math.inf):
            return
        rounded = isinstance(cell, Integral) and abs(int(cell)) > _MAX_WHOLE
        if isinstance(cell, bool):
            sheet.write_boolean(i, j, cell)
        elif isinstance(cell, Real | Decimal) and not rounded:
            sheet.write_number(i, j, cell, shown)
        elif isinstance(cell, datetime.timedelta | datetime.time):
            sheet.write_datetime(i, j, cell, self._formats["span"])
        elif isinstance(cell, datetime.date) and cell.year >= 1900:
            kind = "datetime" if isinstance(cell, datetime.datetime) else "date"
            moment = cell.replace(tzinfo=None) if isinstance(cell, datetime.datetime) else cell
            sheet.write_datetime(i, j, moment, self._formats[kind])
        else:
            text = str(cell)  # as text, whatever it begins with
            self._n_cut += len(text) > _MAX_TEXT_LENGTH
            sheet.write_string(i, j, text[:_MAX_TEXT_LENGTH])

    def _finish(self) -> None:
        """Write the further sheets, and close the file."""
        if self._table is not None and self._n_rows:
            self._table.autofilter(0, 0, self._n_rows, self._table.dim_colmax)
        for name, rows in self._sheets.items():
            sheet = self._add_sheet(name, rows[0])
            for i, cells in enumerate(rows[1:], 1):
                for j, cell in enumerate(cells):
                    share = self._formats["share"] if isinstance(cell, Share) else None
                    self._put(sheet, i, j, cell, share)
        self._book.close()
        if self._n_cut:
            warnings.warn(
                f"{self._n_cut:,} text(s) of more than {_MAX_TEXT_LENGTH:,} characters were cut: a "
                "cell of .xlsx takes no more.",
                stacklevel=2,
            )
