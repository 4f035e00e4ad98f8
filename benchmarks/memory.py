"""Memory of a fit beside what `verbose` says before it, and of the command line on a large file.

    python -m benchmarks.memory --json docs/performance/memory.json

Each fit has a process of its own. Fails, with exit code 1, if an estimate is off by more than a
quarter, or if the command line takes more than 600 MB for 2,000,000 × 18 numbers of float32.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import write_json
from benchmarks.workers import peak_memory, table
from pckid import PCKID

# Rows and columns, and parameters that are no defaults.
FITS: list[tuple[int, int, dict[str, Any]]] = [
    (2000, 20, {}),
    (10_000, 20, {}),
    (100_000, 20, {}),
    (1_000_000, 20, {}),
    (500, 5000, {}),
    (4000, 20, {"embedding": "kernel_pca"}),
    (1000, 20, {"n_inits": 30, "max_components": 30, "n_sizes": None}),
]
_MOST_MEGABYTES = 600


def fit_once(n: int, d: int, parameters: dict[str, Any]) -> dict[str, float]:
    """Fit in this process; return the megabytes that were said and those that were taken."""
    X = table(n, d, 0.3, None)
    PCKID(5, random_state=0).fit(X[:60, :5])
    said = io.StringIO()
    with peak_memory() as peak, contextlib.redirect_stdout(said):
        PCKID(5, random_state=0, verbose=1, **parameters).fit(X)
    number, unit = re.search(r"about ([\d.]+) (MB|GB)", said.getvalue()).groups()
    return {"said": float(number) * (1024 if unit == "GB" else 1), "taken": peak[0] / 2**20}


def fits() -> list[dict[str, Any]]:
    """Fit in processes of their own."""
    rows = []
    for n, d, parameters in FITS:
        spec = json.dumps([n, d, parameters])
        command = [sys.executable, "-m", "benchmarks.memory", "--fit", spec]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(out.splitlines()[-1])
        rows.append({"n": n, "d": d, "parameters": parameters, **found})
        told = f"said {found['said']:.0f} MB, took {found['taken']:.0f} MB"
        print(f"{n:,} × {d:,} {parameters}: {told}", flush=True)
    return rows


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
    options = parser.parse_args(argv)
    if options.fit:
        print(json.dumps(fit_once(*options.fit)))
        return
    # First, since the largest of all children counts.
    line = command_line(2000 if options.quick else options.rows)
    if options.quick:
        rows = [{"n": 200, "d": 5, "parameters": {}, **fit_once(200, 5, {"n_inits": 2})}]
    else:
        rows = fits()
    write_json(options.json, {"command_line": line, "fits": rows})
    off = [row for row in rows if not 0.75 <= row["said"] / max(row["taken"], 1) <= 1.25]
    if not options.quick and (off or line["megabytes"] > _MOST_MEGABYTES):
        sys.exit(f"Estimates that are off by more than a quarter: {off}")


if __name__ == "__main__":
    main()
