"""What the comparison comes to: means and ranks of all methods, and where PCKID loses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.ranks import Ranking, rank, rank_each
from experiments.resampling import interval
from experiments.results import Row
from experiments.tables import (
    ResultTable,
    as_markdown,
    best_of_row,
    by_dataset,
    case_name,
    case_names,
    collect,
    mean,
    method_names,
)
from pckid._utils.text import list_first

OURS = "PCKID"
NOTABLE = 0.01
"""Accuracies closer than this count as equal."""
PLAIN = "mean+kmeans"
FAR = 0.10
"""A loss to the plainest rival by more than this has a list of its own."""
N_NAMED = 3


def ranking(rows: Sequence[Row]) -> Ranking:
    """Rank the methods by their mean accuracy on each data set."""
    return rank(method_names(rows), by_dataset(rows, collect(rows)))


def overall(rows: Sequence[Row]) -> ResultTable:
    """Tabulate each method's means over all data sets with 95 % intervals, best rank first.

    A data set counts once, whatever the number of its settings. The columns: accuracy, ARI, mean
    rank by accuracy; by how much PCKID is ahead of the method, with the interval of the difference,
    which is narrower than those of the two means, as both find the same data sets hard; the cases
    on which PCKID is better, as good, and worse (by 0.01 of accuracy); failed runs.
    """
    methods = method_names(rows)
    accuracy, ari = (by_dataset(rows, collect(rows, field)) for field in ("accuracy", "ari"))
    measured = [accuracy, ari, rank_each(accuracy), *(_ahead(x, methods) for x in (accuracy, ari))]
    means = np.column_stack([mean(values, axis=0) for values in measured])
    counts = np.column_stack([*_against(methods, mean(collect(rows))), _failures(rows)])
    values = np.hstack([means, counts])
    ends = np.full((2, *values.shape), np.nan)
    ends[..., : len(measured)] = np.stack([interval(values) for values in measured], axis=-1)
    best = np.zeros(values.shape, dtype=bool)
    best[:, :2] = best_of_row(values[:, :2].T, 3).T
    best[:, 2] = best_of_row(-values[None, :, 2], 1)[0]
    order = np.argsort(values[:, 2], kind="stable")
    columns = ["accuracy", "ARI", "rank", "ahead", "ahead in ARI", "won", "even", "lost", "failed"]
    names, digits = [methods[i] for i in order], (3, 3, 1, 3, 3, 0, 0, 0, 0)
    return ResultTable("method", names, columns, values[order], digits, best[order], ends[:, order])


def summarise_ranks(rows: Sequence[Row]) -> str:
    """Write means, ranks and losses in Markdown."""
    return f"{summarise_means(rows)}\n{losses(rows)}"


def summarise_means(rows: Sequence[Row]) -> str:
    """Write means and ranks in Markdown."""
    n_datasets, n_runs = (len({row[field] for row in rows}) for field in ("dataset", "run"))
    return (
        f"Data sets: {n_datasets}, cases: {len(case_names(rows))}, runs of each: {n_runs}. "
        "A data set counts once, by the mean over its cases; in brackets 95 % intervals from "
        f'resampling the data sets. "ahead" is {OURS} less the method; won, even and lost are '
        f"its cases.\n\n{as_markdown(overall(rows))}"
    )


def losses(rows: Sequence[Row]) -> str:
    """List, in Markdown, the cases that PCKID loses: to any method, and by far to the plainest."""
    methods, accuracy = method_names(rows), mean(collect(rows))
    if OURS not in methods:
        return ""
    scores = np.where(np.isnan(accuracy), -np.inf, accuracy)
    own = scores[:, [methods.index(OURS)]]
    lost = scores > own + NOTABLE
    text = _listed_losses(
        f"{OURS} is beaten by more than {NOTABLE} of accuracy", scores, lost, rows
    )
    if PLAIN in methods:
        far = (scores > own + FAR) & np.equal(methods, PLAIN)
        text += "\n" + _listed_losses(f"{PLAIN} beats {OURS} by more than {FAR}", scores, far, rows)
    return text


def _listed_losses(head: str, scores: NDArray, lost: NDArray[np.bool_], rows: Sequence[Row]) -> str:
    """List the cases in which some method won, by its accuracy; all (n_cases, n_methods)."""
    methods, cases = method_names(rows), case_names(rows)
    ours = methods.index(OURS)
    lines = []
    for case, found, better in zip(cases, scores, lost, strict=True):
        winners = [i for i in np.argsort(-found, kind="stable") if better[i]]
        if winners:
            own = "failed" if np.isneginf(found[ours]) else f"{found[ours]:.3f}"
            rivals = list_first([f"{methods[i]} {found[i]:.3f}" for i in winners], N_NAMED)
            lines.append(f"- {case_name(case)}: {OURS} {own}; {rivals}\n")
    end = f":\n\n{''.join(lines)}" if lines else ".\n"
    return f"{head} on {len(lines)} of {len(cases)} cases{end}"


def _ahead(values: NDArray, methods: list[str]) -> NDArray:
    """Subtract each method from PCKID, data set by data set; NaN for PCKID itself."""
    if OURS not in methods:
        return np.full(values.shape, np.nan)
    ours = methods.index(OURS)
    gain = values[:, [ours]] - values
    gain[:, ours] = np.nan
    return gain


def _failures(rows: Sequence[Row]) -> list[int]:
    """Count each method's failed runs."""
    return [
        sum(bool(row["error"]) for row in rows if row["method"] == name)
        for name in method_names(rows)
    ]


def _against(methods: list[str], accuracy: np.ndarray) -> list[np.ndarray]:
    """Count the cases which PCKID wins, draws and loses against each method; NaN for itself."""
    if OURS not in methods:
        return [np.full(len(methods), np.nan)] * 3
    ours = methods.index(OURS)
    others = np.where(np.isnan(accuracy), -np.inf, accuracy)
    gap = others[:, [ours]] - others
    won, lost = gap > NOTABLE, gap < -NOTABLE
    counts = [side.sum(axis=0).astype(float) for side in (won, ~won & ~lost, lost)]
    for count in counts:
        count[ours] = np.nan
    return counts
