"""What a command says on standard error, and notes that wait their turn; findings as JSON."""

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from pckid._utils.text import printable

_held: list[str] | None = None  # notes that wait until what was found is shown


def say(text: str) -> None:
    """Print a line."""
    echo(printable(text))


def note(text: str) -> None:
    """Print something that needs attention."""
    remark(f"Note: {text}")


def remark(text: str) -> None:
    """Print a line, or keep it with the notes while these are held."""
    if _held is None:
        say(text)
    else:
        _held.append(text)


@contextlib.contextmanager
def holding_notes(quiet: bool) -> Iterator[None]:
    """Keep notes until `take_notes` is called; an error shows them before it.

    A quiet command takes none, and none are shown.
    """
    global _held
    _held = []
    try:
        yield
    finally:
        for text in take_notes():
            if not quiet:
                say(text)


def take_notes() -> list[str]:
    """Give the notes that were held, and hold no more."""
    global _held
    held, _held = _held or [], None
    return held


def fail(text: str) -> None:
    """Print why a command ends without a result."""
    say(f"pckid: {text}")


def echo(text: str) -> None:
    """Print to standard error, as it stands; what cannot be said there is no reason to stop."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def print_json(found: Any) -> None:
    """Print findings to standard output as JSON."""
    # Escapes of an encoding that lacks a letter would be no JSON.
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(found, indent=2, ensure_ascii=plain, allow_nan=False)
    # What could steer a terminal stands only within texts, where JSON has escapes for it.
    signs = (s if s.isprintable() or s == "\n" else json.dumps(s)[1:-1] for s in text)
    click.echo("".join(signs))
