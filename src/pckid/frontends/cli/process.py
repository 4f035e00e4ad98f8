"""The process that a command runs in: its signals, standard streams, and memory."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

_USE = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
# Address space in MB that the libraries take when they are loaded, and for each thread of theirs:
# two copies of BLAS, each with a stack and a buffer.
_LOADING, _PER_THREAD = 500, 80
_PATIENCE = 1.0
# Windows has no SIGHUP.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_last = -_PATIENCE
_number = int(signal.SIGINT)


def catch_signals() -> None:
    """Turn signals into KeyboardInterrupt from now on; to be called from the main thread.

    By default SIGTERM and SIGHUP would end the process where it stands, with half-written files
    beside its outputs. One that is ignored, as SIGHUP under `nohup`, stays so.
    """
    for number in _SIGNALS:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _answer)
    sys.unraisablehook = _repeat


def ignore_signals() -> None:
    """Answer no more: what there was to do is done.

    An interrupt while Python cleans up would end a run that has succeeded as if it had been killed.
    """
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_interrupted() -> NoReturn:
    """End with the exit code that shells give to the last signal: 130 for Ctrl-C.

    Threads may be deep in a matrix product; an ordinary exit would wait for them.
    """
    with suppress(OSError, AttributeError):
        sys.stderr.flush()
    os._exit(128 + _number)


def _answer(signum: int, frame: Any) -> None:
    """Interrupt, unless an interrupt is being answered.

    `timeout` and impatient people send two at once: the second would strike while the first one
    takes half-written files away.
    """
    global _last, _number
    if time.monotonic() - _last < _PATIENCE:
        return
    _last, _number = time.monotonic(), signum
    raise KeyboardInterrupt


def _repeat(unraisable: Any) -> None:
    """Repeat an interrupt that struck inside a destructor, where Python prints and forgets it."""
    global _last
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    _last = time.monotonic() - _PATIENCE
    again = threading.Timer(0.01, signal.raise_signal, (_number,))
    again.daemon = True
    again.start()


def repair_std_streams() -> None:
    """Put something in the place of streams that are closed; let any text be printed.

    A closed stream's number would go to the next file that is opened, and whatever is written to
    the stream would go there. Reading from the replacement, or writing to that of standard output,
    is an error, as it was; messages are dropped.
    """
    for name, mode, flags in _USE:
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))
    if hasattr(sys.stdout, "reconfigure"):
        # A name that the terminal's encoding lacks is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Forget what is still to be written to standard output: nobody can read it."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


@contextmanager
def loading_libraries() -> Iterator[None]:
    """Import libraries without looking for garbage: what they make stays until the process ends."""
    if "sklearn" in sys.modules:  # loaded by whoever called the command from Python
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def refuse_too_little_memory() -> None:
    """Raise MemoryError if the libraries could not even be loaded.

    Loaded into less than they need, some of them do not fail: they try again without end, or send
    this process an interrupt.
    """
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit either
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    asked = (os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"))
    n_threads = next((int(number) for number in asked if number.isdecimal()), os.cpu_count() or 1)
    needed = (_LOADING + _PER_THREAD * n_threads) << 20
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise MemoryError(
            f"There is not enough memory: this process may use {limit >> 20} MB of addresses and "
            f"needs {needed >> 20} MB only to begin. Raise the limit (ulimit -v), or start fewer "
            "threads (OPENBLAS_NUM_THREADS=1)."
        )
