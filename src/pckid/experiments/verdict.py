"""What the comparison comes to: means and ranks of all methods, and where PCKID loses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pckid.experiments.ranks import Ranking, rank
from pckid.experiments.results import Row
from pckid.experiments.tables import (
    CaseName,
    Table,
    best_of_row,
    case_names,
    collect,
    mean,
    method_names,
)

OURS = "PCKID"
NOTABLE = 0.01
"""Accuracies closer than this count as equal."""


def ranking(rows: Sequence[Row]) -> Ranking:
    """Rank the methods by their mean accuracy on each case."""
    return rank(method_names(rows), mean(collect(rows)))


def overall(rows: Sequence[Row]) -> Table:
    """Tabulate each method's means over all cases, best mean rank first.

    The columns: accuracy, ARI, NMI, mean rank by accuracy, the cases on which PCKID is better than
    the method, as good, and worse (by 0.01 of accuracy), the median of the seconds, the largest
    peak memory, failed runs.
    """
    methods = method_names(rows)
    accuracy = mean(collect(rows))
    means = [mean(mean(collect(rows, name)), axis=0) for name in ("accuracy", "ari", "nmi")]
    costs = [_over_all(rows, "seconds", np.median), _over_all(rows, "peak_mib", np.max)]
    failed = [sum(bool(row["error"]) for row in rows if row["method"] == name) for name in methods]
    ranks = ranking(rows).mean_ranks
    values = np.column_stack([*means, ranks, *_against(methods, accuracy), *costs, failed])
    order = np.argsort(ranks, kind="stable")
    columns = ["accuracy", "ARI", "NMI", "rank", "won", "even", "lost", "seconds", "MiB", "failed"]
    signs = np.array([1, 1, 1, -1])
    best = np.zeros(values.shape, dtype=bool)
    best[:, :4] = best_of_row((signs * values[:, :4]).T, 3).T
    digits = (3, 3, 3, 1, 0, 0, 0, 2, 0, 0)
    names = [methods[i] for i in order]
    return Table("method", names, columns, values[order], digits, best[order])


def losses(rows: Sequence[Row], name: Callable[[CaseName], str]) -> str:
    """List, in Markdown, each case on which some method beats PCKID, and all those that do."""
    methods, accuracy = method_names(rows), mean(collect(rows))
    if OURS not in methods:
        return ""
    ours = accuracy[:, methods.index(OURS)]
    lines = []
    for case, own, others in zip(case_names(rows), ours, accuracy, strict=True):
        better = [i for i in np.argsort(-others) if others[i] > own + NOTABLE]
        if better:
            rivals = ", ".join(f"{methods[i]} {others[i]:.3f}" for i in better)
            lines.append(f"- {name(case)}: {OURS} {own:.3f}; {rivals}\n")
    total = len(ours)
    head = f"{OURS} is beaten by at least one method on {len(lines)} of {total} cases"
    return f"{head}, by more than {NOTABLE} of accuracy:\n\n{''.join(lines)}"


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


def _over_all(rows: Sequence[Row], field: str, statistic: Callable) -> np.ndarray:
    """Compute a statistic of each method over all cases and runs; NaN where there is nothing."""
    values = np.moveaxis(collect(rows, field), 1, 0).reshape(len(method_names(rows)), -1)
    found = [row[~np.isnan(row)] for row in values]
    return np.array([statistic(row) if row.size else np.nan for row in found])
