"""`pckid predict`: put new rows into known clusters."""

from types import SimpleNamespace
from typing import Any

import click

from pckid.frontends.cli import _options
from pckid.frontends.cli._process import loading_libraries


@click.command(
    cls=_options.TableCommand,
    short_help="Put the rows of a table into the clusters of a saved model.",
)
@click.argument("model")
@click.argument("table", default="-")
@click.option("--label", "labels", metavar="NAME",
              help="Column with known groups, compared with the clusters.")  # fmt: skip
@_options.of_table("missing_columns")
@click.option("--strict", is_flag=True,
              help="Exit with code 3 where the new rows do not look like those of the model, or "
              "cannot be compared with them. They are written all the same.")  # fmt: skip
@click.option("--explain", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write a table of what each cell of each row does to its membership in its "
              "cluster.")  # fmt: skip
@_options.outliers
@_options.jobs
@_options.writing
@_options.out_long
@_options.reading
def predict(**options: Any) -> int:
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
    with loading_libraries():
        from pckid.frontends.cli._placing import run_predict

    return run_predict(SimpleNamespace(**options))
