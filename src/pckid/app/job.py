"""A computation in a process of its own, which can be watched and stopped."""

import contextlib
import io
import multiprocessing
import weakref
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import click

from pckid.cli._run import warnings_as_notes


def _context() -> Any:
    """Choose how processes start: from one that has the libraries loaded, where the system can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pckid.app.work"])
    return context


def preload() -> None:
    """Load the libraries ahead of the first job, in the background, where the system can."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


class Job:
    """Run `work(*arguments, tell)` in another process.

    `tell` is to be called with the share of the work that is done. The process ends with this
    object: when it is stopped, or when the page that started it is closed and forgotten.

    Parameters
    ----------
    work : callable
        A function of a module; what it takes and returns can be pickled.
    *arguments : object

    Attributes
    ----------
    share : float
        How much is done, from 0 to 1.
    finished : bool
    result : object
        What `work` returned; None while it runs and if it failed.
    error : str
        Why it failed; empty if it did not.
    """

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        self.share, self.finished, self.result, self.error = 0.0, False, None, ""
        context = _context()
        self._messages, outbox = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_run_and_tell, args=(work, arguments, outbox), daemon=True
        )
        self._process.start()
        outbox.close()
        self.stop = weakref.finalize(self, self._process.kill)

    def update(self) -> None:
        """Read what the process has to tell."""
        try:
            while not self.finished and self._messages.poll():
                kind, value = self._messages.recv()
                setattr(self, kind, value)
                self.finished = kind != "share"
        except EOFError:
            self.error, self.finished = "The computation ended early. Is memory short?", True


def _run_and_tell(work: Callable[..., Any], arguments: tuple, outbox: Connection) -> None:
    """Work, and tell of it; in the other process."""
    # What a command would print for its user is kept for the page.
    with contextlib.redirect_stderr(io.StringIO()), warnings_as_notes():
        try:
            result = work(*arguments, lambda share: outbox.send(("share", share)))
            outbox.send(("result", result))
        except Exception as error:
            outbox.send(("error", error_sentence(error)))


def error_sentence(error: Exception) -> str:
    """Say what went wrong, as the command line does."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, MemoryError):
        return "There is not enough memory."
    return str(error) or type(error).__name__
