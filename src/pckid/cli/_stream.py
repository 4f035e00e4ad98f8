"""`pckid cluster` on a table that stays in its file."""

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click
import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.files import atomic_file
from pckid._utils.text import counted
from pckid.assessment import MAX_JUDGED, Assessment
from pckid.cli import _assessment, _cluster, _tables
from pckid.cli._say import is_quiet, note, print_json, progress_bar, say
from pckid.cluster import PCKID
from pckid.describe.rows import used_columns
from pckid.exceptions import NeedsWholeTable
from pckid.input.warnings import EmptyRowWarning
from pckid.inspection.notes import problem_lines, reading_notes, refuse_problems, take_advice
from pckid.inspection.problems import Problem, find_problems
from pckid.outofcore.files import FileRows, read_if_it_fits, read_if_small
from pckid.outofcore.rows import Survey
from pckid.outofcore.stored import StoredLabels
from pckid.streaming import Layout, Totals, file_rows, origin, write_labels
from pckid.tables import (
    Columns,
    FileTable,
    Scan,
    Sheets,
    TableWriter,
    read_columns,
    read_whole,
    table_format,
)
from pckid.tables.kinds import first_rows

# What needs the table whole, by the names of the options.
_ONLY_WHOLE = {
    "categorical": "categorical",
    "informative": "informative",
    "weights_column": "weights",
    "outliers": "outliers",
}


class Outputs(NamedTuple):
    """Where results go."""

    out: str | None
    model_path: str | None
    escape_formulas: bool
    as_json: bool
    wants_verdict: bool
    reading: Mapping[str, Any] = MappingProxyType({})  # how columns were read, kept with the model


class Streamed(NamedTuple):
    """What was found in a table that stays in its file."""

    n_clusters: int  # those that hold rows
    problems: list[Problem]


def open_large(
    source: str, options: Mapping[str, Any], report_path: str | None
) -> Scan | FileTable:
    """Open a table, and read it unless it is to be read in batches: if asked to, or if it is large.

    A report is about rows in memory.
    """
    asked = bool(options["stream"] or options["scheduler"] or options["resume"])
    if asked and report_path:
        given = next(key for key in ("stream", "scheduler", "resume") if options[key])
        raise click.UsageError(
            f"--report needs the table in memory, as it explains single rows: leave --{given} out."
        )
    is_pipe = source == "-" or Path(source).is_fifo()
    if asked and is_pipe:
        raise click.UsageError(
            f"{source!r} cannot be read in batches. Give a file or folder of Parquet, or CSV."
        )
    scan = _tables.open_scan(source, options)
    if asked:
        return scan
    if is_pipe or report_path or options["stream"] is False:
        return read_whole(scan)
    if any(options.get(key) for key in _ONLY_WHOLE):
        return read_if_it_fits(scan) or scan
    return read_if_small(scan) or scan


def _read_instead(scan: Scan, options: Mapping[str, Any]) -> FileTable | None:
    """Read a table whole that batches will not do for; None if that was forbidden or takes much."""
    return None if options["stream"] or options["scheduler"] else read_if_it_fits(scan)


def cluster_streamed(
    scan: Scan, n_clusters: int | str, options: dict[str, Any], outputs: Outputs
) -> Streamed | FileTable:
    """Cluster a table batch by batch, and write the result as it comes.

    Returns what was found; or the table, read whole and not yet clustered, if it holds categories
    and may be read whole.
    """
    for key, option in _ONLY_WHOLE.items():
        if options.get(key):
            raise click.UsageError(f"--{option} needs the table in memory: add --no-stream.")
    planned = _tables.plan_columns(scan, options)
    if any(planned.readings[name].kind == "category" for name in planned.names):
        whole = _read_instead(scan, options)
        if whole is not None:
            return whole
    try:
        return _cluster_batches(scan, planned, n_clusters, options, outputs)
    except NeedsWholeTable:
        whole = _read_instead(scan, options)
        if whole is None:
            raise
        return whole


