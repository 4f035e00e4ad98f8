"""Tables too large to be read whole, as data sets: their columns are what the schema says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from pckid._utils.arrow import holds_numbers, holds_texts
from pckid._utils.text import brief, join_words
from pckid.blocks.datasets import DatasetRows
from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.batches import TextPlan, find_batched
from pckid.frontends.formats.findings import Doubt, Fact, advice
from pckid.frontends.formats.opening import open_table, refuse_options
from pckid.frontends.formats.registry import FORMATS, PARQUET
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import FileTable, Part
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.preparing import prepare_once
from pckid.frontends.questions.code_for_missing import CODE_FOR_MISSING
from pckid.frontends.questions.question import Seen
from pckid.frontends.tables.choosing import check_tokens, choose_columns, name_kinds
from pckid.frontends.tables.kinds import Reading, ReadingRules, read_columns
from pckid.frontends.tables.missing import MissingTokens, as_number, split_token
from pckid.frontends.tables.prepared import Prepared

_SAMPLE_ROWS = 100_000
# What a table in memory can be read by, and a data set cannot.
_NOT_HERE = (
    "categorical",
    "ordinal",
    "numbers",
    "dates",
    "limits",
    "weights",
    "place",
    "lines",
    "ignore_case",
)
_NOR = (
    "sheet",
    "transpose",
    "skip_below",
    "skip_last",
    "drop_rows",
    "visible_rows",
    "fallback_encoding",
)
_INSTEAD = (
    "Write it as Parquet with columns of numbers and of texts, or cluster a sample of its rows and "
    "place the others with `pckid predict`."
)


def open_dataset(
    path: str, reading: ReadOptions, options: ColumnOptions
) -> tuple[Prepared, DatasetRows]:
    """Open a file or folder as a data set, and choose its columns.

    Asked about are codes for missing, by the rows of a sample.
    """
    asked = [key for key in _NOT_HERE if getattr(options, key)]
    asked += [key for key in _NOR if getattr(reading, key)]
    if asked:
        raise OptionError(f"{path} is read in batches, where this cannot be chosen.", asked[0])
    form = find_batched(path)
    if form is None:
        known = join_words([each.title for each in FORMATS if not each.only_whole])
        raise TableError(f"{path!r} cannot be read in batches, as {known} can, uncompressed.")
    refuse_options(form, path, reading)
    try:
        opened = form.functions.open_rows(
            path, reading, partial(_plan_text, path, reading, options)
        )
        prepared, rows = _choose(path, opened, reading, options)
        some = rows.survey(0, _SAMPLE_ROWS).rows
        doubts, taken = _find_codes(prepared, rows, some), list[Fact]()
        while options.take_advice and (advised := advice(doubts)):
            taken.append(Fact("advice_taken", {"fixes": advised}))
            options = options.with_fixes(advised)
            prepared, rows = _choose(path, opened, reading, options)
            doubts = _find_codes(prepared, rows, some)
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"{path}: {brief(str(error).splitlines()[0], 200)}. {_INSTEAD}") from None
    doubts = [*prepared.doubts, *doubts]
    return replace(prepared, doubts=tuple(doubts), notes=(*taken, *prepared.notes)), rows


def _find_codes(prepared: Prepared, rows: DatasetRows, some: np.ndarray) -> list[Doubt]:
    """Ask about numbers that look like codes for missing, by some rows (n_some, n_columns)."""

    def codes_of(name: str) -> Sequence[float]:
        return rows.missing[name].numbers if name in rows.missing else ()

    numbers = {
        name: np.where(np.isin(some[:, j], codes_of(name)), np.nan, some[:, j])
        for j, name in enumerate(rows.columns)
        if j not in rows.categories
    }
    if not numbers:
        return []
    table = replace(prepared.table, data=pa.table(numbers))
    rules = prepared.rules._replace(kept=frozenset(numbers))
    _, columns = read_columns(table, [*numbers], rules)
    return [*CODE_FOR_MISSING.find(Seen(table, columns, rules, options=prepared.options))]


def _plan_text(path: str, reading: ReadOptions, options: ColumnOptions, head: Source) -> TextPlan:
    """Plan how the columns of a text are read, which must be plain, by its first rows."""
    # A content that is to mean missing may stand further below.
    found = prepare_once(open_table(head, reading), options)
    kind, kinds = found.table.text, {n: r.kind for n, r in found.readings.items()}
    odd = [n for n, r in found.readings.items() if r.kind == "number" and not r.is_plain]
    # Codes for missing are asked about by rows of the whole text.
    stops = (each for each in found.doubts if each.stops and each.code != CODE_FOR_MISSING.code)
    odd += [doubt.column for doubt in stops]
    if odd or kind is None:
        named = join_words([f"'{brief(name)}'" for name in dict.fromkeys(odd)], 5)
        is_plain = "is not plain" if len(set(odd)) == 1 else "are not plain"
        raise TableError(f"{path} cannot be read in batches: {named} {is_plain}. {_INSTEAD}")
    types = {
        n: pa.float64() if kinds.get(n) == "number" else pa.string() for n in found.table.names
    }
    missing = found.rules.missing
    # Codes of one column that are numbers are looked for among its numbers.
    given = [split_token(token, found.table.names) for token in options.na_values]
    words = {text for name, text in given if not name or np.isnan(as_number(text))}
    return TextPlan(
        kind, types, sorted({*missing.spellings, *map(str.upper, missing.texts), *words})
    )


def _choose(
    path: str, opened: Any, reading: ReadOptions, options: ColumnOptions
) -> tuple[Prepared, DatasetRows]:
    """Choose columns by the options and the schema: all that hold numbers or texts."""
    schema = opened.schema
    files = PARQUET.functions.find_files(path) if os.path.isdir(path) else [path]
    parts = tuple(Part(Source(file), 0, ()) for file in files)
    table = FileTable(schema.empty_table(), None, parts, path, reading=reading)
    names, left_out = choose_columns(table, options)
    options = name_kinds(table, options)
    types = {name: schema.field(name).type for name in names}
    used = [name for name in names if holds_numbers(types[name]) or holds_texts(types[name])]
    left_out |= {name: "date" for name in names if name not in used}
    if not used:
        raise OptionError("No column is left to cluster.", "columns", "drop")
    check_tokens(schema.names, options.na_values, options.not_missing)
    tokens = MissingTokens.with_defaults(options.na_values, options.not_missing, schema.names)
    missing = {name: tokens.of(name).in_datasets for name in schema.names}
    try:
        rows = DatasetRows(opened, options.known, columns=used, missing=missing)
    except ValueError as error:
        raise TableError(f"{path}: {error}") from None
    readings = {n: Reading("category" if n in rows.counts else "number") for n in used}
    prepared = Prepared(
        table, options, tuple(used), left_out, readings, ReadingRules(tokens), options.row_names,
        np.empty((0, len(used))), {}, rows.counts,
    )  # fmt: skip
    return prepared, rows
