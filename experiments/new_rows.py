"""New rows and rows that belong together: `python -m experiments new-rows`.

A table is split at random: PCKID is fitted to one part, and the other is compared with it. What is
said to differ then is a false alarm; what was changed on purpose should be said. Then tables of
households, whose members are alike, without any clusters: how often groups are claimed, and how
stable the clusters look, with and without saying which rows belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.benchmark import cases_of
from experiments.output import Call, Found, call_all, experiment, write_found
from experiments.run import seeds
from pckid import PCKID, assess, compare_rows
from pckid.assessment import Answer
from pckid.spectral.membership import match_labels

N_FIT, N_NEW, N_FEATURES = 600, 300, 10
MAX_ROWS = 1000


def draw_rows(rng: np.random.Generator, n: int, centers: NDArray, tail: float | None) -> NDArray:
    """Draw rows of three clusters (n, n_features), a tenth of the cells missing."""
    X = centers[rng.choice(3, n, p=[0.5, 0.3, 0.2])]
    noise = rng.normal(size=X.shape) if tail is None else rng.standard_t(tail, size=X.shape)
    X = X + noise
    X[rng.random(X.shape) < 0.1] = np.nan
    return X[~np.isnan(X).all(axis=1)]


def _shift(X: NDArray, size: float) -> NDArray:
    X[:, 0] += size * np.nanstd(X[:, 0])
    return X


def _remove(X: NDArray, share: float, rng: np.random.Generator) -> NDArray:
    X[rng.random(len(X)) < share, 0] = np.nan
    return X


CHANGES: dict[str, Callable[[NDArray, np.random.Generator], NDArray]] = {
    "one column of ten higher by 0.5 standard deviations": lambda X, rng: _shift(X, 0.5),
    "one column of ten higher by 0.25 standard deviations": lambda X, rng: _shift(X, 0.25),
    "one column in another unit (times 100)": lambda X, rng: X * ([100] + [1] * (X.shape[1] - 1)),
    "15 % more cells of one column missing": lambda X, rng: _remove(X, 0.15, rng),
}
"""What is done to new rows, by name; it is seen if the first column is said to differ."""


def compare_simulated(run: int, tail: float | None, n_new: int = N_NEW) -> list[Found]:
    """Compare new rows of simulated tables, as they are and changed."""
    rng = np.random.default_rng([run, 0 if tail is None else int(tail)])
    centers = rng.normal(size=(3, N_FEATURES))
    X, new = (draw_rows(rng, n, centers, tail) for n in (N_FIT, n_new))
    model = PCKID(3, random_state=run, n_jobs=1).fit(X)
    name = "normal clusters" if tail is None else f"clusters with heavy tails (t, {tail:g})"
    name += f", {n_new} new rows"
    found = [Found("false alarm", name, run, float(bool(compare_rows(model, new).moved)))]
    if n_new != N_NEW:
        return found
    for change, function in CHANGES.items():
        moved = compare_rows(model, function(new.copy(), rng)).moved
        seen = any(each.name == "feature 0" for each in moved)
        found.append(Found("seen", f"{change}: {name}", run, float(seen)))
    return found


def split_table(X: NDArray, n_clusters: int, name: str, run: int, seed: int) -> list[Found]:
    """Fit to two thirds of a table (n_samples, n_features), drawn at random; compare the rest."""
    order = np.random.default_rng(seed).permutation(len(X))
    part = 2 * len(X) // 3
    try:
        model = PCKID(n_clusters, random_state=seed, n_jobs=1).fit(X[order[:part]])
        moved = compare_rows(model, X[order[part:]]).moved
    except ValueError:
        return []
    return [Found("false alarm", name, run, float(bool(moved)))]


def draw_households(rng: np.random.Generator, n: int, size: int) -> tuple[NDArray, NDArray]:
    """Draw households (n) of so many members each, alike but for a little, and no clusters."""
    places = np.repeat(rng.normal(size=(n, 5)), size, axis=0)
    X = places + 0.3 * rng.normal(size=places.shape)
    X[rng.random(X.shape) < 0.1] = np.nan
    kept = ~np.isnan(X).all(axis=1)
    return X[kept], np.repeat(np.arange(n), size)[kept]


def judge_households(run: int, n: int, size: int) -> list[Found]:
    """Judge clusters of households with and without saying which rows belong together."""
    rng = np.random.default_rng([run, n, size])
    X, households = draw_households(rng, n, size)
    other = draw_households(rng, n, size)[0]
    found = []
    for way, groups in (("rows alone", None), ("households together", households)):
        model = PCKID(3, random_state=run, n_jobs=1).fit(X, groups=groups)
        verdict = assess(model, X, groups=groups, n_null=19, n_resamples=10, n_jobs=1)
        again = PCKID(3, random_state=run + 1, n_jobs=1).fit(other).predict(X)
        kept = match_labels(model.labels_, np.maximum(again, 0), 3) == model.labels_
        figures = {
            "groups or structure claimed": verdict.answer not in (Answer.NONE, Answer.UNKNOWN),
            "stability of clusters": np.mean(verdict.cluster_stability),
            "mean confidence": model.confidence_.mean(),
            "kept with other households": kept.mean(),
        }
        setting = f"{n} households of {size}, {way}"
        found += [Found(part, setting, run, float(value)) for part, value in figures.items()]
    return found


@experiment("new-rows", "data", "seed", "jobs", runs=200)
def new_rows_command(folders: Sequence[str], runs: int, seed: int, jobs: int, out: Path) -> None:
    """Compare new rows with those of a fit: false alarms, and changes that are seen.

    And clusters of households: how stable they look. Of households a quarter as many runs, of
    splits of the tables a twentieth. Writes new-rows.csv and new-rows.md.
    """
    calls: list[Call] = [
        (compare_simulated, (seed + run, tail, n_new))
        for run in range(runs)
        for tail, n_new in ((None, N_NEW), (3.0, N_NEW), (None, 60))
    ]
    calls += [
        (judge_households, (seed + run, *size))
        for run in range(max(1, runs // 4))
        for size in ((75, 4), (40, 10))
    ]
    cases = cases_of(None, folders, max_rows=MAX_ROWS) if folders else []
    for run in range(max(1, runs // 20)):
        for case in cases:
            table_seed, own = seeds(seed, case, run)
            X, y = case.draw(table_seed)[:2]
            X = X[~np.isnan(X).all(axis=1)]
            name, k = "tables of the benchmark", len(np.unique(y))
            calls.append((split_table, (X, k, name, run, own % 2**31)))
    write_found(out, "new-rows", call_all(calls, jobs, "Comparing"))
