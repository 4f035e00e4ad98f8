"""What `pckid cluster` does: open, prepare, fit, judge, place all rows, write them and tell."""

import csv
from contextlib import ExitStack, suppress
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from pckid._utils.arrays import place, to_numpy
from pckid._utils.commands import as_argument, write_command
from pckid._utils.parallel import n_threads
from pckid._utils.progress import DESCRIBING, READING, WRITING, part
from pckid._utils.sklearn_compat import check_parameters
from pckid._utils.text import list_first
from pckid.acquisition import NextCell, next_cells
from pckid.assessment import Answer
from pckid.blocks.datasets import DatasetRows
from pckid.continuum import find_axis
from pckid.describe.cluster_names import check_cluster_names
from pckid.estimator import PCKID
from pckid.frontends.cases import prepare_advised, prepare_table
from pckid.frontends.cli.messages import (
    holding_notes,
    note,
    print_json,
    remark,
    say,
    take_notes,
)
from pckid.frontends.cli.options import pick_case
from pckid.frontends.cli.outputs import check_outputs, check_report, write_cells, write_rows
from pckid.frontends.cli.progress import progress_line
from pckid.frontends.cli.screen import list_questions, show_found, tell_found
from pckid.frontends.cli.words import SHELL, open_and_tell, tell_notes, tell_prepared
from pckid.frontends.datasets import open_dataset
from pckid.frontends.formats.batches import is_large
from pckid.frontends.formats.findings import advice
from pckid.frontends.formats.writing import check_output
from pckid.frontends.options import OF_KINDS, ColumnOptions, ReadOptions, pick_options
from pckid.frontends.preparing import with_outcomes
from pckid.frontends.questions import QUESTIONS
from pckid.frontends.questions.long_tails import ALL, LONG_TAILS
from pckid.frontends.run import Clustering, fit_clusters
from pckid.frontends.tables.choosing import named_columns
from pckid.frontends.tables.prepared import Prepared
from pckid.modelfile import load
from pckid.reporting.missing_cells import write_instability
from pckid.say.way_on import write_axis
from pckid.spectral.settings import ClusterParameters

# Options of the fit that are no parameters, or say more than one.
_OF_FIT = ("settings", "groups", "outcomes", "like")
# Parameters that name columns, which must be known before.
_OF_COLUMNS = ("log_columns", "ordinal_columns", *OF_KINDS.values())


def run_cluster(given: SimpleNamespace) -> None:
    """Cluster a table, and write its rows and what else was asked for, by the command's options."""
    given.file = None if given.out == "-" else given.out
    given.names = split_names(given.names)
    reading, columns = pick_options(vars(given) | {"lines": pick_case(given)})
    estimator = make_estimator(given)
    in_memory = _check_use(given, estimator)
    with holding_notes(given.quiet), ExitStack() as line:
        line.enter_context(progress_line(given.quiet))
        with part(0.1, READING):
            prepared, rows = _open(estimator, given, reading, columns, in_memory)
        if given.file:  # so that too many rows show before the work
            table = prepared.table
            n_rows = table.n_rows if rows is None else 0
            check_output(given.file, n_rows, table.own_names, table=given.out_table)
        prepared = with_outcomes(prepared, given.outcomes)
        tell_prepared(prepared)
        prepared = _use_columns(estimator, prepared, given)
        first = [each for each in prepared.doubts if not QUESTIONS[each.code].refines]
        asked = [] if given.quiet else list_questions(first, SHELL, "Before clustering, ")
        for text in [*asked, ""] if asked else ():
            say(text)
        _cluster(estimator, prepared, rows, given, line)


def parameters_among(given: SimpleNamespace) -> list[str]:
    """List the options that are parameters of `PCKID`, but for the number of clusters."""
    names = (each.name for each in fields(ClusterParameters))
    return [name for name in names if hasattr(given, name) and name != "n_clusters"]


def list_of_fit(given: SimpleNamespace) -> dict[str, Any]:
    """List the options of the fit, as a report, or another command, repeats them."""
    keys = [*_OF_FIT, *(name for name in parameters_among(given) if name != "random_state")]
    own = {key: getattr(given, key) for key in keys}
    return own | {"random_state": given.random_state or None}


def split_names(text: str | None) -> list[str | None]:
    """Split names of clusters with commas between them; nothing between two is no name."""
    listed = csv.reader([text] if text else [], skipinitialspace=True)
    return [name.strip() or None for names in listed for name in names]


