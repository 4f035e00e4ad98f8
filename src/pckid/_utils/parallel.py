"""Threads and other workers: how many, and BLAS kept from starting its own inside them."""

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from itertools import pairwise
from queue import SimpleQueue
from threading import Lock, RLock, Thread, get_ident
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from pckid._utils.progress import silenced, steps

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_count_cores = cache(cpu_count)
# Cells of small tables that make a thread worth while, and how many threads share them at most:
# more of them wait for each other at the interpreter.
_CELLS, _MAX_SHARING = 60_000, 4
_filters_lock = RLock()


def n_threads(n_jobs: int | None) -> int:
    """Resolve `n_jobs`: None means joblib's context, else what the BLAS library would use."""
    if n_jobs is None:
        _, n_jobs = get_active_backend(prefer="threads")
        if n_jobs in (None, 1) or is_remote():
            blas = _libraries().select(user_api="blas").info()
            return max((pool["num_threads"] for pool in blas), default=1)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning. Give a number of threads, or -1 for all.")
    # On more threads than cores that this process may use, some would only wait for the others.
    return min(effective_n_jobs(n_jobs), _count_cores())


def threads_for(work: float, each: float, most: int) -> int:
    """Decide how many threads share some work, so that each has at least so much of it.

    Threads take turns at the interpreter. With little to compute between two turns they wait for
    it, and many are slower than few.
    """
    return max(1, min(most, int(work / each)))


def threads_for_tables(n_tables: int, n_rows: int, n_columns: int, most: int) -> int:
    """Decide how many threads share small tables, each of which is clustered by itself.

    Whatever its size, each takes the interpreter as long as twenty columns more would.
    """
    return threads_for(n_tables * n_rows * (n_columns + 20), _CELLS, min(most, _MAX_SHARING))


def is_remote() -> bool:
    """Return whether joblib's context hands work to other processes, and results on one by one."""
    backend, _ = get_active_backend(prefer="threads")
    return backend.supports_return_generator and not getattr(backend, "supports_sharedmem", False)


class _Limit:
    """How many threads BLAS may use, as any number of callers ask for at once.

    threadpoolctl's own contexts each restore what they found. Of two that overlap in two threads,
    the one that ends last has found the limit of the other, which would then stay for ever.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: list[list[int]] = []
        self._before: Any = None
        # What was set last, from which thread (some libraries count per thread) and for which
        # libraries. Setting it again takes a tenth of a millisecond.
        self._now: tuple[int, int, ThreadpoolController] | None = None

    @contextmanager
    def at(self, n: int) -> Iterator[None]:
        mine = [n]
        # All within `try`: an interrupt may come between any two lines.
        try:
            with self._lock:
                if self._before is None:
                    self._before = _libraries().limit(limits=None)
                self._asked.append(mine)
                self._set(n)
            yield
        finally:
            try:
                self._end(mine)
            except BaseException:
                # An interrupt came meanwhile: what it left undone is done before it goes on.
                self._end(mine)
                raise

    def _end(self, mine: list[int]) -> None:
        """Go back to what the other callers ask for, or to what was before; twice does no harm."""
        with self._lock:
            self._asked = [each for each in self._asked if each is not mine]
            if self._asked:
                self._set(self._asked[-1][0])
            elif self._before is not None:
                self._now = None
                _take_control()
                self._before.restore_original_limits()
                # Only now: what was before is known until all of it is restored.
                self._before = None

    def _set(self, n: int) -> None:
        """Set the limit where it is another one; an interrupt in between has it set again."""
        wanted = n, get_ident(), _libraries()
        if wanted != self._now:
            self._now = None
            _take_control()
            _libraries().limit(limits=n, user_api="blas")
            self._now = wanted


blas_threads = _Limit().at
"""Lets BLAS use so many threads within the context; where callers overlap, the latest decides.

