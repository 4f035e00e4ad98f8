"""A progress bar for a fit."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pckid._utils.progress import StepCounter


@contextmanager
def draw_progress(what: str) -> Iterator[StepCounter]:
    """Draw a bar on standard error, with `what` before it, for the callback that is yielded."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as drawn:
        task = drawn.add_task(what, total=None)
        yield StepCounter(
            lambda n_done, n_steps: drawn.update(task, completed=n_done, total=n_steps)
        )
