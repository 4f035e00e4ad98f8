"""Which columns are used, and as what: as options say, or as a model knows them."""

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief, list_first
from pckid.columns.ordinal import MAX_LEVELS
from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.table import FileTable, name_row
from pckid.frontends.missing_words import MISSING_TEXTS, is_no_answer
from pckid.frontends.options import ColumnOptions, Fix
from pckid.frontends.tables.formats import FORMATS
from pckid.frontends.tables.kinds import (
    DATE_CHOICES,
    Columns,
    ReadingRules,
    read_columns,
)
from pckid.frontends.tables.missing import MissingTokens, as_number, split_token
from pckid.frontends.tables.numbers import holds_token
from pckid.input.cells import as_text
from pckid.input.ordinal import in_order

ORDER = "order"
"""Stands for a column that numbers the rows."""
_WEIGHTS = "Weights are numbers from 0 on; 0 is for rows that should not count."


def find_unmatched(table: FileTable, options: ColumnOptions) -> Iterator[Fact]:
    """List contents that are to mean missing and are those of no cell.

    One for a column that lacks it, or for no column of the table, is an error.
    """
    waiting = {token: split_token(token, table.names) for token in options.na_values}
    for token, (name, text) in list(waiting.items()):
        searched = [name] if name else table.names
        if any(holds_token(table, each, text) for each in searched):
            del waiting[token]
    check_tokens(table.names, waiting, options.not_missing)
    for name, text in waiting.values():
        if name:
            raise OptionError(
                f"no cell of column '{brief(name)}' is '{brief(text)}', which was to mean missing.",
                "na_values",
            )
        yield Fact("code_unmatched", {"text": text})


def check_tokens(
    names: Sequence[str], unmatched: Iterable[str], not_missing: Iterable[str]
) -> None:
    """Raise for a content of a column that is not among `names`, such as "age=-9".

    Also for one that is to be a value, and is one in any case.
    """
    for token in unmatched:
        absent = token.rpartition("=")[0]
        if absent and absent not in names:
            raise OptionError(_no_such_column(absent, names), "na_values")
    for token in not_missing:
        _, text = split_token(token, names)
        known = text.strip().lower() in MISSING_TEXTS or is_no_answer(text)
        if not known and math.isnan(as_number(text)):
            raise OptionError(
                f"'{brief(text)}' is no content that often means missing, such as NA or -9, nor "
                "one of a column of the table, such as COLUMN=NA.",
                "not_missing",
            )


def read_rules(table: FileTable, options: ColumnOptions) -> ReadingRules:
    """Put together what the options say about how columns are written."""
    if options.limits not in ("", "value", "half", "missing"):
        raise OptionError(f"{options.limits!r} is none of value, half, missing.", "limits")
    numbers = _parse_by_column(table, options.numbers, tuple(FORMATS), "numbers")
    return ReadingRules(
        MissingTokens.with_defaults(
            options.na_values, options.not_missing, table.names, options.limits
        ),
        {name: FORMATS[form] for name, form in numbers.items()},
        _parse_by_column(table, options.dates, DATE_CHOICES, "dates"),
        options.decimal,
        frozenset(
            [
                *named_columns(table, options.categorical, "categorical"),
                *list_levels(table, options),
            ]
        ),
        frozenset(
            [
                *named_columns(table, options.columns, "columns"),
                *named_columns(table, options.as_is, "as_is"),
                *options.times,
            ]
        ),
        options.ignore_case,
    )


def list_levels(table: FileTable, options: ColumnOptions) -> dict[str, list[str] | None]:
    """List the columns of ordered categories, and their levels where these are given."""
    found: dict[str, list[str] | None] = {}
    for value in options.ordinal:
        name, sign, levels = value.partition("=")
        if value in table.names or not sign:
            found |= dict.fromkeys(named_columns(table, [value], "ordinal"))
            continue
        listed = [level.strip() for level in levels.split("<")]
        if len(set(listed)) < len(listed) or len(listed) < 2:
            raise OptionError(
                f"'{brief(value)}' is not NAME=LOW<HIGH, with each level once, the lowest first.",
                "ordinal",
            )
        found |= dict.fromkeys(named_columns(table, [name.strip()], "ordinal", split=False), listed)
    return found


def order_levels(
    table: FileTable, options: ColumnOptions, counts: Mapping[str, Mapping[str, int]]
) -> dict[str, list[str]]:
    """Put the levels of ordered categories into their order, the lowest first.

    Those given, or of columns whose type has an order. `counts` are the categories that columns
    hold, and how often.
    """
    asked, found = list_levels(table, options), {}
    for name, held in counts.items():
        if name in options.categorical:
            continue
        kind = table.data.schema.field(name).type if name in table.data.column_names else None
        given = asked.get(name)
        if given is None and getattr(kind, "ordered", False):
            given = _own_levels(table.data.column(name))
            if name not in asked and len(given) > MAX_LEVELS:
                continue
        if name not in asked and given is None:
            continue
        try:
            found[name] = in_order(list(held), given, f"'{brief(name)}'", "NAME=LOW<HIGH")
        except ValueError as error:
            raise OptionError(str(error), "ordinal") from None
    return found


