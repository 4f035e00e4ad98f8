"""What the verdict, and answers about cells, cost beside a fit: `python -m benchmarks.verdict`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pckid import PCKID, assess, explain_rows, next_cells

N_ROWS, N_COLUMNS, N_GROUPS = (300, 1000), 20, 5
N_TIMES = 5


def make_table(n_rows: int, distance: float, seed: int = 0) -> np.ndarray:
    """Draw rows around five centres at a distance, 20 % of the cells missing."""
    rng = np.random.default_rng(seed)
    centers = distance * rng.normal(size=(N_GROUPS, N_COLUMNS))
    X = rng.normal(size=(n_rows, N_COLUMNS)) + centers[np.arange(n_rows) % N_GROUPS]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def processor_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call a function; return its time on the processor and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def measure_costs(X: np.ndarray) -> str:
    """Time fits with a given k and a chosen one, the verdict, and cells: medians of five."""
    common = {"random_state": 0, "n_jobs": 1}
    PCKID(N_GROUPS, **common).fit(X)
    times = []
    for _ in range(N_TIMES):
        fit, model = processor_seconds(lambda: PCKID(N_GROUPS, **common).fit(X))
        auto, chosen = processor_seconds(lambda: PCKID("auto", **common).fit(X))
        full, found = processor_seconds(lambda model=model: assess(model, X, n_jobs=1))
        cells, planned = processor_seconds(lambda model=model: next_cells(model, X))
        rows, _ = processor_seconds(lambda model=model: explain_rows(model, X))
        times.append((fit, auto / fit, full / fit, cells / fit, rows / fit))
    fit, auto, full, cells, rows = np.median(times, axis=0)
    return (
        f"fit {fit:.3f} s; auto {auto:.1f} fits, chose {chosen.n_clusters_}; "
        f"assess {full:.1f} fits. {found.sentence} next_cells {cells:.1f} fits for "
        f"{planned.n_open} rows, explain_rows {rows:.1f} fits."
    )


def main() -> None:
    """Print the costs for a table without groups and one with groups."""
    for n_rows in N_ROWS:
        for name, distance in (("no groups", 0.0), ("groups", 1.0)):
            costs = measure_costs(make_table(n_rows, distance))
            print(f"{n_rows} x {N_COLUMNS}, {name}: {costs}")


if __name__ == "__main__":
    main()
