"""Read a file in a process of its own, for readers that damaged files can crash.

Some readers, written in C or Rust, end the whole process at a damaged file. Here that is another
process: it gets the bytes, returns an Arrow stream, and may use a limited amount of memory.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.ipc

from pckid._utils.commands import for_python, options_as_parameters
from pckid.exceptions import TableError
from pckid.tables.sources import Source

_REFUSED = 3
_LOADING = 2 << 30  # address space for the libraries alone
_CHILD = "from pckid.tables.isolation import serve_isolated; serve_isolated()"


class Read(NamedTuple):
    """Rows that were read.

    Attributes
    ----------
    data : pyarrow.Table of shape (n_rows, n_columns)
    notes : tuple of str
        What was decided about the table and might have been decided otherwise.
    n_below : int
        Rows below the table that were left out.
    sheet : tuple of int
        Of a sheet: the number of the row that is the first of the table, from 1, and those of blank
        rows below it.
    """

    data: Any
    notes: tuple[str, ...] = ()
    n_below: int = 0
    sheet: tuple[int, ...] = ()


def read_apart(function: Callable[..., Read], source: Source, **options: Any) -> Read:
    """Call `function(source, **options)` in another process.

    Parameters
    ----------
    function : callable
        Found by its module and name.
    source : Source
    **options
        Plain values.

    Returns
    -------
    read : Read

    Raises
    ------
    TableError
        That of the function, or one that says that the file is damaged if the process died.
    """
    called = f"{function.__module__}:{function.__name__}"
    task = {"call": called, "name": source.name, "max_bytes": source.max_bytes, "options": options}
    task["for_python"] = for_python()
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(task)],
        input=b"".join(source.pieces()),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode == _REFUSED:
        raise TableError(*json.loads(done.stderr.splitlines()[-1]))
    if done.returncode != 0:
        raise TableError(
            f"{source.name} is damaged or cut short (its reader failed). Copy or download it "
            "again, or save it in another format."
        )
    data = pa.ipc.open_stream(done.stdout).read_all()
    notes, n_below, sheet = json.loads((data.schema.metadata or {})[b"read"])
    return Read(data.replace_schema_metadata(None), tuple(notes), n_below, tuple(sheet))


def serve_isolated() -> None:
    """Read the file that comes by standard input; write it to standard output."""
    task = json.loads(sys.argv[1])
    _limit_memory(task["max_bytes"] + _LOADING)
    module, _, name = task["call"].partition(":")
    source = Source(task["name"], task["max_bytes"], sys.stdin.buffer.read())
    try:
        with options_as_parameters(task["for_python"]):
            data, *told = getattr(import_module(module), name)(source, **task["options"])
    except TableError as error:
        sys.stderr.buffer.write(json.dumps([str(error), error.options]).encode())
        sys.exit(_REFUSED)
    data = data.replace_schema_metadata({"read": json.dumps(told)})
    with pa.ipc.new_stream(sys.stdout.buffer, data.schema) as stream:
        stream.write_table(data)


def _limit_memory(n_bytes: int) -> None:
    """Let this process take no more memory than that, where the system can see to it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = n_bytes if most == resource.RLIM_INFINITY else min(n_bytes, most)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, most))
