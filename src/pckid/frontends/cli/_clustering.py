"""The run of `pckid cluster`: open, prepare, fit, judge, place all rows and write them."""

import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from pckid._utils.arrays import place, to_numpy
from pckid._utils.commands import as_argument, write_command
from pckid._utils.text import counted, list_first
from pckid.acquisition import next_cells
from pckid.assessment import Assessment
from pckid.blocks.datasets import DatasetRows
from pckid.cluster import PCKID
from pckid.describe.cluster_names import check_cluster_names
from pckid.frontends import results as streaming
from pckid.frontends.cli import _words
from pckid.frontends.cli._outputs import check_outputs, write_cells, write_rows
from pckid.frontends.cli._say import is_quiet, note, print_json, say
from pckid.frontends.options import ColumnOptions, ReadOptions, list_given
from pckid.frontends.run import FITTING, JUDGING, Clustering, fit_clusters
from pckid.frontends.tables.cases import prepare_table
from pckid.frontends.tables.choosing import named_columns
from pckid.frontends.tables.datasets import is_large, open_dataset
from pckid.frontends.tables.findings import Doubt, advice
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.tables.writing import table_format
from pckid.frontends.wording import write_problems, write_row_count
from pckid.modelfile import load
from pckid.n_clusters import CHOOSING
from pckid.reporting.missing_cells import write_instability

_PHASES = {
    FITTING: "Fitting mixture models",
    CHOOSING: "Choosing the number of clusters",
    JUDGING: "Comparing with tables without groups",
}
# Options of columns that do not say how they are read.
_USE = (
    "columns", "drop", "categorical", "row_names", "labels", "known", "weights", "take_advice",
)  # fmt: skip


def run_cluster(given: SimpleNamespace) -> None:
    """Cluster a table, and write its rows and what else was asked for, by the command's options."""
    given.file = None if given.out == "-" else given.out
    listed = csv.reader([given.names] if given.names else [], skipinitialspace=True)
    given.names = [name.strip() or None for names in listed for name in names]
    given.settings = _read_settings(given.settings)
    reading, columns = _words.pick_given(given)
    _check_use(given)
    estimator = _make_estimator(given)
    prepared, rows = _open(given, reading, columns)
    if given.file:  # so that too many rows show before the work
        table_format(given.file, prepared.table.n_rows if rows is None else None)
    _words.tell_prepared(prepared)
    estimator.set_params(
        column_groups=_words.find_column_groups(given.groups, prepared),
        log_columns=_words.find_log_columns(given.log_columns, prepared) or estimator.log_columns,
        categorical_features=list(prepared.counts) or None,
    )
    totals = _cluster(estimator, prepared, rows, given)
    n_found = len(list(filter(None, totals.cluster_sizes)))
    _tell_next(given, n_found, rows is not None)
    tell_open(given.table, reading, columns, prepared.problems)


def _read_settings(values: Sequence[str]) -> dict[str, Any]:
    """Read parameters of the estimator: numbers, true, false, none, and other words as they are."""
    found: dict[str, Any] = {}
    for each in values:
        name, sign, text = each.partition("=")
        if not (name and sign and text):
            raise click.BadParameter(f"{each!r} is not NAME=VALUE.", param_hint="--set")
        value: Any = {"true": True, "false": False, "none": None}.get(text.lower(), text)
        for kind in (float, int):
            with suppress(ValueError):
                value = kind(text)
        found[name.strip()] = value
    return found


def _make_estimator(given: SimpleNamespace) -> PCKID:
    """Make the model that the options describe; what does not suit it is wrong use."""
    unknown = given.settings.keys() - PCKID().get_params().keys()
    if unknown:
        known = ", ".join(sorted(PCKID().get_params()))
        raise click.BadParameter(
            f"there is no parameter {min(unknown)!r}; there are {known}.", param_hint="--set"
        )
    make = PCKID.as_in_paper if given.paper else PCKID
    estimator = make(**{"n_clusters": "auto", **_parameters(given)})
    estimator.set_params(**given.settings)
    try:
        estimator._validate_params()
        place(np.zeros(1), estimator.device)
    except (ImportError, ValueError) as error:
        raise click.BadParameter(str(error).splitlines()[0], param_hint="--set") from None
    return estimator


def _parameters(given: SimpleNamespace) -> dict[str, Any]:
    """Pick the parameters of the model that have options of their own, and were given."""
    own = {"n_clusters": given.n_clusters, "random_state": given.random_state}
    return {key: v for key, v in (own | {"n_jobs": given.n_jobs}).items() if v is not None}


