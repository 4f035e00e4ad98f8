"""Number cells of a sheet: what they are shown with, and how they are written among texts.

A column of numbers that are shown alike stays one of numbers, and its field says with what. In a
column of texts a number cell is a text, too. One in percent is "965e-1%" for 0.965; where texts of
the sheet are like "4,15", 5.8 is "58e-1", which every number format reads as the same number.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid.tables.dates import to_floats
from pckid.tables.headers import cell_text
from pckid.tables.table import Part

_SIGN = b"pckid.sign"
_MARK = "\0"  # of numbers among texts, until they are written; no cell of a sheet holds it
_COMMA = r"^[^,\d]{0,12}\d[\d.' ]*,\d+[^,\d]{0,12}$"  # in a number
_NO_POINT = r"^-?\d+e(?:-\d+|-?\d+%)$"


def sign_of(field: Any) -> str:
    """Return what a sheet shows the numbers of a column with: "%", a currency, or nothing."""
    return (field.metadata or {}).get(_SIGN, b"").decode()


def as_percent(values: np.ndarray) -> np.ndarray:
    """Write fractions (n,) in percent: the numbers that texts such as "96.5%" give."""
    distinct, places = np.unique(values, return_inverse=True)
    return np.array([float(Decimal(repr(v)).scaleb(2)) for v in distinct.tolist()])[places]


def mark_numbers(cells: Iterable[Any]) -> Any:
    """Make a column of the texts of cells, those of numbers marked as such."""
    marked = [
        cell if cell is None else _MARK * (type(cell) is float) + cell_text(cell) for cell in cells
    ]
    return pa.array(marked, pa.string())


def write_numbers(data: Any, signs: Mapping[int, np.ndarray]) -> Any:
    """Write marked number cells, and columns of numbers whose cells are shown with several signs.

    `signs` (n_rows,) of columns, by their places, are what their cells are shown with.
    """
    columns, fields = data.columns, list(data.schema)
    texts = [column for column in columns if pa.types.is_string(column.type)]
    commas = any(pc.any(pc.match_substring_regex(each, _COMMA)).as_py() for each in texts)
    for j, (column, field) in enumerate(zip(data.columns, data.schema, strict=True)):
        shown = signs.get(j, np.full(data.num_rows, ""))
        if pa.types.is_string(field.type):
            if not pc.any(pc.starts_with(column, _MARK)).as_py():
                continue
            shown = np.where(shown == "%", shown, "")
        elif j in signs and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type)):
            sign = _common_sign(to_floats(column), shown)
            if sign is not None:
                fields[j] = field.with_metadata({_SIGN: sign} if sign else None)
                continue
            column = mark_numbers(column.cast(pa.float64()).to_pylist())
        else:
            continue
        pairs = zip(column.to_pylist(), shown.tolist(), strict=True)
        columns[j] = pa.array([_write(text, sign, commas) for text, sign in pairs], pa.string())
        fields[j] = pa.field(field.name, pa.string())
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _common_sign(values: np.ndarray, signs: np.ndarray) -> str | None:
    """Return what numbers (n,) are shown with, by the signs (n,) of each; None if they differ.

    A zero is the same with any sign, and a number without one is in the currency of the others.
    """
    found = set(signs[(values != 0) & ~np.isnan(values)].tolist())
    if "%" not in found:
        found.discard("")
    return None if len(found) > 1 else "".join(found)


def _write(text: str | None, sign: str, commas: bool) -> str | None:
    """Write a marked cell with its sign; others stay as they are."""
    if not text or not text.startswith(_MARK):
        return text
    text = text.removeprefix(_MARK)
    if sign and sign != "%":
        return f"{text} {sign}"
    if not sign and not (commas and "." in text):
        return text
    minus, digits, exponent = Decimal(text).scaleb(2 * (sign == "%")).as_tuple()
    return f"{'-' * minus}{''.join(map(str, digits))}e{exponent}{sign}"


def with_points(column: Any, parts: Sequence[Part]) -> Any:
    """Write the number cells among the texts of a sheet as numbers with a decimal point."""
    of_sheet = parts and parts[0].sheet is not None and pa.types.is_string(column.type)
    if not of_sheet or not pc.any(pc.match_substring_regex(column, _NO_POINT)).as_py():
        return column
    cells = (
        f"{Decimal(text.rstrip('%')).scaleb(-2 * text.endswith('%')):f}"
        if text and re.match(_NO_POINT, text)
        else text
        for text in column.to_pylist()
    )
    return pa.chunked_array([pa.array(cells, pa.string())])


def as_shown(text: str) -> str:
    """Write a number cell in percent as the sheet shows it: "96.5%" for "965e-1%"."""
    in_percent = text.endswith("%") and re.match(_NO_POINT, text)
    return f"{Decimal(text.removesuffix('%')):f}%" if in_percent else text
