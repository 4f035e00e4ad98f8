"""`pckid inspect`: look at a table before clustering it."""

from typing import Any

import click

from pckid.cli._options import reading_options


@click.command(short_help="Show what a table holds and what is missing.")
@click.argument("table")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a page of text.")
def inspect(table: str, as_json: bool, **options: Any) -> None:
    """Show what TABLE holds: its columns, the share missing, which cells are missing together,
    and numbers such as -9999 that look like codes for "missing". Nothing is clustered.

    TABLE is CSV, TSV, Parquet or Arrow, also compressed; - reads standard input.

    \b
    Examples:
      pckid inspect table.csv
      pckid inspect table.csv.gz --na-values -9999
      pckid inspect table.parquet --json
    """
    from pckid.cli._inspection import inspect_table
    from pckid.cli._say import print_json
    from pckid.cli._tables import open_table
    from pckid.tables import MissingTokens

    opened = open_table(table, options)
    found = inspect_table(opened, MissingTokens.with_defaults(options["na_values"]))
    if as_json:
        print_json(found)
        return
    from pckid.cli._inspection import print_page

    print_page(found)
