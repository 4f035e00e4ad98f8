"""Turn a table's columns into numbers, with NaN where a cell is missing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.arrow import holds_numbers, is_text, to_floats
from pckid._utils.text import brief
from pckid.frontends.formats.table import FileTable, null_where
from pckid.frontends.tables.dates import (
    DateFormat,
    is_temporal,
    read_dates,
    read_temporal,
)
from pckid.frontends.tables.formats import NumberFormat, parse_plain, read_numbers
from pckid.frontends.tables.missing import MissingTokens, as_number

LIMIT = r"^[<>≤≥]=? *([+-]?[.,]?\d.*)$|^(\d|\d.*\d) ?\+$"
"""A cell that holds a limit, "<0.5" or "90+", and the number in it."""

MAX_TEXTS = 20
_MAX_LISTED = 50
_CELLS_AT_ONCE, _BYTES_AT_ONCE = 1 << 16, 1 << 28


class NotNumbers(NamedTuple):
    """Why a column is not numeric: how many cells, the first of them, and the commonest."""

    n_cells: int
    n_observed: int
    example: str
    row: int
    texts: tuple[tuple[str, int], ...] = ()  # at most MAX_TEXTS of them, with their counts
    rows: tuple[int, ...] = ()  # all of them, if they are few, counted from 1

    @property
    def by_type(self) -> bool:
        """Whether the type of the column says it, and `example` what it holds."""
        return not self.texts

    @property
    def all_texts(self) -> bool:
        """Whether `texts` lists every text that is no number."""
        return sum(count for _, count in self.texts) == self.n_cells


def try_numbers(
    table: FileTable,
    name: str,
    missing: MissingTokens,
    form: NumberFormat | DateFormat | None = None,
) -> np.ndarray | NotNumbers:
    """Read one column as floats of shape (n_rows,), or say why that cannot be.

    Texts are written as `form` says, by default with the decimal separator of the table and nothing
    else. Only with a DateFormat are dates numbers.
    """
    column, missing = table.data.column(name), missing.of(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if is_text(kind):
        values = _parse_texts(column, missing, form or NumberFormat(table.decimal))
    elif holds_numbers(kind):
        values = to_floats(column)
    elif isinstance(form, DateFormat) and is_temporal(kind):
        values = read_temporal(column, form.part)
    else:
        holds = brief(f"values of type {kind}")
        return NotNumbers(len(column) - column.null_count, len(column), holds, 1)
    if isinstance(values, np.ndarray) and missing.numbers:
        values[np.isin(values, missing.numbers)] = np.nan
    return values


def try_columns(
    table: FileTable,
    names: Sequence[str],
    missing: MissingTokens,
    forms: Mapping[str, NumberFormat | DateFormat | None] = MappingProxyType({}),
) -> Iterator[np.ndarray | NotNumbers]:
    """Read columns as floats, or say why that cannot be; short columns of text many at a time."""
    n_rows = table.data.num_rows
    at_once = max(1, _CELLS_AT_ONCE // max(n_rows, 1))
    for start in range(0, len(names), at_once):
        group = names[start : start + at_once]
        columns = [table.data.column(name) for name in group]
        alike = all(pa.types.is_string(c.type) for c in columns) and not any(
            forms.get(name) or name in missing.columns for name in group
        )
        if len(group) > 1 and alike and sum(column.nbytes for column in columns) < _BYTES_AT_ONCE:
            cells = pa.concat_arrays([chunk for column in columns for chunk in column.chunks])
            joined = try_numbers(replace(table, data=pa.table({"": cells})), "", missing)
            if isinstance(joined, np.ndarray):
                yield from joined.reshape(len(group), n_rows)
                continue
        yield from (try_numbers(table, name, missing, forms.get(name)) for name in group)


def holds_token(table: FileTable, name: str, token: str) -> bool:
    """Return whether a cell of a column is a text, whatever its case, or the number that it is."""
    column, number = table.data.column(name), as_number(token)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        cells = pc.utf8_lower(pc.utf8_trim_whitespace(column))
        if pc.any(pc.equal(cells, token.strip().lower())).as_py():
            return True
    if not math.isfinite(number):
        return False
    values = try_numbers(table, name, MissingTokens.with_defaults())
    return isinstance(values, np.ndarray) and bool((values == number).any())


def observed_cells(column: Any, missing: MissingTokens) -> Any:
    """Take the blanks around texts away, and the texts that mean missing."""
    if isinstance(column, pa.ChunkedArray):  # What each step makes of a piece is small.
        pieces = [observed_cells(piece, missing) for piece in column.chunks]
        return pa.chunked_array(pieces, None if pieces else pa.string())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    cells = pc.utf8_trim_whitespace(column)
    absent = pc.is_in(pc.utf8_lower(cells), value_set=pa.array(sorted(missing.texts), cells.type))
    if missing.limits == "missing":
        absent = pc.or_(absent, pc.match_substring_regex(cells, LIMIT))
    cells = null_where(absent, cells)
    return without_limits(cells) if missing.limits else cells


def without_limits(cells: Any) -> Any:
    """Write limits such as "<0.5" as the numbers that they name."""
    return pc.replace_substring_regex(cells, LIMIT, r"\1\2")


def _parse_texts(
    column: Any, missing: MissingTokens, form: NumberFormat | DateFormat
) -> np.ndarray | NotNumbers:
    """Parse a column of text."""
    if isinstance(form, NumberFormat) and form.is_plain:
        # Most cells that mean missing are spelled as usual, without blanks.
        tokens = pa.array(sorted(missing.spellings), column.type)
        usual = null_where(pc.is_in(column, value_set=tokens), column)
        plain = parse_plain(usual, form.decimal)
        if plain is not None:
            return plain
    observed = observed_cells(column, missing)
    if isinstance(form, DateFormat):
        values, wrong = read_dates(observed, form)
    else:
        values, wrong = read_numbers(observed, form)
        if form.is_plain and wrong.any():
            # Parquet files hold True and False as such, and dataframes read them as such.
            words = pc.utf8_lower(observed)
            known = pc.is_in(words, value_set=pa.array(["true", "false", None], words.type))
            is_other = ~known.to_numpy()
            if is_other.sum() < wrong.sum():
                values, wrong = to_floats(pc.equal(words, "true")), is_other
    if missing.limits == "half":
        below = pc.fill_null(pc.match_substring_regex(column, r"^\s*[<≤]"), False)
        values = np.where(below.to_numpy(), values / 2, values)
    if not wrong.any():
        return values
    row, texts = int(np.argmax(wrong)), pc.value_counts(observed.filter(pa.array(wrong)))
    commonest = np.argsort(-texts.field("counts").to_numpy(), kind="stable")[:MAX_TEXTS]
    return NotNumbers(
        int(wrong.sum()), len(observed) - observed.null_count, observed[row].as_py(), row + 1,
        tuple((texts[i]["values"].as_py(), texts[i]["counts"].as_py()) for i in commonest.tolist()),
        tuple((np.flatnonzero(wrong) + 1).tolist()) if wrong.sum() <= _MAX_LISTED else (),
    )  # fmt: skip
