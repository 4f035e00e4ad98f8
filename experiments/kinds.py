"""Is it worth saying that columns hold counts, or levels of a scale?

    python -m experiments kinds FOLDER --runs 40 --jobs -1

Tables are drawn with three groups: counts of a negative binomial distribution, whose dispersion
within a group is 0 (Poisson), 0.3 or 1, and levels that random cuts make of a Gaussian, 3, 5 or 7
of them. In half of the tables some columns have nothing to do with the groups. A tenth of the cells
is missing. Of the tables in folders those count that have columns of whole numbers like these:
those of 0 to many, a tenth of them 0, as counts, and those of 3 to 7 levels as a scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from experiments.output import Row, call_all, experiment, markdown, write_both

WAYS = {"counts": ("number", "log number", "count"), "levels": ("number", "category", "ordinal")}
PARAMETERS = {
    "log number": "log_columns", "count": "count_columns",
    "category": "categorical_features", "ordinal": "ordinal_columns",
}  # fmt: skip
DESIGNS = ((8, 1.0), (20, 0.4))  # columns, and the share of them that groups differ in
N_ROWS, N_GROUPS, MISSING = 200, 3, 0.1
MIN_ZEROS, MIN_DISTINCT = 0.1, 8  # of a column of counts
LEVELS = range(3, 8)
MAX_ROWS, REMOVED = 600, 0.3  # of real tables


def draw_counts(
    seed: int, n_columns: int, telling: float, dispersion: float
) -> tuple[np.ndarray, np.ndarray]:
    """Draw counts (n, d) and their groups (n,)."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, N_GROUPS, N_ROWS)
    shifts = 0.7 * rng.normal(size=(N_GROUPS, n_columns)) * (rng.random(n_columns) < telling)
    means = np.exp(rng.uniform(0, 2.5, n_columns) + shifts[groups])
    if dispersion:
        means *= rng.gamma(1 / dispersion, dispersion, size=means.shape)
    return remove(rng.poisson(means).astype(float), rng), groups


