"""Threads and other workers: how many, and BLAS kept from starting its own inside them."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController


def n_threads(n_jobs: int | None) -> int:
    """Resolve `n_jobs`: None means joblib's context, else what the BLAS library would use."""
    if n_jobs is None:
        _, n_jobs = get_active_backend(prefer="threads")
        if n_jobs in (None, 1) or is_remote():
            blas = _libraries().select(user_api="blas").info()
            return max((pool["num_threads"] for pool in blas), default=1)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning. Give a number of threads, or -1 for all.")
    # More would only take memory, and results do not depend on them.
    return min(effective_n_jobs(n_jobs), max(64, 4 * (os.cpu_count() or 1)))


def is_remote() -> bool:
    """Tell whether joblib's context hands work to other processes, or to other machines."""
    backend, _ = get_active_backend(prefer="threads")
    return not getattr(backend, "supports_sharedmem", False)


class _Limit:
    """How many threads BLAS may use, as any number of callers ask for at once.

    threadpoolctl's own contexts each restore what they found. Of two that overlap in two threads,
    the one that ends last has found the limit of the other, which would then stay for ever.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: list[list[int]] = []
        self._before: Any = None

    @contextmanager
    def at(self, n: int) -> Iterator[None]:
        mine = [n]
        with self._lock:
            found = _libraries().limit(limits=n, user_api="blas")
            if not self._asked:
                self._before = found
            self._asked.append(mine)
        try:
            yield
        finally:
            with self._lock:
                self._asked = [each for each in self._asked if each is not mine]
                if self._asked:
                    _libraries().limit(limits=self._asked[-1][0], user_api="blas")
                else:
                    self._before.restore_original_limits()


_BLAS = _Limit()


def blas_threads(n: int) -> AbstractContextManager:
    """Let BLAS use `n` threads within the context; where callers overlap, the latest decides."""
    return _BLAS.at(n)


def _libraries() -> ThreadpoolController:
    """Find the libraries that have threads of their own; looking takes milliseconds."""
    return _libraries_with("torch" in sys.modules)


@cache
def _libraries_with(torch: bool) -> ThreadpoolController:
    """Look anew when PyTorch, which brings its own, has been imported."""
    return ThreadpoolController()


def run(function: Callable, tasks: Iterable[tuple], n: int) -> Iterator[Any]:
    """Call `function(*task)` in `n` threads, one BLAS thread each, results in order.

    Threads that take one task after the other by themselves; joblib's ask for results a hundred
    times a second, and end by so much later.
    """
    with blas_threads(1):
        if n == 1:
            yield from (function(*task) for task in tasks)
            return
        pool = ThreadPoolExecutor(n)
        try:
            waiting = deque(pool.submit(function, *task) for task in tasks)
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def spread(function: Callable, tasks: Iterable[tuple]) -> Iterator[Any]:
    """Call `function(*task)` wherever joblib's context says, results in order.

    The tasks travel: what they hold is all that they need, and it should be small. Each is one
    tuple, since joblib would hand large arguments to single workers, and lose them with these.
    """
    yield from Parallel(return_as="generator")(delayed(_alone)(function, task) for task in tasks)


def _alone(function: Callable, task: tuple) -> Any:
    """Call a function with one BLAS thread."""
    with blas_threads(1):
        return function(*task)
