"""Categories declared against categories coded as numbers, on tables that keep them as text.

    python -m experiments mixed FOLDER --runs 10
    python -m experiments mixed --runs 3

Every table of the folder with a column of text, or without a folder 16 simulated ones, is clustered
by PCKID in four ways: with the columns of text declared as categories, with each category coded as
a number in alphabetical order, with one column of 0 and 1 for each category, and with these columns
in an order that keeps those of a category apart, in which PCKID does not find that they belong
together. A column of more than 50 categories is left out in all four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
WAYS = ("categories", "codes", "indicators", "apart")
N_SIMULATED = 16


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


def simulate_mixed(number: int) -> Mixed:
    """Simulate 300 rows of 3 to 5 groups: 2 to 6 numbers, as many categories, 20 % missing.

    In each group a column of numbers has a mean drawn from a normal distribution, one of 3 to 6
    categories has probabilities drawn from a Dirichlet distribution.
    """
    rng = np.random.default_rng([N_SIMULATED, number])
    n_clusters = 3 + number % 3
    n_categorical, n_numbers = ((4, 4), (6, 2), (2, 6), (3, 3))[number % 4]
    y = rng.integers(n_clusters, size=300)
    columns = []
    for _ in range(n_categorical):
        size = int(rng.integers(3, 7))
        chances = rng.dirichlet(np.full(size, 0.6), size=n_clusters)
        columns.append([rng.choice(size, p=chances[group]) for group in y])
    means = rng.normal(scale=1.2, size=(n_clusters, n_numbers))
    X = np.column_stack([*columns, rng.normal(size=(len(y), n_numbers)) + means[y]])
    X[rng.random(X.shape) < 0.2] = np.nan
    kept = ~np.isnan(X).all(axis=1)
    return Mixed(X[kept], np.arange(X.shape[1]) < n_categorical, y[kept])


def find_mixed(folder: str | Path | None) -> Iterator[tuple[str, Mixed]]:
    """Yield the tables of a folder that have text, by name, or simulated ones."""
    if folder is None:
        yield from ((f"simulated {i}", simulate_mixed(i)) for i in range(N_SIMULATED))
        return
    for path in sorted(Path(folder).glob("*.csv")):
        table = load_mixed(str(path))
        if table.categorical.any():
            yield path.stem, table


def indicators(table: Mixed, apart: bool = False) -> NDArray:
    """Make one column of 0 and 1 for each category; two categories need only one.

    Those of a category are neighbours, or else stand `apart`: the first of each, the second of each
    and so on.
    """
    columns, order = [], []
    for values, is_category in zip(table.codes.T, table.categorical, strict=True):
        codes = np.unique(values[~np.isnan(values)])
        if not is_category or len(codes) == 2:
            found = [values]
        else:
            found = [np.where(np.isnan(values), np.nan, values == code) for code in codes]
        columns += found
        order += range(len(found))
    X = np.stack(columns, axis=1)
    return X[:, np.argsort(order, kind="stable")] if apart else X


def cluster_coded(table: Mixed, way: str, seed: int, **parameters: Any) -> NDArray:
    """Cluster a table in one of the ways."""
    from pckid import PCKID

    X = indicators(table, way == "apart") if way in ("indicators", "apart") else table.codes
    declared = table.categorical if way == "categories" else None
    model = PCKID(
        len(np.unique(table.y)), categorical_features=declared, random_state=seed, **parameters
    )
    return to_numpy(model.fit_predict(X))


def compare_codings(
    folder: str | Path | None = None,
    *,
    runs: int = 10,
    say: Callable[[str], None] = print,
    **parameters: Any,
) -> dict[str, dict[str, NDArray]]:
    """Compare the ways on every table with text; returns scores (runs, 2) by table and way.

    The two scores are accuracy and adjusted Rand index.
    """
    results: dict[str, dict[str, NDArray]] = {}
    for name, whole in find_mixed(folder):
        results[name] = {way: np.empty((runs, 2)) for way in WAYS}
        for seed in range(runs):
            index = stratified(whole.y, MAX_ROWS, np.random.default_rng(seed))
            table = Mixed(whole.codes[index], whole.categorical, whole.y[index])
            for way in WAYS:
                found = agreement_scores(table.y, cluster_coded(table, way, seed, **parameters))
                results[name][way][seed] = found["accuracy"], found["ari"]
        say(_coding_line(name, [results[name][way] for way in WAYS]))
    means = [np.mean([found[way] for found in results.values()], axis=0) for way in WAYS]
    say(_coding_line("mean", means))
    gains = [(found["indicators"] - found["apart"])[:, 1].mean() for found in results.values()]
    error = np.std(gains) / max(len(gains) - 1, 1) ** 0.5
    say(f"adjusted Rand index, indicators less apart: {np.mean(gains):+.3f} ± {error:.3f}")
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
@click.argument("folder", type=click.Path(exists=True, file_okay=False), required=False)
@click.option("--runs", default=10, show_default=True)
@click.option("--inits", "n_inits", type=int, help="Q")
@click.option("--max-components", type=int, help="G")
def mixed_command(**options: Any) -> None:
    """Categories declared, or coded as numbers?"""
    compare_codings(**{name: value for name, value in options.items() if value is not None})
