"""What `pckid predict` does: open, prepare as the model knows its columns, place, write, tell."""

from functools import partial
from types import SimpleNamespace

import click

from pckid._utils.text import brief
from pckid.frontends.cli.codes import EXIT_DATA, EXIT_OK
from pckid.frontends.cli.messages import (
    fail,
    holding_notes,
    note,
    print_json,
    remark,
    take_notes,
)
from pckid.frontends.cli.outputs import check_outputs, write_cells, write_rows
from pckid.frontends.cli.screen import list_questions, show_found, tell_found
from pckid.frontends.cli.words import SHELL, open_and_tell, tell_notes, tell_prepared
from pckid.frontends.options import pick_options
from pckid.frontends.placing import load_known
from pckid.frontends.run import assign_clusters
from pckid.row_explanation import FIELDS, explain_rows


def run_predict(given: SimpleNamespace) -> int:
    """Put the rows of a table into the clusters of a model, and write them; give the exit code."""
    with holding_notes(given.quiet):
        return _predict(given)


def _predict(given: SimpleNamespace) -> int:
    tables = [given.out, given.out_long, given.explain]
    check_outputs([given.path, given.model], tables, table=given.out_table)
    reading, columns = pick_options(vars(given))
    model = load_known(given.model, columns, reading, keep_lines=bool(given.out_long))
    model.estimator.n_jobs = given.n_jobs
    if model.na_values:
        codes = ", ".join(f"'{brief(code)}'" for code in model.na_values[:10])
        remark(f"Missing, as for the model's own table: {codes}.")
    if given.out_long and model.columns.lines is None:
        raise click.UsageError("--out-long is about lines of cases, and the model has none.")
    prepared = model.prepare(partial(open_and_tell, given.path, take_advice=False))
    words = SHELL._replace(settled=True)
    tell_prepared(prepared, words)
    found = assign_clusters(model.estimator, prepared, given.outliers)
    layout = found.layout(given.outliers)
    totals = write_rows(found, layout, given)
    tell_notes(n for n in found.list_notes(totals, layout) if n.code != "unclustered")
    if given.explain:
        explained = explain_rows(found.estimator, prepared.frame)
        write_cells(found, explained.records(), FIELDS, given.explain, given)
    compared = found.compare()
    if not compared.alike and not given.strict:
        note(str(compared))
    paths = ("Table", given.out), ("Lines", given.out_long), ("Cells", given.explain)
    if not given.quiet:
        show_found(
            tell_found(found, totals)._replace(
                notes=take_notes(),
                paths=[(name, path) for name, path in paths if path and path != "-"],
                questions=list_questions(prepared.doubts, words),
            )
        )
    if not compared.alike and given.strict:
        fail(str(compared))
    if given.as_json:
        more = {"changes": compared.records(), "not_compared": compared.not_compared}
        more["notes"] = found.list_findings(totals, layout, words)
        print_json(found.summarise(totals) | more)
    return EXIT_OK if compared.alike or not given.strict else EXIT_DATA
