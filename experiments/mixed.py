"""Categories declared against categories coded as numbers, on tables that keep them as text.

    python -m experiments mixed FOLDER --runs 10

Every table of the folder with a column of text is clustered by PCKID in three ways: with the
columns of text declared as categories, with each category coded as a number in alphabetical order,
and with one column of 0 and 1 for each category. A column of more than 50 categories is left out
in all three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from experiments.datasets.tables import (
    LABEL,
    MAX_ROWS,
    NOT_FEATURES,
    read_labelled,
    stratified,
)
from experiments.measure import agreement_scores
from pckid._utils.arrays import to_numpy

MAX_CATEGORIES = 50
WAYS = ("categories", "codes", "indicators")


class Mixed(NamedTuple):
    """A table of numbers and categories with known classes."""

    codes: NDArray  # (n_samples, n_features), NaN where missing; categories as numbers from 0
    categorical: NDArray  # (n_features,), bool
    y: NDArray  # (n_samples,)


def load_mixed(path: str, drop: Sequence[str] = NOT_FEATURES) -> Mixed:
    """Read a table; columns that are no numbers are categories."""
    names, rows = read_labelled(path)
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns, categorical = [], []
    for name in names:
        if name != LABEL and name not in drop:
            values, is_text = _coded_column(cells[name])
            if not is_text or values.max(initial=0, where=values >= 0) < MAX_CATEGORIES:
                columns.append(values)
                categorical.append(is_text)
    X = np.stack(columns, axis=1)
    kept = ~np.isnan(X).all(axis=1)
    return Mixed(X[kept], np.array(categorical), np.array(cells[LABEL])[kept])


def _coded_column(cells: Sequence[str]) -> tuple[NDArray, bool]:
    """Turn a column into numbers, or number its categories in alphabetical order."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells]), False
    except ValueError:
        index = {category: code for code, category in enumerate(sorted(set(cells) - {""}))}
        return np.array([index.get(cell, np.nan) for cell in cells], dtype=float), True


def indicators(table: Mixed) -> NDArray:
    """Make one column of 0 and 1 for each category; two categories need only one."""
    columns = []
    for values, is_category in zip(table.codes.T, table.categorical, strict=True):
        codes = np.unique(values[~np.isnan(values)])
        if not is_category or len(codes) == 2:
            columns.append(values)
        else:
            columns += [np.where(np.isnan(values), np.nan, values == code) for code in codes]
    return np.stack(columns, axis=1)


def cluster_coded(table: Mixed, way: str, seed: int, **parameters: Any) -> NDArray:
    """Cluster a table in one of three ways."""
    from pckid import PCKID

    X = indicators(table) if way == "indicators" else table.codes
    declared = table.categorical if way == "categories" else None
    model = PCKID(
        len(np.unique(table.y)), categorical_features=declared, random_state=seed, **parameters
    )
    return to_numpy(model.fit_predict(X))


def compare_codings(
    folder: str | Path,
    *,
    runs: int = 10,
    say: Callable[[str], None] = print,
    **parameters: Any,
) -> dict[str, dict[str, NDArray]]:
    """Compare the three ways on every table with text; returns scores (runs, 2) by table and way.

    The two scores are accuracy and adjusted Rand index.
    """
    results: dict[str, dict[str, NDArray]] = {}
    for path in sorted(Path(folder).glob("*.csv")):
        whole = load_mixed(str(path))
        if not whole.categorical.any():
            continue
        results[path.stem] = {way: np.empty((runs, 2)) for way in WAYS}
        for seed in range(runs):
            index = stratified(whole.y, MAX_ROWS, np.random.default_rng(seed))
            table = Mixed(whole.codes[index], whole.categorical, whole.y[index])
            for way in WAYS:
                found = agreement_scores(table.y, cluster_coded(table, way, seed, **parameters))
                results[path.stem][way][seed] = found["accuracy"], found["ari"]
        say(_coding_line(path.stem, [results[path.stem][way] for way in WAYS]))
    means = [np.mean([found[way] for found in results.values()], axis=0) for way in WAYS]
    say(_coding_line("mean", means))
    return results


def _coding_line(name: str, scored: Sequence[NDArray]) -> str:
    """Write one line: accuracy ± standard error, and adjusted Rand index, for each way."""
    cells = [f"{name:24}"]
    for way, values in zip(WAYS, scored, strict=True):
        accuracy, ari = values.mean(axis=0)
        error = values[:, 0].std() / max(len(values) - 1, 1) ** 0.5
        cells.append(f"{way} {accuracy:.3f} ± {error:.3f}, {ari:.3f}")
    return "  ".join(cells)


@click.command("mixed")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--runs", default=10, show_default=True)
@click.option("--inits", "n_inits", type=int, help="Q")
@click.option("--max-components", type=int, help="G")
def mixed_command(**options: Any) -> None:
    """Categories declared, or coded as numbers?"""
    compare_codings(**{name: value for name, value in options.items() if value is not None})
