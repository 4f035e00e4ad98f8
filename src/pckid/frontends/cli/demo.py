"""`pckid demo`: see it work on a built-in table."""

import os
from importlib.util import find_spec

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
    from pckid._utils.commands import write_command
    from pckid.data import penguins_path
    from pckid.frontends.cli._outputs import open_writer
    from pckid.frontends.cli._say import say
    from pckid.frontends.cli.cluster import cluster
    from pckid.frontends.tables.preparing import prepare
    from pckid.frontends.tables.scanning import open_table

    os.makedirs(out, exist_ok=True)
    suffix = "xlsx" if find_spec("xlsxwriter") else "csv"
    table_path = os.path.join(out, f"penguins.{suffix}")
    labels_path = os.path.join(out, f"penguins-clusters.{suffix}")
    report_path = os.path.join(out, "penguins-report.html")
    say("Palmer penguins: six measurements of 344 birds. The species is kept aside.\n")
    prepared = prepare(open_table(str(penguins_path())))
    with open_writer(table_path) as writer:
        numbers = {name: prepared.X[:, j] for j, name in enumerate(prepared.names[:-1])}
        writer.write(prepared.table.rows, {}, numbers)
    given = {"table": table_path, "n_clusters": 3, "labels": "label"}
    click.get_current_context().invoke(cluster, **given, out=labels_path, report_path=report_path)
    options = {"k": 3, "label": "label", "out": f"clusters.{suffix}", "report": "report.html"}
    say(f"By hand   {write_command(['cluster', table_path], options)}")
