"""What a method is measured by: agreement with the classes, seconds, peak memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pckid.metrics import clustering_accuracy


class Measured(NamedTuple):
    """What a function returned and what it cost."""

    result: Any
    seconds: float
    peak_mib: float


def measure_call(function: Callable[[], Any]) -> Measured:
    """Call a function; time it and watch its memory.

    Peak memory is how far the process's resident memory rose above where it stood before the call,
    as Linux counts it: /proc/self/clear_refs sets the high-water mark back to the present, and
    VmHWM in /proc/self/status reads it afterwards. It counts NumPy, BLAS and all threads, and not
    the memory of a GPU. Elsewhere it is NaN.
    """
    before = _reset_peak()
    begin = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - begin
    return Measured(result, seconds, max(_memory("VmHWM") - before, 0.0))


def agreement_scores(y: NDArray, labels: NDArray) -> dict[str, float]:
    """Compare labels with classes; rows that got no cluster (−1) count as errors, or as singles."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    alone = np.flatnonzero(labels == -1)
    singled = labels.copy()
    singled[alone] = labels.max() + 1 + np.arange(alone.size)
    return {
        "accuracy": clustering_accuracy(y, labels),
        "ari": float(adjusted_rand_score(y, singled)),
        "nmi": float(normalized_mutual_info_score(y, singled)),
    }


def _reset_peak() -> float:
    """Set the high-water mark of resident memory back; returns the memory now, in MiB."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return nan
    return _memory("VmRSS")


def _memory(field: str) -> float:
    """Read a field of /proc/self/status in MiB."""
    try:
        with open("/proc/self/status") as file:
            found = [line.split()[1] for line in file if line.startswith(f"{field}:")]
    except OSError:
        return nan
    return int(found[0]) / 1024 if found else nan