def draw_levels(
    seed: int, n_columns: int, telling: float, n_levels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw levels (n, d) from 0 and their groups (n,)."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, N_GROUPS, N_ROWS)
    shifts = rng.normal(size=(N_GROUPS, n_columns)) * (rng.random(n_columns) < telling)
    latent = shifts[groups] + rng.normal(size=(N_ROWS, n_columns))
    cuts = np.sort(rng.uniform(-1.5, 1.5, (n_columns, n_levels - 1)), axis=1)
    cuts += rng.choice([0.0, 1.0])
    cells = [np.searchsorted(mine, column) for mine, column in zip(cuts, latent.T, strict=True)]
    return remove(np.stack(cells, axis=1).astype(float), rng), groups


def remove(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Remove a tenth of the cells at random."""
    return np.where(rng.random(X.shape) < MISSING, np.nan, X)


def find_like(X: np.ndarray, what: str) -> list[int]:
    """Find the columns of a table (n, d) that look like counts or levels."""
    found = []
    for j, column in enumerate(X.T):
        seen = column[~np.isnan(column)]
        levels = np.unique(seen)
        whole = bool((seen == np.round(seen)).all()) and len(levels) > 2
        if what == "levels" and whole and len(levels) in LEVELS and np.ptp(levels) < 10:
            found.append(j)
        is_count = what == "counts" and whole and len(levels) >= MIN_DISTINCT
        if is_count and levels[0] == 0 and (seen == 0).mean() >= MIN_ZEROS:
            found.append(j)
    return found


def compare_kinds(
    name: str, what: str, X: np.ndarray, y: np.ndarray, columns: list[int], seed: int
) -> Row:
    """Cluster a table with some of its columns taken in each of the ways."""
    from pckid import PCKID

    scores: dict[str, Any] = {"table": name, "what": what, "run": seed, "columns": len(columns)}
    for way in WAYS[what]:
        given = {} if way == "number" else {PARAMETERS[way]: columns}
        model = PCKID(len(np.unique(y)), random_state=seed, n_jobs=1, **given).fit(X)
        rows = model.labels_ >= 0
        scores[way] = adjusted_rand_score(y[rows], model.labels_[rows])
    return scores


def run_simulated(what: str, number: int, design: tuple[int, float], seed: int) -> Row:
    """Draw a table and compare the ways to take it."""
    n_columns, telling = design
    drawn: tuple[np.ndarray, np.ndarray]
    if what == "counts":
        dispersion = (0.0, 0.3, 1.0)[number]
        drawn = draw_counts(seed, n_columns, telling, dispersion)
        name = f"simulated, dispersion {dispersion:g}"
    else:
        n_levels = (3, 5, 7)[number]
        drawn = draw_levels(seed, n_columns, telling, n_levels)
        name = f"simulated, {n_levels} levels"
    used = [j for j, column in enumerate(drawn[0].T) if np.nanmin(column) < np.nanmax(column)]
    return compare_kinds(f"{name}, {n_columns} columns", what, *drawn, used, seed)


def run_table(what: str, name: str, path: str, number: int) -> Row:
    """Draw rows of a real table and compare the ways to take it; a complete one loses 30 %."""
    from experiments.datasets.tables import NOT_FEATURES, load_labelled

    X, y, _ = load_labelled(path, tuple(NOT_FEATURES))
    rng = np.random.default_rng(number)
    rows = np.sort(rng.permutation(len(X))[:MAX_ROWS])
    drawn = X[rows]
    if not np.isnan(X).any():
        drawn = np.where(rng.random(drawn.shape) < REMOVED, np.nan, drawn)
    return compare_kinds(name, what, drawn, y[rows], find_like(drawn, what), number)


def list_calls(folders: Sequence[str], runs: int, seed: int) -> Iterator[tuple[Any, tuple]]:
    """List what is compared: simulated tables, and those of the folders with such columns."""
    from experiments.datasets.tables import NOT_FEATURES, files, load_labelled

    for what in WAYS:
        for number in range(3):
            for design in DESIGNS:
                yield from (
                    (run_simulated, (what, number, design, seed + run)) for run in range(runs)
                )
        for name, path in [pair for folder in folders for pair in files(folder).items()]:
            if find_like(load_labelled(str(path), tuple(NOT_FEATURES)).X[:MAX_ROWS], what):
                few = range(max(1, runs // 10))
                yield from ((run_table, (what, name, str(path), run)) for run in few)


def summarise(rows: Sequence[Row]) -> str:
    """Write means by table, and the gain of the last way over the others."""
    text = ""
    for what, ways in WAYS.items():
        mine = [row for row in rows if row["what"] == what]
        names = list(dict.fromkeys(row["table"] for row in mine))
        means = {n: [np.mean([r[w] for r in mine if r["table"] == n]) for w in ways] for n in names}
        counts = {row["table"]: row["columns"] for row in mine}
        lines = [[n, counts[n], *(f"{value:.3f}" for value in means[n])] for n in names]
        text += f"## {what}\n\n{markdown(['table', 'columns', *ways], lines)}\n"
        for part, some in (
            ("simulated", [[r[w] for w in ways] for r in mine if r["table"].startswith("sim")]),
            ("real", [means[n] for n in names if not n.startswith("sim")]),
        ):
            if some:
                text += f"{part}, {len(some)} tables: {ways[-1]}"
                for place, way in enumerate(ways[:-1]):
                    gain = np.array(some)[:, -1] - np.array(some)[:, place]
                    error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.nan
                    text += f" {gain.mean():+.3f} ± {error:.3f} beside {way};"
                text = text[:-1] + ".\n\n"
    return text


@experiment("kinds", "folders", "seed", "jobs", runs=10)
def kinds_command(folders: Sequence[str], seed: int, jobs: int, runs: int, out: Path) -> None:
    """Compare columns of counts and of levels with the same taken as numbers.

    FOLDERS hold labelled tables, as `compare` takes them. Writes results.csv and summary.md.
    """
    rows = call_all(list_calls(folders, runs, seed), jobs, "tables")
    rows = [row for row in rows if row["columns"]]
    write_both(out, "kinds", rows, summarise(rows))
