"""The rows of a result: written as they come, and counted."""

import errno
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pckid._utils.files import check_target
from pckid._utils.parallel import n_threads
from pckid._version import __version__
from pckid.describe.cluster_names import cluster_titles
from pckid.estimator import PCKID, keep_cluster_sizes
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.writing import TableWriter, check_output, open_output
from pckid.frontends.options import list_texts
from pckid.frontends.questions.earlier_result import GROUP_COLUMN, NAME_COLUMN, NEW_COLUMNS
from pckid.input.cells import as_text
from pckid.input.validation import checked_blocks
from pckid.metrics import Agreement, agreement_of_counts
from pckid.spectral.assignment import place_rows


class Totals(NamedTuple):
    """What was found in all rows of a file."""

    n_rows: int
    cluster_sizes: list[int]
    n_unclustered: int
    mean_confidence: float | None
    agreement: Agreement | None = None  # with known groups; None without any, or with one cluster

    @property
    def accuracy(self) -> float | None:
        """The accuracy of the agreement, if there are as many clusters as known groups."""
        return None if self.agreement is None else self.agreement.accuracy

    def records(self) -> dict[str, Any]:
        """Write the counts, and the agreement, as plain data."""
        found = self._asdict() | {"agreement": None}
        if self.agreement is not None:
            found["agreement"] = self.agreement._asdict()
        return found | {"accuracy": self.accuracy}


class BatchResult(NamedTuple):
    """Rows of a table, and what was found for them."""

    table: FileTable | None  # the columns asked for; None if none were
    start: int  # number of the first row in the whole table
    results: tuple[np.ndarray, ...]
    numbers: dict[str, np.ndarray] | None = None  # of columns that the file holds as text


class Layout(NamedTuple):
    """What is written for each row, besides its cluster and how clearly it belongs there."""

    kept: tuple[str, ...]  # columns of the table; none of them: the number of the row
    known: str | None = None  # a column of known groups, compared and not written
    outliers: bool = False  # whether a row gets its outlier score
    # (n_rows,), what its missing values could change, of rows in memory; None: not written
    instability: np.ndarray | None = None
    groups: np.ndarray | None = None  # (n_clusters,), the group of each cluster; None: not written

    @property
    def new_columns(self) -> list[str]:
        """The columns that are added to those of the table."""
        wanted = (True, True, self.outliers, self.instability is not None)
        return [name for name, is_wanted in zip(NEW_COLUMNS, wanted, strict=True) if is_wanted]

    @property
    def read(self) -> list[str]:
        """The columns that are read beside those clustered by."""
        return list(dict.fromkeys([*self.kept, *([self.known] if self.known else [])]))


def write_labels(
    model: PCKID,
    data: Any,
    path: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    outliers: bool = False,
    table: str = "clusters",
) -> Totals:
    """Write a cluster for every row of a data set, batch by batch as it is read.

    Parameters
    ----------
    model : PCKID
        Fitted, to this data set or to other rows with its columns.
    data : pyarrow.dataset.Dataset
        The rows, with the columns of the fit and those to keep. They need not fit in memory.
    path : str or path-like
        Where the labels go (.parquet, .csv, .csv.gz, .xlsx, …). The file appears when it is
        complete. What the data set reads is never overwritten, and nothing is written into a folder
        that holds the data set alone. A database (.sqlite, .db, .duckdb) gets a new table.
    keep : sequence of str, default=()
        Columns to write beside the labels, such as an id; by default the number of the row.
    outliers : bool, default=False
        Whether to write how unlike every cluster each row is.
    table : str, default="clusters"
        Name of the new table, where `path` is a database.

    Returns
    -------
    totals : Totals
        Counts over all rows.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, pyarrow as pa, pyarrow.dataset as ds
    >>> from pckid import PCKID, write_labels
    >>> folder = tempfile.mkdtemp()
    >>> x = np.random.default_rng(0).normal(size=60) + 9 * (np.arange(60) % 2)
    >>> table = pa.table({"id": np.arange(60), "x": x, "y": -x})
    >>> ds.write_dataset(table, os.path.join(folder, "rows"), format="parquet")
    >>> rows = ds.dataset(os.path.join(folder, "rows"))
    >>> model = PCKID(2, random_state=0).fit(rows.scanner(columns=["x", "y"]))
    >>> write_labels(model, rows, os.path.join(folder, "o.csv"), keep=["id"]).cluster_sizes
    [30, 30]
    """
    from pckid.blocks.datasets import DatasetRows, list_sources

    out, kept = os.fsdecode(path), list_texts(keep, "keep")
    form = check_output(out, table=table)
    check_target(out, list_sources(data))
    is_new = form.is_added_to or not os.path.isfile(out)
    if not is_new and not hasattr(data, "get_fragments"):
        raise FileExistsError(
            errno.EEXIST,
            f"{out!r} may be what the scanner reads, which it does not say. Give the data set, or "
            "another name.",
        )
    rows = DatasetRows(data, columns=[str(name) for name in model.feature_names_in_])
    made_by = json.dumps(describe_estimator(model))
    with open_output(out, table=table, origin=made_by) as writer:
        return write_rows_of(model, rows, writer, Layout(kept, outliers=outliers))


