"""`pckid cluster`: find clusters in a table."""

from types import SimpleNamespace
from typing import Any

import click

from pckid.frontends.cli import _options
from pckid.frontends.cli._process import loading_libraries


def _html_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse a report under a name that promises another format than HTML."""
    if value and not value.lower().endswith((".html", ".htm")):
        raise click.BadParameter(f"a report is HTML: end {value!r} in .html.")
    return value


@click.command(
    cls=_options.TableCommand, short_help="Find clusters in a table with missing values."
)
@click.argument("table", default="-")
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(1), metavar="N",
              help="Number of clusters. Chosen among 1 to 15 by default.")  # fmt: skip
@click.option("--names", metavar="NAMES",
              help="Names of the clusters, from cluster 0 on, with commas between them (one with a "
              "comma in quotes): for report, model, and a column `cluster_name`.")  # fmt: skip
@click.option("--assess/--no-assess", "wants_verdict", default=True, show_default=True,
              help="Say whether there are groups at all, and how stable they are.")  # fmt: skip
@_options.of_table("columns", "drop", "categorical", "row_names", "labels", "known", "weights")
@click.option("--outcome", "outcomes", multiple=True, metavar="NAMES",
              help="Columns to compare between the clusters, such as days or relapsed; not used "
              "to find them. May be repeated.")  # fmt: skip
@click.option("--like", type=click.Path(dir_okay=False), metavar="MODEL",
              help="Model of an earlier table, from --save: clusters that match its clusters get "
              "their numbers and names, and it is said what became of the others.")  # fmt: skip
@_options.of_table("take_advice")
@_options.cases
@_options.out_long
@click.option("--group", "groups", multiple=True, metavar="NAME=PATTERN",
              help="Columns in the same unit, which share one scale, by a pattern of their names: "
              "ndvi=ndvi_*. May be repeated.")  # fmt: skip
@click.option("--log", "log_columns", multiple=True, metavar="NAMES",
              help="Take the logarithm of these columns, whose values span several powers of ten; "
              "of one plus the value where some are 0. May be repeated.")  # fmt: skip
@_options.writing
@click.option("--report", "report_path", type=click.Path(dir_okay=False), metavar="FILE.html",
              callback=_html_name, help="Write a report that explains the clusters.")  # fmt: skip
@click.option("--next-cells", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write a table of the missing cells to measure next: the forty that would "
              "settle the most doubtful rows.")  # fmt: skip
@_options.outliers
@click.option("--instability", is_flag=True,
              help="Add a column `missing_instability`: the chance that the row would be in "
              "another cluster if its missing values were known.")  # fmt: skip
@click.option("--save", "model_path", type=click.Path(dir_okay=False), metavar="MODEL",
              help="Keep the model for `pckid predict`.")  # fmt: skip
@_options.reading
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Set a parameter of pckid.PCKID: scaling=common, missingness=informative, "
              "n_jobs=-1, device=cuda.")  # fmt: skip
@click.option("--seed", "random_state", type=click.IntRange(0, 2**32 - 1), default=0,
              show_default=True, metavar="N",
              help="Start of the random numbers.")  # fmt: skip
@click.option("--stream", is_flag=True,
              help="Read Parquet, Arrow or plain CSV in batches, as is done where the table would "
              "take more than a quarter of the memory.")  # fmt: skip
@click.option("--only-labels", is_flag=True,
              help="Write the column of --id, or the number of the row, and no other column beside "
              "the result.")  # fmt: skip
@_options.help_all
def cluster(**options: Any) -> None:
    """Find clusters in TABLE and write its rows with two new columns: `cluster`, numbered by size
    from 0 (-1 where a row holds no value), and `confidence`, the chance that the row would get the
    same cluster again. A column `group` numbers groups that are of several clusters.

    TABLE is CSV, Excel (.xlsx, .xls, .ods), Parquet, Arrow, Stata, SPSS or SAS, also compressed, or
    a folder of Parquet files; - reads standard input. Large ones need not fit in memory. Missing
    values stay missing, text is categories, and units do not matter. Rows go to standard output
    unless --out is given. NAMES have commas between them; options of several
    values may be repeated.

    \b
    Examples:
      pckid cluster table.csv > clusters.csv
      pckid cluster table.xlsx --sheet Data --out clusters.xlsx
      pckid cluster table.csv -k 3 --drop notes --id name --out clusters.csv --report report.html
      pckid cluster table.csv -k 3 --na-values -9999 --save model.pckid --json
      pckid cluster table.parquet -k 5 --columns height,weight --stream --only-labels > labels.csv
      pckid cluster customers.csv --known segment --out segments.csv
      pckid cluster visits.csv --case patient --time day --out patients.csv
    """
    with loading_libraries():
        from pckid.frontends.cli._clustering import run_cluster

    run_cluster(SimpleNamespace(**options))
