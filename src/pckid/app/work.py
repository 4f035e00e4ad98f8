"""What is computed in processes of their own: the same calls as those of the commands."""

import io
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
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
from pckid.describe.cluster_names import cluster_titles
from pckid.exceptions import TableError, UndecidedError
from pckid.input.warnings import without_own_words
from pckid.modelfile import load_with_description, save
from pckid.n_clusters import CHOOSING
from pckid.placing import (
    as_known,
    assign_rows,
    compare_with_fit,
    describe_reading,
    known_reading,
)
from pckid.reporting import Report
from pckid.series.files import PreparedCases
from pckid.series.files import prepare_table as prepare
from pckid.significance.new_rows import RowComparison
from pckid.tables.findings import Fact
from pckid.tables.options import ColumnOptions, ReadOptions
from pckid.tables.scanning import OpenTable, open_table
from pckid.tables.service import Prepared
from pckid.tables.sources import Source
from pckid.tables.writing import TableWriter
from pckid.wording import write_note, write_problems, write_refusal

MAX_UNPACKED = 1 << 30
"""Bytes that an uploaded file may take unpacked."""

MOST_CELLS = 200_000
"""A workbook of up to so many cells is written with the other files."""


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
    """What groups are found in, and how; `names` are those of all columns."""

    upload: Upload
    n_clusters: int | str
    options: ColumnOptions
    names: tuple[str, ...] = ()

    @property
    def n_columns(self) -> int:
        """How many columns are used."""
        options = self.options
        aside = {*options.drop, options.row_names, options.labels, options.known}
        return len(options.columns) or sum(name not in aside for name in self.names)


class Made(NamedTuple):
    """What a run gives.

    Attributes
    ----------
    found : dict
        What `--json` would print.
    notes : list of str
    files : dict of str to bytes
        By their endings.
    summary : Summary or None
        What the report shows.
    results : tuple of ndarray of shape (n_rows,)
        Clusters, and how clearly rows belong there.
    profiles : list of list
        The clusters' profiles, as the rows of a sheet; the first names the clusters.
    compared : RowComparison or None
        New rows with those of the model.
    """

    found: dict[str, Any]
    notes: list[str]
    files: dict[str, bytes]
    summary: Any = None
    results: tuple[np.ndarray, ...] = ()
    profiles: Any = ()
    compared: RowComparison | None = None


def find_groups(settings: Settings, tell: Tell) -> Made:
    """Cluster a table as `pckid cluster` does."""
    upload = settings.upload
    with _warnings_kept() as said:
        tell(0.02, "Reading the table")
        prepared = prepare(upload.open(), settings.options)
        notes = _describe(prepared)
        given = {"seed": 0, "jobs": None, "device": None}
        estimator = _cluster.make_estimator(settings.n_clusters, given)
        estimator.set_params(categorical_features=list(prepared.counts) or None)
        with _watch_fit(tell, settings.n_clusters)(estimator), without_own_words():
            streaming.fit_rows(estimator, prepared, None)
        watch = _watch_steps(tell)
        verdict = _assessment.assess_clusters(
            estimator, prepared.frame, groups=prepared.groups, watch=watch
        )
        tell(0.75, "Writing the report")
        page = _cluster.make_report(prepared, estimator, upload.reading, assessment=verdict)
        results = to_numpy(estimator.labels_), to_numpy(estimator.confidence_)
        dates = _cluster.find_dates(prepared.names, prepared.X, prepared.readings)
        profiles = _cluster.profile_sheets(estimator, dates)["profiles"]
        made = Made({}, [], {}, page.summary, results, profiles)
        made = _write(settings, prepared, estimator, made, tell)
    n_found = int(np.count_nonzero(made.found["cluster_sizes"]))
    fitted = _cluster.list_notes(estimator, prepared.counts, n_found)
    notes += [write_note(note, PAGE) for note in (*prepared.together, *fitted)]
    return made._replace(notes=[*notes, *said, *made.notes])


def name_groups(settings: Settings, made: Made, names: Sequence[str | None], tell: Tell) -> Made:
    """Give the groups of a run names: in the report, the tables and the model."""
    estimator, _ = load_with_description(io.BytesIO(made.files["model.pckid"]))
    estimator.cluster_names_ = names
    prepared = prepare(settings.upload.open(), settings.options)
    titles = cluster_titles(estimator)
    profiles = [[*made.profiles[0][:2], *titles], *made.profiles[1:]]
    summary = replace(made.summary, titles=titles)
    if summary.assessment is not None:
        found = replace(summary.assessment, cluster_names=list(names))
        summary = replace(summary, assessment=found)
    renamed = made._replace(summary=summary, profiles=profiles)
    return _write(settings, prepared, estimator, renamed, tell)._replace(notes=made.notes)


