"""A folder of labelled tables: as they are, or with values removed where none is missing."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, LabelledTable, dataset, prepare
from experiments.datasets.complete import SETTINGS, remove

LABEL = "label"
NOT_FEATURES = ("id", "row", "col", "utmx", "utmy", "field", "death")
"""Identifiers, coordinates and second outcomes, left out wherever a table has them."""
MAX_ROWS = 2000
AS_IS = "as is"
"""The setting of a table with missing values of its own."""
MAX_CATEGORIES = 20


class Labelled(NamedTuple):
    """A table as it was read."""

    X: NDArray  # (n_samples, n_features), NaN where missing
    y: NDArray  # (n_samples,), the known classes
    columns: NDArray[np.intp]  # (n_features,), the column of the file that each belongs to


@dataset("tables")
def tables(
    data: str | Path, drop: Sequence[str] = NOT_FEATURES, max_rows: int = MAX_ROWS
) -> list[Case]:
    """List the cases of all tables of a folder; see `files` and `file_cases`."""
    return [
        case
        for name, path in files(data).items()
        for case in file_cases(name, path, drop, max_rows)
    ]


def files(folder: str | Path) -> dict[str, Path]:
    """Find the tables of a folder, by name.

    They are .csv or .csv.gz files. Where NAME_num.csv, with categories coded as numbers, lies
    beside NAME.csv, only the former counts, so that no table counts twice.
    """
    paths = {
        path.name.removesuffix(".gz").removesuffix(".csv"): path
        for path in sorted(Path(folder).iterdir())
        if path.name.endswith((".csv", ".csv.gz"))
    }
    if not paths:
        raise ValueError(f"{folder} holds no .csv or .csv.gz file.")
    return {name: path for name, path in paths.items() if f"{name}_num" not in paths}


def file_cases(
    name: str, path: Path, drop: Sequence[str] = NOT_FEATURES, max_rows: int = MAX_ROWS
) -> list[Case]:
    """List the cases of a table: as it is if values are missing, else with values removed.

    Parameters
    ----------
    name : str
    path : Path
        A blank cell is missing; the column `label` holds the classes.
    drop : sequence of str
        Columns that are not features.
    max_rows : int
        Larger tables are drawn from anew in every run, each class in proportion.
    """
    is_complete = not np.isnan(load_labelled(str(path), tuple(drop)).X).any()
    source = f"{path.name}, at most {max_rows} rows"
    return [
        Case(name, setting, source, partial(draw_table, str(path), tuple(drop), max_rows, setting))
        for setting in (SETTINGS if is_complete else (AS_IS,))
    ]


def draw_table(
    path: str, drop: tuple[str, ...], max_rows: int, setting: str, seed: int
) -> LabelledTable:
    """Take at most `max_rows` rows of a table, remove values if asked to, and prepare it."""
    X, y, columns = load_labelled(path, drop)
    rng = np.random.default_rng(seed)
    if len(y) > max_rows:
        index = stratified(y, max_rows, rng)
        X, y = X[index], y[index]
    if setting != AS_IS:
        X = remove(X, columns, setting, rng)
    return prepare(X, y)


def stratified(y: NDArray, n_samples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows so that each class keeps its share, to within rounding; sorted indices."""
    rank = np.empty(len(y))
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        rank[members] = (np.arange(members.size) + rng.random()) / members.size
    return np.sort(np.argsort(rank, kind="stable")[:n_samples])


@lru_cache(maxsize=2)
def load_labelled(path: str, drop: tuple[str, ...] = NOT_FEATURES) -> Labelled:
    """Read numbers and classes from a table.

    A column of text becomes one column of 0 and 1 for each category, all of them missing where the
    cell is; beyond 20 categories it is left out, as a name rather than a property. Rows with
    nothing observed are left out, as no method could place them.
    """
    names, rows = read_labelled(path)
    if LABEL not in names:
        raise ValueError(f"{path} has no column {LABEL!r}. Name the column of known classes so.")
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    features = [
        (column, number)
        for number, name in enumerate(names)
        if name != LABEL and name not in drop
        for column in _feature_columns(cells[name])
    ]
    X = np.stack([column for column, _ in features], axis=1)
    kept = ~np.isnan(X).all(axis=1)
    columns = np.array([number for _, number in features])
    return Labelled(X[kept], np.array(cells[LABEL])[kept], columns)


def read_labelled(path: str) -> tuple[list[str], list[list[str]]]:
    """Read the names and the cells of a .csv or .csv.gz file."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def _feature_columns(cells: Sequence[str]) -> list[NDArray]:
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
