"""The run of `pckid cluster`: open, prepare, fit, judge, place all rows and write them."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from pckid import streaming
from pckid._utils.arrays import to_numpy
from pckid._utils.text import counted, list_first
from pckid.assessment import MAX_JUDGED
from pckid.cli import _assessment, _cluster, _ending, _series, _words
from pckid.cli._outputs import check_outputs, open_writer
from pckid.cli._say import is_quiet, note, print_json, progress_bar, say
from pckid.cluster import PCKID
from pckid.describe.cluster_names import check_cluster_names
from pckid.describe.rows import to_matrix
from pckid.exceptions import OptionError
from pckid.input.warnings import without_own_words
from pckid.modelfile import save
from pckid.outofcore.files import FileRows, fitting_bytes, small_bytes
from pckid.outofcore.stored import StoredLabels
from pckid.placing import describe_reading
from pckid.tables.findings import Fact
from pckid.tables.options import ReadOptions
from pckid.tables.scanning import OpenTable, open_table
from pckid.tables.service import Prepared
from pckid.tables.writing import table_format
from pckid.wording import write_instability

# What sets clusters apart is not searched for in larger tables.
_MOST_CELLS = 5_000_000
# What is learnt from all rows, and not from those that are drawn from a large file.
_ONLY_WHOLE = ("informative", "instability", "known", "weights")


class Outputs(NamedTuple):
    """Where results go."""

    out: str | None
    report_path: str | None
    model_path: str | None
    escape_formulas: bool
    as_json: bool
    wants_verdict: bool

    @property
    def file(self) -> str | None:
        """The file that rows go to; None for standard output."""
        return None if self.out == "-" else self.out


@_words.option_errors()
def run_cluster(
    source: str, n_clusters: int | str, outputs: Outputs, options: Mapping[str, Any]
) -> None:
    """Cluster a table, and write its rows and what else was asked for."""
    _check_use(source, outputs, options)
    if options["names"] and isinstance(n_clusters, int):
        _split_names(options["names"], n_clusters)
    reading = _words.read_options(options)
    table = _open(source, outputs, options, reading)
    if outputs.file:
        table_format(outputs.file, table.n_rows)  # so that too many rows show before the work
    if table.whole is None and table.loaded is None:
        many = f"{table.n_rows:,} rows" if table.n_rows else _write_size(table.n_bytes)
        say(f"{table.source} ({many}) is read in batches; it need not fit in memory.")
    estimator = _cluster.make_estimator(n_clusters, options)
    with streaming.workers_of(options["scheduler"]) as read_rows:
        columns = replace(_words.column_options(options), lines=_series.case_options(options))
        prepared, rows = streaming.prepare_rows(estimator, table, columns, read_rows)
        table = prepared.table  # lines of cases need not stay in memory
        _words.tell_prepared(prepared)
        _series.tell_series(prepared)
        estimator.set_params(column_groups=_series.find_column_groups(options, prepared))
        n_found = _Run(estimator, prepared, rows, outputs, options, reading).run()
    streamed = None if rows is None else bool(options["stream"])
    delimiter = table.text.delimiter if table.text else ","
    _ending.tell_next(
        outputs.out, outputs.report_path, outputs.model_path, delimiter, n_found, streamed=streamed
    )
    _ending.tell_open(source, options, prepared.problems)


def _check_use(source: str, outputs: Outputs, options: Mapping[str, Any]) -> None:
    """Refuse what cannot be done before any work."""
    _series.check_series(options)
    resumed = f"{outputs.file}.resume" if options["resume"] and outputs.file else None
    paths = outputs.file, outputs.report_path, outputs.model_path, options["out_long"], resumed
    check_outputs([source], *paths)
    for path in (outputs.file, options["out_long"]):
        if path:
            table_format(path)
    if options["resume"] and (not outputs.file or options["scheduler"]):
        raise click.UsageError("--resume needs --out FILE, and no --scheduler.")
    if options["resume"] and options["stream"] is False:
        raise click.UsageError("--resume reads the table in batches: leave --no-stream out.")
    asked = [key for key in ("stream", "scheduler", "resume") if options[key]]
    if asked and outputs.report_path:
        raise click.UsageError(
            "--report needs the table in memory, as it explains single rows: leave "
            f"--{asked[0]} out."
        )
    if asked and _is_pipe(source):
        raise click.UsageError(
            f"{source!r} cannot be read in batches. Give a file or folder of Parquet, or CSV."
        )
    for key in _ONLY_WHOLE:
        if asked and options.get(key):
            raise click.UsageError(f"--{key} needs the table in memory: add --no-stream.")
    if outputs.report_path:
        import jinja2  # noqa: F401  so that its absence shows before the work, not after


def _split_names(text: str, n_clusters: int) -> list[str | None]:
    """Take the names of clusters apart."""
    names = [name.strip() or None for name in text.split(",")]
    if len(names) != n_clusters:
        raise OptionError(
            f"{counted(len(names), 'name')} for {counted(n_clusters, 'cluster')}. Give one for "
            "each, from cluster 0 on, and nothing between two commas for one without a name.",
            "names",
        )
    try:
        return check_cluster_names(names, n_clusters)
    except ValueError as error:
        raise OptionError(str(error), "names") from None


def _is_pipe(source: str) -> bool:
    """Whether a table can be read only once."""
    return source == "-" or Path(source).is_fifo()


def _open(
    source: str, outputs: Outputs, options: Mapping[str, Any], reading: ReadOptions
) -> OpenTable:
    """Open a table, and read it unless it is to stay in its file: if asked to, or if it is large.

    A report is about rows in memory.
    """
    table = open_table(source, reading, at_most=0)
    _words.tell_opened(table)
    if options["stream"] or options["scheduler"] or options["resume"]:
        return table
    whole = outputs.report_path or options["case"] or options["stream"] is False
    if _is_pipe(source) or whole:
        return table.read()
    if not any(options.get(key) for key in _ONLY_WHOLE):
        return table.read(small_bytes())
    table = table.read(fitting_bytes(table.text is not None))
    if table.whole is None:
        key = next(key for key in _ONLY_WHOLE if options.get(key))
        raise click.UsageError(f"--{key} needs the table in memory: add --no-stream.")
    return table


def _write_size(n_bytes: int) -> str:
    """Write a number of bytes in a unit that fits."""
    size, unit = (n_bytes / 2**20, "MB") if n_bytes >= 2**20 else (n_bytes / 2**10, "kB")
    return f"{max(size, 1):,.0f} {unit}"


class _Run(NamedTuple):
    """A prepared table, in memory or in its file, and what is to become of it."""

    estimator: PCKID
    prepared: Prepared
    rows: FileRows | None
    outputs: Outputs
    options: Mapping[str, Any]
    reading: ReadOptions

    def run(self) -> int:
        """Fit, judge, write; return the number of clusters that hold rows."""
        estimator, prepared, outputs = self.estimator, self.prepared, self.outputs
        estimator.set_params(categorical_features=list(prepared.counts) or None)
        start = time.perf_counter()
        self._fit()
        seconds = time.perf_counter() - start
        values, labels, n_filled = self._judged_rows()
        assessment = None
        if outputs.wants_verdict:
            X, known = (prepared.frame, None) if self.rows is None else (values, labels)
            groups = prepared.groups if self.rows is None else None
            assessment = _assessment.assess_clusters(
                estimator, X, known, groups=groups, n_jobs=self.options["jobs"]
            )
            _assessment.tell_verdict(assessment)
        share = streaming.share_missing(estimator, prepared, self.rows)
        say(f"Clustered in {seconds:.1f} s; {share:.1%} of the cells are missing.")
        _cluster.tell_choice(estimator)
        if outputs.report_path:
            verdict = assessment or False
            _cluster.make_report(prepared, estimator, self.reading, outputs.report_path, verdict)
        dates = _cluster.find_dates(prepared.names, values, prepared.readings)
        made_by = streaming.origin(estimator, prepared.table)
        if prepared.options.weights:
            made_by["weights"] = prepared.options.weights
        totals = self._write(made_by, dates)
        found = made_by | _cluster.summarise_run(estimator, prepared, share, totals)
        found["n_clusters_scores"] = _cluster.list_choices(estimator)
        if assessment is not None:
            found["verdict"] = _assessment.as_json(assessment)
        n_found = int(np.count_nonzero(totals.cluster_sizes))
        self._tell(found, n_found)
        if not is_quiet() and values.size <= _MOST_CELLS:
            part = len(values) < n_filled
            heading = f"By a sample of {len(values):,} rows:" if part else ""
            forms = _cluster.find_signs(prepared.readings) | dates
            _cluster.tell_differences(estimator, values, labels, forms, heading)
        if outputs.report_path:
            say(f"Report: {outputs.report_path}")
        if outputs.model_path:
            kept = describe_reading(prepared, self.reading)
            save(estimator, outputs.model_path, reading=kept)
            say(f"Model: {outputs.model_path}")
        if outputs.as_json:
            print_json(found)
        return n_found

    def _fit(self) -> None:
        """Fit, with a bar on a terminal, and say how large the table is."""
        prepared, rows = self.prepared, self.rows
        n_rows = len(prepared.X) if rows is None else rows.surveyed.n_rows
        n_columns, n_categories = len(prepared.names), len(prepared.counts)
        kinds = f" ({n_categories} of categories)" if n_categories else ""
        say(f"{counted(n_rows, 'row')}, {counted(n_columns, 'column')}{kinds}.")
        for each in prepared.together if rows is None else ():
            _words.tell_note(each)
        groups, asked = set(filter(None, prepared.known or ())), self.estimator.n_clusters
        if isinstance(asked, int) and len(groups) > asked:
            raise OptionError(
                f"the column names {len(groups)} groups, more than -k {asked}. Give at least "
                f"-k {len(groups)}, or leave it out.",
                "known",
            )
        with progress_bar(self.estimator, "Fitting mixture models"), without_own_words():
            streaming.fit_rows(self.estimator, prepared, rows)
        if self.options["names"]:
            before, n_clusters = self.estimator.cluster_names_, self.estimator.n_clusters_
            after = self.estimator.cluster_names_ = _split_names(self.options["names"], n_clusters)
            changed = [f"{b} for {a}" for a, b in zip(before, after, strict=True) if a and a != b]
            if changed:
                note(f"--names takes the place of names in --known: {list_first(changed)}.")

    def _judged_rows(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Give rows to judge the clusters by as numbers, their labels, and how many there are."""
        if self.rows is not None:
            return streaming.drawn_rows(self.estimator, self.rows, MAX_JUDGED)
        labels = to_numpy(self.estimator.labels_)
        if self.prepared.X.size > _MOST_CELLS:
            return self.prepared.X, labels, 0
        return to_matrix(self.estimator, self.prepared.frame), labels, 0

    def _write(self, made_by: Mapping[str, Any], dates: Mapping[str, str]) -> streaming.Totals:
        """Write all rows with their clusters."""
        outputs, prepared, options = self.outputs, self.prepared, self.options
        shares = None
        if options["instability"]:
            shares = to_numpy(self.estimator.missing_instability(prepared.frame))
            say(write_instability(shares))
        kept = tuple(prepared.table.names)
        if options["only_labels"]:
            kept = (prepared.row_names,) if prepared.row_names else ()
        layout = streaming.Layout(kept, prepared.options.labels, options["outliers"], shares)
        named = [streaming.NAME_COLUMN] if any(self.estimator.cluster_names_) else []
        for name in (*layout.new_columns, *named):
            if name in prepared.table.names and prepared.left_out.get(name) != "choice":
                _words.tell_note(Fact("replaced", {"column": name}))
        start = time.perf_counter()
        with (
            self._stored(made_by) as stored,
            open_writer(
                outputs.out, json.dumps(made_by), escape_formulas=outputs.escape_formulas,
                sheets=_cluster.profile_sheets(self.estimator, dates),
                to_stdout=not outputs.as_json,
            ) as writer,
        ):  # fmt: skip
            totals = streaming.write_labels(
                self.estimator, prepared, self.rows, writer, layout, stored
            )
        if stored is not None:
            stored.remove()
        if options["out_long"]:
            results = to_numpy(self.estimator.labels_), to_numpy(self.estimator.confidence_)
            escape = outputs.escape_formulas
            _series.write_lines(self.estimator, prepared, results, options["out_long"], escape)
        if self.rows is not None:
            say(f"All rows labelled in {time.perf_counter() - start:.1f} s.")
        return totals

    @contextmanager
    def _stored(self, made_by: Mapping[str, Any]) -> Iterator[StoredLabels | None]:
        """Open the labels that an earlier run left, if this one is to continue it."""
        if not self.options["resume"]:
            yield None
            return
        parameters = {key: v for key, v in made_by["parameters"].items() if key != "n_jobs"}
        mark = {**made_by, "parameters": parameters, "columns": self.prepared.names}
        mark |= {"reading": asdict(self.reading), "options": asdict(self.prepared.options)}
        path = f"{self.outputs.file}.resume"
        dtype = self.estimator._fitted.kernel.dtype
        with StoredLabels(path, mark, dtype, self.options["outliers"]) as stored:
            if stored.is_other:
                note(f"{path} belongs to another table or setting: all rows are labelled anew.")
            elif stored.n_rows:
                say(f"Labels of {stored.n_rows:,} rows are there from the run before.")
            yield stored

    def _tell(self, found: Mapping[str, Any], n_found: int) -> None:
        """Say how many rows are in each cluster, and how many in none."""
        _cluster.tell(found)
        notes = _cluster.list_notes(self.estimator, self.prepared.counts, n_found)
        if found["n_unclustered"]:
            counts = {key: found[key] for key in ("n_unclustered", "n_rows")}
            notes.append(Fact("unclustered", counts))
        for each in notes:
            _words.tell_note(each)
