"""Tables too large to be read whole, as data sets: their columns are what the schema says."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet

from pckid._utils.text import brief, join_words
from pckid.blocks.datasets import DatasetRows, holds_numbers, holds_texts
from pckid.exceptions import OptionError, TableError
from pckid.frontends.options import ColumnOptions, Fix, ReadOptions
from pckid.frontends.preparing import prepare, prepare_once
from pckid.frontends.tables.binary import ARROW, PARQUET, find_files
from pckid.frontends.tables.choosing import check_tokens, choose_columns
from pckid.frontends.tables.findings import Fact, advice
from pckid.frontends.tables.kinds import Reading, ReadingRules
from pckid.frontends.tables.numbers import (
    MISSING_TOKENS,
    MissingTokens,
    as_number,
    split_token,
)
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.tables.sources import Source
from pckid.frontends.tables.table import FileTable, Part

# A text is held as texts and as numbers; of a table in memory a fit makes as much again.
_GROWTH = {"csv": 2.5, "parquet": 1.0, "ipc": 1.0}
_SHARE = 1 / 4
_SAMPLE, _SAMPLE_ROWS = 1 << 22, 100_000
# What a table in memory can be read by, and a data set cannot.
_NOT_HERE = ("categorical", "numbers", "dates", "limits", "weights", "lines", "ignore_case")
_NOR = ("sheet", "skip_below", "skip_last", "drop_rows", "fallback_encoding")
_INSTEAD = (
    "Write it as Parquet with columns of numbers and of texts, or cluster a sample of its rows and "
    "place the others with `pckid predict`."
)


def find_format(path: str) -> str | None:
    """Find the format by which a file or folder can be a data set; None: it is only read whole."""
    if path == "-" or not os.path.exists(path) or Path(path).is_fifo():
        return None
    if os.path.isdir(path):
        return "parquet"
    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(PARQUET):
        return "parquet"
    if start.startswith(ARROW[0]):
        return "ipc"
    is_text = Path(path).suffix.lower() in (".csv", ".tsv", ".txt", ".tab")
    return "csv" if is_text and Source(path).unpacker is None else None


def is_large(path: str) -> bool:
    """Return whether a table would take more than a quarter of the memory if it were read whole."""
    kind = find_format(path)
    if kind is None:
        return False
    files = find_files(path) if os.path.isdir(path) else [path]
    n_bytes = sum(map(os.path.getsize, files))
    try:
        most = _SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return False  # Nothing is known of this machine's memory.
    if kind == "parquet" and n_bytes * 20 > most:  # Else the footers need not be read.
        n_bytes = sum(map(_unpacked, files))
    return _GROWTH[kind] * n_bytes > most


def _unpacked(path: str) -> int:
    try:
        told = pyarrow.parquet.read_metadata(path)
    except (pa.ArrowException, OSError):
        return 0  # Whoever reads it says what is wrong.
    groups = [told.row_group(group) for group in range(told.num_row_groups)]
    return sum(max(g.total_byte_size, 8 * g.num_rows * told.num_columns) for g in groups)


def open_dataset(
    path: str, reading: ReadOptions, options: ColumnOptions
) -> tuple[Prepared, DatasetRows]:
    """Open a file or folder as a data set, and choose its columns.

    Advice that can be taken is on codes for missing, by the rows of a sample.
    """
    asked = [key for key in _NOT_HERE if getattr(options, key)]
    asked += [key for key in _NOR if getattr(reading, key)]
    if asked:
        raise OptionError(f"{path} is read in batches, where this cannot be chosen.", asked[0])
    kind = find_format(path)
    if kind is None:
        raise TableError(
            f"{path!r} cannot be read in batches, as Parquet, Arrow and uncompressed CSV can."
        )
    try:
        if kind == "csv":
            opened = _open_text(path, reading, options)
        else:
            opened = ds.dataset(find_files(path) if os.path.isdir(path) else path, format=kind)
        prepared, rows = _choose(path, opened, reading, options)
        advised = _find_codes(prepared.table, rows) if options.take_advice else []
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"{path}: {brief(str(error).splitlines()[0], 200)}. {_INSTEAD}") from None
    if not advised:
        return prepared, rows
    prepared, rows = open_dataset(path, reading, options.with_fixes(advised))
    taken = Fact("advice_taken", {"fixes": advised})
    return replace(prepared, notes=(taken, *prepared.notes)), rows


def _find_codes(table: FileTable, rows: DatasetRows) -> list[Fix]:
    """List what would take numbers as missing that look like codes for that, by some rows."""
    X = rows.survey(0, _SAMPLE_ROWS).rows
    numbers = {name: X[:, j] for j, name in enumerate(rows.columns) if j not in rows.categories}
    found = prepare(replace(table, data=pa.table(numbers))).problems if numbers else ()
    return [fix for fix in advice(found) if fix.option == "na_values"]


def _open_text(path: str, reading: ReadOptions, options: ColumnOptions) -> Any:
    """Open a text file whose columns are plain, as its first rows show."""
    first = b"".join(islice(Source(path).pieces(_SAMPLE), 1))
    head = Source(path, stored=first[: first.rfind(b"\n") + 1] or first)
    # A content that is to mean missing may stand further below.
    found = prepare_once(open_table(head, reading), options)
    kind, kinds = found.table.text, {n: r.kind for n, r in found.readings.items()}
    odd = [n for n, r in found.readings.items() if r.kind == "number" and not r.is_plain]
    odd += [problem.column for problem in found.problems if problem.stops]
    if odd or kind is None:
        named = join_words([f"'{brief(name)}'" for name in dict.fromkeys(odd)], 5)
        is_plain = "is not plain" if len(set(odd)) == 1 else "are not plain"
        raise TableError(f"{path} cannot be read in batches: {named} {is_plain}. {_INSTEAD}")
    types = {
        n: pa.float64() if kinds.get(n) == "number" else pa.string() for n in found.table.names
    }
    missing = found.rules.missing.texts
    usual = [token for token in MISSING_TOKENS if token.lower() in missing]
    # Codes of one column that are numbers are looked for among its numbers.
    given = [split_token(token, found.table.names) for token in options.na_values]
    words = {text for name, text in given if not name or np.isnan(as_number(text))}
    spelled = sorted({*missing, *map(str.upper, missing), *usual, *words})
    form = ds.CsvFileFormat(
        pyarrow.csv.ParseOptions(delimiter=kind.delimiter, newlines_in_values=False),
        read_options=pyarrow.csv.ReadOptions(
            column_names=found.table.names, encoding=kind.encoding,
            skip_rows=kind.n_above + reading.header,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types, null_values=spelled, decimal_point=kind.decimal,
        ),
    )  # fmt: skip
    schema = pa.schema([(name, types[name]) for name in found.table.names])
    return ds.dataset(path, schema=schema, format=form)


def _choose(
    path: str, opened: Any, reading: ReadOptions, options: ColumnOptions
) -> tuple[Prepared, DatasetRows]:
    """Choose columns by the options and the schema: all that hold numbers or texts."""
    schema = opened.schema
    files = find_files(path) if os.path.isdir(path) else [path]
    parts = tuple(Part(Source(file), 0, ()) for file in files)
    table = FileTable(schema.empty_table(), None, parts, path, reading=reading)
    names, left_out = choose_columns(table, options)
    types = {name: schema.field(name).type for name in names}
    used = [name for name in names if holds_numbers(types[name]) or holds_texts(types[name])]
    left_out |= {name: "date" for name in names if name not in used}
    if not used:
        raise OptionError("No column is left to cluster.", "columns", "drop")
    check_tokens(schema.names, options.na_values, options.not_missing)
    tokens = MissingTokens.with_defaults(options.na_values, options.not_missing, schema.names)
    missing = {name: list(tokens.of(name).among_texts.texts) for name in schema.names}
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
