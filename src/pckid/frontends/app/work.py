"""What is computed in processes of their own: the same calls as those of the commands."""

import io
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.jobs import Tell
from pckid._utils.progress import DESCRIBING, READING, WRITING, Moment, part, watch
from pckid.acquisition import NextCell
from pckid.describe.cluster_names import cluster_titles
from pckid.estimator import PCKID
from pckid.exceptions import OptionError, TableError
from pckid.frontends.app.settings import Settings, Upload
from pckid.frontends.app.wording import PAGE
from pckid.frontends.formats.registry import find_output
from pckid.frontends.formats.writing import TableWriter
from pckid.frontends.options import ColumnOptions
from pckid.frontends.placing import load_known
from pckid.frontends.results import tabulate_cells
from pckid.frontends.run import Clustering, assign_clusters, fit_clusters, head_sheet
from pckid.frontends.wording import refuse_undecided, write_findings, write_note
from pckid.modelfile import load
from pckid.reporting import Report
from pckid.say.progress import write_doing, write_left
from pckid.significance.new_rows import RowComparison

MAX_CELLS = 200_000
"""A workbook of up to so many cells is written with the other files."""


class RunResult(NamedTuple):
    """What a run gives."""

    found: dict[str, Any]  # what `--json` would print
    notes: list[str]
    files: dict[str, bytes]  # by their endings
    summary: Any = None  # Summary: what the report shows
    results: tuple[np.ndarray, ...] = ()  # (n_rows,) clusters, and how clearly rows belong there
    profiles: Any = ()  # of the clusters, as the rows of a sheet; the first names the clusters
    compared: RowComparison | None = None  # new rows with those of the model


def find_groups(settings: Settings, tell: Tell) -> RunResult:
    """Cluster a table as `pckid cluster` does."""
    with _warnings_kept() as said, watch(partial(_tell_moment, tell)):
        with part(0.1, READING):
            prepared, like = settings.prepare(), settings.like
        refuse_undecided(prepared, PAGE)
        notes = write_findings(prepared, PAGE)
        model = PCKID(settings.n_clusters, random_state=0)
        earlier = load(io.BytesIO(like.content)) if like else None
        found = fit_clusters(model, prepared, None, earlier).assessed()
        compared = found.compare_outcomes(settings.outcomes) if settings.outcomes else None
        asked: dict[str, Any] = {"outcomes": settings.outcomes, "like": like and like.name}
        with part(0.6, DESCRIBING):
            summary = found.report(PAGE, None, compared, **asked).summary
        profiles = found.profile_sheets()["profiles"]
        with part(1.0, WRITING):
            made = _write_all(found, RunResult({}, [], {}, summary, found.results, profiles))
    return made._replace(notes=[*notes, *said, *made.notes])


def name_groups(
    settings: Settings, made: RunResult, names: Sequence[str | None], tell: Tell
) -> RunResult:
    """Give the groups of a run names: in the report, the tables and the model."""
    found = _find_again(settings, made)
    found.estimator.cluster_names_ = names
    titles = cluster_titles(found.estimator)
    order = [head.number for head in made.summary.profile.clusters]
    profiles = [head_sheet([titles[number] for number in order]), *made.profiles[1:]]
    judged = replace(made.summary.assessment, cluster_names=list(names))
    found = replace(found, assessment=judged)
    summary = replace(made.summary, titles=titles, assessment=judged)
    renamed = made._replace(summary=summary, profiles=profiles)
    tell(0.5, "Writing the files")
    return _write_all(found, renamed)._replace(notes=made.notes)


def write_workbook(settings: Settings, made: RunResult, tell: Tell) -> RunResult:
    """Write the table of a run with its clusters as a workbook, too."""
    tell(0.1, "Writing the Excel file")
    written = _write_tables(_find_again(settings, made), made, ["xlsx", "csv"])
    notes = list(dict.fromkeys([*made.notes, *written.notes]))
    return made._replace(files=made.files | written.files, notes=notes)


def place_new_rows(model: Upload, upload: Upload, missing_columns: bool, tell: Tell) -> RunResult:
    """Put rows into the clusters of a model as `pckid predict` does."""
    content = io.BytesIO(model.content)
    content.name = model.name
    with _warnings_kept() as said:
        known = load_known(content, ColumnOptions(missing_columns=missing_columns), upload.reading)
        tell(0.2, "Reading the table")
        prepared = known.prepare(lambda reading: upload._replace(reading=reading).open())
        tell(0.5, "Placing rows")
        words = PAGE._replace(settled=True)
        refuse_undecided(prepared, words)
        notes = write_findings(prepared, words)
        found = assign_clusters(known.estimator, prepared)
        made = _write_tables(found, RunResult({}, [], {}, None, found.results), ["xlsx", "csv"])
        compared = found.compare()
    return made._replace(notes=[*notes, *said, *made.notes], compared=compared)


def _find_again(settings: Settings, made: RunResult) -> Clustering:
    """Load the model of a run, and read its table once more."""
    estimator = load(io.BytesIO(made.files["model.pckid"]))
    assessment = made.summary.assessment
    return Clustering(estimator, settings.prepare(), None, made.results, assessment=assessment)


@contextmanager
def _warnings_kept() -> Iterator[list[str]]:
    """Keep for the page what the library says to its user, as commands print it."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield said
        said += [str(each.message) for each in caught]


def _write_all(found: Clustering, made: RunResult) -> RunResult:
    model = io.BytesIO()
    found.save(model)
    files = {"report.html": Report(made.summary).html.encode(), "model.pckid": model.getvalue()}
    # A workbook takes many times as long as a text: a large one is written when it is asked for.
    n_cells = len(found.prepared.X) * len(found.prepared.table.names)
    own = find_own_ending(found.prepared.table.source)
    kinds = dict.fromkeys([own, "csv"] if n_cells > MAX_CELLS else [own, "xlsx", "csv"])
    made = _write_tables(found, made, [*kinds])
    if cells := made.summary.next_cells:
        table = tabulate_cells(cells.records(), NextCell._fields, found.prepared.ids)
        rows = io.BytesIO()
        with TableWriter(rows, escape_formulas=True) as writer:
            writer.write(table, {})
        files["next-cells.csv"] = rows.getvalue()
    return made._replace(files=made.files | files)


def find_own_ending(source: str) -> str:
    """Find the ending of a table's own format, or of text where nothing is written in that."""
    with suppress(OptionError):
        return find_output(source)[1][1:]
    return "csv"


def _write_tables(found: Clustering, made: RunResult, kinds: Sequence[str]) -> RunResult:
    """Write the rows of a run, and sum it up; with notes, also on what could not be written."""
    sheets = {"profiles": made.profiles} if made.profiles else {}
    origin, layout, files, notes = json.dumps(found.origin), found.layout(), {}, []
    for kind in kinds:
        rows = io.BytesIO()
        try:
            with TableWriter(
                rows, ending=f".{kind}", escape_formulas=True, origin=origin, sheets=sheets
            ) as writer:
                totals = found.write(writer, layout)
            files[f"clusters.{kind}"] = rows.getvalue()
        except TableError as error:  # more rows than a sheet takes
            notes.append(str(error))
    notes += [write_note(fact, PAGE) for fact in found.list_notes(totals, layout)]
    return made._replace(found=found.summarise(totals), notes=notes, files=files)


def _tell_moment(tell: Tell, moment: Moment) -> None:
    """Report the progress of a run."""
    left = write_left(moment)
    tell(moment.share, write_doing(moment) + f", {left}" * bool(left))