def write_workbook(settings: Settings, made: Made, tell: Tell) -> Made:
    """Write the table of a run with its clusters as a workbook, too."""
    tell(0.1, "Writing the Excel file")
    estimator, _ = load_with_description(io.BytesIO(made.files["model.pckid"]))
    prepared = prepare(settings.upload.open(), settings.options)
    files, _, notes = _write_tables(prepared, estimator, made, ["xlsx"])
    return made._replace(files=made.files | files, notes=[*made.notes, *notes])


def _write(
    settings: Settings,
    prepared: Prepared,
    estimator: Any,
    made: Made,
    tell: Tell,
) -> Made:
    """Write the report, the model and the table of a run."""
    tell(0.85, "Writing the files")
    model = io.BytesIO()
    save(estimator, model, reading=describe_reading(prepared, settings.upload.reading))
    files = {"report.html": Report(made.summary).html.encode(), "model.pckid": model.getvalue()}
    # A workbook takes many times as long as a text: a large one is written when it is asked for.
    n_cells = len(prepared.X) * len(prepared.table.names)
    kinds = ["xlsx", "csv"] if n_cells <= MOST_CELLS else ["csv"]
    made = _sum_up(prepared, estimator, made, kinds)
    tell(1.0, "Done")
    return made._replace(files=files | made.files)


def place_new_rows(model: Upload, upload: Upload, tell: Tell) -> Made:
    """Put rows into the clusters of a model as `pckid predict` does."""
    content = io.BytesIO(model.content)
    content.name = model.name
    with _warnings_kept() as said:
        estimator, description = load_with_description(content)
        given = ColumnOptions(), upload.reading
        kept = known_reading(description)
        known, columns, reading = as_known(estimator, kept, *given)
        table = upload._replace(reading=reading).open()
        prepared = prepare(table, columns, known)
        notes = _describe(prepared, settled=True)
        tell(0.5, "Placing rows")
        made = Made({}, [], {}, results=assign_rows(estimator, prepared))
        made = _sum_up(prepared, estimator, made, ["xlsx", "csv"])
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
    notes += prepared.series.notes if isinstance(prepared, PreparedCases) else []
    return notes + write_problems(prepared.problems, PAGE, settled)


def _sum_up(prepared: Prepared, estimator: Any, made: Made, kinds: Sequence[str]) -> Made:
    """Sum up a run, and write its rows."""
    files, totals, notes = _write_tables(prepared, estimator, made, kinds)
    share = streaming.share_missing(estimator, prepared, None)
    if totals.n_unclustered:
        counts = {"n_unclustered": totals.n_unclustered, "n_rows": totals.n_rows}
        notes.append(write_note(Fact("unclustered", counts), PAGE))
    found = _cluster.summarise_run(estimator, prepared, share, totals)
    return made._replace(found=found, notes=notes, files=files)


def _write_tables(
    prepared: Prepared, estimator: Any, made: Made, kinds: Sequence[str]
) -> tuple[dict[str, bytes], streaming.Totals, list[str]]:
    """Write the rows of a run; with their totals, and notes on what could not be written."""
    made_by = json.dumps(streaming.origin(estimator, prepared.table))
    layout = streaming.Layout(tuple(prepared.table.names), prepared.options.labels)
    sheets = {"profiles": made.profiles} if made.profiles else None
    files, notes = {}, []
    for kind in kinds:
        rows = io.BytesIO()
        try:
            with TableWriter(
                rows, kind=kind, escape_formulas=True, origin=made_by, sheets=sheets
            ) as writer:
                totals = streaming.write_placed(estimator, prepared, made.results, writer, layout)
            files[f"clusters.{kind}"] = rows.getvalue()
        except TableError as error:  # more rows than a sheet takes
            notes.append(str(error))
    return files, totals, notes


def _watch_fit(tell: Tell, n_clusters: int | str) -> Callable[..., Any]:
    """Make what `fit` calls to have its progress told: up to two fifths of a run."""
    fitted = 0.25 if n_clusters == "auto" else 0.4

    def told(n_done: int, n_steps: int | None, phase: str) -> None:
        begin, end, doing = 0.05, fitted, "Fitting mixture models"
        if phase == CHOOSING:
            begin, end, doing = fitted, 0.4, "Choosing the number of groups"
        share = begin + (end - begin) * min(n_done / (n_steps or 1), 1.0)
        tell(share, doing if share < 0.4 else "Placing the rows")

    @contextmanager
    def watch(estimator: Any) -> Iterator[None]:
        if hasattr(estimator, "set_callbacks"):
            estimator.set_callbacks(StepCounter(told))
        yield
        if hasattr(estimator, "set_callbacks"):
            estimator.set_callbacks()

    return watch


def _watch_steps(tell: Tell) -> Callable[..., Any]:
    """Make what `assess_clusters` calls to have its progress told: up to three quarters."""

    @contextmanager
    def watch(what: str, total: int) -> Iterator[Callable[[int], None]]:
        done: list[int] = []

        def advance(count: int) -> None:
            done.append(count)
            tell(0.4 + 0.35 * min(sum(done) / total, 1.0), what)

        yield advance

    return watch
