"""Single cells of a table: which are missing, which are numbers, and which only look like it."""

import re
from collections.abc import Hashable
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief, number_hint

# Python also takes 1_000 and the digits of other scripts for numbers.
_NUMBER = re.compile(
    r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)\s*", re.ASCII | re.IGNORECASE
)
# With a decimal comma, thousands separators, a percent sign or a currency: read from files only.
_FORMATTED_NUMBER = re.compile(
    r"\s*[$€£¥]?\s*[+-]?\d+([.,']\d{3})*([.,]\d+)?\s*[%$€£¥]?\s*", re.ASCII
)
# What NumPy makes a float of at once, with nothing to go wrong but whole numbers too large.
_PLAIN = {float, int, bool, type(None), np.float64, np.float32, np.int64, np.bool_}


class MissingMarks(NamedTuple):
    """What the cells of a column hold where nothing was observed, besides nulls and blanks."""

    texts: frozenset[str] = frozenset()  # in lower case
    numbers: tuple[float, ...] = ()


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN, pd.NA or NaT."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.generic) and bool(value != value))
    )


def is_number_text(text: str) -> bool:
    """Return whether a text is a number: in the digits 0 to 9, with nothing between them."""
    return _NUMBER.fullmatch(text) is not None


def is_formatted_number(text: str) -> bool:
    """Return whether a text is a number as people write it: "1.234,50", "8.7 %", "$5"."""
    return _FORMATTED_NUMBER.fullmatch(text) is not None


def is_number(cell: Any) -> bool:
    """Return whether a cell is a number, a text that is one, or missing."""
    try:
        numbers([cell], "")
    except (TypeError, ValueError):
        return False
    return True


def as_text(cell: Any) -> str:
    """Write a cell, or a category; whole numbers have no decimals, whatever type holds them."""
    is_float = isinstance(cell, float | np.floating | Decimal)
    return str(int(cell)) if is_float and isfinite(cell) and cell == int(cell) else str(cell)


def numbers(cells: list[Any], name: str) -> np.ndarray:
    """Convert the cells of one column to floats (n_samples,), NaN where a cell is missing.

    What is no number raises an error that names the column; so do complex numbers and NumPy's
    dates, of which NumPy itself would make floats.
    """
    if set(map(type, cells)) <= _PLAIN:
        try:
            return np.array(cells, dtype=np.float64)
        except OverflowError:
            pass
    return np.array([_number(cell, i, name) for i, cell in enumerate(cells)], dtype=np.float64)


def _number(cell: Any, row: int, name: str) -> float:
    """Convert one cell; an error says where it is."""
    if is_missing(cell):
        return np.nan
    try:
        _refuse_coercible(cell)
        return float(cell)
    except OverflowError:
        raise ValueError(
            f"Column {name} holds a number in row {row} that is too large for a float. Divide "
            "the column by a power of ten, which changes no result."
        ) from None
    except (TypeError, ValueError) as error:
        hint = f" If it holds categories, give categorical_features=[{name}] to PCKID."
        hint = hint if isinstance(cell, Hashable) else ""
        raise type(error)(
            f"Column {name} holds {brief(repr(cell))} in row {row}, which is not a number. "
            f"{number_hint(cell)}Leave the column out, or turn it into numbers, with NaN "
            f"for what is missing.{hint} ({brief(str(error))})"
        ) from None


def _refuse_coercible(cell: Any) -> None:
    """Raise for what `float` takes though it is not one real number."""
    if isinstance(cell, bytes):
        cell = cell.decode("latin-1")
    if isinstance(cell, str) and not is_number_text(cell):
        raise ValueError(f"could not convert string to float: {cell!r}")
    if getattr(cell, "ndim", 0) > 0:
        raise ValueError("setting an array element with a sequence.")
    kind = getattr(getattr(cell, "dtype", None), "kind", "f")
    if kind in "cmMV":
        raise TypeError(f"float() argument must be a string or a real number, not {cell.dtype}")
