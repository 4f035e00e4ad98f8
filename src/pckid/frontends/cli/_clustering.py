"""The run of `pckid cluster`: open, prepare, fit, judge, place all rows and write them."""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from pckid._utils.arrays import place, to_numpy
from pckid._utils.commands import as_argument
from pckid._utils.parallel import n_threads
from pckid._utils.text import list_first
from pckid.acquisition import NextCell, next_cells
from pckid.assessment import Assessment
from pckid.blocks.datasets import DatasetRows
from pckid.cluster import PCKID
from pckid.describe.cluster_names import check_cluster_names
from pckid.frontends.cli import _words
from pckid.frontends.cli._outputs import check_outputs, write_cells, write_rows
from pckid.frontends.cli._say import (
    holding_notes,
    is_quiet,
    note,
    print_json,
    remark,
    take_notes,
)
from pckid.frontends.cli._screen import show_found
from pckid.frontends.cli._telling import list_paths, list_questions, tell_clusters
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.results import Layout, Totals
from pckid.frontends.run import FITTING, JUDGING, Clustering, fit_clusters
from pckid.frontends.tables.cases import prepare_table
from pckid.frontends.tables.choosing import named_columns
from pckid.frontends.tables.datasets import is_large, open_dataset
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.tables.writing import table_format
from pckid.modelfile import load
from pckid.n_clusters import CHOOSING
from pckid.reporting.missing_cells import write_instability

_PHASES = {
    FITTING: "Fitting mixture models",
    CHOOSING: "Choosing the number of clusters",
    JUDGING: "Comparing with tables without groups",
}


def run_cluster(given: SimpleNamespace) -> None:
    """Cluster a table, and write its rows and what else was asked for, by the command's options."""
    given.file = None if given.out == "-" else given.out
    listed = csv.reader([given.names] if given.names else [], skipinitialspace=True)
    given.names = [name.strip() or None for names in listed for name in names]
    given.settings = _read_settings(given.settings)
    reading, columns = _words.pick_given(given)
    _check_use(given)
    estimator = _make_estimator(given)
    with holding_notes():
        prepared, rows = _open(given, reading, columns)
        if given.file:  # so that too many rows show before the work
            table_format(given.file, prepared.table.n_rows if rows is None else None)
        _words.tell_prepared(prepared)
        logs = _words.find_log_columns(given.log_columns, prepared) or estimator.log_columns
        prepared = _words.settle_logs(prepared, logs)
        estimator.set_params(
            column_groups=_words.find_column_groups(given.groups, prepared),
            log_columns=logs,
            categorical_features=list(prepared.counts) or None,
        )
        _cluster(estimator, prepared, rows, given)


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
    n_clusters = given.n_clusters or "auto"
    estimator = PCKID(n_clusters, random_state=given.random_state)
    estimator.set_params(**given.settings)
    try:
        estimator._validate_params()
        place(np.zeros(1), estimator.device)
        n_threads(estimator.n_jobs)
    except (ImportError, ValueError) as error:
        raise click.BadParameter(str(error).splitlines()[0], param_hint="--set") from None
    return estimator


def _options_of_fit(given: SimpleNamespace) -> dict[str, Any]:
    """Pick the options that a report repeats, to give another number of clusters by them."""
    settings = [f"{name}={value}" for name, value in given.settings.items()]
    asked = {"settings": settings, "groups": given.groups}
    asked |= {"outcomes": given.outcomes, "like": given.like, "log_columns": given.log_columns}
    return asked | {"random_state": given.random_state or None}


def _check_use(given: SimpleNamespace) -> None:
    """Refuse what cannot be done before any work."""
    _make_estimator(given)
    outputs = given.report_path, given.model_path
    sources = [given.table, *filter(None, [given.like])]
    check_outputs(sources, [given.out, given.out_long, given.next_cells], *outputs)
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
        remark(f"{given.table} is read in batches; it need not fit in memory.")
        return open_dataset(given.table, reading, columns)
    table = open_table(given.table, reading)
    _words.tell_notes(table.notes)
    given.outcomes = named_columns(table, given.outcomes, "outcomes")
    columns = replace(columns, drop=(*columns.drop, *given.outcomes))
    return prepare_table(table, columns), None


