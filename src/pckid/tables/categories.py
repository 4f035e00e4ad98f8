"""Columns of a table as numbers or as categories, as their readings say."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pckid.tables.booleans import answer_of, are_booleans, unify_answers
from pckid.tables.kinds import Reading, ReadingRules, find_reading_anew
from pckid.tables.numbers import (
    MissingTokens,
    NotNumbers,
    is_text,
    observed_cells,
    try_columns,
    try_numbers,
)
from pckid.tables.table import FileTable

MAX_CATEGORIES = 255


class Columns(NamedTuple):
    """Columns that were read."""

    # (n_rows, n_columns), NaN where a cell is missing or cannot be read; categories are numbered in
    # alphabetical order.
    X: np.ndarray
    texts: dict[str, list[str | None]]  # the cells of the columns of categories
    readings: dict[str, Reading]
    wrong: dict[str, NotNumbers]  # what could not be read


def read_columns(
    table: FileTable,
    names: Sequence[str],
    missing: MissingTokens,
    rules: ReadingRules,
    readings: Mapping[str, Reading],
) -> Columns:
    """Read columns as numbers or as categories; names of the rows are read as categories."""
    found = {name: readings[name] for name in names}
    texts: dict[str, list[str | None]] = {}
    columns: dict[str, np.ndarray] = {}
    wrong: dict[str, NotNumbers] = {}
    numeric = [name for name in names if _is_number(found[name])]
    forms = {name: found[name].form for name in numeric}
    for name, values in zip(numeric, try_columns(table, numeric, missing, forms), strict=True):
        plainly = found[name].kind == "number" and forms[name] is None
        if isinstance(values, NotNumbers) and plainly and is_text(table.data.column(name).type):
            found[name] = find_reading_anew(table, name, missing, rules)
            if _is_number(found[name]):
                values = try_numbers(table, name, missing, found[name].form)
        if isinstance(values, np.ndarray):
            columns[name] = values
        elif _is_number(found[name]):
            wrong[name] = values
            columns[name] = np.full(table.data.num_rows, np.nan)
    for name in names:
        if name not in columns:
            cells = text_column(table, name, missing).to_pylist()
            answers = unify_answers({cell for cell in cells if cell is not None})
            texts[name] = [None if cell is None else answers[cell] for cell in cells]
            places = {
                text: float(place) for place, text in enumerate(sorted(set(answers.values())))
            }
            codes = [np.nan if cell is None else places[cell] for cell in texts[name]]
            columns[name] = np.array(codes, dtype=np.float64)
    X = np.column_stack([columns[name] for name in names] or [np.empty((table.data.num_rows, 0))])
    return Columns(X, texts, found, wrong)


def count_texts(cells: Iterable[str | None]) -> Counter[str]:
    """Count the different texts of a column that are not missing."""
    return Counter(cell for cell in cells if cell is not None)


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


def match_categories(texts: Iterable[str], known: Sequence[Any]) -> dict[str, str]:
    """Find the categories of a model that texts stand for, if not as they are written.

    Texts match a category that is the same number, the same answer (yes or no in several
    languages), or the same but for capitals and blanks; one that several match is none of them.
    """
    exact = set(map(str, known))
    forms: dict[str, set[str]] = {}
    answers = unify_answers(exact) if are_booleans(exact) else {}
    for category in exact:
        for form in {_plain_form(category), *filter(None, [_answer(category, answers)])}:
            forms.setdefault(form, set()).add(category)
    found = {}
    for text in texts:
        ways = [_plain_form(text), _answer(text, answers)]
        matches = next((forms[way] for way in ways if way in forms), set())
        if text not in exact and len(matches) == 1:
            found[text] = next(iter(matches))
    return found


def _plain_form(text: str) -> str:
    """Write a text without blanks and capitals, and a number as its shortest form."""
    plain = "".join(text.casefold().split())
    try:
        return f"{float(plain):g}"
    except ValueError:
        return plain


def _answer(text: str, answers: Mapping[str, str]) -> str:
    """Say whether a text means yes or no, where the categories do."""
    return answer_of(text) if answers else ""


def _is_number(reading: Reading) -> bool:
    """Tell whether a column is to be read as numbers."""
    return reading.kind in ("number", "date", "duration", "text")


def _as_text(cell: Any, missing: MissingTokens) -> str | None:
    """Write a cell of numbers as a text file would."""
    if cell is None or cell != cell or (isinstance(cell, int | float) and cell in missing.numbers):
        return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
