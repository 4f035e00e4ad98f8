"""From a table and the columns asked for to a matrix, and from results to files."""

import difflib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import click
import numpy as np

from pckid._utils.files import atomic_file
from pckid._utils.text import brief
from pckid.cli._say import note, say
from pckid.exceptions import TableError
from pckid.inspection.notes import problem_lines, reading_notes, refuse_problems, take_advice
from pckid.inspection.problems import RESULT_COLUMNS, Problem, find_problems, is_used
from pckid.inspection.tables import choose_row_names
from pckid.tables import (
    FileTable,
    MissingTokens,
    Reading,
    ReadingRules,
    Scan,
    Sheets,
    Source,
    find_readings,
    numbers_in_text,
    parse_rules,
    read_columns,
    read_whole,
    refuse_unread,
    row_numbers,
    scan_table,
    table_format,
    write_table,
)
from pckid.tables.table import name_row

_BY_CHOICE = "left out by choice"


class Selection(NamedTuple):
    """The part of a table that is clustered, and what goes with it.

    Attributes
    ----------
    table : Table
    names : list of str
        The columns used.
    X : ndarray of shape (n_rows, len(names))
        Numbers; those of categories stand for texts.
    ids, known : list of str or None
        Names of the rows, and their known groups.
    left_out : dict of name to reason
    texts : dict of name to list of str or None
        The cells of the columns of categories.
    weights : ndarray of shape (n_rows,) or None
        How much each row counts.
    id_column : str or None
        The column that names the rows.
    readings : mapping of name to Reading
        How the columns were read.
    problems : list of Problem
        What is wrong or doubtful about them.
    """

    table: FileTable
    names: list[str]
    X: np.ndarray
    ids: list[str] | None
    known: list[str] | None
    left_out: dict[str, str]
    texts: Mapping[str, list[str | None]] = MappingProxyType({})
    weights: np.ndarray | None = None
    id_column: str | None = None
    readings: Mapping[str, Reading] = MappingProxyType({})
    problems: Sequence[Problem] = ()


class ColumnPlan(NamedTuple):
    """Which columns are clustered and how they are read, before they are.

    Attributes
    ----------
    names : list of str
    left_out : dict of name to reason
    missing : MissingTokens
    rules : ReadingRules
    readings : dict of name to Reading
        Those left out as names of rows or dates among them.
    id_column : str or None
        The column that names the rows.
    problems : sequence of Problem
        What is wrong or doubtful about the first rows, where these were looked at.
    """

    names: list[str]
    left_out: dict[str, str]
    missing: MissingTokens
    rules: ReadingRules
    readings: dict[str, Reading]
    id_column: str | None
    problems: Sequence[Problem] = ()


def open_scan(source: str | Source, options: Mapping[str, Any]) -> Scan:
    """Open a table as the reading options say."""
    limit = options.get("max_unpacked")
    scan = scan_table(
        source,
        delimiter=_delimiter(options),
        decimal=options.get("decimal"),
        encoding=options.get("encoding"),
        header=not options.get("no_header"),
        sheet=options.get("sheet"),
        skip_first=options.get("skip_first"),
        skip_last=options.get("skip_last") or 0,
        max_bytes=None if limit is None else int(limit * 2**30),
    )
    for line in scan.notes:
        note(line)
    if scan.header_is_numbers:
        note("The first row holds only numbers and is taken for names; --no-header if it is data.")
    return scan


def open_table(source: str | Source, options: Mapping[str, Any]) -> FileTable:
    """Read a table whole, as the reading options say."""
    return read_whole(open_scan(source, options))