def _cluster_batches(
    scan: Scan,
    planned: _tables.ColumnPlan,
    n_clusters: int | str,
    options: dict[str, Any],
    outputs: Outputs,
) -> Streamed:
    """Cluster the rows of a table that stays in its file."""
    scan, planned, extra = _choose_as_advised(scan, planned, options)
    many = f"{scan.n_rows:,} rows" if scan.n_rows else _write_size(scan.n_bytes)
    if scan.loaded is None:
        say(f"{scan.source} ({many}) is read in batches; it need not fit in memory.")
    estimator = _cluster.make_estimator(n_clusters, options)
    reading = _tables.reading_of(options, planned.names, planned.readings)
    outputs = outputs._replace(reading=reading)
    how = (planned.missing, options["scheduler"], planned.readings, planned.rules)
    with file_rows(scan, planned.names, *how) as rows:
        start = time.perf_counter()
        _fit(estimator, rows)
        seconds = time.perf_counter() - start
        assert rows.surveyed is not None
        sample = rows.surveyed.sample(MAX_JUDGED)
        labels = to_numpy(estimator.predict(_cluster.name_columns(rows.columns, sample)))
        assessment = None
        if outputs.wants_verdict:
            assessment = _assessment.assess_sample(estimator, sample, labels, options)
            _assessment.tell_verdict(assessment)
        problems = extra + _tell_fit(estimator, rows, planned, seconds)
        made_by = origin(estimator, scan.source, scan.sha256())
        start = time.perf_counter()
        dates = _cluster.find_dates(rows.columns, sample, rows.readings)
        sheets = _cluster.profile_sheets(estimator, dates)
        layout = _layout(scan, options, planned)
        with (
            _stored(estimator, rows, made_by, options, outputs) as stored,
            _writer(outputs, json.dumps(made_by), sheets) as writer,
        ):
            totals = write_labels(estimator, rows, writer, layout, stored)
        if stored is not None:
            stored.remove()
        say(f"All rows labelled in {time.perf_counter() - start:.1f} s.")
        found = made_by | _summarise_file(estimator, rows, totals, assessment)
        _tell_totals(estimator, found)
        if not is_quiet():
            part = len(sample) < rows.surveyed.n_filled
            heading = f"By a sample of {len(sample):,} rows:" if part else ""
            _cluster.tell_differences(estimator, sample, labels, dates, heading)
        _keep(estimator, outputs, found)
    return Streamed(int(np.count_nonzero(totals.cluster_sizes)), problems)


def _write_size(n_bytes: int) -> str:
    """Write a number of bytes in a unit that fits."""
    size, unit = (n_bytes / 2**20, "MB") if n_bytes >= 2**20 else (n_bytes / 2**10, "kB")
    return f"{max(size, 1):,.0f} {unit}"


def _choose_as_advised(
    scan: Scan, planned: _tables.ColumnPlan, options: dict[str, Any]
) -> tuple[Scan, _tables.ColumnPlan, list[Problem]]:
    """Choose columns by the first rows; with the option "yes", fix what is wrong as advised.

    Returns what is open about the last rows, which is not seen in a sample.
    """

    def plan_again(scan: Scan) -> _tables.ColumnPlan:
        return _with_problems(scan, _tables.plan_columns(scan, options))

    scan, planned = take_advice(scan, _with_problems(scan, planned), options, plan_again, say)
    for line in reading_notes(planned.left_out, planned.readings):
        note(line)
    refuse_problems(scan.source, planned.problems)
    extra = [problem for problem in planned.problems if problem.kind == "extra rows"]
    for line in problem_lines(extra):
        note(line)
    return scan, planned, extra


def _without_categories(problem: Problem) -> Problem:
    """Advise to leave a column out that only a table read whole takes as categories."""
    options = (
        option._replace(key="drop") if option.key == "categorical" else option
        for option in problem.options
    )
    return problem._replace(options=tuple(options))


def _with_problems(scan: Scan, planned: _tables.ColumnPlan) -> _tables.ColumnPlan:
    """List what is wrong in the first rows; of texts among numbers, in all rows."""
    names = [name for name in planned.names if planned.readings[name].kind != "category"]
    if not names:
        return planned
    head = first_rows(scan, names, len(scan.names))
    found = read_columns(head, names, planned.missing, planned.rules, planned.readings)
    if found.wrong:
        rows = FileRows(scan, list(found.wrong), planned.missing, planned.readings)
        found.wrong.update(rows.count_wrong(scan.parts))
    problems = find_problems(found, names, head, planned.rules, scan)
    return planned._replace(problems=[_without_categories(problem) for problem in problems])


def _fit(estimator: PCKID, rows: FileRows) -> None:
    """Fit, with a bar on a terminal, and say how large the table is."""
    with progress_bar(estimator, "Fitting mixture models"), warnings.catch_warnings():
        # The end says how many rows got no label.
        warnings.simplefilter("ignore", EmptyRowWarning)
        estimator.fit(rows)
    assert rows.surveyed is not None
    say(f"{counted(rows.surveyed.n_rows, 'row')}, {counted(rows.n_features, 'column')}.")
    _cluster.name_dropped(estimator)


