"""How often tables in the order of their files are said to have rows that follow each other.

    python -m experiments row-order FOLDER ... --jobs -1

The first rows of each table are clustered as they come, without positions. Whether the doubt is
right is for a reader to say, by what the table is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets.tables import files, load_labelled
from experiments.output import call_all, experiment, markdown, write_both

Row = dict[str, Any]


def judge_order(name: str, path: str, max_rows: int, seed: int) -> Row:
    """Cluster the first rows of a table, and see whether the order of its rows is doubted."""
    from pckid import PCKID, assess

    X = load_labelled(path).X[:max_rows]
    model = PCKID(random_state=seed, n_runs=1, n_jobs=1).fit(X)
    found = assess(model, X, n_resamples=0, n_jobs=1)
    return {
        "name": name,
        "rows": len(X),
        "columns": X.shape[1],
        "missing": float(np.isnan(X).mean()),
        "k": model.n_clusters_,
        "answer": str(found.answer),
        "alike": found.alike_in_order,
    }


def tabulate(rows: Sequence[Row]) -> str:
    """List the tables that are doubted, the most alike first, in Markdown."""
    doubted = sorted((row for row in rows if row["alike"]), key=lambda row: -row["alike"])
    lines = [[row["name"], row["rows"], f"{row['alike']:.2f}"] for row in doubted]
    said = f"{len(doubted)} of {len(rows)} tables are doubted."
    return f"{markdown(['table', 'rows', 'alike'], lines)}\n{said}\n"


@experiment("row-order", "folders", "seed", "jobs", max_rows=6000)
def row_order_command(
    folders: Sequence[str], max_rows: int, seed: int, jobs: int, out: Path
) -> None:
    """Count tables of FOLDERS whose rows seem to follow each other in time or place.

    Writes row_order.csv and row_order.md.
    """
    found = [(name, str(path)) for folder in folders for name, path in files(folder).items()]
    calls = [(judge_order, (name, path, max_rows, seed)) for name, path in found]
    rows = list(call_all(calls, jobs, "Judging"))
    write_both(out, "row_order", rows, tabulate(rows))
