"""Cluster a table that stays in its file: read in batches, labels written as they come."""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from inspect import signature
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from sklearn.utils import check_random_state

from pckid._utils.arrays import Array
from pckid._utils.files import atomic_file, check_target
from pckid._utils.parallel import n_threads
from pckid._version import __version__
from pckid.cluster import PCKID
from pckid.describe.cluster_names import cluster_titles
from pckid.exceptions import TableError
from pckid.frames import PYTHON, parameter_errors, read_table
from pckid.input.learning_rows import pool_size
from pckid.metrics import accuracy_of_counts
from pckid.outofcore.files import BatchResult, FileRows
from pckid.outofcore.rows import Survey
from pckid.series.files import prepare_table
from pckid.spectral.assignment import FittedClusters, place_rows
from pckid.tables.findings import Fact, Problem, advice
from pckid.tables.options import ColumnOptions, list_texts, pick_options
from pckid.tables.prepared import Prepared, Unread
from pckid.tables.preparing import prepare
from pckid.tables.problems import NAME_COLUMN, NEW_COLUMNS, find_problems
from pckid.tables.scanning import OpenTable, open_table
from pckid.tables.table import FileTable
from pckid.tables.writing import TableWriter, table_format
from pckid.wording import refuse_undecided


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
    outliers: bool = False  # whether a row gets its outlier score
    # (n_rows,), what its missing values could change, of rows in memory; None: not written
    instability: np.ndarray | None = None

    @property
    def new_columns(self) -> list[str]:
        """The columns that are added to those of the table."""
        wanted = (True, True, self.outliers, self.instability is not None)
        return [name for name, is_wanted in zip(NEW_COLUMNS, wanted, strict=True) if is_wanted]

    @property
    def read(self) -> list[str]:
        """The columns that are read beside those clustered by."""
        return list(dict.fromkeys([*self.kept, *([self.known] if self.known else [])]))


