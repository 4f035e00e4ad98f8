"""Read binary files in another process, with limits on its memory and processor time.

Readers written in C, C++ or Rust can end the whole process at a damaged file, and a file of a few
kilobytes can ask them for gigabytes. Here that is a child process. It answers requests one after
the other, since starting it takes longer than most of them.

`concurrent.futures` has no such process: its workers run the user's script again, cannot be started
from daemonic processes, print a traceback at Ctrl-C while they start, are waited for at the end
whatever they do, give a result only when it is whole, and do not say which limit they met.
"""

import atexit
import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.formats.sources import Source

# What a file may take to be read: in bytes of memory, and in seconds of processor time.
_MEMORY, _MEMORY_PER_BYTE = 1 << 29, 64
_SECONDS, _SECONDS_PER_BYTE = 20, 1e-5
_LOADING = 1 << 28  # memory of the child before it reads anything
# The child does not wait for requests after it has read a larger file: it may hold memory.
_MAX_KEPT = 1 << 22
_MAX_THREADS = 4
_PIPE = 1 << 20
_CHILD = "from pckid.frontends.formats.isolation import serve_requests; serve_requests()"
_idle: list[subprocess.Popen] = []


def read_apart(function: Callable[..., Iterator[Any]], source: Source, **options: Any) -> Iterator:
    """Yield what `function(source, **options)` yields, in another process.

    A TableError is that of the function, or says that the file is damaged or takes too much.
    """
    folder = os.getcwd() if source.stored is None else None
    is_small = source.n_bytes <= _MAX_KEPT
    limits = allowed_memory(source), _allowed_seconds(source)
    child, kind = _take_child(), ""
    requests, answers = child.stdin, child.stdout
    assert requests is not None
    assert answers is not None
    try:
        with contextlib.suppress(BrokenPipeError):  # why it died is found out below
            pickle.dump((function, source, options, folder, limits), requests)
            requests.flush()
        while kind != "end":
            try:
                kind, value = pickle.load(answers)
                if kind == "table":
                    value = pa.ipc.open_stream(pa.PythonFile(answers, "r")).read_all()
            except (EOFError, OSError, pickle.UnpicklingError, pa.ArrowException):
                answers.close()  # lest it waits to write more
                raise _why_it_died(child.wait(), source) from None
            if isinstance(value, TableError):
                raise value
            if kind != "end":
                yield value
    finally:
        if kind in ("end", "refused") and is_small and not _idle:
            _idle.append(child)
        else:
            _end(child)


@atexit.register
def close_idle() -> None:
    """End the process that waits for requests."""
    while _idle:
        _end(_idle.pop())


def _take_child() -> subprocess.Popen:
    """Take the process that waits for requests, or start one."""
    with contextlib.suppress(IndexError):
        while True:
            child = _idle.pop()
            if child.poll() is None:  # it runs, and is a child of this process, not of its parent
                return child
    # The memory pool of the system takes no more than it is asked for.
    told = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    told |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    told |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD], env={**os.environ, **told}, pipesize=_PIPE,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _end(child: subprocess.Popen) -> None:
    """End a process, whatever it does; one that another process started only loses its pipes."""
    child.kill()
    for pipe in (child.stdin, child.stdout):
        with contextlib.suppress(BrokenPipeError):
            pipe.close()  # type: ignore[union-attr]
    child.wait()


def _why_it_died(code: int, source: Source) -> TableError:
    if code == -getattr(signal, "SIGXCPU", 0):
        return _takes_too_much(source, f"{_allowed_seconds(source):.0f} s of processor time")
    if code == -getattr(signal, "SIGABRT", 0):  # of either
        memory = f"{allowed_memory(source) / 2**30:.3g} GB of memory"
        return TableError(
            f"{source.name} takes more than {memory} to read, or is damaged (its reader "
            "failed). A single cell far from the table makes a sheet that large: delete it, or "
            "save the table as .csv or Parquet."
        )
    return _damaged(source.name, "its reader failed")


def allowed_memory(source: Source) -> int:
    """Give the bytes of memory that reading a file may take."""
    return min(source.max_bytes, _MEMORY + _MEMORY_PER_BYTE * source.n_bytes)


def _allowed_seconds(source: Source) -> float:
    return _SECONDS + _SECONDS_PER_BYTE * source.n_bytes


def _takes_too_much(source: Source, what: str) -> TableError:
    return TableError(
        f"{source.name} takes more than {what} to read, for {source.n_bytes:,} bytes."
    )


def _damaged(name: str, reason: str) -> TableError:
    return TableError(
        f"{name} is damaged or cut short ({brief(reason, 200)}). Copy or download it again, or "
        "save it in another format."
    )


class _WithoutPandas:
    """Keep pyarrow from importing pandas, which takes longer than most files do."""

    @staticmethod
    def find_spec(name: str, *where: Any) -> None:
        """Find nothing."""
        if name == "pandas":
            raise ImportError(name)


def serve_requests() -> None:
    """Answer the requests that come by standard input, in a process of its own."""
    sys.meta_path.insert(0, _WithoutPandas)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks ends this process
    pa.set_cpu_count(min(pa.cpu_count(), _MAX_THREADS))
    kind = ""
    with contextlib.suppress(EOFError):  # no more requests
        while kind != "failed":
            kind, value = _answer(*pickle.load(sys.stdin.buffer))
            _send(kind, value)


def _answer(
    function: Callable[..., Iterator[Any]],
    source: Source,
    options: dict[str, Any],
    folder: str | None,
    limits: tuple[int, float],
) -> tuple[str, Any]:
    """Send what a function yields; return how it ended, with its error.

    After an error that no reader foresaw, this process ends.
    """
    try:
        if folder is not None:
            os.chdir(folder)  # may have changed since this process was started
        _limit_process(limits[0] + _LOADING, limits[1])
        for value in function(source, **options):
            _send("table" if isinstance(value, pa.Table) else "value", value)
    except TableError as error:
        return "refused", error
    except MemoryError:
        return "failed", _takes_too_much(source, f"{limits[0] / 2**30:.3g} GB of memory")
    except BaseException as error:  # a panic of a reader in Rust is no Exception
        reason = (str(error) or type(error).__name__).splitlines()[0]
        return "failed", _damaged(source.name, reason)
    return "end", None


def _send(kind: str, value: Any) -> None:
    """Write to standard output; a table as Arrow writes it, without a copy."""
    sink = sys.stdout.buffer
    pickle.dump((kind, None if kind == "table" else value), sink)
    if kind == "table":
        with pa.ipc.new_stream(pa.PythonFile(sink, "w"), value.schema) as stream:
            stream.write_table(value)
    sink.flush()


def _limit_process(n_bytes: int, seconds: float) -> None:
    """Let this process take no more memory and time than that, where the system can see to it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime + seconds) + 1
        for kind, wanted in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, until),
            (resource.RLIMIT_DATA, n_bytes),
        ):
            _, most = resource.getrlimit(kind)
            soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
            resource.setrlimit(kind, (soft, most))
