"""Ctrl-C, SIGTERM and SIGHUP, handled exactly once, at whatever moment they come."""

import signal
import sys
import threading
import time
from typing import Any

_PATIENCE = 1.0
# Windows has no SIGHUP.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_last = -_PATIENCE
_number = int(signal.SIGINT)


def listen() -> None:
    """Turn signals into KeyboardInterrupt from now on; to be called from the main thread.

    By default SIGTERM and SIGHUP would end the process where it stands, with half-written files
    beside its outputs. One that is ignored, as SIGHUP under `nohup`, stays so.
    """
    for number in _SIGNALS:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _answer)
    sys.unraisablehook = _repeat


def ignore() -> None:
    """Answer no more: what there was to do is done.

    An interrupt while Python cleans up would end a run that has succeeded as if it had been killed.
    """
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def exit_code() -> int:
    """The exit code that shells give to a process that the last signal ended: 130 for Ctrl-C."""
    return 128 + _number


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
