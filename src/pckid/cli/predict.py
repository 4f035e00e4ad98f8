"""`pckid predict`: put new rows into known clusters."""

from typing import Any

import click

from pckid.cli._options import not_zero, reading_options, writing_options


@click.command(short_help="Put the rows of a table into the clusters of a saved model.")
@click.argument("model")
@click.argument("table", default="-")
@click.option("--label", "label_column", metavar="NAME",
              help="Column with known groups, compared with the clusters.")  # fmt: skip
@click.option("--jobs", type=int, callback=not_zero, help="Processor cores to use; -1 for all.")
@writing_options
@reading_options
def predict(
    model: str,
    table: str,
    jobs: int | None,
    out: str | None,
    escape_formulas: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Put the rows of TABLE into the clusters of MODEL, which `pckid cluster --save` wrote, and
    write them with the columns `cluster` and `confidence`. The columns are found by their names;
    others are kept and not used. - or nothing reads standard input.

    \b
    Examples:
      pckid predict model.pckid new.csv > clusters.csv
      pckid predict model.pckid new.parquet --out clusters.parquet
      cat new.csv | pckid predict model.pckid | head
    """
    from pckid._utils.text import counted
    from pckid.cli import _tables
    from pckid.cli._say import be_quiet, note, print_json

    be_quiet(quiet)
    _tables.check_outputs(table, out)
    if out is not None and out != "-":
        _tables.table_format(out)

    from pckid import streaming
    from pckid.cli import _cluster, _prediction
    from pckid.modelfile import load_with_description

    estimator, description = load_with_description(model)
    estimator.n_jobs = jobs
    options = _prediction.with_known_reading(description, options)
    opened = _tables.open_table(table, options)
    selection = _prediction.select_known(estimator, opened, options)
    _tables.point_out(selection, yes="")
    new = _prediction.assign_rows(estimator, selection)
    origin = streaming.origin(estimator, selection.table.source, selection.table.sha256)
    found = origin | _cluster.summarise_clusters(
        selection, estimator, new["cluster"], new["confidence"]
    )
    _cluster.tell(found)
    if found["n_unclustered"]:
        note(
            f"{found['n_unclustered']:,} of {counted(found['n_rows'], 'row')} "
            f"{'has' if found['n_unclustered'] == 1 else 'have'} no observed value in the model's "
            "columns. The label there is -1."
        )
    if out or not as_json:
        _tables.write_result(selection, new, out, escape_formulas, origin)
    if as_json:
        print_json(found)
