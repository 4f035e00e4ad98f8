"""Where results go: paths that may be written, and rows as they come."""

import errno
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import click

from pckid._utils.files import check_target
from pckid.frontends.formats.registry import FORMATS, find_output
from pckid.frontends.formats.writing import TableWriter, check_output, open_output
from pckid.frontends.results import Layout, Totals, tabulate_cells
from pckid.frontends.run import Clustering


def check_outputs(
    sources: Sequence[str],
    tables: Sequence[str | None],
    *others: str | None,
    table: str = "clusters",
) -> None:
    """Refuse outputs that would overwrite an input or each other, or that cannot be written."""
    files = [path for path in tables if path and path != "-"]
    check_paths(sources, [*files, *others])
    for path in files:
        check_output(path, table=table)


def check_paths(sources: Sequence[str], outputs: Sequence[str | None]) -> None:
    """Refuse files that would overwrite an input or each other, or that cannot be written."""
    targets = [path for path in outputs if path]
    for path in targets:
        try:
            read = [source for source in sources if source != "-"]
            check_target(path, [] if _is_added_to(path) else read)
            if os.path.exists(path) and not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, "Permission denied", path)
        except OSError as error:
            told = error.strerror or str(error)
            if error.filename is not None:
                told = f"{path!r} cannot be written: {told.lower()}."
            raise click.UsageError(told) from None
    if len({os.path.realpath(path) for path in targets}) < len(targets):
        raise click.UsageError("Two outputs have the same name. Give each its own.")
    for path in filter(os.path.isfile, targets if "-" in sources else ()):
        if _is_stream(path, sys.stdin):
            raise click.UsageError(f"Standard input is {path!r}. Give the output another name.")
    for source in sources:
        if source != "-" and os.path.isfile(source) and _is_stream(source, sys.stdout):
            raise click.UsageError(
                f"Standard output is {source!r}, the input. Write somewhere else."
            )


def check_report(path: str) -> None:
    """Refuse a report that is no HTML, or that lacks what it needs, before the work."""
    if not path.lower().endswith((".html", ".htm")):
        told = f"a report is HTML: end {path!r} in .html."
        raise click.BadParameter(told, param_hint="'--report'")
    import jinja2  # noqa: F401


def _is_added_to(path: str) -> bool:
    """Whether an output is a database, which gets a new table and may be the input."""
    return any(path.lower().endswith(form.written) for form in FORMATS if form.is_added_to)


def _is_stream(path: str, stream: Any) -> bool:
    """Whether standard input or output is this very file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(stream.fileno()))
    except (OSError, ValueError):
        return False


@contextmanager
def open_writer(
    out: str | None,
    found: Clustering | None = None,
    *,
    escape_formulas: bool = False,
    to_stdout: bool = True,
    table: str = "clusters",
) -> Iterator[TableWriter]:
    """Open where rows go: a file that appears when it is complete, or standard output.

    A file that has a place for it holds what made the rows, as `found`, and a workbook the profiles
    of their clusters.
    """
    how: dict[str, Any] = {"escape_formulas": escape_formulas}
    if out is None and not to_stdout:
        with open(os.devnull, "wb") as nowhere, TableWriter(nowhere) as writer:
            yield writer
    elif out in (None, "-"):
        with TableWriter(sys.stdout.buffer, **how) as writer:
            yield writer
        sys.stdout.buffer.flush()
    else:
        form, *_ = find_output(str(out))
        if found and form.keeps_origin:
            how["origin"] = json.dumps(found.origin)
        if found and form.choice == "sheet" and not found.is_new:
            how["sheets"] = found.profile_sheets()
        with open_output(str(out), table=table, **how) as writer:
            yield writer


def write_rows(found: Clustering, layout: Layout, given: SimpleNamespace) -> Totals:
    """Write all rows with their clusters, and the lines of cases if asked to, by the options."""
    how = {"escape_formulas": given.escape_formulas, "to_stdout": not given.as_json}
    with open_writer(given.out, found, **how, table=given.out_table) as writer:
        totals = found.write(writer, layout)
    cases = found.prepared
    if given.out_long and cases.lines is not None:
        with open_writer(given.out_long, escape_formulas=given.escape_formulas) as writer:
            results = tuple(result[cases.series.rows] for result in found.results)
            lines = replace(found, prepared=cases.lines, results=results)
            lines.write(writer, Layout(cases.lines.table.own_names))
    return totals


def write_cells(
    found: Clustering,
    records: Sequence[dict[str, Any]],
    fields: Sequence[str],
    path: str,
    given: SimpleNamespace,
) -> None:
    """Write what was found of single cells as a table; rows count from 1, named by --id."""
    with open_writer(path, escape_formulas=given.escape_formulas) as writer:
        writer.write(tabulate_cells(records, fields, found.prepared.ids), {})
