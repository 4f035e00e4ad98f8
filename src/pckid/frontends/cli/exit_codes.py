"""Run a command and turn whatever happens into an exit code and a sentence."""

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import click

from pckid.exceptions import PckidModelError, TableError
from pckid.frontends.cli.codes import EXIT_DATA, EXIT_MODEL, EXIT_OK, EXIT_RUNTIME
from pckid.frontends.cli.commands import ReaderLeft, pckid
from pckid.frontends.cli.messages import fail, note
from pckid.frontends.cli.process import drop_output, end_interrupted

# How libraries say that memory is out without a MemoryError.
_NO_MEMORY = (
    "can't start new thread", "Cannot allocate memory", "failed to map segment", "bad_alloc",
)  # fmt: skip


def run_command(arguments: list[str]) -> NoReturn:
    """Run the command line, given what follows the program's name, and end the process."""
    with warnings.catch_warnings():
        # What the library has to say to its user, and not what concerns programmers.
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: note(str(message))
        code = _exit_code(lambda: pckid.main(arguments, prog_name="pckid", standalone_mode=False))
    sys.exit(code)


def _exit_code(command: Callable[[], Any]) -> int:
    """Run a command and say what went wrong, if anything did."""
    try:
        result = command()
        sys.stdout.flush()
        return result if isinstance(result, int) else EXIT_OK
    except (BrokenPipeError, ReaderLeft):
        # Whoever read the output has had enough. Nothing may be written at exit either.
        drop_output()
        return EXIT_OK
    except (KeyboardInterrupt, click.Abort):
        fail("Interrupted. Every output file is whole or as it was before.")
        end_interrupted()
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except Exception as error:
        return _explain(error)


def _explain(error: Exception) -> int:
    """Print a sentence for an exception and choose its exit code."""
    if os.environ.get("PCKID_DEBUG"):
        traceback.print_exc()
    told, code, is_known = str(error) or type(error).__name__, EXIT_RUNTIME, True
    if _is_want_of_memory(error):
        if not told.startswith("There is not enough memory:"):
            told = "There is not enough memory. Try --set max_components=10, or --set n_inits=5."
    elif isinstance(error, OSError) and error.errno == errno.EBADF and not error.filename:
        drop_output()
        told = "Standard input or output is closed. Give the table's name, or --out."
    elif isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        told = f"{error.strerror or error}{where}."
    elif isinstance(error, ImportError):
        if "pip install" not in told and not str(error.name).startswith("pckid"):
            told += ". Install what is missing with: python -m pip install 'pckid[all]'"
    elif isinstance(error, TableError):
        from pckid.frontends.cli.words import explain_error

        told, code = explain_error(error), EXIT_DATA
    elif isinstance(error, ValueError):
        code = EXIT_MODEL if isinstance(error, PckidModelError) else EXIT_DATA
    else:
        is_known = False
    fail(told)
    if not is_known:
        note("This should not have happened. PCKID_DEBUG=1 in the environment shows where it did.")
    return code


def _is_want_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, says that memory is out."""
    while error is not None:
        if isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False
