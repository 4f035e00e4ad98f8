"""Whether scores of rows mean what they say: `python -m experiments scores`.

Three tables on simulated data. How many clean rows have an outlier score above 3, and how many
with one wrong value; how many rows keep their cluster with a model of resampled or of other rows,
beside their confidence; and how many change cluster once their missing values are known, beside
`missing_instability`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from experiments.output import call_all, experiment, markdown, write_text
from pckid import PCKID
from pckid.spectral.membership import match_labels

Draw = Callable[[int], NDArray]
N_NEW = 1000
SHARE_WRONG = 0.02
EDGES = (0.0, 0.1, 0.3, 0.5, 1.0)


def one_gaussian(rng: np.random.Generator, n_columns: int = 8) -> Draw:
    """Draw rows of one Gaussian, every two columns correlated by 0.3."""
    return lambda n: 0.3**0.5 * rng.normal(size=(n, 1)) + 0.7**0.5 * rng.normal(size=(n, n_columns))


def heavy_tails(rng: np.random.Generator) -> Draw:
    """Draw rows of eight columns, each a t distribution with 3 degrees of freedom."""
    return lambda n: rng.standard_t(3, size=(n, 8))


def groups_of_rows(
    rng: np.random.Generator, apart: float, n_groups: int = 3, n_columns: int = 8
) -> Draw:
    """Draw rows of Gaussian groups; two centres are about `apart` standard deviations apart."""
    centers = rng.normal(size=(n_groups, n_columns)) * apart / np.sqrt(2 * n_columns)
    return lambda n: centers[rng.integers(n_groups, size=n)] + rng.normal(size=(n, n_columns))


OUTLIER_DESIGNS: dict[str, tuple[Callable[[np.random.Generator], Draw], float]] = {
    "one Gaussian, 8 columns": (one_gaussian, 0.0),
    "one Gaussian, 15 columns, 20 % missing": (lambda rng: one_gaussian(rng, 15), 0.2),
    "t with 3 degrees of freedom, 8 columns": (heavy_tails, 0.0),
    "three groups 12 sd apart, 8 columns": (lambda rng: groups_of_rows(rng, 12.0), 0.0),
    "three groups 20 sd apart, 8 columns": (lambda rng: groups_of_rows(rng, 20.0), 0.0),
}
"""How rows are drawn, and the share of cells that are then removed, by name."""

CONFIDENCE_DESIGNS: dict[str, tuple[Callable[[np.random.Generator], Draw], int]] = {
    "three groups 4 sd apart": (lambda rng: groups_of_rows(rng, 4.0), 3),
    "three groups 5 sd apart": (lambda rng: groups_of_rows(rng, 5.0, 3, 5), 3),
    "five groups 7 sd apart": (lambda rng: groups_of_rows(rng, 7.0, 5, 12), 5),
    "no groups, k = 3": (one_gaussian, 3),
}
"""How rows are drawn, and the number of clusters, by name."""


def _lose_at_random(X: NDArray, rng: np.random.Generator) -> NDArray:
    return rng.random(X.shape) < 0.35


def _lose_by_observed(X: NDArray, rng: np.random.Generator) -> NDArray:
    chance = 1 / (1 + np.exp(-1.5 * (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()))
    return (rng.random(X.shape) < chance[:, None]) & (np.arange(X.shape[1]) >= 3)


def _lose_a_block(X: NDArray, rng: np.random.Generator) -> NDArray:
    return (rng.random((len(X), 1)) < 0.5) & (np.arange(X.shape[1]) < 4)


def _lose_the_high(X: NDArray, rng: np.random.Generator) -> NDArray:
    chance = 0.7 / (1 + np.exp(-3 * (X - X.mean(axis=0)) / X.std(axis=0)))
    return rng.random(X.shape) < chance


MECHANISMS = {
    "35 % of the cells, at random": _lose_at_random,
    "five columns, the likelier the higher the first": _lose_by_observed,
    "a block of four columns, at random": _lose_a_block,
    "the higher a value, the likelier it is lost": _lose_the_high,
}
"""Which cells are lost; only the last is not at random, given what is observed."""


class OutlierShares(NamedTuple):
    """Shares of rows with a score above 3: of the fit and new, clean and with one wrong value."""

    own: float
    new: float
    own_wrong: float
    new_wrong: float


def _spoil(X: NDArray, rows: NDArray, rng: np.random.Generator) -> None:
    """Move one value of some rows (n, d) by 5 standard deviations within groups, which are 1."""
    columns = rng.integers(X.shape[1], size=len(rows))
    X[rows, columns] += 5 * rng.choice([-1.0, 1.0], len(rows))


def observe_outliers(name: str, n_rows: int, seed: int) -> OutlierShares:
    """Count outliers in a table, and among new rows of the same kind.

    Clean rows come from a fit to clean rows; wrong ones, which are complete, are 2 % of the rows of
    another fit, and new rows of the first.
    """
    rng = np.random.default_rng([seed, n_rows])
    make, share = OUTLIER_DESIGNS[name]
    draw = make(rng)

    def remove(X: NDArray) -> NDArray:
        X[rng.random(X.shape) < share] = np.nan
        return X[~np.isnan(X).all(axis=1)]

    X, new, wrong = draw(n_rows), draw(N_NEW), draw(N_NEW)
    _spoil(wrong, np.arange(N_NEW), rng)
    spoilt, n_wrong = X.copy(), max(1, round(SHARE_WRONG * n_rows))
    _spoil(spoilt, np.arange(n_wrong), rng)
    model = PCKID(3, random_state=seed, n_jobs=1).fit(remove(X))
    other = PCKID(3, random_state=seed, n_jobs=1).fit(spoilt)
    scores = (
        model.outlier_score_,
        model.outlier_score(remove(new)),
        other.outlier_score_[:n_wrong],
        model.outlier_score(wrong),
    )
    return OutlierShares(*(float((each > 3).mean()) for each in scores))


class Kept(NamedTuple):
    """Mean confidence, and the shares of rows that kept their cluster."""

    confidence: float
    resampled: float
    fresh: float


def observe_confidence(name: str, n_rows: int, seed: int) -> Kept:
    """Fit to rows, a fifth of the cells missing, to resampled rows and to other rows."""
    rng = np.random.default_rng([seed, n_rows, 1])
    make, k = CONFIDENCE_DESIGNS[name]
    draw = make(rng)

    def rows() -> NDArray:
        X = draw(n_rows)
        X[rng.random(X.shape) < 0.2] = np.nan
        return X[~np.isnan(X).all(axis=1)]

    X = rows()
    model = PCKID(k, random_state=seed, n_jobs=1).fit(X)
    kept = []
    for others in (X[rng.integers(len(X), size=len(X))], rows()):
        again = PCKID(k, random_state=seed + 1, n_jobs=1).fit(others).predict(X)
        kept.append(float((match_labels(model.labels_, again, k) == model.labels_).mean()))
    return Kept(float(model.confidence_.mean()), *kept)


def observe_instability(name: str, k: int, seed: int) -> tuple[NDArray, NDArray]:
    """Say how likely rows change cluster (n,), and see whether they do (n,); two or three groups.

    300 rows of seven columns.
    """
    rng = np.random.default_rng([seed, k, 2])
    X = groups_of_rows(rng, 4.5, k, 7)(300)
    holed = np.where(MECHANISMS[name](X, rng), np.nan, X)
    some = ~np.isnan(holed).all(axis=1)
    X, holed = X[some], holed[some]
    model = PCKID(k, random_state=seed, n_jobs=1).fit(holed)
    rows = np.isnan(holed).any(axis=1)
    said = model.missing_instability(holed[rows])
    return said, model.predict(X[rows]) != model.predict(holed[rows])


def _with_errors(values: Sequence[Sequence[float]], digits: int) -> list[str]:
    """Write the means of runs (n_runs, n_columns), each ± its standard error."""
    found = np.array(values)
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    pairs = zip(found.mean(axis=0), errors, strict=True)
    return [f"{mean:.{digits}f} ± {error:.{digits}f}" for mean, error in pairs]


def write_bins(said: NDArray, changed: NDArray) -> list[str]:
    """Write what was said (n,) and seen (n,) by what was said; "–" below 30 rows."""
    place = np.clip(np.searchsorted(EDGES, said, side="left") - 1, 0, len(EDGES) - 2)
    cells = []
    for number in range(len(EDGES) - 1):
        mine = place == number
        found = f"{said[mine].mean():.2f}, {changed[mine].mean():.2f}" if mine.sum() >= 30 else "–"
        cells.append(found)
    return [*cells, f"{said.mean():.3f}, {changed.mean():.3f}"]


def _by_design(observe: Callable, designs: dict[tuple, int], seed: int, jobs: int) -> list[list]:
    """Observe each design, its name and size, in so many runs."""
    calls = [
        (observe, (*design, seed + run)) for design, runs in designs.items() for run in range(runs)
    ]
    found = iter(call_all(calls, jobs, "Observing"))
    return [[next(found) for _ in range(runs)] for runs in designs.values()]


def outlier_table(runs: int, seed: int, jobs: int) -> str:
    """Tabulate shares of outliers in per cent, more runs of small tables than of large ones."""
    sizes = {100: runs, 300: max(2, runs // 2), 1000: max(2, runs // 4)}
    designs = {(name, n): count for name in OUTLIER_DESIGNS for n, count in sizes.items()}
    found = _by_design(observe_outliers, designs, seed, jobs)
    lines = [
        [*design, *_with_errors(np.array(shares) * [100, 100, 1, 1], 2)]
        for design, shares in zip(designs, found, strict=True)
    ]
    titles = ["% of fit above 3", "% of new rows", "wrong rows of a fit", "wrong new rows"]
    return markdown(["rows", "n", *titles], lines)


def confidence_table(runs: int, seed: int, jobs: int) -> str:
    """Tabulate mean confidence beside the shares of rows that keep their cluster."""
    designs = {(name, n): runs for name in CONFIDENCE_DESIGNS for n in (150, 400)}
    found = _by_design(observe_confidence, designs, seed, jobs)
    lines = [[*name, *_with_errors(kept, 3)] for name, kept in zip(designs, found, strict=True)]
    titles = ["mean confidence", "kept with resampled rows", "kept with other rows"]
    return markdown(["rows", "n", *titles], lines)


def instability_table(runs: int, seed: int, jobs: int) -> str:
    """Tabulate the chances that were said and the shares that changed, by what was said."""
    designs = {(name, k): runs for name in MECHANISMS for k in (2, 3)}
    found = _by_design(observe_instability, designs, seed, jobs)
    lines = [
        [*design, *write_bins(*map(np.concatenate, zip(*pairs, strict=True)))]
        for design, pairs in zip(designs, found, strict=True)
    ]
    return markdown(["lost", "k", *(f"{a:g} to {b:g}" for a, b in pairwise(EDGES)), "all"], lines)


TABLES = {
    "outliers": outlier_table,
    "confidence": confidence_table,
    "instability": instability_table,
}


@click.argument("parts", nargs=-1, type=click.Choice(list(TABLES)))
@experiment("scores", "seed", "jobs", runs=20)
def scores_command(parts: Sequence[str], runs: int, seed: int, jobs: int, out: Path) -> None:
    """Tabulate outlier scores, confidence and missing_instability beside what they say.

    Writes scores.md; all PARTS unless some are named.
    """
    write_text(out, "scores", "\n".join(TABLES[part](runs, seed, jobs) for part in parts or TABLES))
