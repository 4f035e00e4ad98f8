"""A computation in a process of its own, which can be watched and stopped."""

import multiprocessing
import weakref
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

Tell = Callable[[float, str], None]


def preload(modules: Sequence[str]) -> None:
    """Load modules ahead of the first job, in the background, where the system can."""
    context = _context()
    if context.get_start_method() == "forkserver":
        from multiprocessing import forkserver

        context.set_forkserver_preload(list(modules))
        forkserver.ensure_running()


def _context() -> Any:
    """Choose how processes start: from one that has modules loaded, where the system can."""
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")


class Job:
    """Run `work(*arguments, tell)` in another process.

    `work` is a function of a module; what it takes and returns can be pickled. `tell` is to be
    called with the share of the work that is done, and with what is being done. The process ends
    with this object: when it is stopped, or when nobody holds it any more.
    """

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        self.stage = 0.0, ""  # the share that is done, from 0 to 1, and what is being done
        self.finished = False
        self.result: Any = None  # what `work` returned; None while it runs and if it failed
        self.error = ""  # why it failed
        context = _context()
        self._messages, outbox = context.Pipe(duplex=False)
        self._process = context.Process(target=_run_and_tell, args=(work, arguments, outbox))
        self._process.daemon = True
        self._process.start()
        outbox.close()
        self.stop = weakref.finalize(self, self._process.kill)

    def update(self) -> None:
        """Read the messages of the process."""
        try:
            while not self.finished and self._messages.poll():
                kind, value = self._messages.recv()
                setattr(self, kind, value)
                self.finished = kind != "stage"
        except EOFError:
            self.error, self.finished = "The computation ended early. Is memory short?", True


def _run_and_tell(work: Callable[..., Any], arguments: tuple, outbox: Connection) -> None:
    """Work, and send messages about it; in the other process."""
    try:
        result = work(*arguments, lambda *stage: outbox.send(("stage", stage)))
        outbox.send(("result", result))
    except Exception as error:
        outbox.send(("error", str(error) or type(error).__name__))
