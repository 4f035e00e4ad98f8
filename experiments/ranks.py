"""Which methods differ over many data sets: mean ranks, Friedman's test, Nemenyi's difference.

After J. Demšar. Statistical Comparisons of Classifiers over Multiple Data Sets. Journal of Machine
Learning Research 7, 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range


class Ranking(NamedTuple):
    """Methods compared over data sets."""

    methods: list[str]
    mean_ranks: NDArray  # (n_methods,), 1 is best
    critical_difference: float  # mean ranks closer than this do not differ at 5 %
    p_value: float  # Friedman's test that all methods are alike
    n_datasets: int


def rank(methods: list[str], scores: NDArray) -> Ranking:
    """Rank methods by scores of shape (n_datasets, n_methods); a failure (NaN) is the worst."""
    n_datasets, n_methods = scores.shape
    ranks = rank_each(scores)
    p_value = np.nan
    if n_methods > 2 and n_datasets > 1:
        p_value = float(friedmanchisquare(*ranks.T).pvalue)
    difference = critical_difference(n_methods, n_datasets)
    return Ranking(methods, ranks.mean(axis=0), difference, p_value, n_datasets)


def rank_each(scores: NDArray) -> NDArray:
    """Rank methods on each data set; both (n_datasets, n_methods), 1 is best, ties share."""
    return rankdata(np.where(np.isnan(scores), np.inf, -scores), axis=1)


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Compute Nemenyi's critical difference of mean ranks, q √(k (k + 1) / 6N); 0 if k = 1.

    Examples
    --------
    >>> from experiments.ranks import critical_difference
    >>> round(critical_difference(5, 30), 2)  # q is 2.728 in Demšar's table 5
    1.11
    """
    if n_methods == 1:
        return 0.0
    q = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def cliques(ranking: Ranking) -> list[tuple[float, float]]:
    """List groups that do not differ by their lowest and highest mean rank; none in another."""
    ranks = np.sort(ranking.mean_ranks)
    ends = [ranks[ranks <= first + ranking.critical_difference].max() for first in ranks]
    groups: list[tuple[float, float]] = []
    for first, last in zip(ranks, ends, strict=True):
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((float(first), float(last)))
    return groups