def _own_levels(column: Any) -> list[str]:
    """List the levels of a column of Arrow whose type has an order."""
    coded = column.unify_dictionaries().chunks
    return [as_text(level) for level in coded[0].dictionary.to_pylist()] if coded else []


def _parse_by_column(
    table: FileTable, values: Sequence[str], choices: Sequence[str], option: str
) -> dict[str, str]:
    """Read texts such as "1.234,56" for all columns or "visit=use" for one; the last one holds."""
    found: dict[str, str] = {}
    for value in values:
        name, _, choice = value.rpartition("=")
        if choice not in choices and not (option == "dates" and "%" in choice):
            raise OptionError(
                f"{choice!r} is none of {', '.join(choices)}. Give one of them for all columns, or "
                "NAME=ONE for a column.",
                option,
            )
        if name and name not in table.names:
            raise OptionError(_no_such_column(name, table.names), option)
        found[name] = choice
    return found


def choose_columns(table: FileTable, options: ColumnOptions) -> tuple[list[str], dict[str, str]]:
    """Choose the columns to cluster; say why the others are left out."""
    of_lines = ("case", "time", "variable") if options.lines else ()
    aside = {key: getattr(options.lines, key) for key in of_lines}
    aside |= {key: getattr(options, key) for key in ("row_names", "labels", "known", "weights")}
    for key, name in aside.items():
        if name is not None:
            named_columns(table, [name], key, split=False)
            _refuse_lost_digits(table, name, key)
    if options.known is not None and options.known == options.labels:
        raise OptionError(
            f"column '{brief(options.known)}' is to be known for the fit and compared with its "
            "result: they agree in any case. Name another column, or one of the two options.",
            "known",
            "labels",
        )
    dropped = named_columns(table, options.drop, "drop")
    asked = named_columns(table, options.columns, "columns")
    wanted = asked or [name for name in table.names if name not in table.about_rows]
    chosen = set(wanted)
    left_out = dict.fromkeys(dropped, "choice")
    why = "not chosen" if asked else "about rows"
    left_out |= {name: why for name in table.names if name not in chosen}
    left_out |= {name: key for key, name in aside.items() if name}
    left_out |= dict.fromkeys(name_places(table, options.place), "place")
    names = [name for name in wanted if name not in left_out]
    if not names:
        raise OptionError("No column is left to cluster.", "columns", "drop")
    return names, left_out


def _refuse_lost_digits(table: FileTable, name: str, option: str) -> None:
    """Raise if a column tells rows apart, but holds numbers whose digits a sheet has not kept."""
    lost = [fact.data["column"] for fact in table.notes if fact.code == "digits_lost"]
    if name in lost and option not in ("weights", "time"):
        raise OptionError(
            f"column '{brief(name)}' holds whole numbers of more than 15 digits, of which a sheet "
            "does not keep all: different ones may read alike. Store them as text.",
            option,
        )


def name_kinds(table: FileTable, options: ColumnOptions) -> ColumnOptions:
    """List one by one the columns that are said to be of a kind."""
    kinds = options.of_kinds.items()
    named: Any = {kind: tuple(named_columns(table, names, kind)) for kind, names in kinds}
    return replace(options, **named)


def named_columns(
    table: FileTable, values: Sequence[str], option: str, split: bool = True
) -> list[str]:
    """Find the columns that an option names, alone or with commas between them."""
    found: list[str] = []
    known = set(table.names) if values else set()
    for value in values:
        whole = value in known or not split
        parts = [value] if whole else [part.strip() for part in value.split(",")]
        for part in filter(None, parts):
            if part not in known:
                raise OptionError(_no_such_column(part, table.names), option)
            found.append(part)
    return list(dict.fromkeys(found))


def _no_such_column(name: str, names: Sequence[str]) -> str:
    near = _nearest_name(name, names)
    listed = ", ".join(brief(other) for other in names[:12])
    hint = f"The columns are: {listed}" if near is None else f"Did you mean '{brief(near)}'?"
    return f"the table has no column '{brief(name)}'. {hint}"


def _nearest_name(name: str, names: Sequence[str]) -> str | None:
    """Find the name that comes close to another, whatever their cases and signs."""

    def letters(text: str) -> str:
        return "".join(sign for sign in text.casefold() if sign.isalnum())

    plain = {letters(other): other for other in reversed(names)}
    near = difflib.get_close_matches(letters(name), plain, n=1)
    return plain[near[0]] if near else None


def name_places(table: FileTable, place: Sequence[str]) -> list[str]:
    """Find the columns that say where rows are; the order of the rows is none."""
    order = {ORDER} - set(table.names)
    return named_columns(table, [name for name in place if name not in order], "place")


