"""Where results go: paths that may be written, and rows as they come."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from pckid._utils.files import atomic_file, check_target
from pckid.runs import Clustering
from pckid.streaming import Layout
from pckid.tables.workbook_writing import Sheets
from pckid.tables.writing import TableWriter, table_format


def check_outputs(sources: Sequence[str], *paths: str | None) -> None:
    """Refuse outputs that would overwrite an input or each other, or that cannot be written."""
    targets = [path for path in paths if path]
    for path in targets:
        try:
            check_target(path, [source for source in sources if source != "-"])
        except OSError as error:
            raise click.UsageError(error.strerror or str(error)) from None
        is_there, is_file = os.path.exists(path), os.path.isfile(path)
        folder = os.path.dirname(os.path.abspath(path))
        folder_open = (is_there and not is_file) or os.access(folder, os.W_OK | os.X_OK)
        if not folder_open or (is_there and not os.access(path, os.W_OK)):
            raise click.UsageError(f"{path!r} cannot be written: permission denied.")
    if len({os.path.realpath(path) for path in targets}) < len(targets):
        raise click.UsageError("Two outputs have the same name. Give each its own.")
    for source in sources:
        if source != "-" and os.path.isfile(source) and _is_stdout(source):
            raise click.UsageError(
                f"Standard output is {source!r}, the input. Write somewhere else."
            )


def _is_stdout(path: str) -> bool:
    """Whether standard output has been sent to this very file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


@contextmanager
def open_writer(
    out: str | None,
    origin: str | None = None,
    *,
    escape_formulas: bool = False,
    sheets: Sheets | None = None,
    to_stdout: bool = True,
) -> Iterator[TableWriter]:
    """Open where rows go: a file that appears when it is complete, or standard output."""
    how: dict[str, Any] = {"escape_formulas": escape_formulas, "origin": origin}
    if out is None and not to_stdout:
        with open(os.devnull, "wb") as nowhere, TableWriter(nowhere) as writer:
            yield writer
    elif out in (None, "-"):
        with TableWriter(sys.stdout.buffer, **how) as writer:
            yield writer
        sys.stdout.buffer.flush()
    else:
        kind, codec = table_format(out)
        with (
            atomic_file(out) as file,
            TableWriter(file, kind=kind, codec=codec, sheets=sheets, **how) as writer,
        ):
            yield writer


def write_lines(found: Clustering, out: str, escape_formulas: bool) -> None:
    """Write all lines of a table of cases, each with what was found for its case."""
    cases = found.prepared
    if cases.lines is not None:
        with open_writer(out, escape_formulas=escape_formulas) as writer:
            results = tuple(result[cases.series.rows] for result in found.results)
            lines = replace(found, prepared=cases.lines, results=results)
            lines.write(writer, Layout(cases.lines.table.own_names))
