"""Read binary files in another process, with limits on its memory and processor time.

Readers written in C, C++ or Rust can end the whole process at a damaged file, and a file of a few
kilobytes can ask them for gigabytes. Here that is a child process. It answers requests one after
the other, since starting it takes longer than most of them.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from pckid._utils.text import brief
from pckid.exceptions import TableError
from pckid.frontends.options import Fix
from pckid.frontends.tables.sources import MAX_UNPACKED, Source

# What a file may take to be read: in bytes of memory, and in seconds of processor time.
_MEMORY, _MEMORY_PER_BYTE = 1 << 29, 64
_SECONDS, _SECONDS_PER_BYTE = 20, 1e-5
_LOADING = 1 << 28  # memory of the child before it reads anything
_LARGEST_IDLE = 300 << 20
_MOST_THREADS = 4
_PIPE = 1 << 20
_CHILD = "from pckid.frontends.tables.isolation import serve_requests; serve_requests()"
_idle: list["_Child"] = []


def read_apart(function: Callable[..., Iterator[Any]], source: Source, **options: Any) -> Iterator:
    """Yield what `function(source, **options)` yields, in another process.

    It is found by its module and name, and yields a value that JSON can hold, or Arrow tables of
    one schema, or both in this order. A TableError is that of the function, or says that the file
    is damaged or takes too much.
    """
    child = _take_child()
    try:
        called = f"{function.__module__}:{function.__name__}"
        child.send({"call": called, "options": options}, source)
        answer = child.answer(source)
        if "told" in answer:
            yield answer["told"]
        if answer["more"]:
            yield from child.tables(source)
            child.answer(source)
    finally:
        if child.stays and not _idle:
            _idle.append(child)
        else:
            child.close()


@atexit.register
def close_idle() -> None:
    """End the process that waits for requests."""
    while _idle:
        _idle.pop().close()


def _take_child() -> "_Child":
    """Take the process that waits for requests, or start one."""
    while _idle:
        with contextlib.suppress(IndexError):
            child = _idle.pop()
            if child.is_ready:
                return child
    return _Child()


class _Child:
    """A process that reads files."""

    stays = False  # whether it has answered all that it was asked, and may be asked again

    def __init__(self) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        # The memory pool of the system takes no more than it is asked for.
        told = {"PYTHONPATH": paths, "ARROW_DEFAULT_MEMORY_POOL": "system"}
        told |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD], env={**os.environ, **told},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        with contextlib.suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(self._answers, fcntl.F_SETPIPE_SZ, _PIPE)

    @property
    def is_ready(self) -> bool:
        """Whether it runs, and belongs to this process rather than to one that was forked off."""
        return self._owner == os.getpid() and self._process.poll() is None

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        self._requests.close()
        self._answers.close()

    def send(self, request: dict[str, Any], source: Source) -> None:
        """Ask for something, with the bytes of a source that is no file."""
        self.stays, stored = False, source.stored
        request |= {"name": source.name, "max_bytes": source.max_bytes}
        request |= {"folder": os.getcwd() if stored is None else None}
        request |= {"n_bytes": None if stored is None else len(stored)}
        request |= {"memory": allowed_memory(source), "seconds": _allowed_seconds(source)}
        with contextlib.suppress(BrokenPipeError):  # why it died is found out by whoever reads
            self._requests.write(json.dumps(request).encode() + b"\n" + (stored or b""))
            self._requests.flush()

    def answer(self, source: Source) -> dict[str, Any]:
        """Read a line of the answer; raise the error that it holds."""
        line = self._answers.readline()
        if not line:
            raise self._why_it_died(source)
        answer = json.loads(line)
        self.stays = answer["stays"] and not answer.get("more")
        if "error" in answer:
            said, fixes = answer["error"]
            raise TableError(said, *(Fix(*values) for values in fixes))
        return answer

    def tables(self, source: Source) -> Iterator[Any]:
        """Yield the tables of the answer."""
        try:
            stream = pa.ipc.open_stream(pa.PythonFile(self._answers, "r"))
            yield pa.Table.from_batches([], stream.schema)
            for batch in stream:
                yield pa.Table.from_batches([batch])
        except (pa.ArrowException, OSError):
            raise self._why_it_died(source) from None

    def _why_it_died(self, source: Source) -> TableError:
        ended = -self._process.wait()
        if ended == getattr(signal, "SIGXCPU", 0):
            return _takes_too_much(source, f"{_allowed_seconds(source):.0f} s of processor time")
        if ended == getattr(signal, "SIGABRT", 0):  # of either
            memory = f"{allowed_memory(source) / 2**30:.3g} GB of memory"
            return TableError(
                f"{source.name} takes more than {memory} to read, or is damaged (its reader "
                "failed). A single cell far from the table makes a sheet that large: delete it, or "
                "save the table as .csv or Parquet."
            )
        return _damaged(source.name, "its reader failed")


def allowed_memory(source: Source) -> int:
    """Give the bytes of memory that reading a file may take; as many as asked for, if many are."""
    if source.max_bytes > MAX_UNPACKED:
        return source.max_bytes
    return min(source.max_bytes, _MEMORY + _MEMORY_PER_BYTE * source.n_bytes)


def _allowed_seconds(source: Source) -> float:
    trusted = max(source.max_bytes / MAX_UNPACKED, 1.0)
    return trusted * (_SECONDS + _SECONDS_PER_BYTE * source.n_bytes)


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
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks ends this process
    pa.set_cpu_count(min(pa.cpu_count(), _MOST_THREADS))
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        n_bytes = request["n_bytes"]
        stored = None if n_bytes is None else sys.stdin.buffer.read(n_bytes)
        _answer_request(request, Source(request["name"], request["max_bytes"], stored))


def _answer_request(request: dict[str, Any], source: Source) -> None:
    """Call a function and write what it yields to standard output."""
    module, _, name = request["call"].partition(":")
    sink, stream = sys.stdout.buffer, None
    answer: dict[str, Any]
    try:
        if request["folder"] is not None:
            os.chdir(request["folder"])  # may have changed since this process was started
        _limit_process(request["memory"] + _LOADING, request["seconds"])
        found = getattr(import_module(module), name)(source, **request["options"])
        first, answer = next(found), {}
        if not isinstance(first, pa.Table):
            answer, first = {"told": first}, next(found, None)
        answer |= {"more": first is not None, "stays": _is_small()}
        if first is not None:
            sink.write(json.dumps(answer).encode() + b"\n")
            stream = pa.ipc.new_stream(pa.PythonFile(sink, "w"), first.schema)
            stream.write_table(first)
            del first
            for table in found:
                stream.write_table(table)
            answer = {"stays": _is_small()}
    except TableError as error:
        answer = _pack_error(error) | {"stays": _is_small()}
    except MemoryError:
        memory = f"{request['memory'] / 2**30:.3g} GB of memory"
        answer = _pack_error(_takes_too_much(source, memory))
    except BaseException as error:  # a panic of a reader in Rust is no Exception
        reason = (str(error) or type(error).__name__).splitlines()[0]
        answer = _pack_error(_damaged(source.name, reason))
    if stream is not None:
        stream.close()
    sink.write(json.dumps(answer).encode() + b"\n")
    sink.flush()


def _pack_error(error: TableError) -> dict[str, Any]:
    """Write an error as plain values; one that no reader foresaw ends its process."""
    fixes = [list(fix) for fix in error.fixes]
    return {"error": [str(error), fixes], "stays": False}


def _is_small() -> bool:
    """Return whether this process may wait for more, rather than hold memory that it took."""
    # On Linux the peak of a process counts that of the one that started it.
    with contextlib.suppress(OSError), open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") < _LARGEST_IDLE
    try:
        import resource
    except ImportError:
        return False
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < _LARGEST_IDLE  # bytes on macOS


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