def read_places(
    table: FileTable, place: Sequence[str], rules: ReadingRules
) -> dict[str, np.ndarray] | None:
    """Read where rows are, by column: numbers or times, NaN or NaT where missing; None: not told.

    `ORDER` numbers the rows.
    """
    from pckid.series.times import as_dates  # Other tables do without, and without scikit-learn.

    names = name_places(table, place)
    rules = rules._replace(kept=rules.kept.union(names))
    readings, columns = read_columns(table, names, rules, always=names)
    found = dict(zip(columns.readings, columns.X.T, strict=True))
    for name, reading in readings.items():
        if name in columns.wrong or name in columns.counts or np.isnan(found[name]).all():
            raise OptionError(
                f"column '{brief(name)}' cannot say where rows are: it holds neither numbers nor "
                "dates that could be read.",
                "place",
            )
        if reading.kind == "date":
            found[name] = as_dates(found[name])
    if place and len(names) < len(place) and ORDER not in found:
        found[ORDER] = np.arange(table.data.num_rows, dtype=np.float64)
    return found or None


def read_weight_column(table: FileTable, name: str, missing: MissingTokens) -> np.ndarray:
    """Read the column of weights: a number from 0 on in every row."""
    rules = ReadingRules(missing, kept=frozenset([name]))
    _, columns = read_columns(table, [name], rules, always=[name], numeric=[name])
    found = columns.X[:, 0]
    bad = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
    where = "" if found.any() else "0 in all rows"
    if name in columns.wrong:
        where = f"'{brief(columns.wrong[name].example)}'"
    elif len(bad):
        what = "nothing" if np.isnan(found[bad[0]]) else f"{found[bad[0]]:g}"
        where = f"{what} in {name_row(table.parts, int(bad[0]) + 1)}"
    if where:
        raise OptionError(f"column '{brief(name)}' holds {where}. {_WEIGHTS}", "weights")
    return found


class ModelColumns(NamedTuple):
    """What a model knows of its columns."""

    names: tuple[str, ...]
    categories: Mapping[str, Sequence[Any]]  # of the columns of categories
    units: Mapping[str, str]  # what the numbers of columns were in, where they had a unit
    form: Any = None  # SeriesFormat: how the lines of its cases were read, if it has cases


def use_known_columns(
    table: FileTable, options: ColumnOptions, known: ModelColumns
) -> tuple[FileTable, ColumnOptions]:
    """Use the columns of a model, whatever the options say.

    Raises if the table lacks some, unless these are to be missing in all rows; or if it lacks all.
    """
    lines, here = options.lines, set(table.names)
    needed = (lines.case, lines.time, lines.variable) if lines else ()
    absent = [name for name in known.names if name not in here]
    if options.missing_columns and len(absent) < len(known.names):
        table = table.with_empty(absent)
    _refuse_absent(table, known.names, [name for name in needed if name])
    categorical = tuple(known.categories)
    return table, replace(options, columns=known.names, drop=(), categorical=categorical)


def match_known_categories(columns: Columns, known: ModelColumns) -> tuple[Columns, list[Fact]]:
    """Write categories as a model knows them; say which were written otherwise, or are unknown."""
    texts, counts, facts = dict(columns.texts), columns.counts, []
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

    Texts match a category that is the same number, or the same but for capitals and blanks; one
    that several match is none of them.
    """
    exact = set(map(str, known))

    def plain(text: str) -> str:
        letters = "".join(text.casefold().split())
        with suppress(ValueError):
            return f"{float(letters):g}"
        return letters

    n_alike = Counter(map(plain, exact))
    categories = {plain(category): category for category in exact if n_alike[plain(category)] == 1}
    others = {text: categories.get(plain(text)) for text in texts if text not in exact}
    return {text: category for text, category in others.items() if category is not None}


def _refuse_absent(table: FileTable, used: Sequence[str], needed: Sequence[str]) -> None:
    """Raise if a table lacks columns of a model, with those that may be meant.

    Those `needed` tell which lines are of one case; those `used` may be empty.
    """
    here, names = set(table.names), [*used, *needed]
    absent = [name for name in names if name not in here]
    if not absent:
        return
    others = [name for name in table.names if name not in set(names)]
    pairs = [(name, near) for name in absent if (near := _nearest_name(name, others))]
    if len(absent) == len(names) > 1 and not pairs:
        raise TableError(
            f"{table.source} has none of the model's {len(names)} columns, such as "
            f"'{brief(absent[0])}': it is another table, or its columns have other names. Give "
            "rows with the columns of the table that the model was fitted on."
        )
    many = f"{len(absent)} of the model's {len(names)} columns:"
    listed = list_first([f"'{brief(name)}'" for name in absent])
    them, their = ("it", "its") if len(absent) == 1 else ("them", "their")
    vital = not set(needed) <= here
    what = f"Add {them}{'' if vital else f'; {their} cells may be empty'}."
    if pairs:
        meant = ", ".join(f"'{brief(near)}' for '{brief(name)}'" for name, near in pairs[:5])
        more = "" if vital else f", or add {them} with empty cells"
        what = f"Did you mean {meant}? Rename {them}{more}."
    raise TableError(
        f"{table.source} lacks {many if len(names) > 1 else 'the only column of the model,'} "
        f"{listed}. {what}",
        *([Fix("missing_columns", True)] if len(absent) < len(names) and not vital else []),
    )
