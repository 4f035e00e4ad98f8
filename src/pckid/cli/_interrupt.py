"""Ctrl-C answered once and surely, at whatever moment it comes."""

import signal
import sys
import threading
import time
from typing import Any

_PATIENCE = 1.0
_last = -_PATIENCE


def listen() -> None:
    """Answer interrupts from now on; to be called from the main thread."""
    signal.signal(signal.SIGINT, _answer)
    sys.unraisablehook = _repeat


def ignore() -> None:
    """Answer no more: what there was to do is done.

    An interrupt while Python cleans up would end a run that has succeeded as if it had been killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer(signum: int, frame: Any) -> None:
    """Interrupt, unless an interrupt is being answered.

    `timeout` and impatient people send two at once: the second would strike while the first one
    takes half-written files away.
    """
    global _last
    if time.monotonic() - _last < _PATIENCE:
        return
    _last = time.monotonic()
    raise KeyboardInterrupt


def _repeat(unraisable: Any) -> None:
    """Repeat an interrupt that struck inside a destructor, where Python prints and forgets it."""
    global _last
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    _last = time.monotonic() - _PATIENCE
    again = threading.Timer(0.01, signal.raise_signal, (signal.SIGINT,))
    again.daemon = True
    again.start()
