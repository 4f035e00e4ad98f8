"""Whether rows change cluster as often as said: `python -m experiments revealed`.

Values of a complete table are removed, and PCKID clusters what is left. It says of each row how
likely it would change cluster if its missing values were known. Then they are revealed, and the
fitted model places the complete rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.datasets import scale_columns, varying
from experiments.datasets.benchmark import COMPLETE, plain_name
from experiments.datasets.complete import SETTINGS, load_bundled, remove
from experiments.datasets.tables import files, load_labelled, stratified
from experiments.output import call_all, experiment, write_text
from experiments.resampling import interval
from pckid import PCKID

EDGES = (0.0, 0.1, 0.3, 0.5, 1.0)
"""Rows are grouped by what was said of them; a chance of 0 is in the first group."""


def complete_tables(
    half: str, folders: Sequence[str | Path]
) -> Iterator[tuple[str, NDArray, NDArray, NDArray]]:
    """Yield the complete tables of a half: name, values, classes, and the column of features."""
    found = {name: path for folder in folders for name, path in files(folder).items()}
    for name, path in found.items():
        if plain_name(name) in COMPLETE[half]:
            yield name, *load_labelled(str(path))
    for name in ("breast cancer", "digits", "iris", "wine"):
        if name in COMPLETE[half]:
            X, y = load_bundled(name)
            yield name, X, y, np.arange(X.shape[1])


def hide_values(X: NDArray, columns: NDArray, setting: str, seed: int) -> tuple[NDArray, NDArray]:
    """Return the scaled columns that still vary once values are removed: whole, and with NaN."""
    holed = remove(X, columns, setting, np.random.default_rng(seed))
    kept = varying(holed)
    whole = scale_columns(X[:, kept])
    return whole, np.where(np.isnan(holed[:, kept]), np.nan, whole)


def observe_table(
    X: NDArray, columns: NDArray, n_clusters: int, setting: str, seed: int
) -> tuple[NDArray, NDArray]:
    """Return what was said of each row (n,), and whether it changed cluster (n,)."""
    X, holed = hide_values(X, columns, setting, seed)
    rows = np.isnan(holed).any(axis=1) & ~np.isnan(holed).all(axis=1)
    model = PCKID(n_clusters, random_state=seed, n_jobs=1).fit(holed)
    said = model.missing_instability(holed[rows])
    return said, model.predict(X[rows]) != model.predict(holed[rows])


def calibration_table(
    said: Sequence[NDArray], changed: Sequence[NDArray], names: Sequence[str]
) -> tables.ResultTable:
    """Tabulate shares of rows, what was said and what was seen, by what was said.

    A data set counts once; intervals come from resampling these.
    """
    groups = [f"{a:g} to {b:g}" for a, b in pairwise(EDGES)] + ["all"]
    sums = np.zeros((len(set(names)), 3, len(groups)))
    order = sorted(set(names))
    for chances, seen, name in zip(said, changed, names, strict=True):
        place = np.clip(np.searchsorted(EDGES, chances, side="left") - 1, 0, len(EDGES) - 2)
        for row, values in enumerate((np.ones_like(chances), chances, seen.astype(float))):
            counts = np.bincount(place, values, len(EDGES) - 1) / len(chances)
            sums[order.index(name), row] += [*counts, counts.sum()]
    sums /= sums[:, :1, -1:]
    shares, *means = sums.mean(axis=0)
    values = np.stack([shares, *(means / np.where(shares > 0, shares, np.nan))], axis=1)
    ends = np.full((2, *values.shape), np.nan)
    ends[:, -1, 1:] = interval(sums[:, 1:, -1])
    best = np.zeros(values.shape, dtype=bool)
    columns = ["share of rows", "said", "changed"]
    return tables.ResultTable("said", groups, columns, values, (3, 3, 3), best, ends)


class Removal(NamedTuple):
    """A complete table, at most so many rows of it, and how its values are removed."""

    dataset: str
    X: NDArray
    columns: NDArray
    n_clusters: int
    setting: str


def list_removals(
    half: str | None, folders: Sequence[str | Path], max_rows: int, seed: int
) -> list[Removal]:
    """List the complete tables of a half, to report on if none is named, in every setting."""
    found = []
    for name, X, y, columns in complete_tables(half or "report", folders):
        if len(y) > max_rows:
            rows = stratified(y, max_rows, np.random.default_rng(seed))
            X, y = X[rows], y[rows]
        found += [Removal(name, X, columns, len(np.unique(y)), each) for each in SETTINGS]
    return found


@experiment("revealed", "folders", "half", "seed", "jobs", max_rows=500)
def revealed_command(
    folders: Sequence[str], half: str | None, seed: int, max_rows: int, jobs: int, out: Path
) -> None:
    """Compare how likely rows were to change cluster with how many did, values revealed.

    Writes revealed.md.
    """
    removals = list_removals(half, folders, max_rows, seed)
    calls = [(observe_table, (*each[1:], seed)) for each in removals]
    said, changed = zip(*call_all(calls, jobs, "Revealing"), strict=True)
    names = [each.dataset for each in removals]
    write_text(out, "revealed", tables.as_markdown(calibration_table(said, changed, names)))