def _cluster(
    estimator: PCKID, prepared: Prepared, rows: DatasetRows | None, given: SimpleNamespace
) -> None:
    """Fit, judge, write and tell."""
    found = _fit(estimator, prepared, rows, given)
    assessment = None
    if given.wants_verdict and bool(not given.quiet or given.as_json or given.report_path):
        assessment = found.assess(_progress_bar, estimator.n_jobs)
        # Warnings gave the other notes before.
        ignored = [] if assessment.chosen else assessment.ignored
        for text in replace(assessment, codes=[], ignored=ignored).notes:
            note(text)
    _tell_choice(estimator)
    outcomes = found.compare_outcomes(given.outcomes) if given.outcomes else None
    if given.report_path:
        asked = _options_of_fit(given)
        found.report(assessment, _words.SHELL, given.report_path, outcomes, **asked)
    sentences = [estimator.matches_.sentence] if given.like else []
    sentences += str(outcomes).splitlines() if outcomes else []
    totals, layout = _write(found, given, assessment, sentences)
    if given.next_cells:
        cells = next_cells(estimator, prepared.frame)
        write_cells(found, cells.records(), NextCell._fields, given.next_cells, given)
        sentences.append(cells.sentence)
    if given.model_path:
        found.save(given.model_path)
    _show(found, totals, assessment, layout, sentences, given)
    if given.as_json:
        notes = found.list_findings(totals, layout, _words.SHELL)
        print_json(found.summarise(totals, assessment, outcomes) | {"notes": notes})


def _show(
    found: Clustering,
    totals: Totals,
    assessment: Assessment | None,
    layout: Layout,
    sentences: Sequence[str],
    given: SimpleNamespace,
) -> None:
    """Show what was found, the notes, what was written, and what is open about the table."""
    if is_quiet():
        return
    told, rows = tell_clusters(found, totals, assessment), found.rows
    # The table of clusters has a line for rows without one.
    listed = {"unclustered"} if told.lines else set()
    _words.tell_notes(n for n in found.list_notes(totals, layout) if n.code not in listed)
    if rows is not None and told.lines and len(found.judged[0]) < rows.surveyed.n_filled:
        remark(f"Clusters are described by a sample of {len(found.judged[0]):,} rows.")
    given.as_given = found.list_options(**_options_of_fit(given))
    n_found = int(np.count_nonzero(totals.cluster_sizes))
    show_found(
        told._replace(
            sentences=[*told.sentences, *sentences],
            notes=take_notes(),
            paths=list_paths(given, n_found, rows is not None),
            questions=list_questions(found.prepared.problems, _words.SHELL),
        )
    )


def _fit(
    estimator: PCKID, prepared: Prepared, rows: DatasetRows | None, given: SimpleNamespace
) -> Clustering:
    """Fit, with a bar on a terminal, and name the clusters."""
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
    found: Clustering,
    given: SimpleNamespace,
    assessment: Assessment | None,
    sentences: list[str],
) -> tuple[Totals, Layout]:
    """Write all rows with their clusters; return what was found, and which columns were written."""
    instability = None
    if given.instability:
        instability = to_numpy(found.estimator.missing_instability(found.prepared.frame))
        sentences.append(write_instability(instability))
    layout = found.layout(given.outliers, given.only_labels, instability, assessment)
    return write_rows(found, layout, given, found.profile_sheets()), layout


def _tell_choice(estimator: PCKID) -> None:
    """Note where known groups are more than the table alone would have."""
    chosen = estimator.choice_.n_clusters if hasattr(estimator, "choice_") else None
    if chosen is not None and estimator.n_clusters_ > chosen:
        note(
            f"There are {estimator.n_clusters_} clusters, as many as groups are known; by the "
            f"table alone there would be {chosen}."
        )
