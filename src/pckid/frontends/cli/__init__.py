"""The command line: `pckid cluster`, `predict`, `inspect`, `info`, `demo` and others."""

import os
import sys

from pckid.frontends.cli import _process

COMMANDS = ("cluster", "predict", "inspect", "info", "demo", "app", "completion")
"""Each is a function in the module of its name, which is imported when the command is used."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        _process.catch_signals()
        _process.repair_std_streams()
        # Others of Arrow's memory pools keep much of what was given back.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        from pckid.frontends.cli._run import run_command

        run_command(sys.argv[1:])
    except (ImportError, MemoryError) as error:
        # Of the import alone: what happens in `run` is said there.
        print(f"pckid: {_why_not_loaded(error)}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        os._exit(_process.interrupt_code())
    finally:
        _process.ignore_signals()


def _why_not_loaded(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        install = "python -m pip install 'pckid[cli]'"
        return f"the command line needs {error.name}. Install it with: {install}"
    if isinstance(error, ImportError) and "failed to map segment" not in str(error):
        return f"the command line cannot be loaded: {error}"
    return "There is not enough memory."
