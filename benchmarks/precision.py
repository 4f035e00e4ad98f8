"""Do float32 and float64 give the same clusters? On every table of a folder, one seed for both.

    python -m benchmarks.precision --data FOLDER --json docs/performance/precision.json

Reads CSV files whose column `label` gives the number of clusters, and npz files of images (`X` and
`y`), of which it takes a thousand and removes quadrants.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.timing import write_json
from experiments import missing
from pckid import PCKID
from pckid.data import load_penguins

# Columns that name or place a row rather than describe it.
_NAMES = ("label", "row", "col", "id", "death", "utmx", "utmy", "field")


def tables(folder: Path | None) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield name, rows and number of clusters of each table; without a folder, the bundled one."""
    if folder is None:
        X, species = load_penguins()
        X = np.asarray(X, dtype=float)
        yield "penguins", X[~np.all(np.isnan(X), axis=1)], len(set(species))
        return
    for path in sorted(folder.rglob("*.npz")):
        with np.load(path) as file:
            if "y" in file.files:
                chosen = np.random.default_rng(0).choice(len(file["y"]), 1000, replace=False)
                X = file["X"][chosen].astype(float)
                mask = missing.drop_quadrants(X, 0.9, random_state=0)
                yield path.stem, missing.apply(X, mask), len(set(file["y"].tolist()))
    for path in sorted([*folder.rglob("*.csv"), *folder.rglob("*.csv.gz")]):
        frame = pd.read_csv(path)
        if "label" in frame:
            numbers = frame.drop(columns=[n for n in _NAMES if n in frame]).select_dtypes("number")
            X = numbers.to_numpy(float)
            X = X[~np.all(np.isnan(X), axis=1)]
            yield path.name.split(".")[0], X, frame["label"].nunique()


def agreement(X: np.ndarray, n_clusters: int, seed: int, **ensemble: int) -> float:
    """Compute the adjusted Rand index between the labels of both precisions."""
    labels = [
        PCKID(n_clusters, dtype=dtype, random_state=seed, **ensemble).fit_predict(X)
        for dtype in ("float32", "float64")
    ]
    return float(adjusted_rand_score(*labels))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder; default: the bundled table")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most-rows", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="a tiny ensemble")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args(argv)
    ensemble = {"n_inits": 2, "max_components": 3} if options.quick else {}
    rows = []
    for name, X, n_clusters in tables(options.data):
        X = X[: options.most_rows]
        found = [agreement(X, n_clusters, seed, **ensemble) for seed in range(options.seeds)]
        rows.append({"table": name, "rows": len(X), "columns": X.shape[1], "lowest": min(found)})
        shape = f"{X.shape[0]} × {X.shape[1]}, {n_clusters} clusters"
        print(f"{name}: {shape}, adjusted Rand index {min(found):.4f}", flush=True)
        write_json(options.json, rows)
    lost = [row["table"] for row in rows if row["lowest"] < 0.99]
    print(f"{len(rows) - len(lost)} of {len(rows)} tables at 0.99 or more; below: {lost}")


if __name__ == "__main__":
    main()
