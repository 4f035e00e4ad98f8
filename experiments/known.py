"""What a few known rows bring: `python -m experiments known`.

Of every class 1, 3 or 10 rows are known, drawn anew in each of the runs, as is the table. Each
method says the class of all other rows. Without known rows, PCKID's clusters have no names: they
get those that fit the truth best, which nobody would know, or those that fit the known rows best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import KNNImputer
from sklearn.semi_supervised import LabelSpreading

from experiments import tables
from experiments.datasets import Case, varying
from experiments.datasets.benchmark import cases_of, plain_name
from experiments.output import call_all, experiment, markdown, write_both
from experiments.resampling import interval
from experiments.run import seeds
from pckid import PCKID
from pckid.metrics import clustering_accuracy

N_KNOWN = (1, 3, 10)
WRONG = 0.1
LITTLE = 0.03
OWN, MATCHED, UNKNOWN, NAMED = (
    "PCKID",
    "PCKID, best match",
    "PCKID without, best match",
    "PCKID without, named by known rows",
)
_WRONG = ", 10 % wrong"
LISTED = ("wrong known rows listed as conflicts", "right known rows listed as conflicts")


class Result(NamedTuple):
    """The accuracy of one method on the rows of one table whose class is not known.

    Or the share of known rows that were listed as conflicts, see `LISTED`.
    """

    dataset: str
    setting: str
    run: int
    n_known: int
    method: str
    accuracy: float


def _spread(kernel: str) -> Callable[[NDArray, NDArray, int], NDArray]:
    return lambda X, y, seed: LabelSpreading(kernel=kernel).fit(X, y).transduction_


def _classify(X: NDArray, y: NDArray, seed: int) -> NDArray:
    return RandomForestClassifier(random_state=seed).fit(X[y >= 0], y[y >= 0]).predict(X)


PEERS = {
    "LabelSpreading, rbf": _spread("rbf"),
    "LabelSpreading, knn": _spread("knn"),
    "random forest": _classify,
}
"""Functions of complete rows, classes with −1 where unknown, and a seed."""


def draw_known(
    y: NDArray, filled: NDArray, n_known: int, wrong: float, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Draw rows of every class (0, 1, ...), at most all but one; with the classes said of them.

    `filled` (n,) tells which rows have a value in a column that varies.
    """
    rows = [np.flatnonzero((y == c) & filled) for c in range(y.max() + 1)]
    drawn = [rng.choice(r, min(n_known, max(len(r) - 1, 1)), replace=False) for r in rows]
    chosen = np.concatenate(drawn)
    said = y[chosen]
    for place in np.flatnonzero(rng.random(len(said)) < wrong):
        # A class whose every known row were wrong would not be among the groups any more.
        if (said == said[place]).sum() > 1:
            said[place] = (said[place] + rng.integers(1, len(rows))) % len(rows)
    return chosen, said


def fit_known(
    X: NDArray, rows: NDArray, said: NDArray, k: int, seed: int
) -> tuple[NDArray, list[int]]:
    """Fit PCKID with known rows; the classes of all rows (n,), and the known rows in conflict."""
    known = np.full(len(X), -1)
    known[rows] = said
    model = PCKID(k, random_state=seed, n_jobs=1).fit(X, known=known)
    names = np.array([int(name) for name in model.cluster_names_])
    return names[model.labels_], [conflict.row for conflict in model.known_conflicts_]


def name_clusters(shares: NDArray, rows: NDArray, said: NDArray) -> NDArray:
    """Name clusters by the known rows; `shares` (n, k) are memberships. Returns classes (n,)."""
    scores = np.zeros((shares.shape[1], shares.shape[1]))
    np.add.at(scores, said, shares[rows])
    scores /= np.maximum(np.bincount(said, minlength=len(scores)), 1)[:, None]
    classes, clusters = linear_sum_assignment(scores, maximize=True)
    return classes[np.argsort(clusters)][shares.argmax(axis=1)]


