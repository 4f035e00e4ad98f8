"""`pckid cluster` on a table that stays in its file."""

import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import click
from sklearn import get_config

from pckid._files import atomic_file
from pckid._warnings import EmptyRowWarning
from pckid.cli import _cluster, _tables
from pckid.cli._say import note, print_json, progress, say
from pckid.cluster import PCKID
from pckid.outofcore.files import FileRows
from pckid.streaming import Layout, Totals, file_rows, write_labels
from pckid.tables import MissingTokens, Scan, Table, TableWriter, scan_table, table_format

# Text takes about this many times its size on the disk when it is read whole, and any file at most
# so many times.
_TEXT_GROWTH = 8
_MOST_GROWTH = 64


class Outputs(NamedTuple):
    """Where results go."""

    out: str | None
    model_path: str | None
    escape_formulas: bool
    as_json: bool
    na_values: tuple[str, ...] = ()  # codes for missing values, kept with the model


def scan_if_large(source: str, options: Mapping[str, Any], report_path: str | None) -> Scan | None:
    """Open a table to read it in batches, if it was asked for or the table is large.

    Parameters
    ----------
    source : str
    options : mapping
    report_path : str or None
        A report is about rows in memory.

    Returns
    -------
    scan : Scan or None
        None if the table is to be read whole.
    """
    folder = os.path.isdir(source)
    asked = bool(options["stream"] or options["scheduler"] or folder)
    if asked and report_path:
        raise click.UsageError("--report needs the table in memory: it explains single rows.")
    if folder and options["stream"] is False:
        raise click.UsageError("A folder is read in batches only. Leave --no-stream out.")
    if options["stream"] is False or (not asked and (report_path or _is_small(source))):
        return None
    scan = scan_table(
        source,
        delimiter=_tables.delimiter_of(options),
        decimal=options["decimal"],
        encoding=options["encoding"],
        header=not options["no_header"],
    )
    if asked and scan is None:
        raise click.UsageError(
            f"{source!r} cannot be read in batches. Give a file or folder of Parquet, or CSV."
        )
    if asked or scan is None or _size(scan) > get_config()["working_memory"] * 2**20:
        return scan
    return None


def _is_small(source: str) -> bool:
    """Whether a file cannot be large, however well it is compressed; pipes are read whole."""
    if not os.path.isfile(source):
        return True
    return os.path.getsize(source) * _MOST_GROWTH < get_config()["working_memory"] * 2**20


def _size(scan: Scan) -> int:
    """Estimate how many bytes the table takes in memory."""
    return scan.n_bytes * (_TEXT_GROWTH if scan.text else 1)


def cluster(
    scan: Scan, n_clusters: int | str, options: Mapping[str, Any], outputs: Outputs
) -> None:
    """Cluster a table batch by batch, and write the result as it comes."""
    _refuse_inside(scan.source, outputs.out)
    for option in ("categorical", "informative", "weights"):
        if options.get(option) or options.get(f"{option}_column"):
            raise click.UsageError(f"--{option} needs the table in memory: add --no-stream.")
    names, _ = _tables.choose(scan, options)
    many = f"{scan.n_rows:,} rows" if scan.n_rows else f"{scan.n_bytes / 2**20:,.0f} MB"
    say(f"{scan.source} ({many}) is read in batches; it need not fit in memory.")
    estimator = _cluster.make_estimator(n_clusters, options)
    missing = MissingTokens.with_defaults(options["na_values"] or ())
    with file_rows(scan, names, missing, options["scheduler"]) as rows:
        _fit(estimator, rows)
        start = time.perf_counter()
        with _writer(outputs) as writer:
            totals = write_labels(estimator, rows, writer, _layout(scan, options))
        say(f"All rows labelled in {time.perf_counter() - start:.1f} s.")
        _report(estimator, rows, totals, outputs)


def _fit(estimator: PCKID, rows: FileRows) -> None:
    """Fit, and say what was found on the way."""
    start = time.perf_counter()
    with progress(estimator, "Fitting mixture models"), warnings.catch_warnings():
        # The end says how many rows got no label.
        warnings.simplefilter("ignore", EmptyRowWarning)
        estimator.fit(rows)
    seen = rows.surveyed
    assert seen is not None
    share = seen.n_missing / (seen.n_rows * rows.n_features)
    say(f"{seen.n_rows:,} rows, {rows.n_features} columns, {share:.1%} of the cells missing.")
    say(f"Fitted in {time.perf_counter() - start:.1f} s.")
    _cluster.name_dropped(estimator)
    _cluster.tell_choice(estimator)
    sample = Table(rows.template, None, rows.scan.source, "", False)
    _tables.point_out(_tables.Selection(sample, rows.columns, seen.rows, None, None, {}))


def _layout(scan: Scan, options: Mapping[str, Any]) -> Layout:
    """Decide which columns are written."""
    id_column = options["id_column"]
    if options["only_labels"]:
        return Layout((id_column,) if id_column else (), options["label_column"])
    return Layout(tuple(scan.names), options["label_column"])


@contextmanager
def _writer(outputs: Outputs) -> Iterator[TableWriter]:
    """Open where rows go: a file that appears when it is complete, or standard output."""
    escape = outputs.escape_formulas
    if outputs.out is None and outputs.as_json:
        with open(os.devnull, "wb") as nowhere, TableWriter(nowhere) as writer:
            yield writer
    elif outputs.out in (None, "-"):
        with TableWriter(sys.stdout.buffer, escape_formulas=escape) as writer:
            yield writer
        sys.stdout.buffer.flush()
    else:
        kind, codec = table_format(outputs.out)
        with (
            atomic_file(outputs.out) as file,
            TableWriter(file, kind=kind, codec=codec, escape_formulas=escape) as writer,
        ):
            yield writer


def _report(estimator: PCKID, rows: FileRows, totals: Totals, outputs: Outputs) -> None:
    """Say what was found; keep the model."""
    seen = rows.surveyed
    assert seen is not None
    found = {
        "source": rows.scan.source,
        "sha256": None,
        "n_rows": totals.n_rows,
        "columns": rows.columns,
        "share_missing": seen.n_missing / (seen.n_rows * rows.n_features),
        "cluster_sizes": totals.cluster_sizes,
        "n_unclustered": totals.n_unclustered,
        "mean_confidence": totals.mean_confidence,
        "accuracy": totals.accuracy,
    }
    _cluster.tell(found)
    if totals.n_unclustered:
        note(f"{totals.n_unclustered:,} of {totals.n_rows:,} rows hold no value: label -1.")
    if outputs.model_path:
        from pckid.modelfile import save

        save(estimator, outputs.model_path, reading={"na_values": list(outputs.na_values)})
        say(f"Model: {outputs.model_path}")
    if outputs.as_json:
        print_json(found)


def _refuse_inside(source: str, out: str | None) -> None:
    """Refuse an output that would become a part of the input."""
    if out and os.path.isdir(source):
        folder = os.path.dirname(os.path.realpath(out))
        if os.path.samefile(folder, source):
            raise click.UsageError(f"{out!r} lies in the input. Write somewhere else.")
