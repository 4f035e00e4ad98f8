"""What is computed in processes of their own: the same calls as those of the commands."""

import io
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pckid import streaming
from pckid._utils.arrays import to_numpy
from pckid._utils.jobs import Tell
from pckid._utils.progress import StepCounter
from pckid.app.wording import PAGE
from pckid.cli import _assessment, _cluster
from pckid.exceptions import TableError, UndecidedError
from pckid.input.warnings import without_own_words
from pckid.modelfile import load_with_description, save
from pckid.placing import (
    as_known,
    assign_rows,
    compare_with_fit,
    describe_reading,
    known_reading,
)
from pckid.significance.new_rows import RowComparison
from pckid.tables.findings import Fact
from pckid.tables.options import ColumnOptions, ReadOptions
from pckid.tables.scanning import OpenTable, open_table
from pckid.tables.service import Prepared, prepare
from pckid.tables.sources import Source
from pckid.tables.writing import TableWriter
from pckid.wording import write_note, write_problems, write_refusal

MAX_UNPACKED = 1 << 30
"""Bytes that an uploaded file may take unpacked."""


class Upload(NamedTuple):
    """A file in memory, and how to read it."""

    name: str
    content: bytes
    reading: ReadOptions = ReadOptions()
    known: str | None = None  # column with known groups

    def open(self) -> OpenTable:
        """Open the table as the commands do."""
        limited = replace(self.reading, max_unpacked=MAX_UNPACKED / 2**30)
        return open_table(Source(self.name, MAX_UNPACKED, self.content), limited)


class Settings(NamedTuple):
    """What groups are found in, and how."""

    upload: Upload
    n_clusters: int | str
    options: ColumnOptions


class Made(NamedTuple):
    """What a run gives: what `--json` would print, what was noted, and files by their endings."""

    found: dict[str, Any]
    notes: list[str]
    files: dict[str, bytes]
    compared: RowComparison | None = None  # new rows with those of the model


def find_groups(settings: Settings, tell: Tell) -> Made:
    """Cluster a table as `pckid cluster` does."""
    upload = settings.upload
    with _warnings_kept() as said:
        prepared = prepare(upload.open(), settings.options)
        notes = _describe(prepared)
        given = {"seed": 0, "jobs": None, "device": None}
        estimator = _cluster.make_estimator(settings.n_clusters, given)
        estimator.set_params(categorical_features=list(prepared.counts) or None)
        with _watch_fit(tell)(estimator, "Fitting mixture models"), without_own_words():
            streaming.fit_rows(estimator, prepared, None)
        watch = _watch_steps(tell)
        verdict = _assessment.assess_clusters(estimator, prepared.frame, watch=watch)
        page = _cluster.make_report(prepared, estimator, upload.reading, assessment=verdict)
        model = io.BytesIO()
        save(estimator, model, reading=describe_reading(prepared, upload.reading))
        files = {"report.html": page.html.encode(), "model.pckid": model.getvalue()}
        results = to_numpy(estimator.labels_), to_numpy(estimator.confidence_)
        dates = _cluster.find_dates(prepared.names, prepared.X, prepared.readings)
        sheets = _cluster.profile_sheets(estimator, dates)
        made = _made(prepared, estimator, results, files, sheets)
    n_found = int(np.count_nonzero(made.found["cluster_sizes"]))
    fitted = _cluster.list_notes(estimator, prepared.counts, n_found)
    notes += [write_note(note, PAGE) for note in fitted]
    return made._replace(notes=[*notes, *said, *made.notes])


def place_new_rows(model: Upload, upload: Upload, tell: Tell) -> Made:
    """Put rows into the clusters of a model as `pckid predict` does."""
    content = io.BytesIO(model.content)
    content.name = model.name
    with _warnings_kept() as said:
        estimator, description = load_with_description(content)
        given = ColumnOptions(), upload.reading
        known, columns, reading = as_known(estimator, known_reading(description), *given)
        prepared = prepare(upload._replace(reading=reading).open(), columns, known)
        notes = _describe(prepared, settled=True)
        tell(0.5, "Placing rows")
        made = _made(prepared, estimator, assign_rows(estimator, prepared), {})
        compared = compare_with_fit(estimator, prepared)
    if compared is None:
        notes.append(
            "The model is of an earlier version: new rows cannot be compared with its own."
        )
    return made._replace(notes=[*notes, *said, *made.notes], compared=compared)


@contextmanager
def _warnings_kept() -> Iterator[list[str]]:
    """Keep for the page what the library says to its user, as commands print it."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield said
        said += [str(each.message) for each in caught]


def _describe(prepared: Prepared, settled: bool = False) -> list[str]:
    """Say how columns were read and what looks wrong; stop if something must be decided first."""
    if prepared.stops:
        told = write_refusal(prepared.table.source, prepared.problems, PAGE, settled)
        raise UndecidedError(told, prepared.problems)
    notes = [write_note(note, PAGE) for note in (*prepared.table.notes, *prepared.notes)]
    return notes + write_problems(prepared.problems, PAGE, settled)


def _made(
    prepared: Prepared,
    estimator: Any,
    results: tuple[np.ndarray, ...],
    files: dict[str, bytes],
    sheets: Any = None,
) -> Made:
    """Sum up a run, and write its rows."""
    made_by = json.dumps(streaming.origin(estimator, prepared.table))
    layout = streaming.Layout(tuple(prepared.table.names), prepared.options.labels)
    notes = []
    for kind in ("xlsx", "csv"):
        rows = io.BytesIO()
        try:
            with TableWriter(
                rows, kind=kind, escape_formulas=True, origin=made_by, sheets=sheets
            ) as writer:
                totals = streaming.write_placed(estimator, prepared, results, writer, layout)
            files[f"clusters.{kind}"] = rows.getvalue()
        except TableError as error:  # more rows than a sheet takes
            notes.append(str(error))
    share = streaming.share_missing(estimator, prepared, None)
    if totals.n_unclustered:
        counts = {"n_unclustered": totals.n_unclustered, "n_rows": totals.n_rows}
        notes.append(write_note(Fact("unclustered", counts), PAGE))
    return Made(_cluster.summarise_run(estimator, prepared, share, totals), notes, files)


def _watch_fit(tell: Tell) -> Callable[..., Any]:
    """Make what `fit` calls to have its progress told: the first third of a run."""

    @contextmanager
    def watch(estimator: Any, what: str) -> Iterator[None]:
        if hasattr(estimator, "set_callbacks"):
            counter = StepCounter(
                lambda n_done, n_steps: tell(min(n_done / (n_steps or 1), 1.0) / 3, what)
            )
            estimator.set_callbacks(counter)
        yield
        if hasattr(estimator, "set_callbacks"):
            estimator.set_callbacks()

    return watch


def _watch_steps(tell: Tell) -> Callable[..., Any]:
    """Make what `assess_clusters` calls to have its progress told: the other two thirds."""

    @contextmanager
    def watch(what: str, total: int) -> Iterator[Callable[[int], None]]:
        done: list[int] = []

        def advance(count: int) -> None:
            done.append(count)
            tell(1 / 3 + 2 / 3 * min(sum(done) / total, 1.0), what)

        yield advance

    return watch