def _tell_fit(
    estimator: PCKID, rows: FileRows, planned: _tables.ColumnPlan, seconds: float
) -> list[Problem]:
    """Say how long a fit took, and what was found on the way."""
    seen = rows.surveyed
    assert seen is not None
    share = _share_missing(estimator, seen)
    say(f"Fitted in {seconds:.1f} s; {share:.1%} of the cells are missing.")
    _cluster.tell_choice(estimator)
    sample = FileTable(rows.template, None, rows.scan.source, "", False)
    found = Columns(seen.rows, {}, dict(rows.readings), {})
    problems = find_problems(found, rows.columns, sample, planned.rules)
    for line in problem_lines(problems):
        note(line)
    return problems


def _share_missing(estimator: PCKID, seen: Survey) -> float:
    """Share of missing cells in the columns that the estimator did not drop."""
    return 1 - float(seen.moments.n_seen[used_columns(estimator)].mean()) / seen.n_rows


def _layout(scan: Scan, options: Mapping[str, Any], planned: _tables.ColumnPlan) -> Layout:
    """Decide which columns are written."""
    id_column = planned.id_column
    if options["only_labels"]:
        return Layout((id_column,) if id_column else (), options["label_column"])
    return Layout(tuple(scan.names), options["label_column"])


@contextmanager
def _stored(
    estimator: PCKID,
    rows: FileRows,
    made_by: Mapping[str, Any],
    options: Mapping[str, Any],
    outputs: Outputs,
) -> Iterator[StoredLabels | None]:
    """Open the labels that an earlier run left, if this one is to continue it."""
    if not options["resume"]:
        yield None
        return
    parameters = {key: v for key, v in made_by["parameters"].items() if key != "n_jobs"}
    mark = {**made_by, "parameters": parameters, "columns": rows.columns}
    mark["reading"] = dict(outputs.reading)
    path = f"{outputs.out}.resume"
    with StoredLabels(path, mark, estimator._fitted.kernel.dtype) as stored:
        if stored.is_other:
            note(f"{path} belongs to another table or setting: all rows are labelled anew.")
        elif stored.n_rows:
            say(f"Labels of {stored.n_rows:,} rows are there from the run before.")
        yield stored


@contextmanager
def _writer(outputs: Outputs, made_by: str, sheets: Sheets) -> Iterator[TableWriter]:
    """Open where rows go: a file that appears when it is complete, or standard output."""
    how: dict[str, Any] = {"escape_formulas": outputs.escape_formulas, "origin": made_by}
    if outputs.out is None and outputs.as_json:
        with open(os.devnull, "wb") as nowhere, TableWriter(nowhere) as writer:
            yield writer
    elif outputs.out in (None, "-"):
        with TableWriter(sys.stdout.buffer, **how) as writer:
            yield writer
        sys.stdout.buffer.flush()
    else:
        kind, codec = table_format(outputs.out)
        with (
            atomic_file(outputs.out) as file,
            TableWriter(file, kind=kind, codec=codec, sheets=sheets, **how) as writer,
        ):
            yield writer


def _summarise_file(
    estimator: PCKID, rows: FileRows, totals: Totals, assessment: Assessment | None
) -> dict[str, Any]:
    """Summarise a clustering for `--json`."""
    assert rows.surveyed is not None
    share = _share_missing(estimator, rows.surveyed)
    found = _cluster.summarise_totals(estimator, rows.columns, (), share, totals)
    found["source"], found["n_clusters_scores"] = rows.scan.source, _cluster.list_choices(estimator)
    if assessment is not None:
        found["verdict"] = _assessment.as_json(assessment)
    return found


def _tell_totals(estimator: PCKID, found: dict[str, Any]) -> None:
    """Say how many rows are in each cluster, and how many in none."""
    _cluster.tell(found)
    _cluster.count_empty(estimator, int(np.count_nonzero(found["cluster_sizes"])))
    if n_empty := found["n_unclustered"]:
        hold = "holds" if n_empty == 1 else "hold"
        note(f"{n_empty:,} of {found['n_rows']:,} rows {hold} no value: label -1.")


def _keep(estimator: PCKID, outputs: Outputs, found: dict[str, Any]) -> None:
    """Keep the model, and print the summary as JSON, where asked to."""
    if outputs.model_path:
        _cluster.keep_model(estimator, outputs.model_path, outputs.reading)
    if outputs.as_json:
        print_json(found)
