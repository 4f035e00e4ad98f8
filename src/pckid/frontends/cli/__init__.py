"""The command line: `pckid cluster`, `predict`, `inspect`, `info`, `demo` and others."""

import os
import sys

from pckid.frontends.cli import process


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        process.catch_signals()
        process.repair_std_streams()
        # Others of Arrow's memory pools keep much of what was given back.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        from pckid.frontends.cli.exit_codes import run_command

        run_command(sys.argv[1:])
    except (ImportError, MemoryError) as error:
        # Of the import alone: what happens in `run` is said there.
        told = "There is not enough memory."
        if isinstance(error, ModuleNotFoundError):
            install = "python -m pip install 'pckid[cli]'"
            told = f"the command line needs {error.name}. Install it with: {install}"
        elif isinstance(error, ImportError) and "failed to map segment" not in str(error):
            told = f"the command line cannot be loaded: {error}"
        print(f"pckid: {told}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        process.end_interrupted()
    finally:
        process.ignore_signals()
