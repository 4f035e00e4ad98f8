"""Whole numbers that may be labels, such as codes and ids: neighbours are no more alike."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import fdtrc

from pckid._utils.text import brief, join_words
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, drop_column, read_as
from pckid.frontends.questions.names import TIMES, split_name
from pckid.frontends.questions.question import Answer, Question, Seen, as_features

# A column has so many different values, each in so many rows on average.
_MIN_LEVELS, _MAX_LEVELS, _MIN_ROWS = 6, 200, 4
_FEW_LEVELS = 30  # as many may be categories
# Rows of one value are alike in another column by less than this chance; the order of values is
# then compared with so many orders by chance, of which this share at least shows as much.
_ALIKE, _N_ORDERS, _NO_ORDER = 1e-6, 199, 0.1
_SAMPLE_ROWS, _MAX_COLUMNS = 5000, 100
# So much of a column's variance is between the numbers, beyond chance. Fewer would do for rows that
# come twice.
_MIN_SHARE = 0.1
# The middle of the rows has a number from the middle half of all: counts are low mostly. Few
# numbers are those from 1 on.
_MIDDLE, _COUNTED = 0.25, 10


class MayBeLabels(Question):
    """Are the numbers labels?"""

    code = "may be labels"
    evidence = (
        "{listed}: rows of one number are alike, and those of the next number no more than those "
        "of any other, as with codes and ids."
    )
    advice = "If {n:it holds|they hold} labels rather than amounts: {fix}. If not: {as_is}."
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for whole numbers whose order tells nothing, though the numbers do."""
        # Lines of a case are alike in what the case has, such as its age.
        if seen.is_settled or seen.first("repeated ids"):
            return
        n_levels = find_labels(seen)
        if n_levels:
            yield self.doubt(next(iter(n_levels)), {"columns": [*n_levels], "n_levels": n_levels})

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Name the columns with how many numbers each holds."""
        told = [f"'{brief(name, 40)}' ({n:,})" for name, n in doubt.data["n_levels"].items()]
        return {"listed": f"Different whole numbers of {join_words(told, 5)}"}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how they are taken as amounts."""
        ways = {"fix": _take_as_labels(doubt), "as_is": as_features(doubt.columns)}
        return {"n": len(doubt.columns)} | {key: words.write(way) for key, way in ways.items()}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer all three: the owner of the table knows."""
        drops, labels = tuple(map(drop_column, doubt.columns)), _take_as_labels(doubt)
        return [("Amounts", as_features(doubt.columns)), ("Labels", labels), ("Leave out", drops)]


def _take_as_labels(doubt: Doubt) -> tuple[Fix, ...]:
    """Take few numbers as categories, and leave columns of more out."""
    return tuple(
        read_as(name, "category") if n <= _FEW_LEVELS else drop_column(name)
        for name, n in doubt.data["n_levels"].items()
    )


def find_labels(seen: Seen) -> dict[str, int]:
    """Find columns of whole numbers that behave as labels, with how many each has."""
    n_rows = len(seen.columns.X)
    some = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE_ROWS)).astype(int))
    aside = {name for doubt in seen.doubts if not doubt.stops for name in doubt.columns}
    names = [*seen.numbers][:_MAX_COLUMNS]
    X = seen.columns.X[some][:, [seen.places[name] for name in names]]
    found: dict[str, int] = {}
    for j, name in enumerate(names):
        told = name in aside or name in seen.rules.kept or name in seen.of_kinds
        x, others = X[:, j], np.delete(X, j, axis=1)
        whole = bool(np.all(x[~np.isnan(x)] == np.round(x[~np.isnan(x)])))
        if told or not whole or name in seen.stopped or not TIMES.isdisjoint(split_name(name)):
            continue
        levels = np.unique(x[~np.isnan(x)])
        if _look_like_labels(levels, x[~np.isnan(x)]) and are_labels(x, others):
            found[name] = len(levels)
    return found


def _look_like_labels(levels: np.ndarray, x: np.ndarray) -> bool:
    """Whether sorted numbers (n_levels,) of values x (n,) may be labels, and are no counts."""
    n = len(levels)
    if not _MIN_LEVELS <= n <= _MAX_LEVELS or levels[0] < 1:
        return False
    middle = np.searchsorted(levels, np.median(x)) / n
    counted = n > _COUNTED or bool(levels[-1] == n)
    return counted and _MIDDLE <= middle <= 1 - _MIDDLE


def are_labels(x: np.ndarray, others: np.ndarray) -> bool:
    """Whether rows of one number x (n,) are alike in others (n, m), and its neighbours are not.

    The means of a column over the rows of each number vary more than by chance (analysis of
    variance of its ranks); their differences from one number to the next are no smaller than in
    other orders of the numbers.
    """
    steps, strengths = [], []
    rng = np.random.default_rng(0)
    for y in others.T:
        both = ~np.isnan(x) & ~np.isnan(y)
        levels, index, counts = np.unique(x[both], return_inverse=True, return_counts=True)
        n, k = int(both.sum()), len(levels)
        if k < _MIN_LEVELS or n < _MIN_ROWS * k:
            continue
        ranks = np.unique(y[both], return_inverse=True)[1].astype(np.float64)
        ranks -= ranks.mean()
        means = np.bincount(index, ranks) / counts
        between, total = float(counts @ means**2), float(ranks @ ranks)
        within = max(total - between, 1e-12 * total)
        if between < (_MIN_SHARE + (k - 1) / n) * total:
            continue
        if total == 0 or fdtrc(k - 1, n - k, between / (k - 1) / (within / (n - k))) > _ALIKE:
            continue
        strengths.append(means / np.sqrt(between))
        steps.append(counts)
    if not strengths:
        return False
    by_size: dict[int, list[int]] = {}
    for place, mean in enumerate(strengths):
        by_size.setdefault(len(mean), []).append(place)
    # Most columns are filled where x is; those of the commonest number of levels are compared.
    chosen = max(by_size.values(), key=len)
    means, counts = (np.array([each[p] for p in chosen]) for each in (strengths, steps))
    shown = [_sum_steps(means, counts, np.arange(means.shape[1]))]
    shown += [_sum_steps(means, counts, rng.permutation(means.shape[1])) for _ in range(_N_ORDERS)]
    table = np.array(shown)
    alone = (table[1:] <= table[0]).mean(axis=0)
    together = (table[1:].sum(axis=1) <= table[0].sum()).mean()
    return bool(together > _NO_ORDER and alone.min() * len(chosen) > _NO_ORDER)


def _sum_steps(means: np.ndarray, counts: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Sum squared steps (m,) between the means (m, k) of one number and the next, in an order."""
    means, counts = means[:, order], counts[:, order]
    weights = counts[:, 1:] * counts[:, :-1] / (counts[:, 1:] + counts[:, :-1])
    return (weights * np.diff(means, axis=1) ** 2).sum(axis=1)


MAY_BE_LABELS = MayBeLabels()
