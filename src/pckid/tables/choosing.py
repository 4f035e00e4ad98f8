"""What options say about columns: which are used, how they are written, and what they weigh."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import numpy as np

from pckid._utils.text import brief
from pckid.exceptions import OptionError
from pckid.tables.categories import read_columns
from pckid.tables.findings import Fact
from pckid.tables.formats import FORMATS
from pckid.tables.kinds import DATE_CHOICES, ReadingRules, expect_numbers, find_readings
from pckid.tables.numbers import MissingTokens, holds_token, split_token
from pckid.tables.options import ColumnOptions
from pckid.tables.scanning import OpenTable
from pckid.tables.table import name_row

_WEIGHTS = "Weights are numbers from 0 on; 0 is for rows that should not count."


def find_unmatched(table: OpenTable, options: ColumnOptions) -> Iterator[Fact]:
    """List contents that are to mean missing and are those of no cell.

    One for a column that lacks it, or for no column of the table, such as "age=-9", is an error.
    """
    waiting = {token: split_token(token, table.names) for token in options.na_values}
    for batch in table.batches(table.names) if waiting else ():
        for token, (name, text) in list(waiting.items()):
            searched = [name] if name else table.names
            if any(holds_token(batch, each, text) for each in searched):
                del waiting[token]
        if not waiting:
            return
    for token, (name, text) in waiting.items():
        absent = token.rpartition("=")[0]
        if absent and not name:
            raise OptionError(_no_such_column(absent, table.names), "na_values")
        if name:
            raise OptionError(
                f"no cell of column '{brief(name)}' is '{brief(text)}', which was to mean missing.",
                "na_values",
            )
        yield Fact("code_unmatched", {"text": text})


def read_rules(table: OpenTable, options: ColumnOptions) -> ReadingRules:
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
        frozenset(_named_columns(table, options.categorical, "categorical")),
        frozenset([*_named_columns(table, options.columns, "columns"), *options.times]),
    )


def _parse_by_column(
    table: OpenTable, values: Sequence[str], choices: Sequence[str], option: str
) -> dict[str, str]:
    """Read texts such as "1.234,56" for all columns or "visit=use" for one; the last one holds."""
    found: dict[str, str] = {}
    for value in values:
        name, _, choice = value.rpartition("=")
        if choice not in choices:
            raise OptionError(
                f"{choice!r} is none of {', '.join(choices)}. Give one of them for all columns, or "
                "NAME=ONE for a column.",
                option,
            )
        if name and name not in table.names:
            raise OptionError(_no_such_column(name, table.names), option)
        found[name] = choice
    return found


def choose_columns(table: OpenTable, options: ColumnOptions) -> tuple[list[str], dict[str, str]]:
    """Choose the columns to cluster; say why the others are left out."""
    of_lines = ("case", "time", "variable") if options.lines else ()
    aside = {key: getattr(options.lines, key) for key in of_lines}
    aside |= {key: getattr(options, key) for key in ("row_names", "labels", "known", "weights")}
    for key, name in aside.items():
        if name is not None:
            _named_columns(table, [name], key, split=False)
    if options.known is not None and options.known == options.labels:
        raise OptionError(
            f"column '{brief(options.known)}' is to be known for the fit and compared with its "
            "result: they agree in any case. Name another column, or one of the two options.",
            "known",
            "labels",
        )
    dropped = _named_columns(table, options.drop, "drop")
    wanted = _named_columns(table, options.columns, "columns") or table.names
    chosen = set(wanted)
    left_out = dict.fromkeys(dropped, "choice")
    left_out |= {name: "not chosen" for name in table.names if name not in chosen}
    left_out |= {name: key for key, name in aside.items() if name}
    names = [name for name in wanted if name not in left_out]
    if not names:
        raise OptionError("No column is left to cluster.", "columns", "drop")
    return names, left_out


def _named_columns(
    table: OpenTable, values: Sequence[str], option: str, split: bool = True
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


def _no_such_column(name: str, names: list[str]) -> str:
    """Say that a column does not exist, and which comes close."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = (
        f"Did you mean '{brief(near[0])}'?"
        if near
        else "The columns are: " + ", ".join(brief(other) for other in names[:12])
    )
    return f"the table has no column '{brief(name)}'. {hint}"


def read_weight_column(
    table: OpenTable, name: str | None, missing: MissingTokens
) -> np.ndarray | None:
    """Read the column of weights: a number from 0 on in every row."""
    if name is None:
        return None
    if table.whole is None:
        raise OptionError("weights need the table in memory.", "weights")
    rules = ReadingRules(missing, kept=frozenset([name]))
    reading = expect_numbers(find_readings(table.whole, [name], rules)[name], name, rules)
    columns = read_columns(table.whole, [name], rules, {name: reading})
    found = columns.X[:, 0]
    bad = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
    where = "" if found.any() else "0 in all rows"
    if name in columns.wrong:
        where = f"'{brief(columns.wrong[name].example)}'"
    elif len(bad):
        what = "nothing" if np.isnan(found[bad[0]]) else f"{found[bad[0]]:g}"
        where = f"{what} in {name_row(table.whole.parts, int(bad[0]) + 1)}"
    if where:
        raise OptionError(f"column '{brief(name)}' holds {where}. {_WEIGHTS}", "weights")
    return found
