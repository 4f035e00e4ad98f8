"""Columns of a table as numbers or as categories, as their readings say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pckid.frontends.tables.kinds import PlainColumns, Reading, ReadingRules
from pckid.frontends.tables.numbers import (
    MissingTokens,
    NotNumbers,
    is_text,
    observed_cells,
    try_columns,
)
from pckid.frontends.tables.table import FileTable, count_different, release_memory
from pckid.input.cells import as_text


class Columns(NamedTuple):
    """Columns that were read."""

    # (n_rows, n_columns), NaN where a cell is missing or cannot be read; categories are numbered in
    # alphabetical order.
    X: np.ndarray
    texts: dict[str, list[str | None]]  # the cells of the columns of categories
    readings: dict[str, Reading]  # of all columns, in their order
    wrong: dict[str, NotNumbers]  # what could not be read
    counts: dict[str, Counter[str]]  # how often each category stands in its column
    # Texts that were taken for another one, which differs in capitals and blanks only, by column
    joined: Mapping[str, Mapping[str, str]] = {}


def read_columns(
    table: FileTable,
    names: Sequence[str],
    rules: ReadingRules,
    readings: Mapping[str, Reading],
    plain: PlainColumns | None = None,
) -> Columns:
    """Read columns as numbers or as categories; names of the rows are read as categories.

    Those of `plain` numbers were read before, of these columns and others in the same order. Its
    matrix is used for the result, so that no number is in memory twice.
    """
    found, missing = {name: readings[name] for name in names}, rules.missing
    texts: dict[str, list[str | None]] = {}
    wrong: dict[str, NotNumbers] = {}
    counts: dict[str, Counter[str]] = {}
    joined: dict[str, dict[str, str]] = {}
    place = {name: j for j, name in enumerate(names)}
    block, before = plain or PlainColumns.empty(table.data.num_rows, len(names))
    X = block[:, : len(names)]
    for name, j in before.items():  # They move to the left: none is overwritten before it moved.
        if name in place and found[name].is_plain:
            X[:, place.pop(name)] = block[:, j]
    numeric = [name for name in place if found[name].is_number]
    forms = {name: found[name].form for name in numeric}
    for name, values in zip(numeric, try_columns(table, numeric, missing, forms), strict=True):
        if isinstance(values, NotNumbers):
            wrong[name] = values
        X[:, place.pop(name)] = np.nan if name in wrong else values
    for name, j in place.items():
        cells = text_column(table, name, missing)
        counts[name] = count_texts(cells)
        if rules.ignore_case and (others := _find_spellings(counts[name])):
            spelled = {text: others.get(text, text) for text in counts[name]}
            cells = pa.array(encode_texts(cells, spelled, None), pa.string())
            counts[name], joined[name] = count_texts(cells), others
        codes = {text: float(j) for j, text in enumerate(sorted(counts[name]))}
        X[:, j] = encode_texts(cells, codes)
        # One object for each text, however many rows hold it.
        texts[name] = encode_texts(cells, {text: text for text in codes}, None).tolist()
        release_memory(table)
    return Columns(X, texts, found, wrong, counts, joined)


def fold_text(text: str) -> str:
    """Write a text without its capitals and blanks."""
    return "".join(text.casefold().split())


def _find_spellings(counts: Counter[str]) -> dict[str, str]:
    """Find the commonest spelling of each text that is not written so."""
    commonest: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        commonest.setdefault(fold_text(text), text)
    return {text: best for text in counts if (best := commonest[fold_text(text)]) != text}


def count_texts(cells: Any) -> Counter[str]:
    """Count the texts of an Arrow array."""
    texts, counts = count_different(cells)
    return Counter(dict(zip(texts.to_pylist(), counts.tolist(), strict=True)))


def text_column(table: FileTable, name: str, missing: MissingTokens) -> Any:
    """Read a column as an Arrow array of texts without blanks around them; null where missing."""
    column, missing = table.data.column(name), missing.of(name).among_texts
    if is_text(column.type):
        return observed_cells(column, missing)
    try:
        coded = column.combine_chunks().dictionary_encode()
    except pa.ArrowNotImplementedError:  # lists and the like
        return pa.array([_as_text(cell, missing) for cell in column.to_pylist()], pa.string())
    texts = [_as_text(value, missing) for value in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(coded.indices)


def encode_texts(cells: Any, codes: Mapping[str, Any], missing: Any = np.nan) -> np.ndarray:
    """Replace the texts of an Arrow array by their codes (n_rows,); `missing` for those without."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    coded = cells.dictionary_encode()
    values = [codes.get(text, missing) for text in coded.dictionary.to_pylist()]
    places = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return np.array([*values, missing])[places]


def _as_text(cell: Any, missing: MissingTokens) -> str | None:
    """Write a cell of numbers as a text file would."""
    if cell is None or cell != cell or (isinstance(cell, int | float) and cell in missing.numbers):
        return None
    return as_text(cell)