def _options_of_fit(given: SimpleNamespace) -> dict[str, Any]:
    """Pick the options that a report repeats, to give another number of clusters by them."""
    settings = [f"{name}={value}" for name, value in given.settings.items()]
    asked = {"settings": settings, "paper": given.paper, "groups": given.groups}
    asked |= {"outcomes": given.outcomes, "like": given.like, "log_columns": given.log_columns}
    return asked | {"random_state": given.random_state or None}


def _check_use(given: SimpleNamespace) -> None:
    """Refuse what cannot be done before any work."""
    _make_estimator(given)
    outputs = given.report_path, given.model_path
    check_outputs([given.table], [given.out, given.out_long, given.next_cells], *outputs)
    needs = _need_memory(given)
    if given.stream and needs:
        raise click.UsageError(f"{needs[0]} needs the table in memory: leave --stream out.")
    if given.report_path:
        import jinja2  # noqa: F401  so that its absence shows before the work, not after
    if given.names and given.n_clusters:
        check_cluster_names(given.names, given.n_clusters)


def _need_memory(given: SimpleNamespace) -> list[str]:
    """List the options given that are about rows in memory."""
    of_rows = ("case", "weights", "instability", "next_cells", "outcomes", "like")
    asked = [key for key in of_rows if getattr(given, key)]
    found = [as_argument(key) for key in asked] + ["--report"] * bool(given.report_path)
    informative = given.settings.get("missingness") == "informative"
    return found + ["--set missingness=informative"] * informative


def _open(
    given: SimpleNamespace, reading: ReadOptions, columns: ColumnOptions
) -> tuple[Prepared, DatasetRows | None]:
    """Read a table whole and prepare it; or in batches, if asked to, or if it is large."""
    if given.stream or (not _need_memory(given) and is_large(given.table)):
        say(f"{given.table} is read in batches; it need not fit in memory.")
        return open_dataset(given.table, reading, columns)
    table = open_table(given.table, reading)
    _words.tell_notes(table.notes)
    given.outcomes = named_columns(table, given.outcomes, "outcomes")
    columns = replace(columns, drop=(*columns.drop, *given.outcomes))
    return prepare_table(table, columns), None


def _cluster(
    estimator: PCKID, prepared: Prepared, rows: DatasetRows | None, given: SimpleNamespace
) -> streaming.Totals:
    """Fit, judge, write and tell; return what was found in all rows."""
    start = time.perf_counter()
    found = _fit(estimator, prepared, rows, given)
    seconds = time.perf_counter() - start
    assessment = None
    if given.wants_verdict and bool(not given.quiet or given.as_json or given.report_path):
        assessment = found.assess(_progress_bar, given.n_jobs)
        say(assessment.sentence)
        # Warnings gave the other notes before.
        uncounted = [] if assessment.chosen else assessment.uncounted
        for text in replace(assessment, codes=[], uncounted=uncounted).notes:
            note(text)
    say(f"Clustered in {seconds:.1f} s; {found.share_missing:.1%} of the cells are missing.")
    _tell_choice(estimator)
    if given.like:
        say(estimator.matches_.sentence)
    outcomes = found.compare_outcomes(given.outcomes) if given.outcomes else None
    if outcomes:
        say(str(outcomes))
    if given.report_path:
        asked = _options_of_fit(given)
        found.report(assessment, _words.SHELL, given.report_path, outcomes, **asked)
    totals, layout = _write(found, given, assessment)
    tell_sizes(estimator, totals)
    _words.tell_notes(found.list_notes(totals, layout))
    if not is_quiet():
        for line in found.describe_clusters(assessment):
            say(line)
    if given.next_cells:
        cells = next_cells(estimator, prepared.frame)
        say(cells.sentence)
        write_cells(found, cells.records(), given.next_cells, given)
        say(f"Cells to measure next: {given.next_cells}")
    if given.report_path:
        say(f"Report: {given.report_path}")
    if given.model_path:
        found.save(given.model_path)
        say(f"Model: {given.model_path}")
    if given.as_json:
        notes = found.list_findings(totals, layout, _words.SHELL)
        print_json(found.summarise(totals, assessment, outcomes) | {"notes": notes})
    return totals


