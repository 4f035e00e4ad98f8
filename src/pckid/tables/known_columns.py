"""The columns of a table as a model knows them: all there, categories and units as in its own."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.tables.categories import Columns
from pckid.tables.findings import Fact, Problem, SetOption
from pckid.tables.kinds import Reading
from pckid.tables.meanings import answer_of, are_booleans
from pckid.tables.options import ColumnOptions
from pckid.tables.scanning import OpenTable


class Known(NamedTuple):
    """What a model knows of its columns."""

    names: tuple[str, ...]
    categories: Mapping[str, Sequence[Any]]  # of the columns of categories
    units: Mapping[str, str]  # what the numbers of columns were in, where they had a unit
    form: Any = None  # SeriesFormat: how the lines of its cases were read, if it has cases


def use_known_columns(
    table: OpenTable, options: ColumnOptions, known: Known
) -> tuple[OpenTable, ColumnOptions]:
    """Use the columns of a model, whatever the options say.

    Raises if the table lacks some, unless these are to be missing in all rows; or if it lacks all.
    """
    lines, here = options.lines, set(table.names)
    needed = (lines.case, lines.time, lines.variable) if lines else ()
    absent = [name for name in known.names if name not in here]
    if options.missing_columns and len(absent) < len(known.names):
        table = table.with_empty(absent)
    _refuse_absent(table, [*known.names, *filter(None, needed)])
    categorical = tuple(known.categories)
    return table, replace(options, columns=known.names, drop=(), categorical=categorical)


def match_known_categories(
    columns: Columns, counts: Mapping[str, Counter[str]], known: Known
) -> tuple[Columns, list[Fact]]:
    """Write categories as a model knows them; say which were written otherwise, or are unknown."""
    texts, facts = dict(columns.texts), []
    for name, categories in known.categories.items():
        if name not in counts or not categories:
            continue
        matched = _match_categories(counts[name], categories)
        expected = {*matched, *map(str, categories)}
        unknown = {text: n for text, n in counts[name].items() if text not in expected}
        if matched:
            facts.append(Fact("categories_matched", {"column": name, "texts": matched}))
            texts[name] = [matched.get(c, c) if c is not None else c for c in texts[name]]
        if unknown:
            facts.append(Fact("categories_unknown", {"column": name, "texts": unknown}))
    return columns._replace(texts=texts), facts


def _match_categories(texts: Iterable[str], known: Sequence[Any]) -> dict[str, str]:
    """Find the categories of a model that texts stand for, if not as they are written.

    Texts match a category that is the same number, the same answer (yes or no in several
    languages), or the same but for capitals and blanks; one that several match is none of them.
    """
    exact = set(map(str, known))
    answers_count = are_booleans(exact)

    def forms_of(text: str) -> list[str]:
        plain = "".join(text.casefold().split())
        with suppress(ValueError):
            plain = f"{float(plain):g}"
        return [plain, *filter(None, [answer_of(text) if answers_count else ""])]

    forms: dict[str, set[str]] = {}
    for category in exact:
        for form in forms_of(category):
            forms.setdefault(form, set()).add(category)
    found = {}
    for text in texts:
        matches = next((forms[form] for form in forms_of(text) if form in forms), set())
        if text not in exact and len(matches) == 1:
            [found[text]] = matches
    return found


def find_other_units(units: Mapping[str, str], readings: Mapping[str, Reading]) -> list[Problem]:
    """List the columns that are not in the units of the model's own table.

    Numbers without a unit are taken to be in that of the others, except for percentages: without
    their sign they may be fractions.
    """
    found = []
    for name, reading in readings.items():
        if reading.kind != "number":
            continue
        unit, expected = reading.choice.unit if reading.choice else "", units.get(name, "")
        differs = unit and expected and unit.casefold() != expected.casefold()
        if differs or (unit != expected and {unit, expected} == {"", "%"}):
            found.append(Problem("other unit", name, (), {"unit": unit, "expected": expected}))
    return found


def _refuse_absent(table: OpenTable, names: Sequence[str]) -> None:
    """Raise if a table lacks columns of a model, with those that may be meant."""
    here = set(table.names)
    absent = [name for name in names if name not in here]
    if not absent:
        return
    others = [name for name in table.names if name not in set(names)]
    near = _similar_names(absent, others)
    if len(absent) == len(names) > 1 and not near:
        raise TableError(
            f"{table.source} has none of the model's {len(names)} columns, such as "
            f"'{brief(absent[0])}': it is another table, or its columns have other names. Give "
            "rows with the columns of the table that the model was fitted on."
        )
    many = f"{len(absent)} of the model's {len(names)} columns, first"
    them, their = ("it", "its") if len(absent) == 1 else ("them", "their")
    what = f"Add {them}; {their} cells may be empty."
    if near:
        listed = ", ".join(near[:5])
        what = f"Did you mean {listed}? Rename {them}, or add {them} with empty cells."
    raise TableError(
        f"{table.source} lacks {many if len(names) > 1 else 'the only column of the model,'} "
        f"'{brief(absent[0])}'. {what}",
        *([SetOption("missing_columns", True)] if len(absent) < len(names) else []),
    )


def _similar_names(absent: Sequence[str], others: Sequence[str]) -> list[str]:
    """Say which absent columns may be there under other names, but for case and signs."""

    def letters(name: str) -> str:
        return "".join(sign for sign in name.casefold() if sign.isalnum())

    plain = {letters(name): name for name in reversed(others)}
    pairs = []
    for name in absent:
        near = difflib.get_close_matches(letters(name), plain, n=1)
        if near:
            pairs.append(f"'{brief(plain[near[0]])}' for '{brief(name)}'")
    return pairs
