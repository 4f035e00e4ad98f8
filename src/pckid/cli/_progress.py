"""A progress bar for a fit."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pckid._utils.progress import StepCounter
from pckid.n_clusters import CHOOSING


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

        def tell(n_done: int, n_steps: int | None, phase: str) -> None:
            shown = "Choosing the number of clusters" if phase == CHOOSING else what
            drawn.update(task, completed=n_done, total=n_steps, description=shown)

        yield StepCounter(tell)
