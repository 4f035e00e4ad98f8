"""The command line: `pckid cluster`, `predict`, `inspect`, `info`, `demo` and others."""

import os
import sys

from pckid.cli import _process

COMMANDS = {
    "cluster": "pckid.cli.cluster:cluster",
    "predict": "pckid.cli.predict:predict",
    "inspect": "pckid.cli.inspect:inspect",
    "info": "pckid.cli.info:info",
    "demo": "pckid.cli.demo:demo",
    "app": "pckid.cli.app:app",
    "completion": "pckid.cli.completion:completion",
}
"""Commands by name, each "module:function"; a module is imported when its command is used."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        _process.catch_signals()
        _process.repair_std_streams()
        from pckid.cli._run import run_command

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
