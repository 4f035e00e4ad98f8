"""Rows per second of a table that stays in its file: in one process, and by Dask's workers.

    python -m benchmarks.streaming --rows 20000000 --worker-rows 4000000 --json FIGURES.json

The table has 18 columns of float32, 30 % missing, all defaults, five clusters; that of the workers
may be shorter. Reading, fitting and labelling are in the time; writing the table before is not.
What 10^8 rows would take is extrapolated: what does not grow with the rows (the fit) from a tenth
of them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from joblib import cpu_count

from benchmarks.memory import cluster_dataset, write_parquet
from benchmarks.timing import write_json

_EXTRAPOLATED = 10**8


def stream(path: Path, out: Path, workers: int) -> dict[str, float]:
    """Cluster a file in this process, or on so many workers; seconds and peak memory in MB."""
    from pckid import PCKID

    if workers == 0:
        begin = time.perf_counter()
        cluster_dataset(str(path), str(out), PCKID(5, random_state=0))
        seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"seconds": seconds, "megabytes": peak}
    import dask.dataframe as dd
    from distributed import Client, LocalCluster
    from joblib import parallel_config

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=None, dashboard_address=":0",
        local_directory=str(out.parent),
    ) as cluster, Client(cluster), parallel_config(backend="dask"):  # fmt: skip
        begin = time.perf_counter()
        PCKID(5, random_state=0).fit(dd.read_parquet(path)).labels_.compute()
        seconds = time.perf_counter() - begin
    # Of the largest worker.
    return {
        "seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def apart(path: Path, workers: int, threads: int | None = None) -> dict[str, float]:
    """Stream in a process of its own."""
    environment = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    out = path.parent / f"labels-{workers}.parquet"
    command = [sys.executable, "-m", "benchmarks.streaming", "--stream", str(path), str(out)]
    done = subprocess.run(
        [*command, str(workers)], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--worker-rows", type=int, help="rows for the workers; default: all")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--folder", type=Path, help="where the table is written for the time")
    parser.add_argument("--stream", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.stream:
        path, out, workers = options.stream
        print(json.dumps(stream(Path(path), Path(out), int(workers))))
        return
    n, counts = (4000, []) if options.quick else (options.rows, options.workers)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        few, many = Path(folder) / "few.parquet", Path(folder) / "many.parquet"
        write_parquet(few, n // 10)
        write_parquet(many, n)
        if options.quick:
            short, long = (stream(path, path.with_suffix(".csv"), 0) for path in (few, many))
        else:
            short, long = apart(few, 0), apart(many, 0)
        each = (long["seconds"] - short["seconds"]) / (n - n // 10)
        found: dict[str, Any] = {
            "rows": n,
            "cores": cpu_count(),
            **long,
            "rows_per_second": n / long["seconds"],
            "extrapolated": long["seconds"] + each * (_EXTRAPOLATED - n),
            "worker_rows": n if options.worker_rows is None else options.worker_rows,
            "workers": [],
        }
        print(
            f"{n:,} rows: {long['seconds']:.1f} s, {found['rows_per_second']:,.0f} a second, "
            f"{long['megabytes']:.0f} MB; 10^8 would take {found['extrapolated'] / 60:.0f} min",
            flush=True,
        )
        if counts and found["worker_rows"] != n:
            write_parquet(many, found["worker_rows"])
        for workers in counts:
            figures = apart(many, workers, threads=1)
            found["workers"].append({"n_workers": workers, **figures})
            print(f"{workers} workers: {figures['seconds']:.1f} s", flush=True)
            write_json(options.json, found)
    write_json(options.json, found)


if __name__ == "__main__":
    main()
