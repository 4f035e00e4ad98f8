"""Twenty million rows on a laptop's memory, and on workers that die.

    python -m benchmarks.bigger_than_memory make IMAGE.npz BIG.parquet    # 20 jittered copies
    python -m benchmarks.bigger_than_memory stream BIG.parquet            # one process
    python -m benchmarks.bigger_than_memory cluster BIG.parquet --kill 2  # on two workers
    python -m benchmarks.bigger_than_memory agree IMAGE.npz               # three engines
    python -m benchmarks.bigger_than_memory same ONE.parquet OTHER.parquet

IMAGE.npz holds an array X of integers (n_samples, n_features), −9999 where a value is missing.
`stream` and `cluster` print the time and the largest resident memory of a process; run `stream`
under `ulimit -v` or in a control group to see it finish in as much memory as that allows.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.memory import cluster_dataset
from pckid import PCKID

_MISSING = -9999


def image(path: str) -> np.ndarray:
    """Read the one array of an image."""
    with np.load(path) as content:
        return content["X"]


def make(source: str, target: str, copies: int, seed: int = 0) -> None:
    """Write jittered copies of an image as Parquet, with an id for each row."""
    X = image(source)
    missing = X == _MISSING
    spread = np.nanstd(np.where(missing, np.nan, X), axis=0)
    rng = np.random.default_rng(seed)
    fields = [("id", pa.int64()), *((f"b{j}", pa.int16()) for j in range(X.shape[1]))]
    with pq.ParquetWriter(target, pa.schema(fields)) as writer:
        for copy in range(copies):
            jitter = np.rint(rng.normal(0, 0.02 * spread, X.shape))
            rows = np.clip(X + jitter, -9000, 32_000).astype(np.int16)
            columns = [pa.array(rows[:, j], mask=missing[:, j]) for j in range(X.shape[1])]
            ids = pa.array(np.arange(len(X)) + copy * len(X))
            writer.write_table(pa.table([ids, *columns], writer.schema), row_group_size=250_000)
    print(f"{target}: {copies * len(X):,} rows, {os.path.getsize(target) / 2**20:.0f} MB")


def model(options: argparse.Namespace) -> PCKID:
    """Make the reduced ensemble, Q = 5 and G = 15 unless told."""
    return PCKID(
        options.clusters,
        n_inits=options.inits,
        max_components=options.max_components,
        embedding=options.embedding,
        random_state=0,
    )


def stream(source: str, options: argparse.Namespace) -> None:
    """Cluster a file in this process."""
    begin = time.perf_counter()
    totals = cluster_dataset(source, options.out, model(options), _bands(source))
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{totals.n_rows:,} rows in {seconds:.0f} s, peak {peak:.2f} GB; {totals.cluster_sizes}")


def cluster(source: str, options: argparse.Namespace) -> None:
    """Cluster a file on two workers, some of which are killed in the middle."""
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster
    from joblib import parallel_config

    # On a busy machine a worker takes its time to come back.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"})

    with tempfile.TemporaryDirectory() as scratch, LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=None, local_directory=scratch,
        dashboard_address=":0",
    ) as workers, Client(workers) as watch:  # fmt: skip
        killer = threading.Thread(target=_kill, args=(watch, options.kill, options.after))
        killer.start()
        begin = time.perf_counter()
        with parallel_config(backend="dask"):
            found = model(options).fit(dd.read_parquet(source, columns=_bands(source)))
        labels = found.labels_.compute()
        print(f"{len(labels):,} rows in {time.perf_counter() - begin:.0f} s")
        print(f"cluster sizes {np.bincount(labels[labels >= 0]).tolist()}")
        killer.join()


def _kill(client: object, times: int, after: float) -> None:
    """Kill a worker process every now and then; the nanny starts another."""
    for _ in range(times):
        time.sleep(after)
        pids = client.run(os.getpid)
        victim = next(iter(pids.values()))
        os.kill(victim, signal.SIGKILL)
        print(f"killed worker process {victim}", flush=True)


def agree(source: str, options: argparse.Namespace) -> None:
    """Cluster the same rows in memory, streamed and with dask, and compare the labels."""
    import dask.array as da
    from sklearn.metrics import adjusted_rand_score

    X = image(source)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "image.parquet")
        missing = X == _MISSING
        pq.write_table(
            pa.table({f"b{j}": pa.array(X[:, j], mask=missing[:, j]) for j in range(X.shape[1])}),
            path,
            row_group_size=100_000,
        )
        out = str(Path(folder) / "labels.parquet")
        cluster_dataset(path, out, model(options))
        streamed = pq.read_table(out)["cluster"].to_numpy()
    X = np.where(missing, np.nan, X)
    memory = model(options).fit(X).labels_
    blocks = model(options).fit(da.from_array(X, chunks=(130_000, -1))).labels_.compute()
    for name, labels in (("streamed", streamed), ("dask", blocks)):
        other = int((labels != memory).sum())
        index = adjusted_rand_score(memory, labels)
        print(f"{name} against memory: {other} of {len(X):,} labels differ, ARI {index:.5f}")


def same(one: str, other: str) -> None:
    """Compare two files of labels."""
    left, right = (pq.read_table(path) for path in (one, other))
    equal = left["id"].equals(right["id"])
    differ = int((left["cluster"].to_numpy() != right["cluster"].to_numpy()).sum())
    print(f"ids equal: {equal}; labels that differ: {differ} of {len(left):,}")


def _bands(source: str) -> list[str]:
    """Name the columns to cluster by."""
    return [name for name in pq.read_schema(source).names if name != "id"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["make", "stream", "cluster", "agree", "same"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", default="labels.parquet")
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--inits", type=int, default=5)
    parser.add_argument("--max-components", type=int, default=15)
    parser.add_argument("--embedding", default="random_walk")
    parser.add_argument("--kill", type=int, default=0, help="workers to kill")
    parser.add_argument("--after", type=float, default=60.0, help="seconds between two killings")
    options = parser.parse_args()
    if options.what in ("make", "same"):
        extra = [options.copies] if options.what == "make" else []
        {"make": make, "same": same}[options.what](*options.files, *extra)
    else:
        {"stream": stream, "cluster": cluster, "agree": agree}[options.what](
            options.files[0], options
        )


if __name__ == "__main__":
    main()
