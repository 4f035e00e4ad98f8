"""What is computed in processes of their own: the same calls as those of the commands."""

import io
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any, NamedTuple

import numpy as np

from pckid import streaming
from pckid._utils.jobs import Tell
from pckid._utils.progress import StepCounter
from pckid.cli import _assessment, _cluster, _prediction, _tables
from pckid.cli._run import warnings_as_notes
from pckid.cli._say import note
from pckid.exceptions import TableError
from pckid.modelfile import load_with_description, save
from pckid.tables import Scan, Source, read_whole

MAX_UNPACKED = 1 << 30
"""Bytes that an uploaded file may take unpacked."""


class Upload(NamedTuple):
    """A file in memory, and how to read it."""

    name: str
    content: bytes
    header: bool = True
    sheet: str | None = None
    skip_last: int = 0
    encoding: str | None = None
    known: str | None = None  # column with known groups

    def open(self) -> Scan:
        """Open the table as the commands do."""
        limit = {"max_unpacked": MAX_UNPACKED / 2**30}
        return _tables.open_scan(self.source, self.reading | limit)

    @property
    def reading(self) -> dict[str, Any]:
        """How it is read, as options of the commands."""
        return {
            "no_header": not self.header,
            "sheet": self.sheet,
            "skip_last": self.skip_last,
            "encoding": self.encoding,
        }

    @property
    def source(self) -> Source:
        """The file as tables are read from."""
        return Source(self.name, MAX_UNPACKED, self.content)


class Settings(NamedTuple):
    """What groups are found in, and how."""

    upload: Upload
    n_clusters: int | str
    options: dict[str, Any]


class Made(NamedTuple):
    """What a run gives: what `--json` would print, what was noted, and files by their endings."""

    found: dict[str, Any]
    notes: list[str]
    files: dict[str, bytes]


def find_groups(settings: Settings, tell: Tell) -> Made:
    """Cluster a table as `pckid cluster` does."""
    options = settings.options | {"seed": 0, "jobs": None, "device": None}
    with _notes_kept():
        selection = _tables.select_columns(read_whole(settings.upload.open()), options)
        _tables.point_out(selection)
        estimator = _cluster.fit(selection, settings.n_clusters, options, _watch_fit(tell))
        verdict = _assessment.assess_clusters(selection, estimator, options, _watch_steps(tell))
        reading = options | settings.upload.reading
        page = _cluster.make_report(selection, estimator, reading, assessment=verdict)
        model = io.BytesIO()
        save(
            estimator,
            model,
            reading=_tables.reading_of(options, selection.names, selection.readings),
        )
        files = {"report.html": page.html.encode(), "model.pckid": model.getvalue()}
        dates = _cluster.dates_of(selection)
        sheets = _cluster.profile_sheets(estimator, dates)
        return _made(selection, estimator, _cluster.new_columns(estimator), files, sheets)


def place_new_rows(model: Upload, upload: Upload, tell: Tell) -> Made:
    """Put rows into the clusters of a model as `pckid predict` does."""
    content = io.BytesIO(model.content)
    content.name = model.name
    with _notes_kept():
        estimator, description = load_with_description(content)
        given: dict[str, Any] = {"na_values": (), "numbers": (), "dates": ()}
        options = _prediction.with_known_reading(description, given)
        selection = _prediction.select_known(estimator, read_whole(upload.open()), options)
        _tables.point_out(selection, yes="")
        tell(0.5, "Placing rows")
        return _made(selection, estimator, _prediction.assign_rows(estimator, selection), {})


@contextmanager
def _notes_kept() -> Iterator[None]:
    """Keep for the page what a command would print for its user."""
    with redirect_stderr(io.StringIO()), warnings_as_notes():
        yield


def _made(
    selection: _tables.Selection,
    estimator: Any,
    new: dict[str, np.ndarray],
    files: dict[str, bytes],
    sheets: Any = None,
) -> Made:
    """Sum up a run, and write its rows."""
    found = _cluster.summarise_clusters(selection, estimator, new["cluster"], new["confidence"])
    origin = streaming.origin(estimator, selection.table.source, selection.table.sha256)
    for kind in ("csv", "xlsx"):
        rows = io.BytesIO()
        try:
            _tables.write_rows(rows, selection, new, kind, None, True, origin, sheets)
            files[f"clusters.{kind}"] = rows.getvalue()
        except TableError as error:  # more rows than a sheet takes
            note(str(error))
    said = sys.stderr.getvalue().splitlines()  # type: ignore[union-attr]
    notes = [line.removeprefix("Note: ") for line in said if line.startswith("Note: ")]
    return Made(found, notes, files)


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
        counts = itertools.count(1)
        yield lambda count: tell(1 / 3 + 2 / 3 * min(next(counts) / total, 1.0), what)

    return watch
