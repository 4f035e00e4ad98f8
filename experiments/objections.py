"""Whether values that are missing for a reason are taken for structure, and whether weights count.

    python -m experiments objections --runs 40 --jobs -1

One homogeneous population in eight columns, or in 60 and 100, of which cells are missing in several
ways, and tables with three groups that lose cells in the same ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.answers import fit_and_assess
from experiments.output import Call, call_all, experiment, markdown, write_both

N_COLUMNS = 8
Row = dict[str, Any]


def draw_growth(n_rows: int, rng: np.random.Generator, n_columns: int = N_COLUMNS) -> NDArray:
    """Draw several times of a curve with a random intercept and a random slope."""
    times = np.linspace(-1, 1, n_columns)
    level, slope = rng.normal(size=(2, n_rows, 1))
    return level + 0.5 * slope * times + 0.5 * rng.normal(size=(n_rows, n_columns))


def draw_factor(n_rows: int, rng: np.random.Generator, n_columns: int = N_COLUMNS) -> NDArray:
    """Draw columns with one factor in common."""
    loadings = rng.uniform(0.5, 0.9, size=n_columns)
    factor = rng.normal(size=(n_rows, 1))
    own = np.sqrt(1 - loadings**2) * rng.normal(size=(n_rows, n_columns))
    return factor * loadings + own


def draw_groups(
    distance: float, n_rows: int, rng: np.random.Generator, n_columns: int = N_COLUMNS
) -> NDArray:
    """Draw three groups, each two of them so many standard deviations apart."""
    centres = np.linalg.qr(rng.normal(size=(n_columns, 3)))[0].T * distance / np.sqrt(2)
    return rng.normal(size=(n_rows, n_columns)) + centres[np.arange(n_rows) % 3]


def drop_out(X: NDArray, rng: np.random.Generator, slope: float, lag: int) -> NDArray:
    """Lose all later cells of a row, more likely after high values: the last one or, lag 0, it.

    As many rows are complete with many columns as with eight, about.
    """
    X, least = X.copy(), 2.2 + np.log(X.shape[1] / N_COLUMNS)
    for row, chances in zip(X, rng.random(X.shape), strict=True):
        for j in range(1, X.shape[1]):
            if chances[j] < 1 / (1 + np.exp(least - slope * row[j - lag])):
                row[j:] = np.nan
                break
    return X


def skip_block(X: NDArray, rng: np.random.Generator) -> NDArray:
    """Skip the last half of the columns where the first is above 0.25."""
    X = X.copy()
    X[X[:, 0] > 0.25, X.shape[1] // 2 :] = np.nan
    return X


def skip_two_blocks(X: NDArray, rng: np.random.Generator) -> NDArray:
    """Skip two columns where the first is high, and two others where the second is low, mostly."""
    X, asked = X.copy(), rng.random((len(X), 2)) < 0.15
    X[np.ix_((X[:, 0] > 0.5) & ~asked[:, 0], (4, 5))] = np.nan
    X[np.ix_((X[:, 1] < -0.5) & ~asked[:, 1], (6, 7))] = np.nan
    return X


def cut_below(X: NDArray, rng: np.random.Generator) -> NDArray:
    """Lose the lowest 40 % of six columns: below a limit of detection."""
    X = X.copy()
    low = X[:, 2:] < np.quantile(X[:, 2:], 0.4, axis=0)
    X[:, 2:][low] = np.nan
    return X


def lose(X: NDArray, rng: np.random.Generator, share: float = 0.2) -> NDArray:
    """Lose cells at random."""
    return np.where(rng.random(X.shape) < share, np.nan, X)


Draw = Callable[[int, np.random.Generator], NDArray]
Remove = Callable[[NDArray, np.random.Generator], NDArray]
HOMOGENEOUS: dict[str, tuple[Draw, Remove]] = {
    "curves, complete": (draw_growth, lambda X, rng: X),
    "curves, drop-out at random": (draw_growth, lambda X, rng: drop_out(X, rng, 0.0, 1)),
    "curves, drop-out after a high value (MAR)": (
        draw_growth, lambda X, rng: drop_out(X, rng, 1.5, 1),
    ),
    "curves, drop-out by the lost value": (draw_growth, lambda X, rng: drop_out(X, rng, 1.5, 0)),
    "one factor, 20 % missing at random": (draw_factor, lose),
    "one factor, a block skipped (MAR)": (draw_factor, skip_block),
    "one factor, two blocks mostly skipped (MAR)": (draw_factor, skip_two_blocks),
    "one factor, below a limit": (draw_factor, cut_below),
}  # fmt: skip
for n_columns in (60, 100):
    HOMOGENEOUS |= {
        f"curves of {n_columns} times, drop-out after a high value (MAR)": (
            partial(draw_growth, n_columns=n_columns), lambda X, rng: drop_out(X, rng, 1.5, 1),
        ),
        f"one factor of {n_columns} columns, a block skipped (MAR)": (
            partial(draw_factor, n_columns=n_columns), skip_block,
        ),
    }  # fmt: skip
GROUPED: dict[str, Remove] = {
    "three groups, 20 % missing at random": lose,
    "three groups, drop-out after a high value (MAR)": lambda X, rng: drop_out(X, rng, 1.0, 1),
    "three groups, a block skipped (MAR)": skip_block,
}
N_WIDE = 60


def judge(X: NDArray, seed: int) -> Row:
    """Fit with the number of clusters chosen, and assess."""
    model, found = fit_and_assess(X, seed)
    noted = {"follows": bool(found.follows), "selected": bool(found.selected)}
    return {"answer": str(found.answer), "p_value": found.p_value, "k": model.n_clusters_, **noted}


def judge_homogeneous(name: str, n_rows: int, run: int, seed: int) -> Row:
    """Judge a table of one population."""
    rng = np.random.default_rng([seed, 1, list(HOMOGENEOUS).index(name), n_rows, run])
    draw, remove = HOMOGENEOUS[name]
    row = judge(remove(draw(n_rows, rng), rng), run)
    return {"kind": "none", "name": name, "rows": n_rows, "distance": 0.0, **row}


def judge_grouped(
    name: str, distance: float, n_rows: int, run: int, seed: int, n_columns: int = N_COLUMNS
) -> Row:
    """Judge a table of three groups."""
    rng = np.random.default_rng([seed, 2, list(GROUPED).index(name), n_rows, run])
    X = GROUPED[name](draw_groups(distance, n_rows, rng, n_columns), rng)
    row = judge(X, run)
    if n_columns > N_COLUMNS:
        name = f"{name}, {n_columns} columns"
    return {"kind": "groups", "name": name, "rows": n_rows, "distance": distance, **row}


def judge_weights(light: float, run: int, seed: int) -> Row:
    """Judge two groups, the second of which has hardly any weight."""
    from pckid import PCKID

    rng = np.random.default_rng([seed, 3, run])
    X = rng.normal(size=(160, 4)) + 6 * (np.arange(160) >= 80)[:, None]
    weights = np.where(np.arange(160) < 80, 1.0, light)
    model = PCKID("auto", random_state=run, n_jobs=1).fit(X, sample_weight=weights)
    answer = "none" if model.n_clusters_ == 1 else "groups"
    return {"kind": "weights", "name": f"second group weighs {light:g}", "rows": 160,
            "distance": 6.0, "answer": answer, "p_value": model.choice_.p_value,
            "k": model.n_clusters_}  # fmt: skip


def tabulate(rows: Sequence[Row]) -> str:
    """Tabulate the answers, in Markdown."""
    lines = []
    keys = ("kind", "name", "rows", "distance")
    for key in dict.fromkeys(tuple(row[name] for name in keys) for row in rows):
        part = [row for row in rows if tuple(row[name] for name in keys) == key]
        shares = [
            f"{np.mean([row['answer'] == answer for row in part]):.3f}"
            for answer in ("none", "structure", "groups")
        ]
        noted = np.mean([bool(row.get("follows") or row.get("selected")) for row in part])
        lines.append([key[1], key[2], f"{key[3]:g}", len(part), *shares, f"{noted:.2f}"])
    titles = ["table", "rows", "apart", "tables", "none", "structure", "groups", "noted"]
    return markdown(titles, lines)


@experiment("objections", "seed", "jobs", runs=40)
def objections_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Count answers where cells are missing for a reason, and where rows have weights.

    Writes objections.csv and objections.md.
    """
    calls: list[Call] = []
    for run in range(runs):
        calls += [(judge_homogeneous, (name, 300, run, seed)) for name in HOMOGENEOUS]
        for name in GROUPED:
            calls += [(judge_grouped, (name, 4.0, 300, run, seed))]
            calls += [(judge_grouped, (name, distance, 600, run, seed)) for distance in (4.0, 6.0)]
            calls += [
                (judge_grouped, (name, distance, 300, run, seed, N_WIDE)) for distance in (4.0, 8.0)
            ]
        if run < max(1, runs // 4):
            calls += [(judge_weights, (light, run, seed)) for light in (1.0, 1e-6)]
    rows = sorted(call_all(calls, jobs, "Judging"), key=lambda row: row["kind"])
    write_both(out, "objections", rows, tabulate(rows))