def _delimiter(options: Mapping[str, Any]) -> str | None:
    """Read the sign between cells that the options name; None is to be found out."""
    delimiter = options.get("delimiter")
    if delimiter in ("tab", "\\t"):
        delimiter = "\t"
    if delimiter is not None and len(delimiter) != 1:
        raise click.BadParameter(f"{delimiter!r} is not one sign.", param_hint="--delimiter")
    if delimiter is not None and (not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise click.BadParameter(
            f"{delimiter!r} cannot separate cells. Give a sign of ASCII, no quote and no line end.",
            param_hint="--delimiter",
        )
    return delimiter


def select_columns(table: FileTable, options: Mapping[str, Any]) -> Selection:
    """Choose the columns to cluster and read their numbers, and texts as categories."""
    return read_selection(table, plan_columns(table, options), options)


def plan_columns(
    source: FileTable | Scan, options: Mapping[str, Any], *, guess: bool = True
) -> ColumnPlan:
    """Choose the columns to cluster, and find out how they are written.

    Without `guess`, only the columns named in the option "categorical" hold categories, and no
    column names the rows.
    """
    names, left_out = choose_columns(source, options)
    missing = MissingTokens.with_defaults(options.get("na_values") or ())
    rules = reading_rules(source, options)
    if not guess:
        rules = rules._replace(kept=frozenset(names))
    readings = find_readings(source, names, missing, rules)
    if all(readings[name].kind in ("row name", "free text") for name in names):
        rules = rules._replace(kept=frozenset(names))
        readings = find_readings(source, names, missing, rules)
    if not guess:
        readings = {
            name: _expect_numbers(reading, name, rules) for name, reading in readings.items()
        }
    used = []
    for name in names:
        if is_used(readings[name], rules, name):
            used.append(name)
        else:
            reasons = {"row name": "names the rows", "date": "dates", "duration": "durations"}
            left_out[name] = reasons.get(readings[name].kind, "free text")
    if not used:
        raise click.UsageError(
            "No column is left to cluster: all hold dates, free text or names of rows. Add "
            "--dates use."
        )
    row_names = options.get("id_column") or (choose_row_names(readings) if guess else None)
    return ColumnPlan(used, left_out, missing, rules, readings, row_names)


def _expect_numbers(reading: Reading, name: str, rules: ReadingRules) -> Reading:
    """Take a column of text that is not declared to be categories as numbers, to be refused."""
    if reading.kind == "category" and name not in rules.categorical:
        return Reading("text")
    return reading


def read_selection(table: FileTable, planned: ColumnPlan, options: Mapping[str, Any]) -> Selection:
    """Read the columns that were chosen."""
    found = read_columns(table, planned.names, planned.missing, planned.rules, planned.readings)
    problems = find_problems(found, planned.names, table, planned.rules)
    ids, known = (_texts(table, name) for name in (planned.id_column, options.get("label_column")))
    weights = _weights(table, options.get("weights_column"), planned.missing)
    return Selection(
        table, planned.names, found.X, ids, known, planned.left_out, found.texts, weights,
        planned.id_column, {**planned.readings, **found.readings}, problems,
    )  # fmt: skip


def reading_rules(table: FileTable | Scan, options: Mapping[str, Any]) -> ReadingRules:
    """Put together what the options say about how columns are written."""
    try:
        return parse_rules(
            table.names,
            numbers=options.get("numbers") or (),
            dates=options.get("dates") or (),
            decimal=options.get("decimal"),
            categorical=_named_columns(table, options.get("categorical") or (), "--categorical"),
            kept=_named_columns(table, options.get("columns") or (), "--columns"),
        )
    except ValueError as error:
        option, _, told = str(error).partition(": ")
        raise click.BadParameter(told, param_hint=f"--{option}") from None


def reading_of(
    options: Mapping[str, Any], names: Sequence[str], readings: Mapping[str, Reading]
) -> dict[str, list[str]]:
    """Say how the columns of a model were read, for its file."""
    kept = {"na_values": list(options.get("na_values") or ())}
    for key in ("numbers", "dates"):
        values = options.get(key) or ()
        kept[key] = [value for value in values if value.rpartition("=")[0] in ("", *names)]
    choices = {name: readings[name].choice for name in names}
    kept["units"] = [f"{name}={each.unit}" for name, each in choices.items() if each and each.unit]
    return kept


def _weights(table: FileTable, name: str | None, missing: MissingTokens) -> np.ndarray | None:
    """Read the column of weights: a number from 0 on in every row."""
    if name is None:
        return None
    try:
        rules = ReadingRules(kept=frozenset([name]))
        readings = find_readings(table, [name], missing, rules)
        readings = {name: _expect_numbers(readings[name], name, rules)}
        columns = read_columns(table, [name], missing, rules, readings)
        refuse_unread(columns, [name], table)
    except TableError as error:
        # What helps against text in a column to cluster by does not help here.
        what, *_ = str(error).splitlines()
        raise TableError(f"{what}\nWeights are numbers from 0 on. Check --weights.") from None
    found = columns.X[:, 0]
    bad = np.flatnonzero(~(found >= 0))
    if len(bad) or not found.any():
        where = "holds 0 in all rows"
        if len(bad):
            what = "nothing" if np.isnan(found[bad[0]]) else f"{found[bad[0]]:g}"
            where = f"holds {what} in {name_row(table.parts, int(bad[0]) + 1)}"
        raise click.BadParameter(
            f"column '{brief(name)}' {where}. Weights are numbers from 0 on; 0 is for rows that "
            "should not count.",
            param_hint="--weights",
        )
    return found


def choose_columns(
    table: FileTable | Scan, options: Mapping[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """Choose the columns to cluster; say why the others are left out."""
    named = {key: options.get(key) for key in ("id_column", "label_column", "weights_column")}
    for key, name in named.items():
        if name is not None:
            _named_columns(table, [name], f"--{key.removesuffix('_column')}")
    dropped = _named_columns(table, options.get("drop") or (), "--drop")
    if options.get("yes"):
        dropped += [name for name in RESULT_COLUMNS if name in table.names]
    every = table.names
    wanted = _named_columns(table, options.get("columns") or (), "--columns") or every
    left_out = dict.fromkeys(dropped, _BY_CHOICE)
    left_out |= {name: "names the rows" for name in [named["id_column"]] if name}
    left_out |= {name: "known groups" for name in [named["label_column"]] if name}
    weights = "weights of the rows; the figures here count every row once"
    left_out |= {name: weights for name in [named["weights_column"]] if name}
    names = [name for name in wanted if name not in left_out]
    chosen = set(wanted)
    left_out |= {name: "not among the columns chosen" for name in every if name not in chosen}
    if not names:
        raise click.UsageError("No column is left to cluster. Check --columns and --drop.")
    _refuse_old_results(names)
    return names, left_out


def _named_columns(table: FileTable | Scan, values: Sequence[str], option: str) -> list[str]:
    """Find the columns that an option names, alone or with commas between them."""
    found: list[str] = []
    known = set(table.names) if values else set()
    for value in values:
        parts = [value] if value in known else [part.strip() for part in value.split(",")]
        for part in filter(None, parts):
            if part not in known:
                raise click.BadParameter(_no_such_column(part, table.names), param_hint=option)
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


def _refuse_old_results(names: list[str]) -> None:
    """Refuse to cluster by the result of an earlier run."""
    old = [name for name in RESULT_COLUMNS if name in names]
    if old:
        raise click.UsageError(
            f"The table already has a column '{old[0]}', as an earlier result would. "
            f"Leave it out with --drop {','.join(old)}; the new result then takes its place."
        )


def _texts(table: FileTable, name: str | None) -> list[str] | None:
    """Read a column as text; a missing cell is empty."""
    if name is None:
        return None
    return ["" if cell is None else str(cell) for cell in table.data.column(name).to_pylist()]


def select_as_advised(table: FileTable, options: dict[str, Any]) -> Selection:
    """Choose columns and read them; with the option "yes", fix what is wrong as advised."""
    first = select_columns(table, options)
    return take_advice(table, first, options, lambda table: select_columns(table, options), say)[1]


def point_out(selection: Selection, yes: str = "--yes") -> None:
    """Say how columns were read, which were left out and what looks wrong; stop if it must be.

    The option `yes` would take all advice; "" where there is none.
    """
    for line in reading_notes(selection.left_out, selection.readings):
        note(line)
    refuse_problems(selection.table.source, selection.problems, yes)
    for line in problem_lines(selection.problems):
        note(line)


def _name_replaced(selection: Selection, new: Mapping[str, np.ndarray]) -> None:
    """Say which columns of the table give way to the result, unless --drop agreed to it."""
    for name in new:
        if selection.left_out.get(name, _BY_CHOICE) != _BY_CHOICE:
            note(f"The result takes the place of the table's own column '{name}'.")


def check_outputs(source: str, *paths: str | None) -> None:
    """Refuse outputs that would overwrite the input or each other, or that cannot be written."""
    targets = [path for path in paths if path]
    for path in targets:
        # Links are followed, as they are when the file is written.
        target = os.path.realpath(path)
        if os.path.islink(target):
            raise click.UsageError(f"{path!r} is a link to itself. Give the output another name.")
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise click.UsageError(f"There is no folder {folder!r} to write into.")
        if not _can_be_written(path):
            raise click.UsageError(f"{path!r} cannot be written: permission denied.")
        if source != "-" and os.path.exists(path) and os.path.samefile(path, source):
            raise click.UsageError(f"{path!r} is the input. Give the output another name.")
        if os.path.isdir(source) and os.path.samefile(folder, source):
            raise click.UsageError(f"{path!r} lies in the input. Write somewhere else.")
    if len({os.path.realpath(path) for path in targets}) < len(targets):
        raise click.UsageError("Two outputs have the same name. Give each its own.")
    if source != "-" and os.path.isfile(source) and _is_stdout(source):
        raise click.UsageError(f"Standard output is {source!r}, the input. Write somewhere else.")


def _can_be_written(path: str) -> bool:
    """Whether a file may be replaced, for which its folder must be open too, or a device used."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.access(target, os.W_OK):
        return False
    is_device = os.path.exists(target) and not os.path.isfile(target)
    return is_device or os.access(os.path.dirname(target), os.W_OK | os.X_OK)


def _is_stdout(path: str) -> bool:
    """Whether standard output has been sent to this very file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def without_columns(selection: Selection) -> Selection:
    """Leave all columns out of what is written, but for the names or numbers of the rows."""
    table, id_column = selection.table, selection.id_column
    ids = table.data.select([id_column]) if id_column else row_numbers(0, table.data.num_rows).data
    return selection._replace(table=table._replace(data=ids))


def write_result(
    selection: Selection,
    new: Mapping[str, np.ndarray],
    out: str | None,
    escape_formulas: bool,
    origin: Mapping[str, Any] | None = None,
    sheets: Sheets | None = None,
) -> None:
    """Write the rows with their new columns to a file, or to standard output as CSV."""
    _name_replaced(selection, new)
    if out is None or out == "-":
        write_table(sys.stdout.buffer, selection.table, new, escape_formulas=escape_formulas)
        sys.stdout.buffer.flush()
        return
    kind, codec = table_format(out)
    with atomic_file(out) as file:
        write_rows(file, selection, new, kind, codec, escape_formulas, origin, sheets)


def write_rows(
    file: BinaryIO,
    selection: Selection,
    new: Mapping[str, np.ndarray],
    kind: str,
    codec: str | None,
    escape_formulas: bool,
    origin: Mapping[str, Any] | None = None,
    sheets: Sheets | None = None,
) -> None:
    """Write the rows with their new columns, those clustered by as numbers where the format can."""
    numbers = dict(zip(selection.names, selection.X.T, strict=True))
    plain = set(numbers) - set(selection.texts)
    read = [name for name in selection.table.names if name in plain]
    written = numbers_in_text(selection.table, read, selection.readings)
    write_table(
        file, selection.table, new, kind=kind, codec=codec,
        numbers={name: numbers[name] for name in written}, escape_formulas=escape_formulas,
        origin=json.dumps(origin) if origin else None, sheets=sheets,
    )  # fmt: skip