Its own threads wait for each other many times in one call, and for the next call, each time in a
loop that keeps a core busy: threads that compute something else meanwhile take turns with them.
"""


def _take_control() -> None:
    """Let this thread set limits: threadpoolctl lets one thread alone, as long as that lives.

    From 3.7 on others are ignored without a word, and what they restore is not restored.
    """
    for library in _libraries_with("torch" in sys.modules).lib_controllers:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)


def _libraries() -> ThreadpoolController:
    """Find the libraries that have threads of their own; looking takes milliseconds."""
    return _libraries_with("torch" in sys.modules)


@cache
def _libraries_with(torch: bool) -> ThreadpoolController:
    """Look anew when PyTorch, which brings its own, has been imported."""
    return ThreadpoolController()


def run_in_threads(
    function: Callable, tasks: Iterable[tuple], n: int, then: Callable[[Any], object] | None = None
) -> list[Any]:
    """Call `function(*task)` in `n` threads, one BLAS thread each; return the results in order.

    `then` is called with each result as it comes, in the thread of the caller; what a call does is
    told to nobody who watches the progress. No generator, which
    would stay suspended with its limit on BLAS for as long as the traceback of an error in its loop
    is kept.

    Threads that take one task after the other by themselves; joblib's ask for results a hundred
    times a second, and end by so much later.
    """
    found: list[Any] = []
    calls: list[Callable[[], Any]] = [silenced(partial(function, *task)) for task in tasks]
    pool = ThreadPoolExecutor(n) if min(n, len(calls)) > 1 else None
    with blas_threads(1):
        try:
            if pool is not None:
                calls = [pool.submit(call).result for call in calls]
            for call in calls:
                found.append(call())
                if then is not None:
                    then(found[-1])
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)
    return found


def run_in_batches(
    function: Callable[[Sequence[_Item]], Iterable[_Result]],
    tasks: Sequence[_Item],
    n: int,
    most: int,
) -> list[_Result]:
    """Call `function(tasks)` on parts of some tasks, in `n` threads; the results of all, in order.

    Each part has about as many tasks as the others, and `most` at most: what they share is done
    once for each part, and threads meet less often at the interpreter. Those who watch the progress
    are told of parts.
    """
    n_parts = max(min(n, len(tasks)), -(-len(tasks) // most), 1)
    stops = [len(tasks) * i // n_parts for i in range(n_parts + 1)]
    parts = [(tasks[start:stop],) for start, stop in pairwise(stops)]
    found = run_in_threads(lambda some: list(function(some)), parts, n, steps(n_parts))
    return [result for results in found for result in results]


def meanwhile(function: Callable[[], _Item], n: int) -> Callable[[], _Item]:
    """Call a function in a thread of its own, if there is more than one; return how to wait."""
    if n == 1:
        return function
    pool = ThreadPoolExecutor(1)
    future = pool.submit(copy_context().run, function)
    pool.shutdown(wait=False)
    return future.result


def one_ahead(items: Generator[_Item, None, None]) -> Generator[_Item, None, None]:
    """Yield items, each made in a thread while the one before it is used.

    To be closed by whoever stops early. Only the thread runs and closes `items`, for an interrupt
    may come while an item is made, and a generator that runs cannot be closed.
    """
    # Of all ways to wait, an interrupt leaves only these queues as they should be.
    asked: SimpleQueue[bool] = SimpleQueue()
    made: SimpleQueue[Any] = SimpleQueue()

    def make() -> None:
        try:
            while asked.get():
                made.put((next(items), None))
        except BaseException as error:
            made.put((None, error))
        finally:
            items.close()

    thread = Thread(target=copy_context().run, args=(make,), name="one ahead")
    try:
        thread.start()
        asked.put(True)
        while True:
            item, error = made.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            asked.put(True)
            yield item
    finally:
        # An interrupt of the wait changes nothing: the thread ends after the item it is at.
        asked.put(False)
        if thread.is_alive():
            thread.join()


def run_remote(function: Callable, tasks: Iterable[tuple]) -> Generator[Any, None, None]:
    """Call `function(*task)` wherever joblib's context says, results in order.

    To be closed by whoever stops early: no further task is begun then.

    The tasks travel: what they hold is all that they need, and it should be small. Each is one
    tuple, since joblib would hand large arguments to single workers, and lose them with these.
    """
    results = Parallel(return_as="generator")(delayed(_alone)(function, task) for task in tasks)
    try:
        # `yield from` would close joblib's generator by itself, with a warning.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with foreign_warnings_ignored(UserWarning):
            results.close()


@contextmanager
def foreign_warnings_ignored(kind: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of other packages for a moment, one thread at a time.

    The filters belong to the process: each of two threads would restore what it found.
    """
    with _filters_lock, warnings.catch_warnings(action="ignore", category=kind):
        yield


def _alone(function: Callable, task: tuple) -> Any:
    """Call a function with one BLAS thread."""
    with blas_threads(1):
        return function(*task)
