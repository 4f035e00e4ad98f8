"""How things are timed and weighed here."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count
from threadpoolctl import threadpool_info, threadpool_limits

# Longer than threads of OpenBLAS turn idle after a product, in seconds.
_IDLE_TURNS = 0.3


def best_of(function: Callable[[], Any], repeats: int) -> float:
    """Return the shortest of some run times, in seconds: the one least disturbed."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def product_rate(
    n_threads: int, dtype: type = np.float32, size: int = 2000, seconds: float = 0.5
) -> float:
    """Measure the rate of large square matrix products over a while, in operations per second.

    The clock of a shared processor changes from one second to the next: the best of many short
    moments would be a rate that nothing longer reaches. Afterwards OpenBLAS's threads turn idle for
    an eighth of a second, on cores that whatever is timed next should have: they are waited for.
    """
    A = np.random.default_rng(0).random((size, size)).astype(dtype)
    with threadpool_limits(n_threads):
        A @ A
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            A @ A
            count += 1
        rate = 2 * size**3 * count / (time.perf_counter() - begin)
    time.sleep(_IDLE_TURNS)
    return rate


def exponent(first: dict[str, float], last: dict[str, float]) -> float:
    """Compute the power of `x` with which `seconds` grow between two points."""
    return math.log(last["seconds"] / first["seconds"]) / math.log(last["x"] / first["x"])


def write_json(path: Path | None, figures: Any) -> None:
    """Write figures where they are wanted, a file that git shows line by line."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(figures, indent=1) + "\n")


def machine() -> dict[str, Any]:
    """Describe the machine, and how busy it is: programs that want to run for each core."""
    blas = {f"{p['internal_api']} {p['version']}" for p in threadpool_info() if p["version"]}
    return {
        "processor": _processor(),
        "cores": cpu_count(),
        "numpy": np.__version__,
        "blas": ", ".join(sorted(blas)),
        "busy": os.getloadavg()[1] / (os.cpu_count() or 1),
    }


def _processor() -> str:
    """Read the name of the processor from the kernel (Linux), else what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
