"""A folder of labelled tables, with the values missing that are missing."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pckid.experiments.datasets import Case, Sample, dataset, standardise, varying

LABEL = "label"
NOT_FEATURES = ("id", "row", "col", "utmx", "utmy", "field", "death")
"""Identifiers, coordinates and second outcomes, left out wherever a table has them."""
MAX_ROWS = 2000
MAX_CATEGORIES = 20


@dataset("tables")
def tables(data: str, drop: Sequence[str] = NOT_FEATURES, max_rows: int = MAX_ROWS) -> list[Case]:
    """List the tables of a folder.

    Parameters
    ----------
    data : str
        A folder of .csv or .csv.gz files. A blank cell is missing; the column `label` holds the
        classes. Where NAME_num.csv, with categories coded as numbers, lies beside NAME.csv, only
        the former counts, so that no table counts twice.
    drop : sequence of str
        Columns that are not features.
    max_rows : int
        Larger tables are drawn from anew in every run, each class in proportion.
    """
    paths = {
        path.name.removesuffix(".gz").removesuffix(".csv"): path
        for path in sorted(Path(data).iterdir())
        if path.name.endswith((".csv", ".csv.gz"))
    }
    if not paths:
        raise ValueError(f"{data} holds no .csv or .csv.gz file.")
    return [
        Case(
            name,
            "as is",
            f"{path.name}, at most {max_rows} rows",
            partial(draw, str(path), tuple(drop), max_rows),
        )
        for name, path in paths.items()
        if f"{name}_num" not in paths
    ]


def draw(path: str, drop: tuple[str, ...], max_rows: int, seed: int) -> Sample:
    """Read a table, take at most `max_rows` rows of it, and standardise the columns that vary."""
    X, y = load(path, drop)
    if len(y) > max_rows:
        index = stratified(y, max_rows, np.random.default_rng(seed))
        X, y = X[index], y[index]
    return Sample(standardise(X[:, varying(X)]), y)


def stratified(y: NDArray, n_samples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows so that each class keeps its share, to within rounding; sorted indices."""
    rank = np.empty(len(y))
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        rank[members] = (np.arange(members.size) + rng.random()) / members.size
    return np.sort(np.argsort(rank, kind="stable")[:n_samples])


@lru_cache(maxsize=2)
def load(path: str, drop: tuple[str, ...] = NOT_FEATURES) -> tuple[NDArray, NDArray]:
    """Read numbers (n_samples, n_features) and classes (n_samples,) from a table.

    A column of text becomes one column of 0 and 1 for each category, all of them missing where the
    cell is; beyond 20 categories it is left out, as a name rather than a property. Rows with
    nothing observed are left out, as no method could place them.
    """
    names, rows = read(path)
    if LABEL not in names:
        raise ValueError(f"{path} has no column {LABEL!r}. Name the column of known classes so.")
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns = [
        column
        for name in names
        if name != LABEL and name not in drop
        for column in _numbers(cells[name])
    ]
    X = np.stack(columns, axis=1)
    kept = ~np.isnan(X).all(axis=1)
    return X[kept], np.array(cells[LABEL])[kept]


def read(path: str) -> tuple[list[str], list[list[str]]]:
    """Read the names and the cells of a .csv or .csv.gz file."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def _numbers(cells: Sequence[str]) -> list[NDArray]:
    """Turn a column into numbers, or into one column for each category."""
    try:
        return [np.array([float(cell) if cell else np.nan for cell in cells])]
    except ValueError:
        pass
    values = np.array(cells)
    categories = sorted(set(cells) - {""})
    if len(categories) > MAX_CATEGORIES:
        return []
    # Two categories need one column: the second would only repeat the first.
    shown = categories[1:] if len(categories) == 2 else categories
    return [np.where(values == "", np.nan, values == category) for category in shown]
