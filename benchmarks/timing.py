"""How things are timed and weighed here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


def best_of(function: Callable[[], Any], repeats: int) -> float:
    """Return the shortest of some run times, in seconds: the one least disturbed."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def product_peak(n_threads: int, dtype: type = np.float32, size: int = 2000) -> float:
    """Measure the rate of a large square matrix product, in operations per second."""
    A = np.random.default_rng(0).random((size, size)).astype(dtype)
    with threadpool_limits(n_threads):
        return 2 * size**3 / best_of(lambda: A @ A, 5)


class PeakMemory:
    """Watch the resident memory of this process from a thread, in bytes above the start."""

    def __enter__(self) -> PeakMemory:
        self._base = self.peak = _resident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def above_start(self) -> int:
        return self.peak - self._base

    def _watch(self) -> None:
        while not self._stop.wait(0.005):
            self.peak = max(self.peak, _resident())


def _resident() -> int:
    """Read the resident memory from the kernel (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
