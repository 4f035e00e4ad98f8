"""`pckid compare`: PCKID against what people would pick instead."""

from typing import Any

import click

from pckid.cli._experiment import experiment_options, run_experiment


@click.command(short_help="Compare PCKID with other methods on labelled tables.")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False))
@experiment_options(runs=10, out="results/compare")
@click.option(
    "--complete/--no-complete",
    default=True,
    show_default=True,
    help="Also wine, breast cancer and digits, with values removed in several ways.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    help="Compare these methods only. May be repeated.",
)
@click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="A column that is not a feature. May be repeated. By default id, row, col, utmx, utmy, "
    "field and death, where a table has them.",
)
@click.option("--max-rows", type=click.IntRange(10), help="Rows drawn from larger tables; 2000.")
def compare(complete: bool, **options: Any) -> int:
    """Compare PCKID with imputation followed by k-means, mixtures and spectral clustering, with
    k-means on what is observed, and with single mixtures for incomplete data.

    FOLDER holds tables (.csv, .csv.gz) in which a blank cell is missing and the column `label`
    holds the known classes. Writes results.csv, accuracies by table, means and ranks of all
    methods, a list of PCKID's losses, and a critical-difference plot.

    \b
    Examples:
      pckid compare tables/ --jobs -1
      pckid compare tables/ --runs 3 --no-complete --method PCKID --method mean+kmeans
    """
    from pckid.experiments.compare import main

    given = {name: value for name, value in options.items() if value not in (None, ())}
    return run_experiment(main, given if complete else given | {"complete": ()})
