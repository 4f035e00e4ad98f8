"""What the paper's two experiments share: methods, their names in its table, the embedding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.baselines import CLUSTERINGS, IMPUTATIONS
from experiments.datasets import Case
from experiments.methods import find
from experiments.results import Row
from experiments.run import seeds

PCKID_OF_THE_PAPER = "PCKID kernel PCA"
METHODS = (
    PCKID_OF_THE_PAPER,
    *(f"{short}+{clustering}" for clustering in CLUSTERINGS for short in IMPUTATIONS),
)
"""PCKID with the paper's embedding, and its eight baselines, in the order of its table."""
_CLUSTERINGS = {"spectral": "RBF", "kmeans": "k-means"}


def rename(rows: Sequence[Row]) -> list[Row]:
    """Name the methods as the paper's table does."""
    return [row | {"method": _paper_name(row["method"])} for row in rows]


def write_paper_table(
    rows: Sequence[Row], out: Path, name: str, corner: str, say: Callable[[str], None]
) -> None:
    """Write and show the paper's table; further methods go into a second one, NAME_also."""
    own = [row for row in rows if row["method"] in METHODS]
    table = tables.accuracy_table(rename(own), corner, lambda case: case[1])
    tables.write(table, out, name)
    say(tables.as_markdown(table))
    say(verdict(table))
    if len(own) < len(rows):
        table = tables.accuracy_table(rename(rows), corner, lambda case: case[1])
        tables.write(table, out, f"{name}_also")
        say(tables.as_markdown(table))


def verdict(table: tables.ResultTable) -> str:
    """Say on how many rows, the mean aside, PCKID is best, and where it is not."""
    ours = table.columns.index("PCKID")
    rows = [i for i, name in enumerate(table.rows) if name != "mean"]
    lost = [table.rows[i] for i in rows if not table.best[i, ours]]
    where = f"; not on {', '.join(lost)}" if lost else ""
    return f"PCKID is best, or equals the best, on {len(rows) - len(lost)} of {len(rows)}{where}."


def setting(changes: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Return the parameters of PCKID in the paper's experiments, some of them changed."""
    (method,) = find([PCKID_OF_THE_PAPER])
    return dict(method.override(changes).parameters)


def embed(
    case: Case, seed: int, device: str | None, parameters: Mapping[str, Any]
) -> tuple[NDArray, NDArray, NDArray]:
    """Fit PCKID to the first run's table; returns embedding (n, k), classes and labels (n,)."""
    from pckid import PCKID

    table_seed, method_seed = seeds(seed, case, 0)
    X, y = case.draw(table_seed)
    given = setting(parameters)
    model = PCKID(len(np.unique(y)), device=device, random_state=method_seed, **given).fit(X)
    return np.asarray(model.embedding_), y, np.asarray(model.labels_)


def with_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Gather the options that override the methods' parameters under `parameters`."""
    names = {
        "inits": "n_inits",
        "max_components": "max_components",
        "kmeans_starts": "kmeans_n_init",
    }
    given = {names[name]: options.pop(name) for name in names if name in options}
    chosen = {name: value for name, value in given.items() if value is not None}
    return {**options, "parameters": chosen}


def _paper_name(method: str) -> str:
    """Name a method as the paper does, and others as they are."""
    if method == PCKID_OF_THE_PAPER:
        return "PCKID"
    if method == "PCKID":
        return "PCKID default"
    short, _, clustering = method.partition("+")
    if short in IMPUTATIONS and clustering in _CLUSTERINGS:
        return f"{_CLUSTERINGS[clustering]} {short}"
    return method
