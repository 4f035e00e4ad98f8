"""Options that the experiments share."""

from collections.abc import Callable
from typing import Any

import click

from pckid.cli import _interrupt
from pckid.cli._options import not_zero, stack_options

Command = Callable[..., Any]


def run_experiment(main: Command, options: dict[str, Any]) -> int:
    """Run an experiment and return the exit code; an interrupt says how to go on."""
    from pckid.experiments.paper import with_parameters

    try:
        main(**with_parameters(options), say=click.echo)
    except KeyboardInterrupt:
        click.echo("Interrupted. The same command goes on from here.", err=True)
        return _interrupt.exit_code()
    return 0


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