def _fit(
    estimator: PCKID, prepared: Prepared, rows: DatasetRows | None, given: SimpleNamespace
) -> Clustering:
    """Fit, with a bar on a terminal, and say how large the table is."""
    n_rows = len(prepared.X) if rows is None else rows.dataset.count_rows()
    n_columns, n_categories = len(prepared.names), len(prepared.counts)
    kinds = f" ({n_categories} of categories)" if n_categories else ""
    told = write_row_count(n_rows, prepared.table)
    say(f"{told}, {counted(n_columns, 'column')}{kinds}.")
    like = load(given.like) if given.like else None
    found = fit_clusters(estimator, prepared, rows, _progress_bar, like)
    if given.names:
        before, estimator.cluster_names_ = estimator.cluster_names_, given.names
        pairs = zip(before, given.names, strict=True)
        changed = [f"{new} for {old}" for old, new in pairs if old and old != new]
        if changed:
            note(f"--names takes the place of names in --known: {list_first(changed)}.")
    return found


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int | None, str], None] | None]:
    """Draw a bar with the time left, on a terminal only; what is yielded moves it."""
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("", total=None)
        yield lambda n_done, n_steps, phase: drawn.update(
            task, completed=n_done, total=n_steps, description=_PHASES[phase]
        )


def _write(
    found: Clustering, given: SimpleNamespace, assessment: Assessment | None
) -> tuple[streaming.Totals, streaming.Layout]:
    """Write all rows with their clusters; return what was found, and which columns were written."""
    start, shares = time.perf_counter(), None
    if given.instability:
        shares = to_numpy(found.estimator.missing_instability(found.prepared.frame))
        say(write_instability(shares))
    layout = found.layout(given.outliers, given.only_labels, shares, assessment)
    totals = write_rows(found, layout, given, found.profile_sheets())
    if found.rows is not None:
        say(f"All rows labelled in {time.perf_counter() - start:.1f} s.")
    return totals, layout


def _tell_choice(estimator: PCKID) -> None:
    if not hasattr(estimator, "choice_"):
        return
    chosen = estimator.choice_.n_clusters
    others = [number for number in estimator.choice_.ranked.tolist() if number != chosen]
    second = f"; {others[0]} would come next" if others else ""
    if estimator.n_clusters_ > chosen:
        say(
            f"Number of clusters: {estimator.n_clusters_}, as many as groups are known; by the "
            f"table alone it would be {chosen}."
        )
        return
    say(f"Number of clusters, chosen from the table: {chosen}{second}.")


def tell_sizes(estimator: PCKID, totals: streaming.Totals) -> None:
    """Print how many rows are in each cluster, and how these agree with known groups."""
    sizes = [f"{size:,}" for size in totals.cluster_sizes]
    last, names = len(sizes) - 1, estimator.cluster_names_
    if sizes and any(names):
        # The last clusters may hold none of the rows that a model places.
        sizes += ["0"] * (len(names) - len(sizes))
        pairs = [f"{name or f'cluster {c}'} {sizes[c]}" for c, name in enumerate(names)]
        say(f"Rows: {', '.join(pairs)}.")
    elif sizes:
        of_all = f"clusters 0 to {last}" if last else "cluster 0"
        say(f"Rows in {of_all}: {', '.join(sizes)}.")
    if totals.accuracy is not None:
        say(f"Agreement with the known groups (accuracy): {totals.accuracy:.3f}")


def _tell_next(given: SimpleNamespace, n_clusters: int, in_batches: bool) -> None:
    """List what can be done with what was written; each command runs as it is printed.

    `n_clusters` are those that hold rows.
    """
    lines = []
    if given.report_path:
        url = Path(given.report_path).resolve().as_uri()
        lines.append(f"Open the report in a browser: {url}")
    if given.model_path:
        words = ["predict", given.model_path, "new.csv"]
        predict = write_command(words, {"out": "new-clusters.csv"})
        lines.append(f"Put new rows into these clusters: {predict}")
    if n_clusters == 1:
        lines.append("There is only one cluster; -k 2 or more divides its rows, groups or not.")
    elif not lines:
        memory = ", which needs the table in memory" if in_batches else ""
        memory += " (leave --stream out)" if in_batches and given.stream else ""
        lines.append(
            f"See what sets the clusters apart with --report FILE.html{memory}; put new rows into "
            "the clusters later with --save FILE.pckid."
        )
    for line in ("What next:", *(f"  {line}" for line in lines)):
        say(line)


def tell_open(
    source: str, reading: ReadOptions, columns: ColumnOptions, problems: Sequence[Doubt]
) -> None:
    """Print how many of the notes on the table are open questions, and what helps."""
    n_open = len(write_problems(problems, _words.SHELL))
    if not n_open:
        return
    is_open = "question about the table is" if n_open == 1 else "questions about the table are"
    how = " Add --yes to take the advice." if advice(problems) else ""
    say(f"{n_open} {is_open} open: see the notes above.{how}")
    if source != "-":
        say(f"{inspect_command(source, reading, columns)} tells more.")


def inspect_command(source: str, reading: ReadOptions, columns: ColumnOptions) -> str:
    """Write the command that inspects a table, read in the same way."""
    given = list_given(reading, columns)
    return write_command(["inspect", source], {k: v for k, v in given.items() if k not in _USE})
