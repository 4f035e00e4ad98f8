"""A progress bar with an estimate: rich on a terminal that has it, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def experiment_progress(total: int, what: str) -> Iterator[Callable[[], None]]:
    """Yield a function to call whenever one of `total` steps is done; writes to standard error."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        yield _lines(total, what)
        return
    if not sys.stderr.isatty():
        yield _lines(total, what)
        return
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


def _lines(total: int, what: str) -> Callable[[], None]:
    """Return a function that prints how far it is and how long it will take."""
    begin = told = time.monotonic()
    done = 0

    def advance() -> None:
        nonlocal told, done
        done += 1
        now = time.monotonic()
        if now - told >= _SECONDS_BETWEEN_LINES or (done == total and total > 0):
            told = now
            left = (now - begin) / done * (total - done)
            print(
                f"{what}: {done} of {total}, {now - begin:.0f} s, about {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )

    return advance
