"""What several runs of one decision agree on, each made by its own seeds.

Every stage of a decision adds chance of its own: which columns count, how many clusters there are,
how clear null tables are, which gaps there are. So no stage can tell how sure the answer is; how
many whole runs come to it can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from pckid.significance.levels import Answer

CLOSE = 3  # p-values up to so many times a level are close to it
MIN_SHARE = 6 / 7  # an answer is one that at least so many of the runs come to


class Run(NamedTuple):
    """One whole decision.

    Attributes
    ----------
    answer : Answer
    n_clusters : int
        The number of clusters, chosen or given.
    n_separated : int
        The number of groups with gaps between them.
    p_value : float or None
        How likely a table without groups is as clear, as in `Assessment`.
    gap_p_values : ndarray of shape (n_clusters, n_clusters) or None
        How likely a cloud without a gap looks like each pair of clusters; NaN for pairs that were
        not tested. None where no gaps were looked for.
    ignored : tuple of int
        Columns that show no groups.
    seed : int
        That all its random numbers come from.
    """

    answer: Answer
    n_clusters: int
    n_separated: int = 1
    p_value: float | None = None
    gap_p_values: np.ndarray | None = None
    ignored: tuple[int, ...] = ()
    seed: int = 0

    def record(self) -> dict[str, Any]:
        """Return its answer, its numbers and its p-values as plain data."""
        found = {**self._asdict(), "answer": str(self.answer), "ignored": list(self.ignored)}
        if self.gap_p_values is not None:
            found["gap_p_values"] = [
                [None if np.isnan(p) else p for p in row] for row in self.gap_p_values.tolist()
            ]
        return found


def find_common_answer(answers: Sequence[Answer]) -> Answer:
    """Take the answer that at least six of seven runs come to; undecided where there is none."""
    commonest, count = Counter(answers).most_common(1)[0]
    return commonest if count >= MIN_SHARE * len(answers) else Answer.UNDECIDED


def count_further(runs: Sequence[Run], n_runs: int, level: float = 0.0) -> int:
    """Count the runs to be made yet: `n_runs`, and as many and one more where they disagree.

    Several that all find nothing, but have p-values close above the `level` of structure, count as
    runs that disagree: others by the same chance find something.
    """
    if len(runs) < n_runs:
        return n_runs - len(runs)
    goes_on = find_common_answer([run.answer for run in runs]) is Answer.UNDECIDED
    if n_runs > 1 and all(run.answer is Answer.NONE for run in runs):
        p_values = [1.0 if run.p_value is None else run.p_value for run in runs]
        goes_on = float(np.median(p_values)) <= CLOSE * level
    return max(0, 2 * n_runs + 1 - len(runs)) if goes_on else 0


def find_most_agreeing(
    runs: Sequence[Run], rows: Sequence[np.ndarray], labels: Sequence[np.ndarray]
) -> int:
    """Find the run that agrees most with the others: in its answer, then in k, then in labels.

    Of the `rows` (n_judged,) of the table that a run clustered, `labels` (n_judged,) are its
    clusters; agreement is the mean adjusted Rand index over the rows that both have. Of several
    that agree as well, the first.
    """
    chosen = list(range(len(runs)))
    for key in (lambda run: run.answer, lambda run: run.n_clusters):
        commonest = Counter(key(runs[i]) for i in chosen).most_common(1)[0][0]
        chosen = [i for i in chosen if key(runs[i]) == commonest]

    def agreement(i: int) -> float:
        others = [_compare(rows[i], labels[i], rows[j], labels[j]) for j in chosen if j != i]
        return round(float(np.mean(others)), 6) if others else 0.0

    return max(chosen, key=agreement)


def _compare(
    rows: np.ndarray, labels: np.ndarray, other_rows: np.ndarray, other_labels: np.ndarray
) -> float:
    """Compare labels of two runs, (n,) and (m,), by the rows that both have."""
    _, mine, theirs = np.intersect1d(rows, other_rows, return_indices=True)
    return float(adjusted_rand_score(labels[mine], other_labels[theirs])) if len(mine) else 0.0
