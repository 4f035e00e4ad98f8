"""`pckid predict`: put new rows into known clusters."""

from typing import Any

import click

from pckid.cli._options import long_output, not_zero, reading_options, writing_options


@click.command(short_help="Put the rows of a table into the clusters of a saved model.")
@click.argument("model")
@click.argument("table", default="-")
@click.option("--label", "labels", metavar="NAME",
              help="Column with known groups, compared with the clusters.")  # fmt: skip
@click.option("--outliers", is_flag=True,
              help="Add a column `outlier_score`: how unlike every cluster a row is, in standard "
              "deviations. Rows above 3 are unusual.")  # fmt: skip
@click.option("--jobs", type=int, callback=not_zero, help="Processor cores to use; -1 for all.")
@writing_options
@long_output
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
    others are kept and not used. Where the new rows do not look like those of the model, this is
    said, with what differs. - or nothing reads standard input. A model of cases (--case) takes
    their lines in the same form, and gives each new case one cluster.

    \b
    Examples:
      pckid predict model.pckid new.csv > clusters.csv
      pckid predict model.pckid new.parquet --out clusters.parquet
      cat new.csv | pckid predict model.pckid | head
    """
    from pckid.cli._placing import run_predict
    from pckid.cli._say import be_quiet

    be_quiet(quiet)
    run_predict(model, table, jobs, out, escape_formulas, as_json, options)
