"""What the verdict and the answers about rows cost beside the fit of a large table in memory.

    python -m benchmarks.large --rows 100000 300000 1000000
    python -m benchmarks.large --shell 2000000

Processor time on one thread, once each. With `--shell`, `pckid cluster` on a Parquet file of 18
columns of float32, read whole and in batches: five starts of ten components, as in a map.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.memory import write_parquet
from benchmarks.verdict import processor_seconds
from benchmarks.workers import table
from pckid import PCKID, assess, explain, next_cells

N_COLUMNS, N_CLUSTERS, SHARE_MISSING = 18, 5, 0.3
_SETTINGS = ("n_inits=5", "max_components=10", "n_jobs=1")


def measure_answers(n_rows: int) -> str:
    """Time a fit, and what comes after it, in fits."""
    X = table(n_rows, N_COLUMNS, SHARE_MISSING, None)
    fit, model = processor_seconds(lambda: PCKID(N_CLUSTERS, random_state=0, n_jobs=1).fit(X))
    calls: dict[str, Callable[[], Any]] = {
        "assess": lambda: assess(model, X, n_jobs=1),
        "explain": lambda: explain(model, X),
        "next_cells": lambda: next_cells(model, X),
    }
    told = [
        f"{name} {seconds:.1f} s ({seconds / fit:.2f} fits)"
        for name, call in calls.items()
        for seconds, _ in [processor_seconds(call)]
    ]
    return f"{n_rows:,} rows: fit {fit:.1f} s, {', '.join(told)}"


def measure_shell(source: Path, *options: str) -> str:
    """Cluster a file by the shell; processor time and peak memory of its process."""
    out = str(source.with_name("out.parquet"))
    settings = [text for each in _SETTINGS for text in ("--set", each)]
    command = [sys.executable, "-m", "pckid", "cluster", str(source), "-k", str(N_CLUSTERS)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [*command, *settings, "--out", out, *options], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"The command ended with {process.returncode}.")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{seconds:.1f} s of processor time, {used.ru_maxrss / 1024:.0f} MB at most"


def main(argv: list[str] | None = None) -> None:
    """Print the costs for each number of rows, and of the shell if asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 300_000])
    parser.add_argument("--shell", type=int, help="rows of a file")
    options = parser.parse_args(argv)
    if options.shell:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "table.parquet"
            write_parquet(source, options.shell, N_COLUMNS)
            print(f"read whole: {measure_shell(source)}", flush=True)
            print(f"in batches: {measure_shell(source, '--stream')}", flush=True)
        return
    for n_rows in options.rows:
        print(measure_answers(n_rows), flush=True)


if __name__ == "__main__":
    main()
