"""Whether confidence holds: `python -m experiments calibration`.

Each method clusters a table and says how sure it is of each row. Then it clusters tables of as many
rows drawn with replacement, with other seeds, and labels the rows of the first; clusters are
matched. Of the rows at a confidence of 0.9, nine in ten should have kept their cluster. With
`--fresh` it clusters one random half of the rows, then the other, and labels those of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from experiments import figures, tables
from experiments.datasets import Case
from experiments.datasets.benchmark import cases_of
from experiments.output import call_all, experiment, write_both
from experiments.resampling import interval
from experiments.run import seeds
from pckid import PCKID, IncompleteGaussianMixture
from pckid.spectral.membership import match_labels

N_BINS = 10
N_DRAWS = 5


class Counts(NamedTuple):
    """Rows by how sure a method was of them, over all draws.

    Attributes
    ----------
    rows : ndarray of shape (N_BINS,)
        How many, those with a confidence from 0 to 0.1 first.
    confidence : ndarray of shape (N_BINS,)
        The sum of their confidence.
    kept : ndarray of shape (N_BINS,)
        How many kept their cluster.
    """

    rows: NDArray
    confidence: NDArray
    kept: NDArray


class Result(NamedTuple):
    """One method on the table of one case in one run."""

    dataset: str
    setting: str
    run: int
    method: str
    counts: Counts


def _fit_pckid(X: NDArray, n_clusters: int, seed: int) -> Callable[[NDArray], NDArray]:
    return PCKID(n_clusters, random_state=seed, n_jobs=1).fit(X).predict_proba


def _fit_incomplete(X: NDArray, n_clusters: int, seed: int) -> Callable[[NDArray], NDArray]:
    model = IncompleteGaussianMixture(
        n_clusters, covariance_type="diag", reg_covar=1e-3, n_init=5, random_state=seed
    )
    return model.fit(X).predict_proba


def _fit_mean_imputed(
    X: NDArray, n_clusters: int, seed: int, kind: str
) -> Callable[[NDArray], NDArray]:
    # Tables are standardised, so that a mean is 0.
    model = GaussianMixture(
        n_clusters, covariance_type=kind, reg_covar=1e-3, n_init=5, random_state=seed
    ).fit(np.nan_to_num(X))
    return lambda rows: model.predict_proba(np.nan_to_num(rows))


METHODS: dict[str, Callable[[NDArray, int, int], Callable[[NDArray], NDArray]]] = {
    "PCKID": _fit_pckid,
    "GaussianMixture, full, mean-imputed": partial(_fit_mean_imputed, kind="full"),
    "GaussianMixture, diag, mean-imputed": partial(_fit_mean_imputed, kind="diag"),
    "IncompleteGaussianMixture, diag": _fit_incomplete,
}
"""Functions that cluster a table by a seed, and return what gives memberships of rows."""


def observe(name: str, X: NDArray, n_clusters: int, seed: int, fresh: bool = False) -> Counts:
    """Count how many rows keep their cluster, by how sure the method was of them.

    `name` is one of `METHODS`; each row of X (n_samples, n_features) has a value. If `fresh`, rows
    are compared with models of other rows, else with models of resampled ones.
    """
    return (_observe_halves if fresh else _observe_resamples)(METHODS[name], X, n_clusters, seed)


def _observe_halves(fit: Any, X: NDArray, n_clusters: int, seed: int) -> Counts:
    """Fit to one random half of the rows, then to the other, and label the first by both."""
    rng, parts = np.random.default_rng(seed), []
    for draw in range(N_DRAWS):
        first, second = np.array_split(rng.permutation(len(X)), 2)
        shares = fit(X[first], n_clusters, seed + 2 * draw)(X[first])
        again = fit(X[second], n_clusters, seed + 2 * draw + 1)(X[first]).argmax(axis=1)
        labels = shares.argmax(axis=1)
        kept = match_labels(labels, again, n_clusters) == labels
        parts.append(count(shares.max(axis=1), kept.astype(float)))
    return Counts(*np.sum(parts, axis=0))


def _observe_resamples(fit: Any, X: NDArray, n_clusters: int, seed: int) -> Counts:
    """Fit to all rows, then to rows drawn with replacement, and label all of them each time."""
    shares = fit(X, n_clusters, seed)(X)
    labels, confidence = shares.argmax(axis=1), shares.max(axis=1)
    rng = np.random.default_rng(seed)
    kept = np.zeros(len(X))
    for draw in range(N_DRAWS):
        rows = rng.choice(len(X), len(X))
        again = fit(X[rows], n_clusters, seed + 1 + draw)(X).argmax(axis=1)
        kept += match_labels(labels, again, n_clusters) == labels
    return count(confidence, kept / N_DRAWS)


def count(confidence: NDArray, kept: NDArray) -> Counts:
    """Sort rows into bins by their confidence (n,), with the share of draws that kept them (n,)."""
    places = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    sums = [np.bincount(places, values, N_BINS) for values in (None, confidence, kept)]
    return Counts(*sums)


def calibration_error(counts: Counts) -> float:
    """Average |confidence − share kept| over the bins, by their rows: the expected error."""
    return float(np.abs(counts.confidence - counts.kept).sum() / counts.rows.sum())


def _table_of(case: Case, run: int, seed: int, max_rows: int) -> tuple[NDArray, int, int]:
    """Draw the table of a case, rows without any value left out; with k and a seed."""
    table_seed, method_seed = seeds(seed, case, run)
    X, y = case.draw(table_seed)
    rows = np.flatnonzero(~np.isnan(X).all(axis=1))
    if len(rows) > max_rows:
        rows = np.random.default_rng(table_seed).choice(rows, max_rows, replace=False)
    return X[rows], len(np.unique(y)), method_seed % 2**31


def _observe_case(
    case: Case, run: int, name: str, seed: int, max_rows: int, fresh: bool
) -> Result | None:
    """Observe one method on one case; None where it fails."""
    X, n_clusters, method_seed = _table_of(case, run, seed, max_rows)
    try:
        counts = observe(name, X, n_clusters, method_seed, fresh)
    except ValueError:
        return None
    return Result(case.dataset, case.setting, run, name, counts)


def pooled(results: Sequence[Result], method: str) -> Counts:
    """Average the shares of a method's rows in each bin, every table counting alike."""
    each = [result.counts for result in results if result.method == method]
    parts = [np.stack(counts) / counts.rows.sum() for counts in each]
    return Counts(*np.mean(parts, axis=0))


