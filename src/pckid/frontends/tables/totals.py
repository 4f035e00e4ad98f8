"""Rows that are totals: found by arithmetic, and by their names in many languages."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.arrow import is_text
from pckid.frontends.formats.table import FileTable

_MAX_TOTALS, _MAX_NAMED, _MAX_INSIDE = 3, 6, 50
_MIN_ABOVE, _MIN_COLUMNS, _MIN_ALONE = 3, 2, 8
# Sums and means are exact but for the rounding of their terms, or rounded to the digits they are
# written with. Where these are few beside the standard deviation, data agree with them by chance.
_OFF_EXACT, _OFF_ROUNDED = 1e-9, 0.01
_OFF_NAMED = 0.005  # of the sum of what is added, where the row is named so
_SUMS = (
    "total|totals|grand total|subtotal|sub-total|sub total|sum|gesamt|insgesamt|summe|"
    "gesamtsumme|zwischensumme|total général|total general|sous-total|somme|suma|totale|"
    "somma|subtotale|soma|total geral|totaal|subtotaal|summa|totalt|sammanlagt|i alt|yhteensä|"
    "razem|ogółem|łącznie|celkem|součet|összesen|итого|всего|сумма|合計|小計|総計|計|合计|总计|합계"
)
_MEANS = (
    "mean|average|avg|std dev|standard deviation|mittelwert|durchschnitt|moyenne|ecart-type|"
    "écart-type|promedio|média|gemiddelde|medelvärde|średnia|průměr|átlag|среднее|平均|평균"
)
_OTHERS = (
    "n|count|anzahl|number|nombre|cuenta|recuento|conteggio|antal|liczba|počet|overall|ensemble|"
    "median|std|sd|min|max|minimum|maximum|mittel|moy|médiane|media|mediana|medel"
)
_ALONE = re.compile(f"{_SUMS}|{_MEANS}")
# A sum beside a name, "North Total" or "Total 2023"; and what stands near a total, and may be the
# name or the answer of a row of data, too.
_BESIDE = re.compile(rf"(?:{_SUMS})(?: \S+){{1,2}}|(?:\S+ ){{1,3}}(?:{_SUMS})")
_OTHER = re.compile(_OTHERS)


def count_totals(columns: Mapping[str, np.ndarray]) -> int:
    """Count the rows at the end that are no data, by columns of numbers (n_rows,).

    In two columns or more, and in half of those that vary and have a number there, each of the
    last rows is the sum or the mean of the rows above them; in a single column, it is the exact
    sum, and more than twice as large as any number above. Rows below these that hold no number are
    no data, either.
    """
    if not columns:
        return 0
    n_all = len(next(iter(columns.values())))
    end = n_all - _count_empty(columns, n_all)
    for n_rows in range(1, _MAX_TOTALS + 1):
        if end < _MIN_ABOVE + n_rows:
            break
        kinds = [_compare(values[:end], n_rows) for values in columns.values()]
        told = np.array([kind for kind in kinds if kind is not None]).reshape(-1, n_rows, 3)
        sums, means, seen = told.sum(axis=0).T
        if (np.maximum(sums, means) >= np.maximum(_MIN_COLUMNS, seen / 2)).all():
            return n_all - end + n_rows
    alone = [values[:end] for values in columns.values() if not np.isnan(values).all()]
    return n_all - end + 1 if len(alone) == 1 and _ends_in_sum(alone[0]) else 0


def _count_empty(columns: Mapping[str, np.ndarray], n_rows: int) -> int:
    """Count the rows at the end without a number, if these are few."""
    last = [np.flatnonzero(~np.isnan(values[-100:])) for values in columns.values()]
    n_last = min(n_rows, 100)
    return min((n_last - 1 - int(each[-1]) for each in last if len(each)), default=0)


def _ends_in_sum(values: np.ndarray) -> bool:
    """Whether the last number of a column (n,) is the sum of those above, and far above each."""
    seen = values[~np.isnan(values)]
    above, last = seen[:-1], seen[-1]
    if len(above) < _MIN_ALONE or above.min() < 0 or not np.isfinite(seen).all():
        return False
    return bool(last > 2 * above.max() and abs(last - above.sum()) <= _OFF_EXACT * above.sum())


def _compare(values: np.ndarray, n_rows: int) -> list[tuple[bool, bool, bool]] | None:
    """Tell of each of the last rows of a column (n,) whether it is the sum, or the mean, of others.

    And whether there is a number at all. None for a column that is constant or holds an infinity.
    """
    above, last = values[:-n_rows], values[-n_rows:]
    seen = above[~np.isnan(above)]
    if len(seen) == 0 or seen.min() == seen.max() or not np.isfinite(seen).all():
        return None
    total, size, mean = seen.sum(), np.abs(seen).sum(), seen.mean()
    exact, rounded = _OFF_EXACT * size, _OFF_ROUNDED * seen.std()
    found = []
    for x in last.tolist():
        # Half a unit of the last digit that it is written with
        off = 0.5 * 10.0 ** int(Decimal(repr(x)).as_tuple().exponent) if np.isfinite(x) else 0.0
        is_sum = x and abs(x - total) <= max(exact, min(rounded, off))
        is_mean = x and abs(x - mean) <= max(exact / len(seen), min(rounded, off))
        found.append((bool(is_sum), bool(is_mean), x == x))
    return found


class NamedTotals(NamedTuple):
    """Rows whose names say that they are totals."""

    n_last: int  # rows at the end, with those without a number below them
    inside: list[int]  # other rows, counted from 0
    names: list[str]  # the different names


class _Name(NamedTuple):
    text: str  # as it stands in its cell
    is_sure: bool  # whether hardly anything but a total is named so
    rows: frozenset[int]  # all rows that its column names so


def find_named_totals(table: FileTable, columns: Mapping[str, np.ndarray]) -> NamedTotals:
    """Find rows that a column of text names "Total", "Mean" and the like.

    Those at the end of the table, if no other rows have these names, whatever numbers (n_rows,) the
    columns hold there; and rows inside where these are the sums or the means of the rows since the
    last such row.
    """
    names = _find_names(table)
    inside = _find_sums(names, columns)
    end = table.n_rows - _count_empty(columns, table.n_rows)
    first = end
    while first > 0 and first - 1 in names and end - first < _MAX_NAMED:
        first -= 1
    block = set(range(first, end))
    own = all(names[row].rows <= block | inside for row in block)
    if not own or not any(names[row].is_sure for row in block):
        block = set()
    rows = sorted(inside - block)
    texts = dict.fromkeys(names[row].text for row in [*rows, *sorted(block)])
    return NamedTotals(table.n_rows - first if block else 0, rows, [*texts])


def _find_names(table: FileTable) -> dict[int, _Name]:
    """Find the rows, counted from 0, that a column names as totals are named."""
    found: dict[int, _Name] = {}
    for column in table.data.columns:
        if not is_text(column.type):
            continue
        for text in pc.unique(column).to_pylist():
            label = " ".join(str(text or "").casefold().strip(" :.*").split())
            kinds = [bool(kind.fullmatch(label)) for kind in (_ALONE, _BESIDE, _OTHER)]
            if any(kinds):
                equal = pc.fill_null(pc.equal(column, pa.scalar(text, column.type)), False)
                rows = np.flatnonzero(equal.to_numpy())
                if len(rows) <= min(max(1, table.n_rows // 4), _MAX_INSIDE):
                    name = _Name(text.strip(), not kinds[2], frozenset(rows.tolist()))
                    found |= {row: name for row in rows.tolist() if row not in found}
    return found


def _find_sums(names: Mapping[int, _Name], columns: Mapping[str, np.ndarray]) -> set[int]:
    """Find those among the rows with names of totals that are the sums of the rows since the last.

    Or their means, but for rounding; in half of the columns (n_rows,) that have a number there, and
    in two if there are.
    """
    found, first = set(), 0
    for row in sorted(names):
        told = []  # of each column, whether it is the sum, and whether it is the mean
        for values in columns.values():
            above, last = values[first:row], values[row]
            above = above[np.isfinite(above)]
            if len(above) > 1 and np.isfinite(last):
                off = _OFF_NAMED * np.abs(above).sum()
                sums = abs(last - above.sum()), abs(last - above.mean()) * len(above)
                told.append([each <= off for each in sums])
        most = np.sum(told, axis=0).max(initial=0)
        if told and most >= max(min(_MIN_COLUMNS, len(told)), len(told) / 2):
            found.add(row)
        first = row + 1
    return found
