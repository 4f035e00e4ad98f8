"""Clusters of one year and of the next: `python -m experiments years`.

Tables of groups are drawn for two years: the same groups, one that split, one that is gone, one
that is new; the columns in another order; one column in another unit; and no groups at all. A model
is fitted to each, the second `like` the first: how often is what happened what is said? Then
halves of real tables, drawn at random, are taken for two years: nothing has changed, so that every
change that is claimed is a false alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.datasets.benchmark import cases_of
from experiments.output import Call, Found, call_all, experiment, write_found
from experiments.run import seeds
from pckid import PCKID

N_ROWS, N_FEATURES, MISSING, MAX_ROWS = 600, 6, 0.15, 1500
SHARES = (0.4, 0.25, 0.2, 0.15)
# How far the centres of groups are from the middle, in standard deviations of a column.
APART = (3.0, 4.0)
SCENES = ("same", "split", "gone", "new", "shuffled columns", "more clusters than groups", "none")


def draw_year(rng: np.random.Generator, centers: NDArray, shares: Sequence[float]) -> NDArray:
    """Draw the rows of one year (n_rows, n_features) around centres (n_groups, n_features)."""
    chances = np.array(shares) / sum(shares)
    X = centers[rng.choice(len(centers), N_ROWS, p=chances)] + rng.normal(size=(N_ROWS, N_FEATURES))
    X[rng.random(X.shape) < MISSING] = np.nan
    return X[~np.isnan(X).all(axis=1)]


def follow_year(scene: str, apart: float, run: int) -> list[Found]:
    """Fit two years, the second like the first, and compare what is said with what happened."""
    rng = np.random.default_rng([run, SCENES.index(scene), int(10 * apart)])
    axes = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES)))[0]
    places, halves = apart * axes[:5], 0.6 * apart * axes[[5, 5]] * [[1], [-1]]
    before, k_before, shares_before = places[:4], 4, SHARES
    now, k_now, shares_now = before, 4, SHARES
    if scene == "split":
        # It was there, but four clusters did not show it.
        before = now = np.concatenate([places[[0, 0]] + halves, places[1:4]])
        shares_before = shares_now = (0.2, 0.2, *SHARES[1:])
        k_now = 5
    elif scene == "gone":
        now, k_now, shares_now = places[:3], 3, SHARES[:3]
    elif scene == "new":
        now, k_now, shares_now = places, 5, (*SHARES, 0.25)
    elif scene == "more clusters than groups":
        k_before = k_now = 6
    elif scene == "none":
        before = now = 0 * places[:4]
    first, second = (
        pd.DataFrame(draw_year(rng, *year), columns=list("abcdef"))
        for year in ((before, shares_before), (now, shares_now))
    )
    if scene == "shuffled columns":
        second = second[list("dafceb")]
    old = PCKID(k_before, random_state=run, n_jobs=1).fit(first)
    found = PCKID(k_now, random_state=run + 1, n_jobs=1).fit(second, like=old).matches_
    kinds = sorted(each.kind for each in found.changed)
    expected = {"split": ["split"], "gone": ["vanished"], "new": ["new"]}.get(scene, [])
    matched = sum(each.kind == "stayed" for each in found.changes)
    setting = f"{scene}, centres {apart:g} from the middle"
    figures = {
        "what is said is what happened": kinds == expected,
        "something else is called a change": bool(set(kinds) - set(expected)),
        "clusters that keep their number": matched / k_before,
    }
    return [Found(part, setting, run, float(value)) for part, value in figures.items()]


def refuse_unit(run: int) -> list[Found]:
    """Follow a year in which one column is in another unit, which has to be refused."""
    rng = np.random.default_rng([run, 99])
    axes = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES)))[0]
    first, second = (20 + draw_year(rng, 3.0 * axes[:4], SHARES) for _ in range(2))
    old = PCKID(4, random_state=run, n_jobs=1).fit(first)
    refused = []
    for table in (second * [100, 1, 1, 1, 1, 1], second):
        try:
            PCKID(4, random_state=run, n_jobs=1).fit(table, like=old)
            refused.append(False)
        except ValueError:
            refused.append(True)
    return [
        Found("refused", "one column times 100", run, float(refused[0])),
        Found("refused", "the same unit", run, float(refused[1])),
    ]


def follow_halves(X: NDArray, k: int, run: int, seed: int) -> list[Found]:
    """Take two random halves of a table (n_samples, n_features) for two years."""
    order = np.random.default_rng(seed).permutation(len(X))
    first, second = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    try:
        old = PCKID(k, random_state=seed, n_jobs=1).fit(first)
        found = PCKID(k, random_state=seed + 1, n_jobs=1).fit(second, like=old).matches_
    except ValueError:
        return []
    matched = sum(each.kind == "stayed" for each in found.changes)
    setting = "halves of tables of the benchmark"
    unmatched = [each for each in found.changes if each.kind != "stayed"]
    return [
        Found("something is called a change", setting, run, float(bool(found.changed))),
        Found("clusters called changed", setting, run, len(found.changed) / k),
        Found("differences, by chance or not", setting, run, float(bool(unmatched))),
        Found("clusters that keep their number", setting, run, matched / k),
    ]


@experiment("years", "data", "seed", "jobs", runs=100)
def years_command(folders: Sequence[str], runs: int, seed: int, jobs: int, out: Path) -> None:
    """Follow clusters from one year to the next: what stays, and what changes are seen.

    Of halves of each table a twentieth as many runs. Writes years.csv and years.md.
    """
    calls: list[Call] = [
        (follow_year, (scene, apart, seed + run))
        for scene in SCENES
        for apart in (APART if scene != "none" else APART[:1])
        for run in range(runs)
    ]
    calls += [(refuse_unit, (seed + run,)) for run in range(runs)]
    for run in range(max(1, runs // 20)):
        for case in cases_of(None, folders, max_rows=MAX_ROWS) if folders else []:
            table_seed, own = seeds(seed, case, run)
            X, y = case.draw(table_seed)[:2]
            X = X[~np.isnan(X).all(axis=1)]
            calls.append((follow_halves, (X, len(np.unique(y)), run, own % 2**31)))
    write_found(out, "years", call_all(calls, jobs, "Following"))
