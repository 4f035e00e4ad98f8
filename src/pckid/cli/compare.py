"""`pckid compare`: PCKID against what people would pick instead."""

from typing import Any

import click

from pckid.cli._experiment import experiment_options, run_experiment


@click.command(short_help="Compare PCKID with other methods on labelled tables.")
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False))
@click.option(
    "--half",
    type=click.Choice(["choose", "report"]),
    help="One half of the benchmark: tables that defaults may be chosen on, or tables to report "
    "on. Other tables in the folders are ignored; a half has its share of the data sets that "
    "scikit-learn carries.",
)
@click.option(
    "--choose-k",
    is_flag=True,
    help="Compare ways to choose the number of clusters instead of clusterings.",
)
@click.option(
    "--assess",
    is_flag=True,
    help="How often groups are told from none: in every run on one simulated table without groups "
    "and one with groups of each of eight families, or on the tables of the folders.",
)
@experiment_options(runs=10, out="results/compare")
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
def compare(choose_k: bool, assess: bool, **options: Any) -> int:
    """Compare PCKID with imputation followed by k-means, mixtures and spectral clustering, with
    k-means on what is observed, and with single mixtures for incomplete data.

    FOLDERS hold tables (.csv, .csv.gz) in which a blank cell is missing and the column `label`
    holds the known classes. Complete tables lose values in three ways. Without a folder, the data
    sets that scikit-learn carries are used. Writes results.csv, accuracies by table, and
    summary.md: means and ranks of all methods with intervals from resampling the tables, and
    PCKID's losses.

    \b
    Examples:
      pckid compare tables/ --jobs -1
      pckid compare tables/ --runs 3 --method PCKID --method mean+kmeans
      pckid compare tables/ more/ --half report
      pckid compare tables/ more/ --half report --choose-k --runs 1
      pckid compare --assess --runs 25 --out results/assess --jobs -1
    """
    from pckid.experiments.assess import assess_tables
    from pckid.experiments.choose import compare_choosers
    from pckid.experiments.compare import compare_methods

    given = {name: value for name, value in options.items() if value not in (None, ())}
    other = compare_choosers if choose_k else compare_methods
    return run_experiment(assess_tables if assess else other, given)