def make_estimator(given: SimpleNamespace) -> PCKID:
    """Make the model that the options describe; what does not suit it is wrong use."""
    estimator = PCKID(given.n_clusters or "auto", random_state=given.random_state)
    for name in parameters_among(given):
        if getattr(given, name) is not None and name not in _OF_COLUMNS:
            estimator.set_params(**{name: getattr(given, name)})
    known = sorted(estimator.get_params())
    for each in given.settings:
        name, sign, text = each.partition("=")
        if not (name and sign and text):
            raise click.BadParameter(f"{each!r} is not NAME=VALUE.", param_hint="--set")
        if name.strip() not in known:
            raise click.BadParameter(
                f"there is no parameter {name.strip()!r}; there are {', '.join(known)}.",
                param_hint="--set",
            )
        # Numbers, true, false, none, and other words as they are.
        value: Any = {"true": True, "false": False, "none": None}.get(text.lower(), text)
        for kind in (float, int):
            with suppress(ValueError):
                value = kind(text)
        estimator.set_params(**{name.strip(): value})
    try:
        check_parameters(estimator)
        place(np.zeros(1), estimator.device)
        n_threads(estimator.n_jobs)
    except (ImportError, ValueError) as error:
        raise click.BadParameter(str(error).splitlines()[0], param_hint="--set") from None
    return estimator


def _check_use(given: SimpleNamespace, estimator: PCKID) -> bool:
    """Refuse what cannot be done before any work; return whether it needs rows in memory."""
    sources = [given.path, *filter(None, [given.like])]
    tables = [given.out, given.out_long, given.next_cells]
    check_outputs(sources, tables, given.report_path, given.model_path, table=given.out_table)
    of_rows = ("case", "weights", "place", "instability", "next_cells", "outcomes", "like", "power")
    needs = [as_argument(key) for key in of_rows if getattr(given, key)]
    needs += ["--report"] * bool(given.report_path)
    needs += ["--set missingness=informative"] * (estimator.missingness == "informative")
    if given.stream and needs:
        raise click.UsageError(f"{needs[0]} needs the table in memory: leave --stream out.")
    if given.report_path:
        check_report(given.report_path)
    if given.names and given.n_clusters:
        check_cluster_names(given.names, given.n_clusters)
    return bool(needs)


def _open(
    estimator: PCKID,
    given: SimpleNamespace,
    reading: ReadOptions,
    columns: ColumnOptions,
    in_memory: bool,
) -> tuple[Prepared, DatasetRows | None]:
    """Read a table whole and prepare it; or in batches, if asked to, or if it is large."""
    if given.stream or (not in_memory and is_large(given.path)):
        opened = open_dataset(given.path, reading, columns)
        remark(f"{given.path} is read in batches; it need not fit in memory.")
        return opened
    table = open_and_tell(given.path, reading, take_advice=columns.take_advice)
    given.outcomes = named_columns(table, given.outcomes, "outcomes")
    columns = replace(columns, drop=(*columns.drop, *given.outcomes))
    if columns.take_advice:
        with suppress(ValueError, click.UsageError):
            advised = prepare_advised(table, columns, can_group=not given.outcomes)
            _use_columns(estimator, advised, given)
            if (np.fmax.reduce(advised.X) > np.fmin.reduce(advised.X)).any() or advised.stops:
                return advised, None
        columns = replace(columns, take_advice=False)
        plain = prepare_table(table, columns)
        if not plain.stops:
            _use_columns(estimator, plain, given)
            if advice(plain.doubts):
                note("The advice is not taken: it would leave out columns that are needed.")
        return plain, None
    return prepare_table(table, columns), None


def _use_columns(estimator: PCKID, prepared: Prepared, given: SimpleNamespace) -> Prepared:
    """Tell the estimator which columns share a scale, or are taken as logarithms.

    Nothing is asked any more about the long tails of these.
    """
    groups: dict[str, list[str]] = {}
    for each in given.groups:
        group, sign, pattern = each.partition("=")
        found = [name for name in prepared.names if fnmatchcase(name, pattern)]
        if not (group and sign and pattern):
            raise click.BadParameter(f"{each!r} is not NAME=PATTERN.", param_hint="--group")
        if not found:
            raise click.BadParameter(
                f"no column that is used is named as {pattern!r} says.", param_hint="--group"
            )
        groups[group] = [*groups.get(group, ()), *found]
    if groups and prepared.series is not None:
        groups |= prepared.series.column_groups
    logs: list[str] = []
    for each in given.log_columns:
        everywhere = each == ALL and ALL not in prepared.names
        numbers = [name for name in prepared.names if name not in prepared.counts]
        names = (
            numbers
            if everywhere
            else [each]
            if each in prepared.names
            else [name.strip() for name in each.split(",")]
        )
        for name in names:
            if name not in prepared.names or name in prepared.counts:
                raise click.BadParameter(
                    f"{name!r} is no column of numbers that is used.", param_hint="--log"
                )
        logs += names
    logs = list(dict.fromkeys(logs)) or estimator.log_columns
    estimator.set_params(column_groups=groups or None, log_columns=logs)
    doubts = []
    for each in prepared.doubts:
        left = [name for name in each.data.get("columns", ()) if name not in (logs or ())]
        if each.code != LONG_TAILS.code:
            doubts.append(each)
        elif left:
            doubts.append(each._replace(column=left[0], data={"columns": left}))
    return replace(prepared, doubts=tuple(doubts))


