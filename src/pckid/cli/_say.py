"""Words to the person at the terminal: all of them go to standard error."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import click

_quiet = False


def be_quiet(quiet: bool) -> None:
    """Leave out everything but errors, or stop doing so."""
    global _quiet
    _quiet = quiet


def clean(text: str) -> str:
    """Take out what could steer a terminal: control characters and marks of direction."""
    return "".join(
        sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )


def shorten(text: str, width: int = 40) -> str:
    """Fit a name into a line: one line, printable, at most `width` characters."""
    plain = clean(text).replace("\n", " ")
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def say(text: str) -> None:
    """Print a line unless asked to be quiet."""
    if not _quiet:
        click.echo(clean(text), err=True)


def note(text: str) -> None:
    """Print something that needs attention."""
    say(f"Note: {text}")


def fail(text: str) -> None:
    """Print why a command ends without a result."""
    click.echo(f"pckid: {clean(text)}", err=True)


@contextlib.contextmanager
def progress(estimator: Any, what: str) -> Iterator[None]:
    """Show a bar with an estimate of the time left while an estimator fits, on a terminal only."""
    if _quiet or not sys.stderr.isatty() or not hasattr(estimator, "set_callbacks"):
        yield
        return
    from pckid.cli._progress import FitProgress

    estimator.set_callbacks(FitProgress(what))
    try:
        yield
    finally:
        estimator.set_callbacks()
