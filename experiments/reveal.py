"""Whether the right cells are measured next: `python -m experiments reveal`.

Values of a complete table are removed, and PCKID clusters what is left. Then as many of the removed
cells of doubtful rows are revealed as `next_cells` proposes, chosen by it and in simpler ways, and
the fitted model places the rows again. A row is settled if its confidence is then 0.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.output import call_all, experiment, write_text
from experiments.resampling import interval
from experiments.revealed import hide_values, list_removals
from pckid import PCKID, next_cells
from pckid.spectral.membership import DOUBTFUL

WAYS = (
    "next_cells",
    "best cell of random rows",
    "most important column",
    "largest missing_instability",
    "random cells of doubtful rows",
    "random cells of all rows",
)


class Revealed(NamedTuple):
    """One table: what was promised, and what became of the cells chosen in each of the `WAYS`."""

    dataset: str
    setting: str
    n_cells: int
    promised: float
    settled: NDArray  # (n_ways,), rows
    as_whole: NDArray  # (n_ways,), rows with the cluster that the whole row has


def observe_reveal(
    name: str, X: NDArray, columns: NDArray, n_clusters: int, setting: str, n: int, seed: int
) -> Revealed | None:
    """Reveal n cells of a table chosen in every way, one for each row; None: no row is doubtful.

    Where chance decides, the mean over all choices is taken, weighted by their chances.
    """
    whole, holed = hide_values(X, columns, setting, seed)
    model = PCKID(n_clusters, random_state=seed, n_jobs=1).fit(holed)
    proposed = next_cells(model, holed, n)
    if not proposed.cells:
        return None
    n_cells = len(proposed.cells)
    confidence, missing = model.predict_proba(holed).max(axis=1), np.isnan(holed)
    missing[:, model.dropped_features_] = False
    cells = np.argwhere(missing & (confidence < DOUBTFUL)[:, None])
    rows, place, counts = np.unique(cells[:, 0], return_inverse=True, return_counts=True)
    outcome = reveal_one_by_one(model, whole, holed, cells)
    each = 1 / counts[place]  # the chance of a cell to be drawn in its row
    unstable = model.missing_instability(holed[rows])
    importance = model.feature_importances_[cells[:, 1]]
    top = np.lexsort((-importance, cells[:, 0]))[np.cumsum([0, *counts[:-1]])]
    order = np.lexsort((np.random.default_rng(seed).random(len(top)), -importance[top]))
    # The best cell of each row, as proposed if all rows may have one.
    every = next_cells(model, holed, len(rows), max_rows=len(rows)).cells
    weights = [
        _mark(cells, [(cell.row, model_column(cell.column)) for cell in proposed.cells]),
        _mark(cells, [(c.row, model_column(c.column)) for c in every]) * n_cells / len(rows),
        _mark(cells, cells[top[order[:n_cells]]].tolist()),
        each * np.isin(place, np.argsort(-unstable, kind="stable")[:n_cells]),
        each * n_cells / len(rows),
        np.full(len(cells), n_cells / missing.sum()),
    ]
    found = np.array(weights) @ outcome
    # A random cell of a row that is not doubtful settles none and leaves its cluster as it is.
    return Revealed(name, setting, n_cells, proposed.expected_settled, *found.T)


def model_column(name: str) -> int:
    """Return the column of an array that results call "feature 3"."""
    return int(name.removeprefix("feature "))


def reveal_one_by_one(model: PCKID, whole: NDArray, holed: NDArray, cells: NDArray) -> NDArray:
    """Say for each cell whether it settles its row, and gives it the cluster of the whole row.

    Cells are (n_cells, 2), what is said (n_cells, 2).
    """
    rows, columns = cells.T
    shown = holed[rows]
    shown[np.arange(len(cells)), columns] = whole[rows, columns]
    chances = model.predict_proba(shown)
    same = chances.argmax(axis=1) == model.predict(whole)[rows]
    return np.stack([chances.max(axis=1) >= DOUBTFUL, same], axis=1).astype(float)


def _mark(cells: NDArray, chosen: Sequence[Sequence[int]]) -> NDArray:
    """Return 1 for cells (n_cells, 2) that were chosen, else 0."""
    wanted = set(map(tuple, chosen))
    return np.array([float(tuple(cell) in wanted) for cell in cells.tolist()])


def by_dataset(found: Sequence[Revealed], field: str) -> NDArray:
    """Average shares of the cells over the settings of each data set, (n_datasets, ...)."""
    names = sorted({each.dataset for each in found})
    shares = [[getattr(e, field) / e.n_cells for e in found if e.dataset == n] for n in names]
    return np.array([np.mean(each, axis=0) for each in shares])


def reveal_table(found: Sequence[Revealed]) -> tables.ResultTable:
    """Tabulate settled rows for each cell, in every way; a data set counts once."""
    settled, as_whole = by_dataset(found, "settled"), by_dataset(found, "as_whole")
    promised = by_dataset(found, "promised")
    random = WAYS.index("random cells of doubtful rows")
    times = settled.mean(axis=0) / settled[:, random].mean()
    said = np.full(len(WAYS), np.nan)
    said[0] = promised.mean()
    as_whole[:, -1] = np.nan  # of rows that are not doubtful, nothing was asked
    values = np.stack([settled.mean(axis=0), said, times, as_whole.mean(axis=0)], axis=1)
    ends = np.full((2, *values.shape), np.nan)
    ends[:, :, 0], ends[:, 0, 1] = interval(settled), interval(promised[:, None])[:, 0]
    best = np.zeros(values.shape, dtype=bool)
    best[np.argmax(values[:, 0]), 0] = True
    columns = ["settled", "promised", "times random", "as the whole row"]
    return tables.ResultTable("cells", list(WAYS), columns, values, (3, 3, 2, 3), best, ends)


@click.option("--cells", type=click.IntRange(1), default=40, show_default=True)
@experiment("reveal", "folders", "half", "seed", "jobs", max_rows=500)
def reveal_command(
    folders: Sequence[str],
    half: str | None,
    cells: int,
    seed: int,
    max_rows: int,
    jobs: int,
    out: Path,
) -> None:
    """Reveal removed cells that `next_cells` proposes, and as many chosen in simpler ways.

    Writes reveal.md: how many rows are settled by a cell, and how many were promised.
    """
    calls = [
        (observe_reveal, (*each, cells, seed))
        for each in list_removals(half, folders, max_rows, seed)
    ]
    found = [each for each in call_all(calls, jobs, "Revealing") if each is not None]
    write_text(out, "reveal", tables.as_markdown(reveal_table(found)))
