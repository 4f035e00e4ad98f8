"""Cluster a table that stays in its file: read in batches, labels written as they come."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, to_numpy
from pckid._utils.files import atomic_file
from pckid._utils.parallel import n_threads
from pckid._version import __version__
from pckid.cluster import PCKID
from pckid.exceptions import TableError
from pckid.metrics import accuracy_of_counts
from pckid.outofcore.files import FileRows, Found
from pckid.outofcore.stored import StoredLabels
from pckid.spectral.assignment import FittedClusters, place_rows
from pckid.tables import (
    MissingTokens,
    Reading,
    ReadingRules,
    Scan,
    TableWriter,
    find_readings,
    row_numbers,
    scan_table,
    table_format,
)


class Totals(NamedTuple):
    """What was found in all rows of a file."""

    n_rows: int
    cluster_sizes: list[int]
    n_unclustered: int
    mean_confidence: float | None
    accuracy: float | None  # agreement with known groups, if there were any


class Layout(NamedTuple):
    """What is written for each row, besides its cluster and how clearly it belongs there."""

    kept: tuple[str, ...]  # columns of the table; none of them: the number of the row
    known: str | None = None  # a column of known groups, compared and not written


def cluster_file(
    model: PCKID,
    source: str,
    out: str,
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    na_values: Sequence[str] = (),
    scheduler: str | None = None,
    sheet: str | None = None,
) -> Totals:
    """Fit a model to a table in a file or folder, and write a cluster for every row.

    The table may be larger than memory: it is read twice, in batches that fit scikit-learn's
    `working_memory`, the next one while one is clustered. The labels are those that `model.fit`
    gives for the same table in memory.

    Parameters
    ----------
    model : PCKID
        Is fitted; it gets no `labels_` and no `embedding_`. Batches go to its `device`, if it has
        one, and are clustered there.
    source : str
        A Parquet file, a folder of Parquet files, or a CSV or TSV file. A spreadsheet or a file of
        Stata, SPSS or SAS is taken, too, but read whole.
    out : str
        Where the labels go (.parquet, .csv, .csv.gz, .xlsx, …). The file appears when it is
        complete.
    columns : sequence of str, default=None
        The columns to cluster by; None takes all but those kept.
    keep : sequence of str, default=None
        Columns to write beside the labels, such as an id; None writes the number of the row.
    na_values : sequence of str, default=()
        Further contents of cells that mean missing, such as "-9999".
    scheduler : str, default=None
        The address of a Dask scheduler whose workers do the work; they read Parquet themselves,
        so they must find it under the same path.
    sheet : str, default=None
        The name of a spreadsheet's sheet, or its number from 1; None takes the first with cells.

    Returns
    -------
    totals : Totals
        Counts over the whole file.

    Examples
    --------
    >>> import os, tempfile
    >>> from pckid import PCKID, cluster_file
    >>> folder = tempfile.mkdtemp()
    >>> source, out = os.path.join(folder, "table.csv"), os.path.join(folder, "labels.csv")
    >>> with open(source, "w") as file:
    ...     _ = file.write("id,x,y\\na,1,2\\nb,1.1,\\nc,8,9\\nd,,9.1\\n")
    >>> model = PCKID(2, n_inits=5, max_samples=1.0, random_state=0)
    >>> cluster_file(model, source, out, columns=["x", "y"], keep=["id"]).cluster_sizes
    [2, 2]
    """
    scan = scan_table(source, sheet=sheet)
    layout = Layout(tuple(keep or ()))
    known, kept = set(scan.names), set(layout.kept)
    wanted = columns or [name for name in scan.names if name not in kept]
    unknown = [name for name in (*wanted, *layout.kept) if name not in known]
    if unknown:
        raise TableError(f"{source} has no column '{unknown[0]}'.")
    kind, codec = table_format(out)
    missing, rules = MissingTokens.with_defaults(na_values), ReadingRules(kept=frozenset(wanted))
    found = find_readings(scan, wanted, missing, rules)
    readings = {n: way for n, way in found.items() if way.kind == "number" and not way.doubt}
    with file_rows(scan, wanted, missing, scheduler, readings, rules) as rows:
        model.fit(rows)
        made_by = json.dumps(origin(model, scan.source, scan.sha256()))
        with (
            atomic_file(out) as file,
            TableWriter(file, kind=kind, codec=codec, origin=made_by) as writer,
        ):
            return write_labels(model, rows, writer, layout)


def origin(model: PCKID, source: str, sha256: str) -> dict[str, Any]:
    """Say what made a result: the version, every parameter, and the table by its hash."""
    plain = (str, int, float, bool, type(None))
    given = model.get_params().items()
    return {
        "version": __version__,
        "parameters": {key: v if isinstance(v, plain) else str(v) for key, v in given},
        "source": os.path.basename(source),
        "sha256": sha256,
    }


@contextmanager
def file_rows(
    scan: Scan,
    names: Sequence[str],
    missing: MissingTokens,
    scheduler: str | None,
    readings: Mapping[str, Reading],
    rules: ReadingRules,
) -> Iterator[FileRows]:
    """Give the rows of a file, to be read here or by the workers of a scheduler."""
    if scheduler is None:
        yield FileRows(scan, names, missing, readings, rules)
        return
    from pckid.outofcore.daskrows import ClusterRows, connected

    with connected(scheduler) as client:
        yield ClusterRows(scan, names, missing, client, readings)


class _Tally:
    """Counts of labels, and of known groups with them, as they come."""

    def __init__(self, n_clusters: int) -> None:
        self.sizes = np.zeros(n_clusters, dtype=np.int64)
        self.n_rows, self.confident = 0, 0.0
        self.groups: Counter[tuple[str, int]] = Counter()

    def add(self, found: Found, known: str | None) -> None:
        """Count some rows."""
        labels, confidence = found.results
        self.sizes += np.bincount(labels[labels >= 0], minlength=len(self.sizes))
        self.n_rows += len(labels)
        self.confident += float(confidence.sum())
        if known and found.table:
            names = found.table.data.column(known).to_pylist()
            pairs = zip(names, labels.tolist(), strict=True)
            self.groups.update(
                (str(name), j) for name, j in pairs if j >= 0 and name not in (None, "")
            )

    def totals(self) -> Totals:
        """Sum up."""
        clustered = int(self.sizes.sum())
        last = int(np.flatnonzero(self.sizes).max(initial=-1)) + 1
        mean = self.confident / clustered if clustered else None
        return Totals(
            self.n_rows, self.sizes[:last].tolist(), self.n_rows - clustered, mean, self._accuracy()
        )

    def _accuracy(self) -> float | None:
        """Compare clusters with the known groups."""
        if not self.groups:
            return None
        names = sorted({name for name, _ in self.groups})
        counts = np.zeros((len(names), len(self.sizes)), dtype=np.int64)
        for (name, label), count in self.groups.items():
            counts[names.index(name), label] = count
        return accuracy_of_counts(counts)


def write_labels(
    model: PCKID,
    rows: FileRows,
    writer: TableWriter,
    layout: Layout,
    stored: StoredLabels | None = None,
) -> Totals:
    """Find the clusters of all rows of a file with a fitted model, and write them as they come.

    Labels that are `stored` are not computed again, and those that are computed are stored.
    """
    others = list(dict.fromkeys([*layout.kept, *([layout.known] if layout.known else [])]))
    jobs = n_threads(model.n_jobs) if rows.local else 1
    tally = _Tally(model.cluster_centers_.shape[0])
    with closing(rows.results(_label, (model._fitted, jobs, stored), others)) as results:
        for found in results:
            new = dict(zip(("cluster", "confidence"), found.results, strict=True))
            if layout.kept and found.table:
                data = found.table.data.select(list(layout.kept))
                writer.write(found.table._replace(data=data), new, found.numbers)
            else:
                writer.write(row_numbers(found.start, len(new["cluster"])), new)
            tally.add(found, layout.known)
    if rows.surveyed is None or rows.surveyed.n_rows != tally.n_rows:
        raise TableError(f"{rows.scan.source} changed while it was read. Cluster it again.")
    # For the model's file: a model that was fitted to blocks has no labels to count.
    model._cluster_sizes = tally.sizes.tolist()
    return tally.totals()


def _label(
    state: tuple[FittedClusters, int, StoredLabels | None], X: np.ndarray
) -> tuple[Array, ...]:
    """Label a batch of rows."""
    fitted, jobs, stored = state
    known = None if stored is None else stored.recall(len(X))
    if known is not None:
        return known
    found = tuple(place_rows(fitted, X, jobs)[0])
    if stored is not None:
        stored.keep(*map(to_numpy, found))
    return found
