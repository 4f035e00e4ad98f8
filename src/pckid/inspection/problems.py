"""Everything that is wrong or doubtful about the columns of a table, as plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.commands import as_argument, as_arguments, for_python
from pckid._utils.text import brief, counted, join_words, number_hint
from pckid.input.one_hot import incomplete_groups
from pckid.input.sentinels import Sentinel, describe_codes, find_codes
from pckid.inspection.columns import find_outlier, looks_like_identifier
from pckid.tables import Columns, FileTable, NumberFormat, Reading, ReadingRules, Scan
from pckid.tables.categories import MAX_CATEGORIES, count_categories
from pckid.tables.endings import ExtraRows, find_extra_rows
from pckid.tables.kinds import LEADING_ZEROS
from pckid.tables.numbers import NotNumbers, describe_text
from pckid.tables.row_names import name_tells_rows, texts_are_free
from pckid.tables.table import name_row

RESULT_COLUMNS = ("cluster", "confidence", "outlier_score")
"""What a clustering adds to a table."""
ABOUT_USE = frozenset(
    {
        "may name the rows",
        "codes with zeros",
        "may be a code",
        "free text",
        "split category",
        "several answers",
    }
)
"""Problems that ask whether a column should be used, and as what."""
_MOST_CODES, _MOST_NAMED = 5, 5
_UNIT = re.compile(r"[\[(].*[\])]|.{0,8}[%°µμ²³/].{0,8}")
_NAME_IT = ", or name it as --id or --label"


class Option(NamedTuple):
    """An option, written `--drop notes`, or `drop=['notes']` for users of Python."""

    # "na_values", "numbers", "dates", "drop", "categorical", "id_column", "skip_first", "skip_last"
    key: str
    value: str

    def __str__(self) -> str:
        return as_argument(self.key, self.value)


class Problem(NamedTuple):
    """Something wrong or doubtful about a column.

    Attributes
    ----------
    column : str
    kind : str
        "text among numbers", "no numbers" (but lists, say), "ambiguous numbers", "mixed units",
        "ambiguous dates", "too many categories", "infinite numbers", "code for missing",
        "outlier", "unit left out", "may name the rows", "codes with zeros", "may be a code", "free
        text", "several answers", "spelling variants", "split category", "earlier result", "second
        names", "other unit" or "extra rows": totals or notes below the table.
    evidence : str
        A sentence that says what was found.
    fix : str
        A sentence that says what to do.
    options : tuple of Option
        What takes the advice; none where only the owner of the table can tell.
    stops : bool
        Whether the table cannot be clustered before it is fixed.
    codes : tuple of Sentinel
        The codes for missing values that the column seems to hold.
    in_cells : str
        What to do instead where the column has to be used, and as it is.
    """

    column: str
    kind: str
    evidence: str
    fix: str
    options: tuple[Option, ...] = ()
    stops: bool = False
    codes: tuple[Sentinel, ...] = ()
    in_cells: str = "Correct such cells."


def find_problems(
    columns: Columns,
    names: Sequence[str],
    table: FileTable,
    rules: ReadingRules | None = None,
    source: Scan | None = None,
) -> list[Problem]:
    """List all that is wrong or doubtful about columns that were read.

    Parameters
    ----------
    columns : Columns
    names : sequence of str
        The columns of `columns.X`.
    table : Table
    rules : ReadingRules, optional
    source : Scan, optional
        The whole table, where `table` has only its first rows.

    Returns
    -------
    problems : list of Problem
    """
    extra = find_extra_rows(table if source is None else source)
    found = _second_names(columns.wrong, columns.texts, table)
    if found:  # With other names, advice by these would be wrong.
        return found
    measured = [j for j, name in enumerate(names) if _holds_numbers(columns, name, rules)]
    codes, stops = find_codes(columns.X, measured), False
    holders = _holders(columns.X, measured, codes)
    for j, name in enumerate(names):
        reading = columns.readings[name]
        if not is_used(reading, rules, name):
            continue
        doubts = _earlier_result(name) + _doubts(name, reading)
        found += doubts
        if any(doubt.stops for doubt in doubts):
            continue
        if name in columns.wrong and extra and extra.explains(columns.wrong[name]):
            stops = True
        elif name in columns.wrong:
            found.append(_text_among_numbers(name, reading, columns.wrong[name], table))
        elif name in columns.texts:
            asked_for = rules is not None and name in rules.categorical
            found += _category_problems(name, columns.texts[name], asked_for)
            if reading.several:
                found += _several_answers(name, columns.texts[name])
        else:
            if j in codes:
                plain = set().union(*(holders[code.value] for code in codes[j]))
                elsewhere = [names[i] for i in sorted(plain)]
                found.append(_codes_for_missing(name, codes[j], elsewhere))
            else:
                found += _outliers(name, columns.X[:, j])
            found += _number_problems(name, columns.X[:, j], reading, table)
            if reading.kind == "number" and not reading.choice:
                found += _code_problems(name, columns.X[:, j], reading, table)
    found += _split_categories(columns.X[:, measured], [names[j] for j in measured])
    return [_extra_rows(extra, stops), *found] if extra else found


def _extra_rows(extra: ExtraRows, stops: bool) -> Problem:
    """Say that the last rows are no data."""
    it = "it" if len(extra.labels) == 1 else "them"
    option = Option("skip_last", str(extra.n_below))
    counts = " (with what is left out below already)" * (extra.n_below > len(extra.labels))
    fix = f"If so, leave {it} out: {option}{counts}."
    return Problem(extra.column, "extra rows", extra.evidence, fix, (option,), stops)


def is_used(reading: Reading, rules: ReadingRules | None, name: str) -> bool:
    """Tell whether a column is clustered by: names of rows and free text never, dates if asked."""
    if reading.kind in ("date", "duration"):
        return (rules or ReadingRules()).dates_of(name) != "leave-out"
    return reading.kind not in ("row name", "free text")


def _earlier_result(name: str) -> list[Problem]:
    """Say that a column seems to be the result of an earlier run."""
    if name not in RESULT_COLUMNS:
        return []
    drop = Option("drop", name)
    evidence = f"The table already has a column '{name}', as an earlier result would."
    fix = f"Leave it out ({drop}); the new result then takes its place."
    return [Problem(name, "earlier result", evidence, fix, (drop,), True)]


def _doubts(name: str, reading: Reading) -> list[Problem]:
    """Say what must be asked about the way a column is written."""
    shown, choice = brief(name), reading.choice
    if reading.doubt == "order":
        ways = [Option("dates", f"{name}={way}") for way in ("day-first", "month-first")]
        return [Problem(
            name, "ambiguous dates",
            f"Column '{shown}' holds dates in which day and month could be either way round.",
            f"Say which: {ways[0]}, or {ways[1]}.", (ways[0],), True,
        )]  # fmt: skip
    if reading.doubt == "orders":
        drop = Option("drop", name)
        return [Problem(
            name, "ambiguous dates",
            f"Column '{shown}' holds dates with the day first, such as 25/01/2024, and dates with "
            "the month first, such as 01/25/2024.",
            f"Write all of them in one way, or leave the column out: {drop}.", (drop,), True,
            in_cells="Write all of them in one way.",
        )]  # fmt: skip
    if reading.doubt == "units" and choice:
        listed = ", ".join(f"'{unit}' in {n:,}" for unit, n in choice.units.items())
        listed += f", none in {choice.n_bare:,}" if choice.n_bare else ""
        drop = Option("drop", name)
        return [Problem(
            name, "mixed units", f"Column '{shown}' holds numbers in different units: {listed}.",
            f"Convert them to one unit, or leave the column out: {drop}.", (drop,), True,
            in_cells="Convert them to one unit.",
        )]  # fmt: skip
    if reading.doubt == "format" and choice and choice.rival:
        both = sorted((choice.format, choice.rival), key=lambda form: not form.thousands)
        ways = [Option("numbers", f"{name}={form.name}") for form in both]
        told = " or ".join(f"{_read_example(choice.example, form):,.10g}" for form in both)
        return [Problem(
            name, "ambiguous numbers",
            f"Column '{shown}': '{brief(choice.example)}' is {told}; all cells can be read "
            "either way.",
            f"Say which: {ways[0]} (thousands) or {ways[1]} (decimal sign).", (ways[0],), True,
        )]  # fmt: skip
    if choice and choice.n_bare and not choice.is_money:
        unit = next(iter(choice.units))
        return [Problem(
            name, "unit left out",
            f"Column '{shown}' has no {unit} in {choice.n_bare:,} of {choice.n_fitting:,} cells; "
            f"they are taken as {unit} too.",
            "Check them.",
        )]  # fmt: skip
    return []


def _read_example(example: str, form: NumberFormat) -> float:
    """Read an example in one of two formats."""
    digits = "".join(sign for sign in example if sign.isdigit() or sign in ".,' -")
    if form.thousands:
        digits = digits.replace(form.thousands, "")
    return float(digits.replace(form.decimal, ".").replace(" ", ""))


def _text_among_numbers(
    name: str, reading: Reading, found: NotNumbers, table: FileTable
) -> Problem:
    """Say that some cells of a column of numbers are none."""
    evidence = describe_text({name: found}, table.parts)[0]
    few = (
        found.all_texts and len(found.texts) <= _MOST_CODES and 2 * found.n_cells < found.n_observed
    )
    drop = Option("drop", name)
    if few and not any(number_hint(text) for text, _ in found.texts):
        codes = tuple(Option("na_values", text) for text, _ in found.texts)
        begin = f"If the text means missing: {as_arguments(codes)}. Otherwise"
        fix = f"{begin} leave the column out ({drop}), or take it as categories "
        fix += f"({Option('categorical', name)})."
        in_cells = f"{begin} correct such cells, or leave them empty."
        return Problem(name, "text among numbers", evidence, fix, codes, True, in_cells=in_cells)
    categories = f"or take it as categories ({Option('categorical', name)})."
    if found.by_type:
        fix = "Write what tells rows apart as columns of numbers, leave it out "
        fix += f"({drop}), {categories}"
        in_cells = "Numbers are expected there."
        return Problem(name, "no numbers", evidence, fix, (drop,), True, in_cells=in_cells)
    leave = "Otherwise leave" if number_hint(found.example) else "Leave"
    fix = f"{leave} the column out ({drop}), {categories}"
    return Problem(name, "text among numbers", evidence, fix, (drop,), True)


def _second_names(
    wrong: Mapping[str, NotNumbers], texts: Mapping[str, Sequence[str | None]], table: FileTable
) -> list[Problem]:
    """Say that the first row of a text file or sheet may be a second line of names, or of units.

    Units may be taken as missing, unless other columns hold such texts, as "m" and "f" may be.
    """
    is_first = [
        found.row == 1 and not found.by_type and dict(found.texts).get(found.example, 1) == 1
        for found in wrong.values()
    ]
    sheet = table.parts[0].sheet if table.parts else None
    if (table.text is None and sheet is None) or len(is_first) < 2 or not all(is_first):
        return []
    columns = [f"'{brief(name, 40)}'" for name in wrong]
    shown = [f"'{brief(found.example, 40)}'" for found in wrong.values()]
    evidence = (
        f"Columns {join_words(columns, _MOST_NAMED)} hold numbers, but for "
        f"{name_row(table.parts, 1)} ({join_words(shown, _MOST_NAMED)}): it "
    )
    # Names differ from each other, and few have such signs.
    units = len(set(shown)) < len(shown) or any(
        _UNIT.fullmatch(found.example) for found in wrong.values()
    )
    first = next(iter(wrong))
    if units:
        evidence += "seems to hold units."
        in_row = {text for found in wrong.values() for text, _ in found.texts}
        if any(not in_row.isdisjoint(cells[1:]) for cells in texts.values()):
            fix = "Delete that row from the file."
            return [Problem(first, "second names", evidence, fix, (), True)]
        options = tuple(Option("na_values", text) for text in sorted(in_row))
        fix = "Delete that row from the file, or leave it without a cluster: "
        fix += f"{as_arguments(options)}."
        return [Problem(first, "second names", evidence, fix, options, True)]
    above = sheet.number(1) - 1 if sheet else table.text.n_above + 1 if table.text else 0
    skip = Option("skip_first", str(above))
    evidence += "may be a second line of names, or units."
    fix = f"If the names are there: {skip}. If it holds units, delete that row from the file."
    return [Problem(first, "second names", evidence, fix, (skip,), True)]


def _category_problems(name: str, cells: Sequence[str | None], asked_for: bool) -> list[Problem]:
    """Say that a column has too many categories, or free text, unless that was asked for."""
    n_distinct, n_observed = count_categories(cells)
    # Texts that are all different are left out in any case.
    if n_distinct == n_observed:
        return []
    drop = Option("drop", name)
    if n_distinct <= MAX_CATEGORIES:
        evidence = (
            f"Column '{brief(name)}' holds {n_distinct:,} different texts in {n_observed:,} rows: "
            "it looks like free text, which says little about groups."
        )
        found = Problem(name, "free text", evidence, f"Leave it out: {drop}.", (drop,))
        is_free = texts_are_free(n_observed, n_distinct) and not asked_for
        return [found] if is_free else _spelling_problems(name, cells)
    return [Problem(
        name, "too many categories",
        f"Column '{brief(name)}' holds {n_distinct:,} different texts in {n_observed:,} rows, too "
        f"many for categories (at most {MAX_CATEGORIES}).",
        f"Leave it out ({drop}){'' if for_python() else _NAME_IT}.", (drop,), True,
    )]  # fmt: skip


def _several_answers(name: str, cells: Sequence[str | None]) -> list[Problem]:
    """Say that cells hold several answers, of which each combination counts as a category."""
    longest = max((cell for cell in cells if cell is not None), key=len)
    evidence = (
        f"Column '{brief(name)}' holds several answers in a cell, such as '{brief(longest)}': each "
        "combination counts as a category of its own."
    )
    return [Problem(name, "several answers", evidence, "Make each answer a column of 0 and 1.")]


def _spelling_problems(name: str, cells: Sequence[str | None]) -> list[Problem]:
    """Say that categories differ only in capitals and blanks."""
    counts = Counter(cell for cell in cells if cell is not None)
    alike: dict[str, list[str]] = {}
    for text, _ in counts.most_common():
        alike.setdefault("".join(text.casefold().split()), []).append(text)
    variants = [texts for texts in alike.values() if len(texts) > 1]
    if not variants:
        return []
    listed = " and ".join(f"'{brief(text, 40)}' ({counts[text]:,})" for text in variants[0][:2])
    n_more = sum(map(len, variants)) - 2
    more = f", and {n_more} more such," if n_more else ""
    return [Problem(
        name, "spelling variants",
        f"Column '{brief(name)}' holds {listed}{more} which differ only in capitals or blanks: "
        "they count as different categories.",
        "If they mean the same, write them alike.",
    )]  # fmt: skip


def _split_categories(X: np.ndarray, names: Sequence[str]) -> list[Problem]:
    """Say that columns of 0 and 1 seem to hold one category, though not in all rows."""
    found = incomplete_groups(X)
    if not found:
        return []
    groups = [[f"'{brief(name, 40)}'" for name in names[group]] for group in found]
    evidence = (
        f"Columns {join_words(groups[0], _MOST_NAMED)} seem to hold one category, but some rows "
        "have a 1 in none or in two of them."
    )
    if len(groups) > 1:
        starts = join_words([group[0] for group in groups[1:]], _MOST_NAMED)
        evidence += f" So do those that begin with {starts}."
    fix = (
        "Each counts as a column of its own. If they are one category, correct these rows, or "
        "write it as one column of text, empty where it is missing."
    )
    return [Problem(names[found[0].start], "split category", evidence, fix)]


def _holds_numbers(columns: Columns, name: str, rules: ReadingRules | None) -> bool:
    """Tell whether a column is clustered by as numbers that could be read."""
    reading = columns.readings[name]
    unread = name in columns.wrong or name in columns.texts
    return reading.kind == "number" and not unread and is_used(reading, rules, name)


def _holders(
    X: np.ndarray, columns: Sequence[int], codes: Mapping[int, Sequence[Sentinel]]
) -> dict[float, set[int]]:
    """Find, for each code, the columns of X (n_rows, n_columns) that hold it as a plain value."""
    coded: dict[float, set[int]] = {}
    for j, found in codes.items():
        for code in found:
            coded.setdefault(code.value, set()).add(j)
    measured = X[:, columns]
    return {
        value: {columns[i] for i in np.flatnonzero((measured == value).any(axis=0)).tolist()} - own
        for value, own in coded.items()
    }


def _codes_for_missing(name: str, codes: Sequence[Sentinel], elsewhere: Sequence[str]) -> Problem:
    """Say that numbers of a column may mean missing; `elsewhere` they are values like others."""
    options = tuple(Option("na_values", f"{code.value:g}") for code in codes)
    clause = describe_codes({0: codes}, lambda _: f"'{brief(name)}'")
    evidence = f"{clause[0].upper()}{clause[1:]}, far from its other values."
    fix = f"If that means missing, add {as_arguments(options)}"
    if elsewhere:
        more = f" and {counted(len(elsewhere) - 1, 'more column')}" if len(elsewhere) > 1 else ""
        fix += f"; it then means missing in '{brief(elsewhere[0])}'{more} too, which may be wrong."
        options = ()
    return Problem(name, "code for missing", evidence, fix, options, codes=tuple(codes))


def _outliers(name: str, values: np.ndarray) -> list[Problem]:
    """Say that a value lies so far out that it hides how the others differ."""
    outlier = find_outlier(values)
    if outlier is None:
        return []
    return [Problem(
        name, "outlier",
        f"Column '{brief(name)}' holds {outlier:g}, so far from its other values that these look "
        "all alike.",
        "If it is a mistake, fix it or leave the cell empty.",
    )]  # fmt: skip


def _number_problems(
    name: str, values: np.ndarray, reading: Reading, table: FileTable
) -> list[Problem]:
    """Say what looks wrong in a column of numbers."""
    shown, found = brief(name), []
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        option = _without_infinite(name, int(infinite[0]), table)
        found.append(Problem(
            name, "infinite numbers",
            f"Column '{shown}' holds an infinite number in "
            f"{name_row(table.parts, int(infinite[0]) + 1)}.",
            f"Replace it, or leave the cell empty to treat it as missing, as with {option}.",
            (option,), True,
        ))  # fmt: skip
    plain = reading.kind == "number" and reading.number is None
    if plain and looks_like_identifier(values):
        ways = [str(Option("drop", name))]
        if not for_python():
            ways.insert(0, str(Option("id_column", name)))
        found.append(Problem(
            name, "may name the rows",
            f"Column '{shown}' holds a whole number in every row, no two alike: it may name the "
            "rows rather than describe them.",
            f"If so, leave it out: {' or '.join(ways)}.",
        ))  # fmt: skip
    return found


def _code_problems(
    name: str, values: np.ndarray, reading: Reading, table: FileTable
) -> list[Problem]:
    """Say that numbers may be codes: by zeros in front, or else by the column's name."""
    if not reading.has_zeros:
        return _called_a_code(name, values)
    cells = table.data.column(name).cast(pa.string())
    codes = cells.filter(pc.match_substring_regex(cells, LEADING_ZEROS))
    example = f", such as {brief(codes[0].as_py().strip())}" if len(codes) else ""
    n_distinct = len(np.unique(values[~np.isnan(values)]))
    few = n_distinct <= min(MAX_CATEGORIES, len(values) // 2)
    ways = [Option("categorical", name), Option("drop", name)]
    return [Problem(
        name, "codes with zeros",
        f"Column '{brief(name)}' holds numbers that begin with 0{example}: they look like codes.",
        f"Take them as categories ({ways[0]}), or leave the column out ({ways[1]}).",
        (ways[0] if few else ways[1],),
    )]  # fmt: skip


def _called_a_code(name: str, values: np.ndarray) -> list[Problem]:
    """Say that whole numbers are called like codes, such as a postcode that several rows share."""
    seen = values[np.isfinite(values)]
    whole = len(seen) > 0 and bool(np.all(seen == np.round(seen)))
    if not (whole and name_tells_rows(name)) or looks_like_identifier(values):
        return []
    ways = Option("categorical", name), Option("drop", name)
    return [Problem(
        name, "may be a code",
        f"Column '{brief(name)}' is used as a measurement, but its name suggests a code.",
        f"If so, take it as categories ({ways[0]}), or leave it out ({ways[1]}).",
    )]  # fmt: skip


def _without_infinite(name: str, row: int, table: FileTable) -> Option:
    """Say what makes an infinite number missing: its text, or else no such column."""
    cell = table.data.column(name)[row].as_py()
    return Option("na_values", cell.strip()) if isinstance(cell, str) else Option("drop", name)