def observe_case(case: Case, run: int, seed: int, max_rows: int) -> list[Result]:
    """Observe every method on one table."""
    table_seed, method_seed = seeds(seed, case, run)
    rng = np.random.default_rng(table_seed)
    X, y = case.draw(table_seed)
    rows = rng.permutation(np.flatnonzero(~np.isnan(X).all(axis=1)))[:max_rows]
    counts = dict(zip(*np.unique(y[rows], return_counts=True), strict=True))
    rows = rows[[counts[c] > 1 for c in y[rows]]]
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    k, model_seed = int(y.max()) + 1, method_seed % 2**31
    filled = ~np.isnan(X[:, varying(X)]).all(axis=1)
    free = PCKID(k, random_state=model_seed, n_jobs=1).fit(X)
    shares = free.predict_proba(X)
    complete = KNNImputer().fit_transform(X)
    found = []

    def note(method: str, n_known: int, accuracy: float) -> None:
        found.append(Result(case.dataset, case.setting, run, n_known, method, accuracy))

    for n_known in N_KNOWN:
        for wrong in (0.0, WRONG) if n_known > 1 else (0.0,):
            chosen, said = draw_known(y, filled, n_known, wrong, rng)
            rest = np.setdiff1d(np.arange(len(y)), chosen)
            mark = _WRONG if wrong else ""
            labels, conflicts = fit_known(X, chosen, said, k, model_seed)
            note(OWN + mark, n_known, np.mean(labels[rest] == y[rest]))
            note(MATCHED + mark, n_known, clustering_accuracy(y[rest], labels[rest]))
            if wrong:
                is_listed, is_wrong = np.isin(chosen, conflicts), said != y[chosen]
                for name, part in zip(LISTED, (is_wrong, ~is_wrong), strict=True):
                    if part.any():
                        note(name, n_known, is_listed[part].mean())
            else:
                note(UNKNOWN, n_known, clustering_accuracy(y[rest], free.labels_[rest]))
                labels = name_clusters(shares, chosen, said)
                note(NAMED, n_known, np.mean(labels[rest] == y[rest]))
            given = np.full(len(y), -1)
            given[chosen] = said
            for name, classify in PEERS.items():
                labels = classify(complete, given, model_seed)
                note(name + mark, n_known, np.mean(labels[rest] == y[rest]))
    return found


def harm_table(results: Sequence[Result]) -> str:
    """Tabulate what known rows cost in the table where they cost most, in Markdown.

    That is against clusters found without them: named by the known rows, and at the best match.
    """
    sums: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for result in results:
        key = plain_name(result.dataset), result.n_known, result.method
        sums[key].append(result.accuracy)
    means = {key: float(np.mean(values)) for key, values in sums.items()}
    datasets = sorted({dataset for dataset, _, _ in means})
    lines = []
    for what, ours, free in (("named", OWN, NAMED), ("best match", MATCHED, UNKNOWN)):
        for n_known in N_KNOWN:
            losses = {
                name: means[name, n_known, ours] - means[name, n_known, free] for name in datasets
            }
            worst = min(losses, key=losses.__getitem__)
            below = sum(loss < -LITTLE for loss in losses.values())
            gain = np.mean(list(losses.values()))
            cells = f"{losses[worst]:.3f}", worst, f"{below} of {len(losses)}", f"{gain:.3f}"
            lines.append([what, n_known, *cells])
    heads = "known rows of a class", "worst", "table", f"worse by more than {LITTLE}", "mean"
    return markdown(["against clusters without known rows", *heads], lines)


def accuracy_table(results: Sequence[Result]) -> tables.ResultTable:
    """Tabulate mean accuracies; a data set counts once, and intervals come from resampling them."""
    found = {result.method for result in results}
    methods = [OWN, *PEERS, NAMED, UNKNOWN, MATCHED]
    methods = [
        name for name in (*methods, *(m + _WRONG for m in methods), *LISTED) if name in found
    ]
    by_name: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for result in results:
        key = plain_name(result.dataset), result.n_known, result.method
        by_name[key].append(result.accuracy)
    datasets = sorted({dataset for dataset, _, _ in by_name})
    values = np.full((len(methods), len(N_KNOWN)), np.nan)
    ends = np.full((2, *values.shape), np.nan)
    for j, n_known in enumerate(N_KNOWN):
        each = np.full((len(datasets), len(methods)), np.nan)
        for i, dataset in enumerate(datasets):
            for m, method in enumerate(methods):
                own = by_name.get((dataset, n_known, method))
                each[i, m] = np.mean(own) if own else np.nan
        values[:, j], ends[:, :, j] = tables.mean(each, axis=0), interval(each)
    is_named = np.array([name in (OWN, NAMED, *PEERS) for name in methods])[:, None]
    best = tables.best_of_row(np.where(is_named, values, np.nan).T, 3).T
    columns = [f"{n} known" for n in N_KNOWN]
    return tables.ResultTable("method", methods, columns, values, (3,) * len(columns), best, ends)


@experiment("known", "folders", "half", "seed", "jobs", runs=20, max_rows=500)
def known_command(
    folders: Sequence[str],
    half: str | None,
    runs: int,
    seed: int,
    jobs: int,
    max_rows: int,
    out: Path,
) -> None:
    """Compare how well the other rows are classed once some rows of each class are known.

    Writes known.csv and known.md.
    """
    calls = [
        (observe_case, (case, run, seed, max_rows))
        for run in range(runs)
        for case in cases_of(half, folders)
    ]
    results = [each for found in call_all(calls, jobs, "Observing") for each in found]
    text = tables.as_markdown(accuracy_table(results)) + "\n" + harm_table(results)
    write_both(out, "known", [each._asdict() for each in results], text)
