"""The command line: `pckid cluster`, `predict`, `inspect`, `info`, `demo` and others."""

import os
import sys

COMMANDS = {
    "cluster": "pckid.cli.cluster:cluster",
    "predict": "pckid.cli.predict:predict",
    "inspect": "pckid.cli.inspect:inspect",
    "info": "pckid.cli.info:info",
    "demo": "pckid.cli.demo:demo",
    "reproduce": "pckid.cli.reproduce:reproduce",
    "compare": "pckid.cli.compare:compare",
    "completion": "pckid.cli.completion:completion",
}
"""Commands by name, each "module:function"; a module is imported when its command is used."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        from pckid.cli._run import run
    except ImportError as error:
        print(
            f"pckid: the command line needs {error.name}. Install it with: "
            "python -m pip install 'pckid[cli]'",
            file=sys.stderr,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        os._exit(130)
    run(sys.argv[1:])
