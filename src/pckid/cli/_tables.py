"""From a table and the columns asked for to a matrix, and from results to files."""

import difflib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import click
import numpy as np

from pckid._utils.files import atomic_file
from pckid._utils.text import brief, counted
from pckid.cli._say import note
from pckid.exceptions import TableError
from pckid.input.sentinels import find_sentinels
from pckid.inspection.columns import find_outlier, looks_like_identifier
from pckid.tables import (
    MissingTokens,
    Scan,
    Source,
    Table,
    read_columns,
    read_whole,
    row_numbers,
    scan_table,
    table_format,
    write_table,
)

RESULT_COLUMNS = ("cluster", "confidence")


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
    """

    table: Table
    names: list[str]
    X: np.ndarray
    ids: list[str] | None
    known: list[str] | None
    left_out: dict[str, str]
    texts: Mapping[str, list[str | None]] = MappingProxyType({})
    weights: np.ndarray | None = None


def open_scan(source: str | Source, options: Mapping[str, Any]) -> Scan:
    """Open a table as the reading options say."""
    limit = options.get("max_unpacked")
    scan = scan_table(
        source,
        delimiter=_delimiter(options),
        decimal=options.get("decimal"),
        encoding=options.get("encoding"),
        header=not options.get("no_header"),
        max_bytes=None if limit is None else int(limit * 2**30),
    )
    if scan.header_is_numbers:
        note("The first row holds only numbers and is taken for names; --no-header if it is data.")
    return scan


def open_table(source: str | Source, options: Mapping[str, Any]) -> Table:
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


def select(table: Table, options: Mapping[str, Any], *, guess: bool = True) -> Selection:
    """Choose the columns to cluster and read their numbers, and texts as categories.

    Without `guess`, only the columns named in the option "categorical" hold categories.
    """
    names, left_out = choose(table, options)
    missing = MissingTokens.with_defaults(options.get("na_values") or ())
    declared = _find(table, options.get("categorical") or (), "--categorical")
    X, texts = read_columns(table, names, missing, declared, guess=guess)
    ids, known = (_texts(table, options.get(key)) for key in ("id_column", "label_column"))
    weights = _weights(table, options.get("weights_column"), missing)
    return Selection(table, names, X, ids, known, left_out, texts, weights)


def _weights(table: Table, name: str | None, missing: MissingTokens) -> np.ndarray | None:
    """Read the column of weights: a number from 0 on in every row."""
    if name is None:
        return None
    try:
        values, _ = read_columns(table, [name], missing, [], guess=False)
    except TableError as error:
        # What helps against text in a column to cluster by does not help here.
        what, *_ = str(error).splitlines()
        raise TableError(f"{what}\nWeights are numbers from 0 on. Check --weights.") from None
    found = values[:, 0]
    bad = np.flatnonzero(~(found >= 0))
    if len(bad) or not found.any():
        where = "holds 0 in all rows"
        if len(bad):
            what = "nothing" if np.isnan(found[bad[0]]) else f"{found[bad[0]]:g}"
            where = f"holds {what} in row {bad[0] + 1}"
        raise click.BadParameter(
            f"column '{brief(name)}' {where}. Weights are numbers from 0 on; 0 is for rows that "
            "should not count.",
            param_hint="--weights",
        )
    return found


def choose(table: Table | Scan, options: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Choose the columns to cluster; say why the others are left out."""
    named = {key: options.get(key) for key in ("id_column", "label_column", "weights_column")}
    for key, name in named.items():
        if name is not None:
            _find(table, [name], f"--{key.removesuffix('_column')}")
    dropped = _find(table, options.get("drop") or (), "--drop")
    every = table.names
    wanted = _find(table, options.get("columns") or (), "--columns") or every
    left_out = dict.fromkeys(dropped, "left out by --drop")
    left_out |= {name: "names the rows" for name in [named["id_column"]] if name}
    left_out |= {name: "known groups" for name in [named["label_column"]] if name}
    weights = "weights of the rows; the figures here count every row once"
    left_out |= {name: weights for name in [named["weights_column"]] if name}
    names = [name for name in wanted if name not in left_out]
    chosen = set(wanted)
    left_out |= {name: "not among --columns" for name in every if name not in chosen}
    if not names:
        raise click.UsageError("No column is left to cluster. Check --columns and --drop.")
    _refuse_old_results(names)
    return names, left_out


def _find(table: Table | Scan, values: Sequence[str], option: str) -> list[str]:
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


def _texts(table: Table, name: str | None) -> list[str] | None:
    """Read a column as text; a missing cell is empty."""
    if name is None:
        return None
    return ["" if cell is None else str(cell) for cell in table.data.column(name).to_pylist()]


def point_out(selection: Selection) -> None:
    """Say what looks wrong in the columns chosen."""
    for name, values in zip(selection.names, selection.X.T, strict=True):
        if name in selection.texts:
            continue
        for sentinel in find_sentinels(values):
            code = f"{sentinel.value:g}"
            note(
                f"Column '{brief(name)}' holds {code} in {counted(sentinel.n_cells, 'row')}, far "
                f"from its other values. If that means missing, add --na-values {code}"
            )
        outlier = find_outlier(values)
        if outlier is not None and not find_sentinels(values):
            note(
                f"Column '{brief(name)}' holds {outlier:g}, so far from its other values that "
                "these look all alike. If it is a mistake, mend it or leave the cell empty."
            )
        if looks_like_identifier(values):
            note(
                f"Column '{brief(name)}' names the rows rather than describing them. "
                "Leave it out: --drop or --id."
            )


def _name_replaced(selection: Selection, new: Mapping[str, np.ndarray]) -> None:
    """Say which columns of the table give way to the result, unless --drop agreed to it."""
    for name in new:
        if selection.left_out.get(name, "left out by --drop") != "left out by --drop":
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


def without_columns(selection: Selection, id_column: str | None) -> Selection:
    """Leave all columns out of what is written, but for the names or numbers of the rows."""
    table = selection.table
    ids = table.data.select([id_column]) if id_column else row_numbers(0, table.data.num_rows).data
    return selection._replace(table=table._replace(data=ids))


def write_result(
    selection: Selection,
    new: Mapping[str, np.ndarray],
    out: str | None,
    escape_formulas: bool,
    origin: Mapping[str, Any] | None = None,
) -> None:
    """Write the rows with their new columns to a file, or to standard output as CSV."""
    _name_replaced(selection, new)
    if out is None or out == "-":
        write_table(sys.stdout.buffer, selection.table, new, escape_formulas=escape_formulas)
        sys.stdout.buffer.flush()
        return
    kind, codec = table_format(out)
    numbers = dict(zip(selection.names, selection.X.T, strict=True))
    used = set(numbers) - set(selection.texts)
    numbers = {name: numbers[name] for name in selection.table.names if name in used}
    with atomic_file(out) as file:
        write_table(
            file, selection.table, new, kind=kind, codec=codec,
            numbers=numbers if selection.table.text else None, escape_formulas=escape_formulas,
            origin=json.dumps(origin) if origin else None,
        )  # fmt: skip
