"""Progress in words, on one line, and where Python shows it: a bar in notebooks, else lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from pckid._utils import progress
from pckid._utils.progress import Moment, watch

_DOING = {
    progress.READING: "Reading the table",
    progress.TRAINING: "Fitting mixtures",
    progress.CHOOSING: "Choosing the number of clusters",
    progress.CLUSTERING: "Clustering the rows",
    progress.JUDGING: "Comparing with tables without groups",
    progress.REPEATING: "Clustering random halves of the rows",
    progress.SIMULATING: "Simulating tables with two groups",
    progress.DESCRIBING: "Describing the clusters",
    progress.WRITING: "Writing",
    progress.PLACING: "Placing pixels",
}
_MINUTE, _HOUR = 60, 3600

_Function = TypeVar("_Function", bound=Callable[..., Any])


def write_doing(moment: Moment) -> str:
    """Write what is being done."""
    return _DOING[moment.doing]


def write_left(moment: Moment) -> str:
    """Write how long it will still take: "about 20 s left"; "" while that cannot be told."""
    if moment.left is None:
        return ""
    if moment.left < _MINUTE:
        # A clock that counts every second would pretend to know better.
        seconds = max(1, round(moment.left))
        return f"about {seconds if seconds < 10 else 5 * round(seconds / 5)} s left"
    if moment.left < _HOUR:
        return f"about {round(moment.left / _MINUTE)} min left"
    return f"about {round(moment.left / _HOUR)} h left"


def write_done(moment: Moment) -> str:
    """Write how much is done; nothing is called whole before it is."""
    return f"{min(int(100 * moment.share), 100)} %"


def write_moment(moment: Moment) -> str:
    """Write one line: "Clustering the rows, 42 %, about 20 s left"."""
    parts = write_doing(moment), write_done(moment), write_left(moment)
    return ", ".join(filter(None, parts))


def shows_progress(fit: _Function) -> _Function:
    """Let a method of an estimator with a `verbose` show how far it is, as `showing` does."""

    @wraps(fit)
    def shown(self: Any, *args: Any, **kwargs: Any) -> Any:
        with showing(self):
            return fit(self, *args, **kwargs)

    return shown  # type: ignore[return-value]


@contextmanager
def showing(estimator: Any) -> Iterator[None]:
    """Show the progress of what is done with an estimator, if its `verbose` asks for it.

    As one bar in a notebook that has tqdm; else as lines, at every tenth with `verbose` 1.
    """
    if not estimator.verbose:
        yield
        return
    bar = _open_bar()
    if bar is None:
        with watch(_Lines(type(estimator).__name__, estimator.verbose)):
            yield
        return
    with bar, watch(lambda moment: _move(bar, moment)):
        yield


class _Lines:
    """Prints moments."""

    def __init__(self, name: str, verbose: int) -> None:
        self.name, self.steps = name, 10 if verbose == 1 else 100
        self.last: tuple[int, str] | None = None

    def __call__(self, moment: Moment) -> None:
        now = int(moment.share * self.steps), moment.doing
        if now != self.last:
            self.last = now
            print(f"[{self.name}] {write_moment(moment)}", flush=True)


def _open_bar() -> Any:
    """Open a bar of tqdm in a notebook; None elsewhere, and where it is not installed."""
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    if kernel is None or not hasattr(kernel, "kernel"):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=100, bar_format="{bar} {desc}", leave=False)


def _move(bar: Any, moment: Moment) -> None:
    """Move a bar of tqdm."""
    is_other = not (bar.desc or "").startswith(write_doing(moment))
    bar.set_description_str(write_moment(moment), refresh=False)
    bar.update(100 * moment.share - bar.n)
    if is_other:
        bar.refresh()
