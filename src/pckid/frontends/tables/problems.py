"""Everything that is wrong or doubtful about the columns of a table, as plain data."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.answers import MAX_CATEGORIES
from pckid._utils.text import number_hint
from pckid.frontends.options import Fix, drop_column, read_as, take_as_missing
from pckid.frontends.tables.findings import Doubt
from pckid.frontends.tables.formats import CURRENCIES, NumberFormat, read_numbers
from pckid.frontends.tables.kinds import NUMERIC, Columns, Reading, ReadingRules, fold_text
from pckid.frontends.tables.meanings import looks_like_identifier
from pckid.frontends.tables.numbers import LIMIT, NotNumbers
from pckid.frontends.tables.shapes import find_totals
from pckid.frontends.tables.table import FileTable, name_row
from pckid.input.sentinels import find_codes

NEW_COLUMNS = ("cluster", "confidence", "outlier_score", "missing_instability")
"""What a clustering adds to a table."""
NAME_COLUMN = "cluster_name"
"""What it adds where clusters have names."""
GROUP_COLUMN = "group"
"""What it adds where groups with gaps between them are of several clusters."""
ABOUT_USE = frozenset(
    {"may name the rows", "may be a code", "earlier result", "repeated ids", "known groups"}
)
"""Problems that ask whether a column should be used, and as what."""
_MAX_CODES = 5
_FEW_ROWS = 5
_REPEATED = 5  # rows for each different value of a column of codes
# In days since 1970: databases write 9999-12-31 where something has not ended.
_LAST_DAY = 2_932_896
# Two rows of questions, and one of what Qualtrics calls them.
_MAX_BELOW = 3
# Known groups: a column is filled in a smaller share of the rows, with so many different values,
# each so many times.
_SPARSE, _MAX_GROUPS, _MIN_IN_GROUP = 0.2, 15, 3


def find_rows_below_names(
    problems: Sequence[Doubt], columns: Columns, table: FileTable
) -> Doubt | None:
    """Take text in the first rows of several columns of numbers for one problem.

    These rows hold no number, but units, or the questions of a survey.
    """
    texts = [p for p in problems if p.code == "text among numbers" and p.rows == (1,)]
    n_rows = _count_rows_of_text(texts, columns, table) if len(texts) > 1 else 0
    if n_rows == 0:
        return None
    data = {
        "texts": [problem.data["example"] for problem in texts],
        "n_columns": len(texts),
        "where": texts[0].data["where"],
        "n_rows": n_rows,
    }
    skip = Fix("skip_below", table.n_skipped + n_rows)
    return Doubt("rows below names", texts[0].column, (1,), data, (skip,), True)


def _count_rows_of_text(texts: Sequence[Doubt], columns: Columns, table: FileTable) -> int:
    """Count the first rows without a number where columns hold text in these alone."""
    first = table.data.select([problem.column for problem in texts]).slice(0, _MAX_BELOW)
    few = []  # columns of so few texts that all of these are known
    for column, problem in zip(first.columns, texts, strict=True):
        if problem.data["n_cells"] <= _MAX_BELOW:
            cells = [str(cell or "").strip() for cell in column.to_pylist()]
            few.append((cells, dict(problem.data["texts"])))
    numeric = [reading.kind == "number" for reading in columns.readings.values()]
    for n_rows in range(_MAX_BELOW - table.n_skipped, 0, -1):
        n_alike = sum(Counter(cells[:n_rows]) == known for cells, known in few)
        others = any(set(cells[:n_rows]) - known.keys() - {""} for cells, known in few)
        if n_alike > 1 and not others and not np.isfinite(columns.X[:n_rows, numeric]).any():
            return n_rows
    return 0


def find_problems(columns: Columns, rules: ReadingRules, table: FileTable) -> list[Doubt]:
    """List all that is wrong or doubtful about columns that are used."""
    found: list[Doubt] = []
    counts, others = columns.counts, {*columns.wrong, *columns.counts}
    measured = [
        j
        for j, (name, reading) in enumerate(columns.readings.items())
        if reading.kind == "number" and name not in others
    ]
    names = list(columns.readings)
    # Rows of one text or sheet have numbers by which they can be left out.
    can_go = len(table.parts) == 1 and bool(table.text or table.parts[0].sheet)
    apart = _find_rows_of_text(columns, table) if can_go else None
    extra = find_totals({names[j]: columns.X[:, j] for j in measured}, table)
    codes = find_codes(columns.X, measured)
    n_coded = Counter(code.value for some in codes.values() for code in some)
    n_holding = {code: (columns.X[:, measured] == code).any(axis=0).sum() for code in n_coded}
    for j, (name, reading) in enumerate(columns.readings.items()):
        doubt = _find_doubt(name, reading)
        if doubt and doubt.code == "unit left out" and doubt.data["unit"] == "%":
            doubt = _find_fractions(doubt, columns.X[:, j], table.data.column(name))
        if doubt is not None:
            found.append(doubt)
            if doubt.stops:
                continue
        wrong = columns.wrong.get(name)
        if extra and wrong and wrong.row > len(columns.X) - extra.data["n_rows"]:
            extra = extra._replace(stops=True)
        elif wrong:
            found.append(_text_among_numbers(name, wrong, table, counts, reading, apart))
        elif name in counts:
            found += _category_problems(name, counts[name])
        else:
            values = columns.X[:, j]
            if j in codes:
                # Other columns hold it as a plain value.
                elsewhere = any(n_holding[c.value] > n_coded[c.value] for c in codes[j])
                where = name if elsewhere else ""
                fix = tuple(take_as_missing(f"{code.value:g}", where) for code in codes[j])
                found.append(Doubt("code for missing", name, (), {"codes": codes[j]}, fix))
            elif reading.kind == "date" and (values >= _LAST_DAY).any():
                found.append(Doubt("outlier", name, (), {"value": "9999-12-31"}))
            elif (outlier := find_outlier(values)) is not None:
                found.append(Doubt("outlier", name, (), {"value": f"{outlier:g}"}))
            found += _number_problems(name, values, reading, table)
    return [extra, *found] if extra else found


def _find_rows_of_text(columns: Columns, table: FileTable) -> set[int]:
    """Find rows, counted from 1, that are no data, such as headings that repeat.

    Most columns of numbers hold text there, and not all the same. A text that is in other rows,
    too, rather means that something is missing.
    """
    held = defaultdict[int, dict[str, str]](dict)  # texts among numbers, by row and column
    for name, found in columns.wrong.items():
        cells = table.data.column(name)
        for row in found.rows:
            held[row][name] = str(cells[row - 1]).strip()
    numeric = [reading.kind in NUMERIC for reading in columns.readings.values()]
    rows = set()
    for row, texts in held.items():
        others = (table.data.column(name)[row - 1] for name in columns.wrong.keys() - texts.keys())
        n_numbers = np.isfinite(columns.X[row - 1, numeric]).sum() + sum(c.is_valid for c in others)
        if len(set(texts.values())) > 1 and len(texts) > n_numbers:
            rows.add(row)
    while True:
        single = {text for row in held.keys() - rows for text in held[row].values()}
        apart = {row for row in rows if single.isdisjoint(held[row].values())}
        if apart == rows:
            return apart
        rows = apart


def find_known_groups(columns: Columns, rules: ReadingRules) -> Doubt | None:
    """Find the column that may hold known groups of a few rows: a few values in few rows.

    These are texts, or the numbers of groups, which count from 0 or 1. In a table with other
    columns that are as sparse, such as questions asked of few people, there is no such column.
    """
    n_rows, sparse = len(columns.X), dict[str, np.ndarray]()
    for name, x in zip(columns.readings, columns.X.T, strict=True):
        seen = np.isfinite(x)
        few = name not in columns.wrong and seen.sum() < _SPARSE * n_rows
        if few and len(np.unique(x[seen])) > 1:
            sparse[name] = x[seen]
    name = next(iter(sparse), "")
    if len(sparse) != 1 or name in rules.categorical | rules.kept:
        return None
    distinct, counts = np.unique(sparse[name], return_counts=True)
    if len(distinct) > _MAX_GROUPS or counts.min() < _MIN_IN_GROUP:
        return None
    is_text, reading = name in columns.counts, columns.readings[name]
    counted = np.array_equal(distinct, distinct[0] + np.arange(len(distinct)))
    numbered = reading.is_plain and not reading.has_zeros and distinct[0] in (0, 1) and counted
    if not is_text and not numbered:
        return None
    data = {"n_observed": int(counts.sum()), "n_rows": n_rows, "n_distinct": len(distinct)}
    return Doubt("known groups", name, (), data | {"is_text": is_text})


def find_outlier(values: np.ndarray) -> float | None:
    """Find the value of a column (n_samples,) that is so far out that others seem all alike.

    It lies more than 100,000 times as far from the median as the middle half spreads.
    """
    seen = values[np.isfinite(values)]
    if len(seen) < 5:
        return None
    low, median, high = np.quantile(seen, [0.25, 0.5, 0.75])
    # Halves, because the difference of two huge numbers of opposite sign would overflow.
    distance = np.abs(seen / 2 - median / 2)
    farthest = int(np.argmax(distance))
    return float(seen[farthest]) if distance[farthest] / 1e5 > high / 2 - low / 2 > 0 else None


def _find_doubt(name: str, reading: Reading) -> Doubt | None:
    """Report what must be asked about the way a column is written."""
    choice = reading.choice
    if name in (*NEW_COLUMNS, NAME_COLUMN):
        return Doubt("earlier result", name, fix=(drop_column(name),), stops=True)
    if reading.doubt == "order":
        ways = tuple(read_as(name, way) for way in ("day-first", "month-first"))
        return Doubt("ambiguous dates", name, (), {"ways": ways}, stops=True)
    if reading.doubt == "orders":
        return Doubt("mixed dates", name, fix=(drop_column(name),), stops=True)
    if reading.doubt == "units" and choice:
        units = {choice.spell(unit): count for unit, count in choice.units.items()}
        data = {"units": units, "n_bare": choice.n_bare}
        return Doubt("mixed units", name, (), data, (drop_column(name),), True)
    if reading.doubt == "format" and choice and choice.rival:
        rival = choice.rival._replace(units=choice.format.units)
        both = sorted((choice.format, rival), key=lambda form: not form.thousands)
        ways = tuple(read_as(name, form.name) for form in both)
        cell = pa.array([choice.example])
        numbers = tuple(float(read_numbers(cell, form)[0][0]) for form in both)
        data = {"example": choice.example, "numbers": numbers, "ways": ways}
        return Doubt("ambiguous numbers", name, (), data, stops=True)
    if choice and choice.n_bare and CURRENCIES.keys().isdisjoint(choice.units):
        data = {"unit": choice.spell(next(iter(choice.units))), "n_bare": choice.n_bare}
        return Doubt("unit left out", name, (), data | {"n_cells": choice.n_fitting})
    return None


def _find_fractions(problem: Doubt, values: np.ndarray, cells: Any) -> Doubt:
    """Take bare numbers (n_rows,) of at most 1 beside percentages for fractions, another unit."""
    has_sign = pc.fill_null(pc.match_substring(cells, "%"), False).to_numpy()
    bare, signed = values[~has_sign], values[has_sign]
    if np.nanmax(bare, initial=0) > 1 or np.nanmax(signed, initial=0) <= 1:
        return problem
    n_bare, n_cells = problem.data["n_bare"], problem.data["n_cells"]
    data = {"units": {"%": n_cells - n_bare}, "n_bare": n_bare}
    return Doubt("mixed units", problem.column, (), data, (drop_column(problem.column),), True)


def _text_among_numbers(
    name: str,
    found: NotNumbers,
    table: FileTable,
    counts: Mapping[str, Counter[str]],
    reading: Reading,
    apart: set[int] | None,
) -> Doubt:
    """Report text in a column of numbers; `counts` are texts of other columns.

    Rows `apart`, counted from 1, are no data; None: no row can be left out.
    """
    data = found._asdict() | {"where": "" if found.by_type else name_row(table.parts, found.row)}
    gone = [row for row in found.rows if row in (apart or ())]
    few_rows = found.rows if apart is not None and len(found.rows) <= _FEW_ROWS else ()
    column = table.data.column(name)
    data["rows"] = [int(table.parts[0].numbers[row - 1]) for row in gone or few_rows]
    if found.by_type:
        return Doubt("no numbers", name, (), data, (drop_column(name),), True)
    few = len(found.texts) <= _MAX_CODES and 2 * found.n_cells < found.n_observed
    # Values that come again and again are categories, and so is a word among them.
    coded = few and _REPEATED * pc.count_distinct(table.data.column(name)).as_py() <= len(
        table.data
    )
    form = reading.number or NumberFormat(table.decimal)
    others = [text for text, _ in found.texts if not _is_limit(text, form)]
    codes = tuple(
        take_as_missing(text, name if any(text in each for each in counts.values()) else "")
        for text in others
    )
    plain = len(others) <= _MAX_CODES and not any(map(number_hint, others))
    if found.all_texts and plain and len(others) < len(found.texts):
        fix: tuple[Fix, ...] = (Fix("limits", "value"), *codes)
        return Doubt("limits", name, (found.row,), data, fix, True)
    fix = codes if found.all_texts and few and plain else (drop_column(name),)
    fix = (read_as(name, "category"),) if fix == codes and coded else fix
    if gone:
        cells = [column[row - 1] for row in set(found.rows).difference(gone)]
        held = {str(cell).strip() for cell in cells}
        data["codes"] = codes if fix == codes else ()
        drops = (Fix("drop_rows", str(number)) for number in data["rows"])
        fix = (*drops, *(code for code in codes if code.choice in held))
    return Doubt("text among numbers", name, (found.row,), data, fix, True)


def _is_limit(text: str, form: NumberFormat) -> bool:
    """Whether a text is a limit such as "<0.5" or "90+" of a number as others are written."""
    number = re.sub(LIMIT, r"\1\2", text)
    return number != text and not read_numbers(pa.array([number]), form)[1][0]


def _category_problems(name: str, counts: Counter[str]) -> list[Doubt]:
    """Report texts that are too many, or may be spellings of one category."""
    n_distinct, n_observed = len(counts), counts.total()
    # Texts that are all different are left out in any case.
    if n_distinct == n_observed:
        return []
    data = {"n_distinct": n_distinct, "n_observed": n_observed}
    if n_distinct > MAX_CATEGORIES:
        return [Doubt("too many categories", name, (), data, (drop_column(name),), True)]
    alike: dict[str, list[tuple[str, int]]] = {}
    for text, count in counts.most_common():
        alike.setdefault(fold_text(text), []).append((text, count))
    for initial in [key for key in alike if len(key) == 1]:
        longer = [key for key in alike if key.startswith(initial) and key != initial]
        if len(longer) == 1 and len(longer[0]) > 2 and longer[0].isalpha():
            alike[longer[0]] += alike.pop(initial)
    variants = [texts for texts in alike.values() if len(texts) > 1]
    keys = [[fold_text(text) for text, _ in texts] for texts in variants]
    joins = any(len(set(some)) < len(some) for some in keys)
    fix = (Fix("ignore_case"),) if joins else ()
    return [Doubt("spelling variants", name, (), {"variants": variants}, fix)] if variants else []


def _number_problems(
    name: str, values: np.ndarray, reading: Reading, table: FileTable
) -> Iterator[Doubt]:
    """Report what looks wrong in a column of numbers, which may name the rows, or be codes."""
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        row = int(infinite[0])
        cell = table.data.column(name)[row].as_py()
        fix = take_as_missing(cell.strip()) if isinstance(cell, str) else drop_column(name)
        data = {"where": name_row(table.parts, row + 1)}
        yield Doubt("infinite numbers", name, (row + 1,), data, (fix,), True)
    if reading.kind != "number" or reading.choice:
        return
    seen = values[np.isfinite(values)]
    n_distinct = len(np.unique(seen))
    if looks_like_identifier(values) and not reading.has_zeros:
        yield Doubt("may name the rows", name)
    elif n_distinct > 1 and reading.has_zeros:
        few = n_distinct <= min(MAX_CATEGORIES, len(values) // 2)
        fix = read_as(name, "category") if few else drop_column(name)
        yield Doubt("may be a code", name, fix=(fix,))
