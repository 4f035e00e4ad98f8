"""Wide tables: few rows, many columns, of which few tell the groups apart.

Designs are split into those to choose on and those to report on, before anything was tried on them.
Real ones: single cells with known kinds, from the wheel of scanpy on PyPI, and the labelled tables
of the benchmark with columns of noise beside their own.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, LabelledTable, prepare
from experiments.datasets.benchmark import cases_of

CELLS = "scanpy/datasets/10x_pbmc68k_reduced.h5ad"
MAX_PADDED_ROWS = 150
_N_PADDING = 10  # columns of noise for each column of a table of the benchmark
_SETTING = "mcar 30%"


class Design(NamedTuple):
    """A made table of groups; means of a telling column are normal, as the noise of all columns."""

    n_rows: int
    n_columns: int
    n_telling: int
    apart: float  # the standard deviation of the groups' means in a telling column
    shares: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)  # of the rows, by group
    missing: float = 0.3
    small: bool = False  # whether lower values are missing more often
    block: int = 1  # so many neighbouring columns are correlated by 0.5
    batch: int = 0  # so many columns follow a common factor that has no groups
    counts: bool = False  # whether cells are logarithms of counts, telling columns markers


DESIGNS = {
    "choose": {
        "80 × 800, 4 groups": Design(80, 800, 40, 1.2, (0.25,) * 4),
        "120 × 1500, 2 groups": Design(120, 1500, 60, 0.8, (0.5, 0.5)),
        "150 × 300, 5 groups": Design(150, 300, 30, 1.0, (0.2,) * 5),
        "60 × 3000": Design(60, 3000, 120, 1.1),
        "300 × 100, 6 tell": Design(300, 100, 6, 1.5),
        "100 × 600, batch": Design(100, 600, 40, 1.2, batch=100),
        "90 × 600, unequal": Design(90, 600, 60, 1.2, (0.5, 0.25, 0.15, 0.1)),
        "90 × 700, small missing": Design(90, 700, 50, 1.2, small=True),
        "300 × 400, markers": Design(
            300, 400, 120, 1.2, (0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05), counts=True
        ),
    },
    "report": {
        "100 × 1000, 50 tell, 1.2": Design(100, 1000, 50, 1.2),
        "100 × 1000, 50 tell, 0.8": Design(100, 1000, 50, 0.8),
        "100 × 5000, 150 tell, 1.0": Design(100, 5000, 150, 1.0),
        "100 × 20000, 400 tell, 1.0": Design(100, 20000, 400, 1.0),
        "120 × 2000, 100 tell, 1.2": Design(120, 2000, 100, 1.2),
        "80 × 500, 60 tell, 1.2": Design(80, 500, 60, 1.2),
        "600 × 60, 4 tell, 2.0": Design(600, 60, 4, 2.0, missing=0.1),
        "120 × 1000, unequal": Design(120, 1000, 60, 1.2, (0.7, 0.2, 0.1)),
        "100 × 1000, blocks": Design(100, 1000, 50, 1.2, block=10),
        "100 × 1000, small missing": Design(100, 1000, 50, 1.2, small=True),
        "100 × 1000, small missing, 0.7": Design(100, 1000, 50, 0.7, missing=0.4, small=True),
    },
}
"""Made tables, by half and name."""

CLOUD_SHAPES = ((60, 100), (60, 500), (150, 200))


def _t_factors(rng: np.random.Generator, n: int) -> NDArray:
    return rng.standard_t(4, size=(n, 3))


# Factors of a cloud without groups, and the share of the columns that have them.
CLOUDS: dict[str, tuple[Callable[[np.random.Generator, int], NDArray], float]] = {
    "noise": (lambda rng, n: np.zeros((n, 1)), 1.0),
    "one factor": (lambda rng, n: rng.normal(size=(n, 1)), 1.0),
    "three factors": (lambda rng, n: rng.normal(size=(n, 3)), 1.0),
    "t factors": (_t_factors, 1.0),
    "lognormal": (lambda rng, n: rng.normal(size=(n, 2)), 1.0),
    "batch": (lambda rng, n: rng.normal(size=(n, 1)), 0.2),
}

CELL_ROWS = {"700 cells": 700, "100 cells": 100}


def list_wide(half: str, cells: str | Path | None, folders: Sequence[str | Path]) -> list[Case]:
    """List the made tables of a half, its padded tables in `folders`, and to report the cells.

    The half "clouds" has tables without groups alone: a method is right that finds one cluster.
    """
    if half == "clouds":
        return [
            Case("clouds", f"{kind}, {n} × {d}", kind, partial(draw_cloud, kind, (n, d)))
            for kind in CLOUDS
            for n, d in CLOUD_SHAPES
        ]
    found = [
        Case("made", name, str(tuple(design)), partial(draw, design))
        for name, design in DESIGNS[half].items()
    ]
    if cells and half == "report":
        found += [
            Case("cells", name, Path(cells).name, partial(draw_cells, cells, n))
            for name, n in CELL_ROWS.items()
        ]
    padded = cases_of(half, folders, max_rows=MAX_PADDED_ROWS) if folders else []
    found += [
        Case("padded", case.dataset, case.source, partial(draw_padded, case))
        for case in padded
        if case.setting == _SETTING
    ]
    return found


def draw_cloud(kind: str, shape: tuple[int, int], seed: int) -> LabelledTable:
    """Draw a cloud of one group, 30 % of the values missing."""
    rng, (n, d) = np.random.default_rng([seed, *shape]), shape
    factors, share = CLOUDS[kind][0](rng, n), CLOUDS[kind][1]
    loadings = rng.normal(size=(factors.shape[1], d)) * (np.arange(d) < share * d)
    X = factors @ loadings + rng.normal(size=(n, d))
    if kind == "lognormal":
        X = np.exp(0.5 * X)
    return prepare(np.where(rng.random(X.shape) < 0.3, np.nan, X), np.zeros(n, dtype=np.int64))


def draw(design: Design, seed: int) -> LabelledTable:
    """Draw a table of a design; the telling columns come first."""
    rng = np.random.default_rng(seed)
    n, d, t = design.n_rows, design.n_columns, design.n_telling
    y = np.repeat(np.arange(len(design.shares)), np.diff(_edges(design.shares, n)))
    centers = design.apart * rng.normal(size=(len(design.shares), t))
    X = rng.normal(size=(n, d))
    if design.block > 1:
        common = rng.normal(size=(n, -(-d // design.block)))
        X = np.sqrt(0.5) * (X + np.repeat(common, design.block, axis=1)[:, :d])
    X[:, :t] += centers[y]
    X[:, d - design.batch :] += rng.normal(size=(n, 1)) * rng.normal(size=design.batch)
    if design.counts:
        X = _counts(design, y, rng)
    order = rng.permutation(d)  # of how often a value is missing, so that columns differ
    chance = np.full(X.shape, design.missing)
    if design.small:
        ranks = X.argsort(axis=0).argsort(axis=0) / n
        share = 2 * design.missing * order / d
        chance = np.clip(2 * share * (1 - ranks), 0, 0.95)
    return prepare(np.where(rng.random(X.shape) < chance, np.nan, X), y)


def _counts(design: Design, y: NDArray, rng: np.random.Generator) -> NDArray:
    """Draw logarithms of counts (n, d): each telling column is more common in one group."""
    n, d, t = design.n_rows, design.n_columns, design.n_telling
    level = rng.normal(0, 1, size=d)
    up = np.zeros((len(design.shares), d))
    up[rng.integers(len(design.shares), size=t), np.arange(t)] = 2 * design.apart
    depth = rng.normal(0, 0.3, size=(n, 1))
    return np.log1p(rng.poisson(np.exp(level + up[y] + depth)))


def _edges(shares: Sequence[float], n: int) -> NDArray:
    return np.round(np.concatenate([[0], np.cumsum(shares)]) * n).astype(int)


def draw_cells(path: str | Path, n_rows: int, seed: int) -> LabelledTable:
    """Draw cells, with their kinds; 30 % of the values are missing at random."""
    rng = np.random.default_rng(seed)
    X, y = load_cells(path)
    rows = rng.permutation(len(X))[:n_rows]
    X = X[rows]
    return prepare(np.where(rng.random(X.shape) < 0.3, np.nan, X), y[rows])


@lru_cache(maxsize=1)
def load_cells(path: str | Path) -> tuple[NDArray, NDArray]:
    """Read values (700, 765) and kinds (700,) from scanpy's wheel, or from the file in it."""
    import h5py

    source = Path(path).read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wheel:
            source = wheel.read(CELLS)
    with h5py.File(io.BytesIO(source)) as file:
        return file["X"][()].astype(np.float64), file["obs"]["bulk_labels"].astype(np.int64)


def draw_padded(case: Case, seed: int) -> LabelledTable:
    """Draw a table of the benchmark, and ten columns of noise for each of its own."""
    X, y = case.draw(seed)[:2]
    rng = np.random.default_rng([seed, 1])
    noise = rng.normal(size=(len(X), _N_PADDING * X.shape[1]))
    noise[rng.random(noise.shape) < np.isnan(X).mean()] = np.nan
    return prepare(np.hstack([X, noise]), y)
