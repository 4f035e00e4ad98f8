"""Columns that put the rows in one order: what they say counts twice."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid._utils.text import brief, list_first
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column
from pckid.frontends.questions.long_tails import LONG_TAILS
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen

_SAME = 0.995  # the rank correlation of columns that say the same
_NEARLY = 0.95  # of ranks among the rows of each column, before those of both are ranked
_MIN_ROWS = 20
_SAMPLE_ROWS, _MAX_COLUMNS = 2000, 500


class SameOrder(Question):
    """Do the columns measure the same?"""

    code = "same order"
    evidence = (
        "{listed} put the rows in one order, or its reverse: what such columns say counts twice."
    )
    advice = "If they measure the same, leave out all but one: {drops}."
    scope = "table"
    refines = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Compare columns of numbers, but for those with another doubt.

        In at most 2,000 rows, spread over the table, of the first 500 columns.
        """
        if seen.is_settled:
            return
        others = (doubt for doubt in seen.doubts if doubt.code != LONG_TAILS.code)
        aside = {name for doubt in others for name in doubt.columns}
        names = [name for name in seen.numbers if name not in aside][:_MAX_COLUMNS]
        n_rows = len(seen.columns.X)
        some = np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE_ROWS)).astype(int)
        sample = [seen.values(name)[some] for name in names]
        twins = find_twins(np.array(sample).T) if names else []
        if twins:
            pairs = [(names[i], names[j], r) for i, j, r in twins]
            yield self.doubt(pairs[0][1], {"pairs": pairs})

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """List the pairs with their correlations."""
        pairs = doubt.data["pairs"]
        told = [f"'{brief(a, 40)}' and '{brief(b, 40)}' ({r:.3f})" for a, b, r in pairs]
        return {"listed": f"Columns {list_first(told)}"}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how the second of each pair is left out."""
        return {"drops": words.write([drop_column(name) for name in _list_seconds(doubt)])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to leave the second of each pair out."""
        others = _list_seconds(doubt)
        which = brief(others[0], 20) if len(others) == 1 else f"{len(others)} columns"
        return [(AS_IT_IS, ()), (f"Leave {which} out", tuple(map(drop_column, others)))]


def _list_seconds(doubt: Doubt) -> list[str]:
    return list(dict.fromkeys(second for _, second, _ in doubt.data["pairs"]))


def find_twins(X: np.ndarray) -> list[tuple[int, int, float]]:
    """Find pairs of columns (n_rows, n_columns) whose rank correlation is beyond ±0.995.

    By the rows that have both, of columns that take three values or more.
    """
    X = np.where(np.isfinite(X), X, np.nan)
    used = [j for j in range(X.shape[1]) if len(np.unique(X[~np.isnan(X[:, j]), j])) > 2]
    # Ranks around 0, which is also where a number is missing
    seen = ~np.isnan(X[:, used])
    scores = np.zeros(seen.shape)
    for k, j in enumerate(used):
        ranks = _rank(X[seen[:, k], j])
        scores[seen[:, k], k] = ranks - ranks.mean()
    norms = np.sqrt((scores**2).T @ seen.astype(float))
    near = np.abs(scores.T @ scores) >= _NEARLY * np.maximum(norms * norms.T, 1e-12)
    found = []
    for a, b in np.argwhere(np.triu(near, 1)).tolist():
        i, j = used[a], used[b]
        both = ~np.isnan(X[:, [i, j]]).any(axis=1)
        ranks = np.column_stack([_rank(X[both, i]), _rank(X[both, j])])
        if both.sum() >= _MIN_ROWS and (np.ptp(ranks, axis=0) > 0).all():
            correlation = float(np.corrcoef(ranks.T)[0, 1])
            if abs(correlation) > _SAME:
                found.append((i, j, correlation))
    return found


def _rank(values: np.ndarray) -> np.ndarray:
    """Rank numbers (n,) from 1; equal ones share the mean of their ranks."""
    # As `scipy.stats.rankdata` does, whose import takes longer than a small table.
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[index]


SAME_ORDER = SameOrder()
