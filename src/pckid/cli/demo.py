"""`pckid demo`: see it work on a built-in table."""

import os
import time
from importlib.util import find_spec
from pathlib import Path

import click

_OPTIONS = {"label_column": "label", "seed": 0, "jobs": None, "device": None}


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
    from pckid._utils.commands import write_command
    from pckid.cli import _assessment, _cluster, _tables
    from pckid.cli._say import say
    from pckid.data import penguins_path

    os.makedirs(out, exist_ok=True)
    suffix = "xlsx" if find_spec("xlsxwriter") else "csv"
    table_path = os.path.join(out, f"penguins.{suffix}")
    labels_path = os.path.join(out, f"penguins-clusters.{suffix}")
    report_path = os.path.join(out, "penguins-report.html")
    say("Palmer penguins: six measurements of 344 birds. The species is kept aside.")
    table = _tables.open_table(str(penguins_path()), {})._replace(source="penguins.csv")
    selection = _tables.select_columns(table, _OPTIONS)
    start = time.perf_counter()
    estimator = _cluster.fit(selection, 3, _OPTIONS)
    seconds = time.perf_counter() - start
    assessment = _assessment.assess_clusters(selection, estimator, _OPTIONS)
    _assessment.tell_verdict(assessment)
    _cluster.tell_fit(selection, estimator, seconds)
    new = _cluster.new_columns(estimator)
    found = _cluster.summarise_clusters(selection, estimator, new["cluster"], new["confidence"])
    _cluster.tell(found)
    _cluster.tell_clusters(selection, estimator)
    sheets = _cluster.profile_sheets(estimator)
    _tables.write_result(selection, {}, table_path, escape_formulas=False)
    _tables.write_result(selection, new, labels_path, escape_formulas=False, sheets=sheets)
    say(f"The table: {table_path}")
    say(f"The table with its clusters: {labels_path}")
    _cluster.write_report(selection, estimator, _OPTIONS, report_path, assessment)
    say(f"Open it in a browser, and press a cluster: {Path(report_path).resolve().as_uri()}")
    options = {"k": 3, "label": "label", "out": f"clusters.{suffix}", "report": "report.html"}
    say(f"The same by hand: {write_command(['cluster', table_path], options)}")
