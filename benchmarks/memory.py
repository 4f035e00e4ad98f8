"""Memory of a fit, in memory or from a file, and that of the command line on a large file.

    python -m benchmarks.memory --json docs/performance/memory.json

Each fit has a process of its own. Fails, with exit code 1, if the command line takes more than
600 MB for 2,000,000 × 18 numbers of float32.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.timing import write_json
from benchmarks.workers import peak_memory, table
from pckid import PCKID, write_labels

# Rows and columns, and parameters that are no defaults.
FITS: list[tuple[int, int, dict[str, Any]]] = [
    (2000, 20, {}),
    (20_000, 20, {}),
    (200_000, 20, {}),
    (1_000_000, 20, {}),
    (500, 5000, {}),
    (60, 20_000, {}),
    (4000, 20, {"embedding": "kernel_pca"}),
    (1000, 20, {"n_inits": 30, "max_components": 30, "n_sizes": None}),
]
# Kinds of files that are read in batches, and their rows.
FILES = [("parquet", 200_000), ("csv", 200_000)]
_MAX_MEGABYTES = 600


def cluster_dataset(source: str, out: str, model: PCKID, columns: Any = None) -> Any:
    """Fit a model to some columns of a data set, in batches, and write its labels."""
    rows = ds.dataset(source, format="csv" if source.endswith(".csv") else "parquet")
    model.fit(rows.scanner(columns=columns) if columns else rows)
    kept = [name for name in rows.schema.names if columns and name not in columns]
    return write_labels(model, rows, out, keep=kept)


def fit_once(n: int, d: int, parameters: dict[str, Any]) -> dict[str, float]:
    """Fit in this process; return the megabytes that were taken."""
    X = table(n, d, 0.3, None)
    PCKID(5, random_state=0).fit(X[:60, :5])
    return taken(lambda: PCKID(5, random_state=0, **parameters).fit(X))


def fit_file(source: str, small: str) -> dict[str, float]:
    """Cluster a file in batches in this process, after a small one; return what `fit_once` does."""
    out = f"{source}.labels.csv"
    cluster_dataset(small, out, PCKID(5, random_state=0))
    return taken(lambda: cluster_dataset(source, out, PCKID(5, random_state=0)))


def taken(fit: Callable[[], Any]) -> dict[str, float]:
    """Fit; return the megabytes that were taken."""
    with peak_memory() as peak:
        fit()
    return {"taken": peak[0] / 2**20}


def fits() -> list[dict[str, Any]]:
    """Fit tables in memory, each in a process of its own."""
    return [
        {"n": n, "d": d, "parameters": parameters}
        | apart("--fit", [n, d, parameters], f"{n:,} × {d:,} {parameters}")
        for n, d, parameters in FITS
    ]


def file_fits() -> list[dict[str, Any]]:
    """Cluster files in batches, each in a process of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, n in FILES:
            paths = []
            for size in (n, 100):
                parquet = path = Path(folder) / f"{size}.parquet"
                write_parquet(parquet, size)
                if kind == "csv":
                    path = parquet.with_suffix(".csv")
                    csv.write_csv(pq.read_table(parquet), path)
                paths.append(str(path))
            found = apart("--file", paths, f"{n:,} × 18 from {kind}")
            rows.append({"n": n, "d": 18, "file": kind, **found})
    return rows


def apart(option: str, spec: Any, name: str) -> dict[str, float]:
    """Measure in another process, and say what was found."""
    command = [sys.executable, "-m", "benchmarks.memory", option, json.dumps(spec)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(out.splitlines()[-1])
    print(f"{name}: {found['taken']:.0f} MB", flush=True)
    return found


def write_parquet(path: Path, n: int, d: int = 18) -> None:
    """Write rows from five clusters as float32, 30 % missing."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 1.5, (5, d)).astype(np.float32)
    schema = pa.schema([(f"b{j}", pa.float32()) for j in range(d)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, 100_000):
            m = min(100_000, n - start)
            X = centers[rng.integers(5, size=m)] + rng.standard_normal((m, d), dtype=np.float32)
            hidden = rng.random((m, d), dtype=np.float32) < 0.3
            writer.write_table(
                pa.table([pa.array(X[:, j], mask=hidden[:, j]) for j in range(d)], schema)
            )


def command_line(n: int) -> dict[str, Any]:
    """Cluster a Parquet file by the command line, all defaults; measure its process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write_parquet(path, n)
        out = str(Path(folder) / "out.parquet")
        command = ["cluster", str(path), "-k", "5", "--out", out, "--quiet"]
        subprocess.run([sys.executable, "-m", "pckid", *command], check=True)
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"pckid cluster, {n:,} × 18 float32: {megabytes:.0f} MB", flush=True)
    return {"n": n, "d": 18, "megabytes": megabytes}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000, help="of the command line's table")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--fit", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.fit:
        print(json.dumps(fit_once(*options.fit)))
        return
    if options.file:
        print(json.dumps(fit_file(*options.file)))
        return
    # First, since the largest of all children counts.
    line = command_line(2000 if options.quick else options.rows)
    if options.quick:
        rows = [{"n": 200, "d": 5, "parameters": {}, **fit_once(200, 5, {"n_inits": 2})}]
    else:
        rows = fits() + file_fits()
    write_json(options.json, {"command_line": line, "fits": rows})
    if not options.quick and line["megabytes"] > _MAX_MEGABYTES:
        sys.exit(f"The command line took more than {_MAX_MEGABYTES} MB.")


if __name__ == "__main__":
    main()
