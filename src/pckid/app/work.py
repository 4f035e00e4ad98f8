"""What is computed in processes of their own: the same calls as those of the commands."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.progress import StepCounter
from pckid.cli import _cluster, _prediction, _tables
from pckid.modelfile import load_with_description, save
from pckid.tables import Source, Table, write_table

MAX_UNPACKED = 1 << 30
"""Bytes that an uploaded file may take unpacked."""
_RUNNING = {"seed": 0, "jobs": None, "device": None}
Tell = Callable[[float], None]


class Upload(NamedTuple):
    """A file in memory, and how to read it."""

    name: str
    content: bytes
    header: bool = True
    known: str | None = None  # column with known groups

    def read(self, options: dict[str, Any]) -> Table:
        """Read the table as the commands do."""
        source = Source(self.name, MAX_UNPACKED, self.content)
        limits = {"no_header": not self.header, "max_unpacked": MAX_UNPACKED / 2**30}
        return _tables.open_table(source, options | limits)


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
    settings: Settings | None = None
    verdict: str = ""


def find_groups(settings: Settings, tell: Tell) -> Made:
    """Cluster a table as `pckid cluster` does."""
    options = settings.options | _RUNNING
    selection = _tables.select(settings.upload.read(options), options)
    estimator = _cluster.fit(selection, settings.n_clusters, options, _watcher(tell))
    new, model = _cluster.new_columns(estimator), io.BytesIO()
    save(estimator, model, reading={"na_values": list(options["na_values"])})
    page = _cluster.make_report(selection, estimator)
    files = {"report.html": page.html.encode(), "model.pckid": model.getvalue()}
    made = _made(selection, estimator, new, files)
    return made._replace(settings=settings, verdict=page.summary.verdict)


def place_new_rows(model: Upload, upload: Upload, tell: Tell) -> Made:
    """Put rows into the clusters of a model as `pckid predict` does."""
    content = io.BytesIO(model.content)
    content.name = model.name
    estimator, description = load_with_description(content)
    options = {"na_values": _prediction.with_known_codes(description, ())}
    selection = _prediction.select_known(estimator, upload.read(options), options)
    tell(0.5)
    return _made(selection, estimator, _prediction.assign(estimator, selection), {})


def _made(
    selection: _tables.Selection,
    estimator: Any,
    new: dict[str, np.ndarray],
    files: dict[str, bytes],
) -> Made:
    """Sum up a run, and write its rows."""
    found = _cluster.summary(selection, estimator, new["cluster"], new["confidence"])
    rows = io.BytesIO()
    write_table(rows, selection.table, new, escape_formulas=True)
    said = getattr(sys.stderr, "getvalue", str)().splitlines()
    notes = [line.removeprefix("Note: ") for line in said if line.startswith("Note: ")]
    return Made(found, notes, {"clusters.csv": rows.getvalue(), **files})


def _watcher(tell: Tell) -> Callable[..., Any]:
    """Make what `fit` calls to have its progress told."""

    @contextmanager
    def watch(estimator: Any, what: str) -> Iterator[None]:
        if hasattr(estimator, "set_callbacks"):
            counter = StepCounter(lambda n_done, n_steps: tell(min(n_done / (n_steps or 1), 1.0)))
            estimator.set_callbacks(counter)
        yield
        if hasattr(estimator, "set_callbacks"):
            estimator.set_callbacks()

    return watch
