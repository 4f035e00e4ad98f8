"""Whether rows that depend on each other are taken for groups, and groups among them are found.

    python -m experiments dependence --runs 40 --jobs -1

Tables whose rows resemble those near them in time or space, or of one person, with and without
groups, each with and without the positions or groups of its rows.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import cdist

from experiments.objections import lose
from experiments.output import Call, call_all, experiment, markdown, write_both

Row = dict[str, Any]
# A table, and where its rows are: `positions` and `groups` of a fit.
Table = tuple[NDArray, dict[str, NDArray]]
N_COLUMNS = 6
_SIDE = 100


def autoregress(
    n_rows: int, phi: float, rng: np.random.Generator, n_columns: int = N_COLUMNS
) -> NDArray:
    """Draw columns each of whose values is phi times the one before, and chance."""
    X, chance = np.empty((n_rows, n_columns)), rng.normal(size=(n_rows, n_columns))
    X[0] = chance[0]
    for i in range(1, n_rows):
        X[i] = phi * X[i - 1] + np.sqrt(1 - phi**2) * chance[i]
    return X


def in_order(X: NDArray, rng: np.random.Generator, share: float = 0.1) -> Table:
    """Lose cells of rows that follow each other in time."""
    return lose(X, rng, share), {"positions": np.arange(len(X), dtype=np.float64)}


def series(phi: float, n_rows: int = 400, share: float = 0.1) -> Callable[..., Table]:
    """Return what draws an autoregressive series."""
    return lambda rng: in_order(autoregress(n_rows, phi, rng), rng, share)


def seasons(rng: np.random.Generator) -> Table:
    """Draw two years of days with a trend and a season in each column."""
    t = np.arange(730)
    waves = [
        rng.normal() * t / 365 + 2 * np.cos(2 * np.pi * (t / 365 - rng.random()))
        for _ in range(N_COLUMNS)
    ]
    return in_order(np.stack(waves, axis=1) + autoregress(730, 0.7, rng), rng)


def kinds(rng: np.random.Generator) -> Table:
    """Draw a series with a column of two values, one of four, and two of counts among eight."""
    X = autoregress(400, 0.9, rng, 8)
    X[:, 0] = X[:, 0] > 0
    X[:, 1] = np.digitize(X[:, 1], [-1, 0, 1])
    X[:, 2:4] = rng.poisson(np.exp(np.array([1.0, 0.2]) + 0.6 * X[:, 2:4]))
    return in_order(X, rng)


def walks(n_rows: int, *, prices: bool = False) -> Callable[..., Table]:
    """Return what draws five random walks, or prices whose logarithms they are."""

    def draw(rng: np.random.Generator) -> Table:
        X = np.cumsum(rng.normal(size=(n_rows, 5)), axis=0)
        return in_order(100 * np.exp(0.01 * X) if prices else X, rng, 0.08)

    return draw


def field(places: NDArray, reach: float, rng: np.random.Generator, n_columns: int) -> NDArray:
    """Draw smooth fields at places (n, 2), their correlation exp(−(h / reach)²)."""
    R = np.exp(-((cdist(places, places) / reach) ** 2)) + 1e-6 * np.eye(len(places))
    return np.linalg.cholesky(R) @ rng.normal(size=(len(places), n_columns))


def scattered(reach: float, noise: float = 0.0, holes: float = 0.0) -> Callable[..., Table]:
    """Return what draws fields at 400 random places of a map of size 1, with a nugget."""

    def draw(rng: np.random.Generator) -> Table:
        places = rng.random((400, 2))
        X = field(places, reach, rng, N_COLUMNS)
        X = np.sqrt(1 - noise) * X + np.sqrt(noise) * rng.normal(size=X.shape)
        places[rng.random(400) < holes] = np.nan
        return lose(X, rng, 0.1), {"positions": places}

    return draw


def clouds(rng: np.random.Generator, n_dates: int) -> NDArray:
    """Draw clouds over a scene (n_dates, 100, 100), each over 5 to 60 % of it."""
    smooth = [gaussian_filter(rng.normal(size=(_SIDE, _SIDE)), 8) for _ in range(n_dates)]
    return np.stack([each < np.quantile(each, rng.uniform(0.05, 0.6)) for each in smooth])


def scene(smoothing: float, n_rows: int = 2000) -> Callable[..., Table]:
    """Return what draws pixels of twelve dates under clouds, smooth over so many pixels."""

    def draw(rng: np.random.Generator) -> Table:
        X = rng.normal(size=(_SIDE, _SIDE, 12))
        X = gaussian_filter(X, (smoothing, smoothing, 0)) if smoothing else X
        X = X / X.std(axis=(0, 1)) @ (np.eye(12) + 0.17 * rng.normal(size=(12, 12)))
        X[np.moveaxis(clouds(rng, 12), 0, -1)] = np.nan
        return some_pixels(X, n_rows, rng)

    return draw


def some_pixels(scene: NDArray, n_rows: int, rng: np.random.Generator) -> Table:
    """Draw pixels of a scene (100, 100, n_columns) that have a value."""
    X = scene.reshape(-1, scene.shape[-1])
    seen = np.flatnonzero(~np.isnan(X).all(axis=1))
    rows = np.sort(rng.choice(seen, n_rows, replace=False))
    places = np.indices((_SIDE, _SIDE)).reshape(2, -1).T.astype(np.float64)
    return X[rows], {"positions": places[rows]}


def persons(
    n_persons: int, n_visits: int, alike: float, apart: float = 0.0
) -> Callable[..., Table]:
    """Return what draws visits of persons; of two kinds, so many standard deviations apart."""

    def draw(rng: np.random.Generator) -> Table:
        groups = np.repeat(np.arange(n_persons), n_visits)
        X = np.sqrt(alike) * rng.normal(size=(n_persons, N_COLUMNS))[groups]
        X += np.sqrt(1 - alike) * rng.normal(size=X.shape)
        X += apart * direction(rng) * (groups % 2)[:, None]
        return lose(X, rng, 0.1), {"groups": groups}

    return draw


def visits(rng: np.random.Generator) -> Table:
    """Draw forty persons at 25 times, each of which resembles the time before."""
    groups, times = np.repeat(np.arange(40), 25), np.tile(np.arange(25.0), 40)
    X = np.concatenate([autoregress(25, 0.8, rng) for _ in range(40)])
    X += rng.normal(size=(40, N_COLUMNS))[groups]
    return lose(X, rng, 0.1), {"groups": groups, "positions": times}


def repeated(rng: np.random.Generator) -> Table:
    """Draw sixty independent rows, and give each five times."""
    groups = np.repeat(np.arange(60), 5)
    return lose(rng.normal(size=(60, N_COLUMNS)), rng, 0.1)[groups], {"groups": groups}


def stations(rng: np.random.Generator) -> Table:
    """Draw forty stations on a map, each on 25 days that resemble the day before."""
    places = rng.random((40, 2))
    days = [field(places, 0.3, rng, N_COLUMNS)]
    for _ in range(24):
        days.append(0.8 * days[-1] + 0.6 * field(places, 0.3, rng, N_COLUMNS))
    first = datetime.date(2024, 3, 1)
    dates = [first + datetime.timedelta(days=t) for t in range(25) for _ in places]
    positions = np.empty((1000, 3), dtype=object)
    positions[:, :2], positions[:, 2] = np.tile(places, (25, 1)), dates
    return lose(np.concatenate(days), rng, 0.1), {"positions": positions}


def shuffled(rng: np.random.Generator) -> Table:
    """Draw three groups, 4 standard deviations apart, whose rows are in no order."""
    centres = np.linalg.qr(rng.normal(size=(N_COLUMNS, 3)))[0].T * 4 / np.sqrt(2)
    X = centres[rng.integers(3, size=400)] + rng.normal(size=(400, N_COLUMNS))
    return in_order(X, rng)


def direction(rng: np.random.Generator) -> NDArray:
    """Draw a direction (6,) of length 1."""
    found = rng.normal(size=N_COLUMNS)
    return found / np.linalg.norm(found)


def regimes(apart: float) -> Callable[..., Table]:
    """Return what draws a series with two states, each of which lasts fifty rows in the mean."""

    def draw(rng: np.random.Generator) -> Table:
        lengths = rng.exponential(40, size=60).astype(int) + 10
        state = np.repeat(np.arange(60) % 2, lengths)[:400]
        X = autoregress(400, 0.7, rng) + apart * direction(rng) * state[:, None]
        return in_order(X, rng)

    return draw


def patches(apart: float) -> Callable[..., Table]:
    """Return what draws pixels of three classes in patches, with smooth noise within."""

    def draw(rng: np.random.Generator) -> Table:
        smooth = [gaussian_filter(rng.normal(size=(_SIDE, _SIDE)), 7.5) for _ in range(3)]
        classes = np.argmax(smooth, axis=0)
        centres = np.linalg.qr(rng.normal(size=(N_COLUMNS, 3)))[0].T * apart / np.sqrt(2)
        noise = gaussian_filter(rng.normal(size=(_SIDE, _SIDE, N_COLUMNS)), (3, 3, 0))
        X = centres[classes] + noise / noise.std(axis=(0, 1))
        X[rng.random(X.shape) < 0.1] = np.nan
        return some_pixels(X, 2000, rng)

    return draw


NONE: dict[str, Callable[..., Table]] = {
    "400 rows, AR(1) 0.9": series(0.9),
    "400 rows, AR(1) 0.97": series(0.97),
    "400 rows, AR(1) 0.97, 40 % missing": series(0.97, share=0.4),
    "2,000 rows, AR(1) 0.9": series(0.9, 2000),
    "trend and season, 730 days": seasons,
    "AR(1) 0.9, categories and counts": kinds,
    "1,500 rows, random walks": walks(1500),
    "1,000 rows, prices": walks(1000, prices=True),
    "pixels, smooth over 5": scene(5),
    "pixels, smooth over 10": scene(10),
    "pixels, smooth over 25": scene(25),
    "400 places, range 0.15": scattered(0.15),
    "400 places, range 0.5, nugget 0.3": scattered(0.5, noise=0.3),
    "400 places, range 0.15, a tenth unknown": scattered(0.15, holes=0.1),
    "60 persons × 5 visits, 0.5": persons(60, 5, 0.5),
    "12 persons × 25 visits, 0.3": persons(12, 25, 0.3),
    "40 persons × 25 times": visits,
    "60 rows, each five times": repeated,
    "40 stations × 25 days": stations,
    "independent rows": series(0.0),
    "independent pixels": scene(0),
}
GROUPS: dict[str, Callable[..., Table]] = {
    "three classes in patches, 3.5 sd": patches(3.5),
    "three classes in patches, 5 sd": patches(5.0),
    "two regimes in time, 3.5 sd": regimes(3.5),
    "two regimes in time, 5 sd": regimes(5.0),
    "two kinds of persons, 4 sd": persons(60, 5, 0.5, 4.0),
    "two kinds of persons, 5 sd": persons(60, 5, 0.5, 5.0),
    "three groups in no order, 4 sd": shuffled,
}
FAMILIES = NONE | GROUPS
INDEPENDENT = ("independent rows", "independent pixels", "three groups in no order, 4 sd")
"""Rows whose positions tell nothing: the answer is the same with and without them."""


def judge(name: str, run: int, seed: int, told: bool) -> Row:
    """Choose k for a table and assess it, told where its rows are or not."""
    from pckid import PCKID, assess

    rng = np.random.default_rng([seed, list(FAMILIES).index(name), run])
    X, given = FAMILIES[name](rng)
    given = given if told else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PCKID(random_state=run, n_jobs=1).fit(X, **given)
        found = assess(model, X, n_resamples=0, n_jobs=1)
    return {
        "kind": "groups" if name in GROUPS else "none",
        "name": name,
        "run": run,
        "told": told,
        "k": model.n_clusters_,
        "p_value": found.p_value,
        "answer": str(found.answer),
        "n_effective": np.inf if found.dependence is None else found.dependence.n_effective,
    }


def tabulate(rows: Sequence[Row]) -> str:
    """Tabulate the shares of tables with groups or structure, and with gaps, in Markdown."""
    lines = []
    for name in dict.fromkeys(row["name"] for row in rows):
        cells: list[str] = []
        for told in (False, True):
            part = [row for row in rows if row["name"] == name and row["told"] is told]
            claims = [row["answer"] in ("groups", "structure") for row in part]
            gaps = [row["answer"] == "groups" for row in part]
            cells += [f"{np.mean(claims):.2f}", f"{np.mean(gaps):.2f}"]
        told_rows = [row for row in rows if same(row, name, told=True)]
        alone = [row["k"] == 1 for row in told_rows]
        undecided = [row["answer"] == "undecided" for row in told_rows]
        cells += [f"{np.mean(undecided):.2f}", f"{np.mean(alone):.2f}"]
        lines.append([name, len(alone), *cells])
    agreed = [agree(rows, name) for name in INDEPENDENT if any(row["name"] == name for row in rows)]
    titles = ["rows", "tables", "not told: claims", "gaps"]
    titles += ["told: claims", "gaps", "undecided", "k = 1"]
    said = f"The same answer and k for independent rows, told or not: {np.mean(agreed):.3f}."
    return f"{markdown(titles, lines)}\n{said}\n"


def agree(rows: Sequence[Row], name: str) -> float:
    """Return the share of tables whose answer and k are the same, told or not."""
    told, plain = (
        {row["run"]: (row["answer"], row["k"]) for row in rows if same(row, name, told)}
        for told in (True, False)
    )
    return float(np.mean([told[run] == plain[run] for run in told]))


def same(row: Row, name: str, told: bool) -> bool:
    """Whether a row is of a family, told or not."""
    return row["name"] == name and row["told"] is told


@experiment("dependence", "seed", "jobs", runs=40)
def dependence_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Count answers where rows depend on each other, with and without their positions.

    Writes dependence.csv and dependence.md.
    """
    calls: list[Call] = [
        (judge, (name, run, seed, told))
        for run in range(runs)
        for name in FAMILIES
        for told in (False, True)
    ]
    found = call_all(calls, jobs, "Judging")
    order = list(FAMILIES)
    rows = sorted(found, key=lambda row: (order.index(row["name"]), row["run"], row["told"]))
    write_both(out, "dependence", rows, tabulate(rows))
