"""What else people do about rows that depend on each other, on the tables of `dependence`.

    python -m experiments dependence-rivals --runs 40 --jobs -1

- *thinned*: the table is judged by one row of each group, or of each block as wide as rows depend
  on each other, as if these were independent;
- *block bootstrap*: k-means clusters are believed if each is found again (Jaccard index 0.75 in the
  mean, Hennig 2007) in tables of whole groups or blocks drawn with replacement;
- *spatial null*: the mean silhouette of k-means is compared with that of Gaussian tables whose rows
  have the correlation that a Gaussian process finds in the first component (Hennig and Lin 2015).
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from experiments.dependence import FAMILIES, GROUPS, Row
from experiments.output import Call, call_all, experiment, markdown, write_both
from pckid import PCKID, assess
from pckid.input.arrangement import Arrangement, split_arrangement

_MAX_ROWS = 400
_NUMBERS = range(2, 7)
_N_DRAWS, _FOUND = 50, 0.75
_N_NULL, _LEVEL = 39, 0.05
RIVALS = ("thinned", "block bootstrap", "spatial null")


def complete(X: NDArray) -> NDArray:
    """Put means where cells are missing, and standardise."""
    return StandardScaler().fit_transform(SimpleImputer().fit_transform(X))


def best_clusters(X: NDArray, seed: int) -> tuple[float, NDArray]:
    """Cluster complete rows by k-means into the number of highest silhouette."""
    found = [KMeans(k, n_init=3, random_state=seed).fit_predict(X) for k in _NUMBERS]
    heights = [silhouette_score(X, labels) for labels in found]
    return max(heights), found[int(np.argmax(heights))]


def thinned(X: NDArray, blocks: NDArray, seed: int) -> bool:
    """Judge one random row of each block."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    rows = order[np.unique(blocks[order], return_index=True)[1]]
    if len(rows) < 20:
        return False
    model = PCKID(random_state=seed, n_jobs=1).fit(X[rows])
    return bool(assess(model, X[rows], n_resamples=0, n_jobs=1).has_groups)


def block_bootstrap(X: NDArray, blocks: NDArray, seed: int) -> bool:
    """Whether each cluster is found again in tables of whole blocks."""
    rng, X = np.random.default_rng(seed), complete(X)
    _, labels = best_clusters(X, seed)
    k, numbers = int(labels.max()) + 1, np.unique(blocks)
    members = {number: np.flatnonzero(blocks == number) for number in numbers}
    found = np.zeros((_N_DRAWS, k))
    for draw in range(_N_DRAWS):
        rows = np.concatenate([members[b] for b in rng.choice(numbers, len(numbers))])
        rows = np.unique(rows)
        if len(rows) <= k:
            continue
        others = KMeans(k, n_init=1, random_state=draw).fit_predict(X[rows])
        for a in range(k):
            mine = labels[rows] == a
            shares = [(mine & (others == b)).sum() / (mine | (others == b)).sum() for b in range(k)]
            found[draw, a] = max(shares)
    return bool((found.mean(axis=0) >= _FOUND).all())


def spatial_null(X: NDArray, arrangement: Arrangement, seed: int) -> bool:
    """Whether the silhouette is above that of Gaussian tables with the correlation of rows."""
    rng, X = np.random.default_rng(seed), complete(X)
    own, _ = best_clusters(X, seed)
    if arrangement.positions is None:
        R = np.where(arrangement.distances(np.arange(len(X)), np.arange(len(X))) == 0, 1.0, 0.0)
        shares = np.array([(R @ x - x) @ x / ((R.sum(axis=0) - 1) @ x**2) for x in X.T])
        R = shares.mean() * R + (1 - shares.mean()) * np.eye(len(X))
    else:
        places = arrangement.positions / np.nanstd(arrangement.positions, axis=0)
        first = np.linalg.svd(X, full_matrices=False)[0][:, 0]
        kernel = ConstantKernel(1.0) * Matern(0.2, nu=0.5) + WhiteKernel(0.3)
        fitted = GaussianProcessRegressor(kernel).fit(places, first / first.std())
        R = fitted.kernel_(places)
        if arrangement.groups is not None:
            R *= arrangement.groups[:, None] == arrangement.groups
    root = np.linalg.cholesky(R + 1e-6 * np.eye(len(X)))
    columns = np.linalg.cholesky(np.corrcoef(X.T) + 1e-6 * np.eye(X.shape[1]))
    null = []
    for _ in range(_N_NULL):
        table = root @ rng.normal(size=X.shape) @ columns.T
        null.append(best_clusters(StandardScaler().fit_transform(table), seed)[0])
    return (1 + sum(each >= own for each in null)) / (_N_NULL + 1) <= _LEVEL


def judge(name: str, run: int, seed: int) -> list[Row]:
    """Ask the rivals whether a table holds groups."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(name), run])
    X, given = FAMILIES[name](rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PCKID(random_state=run, n_jobs=1).fit(X, **given)
        how = assess(model, X, n_resamples=0, n_jobs=1).dependence
        _, arrangement, _ = split_arrangement(X, **given)
        assert arrangement is not None
        known = np.flatnonzero(arrangement.are_known & ~np.isnan(X).all(axis=1))
        rows = np.sort(rng.permutation(known)[:_MAX_ROWS])
        X, arrangement = X[rows], arrangement.take(rows)
        blocks = np.arange(len(X))
        if how is not None or arrangement.groups is not None:
            size, pace = (0.0, 1.0) if how is None else (how.reach, how.pace)
            blocks = arrangement.blocks(size, pace)
        answers = {
            "thinned": thinned(X, blocks, run),
            "block bootstrap": block_bootstrap(X, blocks, run),
            "spatial null": spatial_null(X, arrangement, run),
        }
    return [
        {"name": name, "run": run, "rival": rival, "claims": claims}
        for rival, claims in answers.items()
    ]


@experiment("dependence-rivals", "seed", "jobs", runs=40)
def dependence_rivals_command(runs: int, seed: int, jobs: int, out: Path) -> None:
    """Count how often other methods find groups where rows depend on each other.

    Writes dependence_rivals.csv and dependence_rivals.md.
    """
    calls: list[Call] = [(judge, (name, run, seed)) for run in range(runs) for name in FAMILIES]
    rows = [row for found in call_all(calls, jobs, "Judging") for row in found]
    lines = []
    for name in FAMILIES:
        shares = [
            np.mean([r["claims"] for r in rows if (r["name"], r["rival"]) == (name, rival)])
            for rival in RIVALS
        ]
        kind = "yes" if name in GROUPS else "no"
        lines.append([name, kind, *(f"{share:.2f}" for share in shares)])
    order = list(FAMILIES)
    rows.sort(key=lambda row: (order.index(row["name"]), row["run"], row["rival"]))
    write_both(out, "dependence_rivals", rows, markdown(["rows", "groups", *RIVALS], lines))