def cluster_file(
    model: PCKID,
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    known: str | None = None,
    scheduler: str | None = None,
    **options: Any,
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
    source : str or path-like
        A Parquet file, a folder of Parquet files, or a CSV or TSV file. A spreadsheet or a file of
        Stata, SPSS or SAS is taken, too, but read whole.
    out : str or path-like
        Where the labels go (.parquet, .csv, .csv.gz, .xlsx, …). The file appears when it is
        complete.
    columns : sequence of str, default=None
        The columns to cluster by; None takes all but those kept.
    keep : sequence of str, default=None
        Columns to write beside the labels, such as an id; None writes the number of the row.
    known : str, default=None
        A column with the groups of rows that are known, empty elsewhere, as for `PCKID.fit`.
    scheduler : str, default=None
        The address of a Dask scheduler whose workers do the work; they read Parquet themselves,
        so they must find it under the same path.
    **options
        How the table is read, as for `read_table`: na_values, numbers, dates, drop, categorical,
        take_advice, sheet and the others.

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
    source, out, kept = os.fsdecode(source), os.fsdecode(out), list_texts(keep or (), "keep")
    kind, codec = table_format(out)
    check_target(out, [source])
    unknown = options.keys() - signature(read_table).parameters.keys()
    if unknown:
        raise TypeError(f"cluster_file() got an unexpected keyword argument {min(unknown)!r}")
    reading, chosen = pick_options({**options, "columns": columns or (), "known": known})
    with parameter_errors(source), workers_of(scheduler) as read_rows:
        table = open_table(source, reading, at_most=0)
        for name in kept:
            if name not in table.names:
                raise TableError(f"{source} has no column '{name}'.")
        if not columns:
            chosen = replace(chosen, drop=(*chosen.drop, *kept))
        prepared, rows = prepare_rows(model, table, chosen, read_rows)
        refuse_undecided(prepared, PYTHON)
        assert rows is not None  # of a table that stays in its file
        model.fit(rows)
        made_by = json.dumps(describe_result(model, prepared))
        with (
            atomic_file(out) as file,
            TableWriter(file, kind=kind, codec=codec, origin=made_by) as writer,
        ):
            return write_labels(model, rows, writer, Layout(kept))


def workers_of(scheduler: str | None) -> AbstractContextManager[Callable[[Prepared], FileRows]]:
    """Choose who reads the rows of a file: this process, or the workers of a scheduler."""
    if scheduler is None:
        return nullcontext(FileRows)
    from pckid.outofcore.daskrows import connected

    return connected(scheduler)


def prepare_rows(
    model: PCKID,
    table: OpenTable,
    options: ColumnOptions,
    read_rows: Callable[[Prepared], FileRows] = FileRows,
) -> tuple[Prepared, FileRows | None]:
    """Prepare a table, and draw the rows that a fit learns from where it stays in its file.

    The model, which is not fitted yet, says which rows are drawn. Where a later row is not written
    as the first ones are, the column is looked at anew, in all rows. Advice on the rows drawn is
    taken as that on the first ones. No rows are drawn of a table in memory, nor where something
    must be decided first.
    """
    unread, taken = Unread(), list[Fact]()
    while True:
        if table.whole is not None:
            return prepare_table(table, options), None
        prepared = prepare(table, options, unread=unread)
        if prepared.stops:
            return prepared, None
        rows = read_rows(prepared)
        found = rows.draw(*_drawing(model, len(prepared.names)))
        if isinstance(found, Survey):
            problems, had = _problems_in(prepared, found), prepared.options
            fixes = advice(problems) if had.take_advice else []
            if had.with_fixes(fixes) == had:
                notes = *prepared.notes, *taken
                return replace(prepared, problems=problems, notes=notes), rows
            taken.append(Fact("advice_taken", {"fixes": fixes}))
            options = options.with_fixes(fixes)
            continue
        if found.names <= unread.names and found.infinite <= unread.infinite:
            raise rows.changed_error()
        unread = Unread(unread.names | found.names, unread.infinite | found.infinite)


def _drawing(model: PCKID, n_features: int) -> tuple[int, int]:
    """Return the seed by which a fit will draw rows, and how many; any seed if it is random."""
    needs = model._needs()
    size = pool_size(n_features, model._n_rows_needed(), needs["n_landmarks"], needs["n_clusters"])
    seed = model.random_state if isinstance(model.random_state, Integral) else 0
    return int(check_random_state(seed).randint(2**31)), size


def _problems_in(prepared: Prepared, drawn: Survey) -> tuple[Problem, ...]:
    """List what is doubtful about a file by the rows that were drawn."""
    names, table = prepared.names, prepared.table
    if len(drawn.rows) == 0:
        return prepared.problems
    # Cells of the rows that were drawn are gone; what is said of texts was said before.
    sample = FileTable(pa.table({name: pa.array([], pa.float64()) for name in names}))
    readings = {name: prepared.readings[name] for name in names}
    columns = prepared.columns._replace(X=drawn.rows, readings=readings, wrong={})
    return tuple(find_problems(columns, sample, prepared.rules, table))


def describe_result(model: PCKID, prepared: Prepared) -> dict[str, Any]:
    """Describe what made a result: version, parameters, the table by its hash, and weights."""
    weights = prepared.options.weights
    return {
        "version": __version__,
        "parameters": {key: _plain(value) for key, value in model.get_params().items()},
        "source": os.path.basename(prepared.table.source),
        "sha256": prepared.table.sha256,
    } | ({"weights": weights} if weights else {})


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def write_labels(
    model: PCKID,
    rows: FileRows,
    writer: TableWriter,
    layout: Layout,
) -> Totals:
    """Write the clusters of all rows of a file with a fitted model, as they come."""
    jobs = n_threads(model.n_jobs) if rows.local else 1
    state = model._fitted, jobs, layout.outliers
    rows.refuse_changes()
    with closing(rows.results(_label, state, layout.read)) as placed:
        totals = write_batches(model, placed, writer, layout)
    rows.refuse_changes()
    # For the model's file: a model that was fitted to blocks has no labels to count.
    n_more = model.cluster_centers_.shape[0] - len(totals.cluster_sizes)
    model._cluster_sizes = totals.cluster_sizes + [0] * n_more
    return totals


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
        if any(model.cluster_names_):
            new = {"cluster": labels, NAME_COLUMN: titles[labels]} | new
        if layout.kept and found.table:
            data = found.table.data.select(list(layout.kept))
            writer.write(found.table._replace(data=data), new, found.numbers)
        else:
            rows = np.arange(found.start + 1, found.start + len(labels) + 1)
            writer.write(FileTable(pa.table({"row": rows})), new)
        sizes += np.bincount(labels % len(sizes), minlength=len(sizes))
        confident += float(new["confidence"].sum(dtype=np.float64))
        if layout.known and found.table:
            names = found.table.data.column(layout.known).to_pylist()
            for name, label in zip(names, labels.tolist(), strict=True):
                if label >= 0 and name not in (None, ""):
                    groups[str(name)][label] += 1
    clustered = int(sizes[:-1].sum())
    last = int(np.flatnonzero(sizes[:-1]).max(initial=-1)) + 1
    mean = confident / clustered if clustered else None
    accuracy = accuracy_of_counts(np.array(list(groups.values()))) if groups else None
    return Totals(int(sizes.sum()), sizes[:last].tolist(), int(sizes[-1]), mean, accuracy)


def _label(
    state: tuple[FittedClusters, int, bool],
    X: np.ndarray,
    known: np.ndarray | None,
) -> tuple[Array, ...]:
    """Label a batch of rows; those whose group is known keep it."""
    fitted, jobs, outliers = state
    return place_rows(fitted, X, known, jobs, outliers)
