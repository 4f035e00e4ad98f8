"""The run of `pckid predict`: open, prepare as the model knows its columns, place, write."""

import json
from collections.abc import Mapping
from typing import Any

from pckid import streaming
from pckid._utils.text import brief, counted
from pckid.cli import _cluster, _series, _words
from pckid.cli._outputs import check_outputs, open_writer
from pckid.cli._say import note, print_json, say
from pckid.modelfile import load_with_description
from pckid.placing import as_known, assign_rows, compare_with_fit, known_reading
from pckid.series.files import prepare_table
from pckid.tables.findings import Fact
from pckid.tables.scanning import open_table
from pckid.tables.writing import table_format


@_words.option_errors()
def run_predict(
    model: str,
    source: str,
    jobs: int | None,
    out: str | None,
    escape_formulas: bool,
    as_json: bool,
    options: Mapping[str, Any],
) -> None:
    """Put the rows of a table into the clusters of a model, and write them."""
    check_outputs([source, model], out, options["out_long"])
    for path in (out, options["out_long"]):
        if path is not None and path != "-":
            table_format(path)
    estimator, description = load_with_description(model)
    estimator.n_jobs = jobs
    reading = known_reading(description)
    given = _words.column_options(options), _words.read_options(options)
    known, columns, read = as_known(estimator, reading, *given)
    if reading["na_values"]:
        codes = ", ".join(map(brief, reading["na_values"][:10]))
        say(f"Missing, as for the model's own table: {codes}.")
    table = open_table(source, read)
    _words.tell_opened(table)
    prepared = prepare_table(table, _series.with_lines_kept(columns, options), known)
    table = prepared.table
    _words.tell_prepared(prepared, settled=True)
    _series.tell_series(prepared)
    results = assign_rows(estimator, prepared, options["outliers"])
    if options["out_long"]:
        _series.write_lines(estimator, prepared, results, options["out_long"], escape_formulas)
    made_by = streaming.origin(estimator, table)
    named = [streaming.NAME_COLUMN] if any(estimator.cluster_names_) else []
    for name in [*streaming.NEW_COLUMNS[: len(results)], *named]:
        if name in table.names:
            _words.tell_note(Fact("replaced", {"column": name}))
    with open_writer(
        out, json.dumps(made_by), escape_formulas=escape_formulas, to_stdout=not as_json
    ) as writer:
        layout = streaming.Layout(tuple(table.names), columns.labels, options["outliers"])
        totals = streaming.write_placed(estimator, prepared, results, writer, layout)
    share = streaming.share_missing(estimator, prepared, None)
    found = _cluster.summarise_run(estimator, prepared, share, totals)
    _cluster.tell(found)
    if totals.n_unclustered:
        has = "has" if totals.n_unclustered == 1 else "have"
        note(
            f"{totals.n_unclustered:,} of {counted(totals.n_rows, 'row')} {has} no observed value "
            "in the model's columns. The label there is -1."
        )
    compared = compare_with_fit(estimator, prepared)
    if compared is None:
        note("The model is of an earlier version: new rows cannot be compared with its own.")
    elif compared.moved:
        note(str(compared))
    if as_json:
        print_json(found | {"changes": [] if compared is None else compared.records()})