def _cluster(
    estimator: PCKID,
    prepared: Prepared,
    rows: DatasetRows | None,
    given: SimpleNamespace,
    line: ExitStack,
) -> None:
    """Fit, judge, write and tell; a line shows how far that is."""
    like = load(given.like) if given.like else None
    found = fit_clusters(estimator, prepared, rows, like)
    if given.names:
        before, estimator.cluster_names_ = estimator.cluster_names_, given.names
        pairs = zip(before, given.names, strict=True)
        changed = [f"{new} for {old}" for old, new in pairs if old and old != new]
        if changed:
            note(f"--names takes the place of names in --known: {list_first(changed)}.")
    if given.wants_verdict and bool(not given.quiet or given.as_json or given.report_path):
        found = found.assessed()
    if found.assessment:
        # Warnings gave the other notes before.
        ignored = [] if found.assessment.chosen else found.assessment.ignored
        for text in replace(found.assessment, codes=[], ignored=ignored).notes:
            note(text)
    chosen = estimator.choice_.n_clusters if hasattr(estimator, "choice_") else None
    if chosen is not None and estimator.n_clusters_ > chosen:
        note(
            f"There are {estimator.n_clusters_} clusters, as many as groups are known; by the "
            f"table alone there would be {chosen}."
        )
    outcomes = found.compare_outcomes(given.outcomes) if given.outcomes else None
    # What a report, or another command, repeats.
    asked = list_of_fit(given)
    power = None
    if given.power:
        with part(0.8):
            power = found.find_power()
    if given.report_path:
        with part(0.8, DESCRIBING):
            found.report(SHELL, given.report_path, outcomes, power, **asked)
    sentences = [estimator.matches_.sentence] if given.like else []
    sentences += str(outcomes).splitlines() if outcomes else []
    if power is not None:
        sentences.append(power.sentence)
    if found.assessment is not None and found.assessment.answer is Answer.NONE and rows is None:
        sentences.append(write_axis(find_axis(estimator, prepared.frame).columns))
    instability = None
    if given.instability:
        instability = to_numpy(estimator.missing_instability(prepared.frame))
        sentences.append(write_instability(instability))
    layout = found.layout(given.outliers, given.only_labels, instability)
    if given.file is None:
        line.close()  # rows and a line on one terminal would mix
    with part(1.0, WRITING):
        totals = write_rows(found, layout, given)
    if given.next_cells:
        cells = next_cells(estimator, prepared.frame)
        write_cells(found, cells.records(), NextCell._fields, given.next_cells, given)
        sentences.append(cells.sentence)
    if given.model_path:
        found.save(given.model_path)
    line.close()
    if not given.quiet:
        told = tell_found(found, totals)
        # The table of clusters has a line for rows without one.
        listed = {"unclustered"} if told.lines else set()
        tell_notes(n for n in found.list_notes(totals, layout) if n.code not in listed)
        if rows is not None and told.lines and len(found.judged[0]) < rows.surveyed.n_filled:
            remark(f"Clusters are described by a sample of {len(found.judged[0]):,} rows.")
        n_found = int(np.count_nonzero(totals.cluster_sizes))
        show_found(
            told._replace(
                sentences=[*told.sentences, *sentences],
                notes=take_notes(),
                paths=_list_paths(given, found, n_found, asked),
                questions=list_questions(
                    [each for each in prepared.doubts if QUESTIONS[each.code].refines],
                    SHELL,
                    "To refine the clusters, ",
                ),
            )
        )
    if given.as_json:
        notes = found.list_findings(totals, layout, SHELL)
        print_json(found.summarise(totals, outcomes) | {"notes": notes})


def _list_paths(
    given: SimpleNamespace, found: Clustering, n_clusters: int, asked: dict[str, Any]
) -> list[tuple[str, str]]:
    """List what was written, and commands to go on with; each runs as it is printed.

    `n_clusters` are those that hold rows.
    """
    hint = "--report FILE.html shows the clusters"
    hint += " (needs the table in memory)" * (found.rows is not None)
    paths = [
        ("Report", given.report_path or (hint if n_clusters > 1 else None)),
        ("Table", given.file),
        ("Lines", given.out_long),
        ("Cells", given.next_cells),
        ("Model", given.model_path),
    ]
    if given.model_path:
        words = ["predict", given.model_path, "new.csv"]
        paths.append(("New rows", write_command(words, {"out": "new-clusters.csv"})))
    if n_clusters == 1 and given.n_clusters is None:
        outputs = {"out": given.file, "report": given.report_path}
        command = write_command(
            ["cluster", given.path], found.list_options(**asked), {"k": 2}, outputs
        )
        divide = "-k 2" if given.path == "-" else command
        paths.append(("Divide", f"{divide}   (pieces, not groups)"))
        if not given.power and found.rows is None:
            paths.append(("Way on", "--power tells how far apart groups would have to lie"))
    return [(name, path) for name, path in paths if path]
