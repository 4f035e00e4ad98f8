"""Standard input, output and error, as they should be."""

import os
import sys

_USE = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))


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
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