def tabulate_cells(
    records: Sequence[dict[str, Any]], fields: Sequence[str], ids: Sequence[str] | None
) -> FileTable:
    """Lay out what was found of single cells as a table: rows count from 1, and may have names."""
    lines = []
    for record in records:
        named = {"row": record["row"] + 1} | ({"name": ids[record["row"]]} if ids else {})
        # A column holds numbers and categories of all columns of the table.
        value = {"value": str(record["value"])} if "value" in record else {}
        lines.append({**record, "name": None} | named | value)
    columns = [name for name in fields if ids or name != "name"]
    return FileTable(pa.table({name: [line[name] for line in lines] for name in columns}))


def write_rows_of(model: PCKID, rows: Any, writer: TableWriter, layout: Layout) -> Totals:
    """Write the clusters of all rows of a data set, `DatasetRows`, as they come."""
    jobs, rows, state = n_threads(model.n_jobs), checked_blocks(model, rows), model.state_
    fitted = state.clusters._replace(own_scores=state.own_scores)

    def place(batch: Any) -> BatchResult:
        found = place_rows(fitted, batch.X, batch.known, jobs, layout.outliers)
        return BatchResult(FileTable(batch.data) if layout.read else None, batch.start, found)

    with closing(rows.batches(layout.read)) as batches:
        totals = write_batches(model, map(place, batches), writer, layout)
    # For the model's file: a model that was fitted to blocks has no labels to count.
    n_more = model.cluster_centers_.shape[0] - len(totals.cluster_sizes)
    keep_cluster_sizes(model, totals.cluster_sizes + [0] * n_more)
    return totals


def describe_estimator(model: PCKID) -> dict[str, Any]:
    """Describe what made a result as plain data: version and parameters."""
    parameters = {key: _plain(value) for key, value in model.get_params().items()}
    return {"version": __version__, "parameters": parameters}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def write_batches(
    model: PCKID, batches: Iterable[BatchResult], writer: TableWriter, layout: Layout
) -> Totals:
    """Write batches of rows with what was found for them, and count it."""
    n_clusters = model.cluster_centers_.shape[0]
    # A row without a cluster has the last of the counts, and of the names.
    sizes = np.zeros(n_clusters + 1, dtype=np.int64)
    titles = np.array([*cluster_titles(model), ""], dtype=object)
    confident, groups = 0.0, defaultdict[str, list[int]](lambda: [0] * n_clusters)
    for found in batches:
        new = dict(zip(layout.new_columns, found.results, strict=True))
        labels = new["cluster"]
        if layout.groups is not None:
            of_rows = np.append(layout.groups, -1)[labels]
            new = {"cluster": labels, GROUP_COLUMN: of_rows} | new
        if any(model.cluster_names_):
            new = {"cluster": labels, NAME_COLUMN: titles[labels]} | new
        if layout.kept and found.table:
            data = found.table.data.select(list(layout.kept))
            writer.write(replace(found.table, data=data), new, found.numbers)
        else:
            rows = np.arange(found.start + 1, found.start + len(labels) + 1)
            writer.write(FileTable(pa.table({"row": rows})), new)
        sizes += np.bincount(labels % len(sizes), minlength=len(sizes))
        confident += float(new["confidence"].sum(dtype=np.float64))
        if layout.known and found.table:
            names = found.table.data.column(layout.known).to_pylist()
            for name, label in zip(names, labels.tolist(), strict=True):
                if label >= 0 and name not in (None, ""):
                    groups[as_text(name)][label] += 1
    clustered = int(sizes[:-1].sum())
    last = int(np.flatnonzero(sizes[:-1]).max(initial=-1)) + 1
    mean = confident / clustered if clustered else None
    counts, names = np.array(list(groups.values())), list(groups)
    agreement = agreement_of_counts(counts, names) if names else None
    return Totals(int(sizes.sum()), sizes[:last].tolist(), int(sizes[-1]), mean, agreement)
