"""Limits that the system sets for this process."""

import os

# Address space in MB that the libraries take when they are loaded, and for each thread of theirs:
# two copies of BLAS, each with a stack and a buffer.
_LOADING = 500
_PER_THREAD = 80


def refuse_too_little_memory() -> None:
    """Raise MemoryError if the libraries could not even be loaded.

    Loaded into less than they need, some of them do not fail: they try again without end, or send
    this process an interrupt.
    """
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit either
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = (_LOADING + _PER_THREAD * _blas_threads()) << 20
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise MemoryError(
            f"There is not enough memory: this process may use {limit >> 20} MB of addresses and "
            f"needs {needed >> 20} MB only to begin. Raise the limit (ulimit -v), or start fewer "
            "threads (OPENBLAS_NUM_THREADS=1)."
        )


def _blas_threads() -> int:
    """Count the threads that BLAS is going to start."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    return os.cpu_count() or 1
