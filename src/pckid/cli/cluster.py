"""`pckid cluster`: find clusters in a table."""

from types import SimpleNamespace
from typing import Any

import click

from pckid.cli._options import (
    TableCommand,
    column_options,
    ensemble_options,
    html_name,
    outliers_option,
    reading_options,
    running_options,
    series_options,
    streaming_options,
    writing_options,
)
from pckid.cli._process import loading_libraries
from pckid.cli._say import be_quiet


@click.command(cls=TableCommand, short_help="Find clusters in a table with missing values.")
@click.argument("table", default="-")
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(1),
              help="Number of clusters. Chosen among 1 to 15 by default; 1 where there are no "
              "clear groups.")  # fmt: skip
@click.option("--names", metavar="NAMES",
              help="Names of the clusters, from cluster 0 on, with commas between them: for the "
              "report, the model, and a column `cluster_name`.")  # fmt: skip
@click.option("--assess/--no-assess", "wants_verdict", default=True, show_default=True,
              help="Say whether the clusters are clearer than those of tables without groups, and "
              "how stable they are; takes some seconds.")  # fmt: skip
@column_options
@click.option("--known", metavar="NAME",
              help="Column with the groups of some rows, empty elsewhere: these rows keep them, "
              "the others follow, and clusters carry their names.")  # fmt: skip
@click.option("--weights", metavar="NAME",
              help="Column that says how much each row counts, as in a survey; not used "
              "otherwise.")  # fmt: skip
@click.option("--yes", "take_advice", is_flag=True,
              help="Take the advice that `pckid inspect` would give: codes for missing values, "
              "columns to leave out, formats of numbers.")  # fmt: skip
@series_options
@writing_options
@click.option("--report", "report_path", type=click.Path(dir_okay=False), metavar="FILE.html",
              callback=html_name, help="Write a report that explains the clusters.")  # fmt: skip
@outliers_option
@click.option("--instability", is_flag=True,
              help="Add a column `missing_instability`: the chance that the row would be in "
              "another cluster if its missing values were known.")  # fmt: skip
@click.option("--save", "model_path", type=click.Path(dir_okay=False), metavar="MODEL",
              help="Keep the model for `pckid predict`.")  # fmt: skip
@reading_options
@ensemble_options
@running_options
@streaming_options
def cluster(**options: Any) -> None:
    """Find clusters in TABLE and write its rows with two new columns: `cluster`, numbered by size
    from 0 (-1 where a row holds no value; above 100,000 rows, by size among those that the fit
    learned from), and `confidence`, the chance that the row would get the same cluster again.

    TABLE is CSV, TSV, Excel (.xlsx, .xls), OpenDocument (.ods), Parquet or Arrow, or a file of
    Stata, SPSS or SAS, also compressed, or a folder of Parquet files; - or nothing reads standard
    input. Large tables are read in batches and need not fit in memory. Missing values stay missing.
    Columns of text are categories. Every column counts alike, whatever its unit: there is nothing
    to scale. An .xlsx file as --out has a second sheet with the profiles of the clusters.
    Rows go to standard output unless --out is given; everything else goes to standard error.

    \b
    Examples:
      pckid cluster table.csv > clusters.csv
      pckid cluster table.csv -k 3 > clusters.csv
      pckid cluster table.xlsx --sheet Data --out clusters.xlsx
      pckid cluster table.csv -k 3 --drop notes --id name --out clusters.csv --report report.html
      pckid cluster table.parquet -k 5 --columns height,weight --out clusters.parquet
      pckid cluster table.csv -k 3 --na-values -9999 --save model.pckid --json
      pckid cluster table.parquet -k 5 --columns height,weight --stream --only-labels > labels.csv
      pckid cluster customers.csv --known segment --out segments.csv
      pckid cluster visits.csv --case patient --time day --out patients.csv
      cat table.csv | pckid cluster -k 3 | head
    """
    with loading_libraries():
        from pckid.cli._clustering import run_cluster

    be_quiet(options["quiet"])
    run_cluster(SimpleNamespace(**options))
