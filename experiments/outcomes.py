"""Outcomes of clusters whose labels are uncertain: `python -m experiments outcomes`.

Tables of groups that overlap, with missing values, and an outcome whose mean in each group is
known: how often the intervals of `compare_outcomes` hold it, and those of the naive comparison,
which takes every label for right. Tables in which the outcome has nothing to do with the groups:
how often a difference is claimed. And the data sets of StepMix's examples: how far its three-step
estimates are from ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm

from experiments.dependence import autoregress, field
from experiments.output import Call, Found, call_all, experiment, write_found
from pckid import PCKID, compare_outcomes
from pckid.outcomes import Outcome

N_ROWS, N_FEATURES, MISSING = 1000, 6, 0.2
SHARES = {2: (0.6, 0.4), 3: (0.5, 0.3, 0.2)}
# (groups, distance of their centres from the middle, their standard deviations)
SETTINGS = {
    "2 groups, far overlap": (2, 1.4, (1.0, 1.0)),
    "2 groups, some overlap": (2, 1.9, (1.0, 1.0)),
    "3 groups, far overlap": (3, 1.7, (1.0, 1.0, 1.0)),
    "3 groups, some overlap": (3, 2.2, (1.0, 1.0, 1.0)),
    "3 groups of unequal spread": (3, 1.7, (0.7, 1.0, 1.4)),
}
# Groups that are no clouds of independent Gaussian columns.
OTHERS = {
    "3 skewed groups": "skew",
    "3 groups with heavy tails (t, 4)": "tail",
    "3 groups of correlated columns (0.35)": "factor",
    "3 skewed groups of correlated columns": "skew factor",
}
# Rows that depend on each other, with an outcome that has nothing to do with the groups.
DEPENDENT = ("40 persons, 10 visits each", "a series of 600 rows, AR(1) 0.9", "500 places")
KINDS = ("number", "0/1", "category")


def draw_groups(
    rng: np.random.Generator, n_groups: int, apart: float, spreads: Sequence[float], shape: str = ""
) -> tuple[NDArray, NDArray]:
    """Draw groups around orthogonal centres (n_rows, n_features), a fifth of the cells missing."""
    group = rng.choice(n_groups, N_ROWS, p=SHARES[n_groups])
    axes = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES)))[0]
    noise = rng.normal(size=(N_ROWS, N_FEATURES))
    if "factor" in shape:
        noise = np.sqrt(0.65) * noise + np.sqrt(0.35) * rng.normal(size=(N_ROWS, 1))
    if shape == "skew factor":
        noise = -norm.logsf(noise) - 1
    elif shape == "skew":
        noise = rng.exponential(size=noise.shape) - 1
    elif shape == "tail":
        noise = rng.standard_t(4, size=noise.shape) / np.sqrt(2)
    X = apart * axes[group] + noise * np.array(spreads)[group][:, None]
    X[rng.random(X.shape) < MISSING] = np.nan
    kept = ~np.isnan(X).all(axis=1)
    return X[kept], group[kept]


def draw_outcome(rng: np.random.Generator, group: NDArray, kind: str) -> tuple[NDArray, NDArray]:
    """Draw an outcome of rows (n_rows,) by their groups, and its truth in each (n_groups,)."""
    if kind == "number":
        return 1.0 * group + rng.normal(size=len(group)), np.arange(group.max() + 1.0)
    truth = np.array([0.2, 0.5, 0.7])[: group.max() + 1]
    hit = rng.random(len(group)) < truth[group]
    return (hit.astype(float) if kind == "0/1" else np.where(hit, "a", "b").astype(object)), truth


def naive_interval(outcome: Outcome, spread: NDArray) -> tuple[NDArray, NDArray]:
    """Take every label for right: the usual interval (n_clusters,) of a mean."""
    mean = outcome.uncorrected[:, 0]
    half = 1.96 * spread / np.sqrt(outcome.n_rows)
    return mean - half, mean + half


def judge_table(setting: str, run: int) -> list[Found]:
    """Compare outcomes of one table with the truth."""
    rng = np.random.default_rng([run, len(setting), sum(map(ord, setting))])
    if setting in SETTINGS:
        X, group = draw_groups(rng, *SETTINGS[setting])
    else:
        X, group = draw_groups(rng, 3, 2.0, (1.0, 1.0, 1.0), OTHERS[setting])
    drawn = {kind: draw_outcome(rng, group, kind) for kind in KINDS}
    noise = rng.normal(size=len(group))
    model = PCKID(group.max() + 1, random_state=run, n_jobs=1).fit(X)
    outcomes = {kind: cells for kind, (cells, _) in drawn.items()}
    compared = compare_outcomes(model, X, {**outcomes, "noise": noise})
    k, labels = model.n_clusters_, model.labels_
    both = np.zeros((k, k))
    np.add.at(both, (labels, group), 1)
    mine = linear_sum_assignment(-both)[1]
    right = both[np.arange(k), mine].sum() / len(group)
    posterior = float(compared.error_rates.diagonal() @ np.bincount(group)[mine] / len(group))
    figures = {
        "labels that are right": right,
        "labels that are right, as estimated": posterior,
        "mean confidence": float(model.confidence_.mean()),
        "noise called different (5 % expected)": float(compared.outcomes[3].p_value <= 0.05),
    }
    for kind, outcome in zip(KINDS, compared.outcomes[:3], strict=True):
        truth, cells = drawn[kind][1][mine], outcomes[kind]
        held = (outcome.low[:, 0] <= truth) & (truth <= outcome.high[:, 0])
        numbers = (cells == "a").astype(float) if kind == "category" else cells
        spread = np.array([numbers[labels == c].std() for c in range(k)])
        low, high = naive_interval(outcome, spread)
        figures[f"truth within the 95 % interval: {kind}"] = held.mean()
        figures[f"the same, naive: {kind}"] = ((low <= truth) & (truth <= high)).mean()
        figures[f"error: {kind}"] = np.abs(outcome.estimates[:, 0] - truth).mean()
        figures[f"error, naive: {kind}"] = np.abs(outcome.uncorrected[:, 0] - truth).mean()
        width = (outcome.high - outcome.low)[:, 0]
        figures[f"width of the interval: {kind}"] = width.mean()
        off, naive = outcome.estimates[:, 0] - truth, outcome.uncorrected[:, 0] - truth
        figures[f"part of the naive error that remains: {kind}"] = (off @ naive) / (naive @ naive)
        figures[f"squared error by variance: {kind}"] = np.mean((off / (width / 3.97)) ** 2)
    return [Found(part, setting, run, float(value)) for part, value in figures.items()]


def judge_dependent(setting: str, run: int) -> list[Found]:
    """Count differences that are claimed in noise where rows depend on each other, told or not."""
    rng = np.random.default_rng([run, DEPENDENT.index(setting)])
    if setting == DEPENDENT[0]:
        person = np.repeat(np.arange(40), 10)
        group, given = person % 2, {"groups": person}
        noise = np.sqrt(0.5) * (rng.normal(size=40)[person] + rng.normal(size=400))
    elif setting == DEPENDENT[1]:
        place = np.arange(600)
        group, given = place // 50 % 2, {"positions": place}
        noise = autoregress(600, 0.9, rng, 1)[:, 0]
    else:
        places = rng.random((500, 2))
        group, given = (6 * places[:, 0]).astype(int) % 2, {"positions": places}
        noise = field(places, 0.1, rng, 1)[:, 0]
    X = rng.normal(size=(len(group), 5)) + 4.0 * group[:, None]
    model = PCKID(2, random_state=run, n_jobs=1).fit(X)
    outcomes = {"number": noise, "0/1": (noise > 0.3).astype(float)}
    found = []
    for title, how in (("told", given), ("not told", {})):
        compared = compare_outcomes(model, X, outcomes, **how).outcomes
        for each in compared:
            part = f"noise called different, {title}: {each.name}"
            found.append(Found(part, setting, run, float((each.p_value or 1.0) <= 0.05)))
    return found


def compare_stepmix(separation: float, run: int) -> list[Found]:
    """Compare with StepMix's three-step estimates on the data of its example (Bakk 2018)."""
    from stepmix import StepMix
    from stepmix.datasets import data_bakk_response

    X, y, _ = data_bakk_response(1000, separation, random_state=run)
    mine = compare_outcomes(PCKID(3, random_state=run, n_jobs=1).fit(X), X, y).outcomes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = StepMix(
            3, n_steps=3, measurement="bernoulli", structural="gaussian_unit", correction="BCH",
            n_init=3, random_state=run, progress_bar=0,
        ).fit(X, y)  # fmt: skip
    theirs = np.sort(np.ravel(other.get_parameters()["structural"]["means"]))
    order, truth = np.argsort(mine.estimates[:, 0]), np.array([-1.0, 0.0, 1.0])
    errors = (mine.high - mine.low)[order, 0] / (2 * 1.98)
    apart = np.abs(mine.estimates[order, 0] - theirs)
    figures = {
        "StepMix within a standard error": (apart < errors).mean(),
        "distance from StepMix, in standard errors": (apart / errors).mean(),
        "error": np.abs(mine.estimates[order, 0] - truth).mean(),
        "error of StepMix": np.abs(theirs - truth).mean(),
        "error, naive": np.abs(np.sort(mine.uncorrected[:, 0]) - truth).mean(),
    }
    name = f"data_bakk_response, separation {separation:g}"
    return [Found(part, name, run, float(value)) for part, value in figures.items()]


@experiment("outcomes", "seed", "jobs", runs=200)
def outcomes_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Compare outcomes between clusters whose labels are uncertain, with a known truth.

    Of StepMix's tables a quarter as many runs. Writes outcomes.csv and outcomes.md.
    """
    calls: list[Call] = [
        (judge_table, (setting, seed + run))
        for setting in (*SETTINGS, *OTHERS)
        for run in range(runs)
    ]
    calls += [
        (judge_dependent, (setting, seed + run)) for setting in DEPENDENT for run in range(runs)
    ]
    calls += [
        (compare_stepmix, (separation, seed + run))
        for separation in (0.7, 0.8, 0.9)
        for run in range(max(1, runs // 4))
    ]
    write_found(out, "outcomes", call_all(calls, jobs, "Comparing"))