def error_table(results: Sequence[Result]) -> tables.ResultTable:
    """Tabulate the expected error of each method, and what its rows at 0.85 to 0.95 and above do.

    A data set counts once; the interval comes from resampling the data sets.
    """
    names, datasets = _names(results), sorted({result.dataset for result in results})
    errors = np.full((len(datasets), len(names)), np.nan)
    for i, dataset in enumerate(datasets):
        for j, name in enumerate(names):
            own = [r.counts for r in results if (r.dataset, r.method) == (dataset, name)]
            errors[i, j] = np.mean([calibration_error(c) for c in own]) if own else np.nan
    each = [pooled(results, name) for name in names]
    columns: dict[str, Any] = {
        "expected calibration error": tables.mean(errors, axis=0),
        "mean confidence": [counts.confidence.sum() for counts in each],
        "kept": [counts.kept.sum() for counts in each],
        "kept at 0.8 to 0.9": [_share(c.kept[-2], c.rows[-2]) for c in each],
        "kept at 0.9 to 1": [_share(c.kept[-1], c.rows[-1]) for c in each],
    }
    values = np.column_stack(list(columns.values()))
    ends = np.full((2, *values.shape), np.nan)
    ends[:, :, 0] = interval(errors)
    best = np.zeros(values.shape, dtype=bool)
    best[np.nanargmin(values[:, 0]), 0] = True
    return tables.ResultTable(
        "method", names, list(columns), values, (3,) * len(columns), best, ends
    )


def _names(results: Sequence[Result]) -> list[str]:
    """List the methods that were observed, in the order of `METHODS`."""
    found = {result.method for result in results}
    return [name for name in METHODS if name in found]


def _share(part: float, whole: float) -> float:
    """Divide, NaN by nothing."""
    return part / whole if whole > 0 else np.nan


def draw_curves(figure: Any, results: Sequence[Result]) -> None:
    """Draw the share of rows that kept their cluster against confidence, and how many there are."""
    axes, below = figure.subplots(2, 1, height_ratios=[3, 1], sharex=True)
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    for name, marker in zip(_names(results), "osD^", strict=False):
        rows, confidence, kept = pooled(results, name)
        some = rows > 0.002
        x = confidence[some] / rows[some]
        axes.plot(x, kept[some] / rows[some], marker=marker, markersize=5, label=name)
        below.plot((np.arange(N_BINS) + 0.5) / N_BINS, rows, marker=marker, markersize=3)
    axes.set(ylabel="share that kept its cluster", xlim=(0, 1), ylim=(0, 1))
    axes.legend(fontsize=8)
    below.set(xlabel="confidence", ylabel="share of rows", ylim=(0, 1))


def list_counts(results: Sequence[Result]) -> list[dict[str, Any]]:
    """List the counts of every table and bin."""
    return [
        dict(zip(Result._fields[:-1], result[:-1], strict=True))
        | {"bin": place, "rows": rows, "confidence": f"{confidence:.6g}", "kept": f"{kept:.6g}"}
        for result in results
        for place, (rows, confidence, kept) in enumerate(zip(*result.counts, strict=True))
    ]


@click.option("--method", "methods", type=click.Choice(list(METHODS)), multiple=True)
@click.option("--fresh", is_flag=True, help="Compare with other rows, not with resampled ones.")
@experiment("calibration", "folders", "half", "seed", "jobs", runs=1, max_rows=1000)
def calibration_command(
    folders: Sequence[str],
    half: str | None,
    methods: Sequence[str],
    fresh: bool,
    runs: int,
    seed: int,
    jobs: int,
    max_rows: int,
    out: Path,
) -> None:
    """Observe how many rows keep their cluster on other rows, by how sure each method was.

    Writes calibration.csv, calibration.md and calibration.png.
    """
    calls = [
        (_observe_case, (case, run, name, seed, max_rows, fresh))
        for run in range(runs)
        for case in cases_of(half, folders)
        for name in methods or METHODS
    ]
    results = [each for each in call_all(calls, jobs, "Observing") if each is not None]
    figures.save_figure(out / "calibration.png", partial(draw_curves, results=results))
    text = tables.as_markdown(error_table(results))
    write_both(out, "calibration", list_counts(results), text)
