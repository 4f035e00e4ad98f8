"""The line on a terminal that says how far a command is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pckid._utils.progress import Moment, watch
from pckid.say.progress import write_doing, write_done, write_left


@contextmanager
def progress_line(quiet: bool) -> Iterator[None]:
    """Show how far the work is, on a terminal only: one line, which is gone at the end."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[told]}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("", total=1.0, told="")

        def show(moment: Moment) -> None:
            told = "  ".join(filter(None, (write_done(moment), write_left(moment))))
            doing = write_doing(moment)
            is_other = doing != drawn.tasks[0].description
            drawn.update(task, completed=moment.share, description=doing, told=told)
            if is_other:
                drawn.refresh()

        with watch(show):
            yield
