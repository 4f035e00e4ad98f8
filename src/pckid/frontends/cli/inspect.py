"""`pckid inspect`: look at a table before clustering it."""

from types import SimpleNamespace
from typing import Any

import click

from pckid.frontends.cli import _options


@click.command(cls=_options.TableCommand, short_help="Show what a table holds and what is missing.")
@click.argument("table")
@_options.reading
@_options.cases
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a page of text.")
def inspect(table: str, as_json: bool, **options: Any) -> None:
    """Show what TABLE holds: its columns, how their numbers are written, the share missing, which
    cells are missing together, and all that is wrong or doubtful, each with what to do about it.
    The last line is a command to cluster the table. Nothing is clustered yet.

    TABLE is CSV, TSV, Excel (.xlsx, .xls), OpenDocument (.ods), Parquet or Arrow, or a file of
    Stata, SPSS or SAS, also compressed, or a folder of Parquet files; - reads standard input.

    \b
    Examples:
      pckid inspect table.csv
      pckid inspect table.xlsx --sheet 2
      pckid inspect table.csv.gz --na-values -9999
      pckid inspect visits.csv --case patient --time day
      pckid inspect table.parquet --json
    """
    from pckid.frontends.cli import _words
    from pckid.frontends.cli._inspection import as_json_data, cluster_command, print_page
    from pckid.frontends.cli._say import print_json
    from pckid.frontends.tables.inspection import inspect_table
    from pckid.frontends.tables.scanning import open_table

    reading, columns = _words.pick_given(SimpleNamespace(**options))
    opened = open_table(table, reading)
    _words.tell_notes(opened.notes)
    found = inspect_table(opened, columns)
    command = cluster_command(table, reading, columns, found)
    if as_json:
        print_json(as_json_data(found, command))
    else:
        print_page(found, command)
