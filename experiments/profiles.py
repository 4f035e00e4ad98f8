"""Do descriptions of clusters name columns of noise?

Groups that three columns of 53 tell apart, in tables that lack a fifth of their cells. Clusters are
described twice: the groups themselves, which the other columns have nothing to do with, and what
PCKID finds, with the verdict on it. Found clusters are cut along columns of noise, too, where few
columns tell: these then differ in the rows at hand, whatever a threshold says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.output import Found, call_all, experiment, write_found
from pckid import PCKID, assess
from pckid.describe.clusters import differences_to_nearest, distinguishing_features
from pckid.describe.descriptions import ClusterDescription, Trait, describe_cluster

MISSING = 0.2
N_NOISE = 50
SHIFT = 5.0  # of a group, in the column that sets it apart


class Design(NamedTuple):
    """Groups of equal size, in columns of standard deviation 1 within a group."""

    name: str
    n_rows: int
    n_groups: int
    n_telling: int  # columns, each of which sets one group apart
    weak: float = 0.0  # how far the first group is from the others in one further column


DESIGNS = (
    Design("60 rows, 3 groups", 60, 3, 3),
    Design("150 rows, 6 groups", 150, 6, 3),
    Design("150 rows, 3 groups, noise alone", 150, 3, 0),
    Design("150 rows, 2 groups, a column 1 sd apart", 150, 2, 1, weak=1.0),
    Design("300 rows, 2 groups, a column 1 sd apart", 300, 2, 1, weak=1.0),
)


def draw(design: Design, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows (n, d) and their groups (n,): telling columns, then a weak one, then noise."""
    rng = np.random.default_rng(seed)
    groups = np.arange(design.n_rows) % design.n_groups
    shifts = [SHIFT * (groups == each) for each in range(design.n_telling)]
    if design.weak:
        shifts.append(design.weak * (groups == 0))
    shifts += [np.zeros(design.n_rows)] * N_NOISE
    X = rng.standard_normal((design.n_rows, len(shifts))) + np.stack(shifts, axis=1)
    return np.where(rng.random(X.shape) < MISSING, np.nan, X), groups


def describe_all(X: np.ndarray, labels: np.ndarray, has_groups: bool) -> list[ClusterDescription]:
    """Describe the clusters of rows (n, d) with labels (n,); columns are named by numbers."""
    ranked = distinguishing_features(X, labels)
    nearest = differences_to_nearest(X, labels, ranked)

    def named(items: Sequence) -> list:
        return [(str(item.feature), item) for item in items]

    return [
        describe_cluster(
            named(items),
            len(ranked),
            nearest=None if near is None else (near[0], named(near[1])),
            has_groups=has_groups,
        )
        for items, near in zip(ranked, nearest, strict=True)
    ]


def columns_of(traits: Sequence[Trait]) -> set[int]:
    """List the columns that traits are about."""
    return {int(part.text) for trait in traits for part in trait.words if part.kind == "name"}


def measure(design: Design, run: int, clusters: str, found: list[ClusterDescription]) -> Iterator:
    """Compute the shares of clusters that name noise, and the weak column where there is one."""
    first_noise = design.n_telling + bool(design.weak)
    leading = [columns_of(each.traits) if each.lead == "Stands out by" else set() for each in found]
    beside = [columns_of(each.differences) for each in found]

    def share(hits: list[bool]) -> float:
        return float(np.mean(hits))

    where = f"{design.name}: {clusters}"
    noise = [any(j >= first_noise for j in mine) for mine in leading]
    yield Found("stands out by noise", where, run, share(noise))
    if design.n_groups > 2:
        noise = [any(j >= first_noise for j in mine) for mine in beside]
        yield Found("differs from the nearest by noise", where, run, share(noise))
    if design.weak:
        named = [design.n_telling in mine for mine in leading]
        yield Found("stands out by the column 1 sd apart", where, run, share(named))


def describe_table(design: Design, run: int, seed: int) -> list[Found]:
    """Describe the groups of one table, and the clusters that are found there."""
    X, groups = draw(design, seed)
    found = list(measure(design, run, "the groups", describe_all(X, groups, True)))
    if design.weak:
        return found
    model = PCKID(design.n_groups, random_state=seed).fit(X)
    verdict = assess(model, X, n_resamples=1).has_groups is not False
    labels = model.labels_
    where = f"{design.name}: found"
    found.append(Found("groups or structure by the verdict", where, run, float(verdict)))
    return found + list(measure(design, run, "found", describe_all(X, labels, verdict)))


@experiment("profiles", "seed", "jobs", runs=40)
def profiles_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Count how often descriptions of clusters name columns of noise.

    Writes profiles.csv and profiles.md.
    """
    calls = [
        (describe_table, (design, run, seed + run)) for design in DESIGNS for run in range(runs)
    ]
    write_found(out, "profiles", call_all(calls, jobs, "Describing"))
