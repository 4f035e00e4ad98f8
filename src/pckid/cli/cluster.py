"""`pckid cluster`: find clusters in a table."""

import time
from typing import Any

import click

from pckid.cli._options import (
    column_options,
    ensemble_options,
    html_name,
    reading_options,
    running_options,
    streaming_options,
    writing_options,
)


@click.command(short_help="Find clusters in a table with missing values.")
@click.argument("table", default="-")
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(1),
              help="Number of clusters. Chosen among 1 to 15 by default; 1 where there are no "
              "clear groups.")  # fmt: skip
@click.option("--assess/--no-assess", "wants_verdict", default=True, show_default=True,
              help="Say whether the clusters are clearer than those of tables without groups, and "
              "how stable they are; takes some seconds.")  # fmt: skip
@column_options
@click.option("--weights", "weights_column", metavar="NAME",
              help="Column that says how much each row counts, as in a survey; not used "
              "otherwise.")  # fmt: skip
@click.option("--yes", is_flag=True,
              help="Take the advice that `pckid inspect` would give: codes for missing values, "
              "columns to leave out, formats of numbers.")  # fmt: skip
@writing_options
@click.option("--report", "report_path", type=click.Path(dir_okay=False), metavar="FILE.html",
              callback=html_name, help="Write a report that explains the clusters.")  # fmt: skip
@click.option("--outliers", is_flag=True,
              help="Add a column `outlier_score`: how unlike every cluster a row is, in standard "
              "deviations. Rows above 3 are unusual.")  # fmt: skip
@click.option("--save", "model_path", type=click.Path(dir_okay=False), metavar="MODEL",
              help="Keep the model for `pckid predict`.")  # fmt: skip
@reading_options
@ensemble_options
@running_options
@streaming_options
def cluster(
    table: str,
    n_clusters: int | None,
    out: str | None,
    escape_formulas: bool,
    as_json: bool,
    quiet: bool,
    report_path: str | None,
    model_path: str | None,
    wants_verdict: bool,
    **options: Any,
) -> None:
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
      cat table.csv | pckid cluster -k 3 | head
    """
    from pckid.cli import _ending, _tables
    from pckid.cli._say import be_quiet, print_json, say

    be_quiet(quiet)
    _tables.check_outputs(table, out, report_path, model_path)
    if out is not None and out != "-":
        _tables.table_format(out)
    if options["resume"] and (out in (None, "-") or options["scheduler"]):
        raise click.UsageError("--resume needs --out FILE, and no --scheduler.")
    if options["resume"] and options["stream"] is False:
        raise click.UsageError("--resume reads the table in batches: leave --no-stream out.")
    if report_path:
        import jinja2  # noqa: F401  so that its absence shows before the work, not after

    from pckid import streaming
    from pckid.cli import _stream
    from pckid.tables import Scan

    wants_verdict = wants_verdict and bool(not quiet or as_json or report_path)
    outputs = _stream.Outputs(out, model_path, escape_formulas, as_json, wants_verdict)
    opened = _stream.open_large(table, options, report_path)
    if out is not None and out != "-":
        n_rows = opened.n_rows if isinstance(opened, Scan) else opened.data.num_rows
        _tables.table_format(out, n_rows)  # so that too many rows show before the work
    delimiter = opened.text.delimiter if opened.text else ","
    if isinstance(opened, Scan):
        streamed = _stream.cluster_streamed(opened, n_clusters or "auto", options, outputs)
        if isinstance(streamed, _stream.Streamed):
            _ending.tell_next(
                out,
                None,
                model_path,
                delimiter,
                streamed.n_clusters,
                streamed=bool(options["stream"]),
            )
            _ending.tell_open(table, options, streamed.problems)
            return
        say("Columns of text are categories: the table is read whole.")
        opened = streamed
    selection = _tables.select_as_advised(opened, options)
    _tables.point_out(selection)

    from pckid.cli import _cluster

    start = time.perf_counter()
    estimator = _cluster.fit(selection, n_clusters or "auto", options)
    seconds = time.perf_counter() - start
    assessment = None
    if wants_verdict:
        from pckid.cli import _assessment

        assessment = _assessment.assess_clusters(selection, estimator, options)
        _assessment.tell_verdict(assessment)
    _cluster.tell_fit(selection, estimator, seconds)
    new = _cluster.new_columns(estimator, outliers=options["outliers"])
    origin = streaming.origin(estimator, selection.table.source, selection.table.sha256)
    if options["weights_column"]:
        origin["weights"] = options["weights_column"]
    found = origin | _cluster.summarise_clusters(
        selection, estimator, new["cluster"], new["confidence"]
    )
    found["n_clusters_scores"] = _cluster.list_choices(estimator)
    if assessment is not None:
        found["verdict"] = _assessment.as_json(assessment)
    _cluster.tell(found)
    if not quiet:
        _cluster.tell_clusters(selection, estimator)
    if report_path:
        _cluster.write_report(selection, estimator, options, report_path, assessment or False)
    if model_path:
        reading = _tables.reading_of(options, selection.names, selection.readings)
        _cluster.keep_model(estimator, model_path, reading)
    if options["only_labels"]:
        selection = _tables.without_columns(selection)
    if out or not as_json:
        sheets = _cluster.profile_sheets(estimator, _cluster.dates_of(selection))
        _tables.write_result(selection, new, out, escape_formulas, origin, sheets)
    if as_json:
        print_json(found)
    n_found = len(found["cluster_sizes"])
    _ending.tell_next(out, report_path, model_path, delimiter, n_found)
    _ending.tell_open(table, options, selection.problems)
