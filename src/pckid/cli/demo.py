"""`pckid demo`: see it work on a built-in table."""

import os
import time
from importlib.util import find_spec
from pathlib import Path

import click


@click.command(short_help="See it work on a built-in table of penguins.")
@click.option("--out", type=click.Path(file_okay=False), default="pckid-demo", show_default=True,
              metavar="FOLDER", help="Where to put the results.")  # fmt: skip
def demo(out: str) -> None:
    """Cluster a built-in table: 344 penguins of three species, with measurements missing. The
    species are not used to find the clusters, only to see afterwards how well they agree. The table
    itself is put beside the results, to try the other commands on.

    \b
    Examples:
      pckid demo
      pckid demo --out results
    """
    from pckid import streaming
    from pckid._utils.arrays import to_numpy
    from pckid._utils.commands import write_command
    from pckid.cli import _assessment, _cluster
    from pckid.cli._outputs import open_writer
    from pckid.cli._say import progress_bar, say
    from pckid.data import penguins_path
    from pckid.describe.rows import to_matrix
    from pckid.input.warnings import without_own_words
    from pckid.tables.options import ColumnOptions, ReadOptions
    from pckid.tables.scanning import open_table
    from pckid.tables.service import prepare

    os.makedirs(out, exist_ok=True)
    suffix = "xlsx" if find_spec("xlsxwriter") else "csv"
    table_path = os.path.join(out, f"penguins.{suffix}")
    labels_path = os.path.join(out, f"penguins-clusters.{suffix}")
    report_path = os.path.join(out, "penguins-report.html")
    say("Palmer penguins: six measurements of 344 birds. The species is kept aside.")
    table = open_table(str(penguins_path()))
    prepared = prepare(table, ColumnOptions(labels="label"))
    estimator = _cluster.make_estimator(3, {"seed": 0, "jobs": None, "device": None})
    start = time.perf_counter()
    with progress_bar(estimator, "Fitting mixture models"), without_own_words():
        streaming.fit_rows(estimator, prepared, None)
    seconds = time.perf_counter() - start
    assessment = _assessment.assess_clusters(estimator, prepared.frame)
    _assessment.tell_verdict(assessment)
    share = streaming.share_missing(estimator, prepared, None)
    say(f"Clustered in {seconds:.1f} s; {share:.1%} of the cells are missing.")
    with open_writer(table_path) as writer:
        numbers = dict(zip(prepared.names, prepared.X.T, strict=True))
        writer.write(prepared.rows_in_memory, {}, numbers)
    with open_writer(labels_path, sheets=_cluster.profile_sheets(estimator)) as writer:
        layout = streaming.Layout(tuple(table.names), "label")
        totals = streaming.write_labels(estimator, prepared, None, writer, layout)
    _cluster.tell(_cluster.summarise_run(estimator, prepared, share, totals))
    values = to_matrix(estimator, prepared.frame)
    _cluster.tell_differences(estimator, values, to_numpy(estimator.labels_), {})
    say(f"The table: {table_path}")
    say(f"The table with its clusters: {labels_path}")
    _cluster.make_report(prepared, estimator, ReadOptions(), report_path, assessment)
    say(f"Report: {report_path}")
    say(f"Open it in a browser, and press a cluster: {Path(report_path).resolve().as_uri()}")
    options = {"k": 3, "label": "label", "out": f"clusters.{suffix}", "report": "report.html"}
    say(f"The same by hand: {write_command(['cluster', table_path], options)}")
